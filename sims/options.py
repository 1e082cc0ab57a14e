"""Helpers for command lines: calling a command, errors on one line, and the kinds of values that
options take.

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
from sims.signals import Terminated

T = TypeVar("T")

ACCEPTED = "; accepted: "
MISSING = "the following arguments are required: "
CHOICE = re.compile(r"Value error, (?P<word>.*) is not one of (?P<choices>.*)\.$")
"""Pattern of Typer's refusal of a word that an enum does not have."""
SCARCE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
"""Error numbers of systems that have no more files, memory or processes."""
COMMAND = re.compile(r"No such command (?P<word>'.*?')\.?(?: Did you mean (?P<near>.*)\?)?$")


def group(about: str = "") -> typer.Typer:
    """Return a command line (a Typer application) that has no commands yet; `about` is its help
    text."""
    names = {"help_option_names": ["-h", "--help"]}
    return typer.Typer(
        help=about, add_completion=False, rich_markup_mode=None, context_settings=names
    )


def command_of(function: Callable[..., int | None], name: str) -> Any:
    """Return the command that the function's signature and docstring declare, under this name."""
    alone = group()
    alone.command(name)(function)
    return get_command(alone)


def call(command: Any, program: str, words: Sequence[str]) -> int:
    """Run the command for the words of a command line, without the program's name; return the exit
    code.

    `program` is the name of the command in help and errors. Raises InputError for words that do not
    fit, naming the option, the value and what is accepted.
    """
    for word in words:
        if not word.isascii():
            _refuse_bytes(word)
    # Typer's own `main` would handle a closed pipe and Ctrl-C in its own way, unlike `guarded`.
    try:
        with command.make_context(program, list(words)) as context:
            return command.invoke(context) or 0
    except typer.Exit as left:
        return left.exit_code
    except typer.TyperException as error:
        raise _on_one_line(error, program) from None


def _refuse_bytes(word: str) -> None:
    """Raise InputError for a word with bytes that are no UTF-8: no file that is written could hold
    it."""
    try:
        word.encode()
    except UnicodeEncodeError:
        told = ascii(word)
        raise InputError(COMMAND_LINE, "", f"{told} is not UTF-8", "words in UTF-8") from None


def run_script(run: Callable[..., None], program: str, words: Sequence[str] | None = None) -> int:
    """Run the command that a function's signature and docstring declare, as `guarded` does; return
    the exit code.

    `program` is the name of the command in help and errors. `words` are the words of the command
    line, by default those that this process was started with.
    """
    command, given = command_of(run, program), sys.argv[1:] if words is None else words
    return guarded(lambda: call(command, program, given))


def guarded(body: Callable[[], int]) -> int:
    """Run `body` and return the exit code that it returns; where it raises an error, print one line
    on stderr and return the code of that error.

    The code is 2 for a user's mistake, 1 for a run that failed, 3 for an audit that itself failed,
    and 128 and the signal's number for a signal (130 for Ctrl-C). A reader who closes the pipe is
    no error: the code is 0. Unexpected errors are raised.
    """
    try:
        return body()
    except KeyboardInterrupt as interrupt:
        how = "terminated" if isinstance(interrupt, Terminated) else "interrupted"
        note(f"{how}{interrupt}")  # the exception's text says what is left
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
    """Print why a run ended early, and return the exit code: 1 if the runtime raised the error,
    else 2.

    Errors of a user's policy, and files and resources that the system refuses, count as mistakes of
    the input. Unexpected errors are raised again.
    """
    from actors.decisions import BadDecision
    from actors.runtime import RuntimeFault

    if isinstance(error, OSError) and error.filename:  # such as for a name that no file can have
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
    context: Any = getattr(error, "ctx", None)  # the classes that have it are not exported by Typer
    place = context.command_path if context else program
    problem, _, accepted = _problem(error).partition(ACCEPTED)
    if unknown := COMMAND.match(problem):
        near = f" (did you mean {unknown['near']}?)" if unknown["near"] else ""
        problem = f"argument COMMAND: {unknown['word']} is not accepted{near}"
        accepted = ", ".join(context.command.list_commands(context))
    return InputError(COMMAND_LINE, place, problem, accepted or f"see `{place} --help`")


def _problem(error: typer.TyperException) -> str:
    if not isinstance(error, typer.BadParameter) or error.param is None:
        message = error.format_message().rstrip(".")
        return f"{MISSING}COMMAND" if message == "Missing command" else message
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
    """Return a function that converts an option's word by `parse`, for use as the option's type. It
    refuses a word for which `parse` raises ValueError, and says what is `accepted`.

    A default, which is a value already, passes unchanged.
    """

    def value(word: Any) -> T:
        if not isinstance(word, str):
            return word  # type: ignore[no-any-return]
        try:
            return parse(word)
        except ValueError:
            raise refused(word, accepted) from None

    return value


