"""What the code may know of itself, read off its source."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from statistics import median

import pytest

from sims.history.states import HOOKS
from sims.log import VOCABULARY
from sims.world import VERSION

ROOT = Path(__file__).parents[1]
LAYERS = ("policies", "actors", "sims", "tests")
"""Each may import itself and those before it."""
LONGEST = 400
MOST_LINES = 500
FLOORS = (
    "errors durations signals telling intervals estimates blocks tables readers writing log "
    "log_writer own_modules packing processes",
    "scenario scenarios history journals world",
    "ledger summary metrics trace plots view exports",
    "actor_log audit session result repeat kit examples options",
    "campaign campaigns live papers",
    "cli python docs bench vocabulary scripts",
)
"""Rooms of `sims/`, from the ground up: a room may import those of its own floor and below."""

SHIPPED = [path for layer in LAYERS[:3] for path in sorted((ROOT / layer).rglob("*.py"))]


def place(path: Path) -> str:
    """Path from the root, for reading."""
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree(path)))


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Full names of the modules that a file imports, wherever in it."""
    found: list[str] = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{place(path)} imports by a relative path"
            found.append(node.module or "")
    return tuple(found)


def importers(*modules: str) -> set[str]:
    """Shipped files that import one of these top-level modules."""
    return {
        place(path)
        for path in SHIPPED
        if any(name.partition(".")[0] in modules for name in imports(path))
    }


def offenders(faults: Callable[[Path], Iterator[str]]) -> dict[str, list[str]]:
    """Shipped files that have some fault, with what it is."""
    found = {place(path): list(faults(path)) for path in SHIPPED}
    return {file: told for file, told in found.items() if told}


def within(folder: str, files: set[str]) -> set[str]:
    return {file for file in files if file.startswith(f"{folder}/")}


# --- who may import whom --------------------------------------------------------------------------


def test_imports_point_down() -> None:
    """tests -> sims -> actors -> policies."""
    for path in SHIPPED:
        above = LAYERS[LAYERS.index(path.relative_to(ROOT).parts[0]) + 1 :]
        upward = [name for name in imports(path) if name.partition(".")[0] in above]
        assert not upward, place(path)


def test_the_audit_shares_nothing_with_what_builds_a_scenario() -> None:
    """What both sides took from one place would be wrong for both, and no audit would find it."""
    shared = {
        place(path): name
        for path in sorted((ROOT / "sims/audit").rglob("*.py"))
        for name in imports(path)
        if name.startswith("sims.")
        and not name.startswith(("sims.audit", "sims.log", "sims.errors"))
    }
    assert shared == {}


def modules() -> dict[str, Path]:
    """Full name -> file, of all that ships."""
    names = [place(path).removesuffix(".py").replace("/", ".") for path in SHIPPED]
    return {name.removesuffix(".__init__"): path for name, path in zip(names, SHIPPED, strict=True)}


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    """Modules of ours that a file imports, wherever in it, also for the type checker only."""
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            parts = (f"{node.module}.{alias.name}" for alias in node.names)
            found.update(part if part in known else node.module for part in parts)
    return found & known.keys()


def test_no_modules_import_each_other_in_a_circle() -> None:
    known = modules()
    below = {name: imported(path, known) - {name} for name, path in known.items()}
    TopologicalSorter(below).prepare()  # raises CycleError, naming the circle


def rooms() -> dict[str, set[str]]:
    """Map each module or package of `sims` to the others that it imports, for types too."""
    known, found = modules(), dict[str, set[str]]()
    for name, path in known.items():
        if name.startswith("sims."):
            below = {it.split(".")[1] for it in imported(path, known) if it.startswith("sims.")}
            found.setdefault(name.split(".")[1], set()).update(below)
    return {room: below - {room} for room, below in found.items()}


def test_each_room_of_sims_stands_on_a_floor_and_imports_none_above_it() -> None:
    floor = {room: k for k, names in enumerate(FLOORS) for room in names.split()}
    climbing = {
        (room, other)
        for room, below in rooms().items()
        for other in below
        if floor[other] > floor[room]
    }
    assert climbing == set()


def test_no_rooms_import_each_other_in_a_circle() -> None:
    TopologicalSorter(rooms()).prepare()  # raises CycleError, naming the circle


