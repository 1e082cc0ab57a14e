"""From the command line's words to a command; every user error is one line and exit code 2."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from actors.decisions import BadDecision
from actors.runtime import ActorFailed, RuntimeFault
from sims.cli.output import printing
from sims.cli.patience import patience
from sims.errors import InputError
from sims.options import Parser

ABOUT = "A laboratory for scheduling parallel work on processors that fail."
COMMANDS = {
    "run": "Simulate a scenario file to its end, and log what happens.",
    "campaign": "Run a campaign file: scenarios, variants and axes, to tables and a figure.",
    "papers": "List, run and check the tables and figures of the five papers.",
    "compare": "Run variants of a scenario on the same seeds: which is better, and how surely.",
    "new": "Print a starting file: a scenario of some kind, or a policy for a decision point.",
    "check": "Check a scenario file without running it: what it means, and what it will cost.",
    "check-policy": "Ask a policy of yours random questions, and tell what it does wrong.",
    "examples": "List the scenarios that come with Holdfast, or copy some.",
    "summary": "Tell a log's run in numbers: makespan, flowtimes, where the processor-time went.",
    "trace": "Tell the life of one job, from a log.",
    "queue": "Print the queue and the machine at an instant, from a log.",
    "why": "Walk the chain of causes back from one event of a log.",
    "matrix": "Print every cell of job, hazard, protection and communication, with an example.",
    "chaos": "Run a scenario again with each worker killed, or taken back, at each moment.",
    "audit": "Check a log against the world's laws, without the simulator.",
    "export": "Export a log for other tools: Perfetto, evalys, pandas, polars.",
    "plot": "Draw a log: Gantt by processor or job, ledger, bandwidth or queue over time.",
    "view": "Make one page of a log, to zoom into it and to follow causes; it needs no network.",
    "optimum": "What a clairvoyant scheduler could reach on a small volatile scenario.",
    "policies": "List the policies that scenarios can name.",
    "keys": "Tell what a scenario file may say: every key, its default and its meaning.",
}
"""Each is a module here, with `configure` and `execute`."""


class Command(Parser):
    """Imports its command when its words are parsed: no command waits for what others need."""

    def parse_known_args(  # type: ignore[override]
        self, words: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Declare the command's arguments, and parse them."""
        name = self.prog.rpartition(" ")[2]
        command = import_module(f"sims.cli.{name.replace('-', '_')}")
        command.configure(self)
        self.set_defaults(execute=command.execute)
        return super().parse_known_args(words, namespace)


class Version(argparse.Action):
    """Prints the version; only then is what is installed looked at."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"holdfast {version('holdfast')}")
        parser.exit()


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    warnings.formatwarning = _told
    try:
        with printing(), patience(sys.argv[1:] if words is None else words):
            return _execute(words)
    except InputError as error:
        print(f"holdfast: {error}", file=sys.stderr)
        return 2
    except RuntimeFault as error:
        return _failed(error)
    except KeyboardInterrupt as interrupt:
        more = str(interrupt) or "; what was logged so far is readable"
        print(f"holdfast: interrupted{more}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 0
    except MemoryError:
        print("holdfast: this takes more memory than there is", file=sys.stderr)
        return 2


def _told(message: Warning | str, *_: object, **__: object) -> str:
    """A warning as one line, without the place in our code."""
    return f"holdfast: {message}\n"


def _execute(words: Sequence[str] | None) -> int:
    arguments = _parser().parse_args(words)
    code: int = arguments.execute(arguments)
    return code


def _failed(fault: RuntimeFault) -> int:
    """Tell why a run ended early: the user's policy is input, the rest is our mistake."""
    if isinstance(fault, ActorFailed) and isinstance(fault.error, BadDecision):
        print(f"holdfast: {fault.error}", file=sys.stderr)
        return 2
    print(f"holdfast: the run failed: {fault}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="holdfast", description=ABOUT)
    about = "print the version and exit"
    parser.add_argument("--version", action=Version, nargs=0, help=about)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=Command)
    for name, about in COMMANDS.items():
        commands.add_parser(name, help=about, description=about)
    return parser


if __name__ == "__main__":
    sys.exit(main())
