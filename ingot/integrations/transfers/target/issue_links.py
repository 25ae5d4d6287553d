"""Storage of links between issues."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import or_, select

from ingot.collaboration.issues.links.tables import issue_links
from ingot.collaboration.issues.tables import issues
from ingot.core.db.expressions import in_list
from ingot.integrations.transfers.target.context import Change, StoreContext, StoredIds
from ingot.integrations.transfers.target.rows import insert_rows, moment, rows_by_values, update_rows

_LINK_TYPES = ("relates_to", "blocks", "is_blocked_by")
_LINKS = select(issue_links.c.id, issue_links.c.source_id, issue_links.c.target_id).where(
    or_(in_list(issue_links.c.source_id, "issues"), in_list(issue_links.c.target_id, "issues"))
)


def store_issue_links(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store links between issues of the project; a link to an issue that does not exist is refused."""
    db = context.db
    iids = {iid for change in changes for iid in (change.record.source_iid, change.record.target_iid)}
    owner = ("project_id", context.project.id)
    ids = {iid: row_id for iid, (row_id,) in rows_by_values(db, issues, owner, "iid", iids, "id").items()}
    rows = db.rows(_LINKS, issues=list(ids.values())) if ids else []
    stored = {frozenset((source, target)): row_id for row_id, source, target in rows}
    result: dict[str, int | None] = {}
    inserted: dict[frozenset[int], dict[str, Any]] = {}
    updated: list[tuple[int, dict[str, Any]]] = []
    keys: list[tuple[str, frozenset[int]]] = []
    for change in changes:
        source, target = ids.get(change.record.source_iid), ids.get(change.record.target_iid)
        if source is None or target is None or source == target:
            context.problem(f"The link {change.key} refers to an issue that does not exist.")
            result[change.key] = None
            continue
        link_type = change.record.link_type
        if link_type not in _LINK_TYPES:
            context.problem(f"The link {change.key} of the type {link_type} became {_LINK_TYPES[0]}.")
            link_type = _LINK_TYPES[0]
        if link_type == "is_blocked_by":
            source, target, link_type = target, source, "blocks"
        pair = frozenset((source, target))
        keys.append((change.key, pair))
        columns = {"source_id": source, "target_id": target, "link_type": link_type}
        if pair in stored:
            updated.append((stored[pair], columns))
        else:
            created_at = moment(change.record.created_at, db.now)
            columns |= {"created_at": created_at, "updated_at": moment(change.record.updated_at, created_at)}
            inserted.setdefault(pair, columns)
    update_rows(db, issue_links, updated)
    stored |= dict(zip(inserted, insert_rows(db, issue_links, list(inserted.values())), strict=True))
    return result | {key: stored[pair] for key, pair in keys}
