"""The applications of the simulator: scenarios, workloads, papers' tables, metrics, traces and the
command line."""

# ruff: noqa: PTH100, PTH118, PTH120  # pathlib takes as long to import as all else until then
import os
import sys
from importlib import import_module


def _find_ours(*packages: str) -> None:
    """Let Python find Holdfast's packages of these names where a user's file or folder of the same
    name comes first.

    A folder beside a notebook, say, may be called `actors`: the user's package stays as it is, and
    the modules of Holdfast's package are found as if they lay in it.
    """
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for name in packages:
        ours, found = os.path.join(here, name), None
        if name not in sys.modules:
            specs = (finder.find_spec(name, None) for finder in sys.meta_path)
            found = next((it for it in specs if it is not None), None)
        if found is not None and list(found.submodule_search_locations or ()) == [ours]:
            import_module(name)
            continue
        # Only now: it imports much, and until `sims.cli` is imported a signal ends a command
        # without a word.
        from importlib.util import module_from_spec

        package = module_from_spec(found) if found else sys.modules[name]
        path = list(getattr(package, "__path__", ()))
        if ours not in path:
            package.__path__ = [ours, *path]
        # The user's package may import Holdfast's modules while it is itself imported.
        if found and found.loader:
            sys.modules[name] = package
            found.loader.exec_module(package)


_find_ours("actors", "policies")
