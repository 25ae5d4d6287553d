"""Totals of lists, cached until a row changes on which they depend.

To count ten thousand rows takes milliseconds, and every page of a list shows its total. On SQLite, triggers increment a
version whenever a row changes that can change the totals of a kind of list (see the migrations); changes that cannot,
such as a new note of an issue, leave it alone. A cached total is exact as long as its versions are current. PostgreSQL
has no versions, because concurrent transactions would wait for each other to increment them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Select

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.db.connection import Connection

USERS = "users"
PROJECTS = "projects"
MEMBERS = "members"
"""Memberships of groups and projects, and shares with groups."""
ISSUES = "issues"
VISIBILITY = (PROJECTS, MEMBERS)
"""Versions of everything that determines which projects a user may see."""
_TOTAL_BYTES = 600
_ROW_BYTES = 250
_totals: BoundedCache[tuple[object, ...], int] = declare_cache("list-totals", share=1)
_counts: BoundedCache[tuple[object, ...], list[tuple[Any, ...]]] = declare_cache("group-counts", share=1)


def issues_of(project_id: int) -> str:
    """Return the version of the issues of a project."""
    return f"{ISSUES}/{project_id}"


def cached_total(db: Connection, statement: Select[Any], values: dict[str, Any], depends_on: Sequence[str]) -> int:
    """Return the result of a counting statement, from the cache if none of the versions has changed."""
    key = (db.statement_number(statement), msgspec.json.encode(values))
    return cached_count(db, key, depends_on, lambda: db.value(statement, **values))


def known_total(
    db: Connection, statement: Select[Any], values: dict[str, Any], depends_on: Sequence[str]
) -> int | None:
    """Return the result of a counting statement if it is cached."""
    return known_count(db, (db.statement_number(statement), msgspec.json.encode(values)), depends_on)


def known_count(db: Connection, key: tuple[object, ...], depends_on: Sequence[str]) -> int | None:
    """Return the number that ``cached_count`` has cached under a key, if its versions are current."""
    versions = db.row_versions(depends_on) if depends_on else None
    return None if versions is None else _totals.get((db.identity, versions, *key))


def cached_count(db: Connection, key: tuple[object, ...], depends_on: Sequence[str], count: Callable[[], int]) -> int:
    """Return a number that ``count`` determines; ``key`` names what it depends on besides the versions."""
    versions = db.row_versions(depends_on) if depends_on else None
    if versions is None:
        return count()
    whole_key = (db.identity, versions, *key)
    total = _totals.get(whole_key)
    if total is None:
        total = count()
        _totals.put(whole_key, total, _TOTAL_BYTES)
    return total


def cached_rows(
    db: Connection, statement: Select[Any], values: dict[str, Any], depends_on: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Return the rows of a statement that counts by groups, from the cache if none of the versions has changed."""
    versions = db.row_versions(depends_on)
    if versions is None:
        return db.rows(statement, **values)
    key = (db.identity, versions, db.statement_number(statement), msgspec.json.encode(values))
    rows = _counts.get(key)
    if rows is None:
        rows = db.rows(statement, **values)
        _counts.put(key, rows, _TOTAL_BYTES + _ROW_BYTES * len(rows))
    return rows
