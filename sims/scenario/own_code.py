"""A user's own code, which a file names as `package.module:Name`, and its parameters."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from inspect import getattr_static, isfunction, signature
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
from typing_extensions import get_protocol_members

from sims.errors import InputError, unfit
from sims.tables import arguments_of

OURS = ("actors", "policies", "sims")
"""Names of Holdfast's own packages."""

KNOWN = ("policies", "sims.papers")
"""Modules of ours that a file may name."""

GROUP = "holdfast.policies"
"""Entry points by which installed packages declare that a file may name what is in them."""

OWN = "package.module:Name"
"""How a scenario file names a user's own."""
FORM = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")

POLICIES = "HOLDFAST_POLICIES"
"""Variable of the environment that says where else a user's modules are; `--policies` sets it, and
the processes of a campaign inherit it."""


def own(name: str, parameters: Mapping[str, Any], folder: Path, place: str, *serves: Any) -> Any:
    """What a key at `place` names, made with its parameters where it is a class; first it has to
    have the methods of one of the Protocols `serves`. Raises InputError."""
    with running(place, repr(name), "a class or function whose attributes can be read"):
        made = _made(imported(name, folder, place), name, parameters, place, *serves)
        isinstance(made, type)  # as all who use it ask: it may raise, too
        return made


def _made(found: Any, name: str, parameters: Mapping[str, Any], place: str, *serves: Any) -> Any:
    key = re.sub(r"\.name$", ".parameters", place)
    if serves and not any(
        all(_takes(found, *method) for method in _methods(each).items()) for each in serves
    ):
        methods = (
            f"{each.__name__} has {method}({', '.join(arguments)})"
            for each in serves
            for method, arguments in _methods(each).items()
        )
        raise unfit(
            place, f"{name!r} cannot serve here", f"a class or function: {'; '.join(methods)}"
        )
    if isinstance(found, type):
        if attrs.has(found):
            _refuse_constants(found, parameters, key)
            parameters = arguments_of(found, parameters, "scenario", key)
        with running(key, found.__name__, f"parameters of {found.__name__}"):
            return found(**parameters)
    if parameters:
        raise unfit(key, f"{name} is a function", "none")
    return found


def _refuse_constants(kind: type, parameters: Mapping[str, Any], key: str) -> None:
    """Raise InputError for a parameter that an attrs class has without an annotation: attrs does
    not take it for a field."""
    fields = attrs.fields_dict(kind)
    for name in parameters:
        if name not in fields and name in vars(kind):
            problem = f"{kind.__name__}.{name} has no annotation, and is a constant of the class"
            accepted = f"a field, as in `{name}: float = {vars(kind)[name]!r}`"
            raise unfit(f"{key}.{name}", problem, accepted)


def _methods(protocol: Any) -> dict[str, tuple[str, ...]]:
    """Names of a Protocol's methods, and of their parameters."""
    found = {it: getattr(protocol, it) for it in sorted(get_protocol_members(protocol))}
    return {
        name: tuple(signature(it).parameters)[1:] for name, it in found.items() if isfunction(it)
    }


def _takes(value: Any, name: str, arguments: Sequence[str]) -> bool:
    """Whether it, or an instance of it, has a method for as many arguments."""
    function = isfunction(value)
    method = value if function and name == "__call__" else getattr_static(value, name, None)
    if not isfunction(method):
        return isinstance(method, staticmethod | classmethod)
    try:
        signature(method).bind(*([] if function else ["self"]), *arguments)
    except TypeError:
        return False
    return True


