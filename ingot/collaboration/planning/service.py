"""State changes that issues and merge requests share."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from ingot.accounts.users.queries import users_by_ids
from ingot.collaboration.emoji.service import delete_awards
from ingot.collaboration.labels.service import delete_label_links, find_or_create_labels, set_labels, title_error
from ingot.collaboration.labels.tables import Label
from ingot.collaboration.milestones.queries import usable_milestone
from ingot.collaboration.notes.service import delete_notes
from ingot.collaboration.participants.events import SubjectDropped
from ingot.collaboration.participants.service import delete_mentioned_users
from ingot.collaboration.planning.params import IssuableAttributes
from ingot.collaboration.planning.timelogs.service import delete_timelogs
from ingot.collaboration.resource_events.service import delete_resource_events
from ingot.collaboration.subjects import Subject
from ingot.collaboration.subscriptions.service import delete_subscriptions
from ingot.collaboration.todos.service import delete_todos
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, too_long_message
from ingot.core.events.bus import emit
from ingot.projects.projects.queries import user_access_or_none
from ingot.projects.projects.tables import Project

MAX_TITLE = 255
MAX_DESCRIPTION = 1_000_000
MAX_LABELS = 100


def validate_texts(title: str | None, description: Any) -> None:
    """Raise ``Invalid`` for a blank title, or for a title or description that is too long."""
    if title is not None and not title.strip():
        raise Invalid(title=["can't be blank"])
    if title is not None and len(title.strip()) > MAX_TITLE:
        raise Invalid(title=[too_long_message(MAX_TITLE)])
    if isinstance(description, str) and len(description) > MAX_DESCRIPTION:
        raise Invalid(description=[too_long_message(MAX_DESCRIPTION)])


def find_milestone_id(db: Connection, project: Project, requested: int | UnsetType | None) -> int | None:
    """Return the id of a milestone that the project can use, or None if none or 0 is requested; raise ``Invalid``."""
    if requested is UNSET or not requested:
        return None
    milestone = usable_milestone(db, project, requested)
    if milestone is None:
        raise Invalid(milestone_id=["is invalid"])
    return milestone.id


def ensure_labels(db: Connection, project: Project, titles: Sequence[str]) -> list[Label]:
    """Return the labels with these titles, each once; create the missing ones."""
    unique_titles = list(dict.fromkeys(stripped for title in titles if (stripped := title.strip())))
    if len(unique_titles) > MAX_LABELS:
        raise Invalid(labels=[f"cannot be more than {MAX_LABELS}"])
    for title in unique_titles:
        error = title_error(title)
        if error is not None:
            raise Invalid(labels=[error])
    return find_or_create_labels(db, project, unique_titles, may_add=True)


def replace_labels(
    db: Connection, project: Project, subject: Subject, before: Sequence[Label], titles: Sequence[str]
) -> dict[str, tuple[object, object]]:
    """Set the labels of a subject by title; return the change for its event, empty if there is none."""
    after = ensure_labels(db, project, titles)
    added, removed = set_labels(db, subject, after)
    if not added and not removed:
        return {}
    return {"labels": ([label.id for label in before], [label.id for label in after])}


def requested_assignees(params: IssuableAttributes, most: int | None = None) -> list[int] | None:
    """Return the ids of the requested assignees, at most ``most``, or None if the request does not change them.

    The id 0 means no assignee.
    """
    if params.assignee_ids is not UNSET:
        users = (params.assignee_ids or [])[:most]
    elif params.assignee_id is not UNSET:
        users = [params.assignee_id] if params.assignee_id else []
    else:
        return None
    return [] if users == [0] else users


def assignable_users(db: Connection, project: Project, user_ids: Sequence[int]) -> list[int]:
    """Return the ids of the active users among these who may see the project.

    Other ids are ignored instead of refused, so that a request does not reveal which users exist.
    """
    users = users_by_ids(db, user_ids)
    return [
        user_id
        for user_id in dict.fromkeys(user_ids)
        if user_id in users and users[user_id].state == "active" and user_access_or_none(db, users[user_id], project)
    ]


def drop_subject(db: Connection, subject: Subject) -> None:
    """Delete everything that belongs to a deleted subject, such as labels, notes, award emoji, todos and timelogs."""
    subject_id = subject.id or 0
    delete_label_links(db, subject)
    delete_subscriptions(db, subject.kind, subject_id)
    note_ids = delete_notes(db, subject)
    delete_awards(db, subject.kind, [subject_id])
    delete_resource_events(db, subject)
    delete_todos(db, subject)
    delete_timelogs(db, subject)
    delete_mentioned_users(db, subject)
    emit(db, SubjectDropped(subject, tuple(note_ids)))
