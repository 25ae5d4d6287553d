"""Who may do what with merge requests."""

from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, or_

from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.planning.scope import ProjectScope
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.expressions import one_of
from ingot.projects.projects import policy as projects_policy
from ingot.projects.projects.policy import belongs_to_scanned_project, has_code, has_open_code, may_download_code
from ingot.projects.projects.tables import Project, projects


class MergeRequestLookup(NamedTuple):
    """A merge request, and the project that it would change."""

    here: Access
    project: Project
    merge_request: MergeRequest
    assignees: tuple[int, ...]
    reviewers: tuple[int, ...] = ()


def may_read_merge_requests(actor: Actor, access: Access, project: Project) -> bool:
    """Those who may read the code of a project that has merge requests."""
    return project.merge_requests_enabled and may_download_code(actor, access, project)


def may_list_merge_requests(actor: Actor, access: Access, lookup: ProjectScope) -> bool:
    """The same of a project that is at hand as a place."""
    return may_read_merge_requests(actor, access, lookup.project)


def may_read_merge_request(actor: Actor, access: Access, lookup: MergeRequestLookup) -> bool:
    """Whoever was let find it."""
    return may_read_merge_requests(actor, access, lookup.project)


def may_offer_branches(actor: Actor, access: Access, lookup: ProjectScope) -> bool:
    """Developers of the project with the source branch, unless it is archived."""
    return actor.known and projects_policy.may_write_project(actor, access, lookup.project)


def may_receive_merge_request(actor: Actor, access: Access, project: Project) -> bool:
    """Who reads a project's merge requests may open one there, unless it is archived."""
    return actor.known and may_read_merge_requests(actor, access, project) and not project.archived


def may_triage(actor: Actor, access: Access, project: Project) -> bool:
    """Developers assign, label and plan, unless the project is archived."""
    return projects_policy.may_write_project(actor, access, project)


def may_edit_merge_request(actor: Actor, access: Access, lookup: MergeRequestLookup) -> bool:
    """Developers, and who wrote it or has it to do, unless the project is archived."""
    theirs = actor.known and (lookup.merge_request.author_id == actor.user_id or actor.user_id in lookup.assignees)
    return may_triage(actor, access, lookup.project) or (theirs and not lookup.project.archived)


def may_take_part(actor: Actor, access: Access, lookup: MergeRequestLookup) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Users who see it, unless the project is archived."""
    return actor.known and not lookup.project.archived


def may_approve(actor: Actor, access: Access, lookup: MergeRequestLookup) -> bool:
    """Developers, unless the project is archived."""
    return actor.known and may_triage(actor, access, lookup.project)


def may_delete_merge_requests(actor: Actor, access: Access, lookup: ProjectScope) -> bool:
    """Owners and administrators, where there are merge requests, unless the project is archived."""
    return (
        lookup.project.merge_requests_enabled
        and projects_policy.may_own_project(actor, access, lookup.project)
        and not lookup.project.archived
    )


def visible_merge_requests(*, external: bool) -> ColumnElement[bool]:
    """``may_read_merge_requests`` for lists over many projects, which must be joined; ``actor``, ``today`` bound."""
    open_to = ("public",) if external else ("public", "internal")
    opened = one_of(projects.c.visibility, *open_to) & has_open_code()
    return and_(
        or_(opened, belongs_to_scanned_project(Level.REPORTER)), has_code(), projects.c.merge_requests_enabled.is_(True)
    )
