"""Rows that issues and merge requests share: labels, users, award emoji, resource events, subscriptions, mentions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Table, bindparam, func, select

from ingot.collaboration.labels.tables import label_links
from ingot.collaboration.notes.tables import notes
from ingot.collaboration.participants.tables import mentioned_people
from ingot.collaboration.planning.descriptions import description_columns
from ingot.collaboration.planning.service import MAX_DESCRIPTION, MAX_TITLE
from ingot.collaboration.planning.time_tracking import MAX_SECONDS
from ingot.collaboration.planning.timelogs.service import MAX_SUMMARY_LENGTH
from ingot.collaboration.planning.timelogs.tables import timelogs
from ingot.collaboration.resource_events.tables import resource_events
from ingot.collaboration.subscriptions.tables import follows
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp
from ingot.import_export.target.awards import store_awards, votes
from ingot.import_export.target.context import Change, StoreContext
from ingot.import_export.target.labels import ensure_labels
from ingot.import_export.target.milestones import milestone_ids
from ingot.import_export.target.rows import (
    Relation,
    bounded,
    moment,
    moment_or_none,
    replace_rows,
    update_rows,
)
from ingot.import_export.target.text import limited
from ingot.import_export.work_item_records import UserRecord, WorkItemRecord

_NOTE_COUNTS = (
    select(notes.c.subject_id, func.count())
    .where(
        notes.c.subject_kind == bindparam("kind"),
        in_list(notes.c.subject_id, "subjects"),
        notes.c.system.is_(False),
        notes.c.internal.is_(False),
    )
    .group_by(notes.c.subject_id)
)
_EVENT_KEY = ("subject_id", "kind", "user_id", "action", "label_id", "milestone_id", "created_at")
_TIMELOG_KEY = ("subject_id", "user_id", "time_spent", "spent_at")
_STATE_EVENTS = {"closed": "closed", "reopened": "reopened", "merged": "merged", "opened": "reopened"}


class StoredItem(NamedTuple):
    """Issue or merge request whose row was written."""

    change: Change
    id: int
    state: str
    confidential: bool
    mentioned: Sequence[int]

    @property
    def record(self) -> Any:
        """The record, of a type that the caller knows."""
        return self.change.record

    @property
    def is_new(self) -> bool:
        """Whether the row did not exist before."""
        return not self.change.local_id


class PlanningIds(NamedTuple):
    """Ids of the labels by title, and of the milestones by key, of a batch."""

    labels: Mapping[str, int]
    milestones: Mapping[str, int]


def planning_ids(context: StoreContext, records: Sequence[WorkItemRecord]) -> PlanningIds:
    """Return the labels and milestones of records; missing labels are created, missing milestones are reported."""
    titles = {title for record in records for title in record.labels}
    titles |= {event.label for record in records for event in record.label_events if event.label}
    keys = {record.milestone for record in records if record.milestone}
    events = {event.milestone for record in records for event in record.milestone_events if event.milestone}
    milestones = milestone_ids(context, keys | events)
    for key in sorted(keys - milestones.keys()):
        context.problem(f"The milestone {key} does not exist; it was removed from the imported issues.")
    return PlanningIds(ensure_labels(context, sorted(titles)), milestones)


def shared_columns(context: StoreContext, record: WorkItemRecord, ids: PlanningIds) -> tuple[dict[str, Any], list[int]]:
    """Return the columns that issues and merge requests share, and the ids of the users whom the text mentions."""
    title = limited(record.title, MAX_TITLE) or f"Untitled {record.iid}"
    if len(record.description or "") > MAX_DESCRIPTION:
        context.problem(f"The description of {record.iid} was cut off after {MAX_DESCRIPTION} characters.")
    description, mentioned = context.rewrite(record.description)
    created_at = moment(record.created_at, context.db.now)
    upvotes, downvotes = votes(context, record.awards)
    spent = record.total_time_spent or sum(each.seconds for each in record.timelogs)
    columns = {
        "author_id": context.user(record.author),
        "title": title,
        "title_key": title.casefold(),
        "description": description or None,
        **description_columns(description),
        "milestone_id": ids.milestones.get(record.milestone or ""),
        "upvotes": upvotes,
        "downvotes": downvotes,
        "time_estimate": bounded(record.time_estimate),
        "total_time_spent": bounded(spent),
        "discussion_locked": record.discussion_locked,
        "user_notes_count": sum(
            not note.system and not note.internal for discussion in record.discussions for note in discussion.notes
        ),
        "created_at": created_at,
        "updated_at": moment(record.updated_at, created_at),
    }
    return columns, [*mentioned]


def closing_columns(context: StoreContext, record: WorkItemRecord, *, closed: bool) -> dict[str, Any]:
    """Return the columns that tell when and by whom an item was closed."""
    if not closed:
        return {"closed_at": None, "closed_by_id": None}
    by = next((event.user for event in reversed(record.state_events) if event.state == "closed"), None)
    at = moment_or_none(record.closed_at) or moment(record.updated_at, context.db.now)
    return {"closed_at": at, "closed_by_id": context.user_or_none(record.closed_by or by)}


def store_relations(context: StoreContext, kind: str, items: Sequence[StoredItem], ids: PlanningIds) -> None:
    """Store everything that belongs to items, except their users and notes."""
    db, project_id = context.db, context.project.id
    existing = [item.id for item in items if not item.is_new]
    subject = {"subject_kind": kind, "project_id": project_id}
    links = [
        {
            **subject,
            "label_id": ids.labels[title],
            "subject_id": item.id,
            "state": item.state,
            "confidential": item.confidential,
        }
        for item in items
        for title in item.record.labels
        if title in ids.labels
    ]
    link_key = ("subject_id", "label_id", "state", "confidential")
    replace_rows(db, Relation(label_links, "subject_id", link_key, subject_kind=kind), existing, _unique_links(links))
    store_awards(context, kind, [(item.id, item.record.awards, item.is_new) for item in items])
    events = [{**subject, "subject_id": item.id, **event} for item in items for event in _events(context, item, ids)]
    relation = Relation(resource_events, "subject_id", _EVENT_KEY, complete=False, subject_kind=kind)
    replace_rows(db, relation, existing, events)
    subscriptions = [
        {
            "user_id": user_id,
            "subject_kind": kind,
            "subject_id": item.id,
            "following": True,
            "created_at": moment(item.record.created_at, db.now),
        }
        for item in items
        for user_id in context.user_ids(item.record.subscribers)
    ]
    relation = Relation(follows, "subject_id", ("subject_id", "user_id"), complete=False, subject_kind=kind)
    replace_rows(db, relation, existing, subscriptions)
    entries = [
        {
            **subject,
            "subject_id": item.id,
            "user_id": context.user(entry.user),
            "time_spent": max(-MAX_SECONDS, min(entry.seconds, MAX_SECONDS)),
            "summary": limited(entry.summary or "", MAX_SUMMARY_LENGTH) or None,
            "spent_at": moment(entry.spent_at, db.now),
            "created_at": moment(entry.spent_at, db.now),
        }
        for item in items
        for entry in item.record.timelogs
    ]
    relation = Relation(timelogs, "subject_id", _TIMELOG_KEY, complete=False, subject_kind=kind)
    replace_rows(db, relation, existing, entries)
    mentions = [
        {"subject_kind": kind, "subject_id": item.id, "note_id": None, "user_id": user_id, "internal": False}
        for item in items
        for user_id in item.mentioned
    ]
    mention_key = ("subject_id", "note_id", "user_id")
    relation = Relation(mentioned_people, "subject_id", mention_key, complete=False, subject_kind=kind)
    replace_rows(db, relation, existing, mentions)


def _unique_links(links: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the links without repetitions: two titles of the source may be one label here."""
    return list({(link["subject_id"], link["label_id"]): link for link in links}.values())


