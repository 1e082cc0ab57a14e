"""Say which scenario a question is about, and make the scenarios of its cases."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from sims.campaign.axes import Settings, as_toml, is_object, objects, within
from sims.campaign.door import Door
from sims.errors import InputError
from sims.own_modules import running
from sims.scenario import Scenario
from sims.scenario.loader import parse, read
from sims.scenario.own_code import imported
from sims.scenario.tables import put
from sims.session import Source, folder_of
from sims.world import with_given


@frozen(eq=False)
class Subject:
    """Subject of a question: a scenario, with settings that all of its runs have."""

    source: str | Source
    """Path of the scenario's file, its table, the scenario itself, or (a text) the function of the
    user's that makes scenarios, as `package.module:function`."""
    home: Path = Path()
    """Folder in which the user's modules are sought, and the files of a scenario that has none."""
    changes: Mapping[str, Any] = field(factory=dict)
    """Settings of all runs, by dotted key: values, or objects of a program such as policies."""

    @classmethod
    def of(cls, source: Source, changes: Mapping[str, Any] | None = None) -> Subject:
        """Return a scenario as `holdfast.run` takes it, with these settings."""
        known = Path(source) if isinstance(source, str) else source
        return cls(known, folder_of(source), dict(changes or {}))

    @property
    def made(self) -> bool:
        """Whether a function of the user's makes the scenarios."""
        return isinstance(self.source, str)

    @property
    def called(self) -> str:
        """The scenario's name in errors: the path of its file, the name of the function that makes
        it, or `scenario`."""
        return str(self.source) if isinstance(self.source, str | Path) else "scenario"

    @property
    def folder(self) -> Path:
        """Absolute path of the folder in which files are sought that the scenario names."""
        return (self.source.parent if isinstance(self.source, Path) else self.home).absolute()

    @cached_property
    def table(self) -> dict[str, Any]:
        """The scenario as a file's table; of a scenario that is an object, the keys that were
        set."""
        if isinstance(self.source, Path):
            return parse(self.source)
        if isinstance(self.source, Scenario):
            return self.source.as_table()
        assert not isinstance(self.source, str)  # a function's scenarios have no table in common
        return deepcopy(dict(self.source))

    @property
    def given(self) -> list[object]:
        """Objects of a program, such as policies, that the scenario has."""
        own = [self.source] if isinstance(self.source, Scenario) and self.source.objects else []
        return [*own, *objects(tuple(self.changes.items())).values()]

    # --- its scenarios ------------------------------------------------------------------------

    def changed(self, door: Door) -> dict[str, Any]:
        """Return the scenario's table with `changes`, objects left out. Raises InputError where one
        of them has no place."""
        table = deepcopy(self.table)
        _put(table, _plain(tuple(self.changes.items())), "changes", door)
        return table

    def scenario(self, door: Door) -> Scenario:
        """Return the scenario with `changes`, objects left out. Raises InputError where the result
        is no valid scenario."""
        if not isinstance(self.source, Scenario):
            return read(self.changed(door), self.called, self.folder)
        return _with(self.source, _plain(tuple(self.changes.items())), "changes", door)

    def with_(self, settings: Settings, key: str, door: Door, first: int, index: int) -> Scenario:
        """Return the scenario with these settings, which have those of `changes` among them, for
        replication `index`; where a function makes it, from the seed `first` on.

        Raises InputError where the settings give no scenario: they are those of the question's
        `key`.
        """
        plain = _plain(settings)
        if self.function is not None:
            scenario = self._made(self.function, plain, key, door, first + index)
        elif isinstance(self.source, Scenario):
            scenario = _with(self.source, plain, key, door)
        else:
            scenario = _read(self.table, plain, self.called, self.folder, key, door)
        given = objects(settings)
        return with_given(scenario, **given) if given else scenario

    # --- a function that makes them -----------------------------------------------------------

    @cached_property
    def function(self) -> Callable[..., Any] | None:
        """The user's function that makes scenarios, or None. Raises InputError where it is
        missing."""
        if not isinstance(self.source, str):
            return None
        found: Callable[..., Any] = imported(self.source, self.home.absolute(), "scenario")
        return found

    @cached_property
    def arguments(self) -> frozenset[str]:
        """Names of the arguments of the user's function that makes scenarios; empty where there is
        none."""
        return frozenset(inspect.signature(self.function).parameters if self.function else ())

    def _made(
        self, function: Callable[..., Any], given: Settings, key: str, door: Door, seed: int
    ) -> Scenario:
        """Return the scenario that the user's function makes with the settings `given`, and with
        `seed` where it has such an argument.

        Settings that are no arguments of the function are put into the table that it returns.
        Raises InputError where it returns neither a table nor a `Scenario`, or returns a `Scenario`
        and settings are left.
        """
        own = {name: value for name, value in given if name in self.arguments}
        rest = tuple((name, value) for name, value in given if name not in self.arguments)
        if "seed" in self.arguments:
            own["seed"] = seed
        with running("scenario", repr(self.source), "a function that makes a scenario"):
            made = function(**own)
        if isinstance(made, dict):
            return _read(made, rest, self.called, self.folder, key, door)
        if not isinstance(made, Scenario) or rest:
            problem = f"{rest[0][0]} is no argument of it" if rest else f"it made {made!r:.60}"
            raise door.refused("scenario", problem, "a scenario file's table")
        return made

    # --- one of them alone --------------------------------------------------------------------

    def command(
        self, settings: Settings, seed: int | None = None, until: float | None = None
    ) -> str:
        """Return the text that runs the scenario alone with these settings: a command; for a
        scenario without a file, a call of `holdfast.run`; for a function that makes it, its name
        with arguments."""
        if not isinstance(self.source, str | Path):
            more = {"seed": seed, "until": until}
            words = [f", {key}={it!r}" for key, it in more.items() if it is not None]
            return f"holdfast.run(scenario, {dict(settings)}{''.join(words)})"
        pairs = [f"{key}={as_toml(value)}" for key, value in settings]
        ends = [] if seed is None else ["--seed", str(seed)]
        if self.made:
            return shlex.join([self.called, *pairs, *ends])
        ends += [] if until is None else ["--until", str(until)]
        sets = [part for pair in pairs for part in ("--set", pair)]
        return shlex.join(["holdfast", "run", self.called, *sets, *ends])


