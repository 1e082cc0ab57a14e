"""The command line: `holdfast run`, `summary`, `trace`, `policies`."""

from sims.cli.main import main

__all__ = ["main"]