def test_policies_know_no_loop_no_clock_no_journal_and_no_global_randomness() -> None:
    impure = importers("asyncio", "time", "datetime", "random", "secrets", "structlog", "logging")
    assert not within("policies", impure)


def test_the_world_knows_no_clock_and_no_global_randomness() -> None:
    assert not within("actors", importers("time", "datetime", "random", "secrets"))


def test_only_the_runtime_live_processes_and_scripts_know_asyncio() -> None:
    users = importers("asyncio")
    assert "actors/runtime/loop.py" in users
    allowed = "actors/runtime/", "sims/bench/", "sims/live/", "sims/scripts/"
    assert not {file for file in users if not file.startswith(allowed)}


def test_only_the_journal_knows_structlog() -> None:
    assert importers("structlog") == {"actors/runtime/journal.py"}


def test_only_the_figures_module_and_scripts_know_matplotlib() -> None:
    assert {file.split("/")[1] for file in importers("matplotlib")} <= {"plots", "scripts"}


def test_there_is_one_queue_of_events() -> None:
    """A heap anywhere but in a policy would be a second order of events; that of computing times at
    which units fail orders none: only the first of them has a timer."""
    users = importers("heapq", "sched", "queue")
    own = {"actors/runtime/loop.py", "actors/runtime/wall.py", "actors/computing_faults.py"}
    assert users - within("policies", users) == own


def test_another_engine_is_met_in_benchmarks_only() -> None:
    assert {file for file in importers("simpy") if not file.startswith("sims/bench/")} == set()


# --- who reads events -----------------------------------------------------------------------------

SUBJECTS = {
    "sims/audit/": "derives what must follow from events, and shares nothing with a history",
    "sims/exports/tables.py": "has the fields of two events as columns of the table of jobs",
    "sims/live/carrier.py": "records what real processes took",
    "sims/live/driver.py": "carries out what the world decides: its events are orders to it",
    "sims/live/tasks.py": "tells a caller of the tasks that are carried out",
    "sims/log.py": "knows a log by its first event, and a whole one by its last",
    "sims/metrics/costs.py": "prices and rents",
    "sims/papers/malleable17/": "a figure's own fold, as users may write one",
    "sims/papers/published/fleet.py": "a figure's own fold, as users may write one",
    "sims/plots/scene.py": "the sign of a fault that is ignored",
    "sims/repeat.py": "repeats a run from its first event, and compares the last",
    "sims/trace/agents.py": "has the words for each act of an agent, of which its life consists",
    "sims/trace/dependencies.py": "says which described condition led to a submission",
    "sims/trace/parts/": "has the words for each event of a mechanism",
    "sims/trace/run.py": "says what happens to a member, with the event that is a line's cause",
    "sims/trace/story.py": "has a line for each event of a job, with its number and its cause",
    "sims/trace/watch.py": "names the event and the cause of each promise of a wait",
    "sims/trace/words.py": "has the words for each event of a job",
    "sims/vocabulary.py": "documents the events",
}
"""Files and rooms of `sims/` that match on events outside `sims/history`, the one reader of them,
with the subject of each."""
MADE = {"begin", "describe", "record", "wants"}
"""Functions that are given the class of an event to be made."""


def made_or_typed(path: Path) -> Iterator[ast.AST]:
    """Names that only say a type, or of what class an event is that is made."""
    for node in nodes(path):
        match node:
            case ast.FunctionDef(decorator_list=decorators) if any(
                "register" in ast.unparse(it) for it in decorators
            ):
                continue  # dispatches on the types of its arguments
            case (
                ast.FunctionDef(args=arguments, returns=returned)
                | ast.AsyncFunctionDef(args=arguments, returns=returned)
            ):
                typed = [it.annotation for it in (*arguments.args, *arguments.kwonlyargs)]
                for it in (*typed, returned):
                    yield from ast.walk(it) if it is not None else ()
            case ast.AnnAssign(annotation=annotation):
                yield from ast.walk(annotation)
            case ast.Call(func=ast.Name() as made):
                yield made
            case ast.Call(func=ast.Attribute(attr=name), args=arguments) if name in MADE:
                yield from arguments


def matched(path: Path) -> set[str]:
    """Events that a file matches on: in a pattern, a comparison, or a table of what to do with
    each."""
    events = {
        alias.asname or alias.name
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("actors.events")
        for alias in node.names
        if alias.name in {*VOCABULARY, "Compound"}
    }
    others = {id(node) for node in made_or_typed(path)}
    return {
        node.id
        for node in nodes(path)
        if isinstance(node, ast.Name) and node.id in events and id(node) not in others
    }


