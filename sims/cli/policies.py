"""List the policies that scenarios can name."""

from __future__ import annotations

import argparse

from policies import enrolment


def configure(parser: argparse.ArgumentParser) -> None:
    """The command takes no arguments."""


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    print("job.kind = iterative (volatile workers, 002, section VI)")
    for name, line in enrolment.CATALOGUE.items():
        print(f"  {name:<8} {line}")
    print("any kind: your own, as package.module:Name")
    return 0
