"""Storage of issue boards and their lists."""

from collections.abc import Sequence
from typing import Any

from ingot.collaboration.boards.service import DEFAULT_NAME, MAX_ISSUE_COUNT, MAX_LISTS, MAX_NAME_LENGTH
from ingot.collaboration.boards.tables import board_lists, boards
from ingot.import_export.records import BoardListRecord
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.labels import ensure_labels
from ingot.import_export.target.rows import (
    Relation,
    insert_rows,
    replace_rows,
    rows_by_ids,
    rows_by_values,
    update_rows,
)
from ingot.import_export.target.text import limited

LISTS = Relation(board_lists, "board_id", ("board_id", "label_id", "position", "max_issue_count"))


def store_boards(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store boards; a board of the project with the same name stands for a new one."""
    db, project_id = context.db, context.project.id
    names = {change.key: limited(change.record.name, MAX_NAME_LENGTH) or DEFAULT_NAME for change in changes}
    same = rows_by_values(db, boards, ("project_id", project_id), "name", set(names.values()), "id")
    known = rows_by_ids(db, boards, {change.local_id for change in changes if change.local_id}, "id")
    ids: dict[str, int | None] = {}
    for change in changes:
        if change.local_id in known:
            ids[change.key] = change.local_id
        elif names[change.key] in same:
            # Several boards of the source can have one name.
            ids[change.key] = same.pop(names[change.key])[0]
    columns = {change.key: _columns(change, names[change.key], db.now) for change in changes}
    existing = [row_id for row_id in ids.values() if row_id]
    update_rows(db, boards, [(row_id, columns[key]) for key, row_id in ids.items() if row_id])
    new = [change.key for change in changes if change.key not in ids]
    owner = {"project_id": project_id, "group_id": None, "created_at": db.now}
    ids |= dict(zip(new, insert_rows(db, boards, [{**owner, **columns[key]} for key in new]), strict=True))
    labels = ensure_labels(context, sorted({each.label for change in changes for each in change.record.lists}))
    lists: list[dict[str, Any]] = []
    for change in changes:
        ordered = sorted(change.record.lists, key=lambda each: each.position)[:MAX_LISTS]
        limits: dict[int, int] = {}
        for each in ordered:
            if each.label in labels:
                limits.setdefault(labels[each.label], list_limit(each))
        lists += [
            {
                "board_id": ids[change.key],
                "label_id": label_id,
                "position": position,
                "max_issue_count": limit,
                "created_at": db.now,
            }
            for position, (label_id, limit) in enumerate(limits.items())
        ]
    replace_rows(db, LISTS, existing, lists)
    return ids


def list_limit(record: BoardListRecord) -> int:
    """Return the limit of a list, within the bounds of limits."""
    return min(max(record.max_issue_count, 0), MAX_ISSUE_COUNT)


def _columns(change: Change, name: str, now: str) -> dict[str, Any]:
    hidden = {side: getattr(change.record, side) for side in ("hide_backlog_list", "hide_closed_list")}
    return {"name": name, **hidden, "updated_at": now}
