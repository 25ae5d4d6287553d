"""Storage of comments on commits."""

import hashlib
from collections.abc import Sequence
from typing import Any

from ingot.collaboration.notes.service import MAX_BODY_LENGTH
from ingot.collaboration.notes.tables import notes
from ingot.import_export.records import CommitNoteRecord
from ingot.import_export.target.awards import store_awards
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.rows import insert_rows, moment, rows_by_ids, update_rows

_KIND = "commit"


def store_commit_notes(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store comments; those on commits that the repository does not have are refused."""
    known = rows_by_ids(context.db, notes, {change.local_id for change in changes if change.local_id}, "id")
    ids: dict[str, int | None] = {}
    kept: list[Change] = []
    for change in changes:
        if change.record.sha not in context.preparation.commits:
            context.problem(f"A comment belongs to the missing commit {change.record.sha[:40]}.")
            ids[change.key] = None
        elif change.local_id and change.local_id not in known:
            ids[change.key] = change.local_id  # It was deleted here.
        else:
            kept.append(change)
    new = [change for change in kept if not change.local_id]
    rows = [{**_fixed_columns(context, change), **_columns(context, change.record)} for change in new]
    ids |= dict(zip([change.key for change in new], insert_rows(context.db, notes, rows), strict=True))
    changed = [change for change in kept if change.local_id]
    update_rows(context.db, notes, [(change.local_id or 0, _columns(context, change.record)) for change in changed])
    ids |= {change.key: change.local_id for change in changed}
    store_awards(
        context, "note", [(ids[change.key] or 0, change.record.awards, not change.local_id) for change in kept]
    )
    return ids


def _fixed_columns(context: StoreContext, change: Change) -> dict[str, Any]:
    record: CommitNoteRecord = change.record
    discussion = f"{context.import_id} {_KIND} {record.sha} {record.discussion or record.key}"
    return {
        "project_id": context.project.id,
        "author_id": context.user(record.author),
        "subject_kind": _KIND,
        "subject_id": None,
        "commit_oid": record.sha,
        "discussion_id": hashlib.sha256(discussion.encode(errors="replace")).hexdigest()[:40],
        "created_at": moment(record.created_at, context.db.now),
        "system": False,
        "internal": False,
    }


def _columns(context: StoreContext, record: CommitNoteRecord) -> dict[str, Any]:
    if len(record.body) > MAX_BODY_LENGTH:
        context.problem(f"The comment {record.key} was cut off after {MAX_BODY_LENGTH} characters.")
    on_line = record.path is not None and (record.old_line or record.new_line) is not None
    return {
        "body": context.rewrite(record.body).text or "…",
        "updated_at": moment(record.updated_at, moment(record.created_at, context.db.now)),
        "line_type": ("new" if record.new_line else "old") if on_line else None,
        "old_path": (record.old_path or record.path) if on_line else None,
        "new_path": record.path if on_line else None,
        "old_line": record.old_line if on_line else None,
        "new_line": record.new_line if on_line else None,
    }
