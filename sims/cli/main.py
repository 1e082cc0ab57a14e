"""From the command line's words to a command; every user error is one line and exit code 2."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from actors.decisions import BadDecision
from actors.runtime import ActorFailed, RuntimeFault
from sims.cli import audit, export, optimum, plot, policies, run, summary, trace, view, why
from sims.errors import InputError

COMMANDS = {
    "run": run,
    "summary": summary,
    "trace": trace,
    "why": why,
    "audit": audit,
    "export": export,
    "plot": plot,
    "view": view,
    "optimum": optimum,
    "policies": policies,
}


class Parser(argparse.ArgumentParser):
    """argparse, with errors that fit on one line."""

    def error(self, message: str) -> NoReturn:
        raise InputError("command line", self.prog, message, f"see `{self.prog} --help`")


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    try:
        try:
            return _execute(words)
        finally:
            _flush()
    except InputError as error:
        print(f"holdfast: {error}", file=sys.stderr)
        return 2
    except RuntimeFault as error:
        return _failed(error)
    except KeyboardInterrupt:
        print("holdfast: interrupted; what was logged so far is readable", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _forget_output()
        return 0
    except OSError as error:
        if not _forget_output():
            raise
        print(f"holdfast: standard output: cannot be written: {error.strerror}", file=sys.stderr)
        return 2


def _execute(words: Sequence[str] | None) -> int:
    arguments = _parser().parse_args(words)
    code: int = COMMANDS[arguments.command].execute(arguments)
    return code


def _flush() -> None:
    """What is printed is printed now, not in leaving Python, where no error can be told."""
    if sys.stdout is not None:  # closed by who started it
        sys.stdout.flush()


def _forget_output() -> bool:
    """Throw away what standard output does not take; whether there was some."""
    try:
        _flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False


def _failed(fault: RuntimeFault) -> int:
    """Tell why a run ended early: the user's policy is input, the rest is our mistake."""
    if isinstance(fault, ActorFailed) and isinstance(fault.error, BadDecision):
        print(f"holdfast: {fault.error}", file=sys.stderr)
        return 2
    print(f"holdfast: the run failed: {fault}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="holdfast", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        summary_line = (command.__doc__ or "").strip().splitlines()[0]
        command.configure(commands.add_parser(name, help=summary_line, description=summary_line))
    return parser


if __name__ == "__main__":
    sys.exit(main())
