"""Variables of merge requests in their pipelines."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ingot.accounts.users.queries import users_by_ids
from ingot.ci.pipelines.predefined_variables import MAX_MESSAGE_LENGTH, flag_text
from ingot.ci.pipelines.ref_protection import is_protected_ref
from ingot.collaboration.labels.queries import labels_of
from ingot.collaboration.merge_requests.draft_titles import is_draft
from ingot.collaboration.merge_requests.queries import assignees_of, latest_version, open_merge_requests_from
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.core.db.connection import Connection
from ingot.pipelines.tables import TRAIN_SUFFIX, MergeRequestEventType
from ingot.projects.projects.queries import paths_of_projects

_MAX_OPEN = 4


class TestedResult(NamedTuple):
    """The merge result that a pipeline of a merge request tests."""

    ref: str
    source_sha: str
    target_sha: str

    @property
    def event_type(self) -> MergeRequestEventType:
        """Value of ``CI_MERGE_REQUEST_EVENT_TYPE``."""
        return "merge_train" if self.ref.endswith(TRAIN_SUFFIX) else "merged_result"


def head_ref(merge_request: MergeRequest) -> str:
    """Return the ref of the pipelines of a merge request."""
    return f"refs/merge-requests/{merge_request.iid}/head"


def open_merge_request_names(db: Connection, project_id: int, branch: str) -> str:
    """Return references to the open merge requests of a branch, separated by commas."""
    found = open_merge_requests_from(db, project_id, [branch])[:_MAX_OPEN]
    paths = paths_of_projects(db, [each.target_project_id for each in found])
    return ",".join(f"{paths[each.target_project_id]}!{each.iid}" for each in found)


def merge_request_variables(
    db: Connection, merge_request: MergeRequest, base_url: str, tested: TestedResult | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the variables of a merge request; without ``tested`` its head is tested."""
    source_id, target_id = merge_request.source_project_id or 0, merge_request.target_project_id
    paths = paths_of_projects(db, [target_id, source_id])
    version = latest_version(db, merge_request.id)
    yield "CI_MERGE_REQUEST_ID", str(merge_request.id)
    yield "CI_MERGE_REQUEST_IID", str(merge_request.iid)
    yield "CI_MERGE_REQUEST_REF_PATH", head_ref(merge_request)
    yield "CI_MERGE_REQUEST_EVENT_TYPE", tested.event_type if tested else "detached"
    yield "CI_MERGE_REQUEST_PROJECT_ID", str(target_id)
    yield "CI_MERGE_REQUEST_PROJECT_PATH", paths.get(target_id, "")
    yield "CI_MERGE_REQUEST_PROJECT_URL", f"{base_url}/{paths.get(target_id, '')}"
    yield "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", merge_request.target_branch
    yield "CI_MERGE_REQUEST_TARGET_BRANCH_SHA", tested.target_sha if tested else ""
    protected = is_protected_ref(db, target_id, merge_request.target_branch, is_tag=False)
    yield "CI_MERGE_REQUEST_TARGET_BRANCH_PROTECTED", flag_text(protected)
    yield "CI_MERGE_REQUEST_SOURCE_PROJECT_ID", str(source_id)
    yield "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", paths.get(source_id, "")
    yield "CI_MERGE_REQUEST_SOURCE_PROJECT_URL", f"{base_url}/{paths.get(source_id, '')}"
    yield "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", merge_request.source_branch
    yield "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", tested.source_sha if tested else ""
    protected = is_protected_ref(db, source_id, merge_request.source_branch, is_tag=False)
    yield "CI_MERGE_REQUEST_SOURCE_BRANCH_PROTECTED", flag_text(protected)
    yield "CI_MERGE_REQUEST_TITLE", merge_request.title
    yield "CI_MERGE_REQUEST_DESCRIPTION", (merge_request.description or "")[:MAX_MESSAGE_LENGTH]
    truncated = len(merge_request.description or "") > MAX_MESSAGE_LENGTH
    yield "CI_MERGE_REQUEST_DESCRIPTION_IS_TRUNCATED", flag_text(truncated)
    yield "CI_MERGE_REQUEST_DRAFT", flag_text(is_draft(merge_request.title))
    yield "CI_MERGE_REQUEST_SQUASH_ON_MERGE", flag_text(merge_request.squash)
    if version is not None:
        yield "CI_MERGE_REQUEST_DIFF_ID", str(version.id)
        yield "CI_MERGE_REQUEST_DIFF_BASE_SHA", version.base_oid or ""
    yield from _people_and_plans(db, merge_request)


def _people_and_plans(db: Connection, merge_request: MergeRequest) -> Iterator[tuple[str, str]]:
    assignees: Sequence[int] = assignees_of(db, [merge_request.id]).get(merge_request.id, [])
    if assignees:
        users = users_by_ids(db, assignees)
        names = ", ".join(users[user_id].username for user_id in assignees if user_id in users)
        yield "CI_MERGE_REQUEST_ASSIGNEES", names
    labels = labels_of(db, "merge_request", [merge_request.id]).get(merge_request.id)
    if labels:
        yield "CI_MERGE_REQUEST_LABELS", ",".join(label.title for label in labels)
    if merge_request.milestone_id is not None:
        milestone = milestones_by_ids(db, [merge_request.milestone_id]).get(merge_request.milestone_id)
        yield "CI_MERGE_REQUEST_MILESTONE", milestone.title if milestone else ""
