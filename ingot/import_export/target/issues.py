"""Storage of issues."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ingot.collaboration.issues.service import add_to_issue_counts
from ingot.collaboration.issues.tables import issue_assignees, issues
from ingot.collaboration.issues.timeline.policy import SEVERITIES
from ingot.collaboration.issues.timeline.service import MAX_EVENTS, MAX_PROMOTED_LENGTH, MAX_TAG_LENGTH, MAX_TAGS
from ingot.collaboration.issues.timeline.tables import timeline_event_tags, timeline_events
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.iids import IidSequence, assign_iids
from ingot.import_export.target.notes import DiscussedSubject, store_discussions
from ingot.import_export.target.rows import (
    Relation,
    day_or_none,
    insert_rows,
    moment,
    replace_rows,
    rows_by_ids,
    update_rows,
)
from ingot.import_export.target.text import limited
from ingot.import_export.target.work_items import (
    PlanningIds,
    StoredItem,
    closing_columns,
    planning_ids,
    recount_notes,
    shared_columns,
    store_relations,
    store_users,
)
from ingot.import_export.work_item_records import IssueRecord

_KIND = "issue"
_IIDS = IidSequence(_KIND, issues, "project_id", "#")
_MAX_POSITION = 2**62
_TIMELINE = Relation(timeline_events, "issue_id", ("issue_id", "occurred_at", "note"), complete=False)
_TIMELINE_TAGS = Relation(timeline_event_tags, "project_id", ("project_id", "name"), complete=False)


def store_issues(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store issues with everything that belongs to them."""
    db = context.db
    known = rows_by_ids(
        db, issues, {change.local_id for change in changes if change.local_id}, "state", "confidential", "deleted_at"
    )
    kept = [change for change in changes if not change.local_id or _exists(context, change, known)]
    ids = planning_ids(context, [change.record for change in kept])
    rows = {change.key: _columns(context, change.record, ids) for change in kept}
    new = [change for change in kept if not change.local_id]
    iids = assign_iids(context, _IIDS, [(change.key, change.record.iid) for change in new])
    fixed = {"project_id": context.project.id, "moved_to_id": None, "deleted_at": None}
    inserted = [{**fixed, "iid": iids[change.key], **rows[change.key][0]} for change in new]
    new_ids = dict(zip([change.key for change in new], insert_rows(db, issues, inserted), strict=True))
    update_rows(db, issues, [(change.local_id, rows[change.key][0]) for change in kept if change.local_id])
    items = [
        StoredItem(
            change,
            change.local_id or new_ids[change.key],
            rows[change.key][0]["state"],
            rows[change.key][0]["confidential"],
            rows[change.key][1],
        )
        for change in kept
    ]
    _count(context, items, known)
    store_relations(context, _KIND, items, ids)
    assignees = {item.id: context.user_ids(item.record.assignees) for item in items}
    store_users(context, issue_assignees, "issue_id", items, assignees)
    _store_timelines(context, items)
    store_discussions(
        context,
        _KIND,
        [DiscussedSubject(_KIND, item.id, item.change.key, item.record.discussions, item.is_new) for item in items],
    )
    recount_notes(context, _KIND, issues, items)
    return {change.key: change.local_id for change in changes} | {item.change.key: item.id for item in items}


def _exists(context: StoreContext, change: Change, known: dict[int, tuple[Any, ...]]) -> bool:
    if change.local_id in known and known[change.local_id][2] is None:
        return True
    context.problem(f"The issue #{change.record.iid} was deleted here; its changes at the source were not imported.")
    return False


def _columns(context: StoreContext, record: IssueRecord, ids: PlanningIds) -> tuple[dict[str, Any], list[int]]:
    columns, mentioned = shared_columns(context, record, ids)
    state = "closed" if record.state in ("closed", "locked") else "opened"
    position = record.position if record.position is None or abs(record.position) < _MAX_POSITION else None
    return {
        **columns,
        **closing_columns(context, record, closed=state == "closed"),
        "state": state,
        "confidential": record.confidential,
        "due_date": day_or_none(record.due_date),
        "position": position,
        "issue_type": record.issue_type if record.issue_type in ("incident", "task") else "issue",
        "severity": record.severity if record.severity in SEVERITIES else "unknown",
    }, mentioned


def _store_timelines(context: StoreContext, items: Sequence[StoredItem]) -> None:
    """Store the events of incidents, and the tags that they have."""
    db = context.db
    events = [(item.id, event) for item in items for event in item.record.timeline_events[:MAX_EVENTS]]
    rows = [
        {
            "issue_id": issue_id,
            "author_id": context.user(event.author),
            "updated_by_id": None,
            "promoted_from_note_id": None,
            "note": limited(event.note, MAX_PROMOTED_LENGTH),
            "tags": json.dumps([limited(tag, MAX_TAG_LENGTH) for tag in event.tags[:MAX_TAGS]]),
            "occurred_at": moment(event.occurred_at, db.now),
            "created_at": moment(event.created_at, db.now),
            "updated_at": moment(event.updated_at, db.now),
            "action": "severity" if event.action == "severity" else "comment",
        }
        for issue_id, event in events
    ]
    replace_rows(db, _TIMELINE, [item.id for item in items if not item.is_new], rows)
    names = {limited(tag, MAX_TAG_LENGTH) for _, event in events for tag in event.tags[:MAX_TAGS]}
    if names:
        tags = [{"project_id": context.project.id, "name": name} for name in sorted(names)]
        replace_rows(db, _TIMELINE_TAGS, [context.project.id], tags)


def _count(context: StoreContext, items: Sequence[StoredItem], known: dict[int, tuple[Any, ...]]) -> None:
    changes: Counter[tuple[int, str, bool]] = Counter()
    for item in items:
        changes[context.project.id, item.state, item.confidential] += 1
        if not item.is_new:
            state, confidential, _ = known[item.id]
            changes[context.project.id, state, confidential] -= 1
    add_to_issue_counts(context.db, changes)
