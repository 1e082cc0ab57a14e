"""Reads a scenario file: TOML, overrides, and the check against the class of all scenarios."""

from __future__ import annotations

import enum
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve

from sims.errors import COMMAND_LINE, InputError, naming, unfit
from sims.scenario import OF_OBJECTS, ORDER, OWN_LAW, Scenario, Unit
from sims.scenario.jobs import RigidSection
from sims.scenario.tables import TOO_DEEP, WIDEST, leaves, put, with_kinds, with_listed
from sims.scenario.workers import PlatformSection
from sims.tables.refusals import UNKNOWN_KEY, cut, section_of, shown

LARGEST = 16 * 2**20
"""Largest size of a scenario file in bytes; a larger file is something else, or has no end."""

DOTTED = re.compile(r"""(?<![\w"'-])(?:(?:"[^"\n]*+"|'[^'\n]*+'|[\w-]++)[ \t]*+\.[ \t]*+){100}""")
"""Pattern of a dotted key with a hundred parts, because the time to read one grows with their
square."""
NOT_DECIMAL = re.compile("0[xob]")
LONGEST_NAME = 256
"""Number of characters that no file's name reaches."""

FIRST = 1000
"""Number of lines of a long file whose keys are checked before the rest is read."""

TOO_LONG = "a number of more than 4,300 digits"
"""Message about a number with more digits than Python reads or writes, as the time grows with the
square of their number."""

LONG_NUMBER = re.compile(r"(?<![\w\"'])[+-]?(0[xob])?[\da-fA-F][\da-fA-F_]{3500}")
"""Matches the beginning of a number that may have so many digits, also where it is hexadecimal."""


def load(path: Path, overrides: Sequence[str] = (), seed: int | None = None) -> Scenario:
    """Read a scenario file and return the scenario, with `overrides` applied: texts
    `dotted.key=value`, with values as in TOML. `seed` replaces the file's seed unless it is None.

    Raises InputError, naming file, key, value and what would be accepted.
    """
    table = parse(path, overrides)
    if seed is not None:
        table["seed"] = seed
    return read(table, str(path), path.parent)


def _checked(table: Mapping[str, Any]) -> None:
    """Raise InputError, naming no file, for a table that is no scenario."""
    section_of(Scenario, with_kinds(table), "", times=[])


def parse(
    path: Path,
    overrides: Sequence[str] = (),
    check: Callable[[dict[str, Any]], object] = _checked,
) -> dict[str, Any]:
    """Return a scenario file's table as TOML has it, with `overrides` (texts `dotted.key=value`)
    applied, and not checked any further, unless it is long: then `check`, which raises InputError,
    refuses unknown keys among its first lines.

    Raises InputError where the file cannot be read or is no TOML, or an override's key can be set
    nowhere.
    """
    table = _parsed(path, check)
    for override in overrides:
        key, text = split_override(override)
        put(table, key, value_of(text, key))
    return table


def read(table: Mapping[str, Any], source: str, folder: Path | None = None) -> Scenario:
    """Return the scenario of a parsed table; `source` names the file in errors, and `folder` is the
    one in which the files that it names are looked for.

    Where the table does not describe workers, their number is that of its job log's machine, and a
    law of faults that names a log is fitted to it; both are left as they are without a `folder`.
    Raises InputError where the table is no valid scenario.
    """
    if "scenario" in table:
        accepted = "a scenario file; `holdfast campaign run FILE` runs a campaign"
        raise InputError(source, "scenario", "it is a key of campaign files", accepted)
    with naming(source):
        scenario = Scenario.of_table(table, source)
        if not folder:
            return scenario
        return _with_law(_with_machine(scenario.within(folder), folder), folder)


def _with_law(scenario: Scenario, folder: Path) -> Scenario:
    """Return the scenario with its law of faults fitted to the log of failures, in `folder`, that
    the law names, if it names one.

    Raises InputError where the log cannot be read, or the scenario's unit is a slot.
    """
    law = scenario.faults.fitted(folder)
    if law == scenario.faults:
        return scenario
    if scenario.times is Unit.SLOT:
        problem = "a log of failures is in seconds, and the unit is a slot"
        raise unfit("faults.kind", problem, 'unit = "s", or a law with an mtbf')
    return scenario.model_copy(update={"faults": law})


