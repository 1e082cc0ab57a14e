"""What simulations need beside their scenario: the user's own files, and which code runs.

The results of a campaign are known by content: a log, a trace or a module of the user's that has
changed is other content. Modules travel with the tasks, so that any worker of any executor has
them; data does not: a worker looks for it at the same place, and says what it lacks.
"""

from __future__ import annotations

import importlib
import re
import socket
import sys
from ast import Import, ImportFrom, parse, walk
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from importlib.util import resolve_name
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attrs import frozen

import actors
import policies
import sims
from sims.errors import InputError
from sims.scenario import Scenario
from sims.scenario.loader import words
from sims.scenario.own_code import places

OWN = re.compile(r"(?P<module>[A-Za-z_][\w.]*):[A-Za-z_]\w*")
"""`package.module:Name`, as files name what is their user's."""

NAMES = ("name", "log")
"""Keys of a scenario that name no file which it reads."""

PACKAGES = (policies, actors, sims)
ROOT = Path(str(sims.__file__)).parents[1]
OF_SIMS = ("scenario", "readers", "history", "metrics", "ledger", "papers")
DECISIVE = ("policies", "actors", *(f"sims/{it}" for it in OF_SIMS))
"""Folders whose code decides what a simulation comes to, beside sims/*.py."""


@frozen
class Module:
    """A module of the user's, as it was when the campaign began."""

    name: str
    place: str
    """Path below the folder from which it is imported."""
    text: bytes


@frozen
class Kit:
    """What a worker needs; `Kit()` needs nothing."""

    code: str = ""
    """Digest of Holdfast's own code."""
    files: tuple[tuple[str, str], ...] = ()
    """(path, digest) of data."""
    modules: tuple[Module, ...] = ()

    def digests(self) -> dict[str, str]:
        """What of it changes results, by file."""
        return dict(self.files) | {it.place: digest(it.text) for it in self.modules}

    def __or__(self, other: Kit) -> Kit:
        """Both; of what has changed since `self` was made, what it was then."""
        files = dict((*other.files, *self.files))
        modules = {it.name: it for it in (*other.modules, *self.modules)}
        return Kit(self.code or other.code, tuple(files.items()), tuple(modules.values()))


def digest(data: bytes) -> str:
    """Names content: 128 bits of it."""
    return blake2b(data, digest_size=16).hexdigest()


@cache
def code() -> str:
    """Digest of the code of Holdfast that simulates and measures, as it is installed here."""
    patterns = ("sims/*.py", *(f"{it}/**/*.py" for it in DECISIVE))
    found = sorted(path for it in patterns for path in ROOT.glob(it))
    return digest(b"".join(digest(path.read_bytes()).encode() for path in found))


# --- what is named ----------------------------------------------------------------------------


def kit_of(named: object, folder: Path) -> Kit:
    """What a scenario, or whatever else names files and modules in its strings, needs; files are
    sought in `folder`, modules there and in that of `--policies`."""
    table: dict[str, Any] = (
        named.model_dump(warnings=False) if isinstance(named, Scenario) else {"": named}
    )
    found = sorted(set(words({key: it for key, it in table.items() if key not in NAMES})))
    paths = [folder / word for word in found if word not in (".", "..")]
    files = tuple((str(it), _content(it)) for it in paths if it.is_file() or it.is_dir())
    names = [match["module"] for word in found if (match := OWN.fullmatch(word))]
    modules = {it.name: it for it in _modules(names, places(folder))}
    return Kit(code(), files, tuple(modules.values()))


def _content(path: Path) -> str:
    if path.is_file():
        return digest(path.read_bytes())
    inner = (it for it in sorted(path.rglob("*")) if it.is_file())
    return digest("".join(f"{it.relative_to(path)} {_content(it)}" for it in inner).encode())


def _modules(names: Iterable[str], roots: Sequence[Path]) -> Iterator[Module]:
    """The user's, the packages around them, and those that they import; what they import first
    comes last."""
    asked, seen = list(names), set[str]()
    while asked:
        name = asked.pop()
        module = None if name in seen else _module(name, roots)
        seen.add(name)
        if module is not None:
            yield module
            asked += [name.rpartition(".")[0], *_imports(module)]


def _module(name: str, roots: Sequence[Path]) -> Module | None:
    """None: it is no user's, so that every installation has it."""
    inner = name.replace(".", "/")
    places = (f"{inner}.py", f"{inner}/__init__.py")
    ours = name.partition(".")[0] in {it.__name__ for it in PACKAGES}
    if not name or (ours and any((ROOT / place).is_file() for place in places)):
        return None
    known = ((root / place, place) for root in roots for place in places)
    return next((Module(name, at, it.read_bytes()) for it, at in known if it.is_file()), None)


def _imports(module: Module) -> list[str]:
    package = module.name
    if not module.place.endswith("__init__.py"):
        package = package.rpartition(".")[0]
    found = []
    try:
        for node in walk(parse(module.text)):
            if isinstance(node, Import):
                found += [alias.name for alias in node.names]
            elif isinstance(node, ImportFrom):
                base = resolve_name("." * node.level + (node.module or ""), package)
                found += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    except (SyntaxError, ValueError, ImportError):
        return []  # importing it says so, with the line
    return found


# --- in a worker ------------------------------------------------------------------------------


@cache
def unpack(kit: Kit) -> None:
    """Make this process ready: once for each kit. Raises InputError, naming this machine, for what
    it lacks."""
    here = f"worker on {socket.gethostname()}"
    if kit.code != code():
        problem = "its Holdfast is another one than that which began the campaign"
        raise InputError(here, "", problem, "the same version on every machine")
    for name, content in kit.files:
        path = Path(name)
        if not path.exists() or _content(path) != content:
            problem = "is another file there" if path.exists() else "is not there"
            accepted = "the same file at the same place on every machine, in a shared folder say"
            raise InputError(here, name, problem, accepted)
    with TemporaryDirectory(prefix="holdfast-") as folder, _first(folder):
        for module in kit.modules:
            place = Path(folder, module.place)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(module.text)
            sys.modules.pop(module.name, None)  # what was imported before may be older
        importlib.invalidate_caches()
        for module in kit.modules:
            try:
                importlib.import_module(module.name)
            except Exception as error:  # whatever a user's module raises while it is imported
                told, accepted = f"{type(error).__name__}: {error}", "a module that can be imported"
                raise InputError(here, module.name, told, accepted) from None


@contextmanager
def _first(folder: str) -> Iterator[None]:
    """Modules are sought there first; and, as a folder of the user's may be called as a package of
    ours, in its folders of such names."""
    sys.path.insert(0, folder)
    for package in PACKAGES:
        package.__path__.append(str(Path(folder, package.__name__)))
    try:
        yield
    finally:
        sys.path.remove(folder)
        for package in PACKAGES:
            package.__path__.pop()
