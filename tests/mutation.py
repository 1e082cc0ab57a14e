"""Change one thing in `policies/` or `actors/` at a time, and see whether a test notices.

    python tests/mutation.py 300 SEED [FOLDER]    # so many mutants, drawn by SEED
    python tests/mutation.py 300 SEED --audit     # of actors/ but its deciders: does audit notice?

First the tests run once, watched by coverage, which says who runs a line; that is kept in FOLDER
(build/mutants). Each mutant is a copy of the tree with one operator, comparison, constant or
statement changed, and meets at most MOST tests of those that run its line, up to the first
failure. Killed is also what takes LIMIT.

With `--audit` each mutant writes the logs of SCENARIOS fixed scenarios; of those that change
one, `audit`, by the tree as it is, is to find a violation in one that changed. What chance draws,
what deciders decide and what the scenario says are inputs to it. If all changed logs of a mutant
break no law and first differ from the true ones at an input, they are logs of other inputs, and it
is counted as such. It prints of how many kinds the mutants are, and which generators (TABLES in
tests/sims/anything.py) draw the scenarios.
"""

from __future__ import annotations

import ast
import json
import os
import resource
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random

import hypothesis  # noqa: F401  # the forks need not
import numpy  # noqa: F401
import pytest
import scipy.optimize
import scipy.stats  # noqa: F401
from attrs import define, field, frozen
from coverage import CoverageData

ROOT = Path(__file__).parents[1]
PARTS = ("actors", "policies", "sims", "tests")
GOLDEN = "tests/golden"
WATCHED = [
    *("tests/actors", "tests/policies", GOLDEN, "tests/sims/scenario"),
    *(str(it.relative_to(ROOT)) for it in sorted((ROOT / "tests/sims").glob("test_*cases.py"))),
    *("tests/sims/audit/test_laws_hold.py", "tests/sims/test_queue_policies.py"),
]
ATTRS = {"define", "field", "frozen"}
SCENARIOS, SOON = 100, 20
"""Fixed ones, and seconds of CPU time of a mutant that runs them: it takes a few."""
LIMIT, BUDGET, MOST = 200, 60.0, 300
"""Seconds of CPU time of a mutant, which an endless loop takes; of time that its tests take all in
all without it; how many they are."""

CHANCE = {
    *("UnitFailed", "FaultBlamed", "RepairEnded", "UnitRetired", "NoticeGiven", "FaultIgnored"),
    "VerificationEnded",
}
"""Events that hazards draw, or whose outcome is drawn."""
OFTEN_CHANCE = {"WorkerChanged", "WorkerSpeedChanged", "RunHung"}
"""Events that hazards draw where they have no cause."""
DECIDED = {"RunStarted", "TasksDealt", "RedistributionDecided"}
"""Events that deciders decide; of runs those on workers that are not kept."""

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def places(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """What can be changed, and how."""
    apart = {id(it) for node in ast.walk(tree) for it in _not_asked(node)}
    return (
        (node, what) for node in ast.walk(tree) if id(node) not in apart for what in _changes(node)
    )


def _not_asked(node: ast.AST) -> Iterator[ast.AST]:
    """Whether attrs makes a method that nobody calls, and by which number an enum whose members are
    not compared knows one; what is for the type checker alone; that `zip` guards lengths which are
    always equal: no test can tell."""
    if isinstance(node, ast.ClassDef) and any(ast.unparse(it) == "enum.Enum" for it in node.bases):
        yield from (it.value for it in node.body if isinstance(it, ast.Assign))
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        yield node
    if isinstance(node, ast.Call):
        yield from (it.value for it in node.keywords if it.arg == "strict")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ATTRS:
        yield from (it.value for it in node.keywords if it.arg in {"eq", "init", "repr"})


def _changes(node: ast.AST) -> Iterator[str]:
    """Names of what can be changed about the node."""
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
        yield "operator"
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield "comparison"
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield "constant"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not"
    elif isinstance(node, ast.If | ast.While):
        yield "condition"
    body = getattr(node, "body", None)
    for place, statement in enumerate(body if isinstance(body, list) else ()):
        call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        if call or isinstance(statement, ast.AugAssign):
            yield f"delete {place}"


def _apply(node: ast.AST, what: str) -> None:
    match what:
        case "operator":
            node.op = SWAPS[type(node.op)]()  # type: ignore[attr-defined]
        case "comparison":
            node.ops[0] = SWAPS[type(node.ops[0])]()  # type: ignore[attr-defined]
        case "constant":
            value = node.value  # type: ignore[attr-defined]
            node.value = (not value) if isinstance(value, bool) else value + 1  # type: ignore
        case "not":
            node.op = ast.UAdd()  # type: ignore[attr-defined]
            node.operand = ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])  # type: ignore
        case "condition":
            node.test = ast.UnaryOp(ast.Not(), node.test)  # type: ignore[attr-defined]
        case _:
            node.body[int(what.split()[1])] = ast.Pass()  # type: ignore[attr-defined]


