"""Loads a user's own code, which a file names as `package.module:Name`, with its parameters."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from inspect import getattr_static, isfunction, signature
from pathlib import Path
from typing import Any, ClassVar, Literal

import attrs
from pydantic import Field
from typing_extensions import get_protocol_members

from sims.errors import unfit
from sims.own_modules import installed, is_sent, places, running
from sims.tables import Section, arguments_of

OURS = ("actors", "policies", "sims")
"""Names of Holdfast's own packages."""

KNOWN = ("policies", "sims.papers", "actors.agents")
"""Modules of Holdfast's own that a file may name."""

GROUP = "holdfast.policies"
"""Group of entry points with which an installed package declares that a file may name its
contents."""

OWN = "package.module:Name"
"""Form in which a scenario file names a user's own code."""
FORM = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


class OwnCode(Section):
    """A table that names code of the user's own, or the name alone."""

    SHORT = ((str,), "name")
    PATTERN: ClassVar = {"pattern": f"^{FORM.pattern}$"}

    kind: Literal["own"] = "own"
    name: str
    """`package.module:Name` of a class."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the class's constructor."""

    @classmethod
    def stands_for(cls, value: Any) -> bool:
        """Return whether a text has the form `package.module:Name`, and so names code; if not, it
        may be a misspelt kind."""
        return FORM.fullmatch(value) is not None


def own(name: str, parameters: Mapping[str, Any], folder: Path, place: str, *serves: Any) -> Any:
    """Return the object that `name`, `package.module:Name`, names; where it is a class, an instance
    made with `parameters`. The module is looked for in `folder` first.

    `place` is the key of the file that names it. Raises InputError where the object cannot be
    loaded or made, a function is given parameters, or the object lacks a method of each of the
    Protocols in `serves`.
    """
    with running(place, repr(name), "a class or function whose attributes can be read"):
        made = _made(imported(name, folder, place), name, parameters, place, *serves)
        isinstance(made, type)  # a class may raise here, as it would in all code that uses it
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
    """Raise InputError about `key` for a parameter of the class `kind` that has no annotation
    there: attrs takes it for a constant, not for a field."""
    fields = attrs.fields_dict(kind)
    for name in parameters:
        if name not in fields and name in vars(kind):
            problem = f"{kind.__name__}.{name} has no annotation, and is a constant of the class"
            accepted = f"a field, as in `{name}: float = {vars(kind)[name]!r}`"
            raise unfit(f"{key}.{name}", problem, accepted)


def _methods(protocol: Any) -> dict[str, tuple[str, ...]]:
    """Map the names of a Protocol's methods to the names of their parameters, without `self`."""
    found = {it: getattr(protocol, it) for it in sorted(get_protocol_members(protocol))}
    return {
        name: tuple(signature(it).parameters)[1:] for name, it in found.items() if isfunction(it)
    }


def _takes(value: Any, name: str, arguments: Sequence[str]) -> bool:
    """Return whether the value, a function or a class, can be used as an object whose method `name`
    is called with as many arguments as `arguments` has names. A function itself serves as
    `__call__`."""
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
    """Return the file of the module in `name`, `package.module:Name`: in `folder`, or else in that
    of `--policies`.

    The result is None for a module of an installed package with an entry point `holdfast.policies`,
    for one of Holdfast's own, and for one that was sent to this process. No other module is ever
    imported, because a stranger's file may name anything. Raises InputError about the file's key
    `key` for any other module, and for a text of another form.
    """
    module, _, _ = name.partition(":")
    if not FORM.fullmatch(name):
        raise unfit(key, f"{name!r} names no code", OWN)
    file = next(filter(None, (_file_in(place, module) for place in places(folder))), None)
    if file is None and not _declared(module) and not is_sent(module):
        accepted = f"{OWN}, in the scenario's folder, in that of --policies, or of an installed "
        accepted += f"package with an entry point {GROUP!r}"
        raise unfit(key, f"{name!r}: no such module there", accepted)
    return file


def imported(name: str, folder: Path, key: str) -> Any:
    """Return the object that `name`, `package.module:Name`, names, from a module that `located`
    accepts, looked for in `folder` first.

    Raises InputError about the file's key `key` where it cannot be imported.
    """
    file = located(name, folder, key)
    module, _, attribute = name.partition(":")
    if is_sent(module):
        with running(key, repr(name), f"{OWN} that can be imported"):
            return getattr(importlib.import_module(module), attribute)
    paths = [str(place.resolve()) for place in places(folder)]
    _extend_our_package(module, name, paths, key)
    _unload_other(module, file)
    sys.path[:0] = paths
    try:
        with running(key, repr(name), f"{OWN} that can be imported"):
            found = importlib.import_module(module)
            value = getattr(found, attribute)
    finally:
        del sys.path[: len(paths)]
    if file is not None and installed(found):
        where = getattr(found, "__file__", "built in")
        raise unfit(
            key, f"{name!r}: {module} is an installed module, {where}", "another name for yours"
        )
    return value


def _file_in(folder: Path, module: str) -> Path | None:
    """Return the source file of the module with this dotted name below the folder; None if there is
    none."""
    path = folder.joinpath(*module.split(".")).resolve()
    sources = (path.with_name(f"{path.name}.py"), path / "__init__.py")
    return next((source for source in sources if source.is_file()), None)


def _unload_other(module: str, file: Path | None) -> None:
    """Remove a loaded module of this name from Python's modules if it came from another file than
    `file`, such as one that a notebook has imported before. Installed modules stay."""
    known = sys.modules.get(module)
    if file and known and not installed(known) and Path(str(known.__file__)).resolve() != file:
        del sys.modules[module]


def _declared(module: str) -> bool:
    """Return whether a module may be named by a file wherever it is installed: it is one of
    Holdfast's that are open to files, or of a package that declares policies by an entry point."""
    packages = (*KNOWN, *_packages(tuple(sys.path)))
    return any(module == it or module.startswith(f"{it}.") for it in packages)


@cache
def _packages(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the installed modules that declare policies by an entry point, found in
    `paths`, the folders that Python imports from.

    Looking through all that is installed takes 20 ms, and each scenario of a campaign asks; what is
    found changes only with these folders.
    """
    return tuple(point.module for point in entry_points(group=GROUP))


def _extend_our_package(module: str, name: str, places: Sequence[str], key: str) -> None:
    """Let a user's folder named after one of Holdfast's packages, such as `policies`, add modules
    to that package, if `module` is in one; `places` are the folders that can hold it.

    Raises InputError, about the file's key `key` and the `name` there, where Holdfast has a module
    of the same name already.
    """
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