def test_no_reader_but_history_matches_on_events_that_are_not_its_own_subject() -> None:
    found = {place(path) for path in SHIPPED if place(path).startswith("sims/") and matched(path)}
    outside = {file for file in found if not file.startswith("sims/history/")}
    assert len(found - outside) > 10  # it is seen where they are
    excepted = {file: [it for it in SUBJECTS if file.startswith(it)] for file in outside}
    assert [file for file, why in sorted(excepted.items()) if not why] == []
    assert {it for why in excepted.values() for it in why} == SUBJECTS.keys()


def test_the_hooks_of_a_history_are_overridden_by_its_writers_and_by_traces_alone() -> None:
    users = {
        place(path)
        for path in SHIPPED
        for node in nodes(path)
        if isinstance(node, ast.ClassDef)
        and {ast.unparse(base) for base in node.bases} & {"Listener", "Writer"}
    }
    assert {file.rpartition("/")[0] for file in users} == {
        *("sims/history", "sims/trace"),
    }


VISITED = {
    *("job_submitted", "iteration_ended", "job_ended", "run_started", "run_ended"),
    *("run_widened", "run_released", "member_changed", "worker_changed"),
}
"""Hooks of a history's visitor by which traces follow what happens."""


def test_traces_visit_a_log_by_hooks_that_say_what_happens() -> None:
    overridden = {
        method.name
        for path in SHIPPED
        if place(path).startswith("sims/trace/")
        for node in nodes(path)
        if isinstance(node, ast.ClassDef) and "Listener" in map(ast.unparse, node.bases)
        for method in node.body
        if isinstance(method, ast.FunctionDef) and method.name in HOOKS
    }
    assert overridden == VISITED


# --- classes --------------------------------------------------------------------------------------

LONE = {
    "Activities": "to be united with the driver of live runs",
    "FollowingJob": "keys of a section, which a kind of section shares",
    "Handlers": "is made, by way of an attribute of `Actor`",
    "Terminated": "what is caught where either may come",
}
"""Base classes with a single subclass, and why they are left."""


def base_names(node: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}


def values(node: ast.AST) -> Iterator[ast.expr | None]:
    """What is called, or handed on as a value, by which a class may be made."""
    match node:
        case ast.Call(ast.Name("isinstance" | "issubclass")):
            pass
        case ast.Call(func, args, keywords):
            yield from (func, *args, *(it.value for it in keywords))
        case ast.Yield(value) | ast.Return(value):
            yield value
        case ast.Tuple(elts) | ast.List(elts):
            yield from elts
        case ast.Dict(_, each):
            yield from each


def test_a_class_is_cut_in_two_by_composition_not_by_a_base_that_is_never_made() -> None:
    """Inheritance is for kinds: a base with one subclass cuts a class in two."""
    every = [node for path in SHIPPED for node in nodes(path)]
    classes = {it.name: base_names(it) for it in every if isinstance(it, ast.ClassDef)}
    below = Counter(base for bases in classes.values() for base in bases)
    names = (ast.unparse(it) for node in every for it in values(node) if it is not None)
    made = {name.partition("[")[0].rpartition(".")[2] for name in names}
    protocols = {name for name, bases in classes.items() if "Protocol" in bases}
    lone = {name for name in classes if below[name] == 1} - made - protocols
    assert lone == LONE.keys()


def attributes_set(path: Path) -> Iterator[str]:
    """Attributes that a file sets, of whatever object."""
    for node in nodes(path):
        match node:
            case ast.Attribute(ctx=ast.Store()):
                yield ast.unparse(node)


def test_what_builds_worlds_finishes_nothing_after_it_was_made() -> None:
    """Over the matrix, `tests/actors/test_isolation.py` holds the same of all that acts."""
    builders = [path for path in SHIPPED if place(path).startswith("sims/scenario/builders/")]
    assert [it for path in builders for it in attributes_set(path)] == []


GENERAL = ("part", "asked", "scheduler_part", "queue_part")
"""Files of `actors/parts/` that are of no mechanism."""


