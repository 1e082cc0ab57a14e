"""The applications of the simulator: scenarios, workloads, papers' tables, metrics, traces and the
command line."""

import sys
from importlib.util import find_spec, module_from_spec
from pathlib import Path


def _find_ours(*packages: str) -> None:
    """Let Python find Holdfast's packages where a user's file or folder of the same name comes
    first.

    A folder beside a notebook, say, may be called `actors`: the user's package stays as it is, and
    the modules of Holdfast's package are found as if they lay in it.
    """
    here = Path(__file__).parents[1]
    for name in packages:
        spec = None if name in sys.modules else find_spec(name)
        package = module_from_spec(spec) if spec else sys.modules[name]
        path, ours = list(getattr(package, "__path__", ())), str(here / name)
        if ours not in path:
            package.__path__ = [ours, *path]
        # The user's package may import Holdfast's modules while it is itself imported.
        if spec and spec.loader:
            sys.modules[name] = package
            spec.loader.exec_module(package)


_find_ours("actors", "policies")
