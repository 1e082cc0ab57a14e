"""Collect what simulations need beside their scenario: the user's own files, and the code that
runs.

The results of a campaign are identified by content: a log, a trace or a module of the user's that
has changed is other content. Modules travel with the tasks, so that any worker of any executor has
them. Data does not travel: a worker looks for it at the same path, and raises an error where it is
missing. Workers of a cluster import this module, so it imports little.
"""

from __future__ import annotations

import importlib
import pickle
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
from pickletools import genops
from typing import Any

from attrs import frozen

import actors
import policies
import sims
from sims.errors import InputError
from sims.own_modules import Module, Sources, installed, places

OWN = re.compile(r"(?P<module>[A-Za-z_][\w.]*):[A-Za-z_]\w*")
"""Pattern of `package.module:Name`, by which files refer to an object of the user's."""

PACKAGES = (policies, actors, sims)
ROOT = Path(str(sims.__file__)).parents[1]
OF_SIMS = ("scenario", "readers", "history", "metrics", "ledger", "papers")
"""Subpackages of sims whose code decides the results of a simulation."""
DECISIVE = ("policies", "actors", *(f"sims/{it}" for it in OF_SIMS))
"""Folders whose code decides the results of a simulation, beside the files sims/*.py."""


@frozen
class Dependencies:
    """Everything that a worker process needs besides the scenarios that it runs: files, modules of
    the user's, and the version of Holdfast. `Dependencies()` needs nothing."""

    code: str = ""
    """Digest of Holdfast's own code."""
    files: tuple[tuple[str, str], ...] = ()
    """Pairs (path, digest) of files and folders with data."""
    modules: tuple[Module, ...] = ()
    """Modules of the user's, with the packages around them and the modules that they import."""

    def digests(self) -> dict[str, str]:
        """Return the digest of each of the user's files and modules, by its path."""
        return dict(self.files) | {it.place: digest(it.text) for it in self.modules}

    def __or__(self, other: Dependencies) -> Dependencies:
        """Return the files and modules of both; where they differ, those of `self` stay."""
        files = dict((*other.files, *self.files))
        modules = {it.name: it for it in (*other.modules, *self.modules)}
        return Dependencies(self.code or other.code, tuple(files.items()), tuple(modules.values()))


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


def dependencies_of(strings: Iterable[str], folder: Path) -> Dependencies:
    """Return the files and modules that the values of scenarios name, and Holdfast's version.

    `strings` are these values: a path of an existing file or folder, relative to `folder`, names
    data, and `package.module:Name` names a module, which is sought in `folder` and in the one of
    `--policies`. Other strings are left out.
    """
    known = sorted(set(strings))
    paths = [folder / word for word in known if word not in (".", "..")]
    files = tuple((str(it), _content(it)) for it in paths if it.is_file() or it.is_dir())
    names = [match["module"] for word in known if (match := OWN.fullmatch(word))]
    modules = {it.name: it for it in _modules(names, places(folder))}
    return Dependencies(code(), files, tuple(modules.values()))


def _content(path: Path) -> str:
    """Return the digest of a file, or of a folder with all files in it."""
    if path.is_file():
        return digest(path.read_bytes())
    inner = (it for it in sorted(path.rglob("*")) if it.is_file())
    return digest("".join(f"{it.relative_to(path)} {_content(it)}" for it in inner).encode())


def _modules(names: Iterable[str], roots: Sequence[Path]) -> Iterator[Module]:
    """Yield the modules of these names that are the user's, with the packages around them and the
    modules that they import, each once.

    `roots` are the folders in which they are looked for. A module comes before those that it
    imports.
    """
    asked, seen = list(names), set[str]()
    while asked:
        name = asked.pop()
        module = None if name in seen else _module(name, roots)
        seen.add(name)
        if module is not None:
            yield module
            asked += [name.rpartition(".")[0], *_imports(module)]


def _module(name: str, roots: Sequence[Path]) -> Module | None:
    """Return the module of that name from the first of the folders `roots` that has it.

    The result is None for a module of Holdfast's own, and where no folder has the module, as for
    installed ones.
    """
    inner = name.replace(".", "/")
    places = (f"{inner}.py", f"{inner}/__init__.py")
    ours = name.partition(".")[0] in {it.__name__ for it in PACKAGES}
    if not name or (ours and any((ROOT / place).is_file() for place in places)):
        return None
    known = ((root / place, place) for root in roots for place in places)
    return next((Module(name, at, it.read_bytes()) for it, at in known if it.is_file()), None)


def _imports(module: Module) -> list[str]:
    """Return the names that a module's source imports: of modules, and of what it takes from
    modules, which may be modules too.

    The list is empty where the source cannot be parsed.
    """
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
        return []  # importing the module reports the error, with its line
    return names


# --- in a worker ------------------------------------------------------------------------------


