"""Response structs of merging."""

from typing import Literal, NamedTuple

from ingot.collaboration.merge_requests.merge.commit_messages import merge_message, squash_message
from ingot.collaboration.merge_requests.merge.queries import open_issues_to_close
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.projects.projects.tables import Project


class MergeRefusalView(View):
    """Reason why a merge request was not merged, as text and as a code."""

    message: str
    error_code: str


class CanceledMergeView(View):
    """Confirmation that a scheduled merge was canceled."""

    status: Literal["success"] = "success"


class MergeRefView(View):
    """The commit of a trial merge."""

    commit_id: str


class RebaseView(View):
    """Confirmation of a rebase: true, as clients expect, although the rebase has already ended."""

    rebase_in_progress: bool


class ProposedMessages(NamedTuple):
    """Messages that the commits of a merge have unless the caller writes others."""

    merge: str
    squash: str


def proposed_messages(db: Connection, project: Project, merge_request: MergeRequest) -> ProposedMessages:
    """Return the default messages of the commits of a merge."""
    closes = open_issues_to_close(db, merge_request)
    return ProposedMessages(
        merge_message(project, merge_request, closes), squash_message(project, merge_request, closes)
    )
