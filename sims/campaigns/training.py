"""A job on nodes that fail, or are taken back: what training.toml says of it, as a scenario."""

from typing import Any

from sims.durations import seconds


def job(
    nodes: int,
    checkpoint: float,
    storage: float,
    link: float,
    price: float,
    work: str,
    interval: str,
    archive: str,
    place: str,
    spares: int,
) -> dict[str, Any]:
    """The table of a scenario file; all other settings are keys of it."""
    to_storage, to_buddy = checkpoint / storage, checkpoint / nodes / link
    images = {"kind": "images", "cost": to_storage}
    buddies = {"kind": "buddies", "cost": to_buddy, "replace_after": 0}
    each = max(1, round(seconds(archive) / seconds(interval)))
    places: dict[str, dict[str, Any]] = {
        "storage": images,
        "storage, non-blocking": images | {"blocking": False},
        "buddies": buddies,
        "buddies and storage": buddies | {"images_every": each, "image_cost": to_storage},
    }
    reserved = spares if "buddies" in place else 0  # on storage, any node may go on
    return {
        "name": "training",
        "unit": "s",
        "platform": {"workers": nodes + spares, "spares": reserved},
        "job": {"kind": "rigid", "jobs": [{"processors": nodes, "time": work}]},
        "protection": {**places[place], "period": interval},
        "measures": {"prices": {"busy": price, "idle": price}},
    }
