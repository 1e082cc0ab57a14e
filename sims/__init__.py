"""Questions: scenarios, workloads, papers' tables, metrics, traces and the command line."""

from importlib.util import find_spec
from pathlib import Path


def _refuse_hidden(*packages: str) -> None:
    """Raises ImportError where another folder of that name comes before ours on the path, as one
    beside a notebook or a script does: what would follow is an error about something else."""
    here = Path(__file__).parents[1]
    for name in packages:
        spec = find_spec(name)
        places = list(spec.submodule_search_locations or ()) if spec else []
        if not any(Path(place).parent == here for place in places):
            found = ", ".join(places) or "nothing"
            told = f"Holdfast's own package {name!r} is hidden by {found}"
            raise ImportError(f"{told}: rename that folder, or start Python elsewhere")


_refuse_hidden("actors", "policies")
