"""Make scenarios of a training job on nodes that fail or are reclaimed, from the settings in
training.toml."""

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
    """Return the table of a scenario file with one rigid job on `nodes` nodes, beside which there
    are `spares` more; training.toml varies the arguments, and sets other keys of the table.

    `checkpoint` is the job's state in GB, `storage` the bandwidth to shared storage and `link` that
    from a node to its buddy, in GB/s. `work` is the job's time without failures, `interval` the
    period of its checkpoints and `archive` that of the checkpoints on storage under buddies, as
    texts with a unit. `price` is a node's for an hour, and `place` says where checkpoints are
    saved: a key of `places`.
    """
    to_storage, to_buddy = checkpoint / storage, checkpoint / nodes / link
    images = {"kind": "images", "cost": to_storage}
    buddies = {"kind": "buddies", "cost": to_buddy, "replace_after": 0}
    # Buddy checkpoints from one checkpoint on shared storage to the next.
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
