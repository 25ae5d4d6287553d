"""Free space of the disks that hold the data of an instance, for readiness, metrics and the doctor."""

import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from ingot.core.settings import Settings

CACHE_SECONDS = 5.0
MIN_FREE_FILES = 1_000
DIRECTORIES = (".", "repositories", "uploads", "lfs", "artifacts", "traces", "packages", "mail")
"""Directories that may be on disks of their own; the first holds the database and the secrets."""


class VolumeSpace(NamedTuple):
    """Free space of one disk."""

    name: str
    """The first of the directories on it; ``data`` for the data directory itself."""
    path: Path
    free_bytes: int
    free_files: int | None
    """None where the file system creates entries for files as needed."""


class DiskSpace:
    """Free space of the disks of an instance, measured at most every few seconds."""

    def __init__(self, settings: Settings) -> None:
        self._data = settings.data
        self.min_free_bytes = settings.min_free_mb * 2**20
        self._measured_at = float("-inf")
        self._volumes: list[VolumeSpace] = []

    def volumes(self) -> list[VolumeSpace]:
        """Return the free space of each disk, possibly as of a few seconds ago."""
        now = monotonic()
        if now - self._measured_at > CACHE_SECONDS:
            self._volumes, self._measured_at = list(self._measure()), now
        return self._volumes

    def low_volumes(self) -> list[VolumeSpace]:
        """Return the disks with less free space than configured; empty if the check is turned off."""
        return [volume for volume in self.volumes() if self._is_low(volume)]

    def _is_low(self, volume: VolumeSpace) -> bool:
        if not self.min_free_bytes:
            return False
        few_files = volume.free_files is not None and volume.free_files < MIN_FREE_FILES
        return few_files or volume.free_bytes < self.min_free_bytes

    def _measure(self) -> Iterator[VolumeSpace]:
        devices = set()
        for name in DIRECTORIES:
            path = self._data / name
            try:
                device, space = path.stat().st_dev, os.statvfs(path)
            except OSError:  # It is created when it is first needed.
                continue
            if device not in devices:
                devices.add(device)
                files = space.f_favail if space.f_files else None
                yield VolumeSpace("data" if name == "." else name, path, space.f_bavail * space.f_frsize, files)
