"""Counts of the use of local copies by one process."""

import threading


class CacheCounters:
    """Uses of a copy that was up to date, and downloads of packs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.hits = 0
        self.downloads = 0
        self.bytes = 0

    def hit(self) -> None:
        """Count a use of a copy that was up to date."""
        self.hits += 1

    def downloaded(self, size: int) -> None:
        """Count a download of packs."""
        with self._lock:
            self.downloads += 1
            self.bytes += size
