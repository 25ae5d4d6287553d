"""Merge requests."""

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import UNSET

from ingot.collaboration.merge_requests.merge.views import ProposedMessages, proposed_messages
from ingot.collaboration.merge_requests.merge_checks import ACTIVE_STATUSES
from ingot.collaboration.merge_requests.queries import find_merge_request as find_record
from ingot.collaboration.merge_requests.views import MergeRequestDetailView, MergeRequestView
from ingot.core.db.connection import Connection
from ingot.git.history.commits import branch_tip
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.families.issues import labels_of
from ingot.graphql.families.projects import prescribes_squashing
from ingot.graphql.global_ids import number_of, to_global_id
from ingot.graphql.loaders import load_projects
from ingot.graphql.locators import merge_request_path
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.projects.projects.api import repository_store

resolvers = Resolvers()
resolvers.types[MergeRequestView] = "MergeRequest"
resolvers.rename(
    "MergeRequest",
    autoMergeEnabled="merge_when_pipeline_succeeds",
    conflicts="has_conflicts",
    diffHeadSha="sha",
    mergeStatusEnum="merge_status",
    mergeableDiscussionsState="blocking_discussions_resolved",
    name="title",
)
_ROUTE = "/projects/:id/merge_requests/:merge_request_iid"
_DETAILED_STATUSES = {
    "broken_status": "CONFLICT",
    "draft_status": "DRAFT_STATUS",
    "title_regex": "TITLE_NOT_MATCHING",
    "discussions_not_resolved": "DISCUSSIONS_NOT_RESOLVED",
}


def _path(subject: Any) -> dict[str, Any]:
    return {"id": subject.project_id, "merge_request_iid": subject.iid}


@resolvers.single("Query.mergeRequest")
def find_merge_request(context: QueryContext, _: Any, arguments: Arguments) -> Any:
    """Return a merge request by its id."""
    place = merge_request_path(context, number_of(arguments["id"], "MergeRequest"))
    return context.call(f"GET {place.route}", **place.path)


@resolvers.value("MergeRequest.id")
def merge_request_id(_: QueryContext, subject: Any) -> str:
    """Return the global id."""
    return to_global_id("MergeRequest", subject.id)


def _detail(context: QueryContext, subject: Any) -> Any:
    """Return a merge request with the fields that lists leave out."""
    if isinstance(subject, MergeRequestDetailView):
        return subject
    found = context.load(
        "merge requests",
        [subject.id],
        lambda _: {subject.id: context.call(f"GET {_ROUTE}", **_path(subject))},
    )
    return found[subject.id]


def _detail_field(field: str, attribute: str) -> None:
    @resolvers.single(f"MergeRequest.{field}", call="GET merge request")
    def detail_field(context: QueryContext, subject: Any, _: Arguments) -> Any:
        """Return a field that lists leave out."""
        return getattr(_detail(context, subject), attribute) or None


for _field, _attribute in {
    "autoMergeStrategy": "auto_merge_strategy",
    "diffRefs": "diff_refs",
    "headPipeline": "head_pipeline",
    "mergeError": "merge_error",
}.items():
    _detail_field(_field, _attribute)


@resolvers.single("MergeRequest.subscribed", call="GET merge request")
def is_subscribed(context: QueryContext, subject: Any, _: Arguments) -> bool:
    """Return whether the caller gets notifications."""
    return context.actor.known and bool(_detail(context, subject).subscribed)


@resolvers.single("MergeRequest.rebaseInProgress")
def is_rebased(context: QueryContext, subject: Any, _: Arguments) -> bool:
    """Return whether a rebase is running."""
    return bool(
        context.call(f"GET {_ROUTE}", {"include_rebase_in_progress": True}, **_path(subject)).rebase_in_progress
    )


@resolvers.batch("MergeRequest.squashReadOnly")
def prescribe_squashing(context: QueryContext, subjects: Sequence[Any], _: Arguments) -> list[bool]:
    """Return whether the target projects decide whether commits are squashed."""
    found = load_projects(context, {each.target_project_id for each in subjects})
    return [prescribes_squashing(context, found[each.target_project_id]) for each in subjects]


@resolvers.single("MergeRequest.availableAutoMergeStrategies")
def auto_merge_strategies(context: QueryContext, subject: Any, _: Arguments) -> list[str]:
    """Return how the caller may set a merge request to merge automatically."""
    detail = _detail(context, subject)
    if subject.state != "opened" or detail.user is UNSET or not detail.user.can_merge:
        return []
    project: Any = load_projects(context, [subject.target_project_id])[subject.target_project_id]
    is_mergeable = detail.detailed_merge_status == "mergeable"
    if project is not None and project.merge_trains_enabled:
        return ["merge_train" if is_mergeable else "add_to_merge_train_when_checks_pass"]
    running = detail.head_pipeline is not None and detail.head_pipeline.status in ACTIVE_STATUSES
    return ["merge_when_checks_pass"] if running or not is_mergeable else []


