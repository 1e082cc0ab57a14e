"""Pages in a real browser: headless Chromium (Debian's `chromium` and `chromium-driver`)."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from actors.runtime import Record
from sims.session import load
from sims.view import Page
from sims.world import run
from tests.sims.kinds import records_of

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
pytest.importorskip("bokeh", reason="the extra `view` is not installed")
if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
    pytest.skip("there is no chromium with its driver here", allow_module_level=True)

PATIENCE = 60.0
"""Seconds until a page must be ready, or a test fails; a busy machine needs some of them."""

pytestmark = [pytest.mark.xdist_group("chromium"), pytest.mark.usefixtures("unchecked")]


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for argument in (
        *("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=700,560"),
        *("--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(str(shutil.which("chromedriver")))
    )
    yield driver
    driver.quit()


def until(check: Callable[[], object]) -> object:
    """What `check` gives once it is true. Fails after PATIENCE."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = check()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("the page did not get there")


def opened(browser: webdriver.Chrome, records: tuple[Record, ...], folder: Path) -> None:
    """Open the page of a log and wait until it is drawn; it must not complain."""
    page = folder / "page.html"
    Page().write(records, page)
    browser.get(page.as_uri())
    until(lambda: browser.execute_script("return document.body.dataset.ready"))
    severe = [it for it in browser.get_log("browser") if it["level"] == "SEVERE"]
    assert severe == []


def texts(browser: webdriver.Chrome, selector: str) -> list[str]:
    """The texts of the elements that match."""
    return [it.text for it in browser.find_elements("css selector", selector)]


def point(browser: webdriver.Chrome, kind: str) -> tuple[float, float, str]:
    """Where on the page the widest box of `kind` with a job lies, and that job's name."""
    script = """
        const [kind] = arguments;
        for (const view of Bokeh.index.roots) {
            for (const one of view.model.renderers) {
                if (one.name !== kind) continue;
                const data = one.data_source.data;
                let best = -1, width = 0;
                for (let k = 0; k < data.start.length; k++) {
                    const w = data.end[k] - data.start[k];
                    if (data.job[k] >= 0 && w > width) { best = k; width = w; }
                }
                if (best < 0) continue;
                const x = view.frame.x_scale.compute((data.start[best] + data.end[best]) / 2);
                const y = view.frame.y_scale.compute((data.low[best] + data.high[best]) / 2);
                const canvas = view.canvas_view.el.getBoundingClientRect();
                return [canvas.left + x, canvas.top + y, holdfast.job(data.job[best])];
            }
        }
    """
    x, y, job = browser.execute_script(script, kind)
    return x, y, job


def move(browser: webdriver.Chrome, x: float, y: float) -> webdriver.ActionChains:
    """The mouse at a point of the window."""
    chain = webdriver.ActionChains(browser)
    chain.w3c_actions.pointer_action.move_to_location(int(x), int(y))
    return chain


def pointing_at_a_box_tells_what_it_is_and_why(browser: webdriver.Chrome) -> None:
    x, y, job = point(browser, "transfer (program)")
    move(browser, x, y).perform()
    said = str(until(lambda: "".join(texts(browser, "#tip"))))
    assert "transfer (program)" in said
    assert job in said
    assert "#18 TransferStarted: worker 1, job application, run 0, kind program" in said
    assert "because of #15 RunStarted: job application, run 0" in said


def clicking_a_box_follows_its_job_and_tells_its_chain(
    browser: webdriver.Chrome,
) -> None:
    x, y, job = point(browser, "lost work")
    move(browser, x, y).click().perform()
    until(lambda: texts(browser, "#who") == [f"Following {job}"])
    chain = texts(browser, "#chain li")
    assert "RunStarted" in chain[0] or "AttemptSized" in chain[0]
    assert "ScenarioStarted" in chain[-1]
    life = texts(browser, "#life li")
    assert "JobSubmitted" in life[0]
    assert "JobCompleted" in life[-1]


def a_job_is_followed_by_its_name_and_escape_shows_all_again(browser: webdriver.Chrome) -> None:
    days = "return [holdfast.day(90061, null), holdfast.day(0, 1400749079)]"
    assert browser.execute_script(days) == ["1 d 01:01", "2014-05-22 08:57"]
    entry = browser.find_element("id", "job")
    entry.send_keys("T4\n")
    until(lambda: texts(browser, "#who") == ["Following T4"])
    picked = """
        const chosen = [...holdfast.sources()].map((source) =>
            source.selected.indices.filter((k) => k >= 0).map((k) => source.data.job[k]));
        return [...new Set(chosen.flat())];
    """
    assert browser.execute_script(picked) == [3]
    entry.send_keys(webdriver.Keys.ESCAPE)
    until(lambda: texts(browser, "#who") == [""])
    assert browser.execute_script(picked) == []
    entry.send_keys("nobody\n")
    until(lambda: texts(browser, "#who") == ["There is no such job in this log."])


