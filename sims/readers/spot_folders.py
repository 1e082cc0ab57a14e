"""Folders of spot-instance traces: each is a platform, each of its instances a worker."""

from __future__ import annotations

import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sims.errors import InputError


@contextmanager
def spot_folder(path: Path) -> Iterator[Path]:
    """The folder, or what a tar archive holds. Raises InputError for neither."""
    if path.is_dir():
        yield path
        return
    try:
        with tempfile.TemporaryDirectory() as unpacked, tarfile.open(path) as archive:
            archive.extractall(unpacked, filter="data")
            yield Path(unpacked)
    except (OSError, tarfile.TarError) as error:
        accepted = "a folder or tar archive of spot-instance JSON"
        raise InputError(str(path), "", str(error), accepted) from None


def spot_groups(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """Each folder with traces in it, and those. Raises InputError where there is none."""
    groups: dict[Path, list[Path]] = defaultdict(list)
    for path in sorted(folder.rglob("*.json")):
        groups[path.parent].append(path)
    if not groups:
        raise InputError(str(folder), "", "no .json file in it", "spot-instance traces")
    for parent, files in groups.items():
        yield str(parent.relative_to(folder)), files


def turned_to(letters: str, start: int) -> str:
    """The same states from slot `start` on, those before it at the end."""
    start %= len(letters)
    return letters[start:] + letters[:start]
