"""The checkpoints of tasks in a folder, or at a URL that fsspec knows. The same call goes on from
there, whatever has ended: its workers, the scheduler, the calling program, the machine.

A file has the state of one task after some steps: a line of JSON that says what it is, then the
pickle. Opening a pickle runs what it says, so a folder that others can write to is theirs to run
code in your name.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from inspect import getsource, unwrap
from typing import Any

import orjson
from attrs import asdict, define, field, frozen

from sims.errors import InputError, imported, note
from sims.live.holder import State
from sims.packing import dumps

FORMAT = 1
"""Version of the files' format."""
KEPT = 2
"""Number of checkpoints of a task that are kept: if the last one is spoilt, there is another."""
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""Form of the name of a call."""
SUFFIX = ".checkpoint"
FRESH = "the same call, another name, or fresh=True, which begins anew"


@frozen
class Identity:
    """Description of what a call computes; calls with equal ones can use each other's
    checkpoints."""

    function: str
    """Module and name of the step function."""
    source: str
    """Digest of the function's source, and of the values that it was made with."""
    state: str
    """Module and name of the states' classes."""
    steps: int
    tasks: int
    """Number of states given."""

    def differences(self, other: dict[str, Any]) -> Iterator[str]:
        """Yield a text on each thing that is another one in `other`, what a checkpoint says."""
        words = {
            "function": "the function was {0}, and is {1}",
            "source": "the function's source, or a value that it was made with, has changed",
            "state": "the state was a {0}, and is a {1}",
            "steps": "the steps were {0}, and are {1}",
            "tasks": "the number of states was {0}, and is {1}",
        }
        mine = asdict(self)
        for key, text in words.items():
            if other.get(key) != mine[key] and (
                key != "source" or self.function == other["function"]
            ):
                yield text.format(other.get(key), mine[key])


def identity(function: Callable[..., Any], states: Sequence[object], steps: int) -> Identity:
    """Return what a call of this step function on these states computes."""
    kinds = sorted({_name(type(it)) for it in states})
    named = unwrap(function)
    while isinstance(named, partial):
        named = unwrap(named.func)
    kind = named if hasattr(named, "__qualname__") else type(named)
    digest = sha256("\n".join(_parts(function)).encode()).hexdigest()
    return Identity(_name(kind), digest, ", ".join(kinds), steps, len(states))


def _name(it: Any) -> str:
    return (
        str(it.__qualname__)
        if it.__module__ == "builtins"
        else f"{it.__module__}.{it.__qualname__}"
    )


def _parts(function: Any) -> Iterator[str]:
    """Yield texts that tell a function from others: its source, and digests of the values that it
    was made with (arguments of a partial, defaults, a closure's variables, an object's state)."""
    if isinstance(function, partial):
        yield _digest((function.args, function.keywords))
        yield from _parts(function.func)
        return
    if wrapped := getattr(function, "__wrapped__", None):
        yield from _parts(wrapped)
    is_function = hasattr(function, "__code__")
    code = function if is_function else type(function)
    try:
        yield getsource(code)
    except (OSError, TypeError):  # typed in an interpreter, or built in
        compiled = getattr(function, "__code__", None)
        yield repr((compiled.co_code, compiled.co_consts)) if compiled else _name(code)
    if not is_function:
        yield _digest(getattr(function, "__dict__", None))
        return
    cells = [it.cell_contents for it in function.__closure__ or () if not _is_code(it)]
    yield _digest((function.__defaults__, function.__kwdefaults__, cells))


def _is_code(cell: Any) -> bool:
    """Return whether a closure's variable has no value yet, or holds a function or class."""
    try:
        return callable(cell.cell_contents)
    except ValueError:
        return True


def _digest(value: object) -> str:
    try:
        return sha256(dumps(value)).hexdigest()
    except Exception:  # what cannot be pickled cannot be compared
        return type(value).__qualname__


