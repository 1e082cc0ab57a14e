"""What command lines share: how one is called, errors on one line, and the kinds of values.

A kind is a function from an option's word to its value, for Typer's `parser`. Its error names the
word and what is accepted; `call` adds the option.
"""

from __future__ import annotations

import errno
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.main import get_command

from sims.cli.signals import Terminated
from sims.durations import FORMS, date_or_seconds, seconds
from sims.errors import (
    COMMAND_LINE,
    FAILED,
    INTERRUPTED,
    MISUSED,
    UNJUDGED,
    AuditFailed,
    InputError,
    note,
)

T = TypeVar("T")

ACCEPTED = "; accepted: "
MISSING = "the following arguments are required: "
CHOICE = re.compile(r"Value error, (?P<word>.*) is not one of (?P<choices>.*)\.$")
"""How Typer refuses a word that is none of an enum's."""
SCARCE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
"""What systems say where no more files, memory or processes are to be had."""
COMMAND = re.compile(r"No such command (?P<word>'.*?')\.?(?: Did you mean (?P<near>.*)\?)?$")


def group(about: str = "") -> typer.Typer:
    """A command line without commands so far."""
    names = {"help_option_names": ["-h", "--help"]}
    return typer.Typer(
        help=about, add_completion=False, rich_markup_mode=None, context_settings=names
    )


def command_of(function: Callable[..., int | None], name: str) -> Any:
    """The command that is declared by the function's signature and docstring."""
    alone = group()
    alone.command(name)(function)
    return get_command(alone)


def call(command: Any, program: str, words: Sequence[str]) -> int:
    """Run the command that the words are of; returns the exit code.

    Raises InputError for words that do not fit, naming the option, the value and what is accepted.
    """
    # Typer's own `main` would end a command whose reader has left, or Ctrl-C, in its own way.
    try:
        with command.make_context(program, list(words)) as context:
            return command.invoke(context) or 0
    except typer.Exit as left:
        return left.exit_code
    except typer.TyperException as error:
        raise _on_one_line(error, program) from None


def run_script(run: Callable[..., None], program: str, words: Sequence[str] | None = None) -> int:
    """Run what the function's signature and docstring declare; returns the exit code."""
    command, given = command_of(run, program), sys.argv[1:] if words is None else words
    return guarded(lambda: call(command, program, given))


def guarded(body: Callable[[], int]) -> int:
    """Run `body`; the exit code, and one line on stderr where it is not 0.

    What a user got wrong is 2, a run that failed 1, an audit that itself failed 3, Ctrl-C 130; a
    reader who leaves is no error.
    """
    try:
        return body()
    except KeyboardInterrupt as interrupt:
        more = str(interrupt) or "; what was logged so far is readable"
        note(f"{'terminated' if isinstance(interrupt, Terminated) else 'interrupted'}{more}")
        return interrupt.code if isinstance(interrupt, Terminated) else INTERRUPTED
    except BrokenPipeError:
        return 0
    except MemoryError:
        note("this takes more memory than there is")
    except InputError as error:
        note(error)
    except AuditFailed as error:
        note(error)
        return UNJUDGED
    except Exception as error:
        return _failed(error)
    return MISUSED


def _failed(error: Exception) -> int:
    """Tell why a run ended early: the user's policy is input, the rest is our mistake."""
    from actors.decisions import BadDecision
    from actors.runtime import RuntimeFault

    if isinstance(error, OSError) and error.filename:  # of a name that no file can have, say
        note(InputError(str(error.filename), "", str(error.strerror)))
    elif isinstance(error, OSError) and error.errno in SCARCE:
        note(f"this takes more than the machine gives a process: {error.strerror}")
    elif isinstance(error, BadDecision):
        note(error)
    elif isinstance(error, RuntimeFault):
        note(f"the run failed: {error}")
        return FAILED
    else:
        raise error
    return MISUSED


def _on_one_line(error: typer.TyperException, program: str) -> InputError:
    context: Any = getattr(error, "ctx", None)  # of classes that Typer does not export
    place = context.command_path if context else program
    problem, _, accepted = _problem(error).partition(ACCEPTED)
    if unknown := COMMAND.match(problem):
        near = f" (did you mean {unknown['near']}?)" if unknown["near"] else ""
        problem = f"argument COMMAND: {unknown['word']} is not accepted{near}"
        accepted = ", ".join(context.command.list_commands(context))
    return InputError(COMMAND_LINE, place, problem, accepted or f"see `{place} --help`")


