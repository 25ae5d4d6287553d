"""Permissions on merge requests."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, or_

from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.planning.scope import ProjectScope
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.expressions import one_of
from ingot.projects.projects import policy as projects_policy
from ingot.projects.projects.feature_access import is_open_to_all, may_use_feature
from ingot.projects.projects.options import ProjectOptions
from ingot.projects.projects.policy import belongs_to_scanned_project, has_code, has_open_code, may_download_code
from ingot.projects.projects.tables import Project, projects
from ingot.repositories.protection.tables import ProtectedBranch
from ingot.repositories.ref_changes.policy import branch_push_refusal


class MergeRequestLookup(NamedTuple):
    """A merge request with its target project, its assignees and reviewers, and the caller's access."""

    access: Access
    project: Project
    merge_request: MergeRequest
    assignees: tuple[int, ...]
    reviewers: tuple[int, ...] = ()
    strict_options: ProjectOptions | None = None
    """Options of the project with the stricter ones of the instance, if they were read."""

    @property
    def approval_options(self) -> ProjectOptions:
        """Options of the project that apply to approvals."""
        return self.strict_options or self.project.options


class MergeCandidate(NamedTuple):
    """A merge request with the branch protection rules of its target project."""

    lookup: MergeRequestLookup
    rules: Sequence[ProtectedBranch]


def may_read_merge_requests(actor: Actor, access: Access, project: Project) -> bool:
    """Users who may read the code of a project in which merge requests are enabled, if these are private reporters."""
    return may_use_feature(actor, access, project, "merge_requests") and may_download_code(actor, access, project)


def may_list_merge_requests(actor: Actor, access: Access, lookup: ProjectScope) -> bool:
    """Users who may read the code of a project in which merge requests are enabled."""
    return may_read_merge_requests(actor, access, lookup.project)


def may_read_merge_request(actor: Actor, access: Access, lookup: MergeRequestLookup) -> bool:
    """Users who see the merge request."""
    return may_read_merge_requests(actor, access, lookup.project)


def may_offer_branches(actor: Actor, access: Access, lookup: ProjectScope) -> bool:
    """Developers of the project with the source branch, unless it is archived."""
    return actor.known and projects_policy.may_write_project(actor, access, lookup.project)


def may_receive_merge_request(actor: Actor, access: Access, project: Project) -> bool:
    """Signed-in users who may read the target project's merge requests, unless it is archived."""
    return projects_policy.may_create_merge_request_in(actor, access, project)


def may_triage(actor: Actor, access: Access, project: Project) -> bool:
    """Developers, unless the project is archived."""
    return projects_policy.may_write_project(actor, access, project)


def may_edit_merge_request(actor: Actor, access: Access, lookup: MergeRequestLookup) -> bool:
    """Developers, the author and the assignees may edit, close and reopen it, unless the project is archived."""
    involved = actor.known and (lookup.merge_request.author_id == actor.user_id or actor.user_id in lookup.assignees)
    return may_triage(actor, access, lookup.project) or (involved and not lookup.project.archived)


def may_take_part(actor: Actor, access: Access, lookup: MergeRequestLookup) -> bool:  # noqa: ARG001 - Permission functions share one signature.
    """Signed-in users who see the merge request, unless the project is archived."""
    return actor.known and not lookup.project.archived


def may_approve(actor: Actor, access: Access, lookup: MergeRequestLookup) -> bool:
    """Developers, unless the project is archived; the author only where approvals of authors count."""
    options = lookup.approval_options
    authors_approve = options.merge_requests_author_approval
    if authors_approve is None:
        # Where no approvals are required, one of the author has no effect and is allowed, as in GitLab's free edition.
        authors_approve = not options.has_approval_rules and options.approvals_before_merge == 0
    if not authors_approve and lookup.merge_request.author_id == actor.user_id:
        return False
    return actor.known and may_triage(actor, access, lookup.project)


def may_request_changes(actor: Actor, access: Access, lookup: MergeRequestLookup) -> bool:
    """Developers and reviewers, unless the project is archived."""
    is_reviewer = actor.known and actor.user_id in lookup.reviewers and not lookup.project.archived
    return is_reviewer or (actor.known and may_triage(actor, access, lookup.project))


def may_change_approval_rules(actor: Actor, access: Access, lookup: MergeRequestLookup) -> bool:
    """Developers, unless the project is archived or does not allow approval rules of single merge requests."""
    if lookup.approval_options.disable_overriding_approvers_per_merge_request:
        return False
    return actor.known and may_triage(actor, access, lookup.project)


def may_read_approval_rules(actor: Actor, access: Access, project: Project) -> bool:
    """Signed-in users who may read the merge requests, which show the same rules."""
    return actor.known and may_read_merge_requests(actor, access, project)


def may_merge(actor: Actor, access: Access, candidate: MergeCandidate) -> bool:
    """Users who may push to or merge into the target branch, unless the project is archived."""
    project, branch = candidate.lookup.project, candidate.lookup.merge_request.target_branch
    return branch_push_refusal(actor, access, project, candidate.rules, branch, merges=True) is None


def may_read_merge_trains(actor: Actor, access: Access, project: Project) -> bool:
    """Developers who may read merge requests, in projects with merge trains."""
    if not project.options.has_merge_trains:
        return False
    return access.level >= Level.DEVELOPER and may_read_merge_requests(actor, access, project)


def may_read_merge_train_car(actor: Actor, access: Access, lookup: MergeRequestLookup) -> bool:
    """Developers who may read merge requests, in projects with merge trains."""
    return may_read_merge_trains(actor, access, lookup.project)


def may_add_to_merge_train(actor: Actor, access: Access, candidate: MergeCandidate) -> bool:
    """Users who may merge, in projects with merge trains."""
    return candidate.lookup.project.options.has_merge_trains and may_merge(actor, access, candidate)


def may_cancel_merge(actor: Actor, access: Access, candidate: MergeCandidate) -> bool:
    """Users who may merge, and the author."""
    is_author = actor.known and candidate.lookup.merge_request.author_id == actor.user_id
    return may_merge(actor, access, candidate) or (is_author and not candidate.lookup.project.archived)


def may_delete_merge_requests(actor: Actor, access: Access, lookup: ProjectScope) -> bool:
    """Owners and administrators, if merge requests are enabled and the project is not archived."""
    return (
        lookup.project.merge_requests_enabled
        and projects_policy.may_own_project(actor, access, lookup.project)
        and not lookup.project.archived
    )


def visible_merge_requests(*, external: bool) -> ColumnElement[bool]:
    """Return ``may_read_merge_requests`` as a condition for lists over several projects.

    The statement joins the projects, and binds ``actor`` and ``today``.
    """
    visibilities = ("public",) if external else ("public", "internal")
    open_code = one_of(projects.c.visibility, *visibilities) & has_open_code() & is_open_to_all("merge_requests")
    return and_(
        or_(open_code, belongs_to_scanned_project(Level.REPORTER)),
        has_code(),
        projects.c.merge_requests_enabled.is_(True),
    )