@define(eq=False)
class CheckpointFolder:
    """The folder with the checkpoints of one call.

    Methods raise InputError where files cannot be read or written.
    """

    place: str
    """Folder or URL, as the user gave it."""
    name: str
    """Name of the call, which is the folder below."""
    identity: Identity
    starts: Sequence[str]
    """Digest of each start state."""
    _files: Any = field(init=False)
    """File system of fsspec's."""
    _root: str = field(init=False)
    _written: dict[int, list[int]] = field(init=False, factory=dict)
    """Maps each task to the steps of its checkpoints, the last one last."""

    def __attrs_post_init__(self) -> None:
        fsspec = imported("fsspec", "checkpoints", "pip install 'holdfast[cluster]'")
        with self._refusing("opened"):
            self._files, root = fsspec.core.url_to_fs(self.place)
            self._root = f"{root.rstrip('/')}/{self.name}"
            self._files.makedirs(self._root, exist_ok=True)

    @contextmanager
    def _refusing(self, verb: str) -> Iterator[None]:
        try:
            yield
        except (OSError, ImportError, ValueError) as error:
            problem = f"{self.place} cannot be {verb}: {getattr(error, 'strerror', None) or error}"
            raise InputError("call", "checkpoints", problem, "a folder of yours") from None

    def found(self, fresh: bool) -> dict[int, State]:
        """Return the last sound checkpoint of each task that has one. If `fresh` is true, remove
        all of them instead, and return none.

        Notes on stderr name spoilt ones. Raises InputError where a checkpoint is another call's,
        and where all of a task's are spoilt.
        """
        if fresh:
            for task, steps in self._listed().items():
                self._remove(task, steps)
            return {}
        return {task: self._last(task, steps) for task, steps in sorted(self._listed().items())}

    def _listed(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        with self._refusing("read"):
            self._files.invalidate_cache()
            paths = sorted(self._files.ls(self._root, detail=False))
        for path in paths:
            task, dash, step = path.rpartition("/")[2].removesuffix(SUFFIX).partition("-")
            if path.endswith(SUFFIX) and dash and task.isdecimal() and step.isdecimal():
                found.setdefault(int(task), []).append(int(step))
        return found

    def _last(self, task: int, steps: list[int]) -> State:
        self._written[task] = steps
        for step in reversed(steps):
            path = self._path(task, step)
            try:
                return step, self._read(path, task, step)
            except ValueError as error:
                note(f"{path} is spoilt ({error}); an earlier checkpoint is taken")
        problem = f"all checkpoints of state {task} in {self._root} are spoilt"
        raise InputError("call", "checkpoints", problem, "fresh=True, which begins anew")

    def _read(self, path: str, task: int, step: int) -> bytes:
        """Return the pickle in a file. Raises ValueError for a spoilt file, InputError for that of
        another call."""
        with self._refusing("read"):
            content: bytes = self._files.cat_file(path)
        line, _, data = content.partition(b"\n")
        head = orjson.loads(line)
        if not isinstance(head, dict) or head.get("step") != step or head.get("task") != task:
            raise ValueError("its first line is of no checkpoint of that step")
        if head.get("sha256") != sha256(data).hexdigest():
            raise ValueError("its contents are not those that were written")
        if head.get("format") != FORMAT:
            raise self._unfit(f"its format is {head.get('format')}, and this Holdfast's {FORMAT}")
        if differences := list(self.identity.differences(head)):
            raise self._unfit("; ".join(differences))
        if head.get("python") != platform.python_version():
            note(
                f"{path} is of Python {head.get('python')}, and this is {platform.python_version()}"
            )
        if task < len(self.starts) and head.get("start") != self.starts[task]:
            note(f"{path}: the call began from another start state; it goes on from step {step}")
        return data

    def _unfit(self, problem: str) -> InputError:
        return InputError(
            "call", "checkpoints", f"{self._root} is another call's: {problem}", FRESH
        )

    def write(self, task: int, state: State) -> None:
        """Write a checkpoint of a task, whole or not at all, and remove all but the last KEPT."""
        step, data = state
        steps = self._written.setdefault(task, [])
        if steps and steps[-1] >= step:
            return
        head = {
            "format": FORMAT,
            "task": task,
            "step": step,
            **asdict(self.identity),
            "start": self.starts[task],
            "python": platform.python_version(),
            "sha256": sha256(data).hexdigest(),
        }
        path = self._path(task, step)
        beside = f"{path}.{os.getpid()}"
        with self._refusing("written"):
            with self._files.open(beside, "wb") as file:
                file.write(orjson.dumps(head) + b"\n")
                file.write(data)
                _sync(file)
            self._files.mv(beside, path)
        steps.append(step)
        self._remove(task, steps[:-KEPT])
        del steps[:-KEPT]

    def _remove(self, task: int, steps: Sequence[int]) -> None:
        for step in steps:
            with self._refusing("written"), suppress(FileNotFoundError):
                self._files.rm_file(self._path(task, step))

    def _path(self, task: int, step: int) -> str:
        return f"{self._root}/{task}-{step:012d}{SUFFIX}"


def _sync(file: Any) -> None:
    """Have the machine write a local file to its disk, so that it survives the machine's end; other
    file systems do that when a file is closed."""
    with suppress(AttributeError, OSError, ValueError):
        file.flush()
        os.fsync(file.fileno())
