"""Permissions on issues."""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import ColumnElement, bindparam, exists, or_

from ingot.collaboration.issues.tables import Issue, issue_assignees, issues
from ingot.collaboration.planning.scope import ProjectScope
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects import policy as projects_policy
from ingot.projects.projects.feature_access import is_open_to_all, may_use_feature
from ingot.projects.projects.policy import belongs_to_scanned_project, may_see_project, visible_projects
from ingot.projects.projects.tables import Project, projects


class IssueLookup(NamedTuple):
    """An issue with its project, its assignees and the caller's access."""

    access: Access
    project: Project
    issue: Issue
    assignees: tuple[int, ...]


def may_read_issues(actor: Actor, access: Access, project: Project) -> bool:
    """Users who see a project in which issues are enabled, if these are private its members."""
    return may_use_feature(actor, access, project, "issues") and may_see_project(actor, access, project)


def may_see_issue(actor: Actor, access: Access, issue: Issue, assignees: Collection[int]) -> bool:
    """Users who see the project's issues; for a confidential issue only its author, its assignees and reporters."""
    if not issue.confidential or access.level >= Level.REPORTER or actor.admin:
        return True
    return actor.known and (issue.author_id == actor.user_id or actor.user_id in assignees)


def may_create_issue(actor: Actor, access: Access, lookup: ProjectScope) -> bool:
    """Signed-in users who see the project's issues, unless it is archived."""
    return actor.known and may_read_issues(actor, access, lookup.project) and not lookup.project.archived


def may_read_issue(actor: Actor, access: Access, lookup: IssueLookup) -> bool:
    """Users who see the issue."""
    return may_read_issues(actor, access, lookup.project)


def may_triage(actor: Actor, access: Access, project: Project) -> bool:
    """Reporters, unless the project is archived."""
    return (access.level >= Level.REPORTER or actor.admin) and not project.archived


def may_edit_issue(actor: Actor, access: Access, lookup: IssueLookup) -> bool:
    """Reporters, the author and the assignees may edit, close and reopen an issue, unless the project is archived."""
    involved = actor.known and (lookup.issue.author_id == actor.user_id or actor.user_id in lookup.assignees)
    return may_triage(actor, access, lookup.project) or (involved and not lookup.project.archived)


def may_take_part(actor: Actor, access: Access, lookup: IssueLookup) -> bool:  # noqa: ARG001 - Permission functions share one signature.
    """Signed-in users who see the issue, unless the project is archived."""
    return actor.known and not lookup.project.archived


def may_triage_issue(actor: Actor, access: Access, lookup: IssueLookup) -> bool:
    """Reporters of the issue's project, unless it is archived."""
    return may_triage(actor, access, lookup.project)


def may_move_issue(actor: Actor, access: Access, lookup: IssueLookup) -> bool:
    """Reporters of the issue's project, unless it is archived; moving closes the original."""
    return may_triage(actor, access, lookup.project)


def may_receive_issue(actor: Actor, access: Access, project: Project) -> bool:
    """Reporters of a project in which issues are enabled, unless it is archived."""
    return project.issues_enabled and may_triage(actor, access, project)


def may_delete_issues(actor: Actor, access: Access, lookup: ProjectScope) -> bool:
    """Owners and administrators, if issues are enabled and the project is not archived."""
    return (
        lookup.project.issues_enabled
        and projects_policy.may_own_project(actor, access, lookup.project)
        and not lookup.project.archived
    )


def may_set_times(actor: Actor, access: Access, project: Project) -> bool:
    """Owners and administrators."""
    return projects_policy.may_own_project(actor, access, project)


def visible_below_reporter() -> ColumnElement[bool]:
    """Return the condition for issues of one project that a user below reporter may see; ``actor`` is bound."""
    # Evaluated for confidential issues only; the ids of all issues that are assigned to the user may be many.
    assigned = exists().where(
        issue_assignees.c.issue_id == issues.c.id, issue_assignees.c.user_id == bindparam("actor")
    )
    return or_(issues.c.confidential.is_(False), issues.c.author_id == bindparam("actor"), assigned)


def visible_issues(*, external: bool) -> ColumnElement[bool]:
    """Return ``may_see_issue`` as a condition for lists over several projects.

    The statement joins the projects, and binds ``actor`` and ``today``.
    """
    return (
        visible_projects(external=external, opened=is_open_to_all("issues"))
        & (visible_below_reporter() | belongs_to_scanned_project(Level.REPORTER))
        & projects.c.issues_enabled.is_(True)
    )
