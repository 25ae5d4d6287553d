"""Permissions on snippets."""

from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, or_

from ingot.collaboration.snippets.tables import Snippet, snippets
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.expressions import one_of
from ingot.projects.projects.feature_access import is_open_to_all, may_use_feature
from ingot.projects.projects.policy import belongs_to_scanned_project, may_see_project, visible_projects
from ingot.projects.projects.tables import Project, projects


class SnippetLookup(NamedTuple):
    """A snippet with its project, if any, and the caller's access to that project."""

    access: Access
    project: Project | None
    snippet: Snippet


def may_read_snippets(actor: Actor, access: Access, project: Project) -> bool:
    """Users who can see a project that has snippets enabled."""
    return may_use_feature(actor, access, project, "snippets") and may_see_project(actor, access, project)


def may_create_project_snippet(actor: Actor, access: Access, project: Project) -> bool:
    """Reporters of a project that has snippets enabled, unless it is archived."""
    return project.snippets_enabled and (access.level >= Level.REPORTER or actor.admin) and not project.archived


def may_create_snippet(actor: Actor) -> bool:
    """Users, except external ones."""
    return actor.known and (not actor.external or actor.admin)


def may_see_snippet(actor: Actor, access: Access, project: Project | None, snippet: Snippet) -> bool:
    """The author, users allowed by its visibility, and project members unless it is private."""
    if project is not None and not may_read_snippets(actor, access, project):
        return False
    if actor.admin or _is_author(actor, snippet):
        return True
    return _is_open_to(actor, snippet) or (snippet.visibility != "private" and access.level >= Level.GUEST)


def may_read_snippet(actor: Actor, access: Access, lookup: SnippetLookup) -> bool:
    """Users who can see the snippet."""
    return may_see_snippet(actor, access, lookup.project, lookup.snippet)


def may_edit_snippet(actor: Actor, access: Access, lookup: SnippetLookup) -> bool:
    """The author, and maintainers unless it is internal; not in an archived project."""
    if lookup.project is not None and lookup.project.archived:
        return False
    if actor.admin or _is_author(actor, lookup.snippet):
        return True
    return lookup.project is not None and access.level >= Level.MASTER and lookup.snippet.visibility != "internal"


def may_access_snippets(actor: Actor, access: Access, project: Project) -> bool:
    """Users who can read the project's snippets, unless it is archived; each action is checked separately."""
    return actor.known and may_read_snippets(actor, access, project) and not project.archived


def may_participate(actor: Actor, access: Access, lookup: SnippetLookup) -> bool:  # noqa: ARG001 - All rules take the same three arguments.
    """Users who can see the snippet, unless its project is archived."""
    return actor.known and (lookup.project is None or not lookup.project.archived)


def may_moderate(actor: Actor, access: Access, lookup: SnippetLookup) -> bool:  # noqa: ARG001 - All rules take the same three arguments.
    """Maintainers of the project."""
    return access.level >= Level.MASTER or actor.admin


def _is_open_to(actor: Actor, snippet: Snippet) -> bool:
    return snippet.visibility == "public" or (snippet.visibility == "internal" and actor.known and not actor.external)


def _is_author(actor: Actor, snippet: Snippet) -> bool:
    return actor.known and snippet.author_id == actor.user_id


def visible_in_project(*, external: bool) -> ColumnElement[bool]:
    """Return the condition for the snippets of a project that a user can see; ``actor`` is bound.

    Members are treated like users who are not external.
    """
    visibilities = ("public",) if external else ("public", "internal")
    return or_(one_of(snippets.c.visibility, *visibilities), snippets.c.author_id == bindparam("actor"))


def snippets_enabled() -> ColumnElement[bool]:
    """Return the condition that a snippet is personal or its project exists and has snippets enabled.

    Projects must be outer-joined.
    """
    return or_(
        snippets.c.project_id.is_(None),
        and_(projects.c.namespace_id.is_not(None), projects.c.snippets_enabled.is_(True)),
    )


def visible_snippets(*, external: bool) -> ColumnElement[bool]:
    """Return ``may_see_snippet`` as a condition for lists across projects.

    ``actor`` and ``today`` are bound, and projects must be outer-joined.
    """
    return and_(
        snippets_enabled(),
        or_(snippets.c.project_id.is_(None), visible_projects(external=external, opened=is_open_to_all("snippets"))),
        or_(
            visible_in_project(external=external),
            and_(snippets.c.project_id.is_not(None), snippets.c.visibility != "private", belongs_to_scanned_project()),
        ),
    )