@contextmanager
def importable(dependencies: Dependencies) -> Iterator[None]:
    """Return a context in which this process can import the modules that are needed; they come
    before all others of their names."""
    sys.meta_path.insert(0, found := Sources(dependencies.modules))
    try:
        yield
    finally:
        sys.meta_path.remove(found)


@contextmanager
def unpacked(dependencies: Dependencies) -> Iterator[None]:
    """Return a context in which this process has what is needed: the files are checked and the
    modules imported.

    Raises InputError as `check` does.
    """
    with importable(dependencies):
        check(dependencies)
        yield


def check(dependencies: Dependencies) -> None:
    """Check that this process has the files and the version of Holdfast that are needed, and
    import the modules.

    Raises InputError, naming this machine, for a file, module or version that is missing or
    differs.
    """
    here = f"worker on {socket.gethostname()}"
    if dependencies.code != code():
        problem = "its Holdfast is another one than that which began the campaign"
        raise InputError(here, "", problem, "the same version on every machine")
    # Digests are compared on the worker: a shared folder may hold another version there.
    for name, content in dependencies.files:
        path = Path(name)
        if not path.exists() or _content(path) != content:
            problem = "is another file there" if path.exists() else "is not there"
            accepted = "the same file at the same place on every machine, in a shared folder say"
            raise InputError(here, name, problem, accepted)
    _import_all(dependencies.modules, here)


def _import_all(modules: Sequence[Module], here: str) -> None:
    """Import all of these modules from the sources that they bring, except those that are imported
    already from the same source.

    Raises InputError, with `here` (this machine) as its place, for a module that cannot be
    imported.
    """
    for it in modules:
        loaded = getattr(getattr(sys.modules.get(it.name), "__spec__", None), "loader", None)
        if not isinstance(loaded, Sources) or loaded.modules.get(it.name) != it:
            sys.modules.pop(it.name, None)  # what was imported before may be older
    for it in modules:
        try:
            importlib.import_module(it.name)
        except BaseException as error:  # whatever a user's module raises while it is imported
            message = f"{type(error).__name__}: {error}"
            raise InputError(here, it.name, message, "a module that can be imported") from None


# --- objects that travel ----------------------------------------------------------------------


@frozen
class Packed:
    """An object on its way to another process, with the user's modules that it needs there.

    A pickle names the modules of its classes and functions, which no other process has; nor has a
    cluster's scheduler, which would unpickle it. So the pickle travels as bytes, beside their
    sources.
    """

    dependencies: Dependencies
    data: bytes

    def open(self) -> Any:
        """Return the object, unpickled in this process, where its modules can be imported from now
        on. Raises InputError, naming this machine, where something that it needs is missing."""
        before = [it for it in sys.meta_path if not isinstance(it, Sources)]
        sys.meta_path[:] = [Sources(self.dependencies.modules), *before]
        check(self.dependencies)
        try:
            return pickle.loads(self.data)
        except (ImportError, AttributeError) as error:
            here, problem = f"worker on {socket.gethostname()}", f"{type(error).__name__}: {error}"
            raise InputError(here, "", problem, "the same packages on every machine") from None


def dumps(value: object) -> bytes:
    """Return the object's pickle.

    Functions and classes of a script are pickled by value where cloudpickle is installed; otherwise
    the pickle only names them.
    """
    try:
        import cloudpickle
    except ImportError:  # it comes with Dask
        return pickle.dumps(value)
    data: bytes = cloudpickle.dumps(value)
    return data


def pack(value: object, folder: Path = Path()) -> Packed:
    """Return the object packed for another process.

    The user's modules that its pickle names travel with it, and those that they import, which are
    also looked for in `folder`.
    """
    data = dumps(value)
    words = {
        word
        for _, argument, _ in genops(data)
        if isinstance(argument, str)
        for word in argument.split()
    }
    script = getattr(sys.modules["__main__"], "__file__", None)
    known = {name: file for name in words if (file := _own_file(name))}
    roots = [
        file.parents[name.count(".") + (file.name == "__init__.py")] for name, file in known.items()
    ]
    if script is not None and "__main__" in words and Path(script).is_file():
        main = Module("__main__", script, Path(script).read_bytes())
        known |= {name: Path() for name in words.intersection(_imports(main))}
        roots.append(Path(script).parent)
    modules = {it.name: it for it in _modules(known, [*roots, *places(folder)])}
    return Packed(Dependencies(code(), (), tuple(modules.values())), data)


def _own_file(name: str) -> Path | None:
    """Return the source of an imported module of the user's, None for any other name."""
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if module is None or file is None or name == "__main__" or installed(module):
        return None
    # Another environment's packages may be on the path: they are installed all the same.
    path = Path(file).resolve()
    return None if {"site-packages", "dist-packages"}.intersection(path.parts) else path


def call(packed: Packed) -> Any:
    """Call a function in this process, and return its result.

    `packed` holds the pair of the function and its only argument.
    """
    with unpacked(packed.dependencies):
        function, argument = pickle.loads(packed.data)
        return function(argument)
