"""A user's own modules: where they are found, how they travel to other processes, and what their
errors become.

Workers of a cluster import this module, so it imports little.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import ExecutionLoader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import decode_source, spec_from_loader
from pathlib import Path
from types import ModuleType

from attrs import frozen

from sims.errors import InputError, unfit

POLICIES = "HOLDFAST_POLICIES"
"""Environment variable with a further folder of users' modules; `--policies` sets it, and the
processes of a campaign inherit it."""


@frozen
class Module:
    """The source of a user's module, as it was when it was sent to other processes."""

    name: str
    place: str
    """Path relative to the folder from which the module is imported."""
    text: bytes
    """Source code of the module, as bytes."""


class Sources(MetaPathFinder, ExecutionLoader):
    """An import finder that holds modules of the user's in memory. Functions can import them by
    name at any time, and they come before all others of their names."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        self.modules = {it.name: it for it in modules}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the import spec of a module that is held here, or of a folder around one unless
        that is a package elsewhere; None for all others."""
        if (module := self.modules.get(fullname)) is not None:
            return spec_from_loader(module.name, self)
        around = any(it.startswith(f"{fullname}.") for it in self.modules)
        if around and PathFinder.find_spec(fullname, path) is None:
            return ModuleSpec(fullname, None, is_package=True)
        return None

    def get_filename(self, fullname: str) -> str:
        """Return the path that tracebacks show, at which there is no file."""
        return f"<sent>/{self.modules[fullname].place}"

    def get_source(self, fullname: str) -> str:
        """Return the source text of a module that is held here."""
        return decode_source(self.modules[fullname].text)

    def is_package(self, fullname: str) -> bool:
        """Return whether a module that is held here is a package."""
        return self.modules[fullname].place.endswith("__init__.py")


def is_sent(module: str) -> bool:
    """Return whether this process has got the source of a module from another process; it may then
    have no file of it."""
    return any(isinstance(it, Sources) and module in it.modules for it in sys.meta_path)


def places(folder: Path) -> list[Path]:
    """Return the folders in which users' modules are looked for: `folder`, the scenario's own, and
    then the one of `--policies`, if it is set."""
    more = os.environ.get(POLICIES)
    return [folder, *([Path(more)] if more else [])]


@contextmanager
def running(key: str, name: str, accepted: str) -> Iterator[None]:
    """Return a context in which an error of the user's code, even `sys.exit`, becomes an
    InputError.

    The error is about the scenario's `key`; it names the code (`name`) and what would be
    `accepted`. An InputError and Ctrl-C pass unchanged.
    """
    try:
        yield
    except (KeyboardInterrupt, InputError):
        raise
    except BaseException as error:
        raise unfit(key, f"{name}: {type(error).__name__}: {error}", accepted) from None


def installed(module: ModuleType) -> bool:
    """Return whether a module came with Python or an installed package, not from a user's folder.

    A user's file with the name of an installed module must not open the way to that module.
    """
    file = getattr(module, "__file__", None)  # None where it is built in
    if file is None:
        return True
    homes = (sysconfig.get_path(it) for it in ("stdlib", "platstdlib", "purelib", "platlib"))
    return any(Path(file).resolve().is_relative_to(Path(it).resolve()) for it in homes)