def population() -> list[tuple[Path, int]]:
    """Every mutant there could be: file, and its number within."""
    files = [it for part in ("actors", "policies") for it in sorted((ROOT / part).rglob("*.py"))]
    return [(it, k) for it in files for k, _ in enumerate(places(ast.parse(it.read_text())))]


# --- which tests run a line --------------------------------------------------------------------


@define(eq=False)
class Clock:
    """Plug-in of pytest: how long each test takes."""

    seconds: dict[str, float] = field(factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Of its set-up, call and end together."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration


@frozen
class Watched:
    """What one run of the tests has told."""

    data: CoverageData
    seconds: dict[str, float]

    @classmethod
    def at(cls, folder: Path) -> Watched:
        """Kept there, or else seen now and kept."""
        lines, times = folder / "lines.coverage", folder / "seconds.json"
        if not times.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _in_child(ROOT, 3600, lambda: _watch(lines, times))
        data = CoverageData(str(lines))
        data.read()
        return cls(data, json.loads(times.read_text()))

    def tests(self, module: Path, first: int, last: int) -> list[str]:
        """Those that run one of these lines; where only an import does, those that run any line of
        the module, and where there is none (nothing but names and defaults), golden logs. Of each
        function's cases one, then of each a second: the quickest first."""
        lines = self.data.contexts_by_lineno(str(module))
        names = _tests(lines.get(line, ()) for line in range(first, last + 1))
        names = names or _tests(lines.values())
        names = names or {name for name in self.seconds if name.startswith(GOLDEN)}
        order = sorted((self.seconds.get(name, 0.0), name) for name in names)
        turns: Counter[str] = Counter()
        rows = []
        for seconds, name in order:
            function = name.partition("[")[0]
            rows.append((turns[function], seconds, name))
            turns[function] += 1
        return list(_within(BUDGET, sorted(rows)))


def _tests(contexts: Iterable[Iterable[str]]) -> set[str]:
    return {it.rpartition("|")[0] for some in contexts for it in some} - {""}


def _within(budget: float, rows: Iterable[tuple[int, float, str]]) -> Iterator[str]:
    for _, seconds, name in islice(rows, MOST):
        budget -= seconds
        if budget >= 0:
            yield name


def _watch(lines: Path, times: Path) -> int:
    clock = Clock()
    os.environ["COVERAGE_FILE"] = str(lines)
    watch = ["--cov=actors", "--cov=policies", "--cov-context=test"]
    watch += ["--cov-report=", "--cov-fail-under=0"]
    code = int(pytest.main([*watch, *WATCHED], plugins=[clock]))
    if not code:
        times.write_text(json.dumps(clock.seconds))
    return code


# --- one mutant after the other -----------------------------------------------------------------


def _in_child(tree: Path, limit: int, ask: Callable[[], int]) -> int:
    """Exit code of a fork of this process, which has imported what takes long."""
    with tempfile.TemporaryDirectory() as left:  # a fork that ends so tidies up nothing
        child = os.fork()
        if not child:
            os.chdir(tree)
            tempfile.tempdir = os.environ["TMPDIR"] = left
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            try:
                os._exit(ask())
            finally:  # a mutant that fails as it is imported would tidy up its parent's files
                os._exit(1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed(tree: Path, tests: list[str]) -> bool:
    """Whether a test notices, or doesn't end."""
    options = ["-x", "-p", "no:cacheprovider", "-p", "no:cov", "--rootdir", str(tree)]
    return _in_child(tree, LIMIT, lambda: int(pytest.main([*options, *tests]))) != 0


def mutated(found: list[tuple[Path, int]], tree: Path) -> Iterator[tuple[str, Path, int, int]]:
    """A copy of the tree in which one thing is changed after the other: what, in which module, from
    which line to which."""
    sys.dont_write_bytecode = True
    for part in PARTS:
        shutil.copytree(ROOT / part, tree / part)
    shutil.copy(ROOT / "pyproject.toml", tree)
    for file, number in found:
        module = file.relative_to(ROOT)
        changed = ast.parse(file.read_text())
        node, what = list(places(changed))[number]
        first, last = _span(node, what)
        _apply(node, what)
        (tree / module).write_text(ast.unparse(ast.fix_missing_locations(changed)))
        yield what, module, first, last
        shutil.copy(file, tree / module)


def main(many: int, seed: int, folder: Path) -> None:
    """Try `many` mutants; tell of each, and how many were killed."""
    found, dead = population(), 0
    chosen, watched = Random(seed).sample(found, many), Watched.at(folder)
    print(f"{len(found)} mutants, {many} tried", flush=True)
    with tempfile.TemporaryDirectory() as copy:
        tried = mutated(chosen, Path(copy))
        for count, (what, module, first, last) in enumerate(tried, start=1):
            tests = watched.tests(ROOT / module, first, last)
            noticed = bool(tests) and killed(Path(copy), tests)
            dead += noticed
            fate = "killed" if noticed else "SURVIVED"
            print(f"{dead}/{count} {module}:{first} {what}: {fate}, {len(tests)} tests", flush=True)


# --- what the audit notices ---------------------------------------------------------------------


def _write_logs(folder: Path) -> int:
    """The logs of the fixed scenarios, but of those that fail."""
    sys.path.insert(0, str(Path.cwd()))
    from actors.runtime import JsonLines
    from tests import sound

    folder.mkdir()
    drawn = zip(sound.generators(SCENARIOS), sound.small(SCENARIOS), strict=True)
    for k, (kind, table) in enumerate(drawn):
        with suppress(Exception):
            records = sound.records_of(table)
            with JsonLines((folder / f"{k} {kind}.jsonl").open("wb")) as file:
                file.write(records)
    return 0


def _audited(logs: list[Path]) -> int:
    """How many of these logs break a law, at most 100."""
    sys.path.insert(0, str(Path.cwd()))
    from sims.audit.audit import audit
    from sims.log import LogFile

    return min(sum(any(audit(LogFile(log, ordered=False))) for log in logs), 100)


def main_audit(many: int, seed: int) -> None:
    """Tell of each mutant that changes a log whether `audit` notices."""
    apart = ROOT / "actors/deciders"
    found = [it for it in population() if it[0].is_relative_to(ROOT / "actors")]
    found = [it for it in found if not it[0].is_relative_to(apart)]
    chosen = Random(seed).sample(found, many)
    print(f"{len(found)} mutants, {many} tried by seed {seed}: {_mix(map(_change_of, chosen))}")
    noticed = count = drawn = 0
    with tempfile.TemporaryDirectory() as copy:
        tree, before, after = (Path(copy) / name for name in ("tree", "before", "after"))
        tree.mkdir()
        _in_child(ROOT, 3600, lambda: _write_logs(before))
        mix = _mix(log.stem.partition(" ")[2] for log in before.glob("*"))
        print(f"{SCENARIOS} fixed scenarios, of which end: {mix}", flush=True)
        for what, module, first, _ in mutated(chosen, tree):
            _in_child(tree, SOON, lambda: _write_logs(after))
            logs = [it for it in after.glob("*") if _differ(it, before / it.name)]
            broken = _in_child(ROOT, 3600, partial(_audited, logs)) if logs else 0
            count, noticed = count + bool(logs), noticed + bool(broken)
            fate = f"{broken} of {len(logs)} changed logs break a law"
            if logs and not broken and all(_parts_at_input(it, before / it.name) for it in logs):
                drawn += 1
                fate += ", and part from the true ones at an input"
            ratio = f"{noticed}/{count} ({drawn} other inputs)"
            print(f"{ratio} {module}:{first} {what}: {fate}", flush=True)
            shutil.rmtree(after, ignore_errors=True)


def _mix(names: Iterable[str]) -> str:
    """How many there are of each."""
    return ", ".join(f"{many} {name}" for name, many in sorted(Counter(names).items()))


def _change_of(mutant: tuple[Path, int]) -> str:
    file, number = mutant
    return list(places(ast.parse(file.read_text())))[number][1].partition(" ")[0]


def _differ(log: Path, other: Path) -> bool:
    """Whether a whole log is another than before."""
    said = log.read_bytes()
    whole = b'"event":"ScenarioEnded"' in said
    return whole and other.exists() and said != other.read_bytes()


def _parts_at_input(log: Path, other: Path) -> bool:
    """Whether the first line that differs, in one of the logs, is an input."""
    pairs = zip(log.open("rb"), other.open("rb"), strict=False)
    return any(map(_is_input, next((pair for pair in pairs if pair[0] != pair[1]), ())))


def _is_input(line: bytes) -> bool:
    event = json.loads(line)
    if event["event"] in DECIDED:
        return event.get("keeps") is None
    if event["event"] == "RunEnded":  # a policy of enrolment has chosen other workers
        return bool(event["job"] == "application" and event["outcome"] == "cancelled")
    if event["event"].endswith("Described"):
        return True
    if event["event"] in OFTEN_CHANCE:
        return not event["cause"]
    return event["event"] in CHANCE


def _span(node: ast.AST, what: str) -> tuple[int, int]:
    """Lines of what is changed, first and last."""
    if what.startswith("delete"):
        node = node.body[int(what.split()[1])]  # type: ignore[attr-defined]
    elif what == "condition":
        node = node.test  # type: ignore[attr-defined]
    return getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)


if __name__ == "__main__":
    many, seed, *folder = sys.argv[1:]
    if folder == ["--audit"]:
        main_audit(int(many), int(seed))
    else:
        main(int(many), int(seed), Path(*folder or ["build/mutants"]).absolute())
