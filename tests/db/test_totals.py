"""Keys of cached totals."""

from typing import Any

from sqlalchemy import ClauseElement, Select, literal_column, select

from ingot.core.cache import REGISTRY
from ingot.core.db.totals import cached_rows, cached_total


class _Reads:
    """Stands in for a connection whose rows have versions."""

    identity = "here"

    def row_versions(self, names: list[str]) -> tuple[tuple[str, int], ...]:
        return tuple((name, 1) for name in names)

    def statement_number(self, _: Select[Any]) -> int:
        return 7

    def value(self, _: Select[Any]) -> int:
        return 3

    def rows(self, _: Select[Any]) -> list[tuple[int]]:
        return [(3,)]


def test_a_cached_total_does_not_keep_its_statement() -> None:
    """A statement takes up to 50 KB, but an entry is counted with less than one."""
    db: Any = _Reads()
    statement: Select[Any] = select(literal_column("3"))
    assert cached_total(db, statement, {}, ["projects"]) == 3
    assert cached_rows(db, statement, {}, ["projects"]) == [(3,)]
    caches = [cache for cache in REGISTRY.caches() if cache.name in ("list-totals", "group-counts")]
    keys = [key for cache in caches for key in cache._entries if key[0] == "here"]
    assert len(keys) == 2
    assert not any(isinstance(part, ClauseElement) for key in keys for part in key)