def test_copies_runs_and_jobs_know_none_of_their_parts_by_name() -> None:
    known = modules()
    general = {f"actors.parts.{it}" for it in GENERAL}
    mechanisms = {it for it in known if it.startswith("actors.parts.")} - general
    hosts = "copy job runs run steps standstill ends owner iterative_job malleable_job"
    for host in hosts.split():
        assert imported(known[f"actors.{host}"], known) & mechanisms == set(), host


def test_a_mechanism_of_runs_imports_no_other_but_the_storage_that_it_loads_from() -> None:
    known = modules()
    parts = {it for it in known if it.startswith("actors.parts.")}
    mechanisms = parts - {f"actors.parts.{it}" for it in GENERAL}
    found = {it: imported(known[it], known) & (mechanisms - {it}) for it in mechanisms}
    storage, groups = "actors.parts.storage", "actors.parts.replica_groups"
    assert {it: others for it, others in found.items() if others} == {
        groups: {storage},  # a replica loads for itself
        "actors.parts.replicas": {storage, groups},
    }


def class_names(folder: str) -> set[str]:
    files = (path for path in SHIPPED if place(path).startswith(folder))
    return {it.name for path in files for it in nodes(path) if isinstance(it, ast.ClassDef)}


def test_no_class_of_the_audit_has_the_name_of_one_of_the_world() -> None:
    """What the audit expects of a job is no job: `ExpectedJob`, and so on."""
    assert class_names("actors/") & class_names("sims/audit/") == set()


def test_the_audit_knows_its_rules_of_mechanisms_by_their_table_alone() -> None:
    known = modules()
    parts = {it for it in known if it.startswith("sims.audit.parts.")}
    others = [it for it in known if it.startswith("sims.audit.") and it not in parts]
    users = {it: found for it in others if (found := imported(known[it], known) & parts)}
    assert users == {"sims.audit.audit": {"sims.audit.parts.order"}}


def test_what_reads_builds_and_checks_scenarios_knows_their_parts_by_their_table_alone() -> None:
    known = modules()
    parts = {it for it in known if it.startswith("sims.scenario.parts.")}
    mechanisms = parts - {"sims.scenario.parts.part"}
    others = [it for it in known if it.startswith("sims.") and it not in parts]
    users = {it for it in others if imported(known[it], known) & mechanisms}
    assert users == {"sims.scenario.parts"}


def test_a_mechanism_of_a_scenario_imports_no_other() -> None:
    known = modules()
    parts = {it for it in known if it.startswith("sims.scenario.parts.")}
    mechanisms = parts - {"sims.scenario.parts.part"}
    assert {it: imported(known[it], known) & (mechanisms - {it}) for it in mechanisms} == {
        it: set() for it in mechanisms
    }


MECHANISMS = (
    *("standbys", "replicas", "startup", "maintenance", "reserve"),
    *("partitions", "agents"),
)
NAMING = {"sims/audit/": 5, "sims/trace/": 3}
"""Rooms in which a mechanism has one home, and the most files there that may name it."""


@pytest.mark.parametrize("word", MECHANISMS)
def test_few_files_of_a_room_name_a_mechanism(word: str) -> None:
    for room, most in NAMING.items():
        files = [path for path in SHIPPED if place(path).startswith(room)]
        found = [place(path) for path in files if re.search(rf"\b{word}\b", path.read_text())]
        assert len(found) <= most, found


MOST_NAMING = {
    "limits": 12,
    "startup": 12,
    "standbys": 12,
    "maintenance": 12,
    "undetected": 12,
    "replicas": 12,
    "reserve": 12,
    "partitions": 16,
    "agents": 27,
}
"""Words that name one mechanism, and the most files that ship that may have each: its home on each
floor, the tables of these, and the section that has its keys. Partitions are a column of logs of
jobs, too, and what charts and measures divide by; agents are a package of seven files, with doors
in Python, on the command line and in the kit."""


@pytest.mark.parametrize("word", MOST_NAMING)
def test_few_files_name_a_mechanism(word: str) -> None:
    found = [place(path) for path in SHIPPED if re.search(rf"\b{word}\b", path.read_text())]
    assert 0 < len(found) <= MOST_NAMING[word], found


# --- randomness -----------------------------------------------------------------------------------

HIDDEN = frozenset(("np.random", "numpy.random"))
SOUND = frozenset(("default_rng", "Generator", "SeedSequence", "PCG64"))


