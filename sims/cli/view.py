"""Make one page of a log, to zoom into it and to follow causes; it needs no network."""

from __future__ import annotations

import argparse
from pathlib import Path

from sims.cli.logs import reading
from sims.errors import InputError
from sims.view.page import Page
from sims.writing import refuse_inputs


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("log", metavar="LOG", type=Path, help="a log of `holdfast run`")
    parser.add_argument(
        *("-o", "--output"), metavar="FILE", type=Path, required=True, help="the page: NAME.html"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    page: Path = arguments.output
    if page.suffix not in (".html", ".htm"):
        raise InputError(str(page), "", f"{page.suffix!r} is no page", ".html")
    refuse_inputs(arguments.output, "--output", arguments.log)
    with reading(arguments.log) as log:
        Page().write(log, page)
    print(page)
    return 0