def refused(word: str, accepted: str) -> typer.BadParameter:
    """Return the error for a word of the command line that an option's type does not accept."""
    from sims.tables.refusals import shown  # pydantic is for commands that refuse something

    return typer.BadParameter(f"{shown(word)} is not accepted{ACCEPTED}{accepted}")


def within(parse: Callable[[str], float], fits: Callable[[float], bool]) -> Callable[[str], Any]:
    """Return a function that parses as `parse` does, but raises ValueError for a number that is
    infinite or for which `fits` is false."""

    def number(word: str) -> float:
        found = parse(word)
        if not fits(found) or found == math.inf:
            raise ValueError
        return found

    return number


def not_negative(number: float) -> bool:
    """Return whether a number is 0 or above."""
    return number >= 0


def positive(number: float) -> bool:
    """Return whether a number is above 0."""
    return number > 0


whole = kind(int, "a whole number")
natural = kind(within(int, not_negative), "a whole number from 0")
positive_int = kind(within(int, positive), "a whole number from 1")
moment = kind(within(seconds, not_negative), f"a time from 0: {FORMS}")
duration = kind(within(seconds, positive), f"a time above 0: {FORMS}")
DATE = "or a date, such as `2020-05-01 12:30`, where the log has dates"
instant = kind(within(date_or_seconds, not_negative), f"a time from 0: {FORMS}, {DATE}")


def picture(word: str, *others: str) -> Path:
    """Return the word as the path of a picture.

    Its suffix must be one that can be drawn or one of `others`; for any other, Typer's error is
    raised.
    """
    from sims.plots.figure import SUFFIXES

    if Path(word).suffix not in (*SUFFIXES, *others):
        accepted = ", ".join(f"NAME{suffix}" for suffix in (*SUFFIXES, *others))
        raise refused(word, accepted)
    return Path(word)


def code_folder(word: str) -> Path:
    """Let this process, and those that it starts, look for a user's modules in the folder `word`
    too; return its path.

    The folder takes the place of an earlier one. Raises Typer's error where it is no folder.
    """
    from sims.own_modules import POLICIES

    if not Path(word).is_dir():
        raise refused(word, "a folder")
    os.environ[POLICIES] = str(Path(word).absolute())
    return Path(word)


def one_of(words: Sequence[str]) -> Callable[[object], str]:
    """Return an option's type that accepts exactly these words."""
    return kind(lambda word: words[words.index(word)], ", ".join(words))


# --- options ----------------------------------------------------------------------------------


def option(parse: Callable[[str], object], metavar: str, help: str, *names: str) -> Any:
    """Return the declaration of an option for a command's signature.

    `parse` converts the option's word to its value, `metavar` is the word for the value in the
    help, and `names` are such as `--seed` (none: the option is called as its parameter).
    """
    return typer.Option(*names, parser=parse, metavar=metavar, help=help)


def written(help: str, parse: Callable[[str], object] = Path, metavar: str = "FILE") -> Any:
    """Return the declaration of the option -o or --output, which sets where a command's output
    goes.

    `parse` converts the option's word to its value, and `metavar` is the word for the value in the
    help.
    """
    return option(parse, metavar, help, "-o", "--output")


def argument(parse: Callable[[str], object], metavar: str, help: str) -> Any:
    """Return the declaration of an argument of a command, which is recognised by its position.

    `parse` converts the argument's word to its value, and `metavar` is the argument's name in the
    help.
    """
    return typer.Argument(parser=parse, metavar=metavar, help=help)


def flag(name: str, help: str) -> Any:
    """Return the declaration of an option without a value."""
    return typer.Option(name, help=help)


def chosen(words: Sequence[str], help: str) -> Any:
    """Return the declaration of an option whose value is one of these words."""
    return typer.Option(
        parser=one_of(words),
        metavar=f"<{'|'.join(words)}>",
        autocompletion=lambda: list(words),
        help=help,
    )


ScenarioFile = Annotated[Path, argument(Path, "FILE", "scenario (TOML)")]
Log = Annotated[Path, argument(Path, "LOG", "a log of `holdfast run`")]
Seed = Annotated[int | None, option(natural, "SEED", "overrides the scenario's seed")]
FirstSeed = Annotated[
    int | None, option(natural, "SEED", "the first seed; default: the scenario's")
]
Until = Annotated[
    float | None,
    option(
        instant,
        "TIME",
        "end each run at this time, in the scenario's unit, or a date, in the zone of its log",
    ),
]
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
