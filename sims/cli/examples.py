"""List the scenarios that come with the package, or copy some."""

from __future__ import annotations

import argparse
from pathlib import Path

from sims.examples import copy, example, examples

ABOUT = "`holdfast examples volatile20` copies it to the current folder; --all copies all of them."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = ABOUT
    parser.add_argument("names", metavar="NAME", nargs="*", help="copy this one")
    parser.add_argument("--all", action="store_true", help="copy all of them")
    about = "where to (default: the current folder)"
    parser.add_argument("-o", "--output", metavar="FOLDER", type=Path, default=Path(), help=about)


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    known = examples()
    if not arguments.names and not arguments.all:
        width = max(map(len, known))
        for name, about in known.items():
            print(f"{name:<{width}}  {about}")
        return 0
    for name in arguments.names:
        example(name)  # none is copied where one is unknown
    for name in known if arguments.all else arguments.names:
        print(*copy(name, arguments.output), sep="\n")
    return 0
