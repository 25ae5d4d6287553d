"""Payloads of issues, milestones and notes."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.tables import User
from ingot.collaboration.issues.queries import assignees_of
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.labels.queries import labels_of, usable_labels_by_ids
from ingot.collaboration.milestones.tables import Milestone
from ingot.collaboration.notes.tables import Note
from ingot.collaboration.planning.durations import format_duration
from ingot.collaboration.snippets.tables import Snippet, SnippetFile
from ingot.core.db.connection import Connection
from ingot.git.history.commits import Commit
from ingot.projects.groups.service import VISIBILITY_ORDER
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import InstanceUrls
from ingot.webhooks.payloads.parts import (
    Payload,
    commit_part,
    iso,
    iso_or_none,
    label_parts,
    project_part,
    project_url,
    repository_part,
    user_part,
    utc_text,
)

ISSUE_ACTIONS = {"opened": "open", "updated": "update", "closed": "close", "moved": "close", "reopened": "reopen"}
MILESTONE_ACTIONS = {"created": "create", "closed": "close", "reopened": "reopen"}
NOTEABLE = {"commit": "Commit", "issue": "Issue", "merge_request": "MergeRequest", "snippet": "Snippet"}
Changes = Mapping[str, tuple[object, object]]


class EventContext(NamedTuple):
    """Project, acting user and URLs of an event."""

    project: Project
    user: User | None
    urls: InstanceUrls


def issue_payload(db: Connection, context: EventContext, issue: Issue, action: str, changes: Changes) -> Payload:
    """Return the payload of an opened, closed or changed issue."""
    assigned = assignees_of(db, [issue.id]).get(issue.id, [])
    labels = labels_of(db, "issue", [issue.id]).get(issue.id, [])
    users = users_by_ids(db, assigned)
    project_data = project_part(context.project, context.urls)
    url = f"{project_url(context.project, context.urls)}/issues/{issue.iid}"
    payload: Payload = {
        "object_kind": "issue",
        "event_type": "confidential_issue" if issue.confidential else "issue",
        "user": user_part(context.user, context.urls),
        "project": project_data,
        "object_attributes": {**issue_part(issue, assigned), "url": url, "action": ISSUE_ACTIONS[action]},
        "labels": label_parts(labels),
        "changes": changes_part(db, context, changes),
        "repository": repository_part(project_data),
    }
    parts = [user_part(users[user_id], context.urls) for user_id in assigned if user_id in users]
    if parts:
        payload |= {"assignees": parts, "assignee": parts[0]}
    return payload


def milestone_payload(context: EventContext, milestone: Milestone, action: str) -> Payload:
    """Return the payload of a created, closed or reopened milestone."""
    return {
        "object_kind": "milestone",
        "event_type": "milestone",
        "project": project_part(context.project, context.urls),
        "object_attributes": {
            "id": milestone.id,
            "iid": milestone.iid,
            "title": milestone.title,
            "description": milestone.description,
            "state": milestone.state,
            "created_at": utc_text(milestone.created_at),
            "updated_at": utc_text(milestone.updated_at),
            "due_date": milestone.due_date,
            "start_date": milestone.start_date,
            "group_id": None,
            "project_id": milestone.project_id,
        },
        "action": MILESTONE_ACTIONS[action],
    }


def issue_part(issue: Issue, assigned: Sequence[int]) -> Payload:
    """Return the attributes of an issue."""
    return {
        "id": issue.id,
        "title": issue.title,
        "assignee_ids": list(assigned),
        "assignee_id": assigned[0] if assigned else None,
        "author_id": issue.author_id,
        "project_id": issue.project_id,
        "created_at": iso(issue.created_at),
        "updated_at": iso(issue.updated_at),
        "position": 0,
        "branch_name": None,
        "description": issue.description,
        "milestone_id": issue.milestone_id,
        "state": issue.state,
        "iid": issue.iid,
        "confidential": issue.confidential,
        "due_date": issue.due_date,
        "closed_at": iso_or_none(issue.closed_at),
        "moved_to_id": issue.moved_to_id,
        "discussion_locked": issue.discussion_locked,
        "relative_position": issue.position,
        "time_estimate": issue.time_estimate,
        "total_time_spent": issue.total_time_spent,
        "human_time_estimate": format_duration(issue.time_estimate),
        "human_total_time_spent": format_duration(issue.total_time_spent),
    }


def changes_part(db: Connection, context: EventContext, changes: Changes) -> Payload:
    """Return the previous and current values by field."""
    part: Payload = {}
    for name, values in changes.items():
        if name == "labels":
            part[name] = _change(
                *(label_parts(usable_labels_by_ids(db, context.project, _numbers(ids))) for ids in values)
            )
        elif name in ("assignees", "reviewers"):
            part[name] = _change(*(_user_parts(db, context, _numbers(ids)) for ids in values))
        else:
            part[name] = _change(*values)
    return part


def _user_parts(db: Connection, context: EventContext, user_ids: Sequence[int]) -> list[Payload | None]:
    users = users_by_ids(db, user_ids) if user_ids else {}
    return [user_part(users[number], context.urls) for number in user_ids if number in users]


def note_payload(context: EventContext, note: Note, subject: Payload, url: str) -> Payload:
    """Return the payload of a note; ``subject`` is the part of the object that it is about."""
    project_data = project_part(context.project, context.urls)
    return {
        "object_kind": "note",
        "event_type": "confidential_note" if note.internal else "note",
        "user": user_part(context.user, context.urls),
        "project_id": context.project.id,
        "project": project_data,
        "object_attributes": {
            "id": note.id,
            "note": note.body,
            "noteable_type": NOTEABLE[note.subject_kind],
            "author_id": note.author_id,
            "created_at": utc_text(note.created_at),
            "updated_at": utc_text(note.updated_at),
            "project_id": context.project.id,
            "attachment": None,
            "line_code": None,
            "commit_id": note.commit_oid or "",
            "noteable_id": note.subject_id,
            "system": note.system,
            "st_diff": None,
            "discussion_id": note.discussion_id,
            "type": note.shown_type,
            "position": _position(note),
            "internal": note.internal,
            "action": "create",
            "url": f"{url}#note_{note.id}",
        },
        "repository": repository_part(project_data),
        **subject,
    }


def commit_subject(commit: Commit | None, context: EventContext) -> Payload:
    """Return the part of the commit that a note is about."""
    return {"commit": None if commit is None else commit_part(commit, project_url(context.project, context.urls))}


def issue_subject(db: Connection, issue: Issue) -> Payload:
    """Return the part of the issue that a note is about."""
    part = issue_part(issue, assignees_of(db, [issue.id]).get(issue.id, []))
    return {"issue": {**part, "created_at": utc_text(issue.created_at), "updated_at": utc_text(issue.updated_at)}}


def snippet_subject(snippet: Snippet, file: SnippetFile) -> Payload:
    """Return the part of the snippet that a note is about."""
    return {
        "snippet": {
            "id": snippet.id,
            "title": snippet.title,
            "content": file.content,
            "author_id": snippet.author_id,
            "project_id": snippet.project_id,
            "created_at": utc_text(snippet.created_at),
            "updated_at": utc_text(snippet.updated_at),
            "file_name": file.path,
            "expires_at": None,
            "type": "ProjectSnippet" if snippet.project_id is not None else "PersonalSnippet",
            "visibility_level": VISIBILITY_ORDER[snippet.visibility],
            "description": snippet.description,
        }
    }


def _change(before: Any, after: Any) -> Payload:
    return {"previous": before, "current": after}


def _numbers(ids: object) -> list[int]:
    return [number for number in ids if isinstance(number, int)] if isinstance(ids, list | tuple) else []


def _position(note: Note) -> Payload | None:
    if note.new_path is None:
        return None
    names = ("old_path", "new_path", "old_line", "new_line")
    # Notes on merge requests also store the commits of the diff.
    commits: Payload = msgspec.json.decode(note.position) if note.position else {}
    return {**commits, **{name: getattr(note, name) for name in names}}
