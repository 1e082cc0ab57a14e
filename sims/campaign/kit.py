"""Collect what simulations need beside their scenario: the user's own files, and the code that
runs.

The results of a campaign are identified by content: a log, a trace or a module of the user's that
has changed is other content. Modules travel with the tasks, so that any worker of any executor has
them. Data does not travel: a worker looks for it at the same path, and raises an error where it is
missing.
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
"""Pattern of `package.module:Name`, by which files refer to an object of the user's."""

NAMES = ("name", "log")
"""Keys of a scenario whose values are not names of files that it reads."""

PACKAGES = (policies, actors, sims)
ROOT = Path(str(sims.__file__)).parents[1]
OF_SIMS = ("scenario", "readers", "history", "metrics", "ledger", "papers")
"""Subpackages of sims whose code decides the results of a simulation."""
DECISIVE = ("policies", "actors", *(f"sims/{it}" for it in OF_SIMS))
"""Folders whose code decides the results of a simulation, beside the files sims/*.py."""


@frozen
class Module:
    """A module of the user's, as it was when the campaign began."""

    name: str
    place: str
    """Path relative to the folder from which the module is imported."""
    text: bytes
    """Source code of the module, as bytes."""


@frozen
class Kit:
    """Everything that a worker needs beside its scenarios; `Kit()` needs nothing."""

    code: str = ""
    """Digest of Holdfast's own code."""
    files: tuple[tuple[str, str], ...] = ()
    """Pairs (path, digest) of files and folders with data."""
    modules: tuple[Module, ...] = ()
    """Modules of the user's, with the packages around them and the modules that they import."""

    def digests(self) -> dict[str, str]:
        """Return the digest of each file and module of the user's, by path."""
        return dict(self.files) | {it.place: digest(it.text) for it in self.modules}

    def __or__(self, other: Kit) -> Kit:
        """Return a kit with the files and modules of both; where they differ, those of `self`
        stay."""
        files = dict((*other.files, *self.files))
        modules = {it.name: it for it in (*other.modules, *self.modules)}
        return Kit(self.code or other.code, tuple(files.items()), tuple(modules.values()))


def digest(data: bytes) -> str:
    """Return a digest of 128 bits that identifies the data."""
    return blake2b(data, digest_size=16).hexdigest()


@cache
def code() -> str:
    """Return the digest of the code of Holdfast that simulates and measures, as it is installed
    here."""
    patterns = ("sims/*.py", *(f"{it}/**/*.py" for it in DECISIVE))
    sources = sorted(path for it in patterns for path in ROOT.glob(it))
    return digest(b"".join(digest(path.read_bytes()).encode() for path in sources))


# --- what is named ----------------------------------------------------------------------------


def kit_of(named: object, folder: Path) -> Kit:
    """Return what a scenario needs, or any other object whose strings name files and modules.

    Files are sought in `folder`, modules in `folder` and in the one of `--policies`.
    """
    table: dict[str, Any] = (
        named.model_dump(warnings=False) if isinstance(named, Scenario) else {"": named}
    )
    strings = sorted(set(words({key: it for key, it in table.items() if key not in NAMES})))
    paths = [folder / word for word in strings if word not in (".", "..")]
    files = tuple((str(it), _content(it)) for it in paths if it.is_file() or it.is_dir())
    names = [match["module"] for word in strings if (match := OWN.fullmatch(word))]
    modules = {it.name: it for it in _modules(names, places(folder))}
    return Kit(code(), files, tuple(modules.values()))


def _content(path: Path) -> str:
    """Return the digest of a file, or of a folder with all files in it."""
    if path.is_file():
        return digest(path.read_bytes())
    inner = (it for it in sorted(path.rglob("*")) if it.is_file())
    return digest("".join(f"{it.relative_to(path)} {_content(it)}" for it in inner).encode())


def _modules(names: Iterable[str], roots: Sequence[Path]) -> Iterator[Module]:
    """Yield the user's modules of these names, the packages around them, and the modules that they
    import, which come later."""
    asked, seen = list(names), set[str]()
    while asked:
        name = asked.pop()
        module = None if name in seen else _module(name, roots)
        seen.add(name)
        if module is not None:
            yield module
            asked += [name.rpartition(".")[0], *_imports(module)]


def _module(name: str, roots: Sequence[Path]) -> Module | None:
    """Return the user's module of that name, or None for a module that every installation has."""
    inner = name.replace(".", "/")
    places = (f"{inner}.py", f"{inner}/__init__.py")
    ours = name.partition(".")[0] in {it.__name__ for it in PACKAGES}
    if not name or (ours and any((ROOT / place).is_file() for place in places)):
        return None
    known = ((root / place, place) for root in roots for place in places)
    return next((Module(name, at, it.read_bytes()) for it, at in known if it.is_file()), None)


def _imports(module: Module) -> list[str]:
    """Return the names of the modules that a module imports."""
    package = module.name
    if not module.place.endswith("__init__.py"):
        package = package.rpartition(".")[0]
    names = []
    try:
        for node in walk(parse(module.text)):
            if isinstance(node, Import):
                names += [alias.name for alias in node.names]
            elif isinstance(node, ImportFrom):
                base = resolve_name("." * node.level + (node.module or ""), package)
                names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    except (SyntaxError, ValueError, ImportError):
        return []  # importing it says so, with the line
    return names


# --- in a worker ------------------------------------------------------------------------------


@cache
def unpack(kit: Kit) -> None:
    """Make this process ready for a kit: check its files and import its modules, once for each kit.

    Raises InputError, naming this machine, for a file, module or version that is missing or
    differs.
    """
    here = f"worker on {socket.gethostname()}"
    if kit.code != code():
        problem = "its Holdfast is another one than that which began the campaign"
        raise InputError(here, "", problem, "the same version on every machine")
    # Digests are compared on the worker: a shared folder may hold another version there.
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
                message, accepted = (
                    f"{type(error).__name__}: {error}",
                    "a module that can be imported",
                )
                raise InputError(here, module.name, message, accepted) from None


@contextmanager
def _first(folder: str) -> Iterator[None]:
    """Make `folder` the first place where modules are sought.

    A folder of the user's may have the name of a package of Holdfast; such a folder is therefore
    appended to the path of that package.
    """
    sys.path.insert(0, folder)
    for package in PACKAGES:
        package.__path__.append(str(Path(folder, package.__name__)))
    try:
        yield
    finally:
        sys.path.remove(folder)
        for package in PACKAGES:
            package.__path__.pop()
