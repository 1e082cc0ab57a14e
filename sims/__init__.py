"""Questions: scenarios, workloads, papers' tables, metrics, traces and the command line."""

import sys
from importlib.util import find_spec, module_from_spec
from pathlib import Path


def _find_ours(*packages: str) -> None:
    """A file or folder of the user's, beside a notebook say, may be called as a package of ours and
    come before it: what lies in ours is then found as if it lay in theirs, which stays as it is."""
    here = Path(__file__).parents[1]
    for name in packages:
        spec = None if name in sys.modules else find_spec(name)
        package = module_from_spec(spec) if spec else sys.modules[name]
        path, ours = list(getattr(package, "__path__", ())), str(here / name)
        if ours not in path:
            package.__path__ = [ours, *path]
        if spec and spec.loader:  # theirs may ask for ours while it is imported
            sys.modules[name] = package
            spec.loader.exec_module(package)


_find_ours("actors", "policies")
