"""Options and fixtures that all tests share."""

from __future__ import annotations

import compileall
import gc
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

# Before numpy is imported: threads of the linear algebra would spin on cores that tests share.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

from actors.events import ScenarioEnded, ScenarioStarted
from actors.runtime import Record, Sink, system
from actors.runtime.journal import Choosy, Journal
from actors.runtime.loop import VirtualTimeLoop
from sims.audit.audit import take, world
from sims.audit.law import Broken
from sims.audit.world import World
from sims.own_modules import POLICIES
from tests.case_files import checked_folder, first_difference

HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases",
        metavar="DIR",
        type=Path,
        default=HERE / "cases",
        help="folder of expected values to run the case tests on (default: tests/cases)",
    )
    parser.addoption(
        "--swf",
        metavar="FILE",
        type=Path,
        help="a real log of jobs, to explain waits of beside a drawn one (default: none)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a folder of cases that would leave its tests skipped, or expected values unread."""
    checked_folder(config.getoption("--cases"))
    if "PYTEST_XDIST_WORKER" not in os.environ:
        # Where Python is told to write no bytecode, each process would compile all modules again.
        for part in ("actors", "policies", "sims", "tests"):
            compileall.compile_dir(HERE.parent / part, quiet=2)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Modules of tests, and of Hypothesis, which pytest rewrites too, are rewritten once, and not
    by each process that collects them; what tests write and import afterwards is not kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", False)
        from hypothesis import HealthCheck, settings

        # How fast a busy machine tries examples says nothing about them.
        checks = list(HealthCheck)
        settings.register_profile(
            "suite", max_examples=60, deadline=None, suppress_health_check=checks
        )
        settings.load_profile("suite")
        return (yield)


LONG = (
    *("test_all_other_tables_have_their_stored_values", "goes_on_with_others", "[spot.md]"),
    "test_a_simulation_with_measured_costs_predicts_live_runs",
    *("[cluster.md]", "[comparing.md]", "does_not_begin_again", "at_once_begins_again"),
    *("in_one_message[0]", "in_one_message[60]"),
)
"""Ends of the names of the tests that take longest."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests are first, so that processes which share all of them end together. Live
    runs follow: they wait more than they compute, and each process that ran some of them at the end
    would start a cluster of its own."""
    items.sort(key=lambda it: (not it.name.endswith(LONG), "/live/" not in it.nodeid))


def pytest_collection_finish() -> None:
    """What five thousand tests are made of stays to the end: looked through at each collection of
    garbage, it cost a twentieth of the suite. Collections are rarer too: as often as by default,
    they cost 4 % of the tests that run simulations."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> list[str] | None:
    """Of two lists or tables that are not equal, show where they differ first, and both sides in
    full there; of a list of problems that should be empty, the first of them. With `-v` pytest
    shows all of both."""
    same = isinstance(right, list | tuple | dict) and type(left) is type(right)
    if op != "==" or not same or config.get_verbosity() > 0:
        return None
    if not right and isinstance(left, list):
        return [f"{len(left)} where there should be none", *map(str, left[:PROBLEMS])]
    return [f"two of {type(left).__name__} are not equal", first_difference(left, right)]


PROBLEMS = 5
"""Number of the problems that are shown of a list that should be empty."""


@pytest.fixture(scope="session")
def cases_dir(request: pytest.FixtureRequest) -> Path:
    """Folder with the case files; a test whose file is missing there is skipped."""
    folder: Path = request.config.getoption("--cases")
    return folder


@pytest.fixture(autouse=True)
def _folder_of_policies_is_of_one_test() -> Iterator[None]:
    """`--policies` sets a variable, for the processes of its command. A command that a test runs in
    this process would hand it on to all later tests, which then find modules of that one."""
    yield
    os.environ.pop(POLICIES, None)


@pytest.fixture
def hears_ctrl_c() -> Iterator[None]:
    """Ctrl-C interrupts this process, and those that it starts, as in a user's shell: one that runs
    the suite in its background has it ignored, and what is ignored stays so in processes started
    from there."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Derived:
    """Sink: raises AssertionError at an event of a scenario that does not follow from those before,
    or whose cause is another."""

    def __init__(self) -> None:
        self.world: World | None = None

    def __call__(self, record: Record) -> None:
        if isinstance(record.event, ScenarioStarted):
            self.world = world()
        # Worlds wired by hand end as they like.
        if self.world is not None and not isinstance(record.event, ScenarioEnded):
            try:
                take(self.world, record)
            except Broken as broken:
                if isinstance(record.event, ScenarioStarted):
                    self.world = None  # its policy is refused once there is a log
                    return
                raise AssertionError(f"#{record.seq} at {record.t}: {broken}") from None


class CheckedJournal(Journal):
    """Every journal of the tests that keeps all events holds them against what must follow."""

    def __init__(
        self, loop: VirtualTimeLoop, sinks: Sequence[Sink] = (), debug: bool = False
    ) -> None:
        # A sink that wants all would change what a run without a log does.
        whole = any(not isinstance(sink, Choosy) for sink in sinks)
        super().__init__(loop, [*sinks, Derived()] if whole else sinks, debug)


@pytest.fixture(scope="session", autouse=True)
def _causes_are_law() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(system, "Journal", CheckedJournal)
        yield


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Journals as users have them: for what is timed, and for logs that are derived elsewhere."""
    monkeypatch.setattr(system, "Journal", Journal)


def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: tests that wait for other processes leave theirs."""
    return (os.cpu_count() or 1) + 1