@resolvers.single("MergeRequest.shouldBeRebased")
def needs_rebase(context: QueryContext, subject: Any, _: Arguments) -> bool:
    """Return whether the target branch has commits that the source branch must contain before the merge."""
    project = load_projects(context, [subject.target_project_id])[subject.target_project_id]
    if project is None or project.merge_method == "merge":
        return False
    params = {"include_diverged_commits_count": True}
    return bool(context.call(f"GET {_ROUTE}", params, **_path(subject)).diverged_commits_count)


@resolvers.single("MergeRequest.stack", call="GET stack")
def list_stack(context: QueryContext, subject: Any, _: Arguments) -> list[Any] | None:
    """Return the merge requests of the stack, the bottom first; null if it is in none."""
    return context.call(f"GET {_ROUTE}/stack", **_path(subject)) if subject.stack is not None else None


def _message_field(kind: Literal["merge", "squash"]) -> None:
    @resolvers.single(f"MergeRequest.default{kind.capitalize()}CommitMessage", call="messages of a merge")
    def default_message(context: QueryContext, subject: Any, _: Arguments) -> str | None:
        """Return a message that a merge by the caller would have; null if the caller may not see the commits."""
        if not context.allows(f"GET {_ROUTE}/commits", **_path(subject)):
            return None
        found = context.load("messages", [subject.id], lambda _: {subject.id: _messages(context, subject)})
        messages = found[subject.id]
        return None if messages is None else messages._asdict()[kind]


_message_field("merge")
_message_field("squash")


def _messages(context: QueryContext, subject: Any) -> ProposedMessages:
    store = repository_store(context.settings)

    def read(db: Connection) -> ProposedMessages:
        lookup = find_record(db, context.actor, str(subject.project_id), str(subject.iid))
        repository = store.open(lookup.project.repository_key)
        tip = branch_tip(repository, lookup.merge_request.target_branch)
        return proposed_messages(db, context.actor, lookup.project, lookup.merge_request, repository, tip)

    return context.read(read)


@resolvers.value("MergeRequest.detailedMergeStatus")
def detailed_status(_: QueryContext, subject: Any) -> str:
    """Return why a merge request cannot be merged."""
    return str(_DETAILED_STATUSES.get(subject.detailed_merge_status, subject.detailed_merge_status))


@resolvers.value("MergeRequest.mergeable")
def is_mergeable(_: QueryContext, subject: Any) -> bool:
    """Return whether the merge request can be merged."""
    return bool(subject.detailed_merge_status == "mergeable")


@resolvers.batch("MergeRequest.labels")
def list_labels(context: QueryContext, subjects: Sequence[Any], arguments: Arguments) -> list[ConnectionPage]:
    """Return the labels of merge requests."""
    return labels_of(context, "merge_request", subjects, arguments)


@resolvers.batch("MergeRequest.sourceProject")
def find_projects(context: QueryContext, subjects: Sequence[Any], _: Arguments) -> list[Any]:
    """Return the source projects of merge requests; null if deleted or hidden."""
    found = load_projects(context, {each.source_project_id for each in subjects if each.source_project_id is not None})
    return [found.get(each.source_project_id) for each in subjects]


@resolvers.batch("MergeRequest.targetProject")
def find_target_projects(context: QueryContext, subjects: Sequence[Any], _: Arguments) -> list[Any]:
    """Return the target projects of merge requests."""
    found = load_projects(context, {each.target_project_id for each in subjects})
    return [found.get(each.target_project_id) for each in subjects]


def _approvals(context: QueryContext, subject: Any) -> Any:
    found = context.load(
        "approvals", [subject.id], lambda _: {subject.id: context.call(f"GET {_ROUTE}/approvals", **_path(subject))}
    )
    return found[subject.id]


@resolvers.single("MergeRequest.approved", call="GET approvals")
def is_approved(context: QueryContext, subject: Any, _: Arguments) -> bool:
    """Return whether all required approvals were given."""
    return bool(_approvals(context, subject).approved)


@resolvers.single("MergeRequest.approvalsLeft", call="GET approvals")
def approvals_left(context: QueryContext, subject: Any, _: Arguments) -> int:
    """Return the number of missing approvals."""
    return int(_approvals(context, subject).approvals_left)


