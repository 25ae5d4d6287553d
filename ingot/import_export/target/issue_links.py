"""Storage of links between issues."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import or_, select

from ingot.collaboration.issues.links.tables import issue_links
from ingot.collaboration.issues.tables import issues, work_item_parents
from ingot.core.db.expressions import in_list
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.rows import (
    Relation,
    insert_rows,
    moment,
    replace_rows,
    rows_by_values,
    update_rows,
)
from ingot.import_export.work_item_records import PARENT

_LINK_TYPES = ("relates_to", "blocks", "is_blocked_by")
_LINKS = select(issue_links.c.id, issue_links.c.source_id, issue_links.c.target_id).where(
    or_(in_list(issue_links.c.source_id, "issues"), in_list(issue_links.c.target_id, "issues"))
)
_PARENTS = Relation(work_item_parents, "issue_id", ("issue_id", "parent_id"))
_PARENT_IDS = select(work_item_parents.c.issue_id, work_item_parents.c.id).where(
    in_list(work_item_parents.c.issue_id, "tasks")
)


def store_issue_links(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store links between issues of the project; a link to an issue that does not exist is refused."""
    db = context.db
    iids = {iid for change in changes for iid in (change.record.source_iid, change.record.target_iid)}
    owner = ("project_id", context.project.id)
    found = rows_by_values(db, issues, owner, "iid", iids, "id", "issue_type")
    ids, types = {iid: row_id for iid, (row_id, _) in found.items()}, dict(found.values())
    rows = db.rows(_LINKS, issues=list(ids.values())) if ids else []
    stored = {frozenset((source, target)): row_id for row_id, source, target in rows}
    result: dict[str, int | None] = {}
    inserted: dict[frozenset[int], dict[str, Any]] = {}
    updated: list[tuple[int, dict[str, Any]]] = []
    keys: list[tuple[str, frozenset[int]]] = []
    parents: list[tuple[str, int, int]] = []
    for change in changes:
        source, target = ids.get(change.record.source_iid), ids.get(change.record.target_iid)
        if source is None or target is None or source == target:
            context.problem(f"The link {change.key} refers to an issue that does not exist.")
            result[change.key] = None
            continue
        link_type = change.record.link_type
        if link_type == PARENT and types[source] != "task" and types[target] == "task":
            parents.append((change.key, source, target))
            continue
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
    return result | {key: stored[pair] for key, pair in keys} | _store_parents(context, parents)


def _store_parents(context: StoreContext, parents: Sequence[tuple[str, int, int]]) -> dict[str, int | None]:
    """Store which issue contains a task; a task has one parent."""
    if not parents:
        return {}
    tasks = {task: parent for _, parent, task in parents}
    rows = [{"issue_id": task, "parent_id": parent} for task, parent in tasks.items()]
    replace_rows(context.db, _PARENTS, list(tasks), rows)
    stored = dict(context.db.rows(_PARENT_IDS, tasks=list(tasks)))
    return {key: stored[task] for key, _, task in parents}
