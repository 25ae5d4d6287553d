"""Response structs of merging."""

from ingot.collaboration.merge_requests.merge.commit_messages import merge_message
from ingot.collaboration.merge_requests.merge.queries import open_issues_to_close
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.projects.projects.tables import Project


class MergeRefusalView(View):
    """Reason why a merge request was not merged, as text and as a code."""

    message: str
    error_code: str


class MergeRefView(View):
    """The commit of a trial merge."""

    commit_id: str


class RebaseView(View):
    """Whether a rebase is running; always false, because it ends before the response."""

    rebase_in_progress: bool


def proposed_merge_message(db: Connection, project: Project, merge_request: MergeRequest) -> str:
    """Return the message that a merge commit has unless the caller writes another."""
    return merge_message(project, merge_request, open_issues_to_close(db, merge_request))