@resolvers.single("MergeRequest.approvalsRequired", call="GET approvals")
def approvals_required(context: QueryContext, subject: Any, _: Arguments) -> int:
    """Return the number of required approvals."""
    return int(_approvals(context, subject).approvals_required)


@resolvers.single("MergeRequest.approvedBy", call="GET approvals")
def list_approvers(context: QueryContext, subject: Any, arguments: Arguments) -> ConnectionPage:
    """Return the users who approved."""
    return connection_of([approver.user for approver in _approvals(context, subject).approved_by], arguments)


@resolvers.single("MergeRequest.commits")
def list_commits(context: QueryContext, subject: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the commits of a merge request."""
    return listed(context, f"GET {_ROUTE}/commits", arguments, **_path(subject))


@resolvers.single("MergeRequest.commitCount")
def count_commits(context: QueryContext, subject: Any, _: Arguments) -> int | None:
    """Return the number of commits."""
    total: int | None = context.call(f"GET {_ROUTE}/commits", {"per_page": 1}, **_path(subject)).total
    return total


@resolvers.single("MergeRequest.pipelines")
def list_pipelines(context: QueryContext, subject: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the pipelines of a merge request."""
    return listed(context, f"GET {_ROUTE}/pipelines", arguments, **_path(subject))


def _diff_stats(context: QueryContext, subject: Any) -> list[dict[str, Any]]:
    changes = context.call(f"GET {_ROUTE}/changes", **_path(subject)).changes
    return [
        {"path": change.new_path, **dict(zip(("additions", "deletions"), _changed_lines(change.diff), strict=True))}
        for change in changes
    ]


def _changed_lines(diff: str) -> tuple[int, int]:
    """Count the added and deleted lines of a patch; the names of the files precede its first hunk."""
    _, _, hunks = f"\n{diff}".partition("\n@@")
    return hunks.count("\n+"), hunks.count("\n-")


@resolvers.single("MergeRequest.diffStats")
def list_diff_stats(context: QueryContext, subject: Any, arguments: Arguments) -> list[dict[str, Any]]:
    """Return the changed lines of each file."""
    stats = _diff_stats(context, subject)
    path = arguments.get("path")
    return [each for each in stats if path is None or each["path"] == path]


@resolvers.single("MergeRequest.diffStatsSummary")
def summarize_diff(context: QueryContext, subject: Any, _: Arguments) -> dict[str, int]:
    """Return the sums of the changed lines."""
    stats = _diff_stats(context, subject)
    additions, deletions = sum(each["additions"] for each in stats), sum(each["deletions"] for each in stats)
    changes = additions + deletions
    return {"additions": additions, "deletions": deletions, "changes": changes, "file_count": len(stats)}


@resolvers.value("MergeRequest.userPermissions")
def find_permissions(_: QueryContext, subject: Any) -> Any:
    """Return the merge request as the parent of its permissions."""
    return subject


def _permission(field: str, route: str) -> None:
    @resolvers.single(f"MergeRequestPermissions.{field}")
    def may_call(context: QueryContext, subject: Any, _: Arguments) -> bool:
        """Return whether the endpoint of an action allows it to the caller."""
        return context.allows(route, **_path(subject))


for _field, _permitted in {
    "adminMergeRequest": f"PUT {_ROUTE}",
    "createNote": f"POST {_ROUTE}/notes",
    "readMergeRequest": f"GET {_ROUTE}",
    "updateMergeRequest": f"PUT {_ROUTE}",
}.items():
    _permission(_field, _permitted)


@resolvers.single("MergeRequestPermissions.canMerge")
def may_merge(context: QueryContext, subject: Any, _: Arguments) -> bool:
    """Return whether the caller may merge."""
    permissions = _detail(context, subject).user
    return bool(permissions and permissions.can_merge)


@resolvers.single("MergeRequestPermissions.canApprove")
def may_approve(context: QueryContext, subject: Any, _: Arguments) -> bool:
    """Return whether the caller may approve."""
    return bool(_approvals(context, subject).user_can_approve)


@resolvers.single("MergeRequestPermissions.pushToSourceBranch", "MergeRequestPermissions.removeSourceBranch")
def may_push(context: QueryContext, subject: Any, _: Arguments) -> bool:
    """Return whether the caller may change the source branch."""
    if subject.source_project_id is None:
        return False
    path = {"id": subject.source_project_id, "branch": subject.source_branch}
    return bool(context.call("GET /projects/:id/repository/branches/:branch", **path).can_push)