def _with_machine(scenario: Scenario, folder: Path) -> Scenario:
    """Return the scenario with as many processors as the machine of its SWF log has, where it
    describes no workers and has such a log; otherwise the scenario itself.

    Raises InputError where the log does not say how many processors its machine has.
    """
    log = scenario.job.swf if isinstance(scenario.job, RigidSection) else None
    pool = scenario.platform or PlatformSection()
    if log is None or pool.workers or scenario.workers or scenario.random_workers:
        return scenario
    from sims.readers.job_logs import machine_of

    workers = machine_of(folder / log.file)
    if not workers:
        problem = f"missing, and {log.file} does not say MaxProcs"
        raise unfit("platform.workers", problem, "a whole number above 0")
    return scenario.model_copy(update={"platform": pool.model_copy(update={"workers": workers})})


def _parsed(path: Path, check: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    if path == Path():  # the path of an empty name
        raise InputError(
            COMMAND_LINE,
            "FILE",
            "no file is named: '' and '.' are a directory, the current one",
            "a scenario file",
        )
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise InputError(str(path), "", f"more than {LARGEST:,} bytes", "a scenario file")
        text = content.decode("utf-8-sig")
        if DOTTED.search(text):
            raise RecursionError
        _check_first(text, str(path), check)
        return _loads(text)
    except OSError as error:
        raise InputError(str(path), "", error.strerror or str(error), "a scenario file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(str(path), "", f"not TOML: {error}", "a scenario file") from None
    except ValueError:
        found = LONG_NUMBER.search(text)
        line = f"line {text.count(chr(10), 0, found.start()) + 1}" if found else ""
        raise InputError(str(path), line, TOO_LONG, "a scenario file") from None
    except RecursionError:
        raise InputError(str(path), "", TOO_DEEP, "a scenario file") from None


def _loads(text: str) -> dict[str, Any]:
    """Return the table of a text in TOML.

    Raises tomllib.TOMLDecodeError where it is none, and another ValueError for a number of more
    digits than Python reads or, where it is hexadecimal, writes.
    """
    table = tomllib.loads(text)
    if NOT_DECIMAL.search(text):
        for _, value in leaves(table):
            if type(value) is int and value not in WIDEST:
                str(value)  # raises ValueError
    return table


def _check_first(text: str, source: str, check: Callable[[dict[str, Any]], object]) -> None:
    """Raise InputError for an unknown key among the FIRST lines of a file that has more lines:
    reading a million unknown keys would take half a minute, only to name the first one."""
    first = text.split("\n", FIRST)
    if len(first) <= FIRST:
        return
    try:
        check(_loads("\n".join(first[:FIRST])))
    except InputError as error:
        # Whatever else is wrong may be so only because the rest is missing.
        if error.problem.startswith(UNKNOWN_KEY):
            raise evolve(error, source=source) from None
    except (ValueError, RecursionError):
        pass  # the file is cut within a value


def split_override(
    override: str, option: str = "--set", accepted: str = "key=value"
) -> tuple[str, str]:
    """Return (key, text) of a word `key=text`, without spaces around them.

    Raises InputError for any other word; `option` and `accepted` go into its message.
    """
    key, equals, text = override.partition("=")
    if not (key.strip() and equals):
        raise InputError(COMMAND_LINE, option, f"{shown(override)} is no override", accepted)
    return key.strip(), text.strip()


def overridden(words: Iterable[str] | None) -> dict[str, Any]:
    """Return the values of words `key=value`, by key, with values as in TOML; None stands for no
    words.

    Raises InputError for another word.
    """
    return {key: value_of(text, key) for key, text in map(split_override, words or ())}


def value_of(text: str, key: str, option: str = "--set") -> Any:
    """Return the value that the text has as TOML; text that is no TOML is a string.

    Raises InputError, naming the option and the key whose value it is, where it is nested too
    deeply, or a number of too many digits, to be read.
    """
    try:
        return _loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    except ValueError:
        raise InputError(
            COMMAND_LINE, option, f"{cut(key)}: {TOO_LONG}", "a value as in TOML"
        ) from None
    except RecursionError:
        raise InputError(
            COMMAND_LINE, option, f"{cut(key)}: {TOO_DEEP}", "a value as in TOML"
        ) from None


# --- files that it names --------------------------------------------------------------------------


def files_of(scenario: Scenario, folder: Path) -> tuple[Path, ...]:
    """Return the existing files that the scenario names, looked for from `folder`, without its log,
    which a run writes."""
    named = words(scenario.model_dump(exclude={"log"}, warnings=False))
    return tuple(sorted({path for name in named if (path := folder / name).is_file()}))


def words(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield each string in a table, at any depth, that can be the name of a file: not empty, short
    enough, and without NUL."""
    for _, value in leaves(table):
        if isinstance(value, str) and value and "\0" not in value and _short(value):
            yield value


def _short(path: str) -> bool:
    """Return whether a path is short enough for a system to look for it, in all and in each of its
    parts; for longer ones systems raise errors."""
    return len(path) < 1024 and max(map(len, path.split("/"))) < LONGEST_NAME


# --- values as a file has them --------------------------------------------------------------------


def toml(value: object) -> str:
    """Return the text of a value in TOML, on one line; tables are inline."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, enum.Enum):
        return toml(value.value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        inner = ", ".join(f"{_toml_key(str(key))} = {toml(it)}" for key, it in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return repr(value)


def _toml_key(key: str) -> str:
    """Return a key as TOML writes it, quoted where needed."""
    return key if key.replace("_", "").isalnum() and key.isascii() else _quoted(key)


def _quoted(text: str) -> str:
    """Return a text as TOML writes it: as JSON does, but with characters beyond the BMP as they
    are, as TOML has no pairs of surrogates, and with DEL escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def sections(
    file: Mapping[str, Any], place: str = "", heading: str = ""
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (place, heading, keys) of the part above all headings, and then of each table that gets
    a heading of its own in files written by people, in their order: all tables at the top of the
    file, and lists of tables at any depth.

    `place` is the dotted path of `file`, `heading` its line such as `[[job.jobs]]`; both are empty
    for the whole file. `keys` are those that stand right below the heading, inline tables among
    them.
    """
    inner = {
        key: it
        for key, it in file.items()
        if (isinstance(it, dict) and not place)
        or (isinstance(it, list) and it and all(isinstance(each, dict) for each in it))
    }
    yield place, heading, {key: it for key, it in file.items() if key not in inner}
    for key, it in inner.items():
        below = f"{place}.{key}" if place else key
        for table in it if isinstance(it, list) else [it]:
            yield from sections(
                table, below, f"[[{below}]]" if isinstance(it, list) else f"[{below}]"
            )


def as_toml(scenario: Scenario) -> str:
    """Return the scenario as TOML, defaults included; keys that are unset are left out."""
    return _as_text(scenario.model_dump(mode="json", exclude_none=True, warnings=False))


def as_set(scenario: Scenario) -> str:
    """Return the scenario as TOML with those keys alone that its file or an option sets. Read
    again, it is the same scenario to the last bit: whole numbers stay whole, and what has a default
    keeps it. An object of a program's has its name in angle brackets: `<module:Class>`."""
    table = scenario.keys_set()
    for key, name in scenario.objects.items():
        put(table, key, f"<{name}>")
        if key == OWN_LAW:
            put(table, "faults.kind", "own")
    return _as_text(with_kinds(with_listed(table)))


def objects_in(table: Mapping[str, Any]) -> dict[str, str]:
    """Map the dotted keys of a table that `as_set` made to the names of the program's objects that
    stand there."""
    places = ((key, value) for key, value in leaves(table) if OF_OBJECTS.fullmatch(key))
    named = ((key, value) for key, value in places if isinstance(value, str))
    return {key: it[1:-1] for key, it in named if it.startswith("<") and it.endswith(">")}


def scenario_of(text: str, source: str) -> Scenario:
    """Return the scenario whose text the log called `source` has, for what it says: an object of a
    program's is only named, or left out where no name can stand.

    Raises InputError where the text is no valid scenario.
    """
    table = tomllib.loads(text)
    for key, name in objects_in(table).items():
        if key == ORDER:
            del table["master"]["order"]
        else:
            put(table, key, name)
    return Scenario.of_table(table, source)


def _as_text(table: Mapping[str, Any]) -> str:
    lines, last = [], ""
    for _, heading, own in sections(table):
        if heading:
            lines += [heading] if heading == last else ["", heading]
        lines += [f"{key} = {toml(it)}" for key, it in own.items()]
        last = heading
    return "\n".join(lines) + "\n"
