"""Ids of the direct, inherited and invited members of a group or project, a page at a time.

A user can be a member of several sources, so a list of all members must be merged. Each source is read along its index
in the order of the users, and the engine merges them until the page is full.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    CompoundSelect,
    Select,
    bindparam,
    func,
    or_,
    select,
    union,
)

from ingot.accounts.users.tables import users
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains
from ingot.core.db.paging import Listing, Page
from ingot.core.db.totals import MEMBERS, USERS, cached_count
from ingot.projects.namespaces.policy import is_unexpired
from ingot.projects.namespaces.tables import memberships, namespace_tree

_ANCESTORS = (
    select(namespace_tree.c.ancestor_id)
    .where(namespace_tree.c.descendant_id == bindparam("namespace"))
    .order_by(namespace_tree.c.ancestor_id)
)
_MAX_KEY = 2**63 - 1


def names_match() -> ColumnElement[bool]:
    """Return the condition that the username or the name of a user contains ``pattern``."""
    return or_(contains(users.c.username_key, "pattern"), contains(users.c.name_key, "pattern"))


class _IdStatements(NamedTuple):
    """Statements of the ids of one list of members; the ids are in the only column."""

    by_number: CompoundSelect[Any] | Select[Any]
    total: Select[Any]
    by_key_up: CompoundSelect[Any] | Select[Any]
    by_key_down: CompoundSelect[Any] | Select[Any]


@lru_cache(maxsize=64)
def _statements(sources: int, by_shares: tuple[Select[Any], ...], search: bool) -> _IdStatements:
    columns: list[tuple[Select[Any], ColumnElement[int]]] = [
        (
            select(memberships.c.user_id).where(
                memberships.c.source_kind == bindparam(f"kind_{index}"),
                memberships.c.source_id == bindparam(f"source_{index}"),
                is_unexpired(memberships.c.expires_at),
            ),
            memberships.c.user_id,
        )
        for index in range(sources)
    ]
    for share in by_shares:
        shared = share.subquery()
        columns.append((select(shared.c.user_id), shared.c.user_id))
    if search:
        columns = [(part.join(users, users.c.id == user_id).where(names_match()), user_id) for part, user_id in columns]
    size: BindParameter[int] = bindparam("page_size")
    after: BindParameter[int] = bindparam("page_after")
    offset: BindParameter[int] = bindparam("page_offset")

    def merged(condition: Callable[[ColumnElement[int]], ColumnElement[bool]] | None = None) -> CompoundSelect[Any]:
        return union(*(part.where(condition(user_id)) if condition else part for part, user_id in columns))

    everything, up, down = merged(), merged(lambda user_id: user_id > after), merged(lambda user_id: user_id < after)
    return _IdStatements(
        everything.order_by(everything.selected_columns[0].asc()).limit(size).offset(offset),
        select(func.count()).select_from(everything.subquery()),
        up.order_by(up.selected_columns[0].asc()).limit(size),
        down.order_by(down.selected_columns[0].desc()).limit(size),
    )


def list_member_ids(
    db: Connection,
    source: tuple[str, int],
    by_shares: tuple[Select[Any], ...],
    page: Page,
    values: dict[str, Any],
) -> Listing[int]:
    """List the ids of the members of a source, of the groups around ``namespace``, and of ``by_shares``."""
    groups = [("group", group_id) for (group_id,) in db.rows(_ANCESTORS, namespace=values["namespace"])]
    sources = [source, *(group for group in groups if group != source)]
    statements = _statements(len(sources), by_shares, "pattern" in values)
    bound = dict(values)
    for index, (kind, source_id) in enumerate(sources):
        bound |= {f"kind_{index}": kind, f"source_{index}": source_id}
    if page.keyset:
        return _by_key(db, statements, page, bound)
    offset = (page.number - 1) * page.size
    ids = _ids(db, statements.by_number, bound, page_size=page.size, page_offset=offset)
    if page.number == 1 and len(ids) < page.size:
        return Listing(ids, page, len(ids))
    key = ("all members", db.statement_number(statements.total), msgspec.json.encode(bound))
    total = cached_count(db, key, (MEMBERS, USERS), lambda: db.value(statements.total, **bound))
    return Listing(ids, page, total)


def _by_key(db: Connection, statements: _IdStatements, page: Page, bound: dict[str, Any]) -> Listing[int]:
    ascending = page.direction == "asc"
    after = page.after if page.after is not None else (0 if ascending else _MAX_KEY)
    statement = statements.by_key_up if ascending else statements.by_key_down
    ids = _ids(db, statement, bound, page_size=page.size + 1, page_after=after)
    more = len(ids) > page.size
    ids = ids[: page.size]
    return Listing(ids, page, None, ids[-1] if more else None)


def _ids(db: Connection, statement: Any, bound: dict[str, Any], **bounds: int) -> list[int]:
    return [row[0] for row in db.rows(statement, **bound, **bounds)]