def _events(context: StoreContext, item: StoredItem, ids: PlanningIds) -> Iterable[dict[str, Any]]:
    """Return the columns of the resource events of an item, the oldest first."""
    record: WorkItemRecord = item.record
    events: list[tuple[Timestamp, dict[str, Any]]] = []

    def add(kind: str, user: UserRecord, action: str, created_at: str, **more: int | None) -> None:
        at = moment(created_at, context.db.now)
        columns = {"kind": kind, "user_id": context.user(user), "action": action, "created_at": at}
        events.append((at, {**columns, "label_id": None, "milestone_id": None, **more}))

    for label in record.label_events:
        add("label", label.user, label.action, label.created_at, label_id=ids.labels.get(label.label or ""))
    for milestone in record.milestone_events:
        milestone_id = ids.milestones.get(milestone.milestone or "")
        add("milestone", milestone.user, milestone.action, milestone.created_at, milestone_id=milestone_id)
    for state in record.state_events:
        if state.state in _STATE_EVENTS:
            add("state", state.user, _STATE_EVENTS[state.state], state.created_at)
    return [columns for _, columns in sorted(events, key=lambda event: event[0])]


def store_users(
    context: StoreContext, table: Table, owner: str, items: Sequence[StoredItem], users: Mapping[int, Sequence[int]]
) -> None:
    """Store the assignees or reviewers of items, given by the ids of the items."""
    rows = [{owner: item.id, "user_id": user_id} for item in items for user_id in users[item.id]]
    existing = [item.id for item in items if not item.is_new]
    replace_rows(context.db, Relation(table, owner, (owner, "user_id")), existing, rows)


def recount_notes(context: StoreContext, kind: str, table: Table, items: Sequence[StoredItem]) -> None:
    """Set the number of notes of items that existed before: users of this instance may have added some."""
    existing = [item.id for item in items if not item.is_new]
    if existing:
        counts = dict(context.db.rows(_NOTE_COUNTS, kind=kind, subjects=existing))
        update_rows(
            context.db, table, [(item_id, {"user_notes_count": counts.get(item_id, 0)}) for item_id in existing]
        )
