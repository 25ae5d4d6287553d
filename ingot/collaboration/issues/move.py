"""Moving of issues: the copy in the target project, and the closed original."""

import re
import secrets
from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple

from ingot.collaboration.emoji.copies import copy_awards
from ingot.collaboration.issues import policy
from ingot.collaboration.issues.events import IssueMoved
from ingot.collaboration.issues.hierarchy import relatives, replace_in_hierarchy
from ingot.collaboration.issues.queries import assignees_of, issue_by_id
from ingot.collaboration.issues.reference_rewrite import qualify_references
from ingot.collaboration.issues.service import (
    add_issue,
    emit_issue_changed,
    lock_issue_row,
    set_assignees,
    subject_of,
    write_issue,
)
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.labels.queries import labels_of, usable_labels
from ingot.collaboration.labels.service import set_labels
from ingot.collaboration.milestones.queries import milestones_by_ids, usable_milestone_by_title
from ingot.collaboration.notes.copies import copy_notes, notes_on
from ingot.collaboration.planning.timelogs.service import copy_timelogs
from ingot.core.access.actor import Actor
from ingot.core.access.rules import require
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, Invalid
from ingot.core.events.bus import emit
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.projects.uploads.files import UploadFiles
from ingot.projects.uploads.queries import upload_or_none
from ingot.projects.uploads.service import UploadedFile, add_upload
from ingot.projects.uploads.tables import StoredUpload

MAX_UPLOADS = 200
# Matches a link only if its whole URL is an upload of the project; the file name must not contain a path.
_UPLOAD = re.compile(r"(?<=\]\()/uploads/([0-9a-f]{32})/([^\s()/\\]{1,255})(?=\))")
NOT_PERMITTED = "The issue cannot be moved: you must be a reporter of both projects, and neither may be archived"
SAME_PROJECT = "The issue is already in this project"
ALREADY_MOVED = "The issue has already been moved"


class CopiedUpload(NamedTuple):
    """Upload of the source project, and its copied file in the target project."""

    source: StoredUpload
    file: UploadedFile


def find_move_target(db: Connection, actor: Actor, lookup: policy.IssueLookup, project_id: int) -> Project:
    """Return the project to move an issue to; raise ``NotFound``, ``Invalid`` or ``Denied`` if that is not possible."""
    target_access, target = find_project(db, actor, project_id)
    require(policy.may_move_issue(actor, lookup.access, lookup), NOT_PERMITTED)
    if target.id == lookup.project.id:
        raise Invalid(SAME_PROJECT)
    require(policy.may_receive_issue(actor, target_access, target), NOT_PERMITTED)
    if lookup.issue.moved_to_id is not None:
        raise Denied(ALREADY_MOVED)
    return target


def mentioned_uploads(db: Connection, lookup: policy.IssueLookup) -> list[StoredUpload]:
    """Return the uploads of its project that an issue and its notes link to."""
    texts = (lookup.issue.description or "", *(note.body for note in notes_on(db, subject_of(lookup.issue))))
    mentioned = {match.groups() for text in texts for match in _UPLOAD.finditer(text)}
    uploads = (upload_or_none(db, lookup.project, secret) for secret, _ in islice(sorted(mentioned), MAX_UPLOADS))
    return [upload for upload in uploads if upload is not None]


def copy_uploads(files: UploadFiles, uploads: Iterable[StoredUpload], target: Project) -> list[CopiedUpload]:
    """Copy files before the transaction that adds their rows; skip files that no longer exist."""
    copied = []
    for upload in uploads:
        secret = secrets.token_hex(16)
        try:
            with files.open(upload.project_id, upload.secret, upload.name) as content:
                size = files.store(target.id, secret, upload.name, content)
        except FileNotFoundError:
            continue
        copied.append(CopiedUpload(upload, UploadedFile(secret, upload.name, size)))
    return copied


