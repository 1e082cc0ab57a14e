"""Questions: scenarios, workloads, papers' tables, metrics, traces and the command line."""

from importlib import import_module
from pathlib import Path


def _find_ours(*packages: str) -> None:
    """A file or folder of the user's, beside a notebook say, may be called as a package of ours and
    come before it: what lies in ours is then found as if it lay in theirs, which stays as it is."""
    here = Path(__file__).parents[1]
    for name in packages:
        package, ours = import_module(name), str(here / name)
        path = list(getattr(package, "__path__", ()))
        if ours not in path:
            package.__path__ = [ours, *path]


_find_ours("actors", "policies")
