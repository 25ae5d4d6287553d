"""Reading of all records of a source."""

from collections.abc import Sequence
from typing import Any

from ingot.core.outgoing.guard import SsrfGuard
from ingot.import_export.records import Kind
from ingot.import_export.source import ProjectSource

GUARD = SsrfGuard(allow_local=True)


def records(source: ProjectSource, kind: Kind, cursor: str | None = None, since: str | None = None) -> list[Any]:
    """Return all records of a kind."""
    return [record for batch in source.batches(kind, cursor, since) for record in batch.records]


def counts(source: ProjectSource) -> dict[str, int]:
    """Return the counts of the inventory by kind."""
    return {count.kind: count.count for count in source.inventory().counts}


def by_iid(found: Sequence[Any]) -> dict[int, Any]:
    """Return records by their iid, each once."""
    numbered = {record.iid: record for record in found}
    assert len(numbered) == len(found)
    return numbered
