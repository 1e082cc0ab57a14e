"""Live runs in a folder that a stranger has filled, on machines that give little, and whose cluster
is lost; in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.sims.campaign.campaigns import dask, dask_worker, part_of_cluster
from tests.sims.cli.commands import Shell, begin, ended, python, spawn, until
from tests.sims.live.test_clearing_up import SCENARIO, descendants

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

SHORT = SCENARIO.replace("reclaims = [[1, 900, 0]]", "").replace("1000", "4")
NAMED = "numpy asyncio selectors socket random json distributed dask tornado attrs orjson msgpack"
RUNS = "open('RAN', 'a').write(__name__)\nraise SystemExit\n"
"""What a module does that nothing names."""
STEP = """\
from beside import step


def own(state, unit):
    return step(state + unit.to_bytes(8, "big"))
"""
BESIDE = """\
from hashlib import md5


def step(state):
    return md5(state).digest()
"""


def listening(process: int) -> list[str]:
    """The ports on which these processes wait for somebody."""
    found = []
    for pid in (process, *descendants(process)):
        inodes = set()
        for it in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                inodes.add(str(it.readlink()).removeprefix("socket:[").rstrip("]"))
            except OSError:
                continue
        rows = (it.split() for it in Path("/proc/net/tcp").read_text().splitlines()[1:])
        found += [it[1] for it in rows if it[3] == "0A" and it[9] in inodes]
    return found


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
def test_processes_run_what_is_named_and_no_other_module_of_the_folder(
    shell: Shell, tmp_path: Path
) -> None:
    """The function is found beside the scenario, with what it imports; and nobody serves pages:
    there is one port for the scheduler, and for each worker one and its Nanny's."""
    for name in NAMED.split():
        shell.write(RUNS, f"{name}.py")
    (tmp_path / "its").mkdir()
    for name, text in {"short.toml": SHORT, "mine.py": STEP, "beside.py": BESIDE}.items():
        shell.write(text, f"its/{name}")
    words = ("its/short.toml", "--set", "live.function=mine:own", "--log", "it.jsonl")
    process = python("-P", "-m", "sims.cli", "live", *words)
    until(lambda: Path("it.jsonl").exists() and "RunStarted" in Path("it.jsonl").read_text())
    ports = listening(process.pid)
    said = ended(process)
    assert (said.code, said.err) == (0, "")
    assert "answers     right" in said.out
    assert not Path("RAN").exists()
    assert len(ports) == 1 + 2 + 2


@pytest.mark.usefixtures("hears_ctrl_c")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_all_its_processes_ends_a_live_run_in_one_line_and_leaves_no_folder(
    shell: Shell, short_folder: Path, number: signal.Signals
) -> None:
    own = short_folder
    old = own / "holdfast-live-killed"
    new, other = own / "holdfast-live-recent", own / "others"
    for it in (old, new, other):
        it.mkdir()
        (it / "inner").touch()
    past = time.time() - 2 * 86_400
    for it in (old, other):
        os.utime(it, (past, past))
    file = shell.write(SCENARIO, "long.toml")
    process = spawn(
        *("live", file, "--log", "it.jsonl"),
        env={**os.environ, "TMPDIR": str(own)},
        start_new_session=True,
    )
    until(lambda: Path("it.jsonl").exists() and "RunStarted" in Path("it.jsonl").read_text())
    os.killpg(process.pid, number)
    said = ended(process)
    how = "interrupted" if number == signal.SIGINT else "terminated"
    assert said.code == 128 + number
    left = "; what was logged so far is readable" if Path("it.jsonl").exists() else ""
    assert said.err == f"holdfast: {how}{left}\n"
    assert {it.name for it in own.iterdir()} == {new.name, other.name}


def _advanced(log: Path) -> bool:
    """Whether the log has a line after its first instant: one that has none is not kept."""
    whole = log.read_text().rpartition("\n")[0].splitlines()
    return any(json.loads(line)["t"] > 0 for line in whole)


