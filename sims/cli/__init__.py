"""The command line: `holdfast run`, `summary`, `trace`, `policies`."""

from collections.abc import Sequence

from sims.signals import heard, leave_threads


def main(words: Sequence[str] | None = None) -> int:
    """Run the command that `words`, by default the process's own arguments, name; return its exit
    code."""
    with heard():
        from sims.cli.commands import run_command

        code = run_command(words)
    if words is None:
        leave_threads(code)
    return code