def _plain(settings: Settings) -> Settings:
    """Return the settings whose values are no objects of a program."""
    return tuple(pair for pair in settings if not is_object(*pair))


def _put(table: dict[str, Any], settings: Settings, key: str, door: Door) -> None:
    """Set the keys of `settings` in a scenario's table, in place. Raises InputError, naming the
    question's `key`, where one has no place."""
    for name, value in settings:
        try:
            put(table, name, value)
        except InputError as error:
            raise door.refused(key, error.problem, error.accepted) from None


def _read(
    base: Mapping[str, Any], settings: Settings, called: str, folder: Path, key: str, door: Door
) -> Scenario:
    """Return the scenario of a copy of the table `base` with these settings.

    Raises InputError where a key has no place in the table, or a value cannot be there, naming the
    question's `key`, and where the table is no scenario all the same, naming it as it is `called`.
    """
    table = deepcopy(dict(base))
    _put(table, settings, key, door)
    try:
        return read(table, called, folder)
    except InputError as error:
        raise _blamed(error, settings, called, key, door) from None


def _with(base: Scenario, settings: Settings, key: str, door: Door) -> Scenario:
    """Return a scenario with these settings. Raises InputError, naming the question's `key`, where
    they cannot be."""
    try:
        return base.with_(dict(settings)) if settings else base
    except InputError as error:
        if error.source == "scenario":
            raise _blamed(error, settings, error.source, key, door) from None
        raise door.refused(key, error.problem, error.accepted) from None


def _blamed(error: InputError, settings: Settings, called: str, key: str, door: Door) -> InputError:
    """Return an error of the scenario that is `called` so, which names the question's `key` where a
    setting is to blame, and not the file into which it was put."""
    if error.source != called or not any(within(error.key, name) for name, _ in settings):
        return error
    return evolve(error, source=door.source, key=door(key), problem=f"{error.key}: {error.problem}")
