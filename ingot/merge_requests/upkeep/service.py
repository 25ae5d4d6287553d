"""Editing merge requests, closing and reopening them, and taking them away."""

from typing import Any

from msgspec import UNSET

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.issues.clock import Clock
from ingot.issues.service import drop_subject, labels_titled, usable_milestone_id, validate_texts
from ingot.labels.queries import labels_of
from ingot.labels.service import set_labels
from ingot.merge_requests import policy, service
from ingot.merge_requests.events import Action
from ingot.merge_requests.filters import KIND
from ingot.merge_requests.params import EditMergeRequest
from ingot.merge_requests.queries import assignees_of, reviewers_of
from ingot.merge_requests.service import announce, hold_merge_request, subject_of, write_merge_request
from ingot.merge_requests.tables import MergeRequest, merge_requests
from ingot.merge_requests.versions.looking import Looked
from ingot.merge_requests.versions.service import add_version
from ingot.merge_requests.versions.tracking import ask_to_collect
from ingot.projects.tables import Project

Changes = dict[str, tuple[object, object]]


def edit_merge_request(
    db: Connection, actor: Actor, found: policy.Found, wanted: EditMergeRequest, looked: Looked | None
) -> MergeRequest:
    """Change what was sent, and announce it; a wish that only developers have is passed over for others.

    ``looked`` is what git says of it as it is to be, where that takes another look; without it git is asked afterwards.
    """
    project, before = found.project, hold_merge_request(db, found.merge_request)
    triages = policy.may_triage(actor, found.here, project)
    columns = _columns(db, project, before, wanted, triages=triages)
    changes: Changes = {name: (getattr(before, name), value) for name, value in columns.items()}
    if triages:
        changes |= _change_labels(db, project, before, wanted) | _change_people(db, project, before, wanted)
    action = _state_action(before, wanted)
    if action is not None:
        columns |= _state_columns(db, actor, action)
        changes["state"] = (before.state, columns["state"])
    if looked is not None and ("target_branch" in columns or action == "reopened"):
        columns |= _new_version(db, actor, before, looked)
    elif "target_branch" in columns:
        add_version(db, before.id, actor.user_id, before.head_oid)
        ask_to_collect(db, before.id)
    _refuse_twin(db, before, columns, action)
    if not changes:
        return before
    edited = write_merge_request(db, before, columns)
    announce(db, actor.user_id, edited, action or "updated", changes)
    return edited


def _refuse_twin(db: Connection, before: MergeRequest, columns: dict[str, Any], action: Action | None) -> None:
    """Whatever becomes open between two branches must be the only one."""
    open_then = columns.get("state", before.state) == "opened"
    if open_then and before.source_project_id is not None and ("target_branch" in columns or action == "reopened"):
        branch = columns.get("target_branch", before.target_branch)
        service.refuse_twin(db, before.source_project_id, before.source_branch, before.target_project_id, branch)


def _new_version(db: Connection, actor: Actor, before: MergeRequest, looked: Looked) -> dict[str, Any]:
    """What is compared differs from now on: from another branch, or to a head that nobody followed meanwhile."""
    add_version(db, before.id, actor.user_id, looked)
    ask_to_collect(db, before.id)
    return {"head_oid": looked.head_oid}


def _columns(
    db: Connection, project: Project, before: MergeRequest, wanted: EditMergeRequest, *, triages: bool
) -> dict[str, Any]:
    """The columns that are to change, and what to."""
    columns: dict[str, Any] = {}
    if wanted.title not in (UNSET, None):
        validate_texts(wanted.title, None)
        columns["title"] = wanted.title.strip()
    if wanted.description is not UNSET:
        validate_texts(None, wanted.description)
        columns["description"] = wanted.description or None
    if wanted.target_branch not in (UNSET, None) and before.state == "opened":
        columns["target_branch"] = wanted.target_branch
    for name in ("remove_source_branch", "squash"):
        if getattr(wanted, name) not in (UNSET, None):
            columns[name] = getattr(wanted, name)
    if project.squash_option in ("always", "never"):
        columns.pop("squash", None)
    if triages:
        if wanted.milestone_id is not UNSET:
            columns["milestone_id"] = usable_milestone_id(db, project, wanted.milestone_id)
        if wanted.discussion_locked not in (UNSET, None):
            columns["discussion_locked"] = wanted.discussion_locked
    return {name: value for name, value in columns.items() if value != getattr(before, name)}


def _state_action(before: MergeRequest, wanted: EditMergeRequest) -> Action | None:
    if wanted.state_event == "close" and before.state == "opened":
        return "closed"
    return "reopened" if wanted.state_event == "reopen" and before.state == "closed" else None


def _state_columns(db: Connection, actor: Actor, action: Action) -> dict[str, Any]:
    if action == "closed":
        # What is closed is not merged later by itself either.
        later = {"merge_when_pipeline_succeeds": False, "merge_user_id": None, "merge_params": None}
        return {"state": "closed", "closed_at": db.now, "closed_by_id": actor.user_id, **later}
    return {"state": "opened", "closed_at": None, "closed_by_id": None}


def _change_labels(db: Connection, project: Project, held: MergeRequest, wanted: EditMergeRequest) -> Changes:
    if wanted.labels is UNSET and not wanted.add_labels and not wanted.remove_labels:
        return {}
    before = labels_of(db, KIND, [held.id]).get(held.id, [])
    titles = [label.title for label in before]
    if wanted.labels is not UNSET:
        titles = wanted.labels or []
    titles = [title for title in titles if title not in (wanted.remove_labels or ())] + (wanted.add_labels or [])
    after = labels_titled(db, project, titles)
    added, removed = set_labels(db, subject_of(held), after)
    if not added and not removed:
        return {}
    return {"labels": ([label.id for label in before], [label.id for label in after])}


def _change_people(db: Connection, project: Project, held: MergeRequest, wanted: EditMergeRequest) -> Changes:
    changes: Changes = {}
    assignees, reviewers = service.assignee_ids(wanted), service.reviewer_ids(wanted)
    if assignees is not None:
        before = assignees_of(db, [held.id]).get(held.id, [])
        changes["assignees"] = before, service.set_assignees(db, project, held, assignees)
    if reviewers is not None:
        before = reviewers_of(db, [held.id]).get(held.id, [])
        changes["reviewers"] = before, service.set_reviewers(db, project, held, reviewers)
    return {name: (before, after) for name, (before, after) in changes.items() if before != after}


def delete_merge_request(db: Connection, actor: Actor, merge_request: MergeRequest) -> None:
    """Take a merge request away for everybody; its number is never given again."""
    held = hold_merge_request(db, merge_request)
    forget_merge_request(db, held)
    db.update(merge_requests, held.id, deleted_at=db.now)
    ask_to_collect(db, held.id)
    announce(db, actor.user_id, held, "deleted")


def forget_merge_request(db: Connection, merge_request: MergeRequest) -> None:
    """What goes with a merge request besides its row: it counts no more, and nothing is linked to it."""
    service.count(db, merge_request, None)
    drop_subject(db, subject_of(merge_request))


def _write_time(db: Connection, actor: Actor, held: MergeRequest, column: str, seconds: int) -> MergeRequest:
    written = write_merge_request(db, held, {column: seconds})
    announce(db, actor.user_id, written, "updated", {column: (getattr(held, column), seconds)})
    return written


CLOCK = Clock(hold_merge_request, _write_time)
