"""Who may do what with snippets."""

from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, or_

from ingot.collaboration.snippets.tables import Snippet, snippets
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.expressions import one_of
from ingot.projects.projects.policy import belongs_to_scanned_project, may_see_project, visible_projects
from ingot.projects.projects.tables import Project, projects


class SnippetLookup(NamedTuple):
    """A snippet, and where it is: in a project, or its author's own."""

    here: Access
    project: Project | None
    snippet: Snippet


def may_read_snippets(actor: Actor, access: Access, project: Project) -> bool:
    """Those who see a project that has snippets."""
    return project.snippets_enabled and may_see_project(actor, access, project)


def may_create_project_snippet(actor: Actor, access: Access, project: Project) -> bool:
    """Reporters of a project that has snippets, unless it is archived."""
    return project.snippets_enabled and (access.level >= Level.REPORTER or actor.admin) and not project.archived


def may_create_snippet(actor: Actor) -> bool:
    """Users, but for external ones."""
    return actor.known and (not actor.external or actor.admin)


def may_see_snippet(actor: Actor, access: Access, project: Project | None, snippet: Snippet) -> bool:
    """Its author, those to whom its visibility opens it, and members of its project, unless it is private."""
    if project is not None and not may_read_snippets(actor, access, project):
        return False
    if actor.admin or _is_author(actor, snippet):
        return True
    return _is_open_to(actor, snippet) or (snippet.visibility != "private" and access.level >= Level.GUEST)


def may_read_snippet(actor: Actor, access: Access, lookup: SnippetLookup) -> bool:
    """Whoever was let find it."""
    return may_see_snippet(actor, access, lookup.project, lookup.snippet)


def may_edit_snippet(actor: Actor, access: Access, lookup: SnippetLookup) -> bool:
    """Its author, and masters where it is not internal; nobody in a project that is archived."""
    if lookup.project is not None and lookup.project.archived:
        return False
    if actor.admin or _is_author(actor, lookup.snippet):
        return True
    return lookup.project is not None and access.level >= Level.MASTER and lookup.snippet.visibility != "internal"


def may_access_snippets(actor: Actor, access: Access, project: Project) -> bool:
    """Users who read the project's snippets, unless it is archived; what they may do to one depends on that."""
    return actor.known and may_read_snippets(actor, access, project) and not project.archived


def may_participate(actor: Actor, access: Access, lookup: SnippetLookup) -> bool:  # noqa: ARG001 - All rules take the same three arguments.
    """Users who see it, unless its project is archived."""
    return actor.known and (lookup.project is None or not lookup.project.archived)


def may_moderate(actor: Actor, access: Access, lookup: SnippetLookup) -> bool:  # noqa: ARG001 - All rules take the same three arguments.
    """Masters of its project may change what others said about it."""
    return access.level >= Level.MASTER or actor.admin


def _is_open_to(actor: Actor, snippet: Snippet) -> bool:
    return snippet.visibility == "public" or (snippet.visibility == "internal" and actor.known and not actor.external)


def _is_author(actor: Actor, snippet: Snippet) -> bool:
    return actor.known and snippet.author_id == actor.user_id


def visible_in_project(*, external: bool) -> ColumnElement[bool]:
    """What somebody sees of a project: members like users who are not external; ``actor`` is bound."""
    open_to = ("public",) if external else ("public", "internal")
    return or_(one_of(snippets.c.visibility, *open_to), snippets.c.author_id == bindparam("actor"))


def snippets_enabled() -> ColumnElement[bool]:
    """Not in a project that is gone or has none any more; the projects must be joined, where there are any."""
    return or_(
        snippets.c.project_id.is_(None),
        and_(projects.c.namespace_id.is_not(None), projects.c.snippets_enabled.is_(True)),
    )


def visible_snippets(*, external: bool) -> ColumnElement[bool]:
    """``may_see_snippet`` for lists over many projects; ``actor`` and ``today`` are bound, and projects joined."""
    return and_(
        snippets_enabled(),
        or_(snippets.c.project_id.is_(None), visible_projects(external=external)),
        or_(
            visible_in_project(external=external),
            and_(snippets.c.project_id.is_not(None), snippets.c.visibility != "private", belongs_to_scanned_project()),
        ),
    )
