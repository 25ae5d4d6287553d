"""Lists and documents of a source that could not be read; the import goes on without them."""

from collections import Counter

from ingot.import_export.source import SourceError


class FailedParts:
    """Parts that failed since the last call of ``take``, counted by their name and the reason."""

    def __init__(self) -> None:
        self.include_temporary = False
        """Whether failures that a later attempt may not meet are counted, too, instead of raised."""
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, target: str, error: SourceError) -> None:
        """Count a part; raise the error again if a later attempt may succeed."""
        if error.retry_after is not None and not self.include_temporary:
            raise error
        name = target.partition("?")[0].rstrip("/").rpartition("/")[2]
        self._counts["documents" if any(map(str.isdecimal, name)) else name, error.reason] += 1

    def take(self) -> list[str]:
        """Return a sentence for each name and reason, and begin anew."""
        sentences = [
            f"Not imported: {count} × {name}: {reason.rstrip('.')}." for (name, reason), count in self._counts.items()
        ]
        self._counts.clear()
        self.include_temporary = False
        return sentences
