"""Parts of issues, merge requests and snippets in an export: notes, reactions, labels, milestones and events."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.accounts.users.tables import users
from ingot.collaboration.emoji.tables import award_emoji
from ingot.collaboration.labels.tables import label_links, label_priorities, labels
from ingot.collaboration.milestones.tables import milestones
from ingot.collaboration.notes.tables import notes, suggestions
from ingot.collaboration.planning.timelogs.tables import timelogs
from ingot.collaboration.resource_events.tables import resource_events
from ingot.collaboration.subscriptions.tables import follows
from ingot.import_export.exports.rows import Row, RowReader

MODEL_NAMES = {"issue": "Issue", "merge_request": "MergeRequest", "snippet": "Snippet", "note": "Note"}
"""GitLab's names of the kinds of subjects."""
_SUGGESTION_COLUMNS = ("relative_order", "lines_above", "lines_below", "from_content", "to_content", "applied")


class SubjectParts:
    """Rows that belong to some subjects of one kind, read with one statement for each table."""

    def __init__(self, reader: RowReader, project_id: int, kind: str, subjects: Sequence[Row]) -> None:
        ids = [subject["id"] for subject in subjects]
        self._model = MODEL_NAMES[kind]
        self._notes = reader.of_subjects(notes, kind, ids)
        all_notes = [note for group in self._notes.values() for note in group]
        self._note_parts = NoteParts(reader, all_notes)
        self._awards = reader.of_subjects(award_emoji, kind, ids)
        self._follows = reader.of_subjects(follows, kind, ids)
        self._links = reader.of_subjects(label_links, kind, ids)
        self._timelogs = reader.of_subjects(timelogs, kind, ids)
        self._events = reader.of_subjects(resource_events, kind, ids)
        events = [event for group in self._events.values() for event in group]
        links = [link for group in self._links.values() for link in group]
        self._labels = labels_by_id(reader, project_id, [row["label_id"] for row in (*links, *events)])
        milestone_ids = [row["milestone_id"] for row in (*subjects, *events) if row.get("milestone_id")]
        self._milestones = reader.by_ids(milestones, milestone_ids)

    def discussion_fields(self, subject: Row) -> Row:
        """Return the notes and reactions of a subject."""
        number = subject["id"]
        return {
            "award_emoji": [award_row(award, self._model) for award in self._awards[number]],
            "notes": [self._note_parts.note_row(note, self._model) for note in self._notes[number]],
        }

    def planning_fields(self, subject: Row) -> Row:
        """Return the labels, milestone, subscribers and resource events of an issue or merge request."""
        number = subject["id"]
        events = self._events[number]
        return {
            "label_links": [
                {"target_type": self._model, "label": self._labels[link["label_id"]]} for link in self._links[number]
            ],
            "milestone": self._milestone(subject["milestone_id"]),
            "subscriptions": [
                {"user_id": row["user_id"], "subscribed": row["following"], "created_at": row["created_at"]}
                for row in self._follows[number]
            ],
            "timelogs": _timelog_rows(subject, self._timelogs[number]),
            "resource_label_events": [
                {**_event_row(event), "action": event["action"], "label": self._label(event["label_id"])}
                for event in events
                if event["kind"] == "label"
            ],
            "resource_milestone_events": [
                {**_event_row(event), "action": event["action"], "milestone": self._milestone(event["milestone_id"])}
                for event in events
                if event["kind"] == "milestone"
            ],
            "resource_state_events": [
                {**_event_row(event), "state": event["action"]} for event in events if event["kind"] == "state"
            ],
        }

    def _label(self, number: int | None) -> Row | None:
        return None if number is None else self._labels[number]

    def _milestone(self, number: int | None) -> Row | None:
        return None if number is None else milestone_row(self._milestones[number])


class NoteParts:
    """Authors, reactions and suggestions of some notes."""

    def __init__(self, reader: RowReader, some_notes: Sequence[Row]) -> None:
        ids = [note["id"] for note in some_notes]
        self._awards = reader.of_subjects(award_emoji, "note", ids)
        self._suggestions = reader.children(suggestions, "note_id", ids)
        self._authors = reader.by_ids(users, [note["author_id"] for note in some_notes])

    def note_row(self, note: Row, model: str) -> Row:
        """Return a note."""
        action = note["action"]
        return {
            "id": note["id"],
            "note": note["body"],
            "noteable_type": model,
            "author_id": note["author_id"],
            "created_at": note["created_at"],
            "updated_at": note["updated_at"],
            "project_id": note["project_id"],
            "commit_id": note["commit_oid"],
            "system": note["system"],
            "type": note["type"],
            "position": _document(note["position"]),
            "original_position": _document(note["original_position"]),
            "resolved_at": note["resolved_at"],
            "resolved_by_id": note["resolved_by_id"],
            "discussion_id": note["discussion_id"],
            "confidential": note["internal"],
            "author": {"name": self._authors[note["author_id"]]["name"]},
            "award_emoji": [award_row(award, "Note") for award in self._awards[note["id"]]],
            "system_note_metadata": None if action is None else {"action": action, "created_at": note["created_at"]},
            "suggestions": [
                {
                    **{name: row[name] for name in _SUGGESTION_COLUMNS},
                    "commit_id": row["commit_oid"],
                    "outdated": row["outdated"],
                }
                for row in self._suggestions[note["id"]]
            ],
            "events": [],
        }


def award_row(award: Row, model: str) -> Row:
    """Return a reaction."""
    columns = ("id", "user_id", "name", "created_at", "updated_at")
    return {**{name: award[name] for name in columns}, "awardable_type": model}


def labels_by_id(reader: RowReader, project_id: int, ids: Sequence[int | None]) -> dict[int, Row]:
    """Return labels of a project and of its groups by their ids, with their priorities in the project."""
    known = [number for number in ids if number is not None]
    priorities = reader.children(label_priorities, "label_id", known)
    return {
        number: label_row(label, [row["priority"] for row in priorities[number] if row["project_id"] == project_id])
        for number, label in reader.by_ids(labels, known).items()
    }


def label_row(label: Row, priorities: Sequence[int] = ()) -> Row:
    """Return a label of a project or group."""
    columns = ("id", "title", "color", "project_id", "group_id", "description", "created_at", "updated_at")
    return {
        **{name: label[name] for name in columns},
        "template": False,
        "type": "ProjectLabel" if label["group_id"] is None else "GroupLabel",
        "priorities": [{"priority": priority} for priority in priorities],
    }


def milestone_row(milestone: Row) -> Row:
    """Return a milestone of a project or group."""
    columns = ("id", "iid", "title", "project_id", "group_id", "description", "state")
    dates = ("due_date", "start_date", "created_at", "updated_at")
    return {name: milestone[name] for name in (*columns, *dates)}


def _event_row(event: Row) -> Row:
    return {name: event[name] for name in ("id", "user_id", "created_at")}


def _timelog_rows(subject: Row, entries: Sequence[Row]) -> list[Row]:
    """Return the entries of the time that was spent; time without an entry becomes one of the author."""
    names = ("time_spent", "user_id", "summary", "spent_at", "created_at")
    rows = [{**{name: entry[name] for name in names}, "updated_at": entry["created_at"]} for entry in entries]
    rest = subject["total_time_spent"] - sum(entry["time_spent"] for entry in entries)
    if rest:
        moment = subject["updated_at"]
        columns = {"summary": None, "spent_at": moment, "created_at": moment, "updated_at": moment}
        rows.append({"time_spent": rest, "user_id": subject["author_id"], **columns})
    return rows


def _document(text: str | None) -> Any:
    return None if text is None else msgspec.json.decode(text)