def global_draws(path: Path) -> Iterator[str]:
    """`np.random.normal` and the like, which share one hidden state."""
    for node in nodes(path):
        match node:
            case ast.Attribute(value, attr) if ast.unparse(value) in HIDDEN and attr not in SOUND:
                yield ast.unparse(node)


def test_nothing_draws_from_numpys_hidden_state() -> None:
    assert offenders(global_draws) == {}


def test_policies_and_actors_make_no_generator_of_their_own() -> None:
    makers = {
        place(path)
        for path in SHIPPED
        for node in nodes(path)
        if isinstance(node, ast.Call) and "default_rng" in ast.unparse(node.func)
    }
    assert not within("policies", makers) | within("actors", makers)


# --- events are types -----------------------------------------------------------------------------


def named_events(path: Path) -> Iterator[str]:
    """String constants that are an event's name, but for docstrings and what a module exports,
    whose names ruff checks."""
    found = nodes(path)
    texts = {id(node.value) for node in found if isinstance(node, ast.Expr)}
    for node in found:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            texts.update(map(id, ast.walk(node)))
    for node in found:
        if isinstance(node, ast.Constant) and node.value in VOCABULARY and id(node) not in texts:
            yield str(node.value)


def test_no_event_is_named_by_a_string() -> None:
    """A misspelt string is silently no event; a misspelt class is an error."""
    assert offenders(named_events) == {}


# --- size -----------------------------------------------------------------------------------------


def lines_of_code(path: Path) -> int:
    """Count the lines that hold code: neither docstrings, comments nor blank lines."""
    texts = {
        line
        for node in nodes(path)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = enumerate(path.read_text().splitlines(), 1)
    return sum(bool(it.strip()) and it.strip()[0] != "#" for k, it in lines if k not in texts)


def test_a_file_holds_one_idea() -> None:
    lengths = {place(path): lines_of_code(path) for path in SHIPPED}
    assert {file: length for file, length in lengths.items() if length > LONGEST} == {}


def test_a_file_is_read_in_one_sitting() -> None:
    """Docstrings, comments and blank lines count here: what is longer has a second idea in it."""
    lengths = {place(path): len(path.read_text().splitlines()) for path in SHIPPED}
    assert {file: length for file, length in lengths.items() if length > MOST_LINES} == {}


def test_functions_are_short() -> None:
    """The median, over all that ship, is below eight lines."""
    lengths = [
        (node.end_lineno or 0) - node.lineno + 1
        for path in SHIPPED
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert median(lengths) < 8


def unfinished(path: Path) -> Iterator[str]:
    """What was left for later."""
    text = path.read_text()
    yield from (word for word in ("TODO", "FIXME", "XXX") if word in text)
    for node in nodes(path):
        if isinstance(node, ast.Raise) and "NotImplementedError" in ast.unparse(node):
            yield ast.unparse(node)


def test_nothing_is_left_for_later() -> None:
    assert offenders(unfinished) == {}


def unexplained(path: Path) -> Iterator[str]:
    """Public classes and functions of a module, and the module, without a docstring."""
    if not ast.get_docstring(tree(path)):
        yield "the module"
    for node in tree(path).body:
        match node:
            case ast.ClassDef(name) | ast.FunctionDef(name) if not name.startswith("_"):
                if not ast.get_docstring(node):
                    yield name


def test_public_things_say_what_they_are() -> None:
    assert offenders(unexplained) == {}


def test_tables_that_stand_beside_the_code_are_installed_with_it() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = told["tool"]["setuptools"]["package-data"]["sims"]
    packed = {path for it in patterns for path in (ROOT / "sims").glob(it)}
    tables = {path for kind in ("toml", "json") for path in (ROOT / "sims").rglob(f"*.{kind}")}
    assert tables - packed == set()


def test_logs_name_the_version_that_is_released() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert told["project"]["version"] == VERSION


def test_the_quick_choice_of_tests_has_some_of_every_folder() -> None:
    tests = ROOT / "tests"
    chosen = [ROOT / line for line in (tests / "quick.txt").read_text().splitlines()]
    assert [path for path in chosen if not path.exists()] == []
    folders = {path.parent for path in tests.rglob("test_*.py")} - {tests / "fuzz"}
    own = {path if path.is_dir() else path.parent for path in chosen}
    assert sorted(folders - own) == [tests / "coverage"]  # how often intervals are right takes long
