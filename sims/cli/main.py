"""From the command line's words to a command; every user error is one line and exit code 2."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from actors.decisions import BadDecision
from actors.runtime import ActorFailed, RuntimeFault
from sims.cli import audit, export, optimum, plot, policies, run, summary, trace, view, why
from sims.cli.output import printing
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
        with printing():
            return _execute(words)
    except InputError as error:
        print(f"holdfast: {error}", file=sys.stderr)
        return 2
    except RuntimeFault as error:
        return _failed(error)
    except KeyboardInterrupt:
        print("holdfast: interrupted; what was logged so far is readable", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 0


def _execute(words: Sequence[str] | None) -> int:
    arguments = _parser().parse_args(words)
    code: int = COMMANDS[arguments.command].execute(arguments)
    return code


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
