"""Storage of discussions with their notes, positions, suggestions and award emoji."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import bindparam, delete, select

from ingot.collaboration.emoji.service import delete_awards
from ingot.collaboration.merge_requests.reviews.suggestion_blocks import suggestion_blocks
from ingot.collaboration.merge_requests.reviews.suggestion_recorder import suggestion_columns
from ingot.collaboration.merge_requests.versions.line_notes import DIFF_NOTE, position_columns
from ingot.collaboration.merge_requests.versions.positions import DiffPosition, LineRange
from ingot.collaboration.notes.service import IN_DISCUSSION, MAX_BODY_LENGTH, MENTION
from ingot.collaboration.notes.tables import notes, suggestions
from ingot.collaboration.participants.tables import mentioned_people
from ingot.core.db.expressions import in_list
from ingot.core.db.row_ids import reserve_ids
from ingot.core.db.times import Timestamp
from ingot.import_export.links import fingerprint
from ingot.import_export.tables import import_links
from ingot.import_export.target.awards import store_awards
from ingot.import_export.target.context import StoreContext
from ingot.import_export.target.preparation import PreparedMergeRequest
from ingot.import_export.target.rows import Relation, bounded, moment, replace_rows, update_rows
from ingot.import_export.work_item_records import DiscussionRecord, NoteRecord, PositionRecord

_NO_POSITION = dict.fromkeys(
    ("position", "original_position", "line_type", "old_path", "new_path", "old_line", "new_line")
)
_SUGGESTIONS = Relation(suggestions, "note_id", ("note_id", "relative_order", "to_content"))
_IMPORTED = (
    select(notes.c.id, notes.c.subject_id, import_links.c.key)
    .join(import_links, import_links.c.local_id == notes.c.id)
    .where(
        import_links.c.import_id == bindparam("import"),
        import_links.c.kind == bindparam("links"),
        notes.c.subject_kind == bindparam("kind"),
        in_list(notes.c.subject_id, "subjects"),
    )
)
_DELETE_NOTES = delete(notes).where(in_list(notes.c.id, "rows"))
_LABEL = re.compile(r"~([0-9]{1,19})(?![0-9A-Za-z])")
_NO_COMMITS = PreparedMergeRequest(None, (), (), frozenset(), {})


class DiscussedSubject(NamedTuple):
    """Row that discussions belong to."""

    kind: str
    id: int
    key: str
    discussions: Sequence[DiscussionRecord]
    is_new: bool
    commits: PreparedMergeRequest = _NO_COMMITS


class _NoteChange(NamedTuple):
    subject: DiscussedSubject
    discussion: DiscussionRecord
    note: NoteRecord
    key: str
    fingerprint: str
    local_id: int | None
    created_at: Timestamp


def store_discussions(context: StoreContext, kind: str, subjects: Sequence[DiscussedSubject]) -> None:
    """Store the notes of subjects of one kind: new ones are added, changed ones updated, deleted ones deleted.

    Notes that users of this instance have written are left alone.
    """
    _delete_obsolete(context, kind, subjects)
    changes = _changes(context, kind, subjects)
    new = [change for change in changes if change.local_id is None]
    ids = iter(reserve_ids(context.db, notes, len(new)))
    note_ids = [change.local_id or next(ids) for change in changes]
    labels = _label_ids(context, changes)
    mentions: list[dict[str, Any]] = []
    inserted: list[dict[str, Any]] = []
    updated: list[tuple[int, dict[str, Any]]] = []
    for change, note_id in zip(changes, note_ids, strict=True):
        columns, mentioned = _columns(context, change, labels)
        if change.local_id is None:
            inserted.append({"id": note_id, **_fixed_columns(context, change), **columns})
        else:
            updated.append((note_id, columns))
        subject = {"subject_kind": kind, "subject_id": change.subject.id, "internal": change.note.internal}
        mentions += [{**subject, "note_id": note_id, "user_id": user_id} for user_id in mentioned]
    context.db.insert_many(notes, inserted)
    update_rows(context.db, notes, updated)
    mention_relation = Relation(mentioned_people, "note_id", ("note_id", "user_id"))
    replace_rows(context.db, mention_relation, [note_id for note_id, _ in updated], mentions)
    _store_suggestions(context, changes, note_ids)
    store_awards(
        context,
        "note",
        [
            (note_id, change.note.awards, change.local_id is None)
            for change, note_id in zip(changes, note_ids, strict=True)
        ],
    )
    rows = [(change.key, note_id, change.fingerprint) for change, note_id in zip(changes, note_ids, strict=True)]
    context.store_links(_link_kind(kind), rows)


def _delete_obsolete(context: StoreContext, kind: str, subjects: Sequence[DiscussedSubject]) -> None:
    """Delete imported notes that the source has no longer.

    A source that refuses the notes of a subject seems to have none, so that such a subject keeps them.
    """
    given = {
        subject.id: {_key(discussion, note) for discussion in subject.discussions for note in discussion.notes}
        for subject in subjects
        if not subject.is_new and subject.discussions
    }
    if not given:
        return
    values = {"import": context.import_id, "links": _link_kind(kind), "kind": kind, "subjects": list(given)}
    obsolete = {
        note_id: key
        for note_id, subject_id, key in context.db.rows(_IMPORTED, **values)
        if key not in given[subject_id]
    }
    if obsolete:
        delete_awards(context.db, "note", list(obsolete))
        context.db.run(_DELETE_NOTES, rows=list(obsolete))
        context.delete_links(_link_kind(kind), list(obsolete.values()))


def _changes(context: StoreContext, kind: str, subjects: Sequence[DiscussedSubject]) -> list[_NoteChange]:
    """Return the new and changed notes in the order of their ids: by time, but no reply before its discussion."""
    keys = [
        _key(discussion, note)
        for subject in subjects
        if not subject.is_new
        for discussion in subject.discussions
        for note in discussion.notes
    ]
    links = context.linked(_link_kind(kind), keys) if keys else {}
    changes: dict[str, _NoteChange] = {}
    for subject in subjects:
        for discussion, note, created_at in _in_order(context, subject):
            key = _key(discussion, note)
            digest = fingerprint(note) + ("i" if discussion.individual_note else "d")
            link = None if subject.is_new else links.get(key)
            if link is None or link.fingerprint != digest:
                local_id = link.local_id if link else None
                changes[key] = _NoteChange(subject, discussion, note, key, digest, local_id, created_at)
    return list(changes.values())


def _in_order(
    context: StoreContext, subject: DiscussedSubject
) -> Iterator[tuple[DiscussionRecord, NoteRecord, Timestamp]]:
    ordered: list[tuple[Timestamp, DiscussionRecord, NoteRecord, Timestamp]] = []
    for discussion in subject.discussions:
        latest = Timestamp("")
        for note in discussion.notes:
            created_at = moment(note.created_at, context.db.now)
            latest = max(latest, created_at)
            ordered.append((latest, discussion, note, created_at))
    ordered.sort(key=lambda entry: entry[0])
    return ((discussion, note, created_at) for _, discussion, note, created_at in ordered)


def _link_kind(kind: str) -> str:
    return f"{kind} notes"


def _key(discussion: DiscussionRecord, note: NoteRecord) -> str:
    return f"{discussion.key} {note.key}"


def _discussion_id(context: StoreContext, change: _NoteChange) -> str:
    """Return the id of a discussion, which is the same in repeated runs and differs between imports."""
    name = f"{context.import_id} {change.subject.kind} {change.subject.key} {change.discussion.key}"
    return hashlib.sha256(name.encode(errors="replace")).hexdigest()[:40]


def _fixed_columns(context: StoreContext, change: _NoteChange) -> dict[str, Any]:
    return {
        "project_id": context.project.id,
        "author_id": context.user(change.note.author),
        "subject_kind": change.subject.kind,
        "subject_id": change.subject.id,
        "commit_oid": None,
        "discussion_id": _discussion_id(context, change),
        "created_at": change.created_at,
        "system": change.note.system,
    }


def _label_ids(context: StoreContext, changes: Sequence[_NoteChange]) -> dict[str, int]:
    """Return the ids of the labels that system notes name by the ids of the source."""
    keys = {match[1] for each in changes if each.note.system for match in _LABEL.finditer(each.note.body)}
    return {key: link.local_id for key, link in context.linked("labels", sorted(keys)).items() if link.local_id}


def _columns(
    context: StoreContext, change: _NoteChange, labels: Mapping[str, int]
) -> tuple[dict[str, Any], Sequence[int]]:
    """Return the columns that a changed record can change, and the ids of the mentioned users."""
    note = change.note
    if len(note.body) > MAX_BODY_LENGTH:
        context.problem(f"The note {note.key} was cut off after {MAX_BODY_LENGTH} characters.")
    body, mentioned = context.rewrite(note.body)
    if note.system and labels:
        body = _LABEL.sub(lambda match: f"~{labels.get(match[1], match[1])}", body)
    on_merge_request = change.subject.kind == "merge_request"
    position = _position(note.position, change.subject.commits) if on_merge_request else None
    original = _position(note.original_position, change.subject.commits) if on_merge_request else None
    columns = dict(_NO_POSITION)
    if position is not None:
        columns |= _position_columns(position, note.position)
        columns["original_position"] = (
            _position_columns(original, note.original_position)["position"] if original else columns["position"]
        )
    resolved = on_merge_request and note.resolved and not note.system
    columns |= {
        "body": body or "…",
        "type": _type(change, on_line=position is not None),
        "internal": note.internal,
        "action": _action(note),
        "updated_at": max(moment(note.updated_at, change.created_at), change.created_at),
        "resolved_at": moment(note.resolved_at, change.created_at) if resolved else None,
        "resolved_by_id": context.user_or_none(note.resolved_by) if resolved else None,
    }
    return columns, () if note.system else mentioned


def _type(change: _NoteChange, *, on_line: bool) -> str | None:
    if on_line:
        return DIFF_NOTE
    individual = change.discussion.individual_note or change.note.system
    return None if individual and not change.note.resolvable else IN_DISCUSSION


_ACTIONS = {
    "mentioned in ": MENTION,
    "changed title": "title",
    "changed the description": "description",
    "assigned to": "assignee",
    "unassigned": "assignee",
    "requested review": "reviewer",
    "removed review": "reviewer",
    "changed milestone": "milestone",
    "removed milestone": "milestone",
    "changed due date": "due_date",
    "removed due date": "due_date",
    "closed": "closed",
    "reopened": "opened",
    "merged": "merged",
    "approved": "approved",
    "unapproved": "unapproved",
    "resolved all threads": "discussion",
}


def _action(note: NoteRecord) -> str | None:
    """Return the kind of change of a system note; the beginning of its text tells it if the source does not."""
    if not note.system or note.action:
        return note.action if note.system else None
    return next((action for start, action in _ACTIONS.items() if note.body.startswith(start)), None)


def _position(record: PositionRecord | None, commits: PreparedMergeRequest) -> DiffPosition | None:
    if record is None or not record.new_path:
        return None
    base_sha = record.base_sha
    if base_sha == record.start_sha:
        # Some sources know only the commit of the target branch; lines are counted from the merge base.
        bases = {version.head_oid: version.base_oid for version in commits.versions}
        base_sha = bases.get(record.head_sha) or base_sha
    try:
        line_range = msgspec.convert(record.line_range, LineRange) if record.line_range else None
    except msgspec.ValidationError:
        line_range = None
    kind = record.position_type if record.position_type in ("text", "image", "file") else "text"
    return DiffPosition(
        base_sha=None if base_sha in commits.missing else base_sha,
        start_sha=None if record.start_sha in commits.missing else record.start_sha,
        head_sha=record.head_sha,
        old_path=record.old_path or record.new_path,
        new_path=record.new_path,
        position_type=kind,  # type: ignore[arg-type] # One of the literals.
        old_line=bounded(record.old_line) or None,
        new_line=bounded(record.new_line) or None,
        line_range=line_range,
    )


def _position_columns(position: DiffPosition, record: PositionRecord | None) -> dict[str, Any]:
    columns = position_columns(position)
    if record is not None and position.position_type == "image":
        point = {name: getattr(record, name) for name in ("width", "height", "x", "y")}
        columns["position"] = msgspec.json.encode(msgspec.to_builtins(position) | point).decode()
    return columns


def _store_suggestions(context: StoreContext, changes: Sequence[_NoteChange], note_ids: Sequence[int]) -> None:
    rows: list[dict[str, Any]] = []
    existing: list[int] = []
    for change, note_id in zip(changes, note_ids, strict=True):
        found = _suggestions(change)
        rows += [{"note_id": note_id, "relative_order": order, **row} for order, row in enumerate(found)]
        if change.local_id is not None:
            existing.append(note_id)
    if rows or existing:
        replace_rows(context.db, _SUGGESTIONS, existing, rows)


def _suggestions(change: _NoteChange) -> list[dict[str, Any]]:
    note, position = change.note, change.note.position
    if note.suggestions:
        return [
            {
                "lines_above": bounded(each.lines_above),
                "lines_below": bounded(each.lines_below),
                "from_content": each.from_content,
                "to_content": each.to_content,
                "applied": each.applied,
                "commit_oid": each.commit_sha,
                "outdated": each.outdated,
            }
            for each in note.suggestions
        ]
    lines = change.subject.commits.lines.get((position.head_sha, position.new_path)) if position else None
    if position is None or lines is None or not 0 < (position.new_line or 0) <= len(lines):
        return []
    state = {"applied": False, "commit_oid": None, "outdated": False}
    blocks = suggestion_blocks(note.body)
    return [{**suggestion_columns(block, position.new_line or 1, lines), **state} for block in blocks]
