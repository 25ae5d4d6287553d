"""What merge requests tell, from plain values: the room that keeps them stands beside this one."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ingot.db.times import Timestamp
from ingot.hooks.payloads.parts import Payload, iso, label_parts, project_part, project_url, repository_part, user_part
from ingot.hooks.payloads.talk import Scene
from ingot.labels.tables import Label
from ingot.projects.tables import Project
from ingot.users.accounts.tables import User

MERGE_REQUEST_ACTIONS = {
    "opened": "open",
    "updated": "update",
    "closed": "close",
    "reopened": "reopen",
    "merged": "merge",
}


class MergeRequestFacts(msgspec.Struct, frozen=True):
    """All that a payload says of a merge request."""

    id: int
    iid: int
    title: str
    description: str | None
    state: str
    source_branch: str
    target_branch: str
    source: Project | None
    target: Project
    author_id: int
    assignees: Sequence[User]
    milestone_id: int | None
    merge_status: str
    work_in_progress: bool
    last_commit: Payload | None
    """As ``commit_part`` gives it."""
    merge_commit_sha: str | None
    created_at: Timestamp
    updated_at: Timestamp
    labels: Sequence[Label] = ()
    more: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """Further attributes, such as times spent."""


def merge_request_payload(
    scene: Scene, facts: MergeRequestFacts, action: str, changes: Payload, oldrev: str | None = None
) -> Payload:
    """A merge request that was opened, changed, merged or closed; ``oldrev`` where new commits came."""
    shown = project_part(scene.project, scene.at)
    url = f"{project_url(scene.project, scene.at)}/merge_requests/{facts.iid}"
    told: Payload = {"url": url, "action": MERGE_REQUEST_ACTIONS[action]}
    if oldrev is not None:
        told["oldrev"] = oldrev
    people = [user_part(user, scene.at) for user in facts.assignees]
    payload: Payload = {
        "object_kind": "merge_request",
        "event_type": "merge_request",
        "user": user_part(scene.user, scene.at),
        "project": shown,
        "object_attributes": {**merge_request_part(scene, facts), **told},
        "labels": label_parts(list(facts.labels)),
        "changes": changes,
        "repository": repository_part(shown),
    }
    if people:
        payload |= {"assignee": people[0], "assignees": people}
        payload["object_attributes"]["assignee"] = people[0]
    return payload


def merge_request_part(scene: Scene, facts: MergeRequestFacts) -> Payload:
    """What is stored of a merge request; also what a note on one is about."""
    return {
        "id": facts.id,
        "target_branch": facts.target_branch,
        "source_branch": facts.source_branch,
        "source_project_id": facts.source.id if facts.source else None,
        "author_id": facts.author_id,
        "assignee_id": facts.assignees[0].id if facts.assignees else None,
        "assignee_ids": [user.id for user in facts.assignees],
        "title": facts.title,
        "created_at": iso(facts.created_at),
        "updated_at": iso(facts.updated_at),
        "st_commits": None,
        "st_diffs": None,
        "milestone_id": facts.milestone_id,
        "state": facts.state,
        "merge_status": facts.merge_status,
        "merge_commit_sha": facts.merge_commit_sha,
        "target_project_id": facts.target.id,
        "iid": facts.iid,
        "description": facts.description,
        "position": 0,
        "locked_at": None,
        "source": project_part(facts.source, scene.at) if facts.source else None,
        "target": project_part(facts.target, scene.at),
        "last_commit": facts.last_commit,
        "work_in_progress": facts.work_in_progress,
        **facts.more,
    }
