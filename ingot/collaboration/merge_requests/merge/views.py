"""Response structs of merging."""

from typing import Literal, NamedTuple

from ingot.collaboration.merge_requests.merge.commit_messages import merge_message, squash_message
from ingot.collaboration.merge_requests.merge.message_people import message_context, proposed_people
from ingot.collaboration.merge_requests.merge_checks import MergeRequirements
from ingot.collaboration.merge_requests.queries import merge_requirements
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.git.core.repository import Repository
from ingot.projects.projects.tables import Project


def merge_rules(db: Connection, project: Project) -> MergeRequirements:
    """Return the requirements of a project and of its groups for merges."""
    return merge_requirements(db, project)


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


def proposed_messages(
    db: Connection,
    actor: Actor,
    project: Project,
    merge_request: MergeRequest,
    repository: Repository,
    tip: str | None,
) -> ProposedMessages:
    """Return the default messages of the commits of a merge by the caller; ``tip`` is that of the target branch."""
    people = proposed_people(db, project, merge_request, actor.user_id)
    context = message_context(db, project, merge_request, people, repository, tip)
    return ProposedMessages(merge_message(context), squash_message(context))