def _problem(error: typer.TyperException) -> str:
    if not isinstance(error, typer.BadParameter) or error.param is None:
        told = error.format_message().rstrip(".")
        return f"{MISSING}COMMAND" if told == "Missing command" else told
    option = error.param
    names = "/".join(option.opts) if option.param_type_name == "option" else option.metavar
    if not error.message:
        return f"{MISSING}{names}"
    if choice := CHOICE.match(error.message):
        accepted = choice["choices"].replace("'", "")
        return f"argument {names}: {choice['word']} is not accepted{ACCEPTED}{accepted}"
    return f"argument {names}: {error.message}"


# --- kinds of values --------------------------------------------------------------------------


def kind(parse: Callable[[str], T], accepted: str) -> Callable[[object], T]:
    """The kind of what `parse` takes without a ValueError; a default is a value already."""

    def value(word: Any) -> T:
        if not isinstance(word, str):
            return word  # type: ignore[no-any-return]
        try:
            return parse(word)
        except ValueError:
            raise refused(word, accepted) from None

    return value


def refused(word: str, accepted: str) -> typer.BadParameter:
    """What a kind raises."""
    return typer.BadParameter(f"{word!r} is not accepted{ACCEPTED}{accepted}")


def within(parse: Callable[[str], float], fits: Callable[[float], bool]) -> Callable[[str], Any]:
    """As `parse`, for finite numbers that fit."""

    def number(word: str) -> float:
        found = parse(word)
        if not fits(found) or found == math.inf:
            raise ValueError
        return found

    return number


def not_negative(number: float) -> bool:
    """0 or above."""
    return number >= 0


def positive(number: float) -> bool:
    """Above 0."""
    return number > 0


whole = kind(int, "a whole number")
natural = kind(within(int, not_negative), "a whole number from 0")
positive_int = kind(within(int, positive), "a whole number from 1")
moment = kind(within(seconds, not_negative), f"a time from 0: {FORMS}")
duration = kind(within(seconds, positive), f"a time above 0: {FORMS}")
DATE = "or a date, such as `2020-05-01 12:30`, where the log has dates"
instant = kind(within(date_or_seconds, not_negative), f"a time from 0: {FORMS}, {DATE}")


def picture(word: str, *others: str) -> Path:
    """A file that a picture can be written to, by its suffix, or one with another of these."""
    from sims.plots.figure import SUFFIXES

    if Path(word).suffix not in (*SUFFIXES, *others):
        accepted = ", ".join(f"NAME{suffix}" for suffix in (*SUFFIXES, *others))
        raise refused(word, accepted)
    return Path(word)


def code_folder(word: str) -> Path:
    """A folder in which, beside a file's own, code that it names is sought from now on: by this
    process and those that it starts."""
    from sims.scenario.own_code import POLICIES

    if not Path(word).is_dir():
        raise refused(word, "a folder")
    os.environ[POLICIES] = str(Path(word).absolute())
    return Path(word)


def one_of(words: Sequence[str]) -> Callable[[object], str]:
    """The kind of these words."""
    return kind(lambda word: words[words.index(word)], ", ".join(words))


# --- options ----------------------------------------------------------------------------------


def option(parse: Callable[[str], object], metavar: str, help: str, *names: str) -> Any:
    """An option with a value of a kind."""
    return typer.Option(*names, parser=parse, metavar=metavar, help=help)


def written(help: str, parse: Callable[[str], object] = Path, metavar: str = "FILE") -> Any:
    """The option that says where a command's output goes."""
    return option(parse, metavar, help, "-o", "--output")


def argument(parse: Callable[[str], object], metavar: str, help: str) -> Any:
    """A word that stands by its place."""
    return typer.Argument(parser=parse, metavar=metavar, help=help)


def flag(name: str, help: str) -> Any:
    """An option without a value."""
    return typer.Option(name, help=help)


def chosen(words: Sequence[str], help: str) -> Any:
    """An option whose value is one of these words."""
    return typer.Option(
        parser=one_of(words),
        metavar=f"<{'|'.join(words)}>",
        autocompletion=lambda: list(words),
        help=help,
    )


ScenarioFile = Annotated[Path, argument(Path, "FILE", "scenario (TOML)")]
Log = Annotated[Path, argument(Path, "LOG", "a log of `holdfast run`")]
Seed = Annotated[int | None, option(natural, "SEED", "overrides the scenario's seed")]
Overrides = Annotated[
    list[str] | None,
    option(
        str,
        "KEY=VALUE",
        "overrides one key, such as master.channels=2 (repeatable)",
        "--set",
    ),
]
Policies = Annotated[
    Path | None,
    option(code_folder, "PATH", "folder of modules that the file names, besides its own"),
]
AsJson = Annotated[bool, flag("--json", "print it as JSON")]