def clicking_an_event_of_a_chain_explains_that_event(browser: webdriver.Chrome) -> None:
    browser.execute_script("holdfast.follow(0)")
    before = texts(browser, "#chain li")
    browser.find_elements("css selector", "#chain li")[2].click()
    assert texts(browser, "#chain li") == before[2:]


def zooming_one_chart_moves_the_other(browser: webdriver.Chrome) -> None:
    x, y, _ = point(browser, "useful")
    webdriver.ActionChains(browser).scroll_from_origin(
        webdriver.common.actions.wheel_input.ScrollOrigin.from_viewport(int(x), int(y)), 0, -600
    ).perform()
    spans = """
        return [...Bokeh.index.roots].slice(0, 2).map(
            (view) => view.model.x_range.end - view.model.x_range.start);
    """
    whole = records_of("redundant")[-1].t
    first = until(lambda: min(browser.execute_script(spans)) < 0.9 * whole)
    one, other = browser.execute_script(spans)
    assert first
    assert one == other


ANSWERS = {
    "figure1": pointing_at_a_box_tells_what_it_is_and_why,
    "batch-rigid": clicking_a_box_follows_its_job_and_tells_its_chain,
    "malleable10": a_job_is_followed_by_its_name_and_escape_shows_all_again,
    "volatile20": clicking_an_event_of_a_chain_explains_that_event,
    "redundant": zooming_one_chart_moves_the_other,
}
"""What is tried on the page of a kind."""


LONG = {
    "name": "long",
    "platform": {"workers": 10_000},
    "job": {"kind": "rigid", "lublin": {"jobs": 20_000, "machine": 1024}},
    "policy": {"name": "R-LIST-0"},
}
"""More than 100,000 events."""


@pytest.mark.parametrize("name", ANSWERS)
def test_a_page_opens_without_complaints_or_requests_and_answers(
    name: str, browser: webdriver.Chrome, tmp_path: Path
) -> None:
    opened(browser, records_of(name), tmp_path)
    fetched = browser.execute_script(
        "return performance.getEntriesByType('resource').map((it) => it.name)"
    )
    assert [it for it in fetched if not it.startswith(("data:", "blob:"))] == []
    ANSWERS[name](browser)


HOSTILE = (
    """<img src=x onerror="document.title='XSS'">""",
    "</script><script>document.title='XSS'</script>",
    "&lt;b&gt; <br> $$x^2$$ \\(y\\) `z`",
)
"""Names that would be markup, or formulas, where a page took them as such."""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_of_a_job_or_a_worker_is_shown_as_it_is_and_runs_no_script(
    name: str, browser: webdriver.Chrome, tmp_path: Path
) -> None:
    jobs = [{"name": name, "processors": 1, "time": 10}]
    scenario = {
        "name": name.replace("/", "."),
        "workers": [{"name": f"{name} too"}],
        "job": {"kind": "rigid", "jobs": jobs},
    }
    records: list[Record] = []
    run(load(scenario), [records.append])
    browser.set_window_size(1600, 900)  # long names leave no room for a chart in a small one
    opened(browser, tuple(records), tmp_path)
    x, y, job = point(browser, "useful")
    assert job == name
    move(browser, x, y).perform()
    said = str(until(lambda: "".join(texts(browser, "#tip"))))
    assert f"useful {name}, run 0" in said
    assert f"RunStarted: job {name}, run 0" in said
    move(browser, x, y).click().perform()
    until(lambda: texts(browser, "#who") == [f"Following {name}"])
    move(browser, 2, 2).perform()
    until(lambda: texts(browser, "#tip") == [""])
    assert "XSS" not in browser.title or browser.title.startswith(f"{scenario['name']}")
    assert browser.find_elements("css selector", "#tip img, #chain img, #life img") == []
    labels = """
        return [...Bokeh.index.roots].slice(0, 2).map((view) =>
            [...view.model.left[0].major_label_overrides.values()].map((it) => it.text));
    """
    assert browser.execute_script(labels) == [[f"{name} too"], [name]]
    fetched = browser.execute_script(
        "return performance.getEntriesByType('resource').map((it) => it.name)"
    )
    assert [it for it in fetched if not it.startswith(("data:", "blob:"))] == []


@pytest.mark.usefixtures("unchecked")
def test_a_log_of_a_hundred_thousand_events_opens_in_seconds(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    records: list[Record] = []
    # Jobs that come over time: the queue of as many at once would take most of the test's time.
    run(load(LONG), [records.append])
    assert len(records) > 100_000
    # The page's own work, in CPU time: how long it has to wait is the machine's affair, which may
    # run other tests, and PATIENCE bounds it.
    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    opened(browser, tuple(records), tmp_path)
    metrics = browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    seconds = {it["name"]: it["value"] for it in metrics}["TaskDuration"]
    browser.execute_cdp_cmd("Performance.disable", {})
    assert 0.1 < seconds < 5