def located(name: str, folder: Path, key: str) -> Path | None:
    """Where the module is that `package.module:Name` names: in `folder`, else in the one of
    `--policies`; None: in an installed package that declares itself by an entry point
    `holdfast.policies`, or of our own.

    A file of a stranger's may name anything: no other module is imported. Raises InputError at
    `key`.
    """
    module, _, _ = name.partition(":")
    if not FORM.fullmatch(name):
        raise unfit(key, f"{name!r} names no code", OWN)
    file = next(filter(None, (_file_in(place, module) for place in places(folder))), None)
    if file is None and not _declared(module):
        accepted = f"{OWN}, in the scenario's folder, in that of --policies, or of an installed "
        accepted += f"package with an entry point {GROUP!r}"
        raise unfit(key, f"{name!r}: no such module there", accepted)
    return file


def places(folder: Path) -> list[Path]:
    """Where a user's modules are sought, those of a scenario in `folder`."""
    more = os.environ.get(POLICIES)
    return [folder, *([Path(more)] if more else [])]


def imported(name: str, folder: Path, key: str) -> Any:
    """What `package.module:Name` names, where it is `located`. Raises InputError at `key`."""
    file = located(name, folder, key)
    module, _, attribute = name.partition(":")
    paths = [str(place.resolve()) for place in places(folder)]
    _beside_ours(module, name, paths, key)
    _forget_another(module, file)
    sys.path[:0] = paths
    try:
        with running(key, repr(name), f"{OWN} that can be imported"):
            found = importlib.import_module(module)
            value = getattr(found, attribute)
    finally:
        del sys.path[: len(paths)]
    if file is not None and _installed(found):
        where = getattr(found, "__file__", "built in")
        raise unfit(
            key, f"{name!r}: {module} is an installed module, {where}", "another name for yours"
        )
    return value


@contextmanager
def running(key: str, name: str, accepted: str) -> Iterator[None]:
    """Whatever a user's code raises, `sys.exit` included, is an InputError; one of ours stays."""
    try:
        yield
    except (KeyboardInterrupt, InputError):
        raise
    except BaseException as error:
        raise unfit(key, f"{name}: {type(error).__name__}: {error}", accepted) from None


def _file_in(folder: Path, module: str) -> Path | None:
    """The module's source below the folder, if it is there."""
    path = folder.joinpath(*module.split(".")).resolve()
    sources = (path.with_name(f"{path.name}.py"), path / "__init__.py")
    return next((source for source in sources if source.is_file()), None)


def _installed(module: ModuleType) -> bool:
    """Whether it came with Python or a package, and not from where it was sought: a file of its
    name opens no door to it."""
    file = getattr(module, "__file__", None)  # what is built in has none
    if file is None:
        return True
    homes = (sysconfig.get_path(it) for it in ("stdlib", "platstdlib", "purelib", "platlib"))
    return any(Path(file).resolve().is_relative_to(Path(it).resolve()) for it in homes)


def _forget_another(module: str, file: Path | None) -> None:
    """A notebook may have imported a module of this name from another folder."""
    known = sys.modules.get(module)
    if file and known and not _installed(known) and Path(str(known.__file__)).resolve() != file:
        del sys.modules[module]


def _declared(module: str) -> bool:
    """Whether it is of ours, or of a package that says that it has policies."""
    packages = [point.module for point in entry_points(group=GROUP)]
    return any(module == it or module.startswith(f"{it}.") for it in (*KNOWN, *packages))


def _beside_ours(module: str, name: str, places: Sequence[str], key: str) -> None:
    """A folder of the user's may be called as one of our packages, such as `policies`: what lies
    in it is found where ours has none of that name. Raises InputError where it has."""
    package, _, rest = module.partition(".")
    if package not in OURS or not rest:
        return
    ours = importlib.import_module(package).__path__
    hides = importlib.util.find_spec(f"{package}.{rest.partition('.')[0]}") is not None
    for folder in (Path(place, package).resolve() for place in places):
        added = str(folder) in ours
        theirs = _file_in(folder, rest)
        if theirs and hides and not added and str(folder) != ours[0]:
            raise unfit(
                key,
                f"{name!r}: Holdfast has a module {module} of its own",
                "another name for your module, or its folder",
            )
        if theirs and not added:
            ours.append(str(folder))
