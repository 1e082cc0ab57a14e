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
from functools import cache
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attrs import frozen

import actors
import policies
import sims
from sims.errors import InputError
from sims.scenario.loader import words
from sims.scenario.scenario import Scenario

OWN = re.compile(r"(?P<module>[A-Za-z_][\w.]*):[A-Za-z_]\w*")
"""`package.module:Name`, as files name what is their user's."""

NAMES = ("name", "log")
"""Keys of a scenario that name no file which it reads."""

PACKAGES = (policies, actors, sims)
OURS = {package.__name__: Path(str(package.__file__)).parent for package in PACKAGES}
OF_SIMS = ("scenario", "readers", "metrics", "ledger", "papers")
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
        own = {module.place: digest(module.text) for module in self.modules}
        return dict(self.files) | own

    def __or__(self, other: Kit) -> Kit:
        """Both; of what has changed since `self` was made, what it was then."""
        files = {**dict(self.files), **dict(other.files), **dict(self.files)}
        modules = {it.name: it for it in (*self.modules, *other.modules, *self.modules)}
        return Kit(self.code or other.code, tuple(files.items()), tuple(modules.values()))


def digest(data: bytes) -> str:
    """Names content: 128 bits of it."""
    return blake2b(data, digest_size=16).hexdigest()


@cache
def code() -> str:
    """Digest of the code of Holdfast that simulates and measures, as it is installed here."""
    roots = [OURS[top].parent / place for place in DECISIVE for top in [place.split("/")[0]]]
    found = [path for root in roots for path in sorted(root.rglob("*.py"))]
    found += sorted(OURS["sims"].glob("*.py"))
    return digest(b"".join(digest(path.read_bytes()).encode() for path in found))


# --- what is named ----------------------------------------------------------------------------


def kit_of(named: object, folder: Path) -> Kit:
    """What a scenario, or whatever else names files and modules in its strings, needs; files are
    sought in `folder`, modules there and in the current one."""
    table: dict[str, Any] = (
        named.model_dump(warnings=False) if isinstance(named, Scenario) else {"": named}
    )
    found = sorted(set(words({key: it for key, it in table.items() if key not in NAMES})))
    files = [it for word in found for it in _files(word, folder)]
    names = [match["module"] for word in found if (match := OWN.fullmatch(word))]
    modules = {it.name: it for name in names for it in _modules(name, (folder, Path.cwd()))}
    return Kit(code(), tuple(files), tuple(modules.values()))


def _files(word: str, folder: Path) -> Iterator[tuple[str, str]]:
    path = folder / word
    if word not in (".", "..") and (path.is_file() or path.is_dir()):
        yield str(path), _content(path)


def _content(path: Path) -> str:
    if path.is_file():
        return digest(path.read_bytes())
    inner = (it for it in sorted(path.rglob("*")) if it.is_file())
    return digest("".join(f"{it.relative_to(path)} {_content(it)}" for it in inner).encode())


def _modules(name: str, roots: Sequence[Path]) -> Iterator[Module]:
    """A user's module, the packages around it, and those of the user's that they import."""
    found: dict[str, Module] = {}
    asked = [name]
    while asked:
        one = asked.pop()
        module = None if one in found else _module(one, roots)
        if module is not None:
            found[one] = module
            asked += [one.rpartition(".")[0]] if "." in one else []
            asked += _imports(module)
    yield from found.values()


def _module(name: str, roots: Sequence[Path]) -> Module | None:
    """None: it is no user's, so that every installation has it."""
    inner = name.replace(".", "/")
    ours = OURS.get(name.partition(".")[0])
    places = (f"{inner}.py", f"{inner}/__init__.py")
    if not name or (ours and any((ours.parent / place).is_file() for place in places)):
        return None
    for root in roots:
        for place in places:
            if (root / place).is_file():
                return Module(name, place, (root / place).read_bytes())
    return None


def _imports(module: Module) -> Iterator[str]:
    package = (
        module.name if module.place.endswith("__init__.py") else module.name.rpartition(".")[0]
    )
    try:
        nodes = list(walk(parse(module.text)))
    except (SyntaxError, ValueError):
        return  # importing it says so, with the line
    for node in nodes:
        if isinstance(node, Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))


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
    _import(kit.modules, here)


def _import(modules: Iterable[Module], here: str) -> None:
    """Import these very texts: what this process has imported before may be older."""
    with TemporaryDirectory(prefix="holdfast-") as folder:
        for module in modules:
            place = Path(folder, module.place)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(module.text)
            sys.modules.pop(module.name, None)
        sys.path.insert(0, folder)
        for package in PACKAGES:  # a folder of the user's may be called so
            package.__path__.append(str(Path(folder, package.__name__)))
        importlib.invalidate_caches()
        try:
            for module in modules:
                importlib.import_module(module.name)
        except Exception as error:  # whatever a user's module raises while it is imported
            problem = f"{type(error).__name__}: {error}"
            raise InputError(here, module.name, problem, "a module that can be imported") from None
        finally:
            sys.path.remove(folder)
            for package in PACKAGES:
                package.__path__.pop()