def move_issue(
    db: Connection,
    actor: Actor,
    lookup: policy.IssueLookup,
    target: Project,
    copied: Iterable[CopiedUpload],
    *,
    links_stay: bool = False,
) -> Issue:
    """Copy an issue with its notes into ``target``, then close the original and set its reference to the copy.

    Its tasks move with it. A task that moves alone stays part of its issue.
    ``links_stay`` is for moves without copied uploads: links then refer to the uploads of the source project.
    """
    # Without these locks, two moves in opposite directions would deadlock on the counts.
    for project_id in sorted((lookup.project.id, target.id)):
        db.lock(f"moves of issues {project_id}")
    original = lock_issue_row(db, lookup.issue)
    if original.moved_to_id is not None:
        raise Denied(ALREADY_MOVED)
    relink = _relink_uploads(db, actor, target, copied, f"/{lookup.project.full_path}" if links_stay else "")
    texts = (original.description or "", *(note.body for note in notes_on(db, subject_of(original))))
    rename = qualify_references(db, actor, lookup.project, texts)

    def reword(text: str) -> str:
        return relink(rename(text))

    copy = _copy(db, original, target, reword)
    assignees = set_assignees(db, target, copy, assignees_of(db, [original.id]).get(original.id, []), ())
    titles = [label.title for label in labels_of(db, "issue", [original.id]).get(original.id, [])]
    labels = list(usable_labels(db, target, titles).values())
    set_labels(db, subject_of(copy), labels)
    copy_notes(db, subject_of(original), subject_of(copy), reword)
    copy_awards(db, subject_of(original), subject_of(copy))
    copy_timelogs(db, subject_of(original), subject_of(copy))
    _move_tasks(db, actor, lookup._replace(issue=original), target)
    replace_in_hierarchy(db, original.id, copy.id)
    _close(db, actor, original, copy)
    emit_issue_changed(db, actor, copy, "opened", assignees=assignees, labels=labels)
    emit(db, IssueMoved(original.id, copy.id, actor.user_id))
    return issue_by_id(db, copy.id)


def _move_tasks(db: Connection, actor: Actor, lookup: policy.IssueLookup, target: Project) -> None:
    """Move the tasks of an issue that are in its project; their links refer to the uploads of the source project."""
    for task in relatives(db, actor, lookup.issue)[1]:
        if task.project_id == lookup.project.id and task.moved_to_id is None:
            move_issue(db, actor, lookup._replace(issue=task), target, (), links_stay=True)


def _relink_uploads(
    db: Connection, actor: Actor, target: Project, copied: Iterable[CopiedUpload], origin: str
) -> Callable[[str], str]:
    """Add rows for the copied files; return a function that replaces upload links in a text."""
    links = {}
    for source, file in copied:
        add_upload(db, actor, target, file)
        links[source.secret, source.name] = file.secret

    def link(match: re.Match[str]) -> str:
        secret, name = match.groups()
        copied_secret = links.get((secret, name))
        return f"/uploads/{copied_secret}/{name}" if copied_secret else f"{origin}/uploads/{secret}/{name}"

    return lambda text: _UPLOAD.sub(link, text)


def _copy(db: Connection, original: Issue, target: Project, reword: Callable[[str], str]) -> Issue:
    """Add the row in the target project; author and creation time are those of the original."""
    return add_issue(
        db,
        target,
        title=original.title,
        description=reword(original.description) if original.description else None,
        author_id=original.author_id,
        confidential=original.confidential,
        state=original.state,
        closed_at=original.closed_at,
        closed_by_id=original.closed_by_id,
        milestone_id=_milestone_id(db, original, target),
        due_date=original.due_date,
        discussion_locked=original.discussion_locked,
        issue_type=original.issue_type,
        severity=original.severity,
        user_notes_count=original.user_notes_count,
        upvotes=original.upvotes,
        downvotes=original.downvotes,
        time_estimate=original.time_estimate,
        total_time_spent=original.total_time_spent,
        created_at=original.created_at,
        updated_at=db.now,
    )


def _milestone_id(db: Connection, original: Issue, target: Project) -> int | None:
    if original.milestone_id is None:
        return None
    milestone = milestones_by_ids(db, [original.milestone_id])[original.milestone_id]
    usable = usable_milestone_by_title(db, target, milestone.title)
    return usable.id if usable else None


def _close(db: Connection, actor: Actor, original: Issue, copy: Issue) -> None:
    columns: dict[str, object] = {"moved_to_id": copy.id}
    changes: dict[str, tuple[object, object]] = {"moved_to_id": (None, copy.id)}
    if original.state == "opened":
        columns |= {"state": "closed", "closed_at": db.now, "closed_by_id": actor.user_id}
        changes["state"] = ("opened", "closed")
    write_issue(db, original, columns, db.now)
    emit_issue_changed(db, actor, issue_by_id(db, original.id), "moved", changes)
