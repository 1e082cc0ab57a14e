"""The command line: `holdfast run`, `summary`, `trace`, `policies`."""

from collections.abc import Sequence

from sims.signals import heard


def main(words: Sequence[str] | None = None) -> int:
    """Run the command that `words`, by default the process's own arguments, name; return its exit
    code."""
    with heard():
        from sims.cli.commands import run_command

        return run_command(words)
