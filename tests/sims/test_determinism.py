"""Same scenario, same seed: the same log, byte for byte, whatever else differs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from actors.events import WorkerChanged
from policies.enrolment import CATALOGUE
from sims.log import LogFile
from sims.log_writer import LogWriter
from sims.scenario.loader import load
from sims.world import run
from tests.sims.cli.commands import TINY, environment

SCENARIOS = Path(__file__).parents[2] / "sims" / "scenarios"
NAMES = sorted(path.stem for path in SCENARIOS.glob("*.toml"))
VOLATILE = SCENARIOS / "volatile20.toml"


def log_of(path: Path, folder: Path, *overrides: str, seed: int | None = None) -> bytes:
    """The log of one run, in this process."""
    log = folder / "run.jsonl"
    with LogWriter(log) as writer:
        run(load(path, overrides, seed), [writer], path.parent)
    return log.read_bytes()


@pytest.mark.usefixtures("unchecked")
def test_logs_are_the_same_under_any_hash_seed(tmp_path: Path) -> None:
    """Two other processes and this one run all scenarios of the repository."""
    script = (
        "import sys; from pathlib import Path; from tests.sims.test_determinism import *\n"
        "for name in NAMES: (Path(sys.argv[1]) / name).write_bytes("
        "log_of(SCENARIOS / f'{name}.toml', Path(sys.argv[1])))"
    )
    folders = [tmp_path / seed for seed in ("0", "4321")]
    for folder in folders:
        folder.mkdir()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(folder)],
            env=environment(PYTHONHASHSEED=folder.name),
        )
        for folder in folders
    ]
    here = {name: log_of(SCENARIOS / f"{name}.toml", tmp_path) for name in NAMES}
    assert [process.wait() for process in processes] == [0, 0]
    for name in NAMES:
        assert len(here[name]) > 1000, name
        for folder in folders:
            assert (folder / name).read_bytes() == here[name], name


def test_another_seed_gives_another_run(tmp_path: Path) -> None:
    logs = {log_of(VOLATILE, tmp_path, seed=seed).partition(b"\n")[2] for seed in range(4)}
    assert len(logs) == 4


MORE = (
    "task_time = 1\n"
    "availability = { kind = 'markov', rows = [[0.5, 0.5, 0], [1, 0, 0], [1, 0, 0]] }\n"
)


def lives(path: Path, folder: Path, policy: str = "IE") -> dict[int, list[tuple[float, str]]]:
    """What each worker's owner and crashes did to it, as far as the run went."""
    log_of(path, folder, f"policy.name={policy}", "job.cap=400", "job.iterations=50")
    found: dict[int, list[tuple[float, str]]] = {}
    for record in LogFile(folder / "run.jsonl"):
        if isinstance(record.event, WorkerChanged):
            found.setdefault(record.event.worker, []).append((record.t, record.event.state.value))
    return found


def test_all_policies_meet_the_same_availability(tmp_path: Path) -> None:
    """As far as the shorter of two runs goes."""
    reference = lives(VOLATILE, tmp_path)
    assert sum(map(len, reference.values())) > 200
    for policy in CATALOGUE:
        for worker, life in lives(VOLATILE, tmp_path, policy).items():
            shorter = min(len(life), len(reference[worker]))
            assert life[:shorter] == reference[worker][:shorter], (policy, worker)


def test_a_worker_more_leaves_the_others_lives_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    path.write_text(TINY)
    few = lives(path, tmp_path)
    path.write_text(TINY.replace("[job]", '[[workers]]\nname = "more"\n' + MORE + "[job]"))
    many = lives(path, tmp_path)
    assert set(many) == {*few, 2}
    shorter = min(len(few[1]), len(many[1]))
    assert shorter > 2
    assert few[1][:shorter] == many[1][:shorter]