def test_a_scheduler_that_dies_ends_a_live_run_at_once_in_one_line(
    shell: Shell, tmp_path: Path
) -> None:
    file = shell.write(SCENARIO, "long.toml")
    where = tmp_path / "cluster.json"
    command = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
    begun = part_of_cluster(tmp_path, *command, "--scheduler-file", str(where))
    with begun as scheduler:
        until(where.exists, scheduler)
        with dask_worker(tmp_path), dask_worker(tmp_path):
            process = spawn("live", file, "--log", "it.jsonl", "--scheduler", where)
            log = Path("it.jsonl")
            until(lambda: log.exists() and _advanced(log), process)
            scheduler.kill()
            began = time.monotonic()
            said = ended(process)
    told = "holdfast: cluster: the scheduler is gone; accepted: one that runs, and the same command"
    assert (said.code, said.err) == (2, f"{told}\n")
    assert time.monotonic() - began < 30
    audited = shell("audit", "it.jsonl")
    assert (audited.code, "every law holds so far" in audited.out) == (4, True), audited
    assert "the log has no end" in audited.out


def test_without_encryption_a_cluster_is_not_opened_to_all_unasked(shell: Shell) -> None:
    file = shell.write(SHORT, "short.toml")
    code = (
        "import sys; sys.modules['cryptography'] = None; from sims.cli import main;"
        f"sys.exit(main(['live', {str(file)!r}, *sys.argv[1:]]))"
    )
    said = ended(python("-c", code))
    assert said.code == 2
    assert said.err == (
        "holdfast: cluster: cryptography is missing: everybody on this machine can connect to the "
        "cluster, and run code in your name; accepted: pip install 'holdfast[cluster]', or --open\n"
    )


def test_a_broken_cryptography_is_as_good_as_none(shell: Shell) -> None:
    file = shell.write(SHORT, "short.toml")
    broken = Path("broken", "cryptography")
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('no such symbol')\n")
    code = (
        "import sys; sys.path.insert(0, 'broken'); from sims.cli import main;"
        f"sys.exit(main(['live', {str(file)!r}]))"
    )
    said = ended(python("-c", code))
    assert said.code == 2
    [line] = said.err.splitlines()
    assert line.startswith("holdfast: cluster: cryptography is missing")


def test_too_few_open_files_for_a_cluster_are_reported_in_one_line(
    shell: Shell,
) -> None:
    file = shell.write(SHORT, "short.toml")
    limited = f'ulimit -n 40; exec "{sys.executable}" -m sims.cli live "$0"'
    said = ended(begin("sh", "-c", limited, file))
    assert said.code == 2
    [line] = said.err.splitlines()
    assert "a process may open 40 files, and 2 workers take about" in line


LAZY = """\
def double(state):
    return state + state
"""
FIRST = """\
from beside import step


def own(state, unit):
    from lazily import double

    return step(double(state))
"""


def test_a_cluster_elsewhere_gets_the_function_and_all_that_it_imports(
    shell: Shell, tmp_path: Path
) -> None:
    """The workers know neither the scenario's folder nor that of `--policies`: one module is
    imported at once, the other one when the function is called. What they lack is told in one
    line, at once."""
    for name in ("its", "more"):
        (tmp_path / name).mkdir()
    shell.write(SHORT, "its/short.toml")
    shell.write(FIRST, "its/mine.py")
    shell.write(BESIDE, "its/beside.py")
    lazily = shell.write(LAZY, "more/lazily.py")
    words = ("--set", "live.function=mine:own", "--policies", "more", "--log", "none")
    with dask(tmp_path) as scheduler:
        command = ("live", "its/short.toml", *words, "--scheduler", scheduler)
        said = ended(spawn(*command))
        assert (said.code, said.err) == (0, "")
        assert "answers     right" in said.out
        lazily.write_text("import os\nif 'away' in os.getcwd():\n    import no_such_package\n")
        began = time.monotonic()
        said = ended(spawn(*command))
        assert said.code == 2
        [line] = said.err.splitlines()
        assert "lazily: ModuleNotFoundError: No module named 'no_such_package'" in line
        lazily.unlink()
        said = ended(spawn(*command))
        assert said.code == 2
        [line] = said.err.splitlines()
        assert (
            "live.function: step 0 (mine.py, line 5): ModuleNotFoundError: No module named 'lazily'"
            in line
        )
        assert time.monotonic() - began < 30
