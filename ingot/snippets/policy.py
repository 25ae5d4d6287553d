"""Who may do what with snippets."""

from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, or_

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.db.expressions import one_of
from ingot.projects.policy import belongs_to_this_project, may_see_project, visible_projects
from ingot.projects.tables import Project, projects
from ingot.snippets.tables import Snippet, snippets


class Found(NamedTuple):
    """A snippet, and where it is: in a project, or its author's own."""

    here: Access
    project: Project | None
    snippet: Snippet


def may_read_snippets(actor: Actor, here: Access, project: Project) -> bool:
    """Those who see a project that has snippets."""
    return project.snippets_enabled and may_see_project(actor, here, project)


def may_create_project_snippet(actor: Actor, here: Access, project: Project) -> bool:
    """Reporters of a project that has snippets, unless it is archived."""
    return project.snippets_enabled and (here.level >= Level.REPORTER or actor.admin) and not project.archived


def may_create_snippet(actor: Actor) -> bool:
    """Users, but for external ones."""
    return actor.known and (not actor.external or actor.admin)


def may_see_snippet(actor: Actor, here: Access, project: Project | None, snippet: Snippet) -> bool:
    """Its author, those to whom its visibility opens it, and members of its project, unless it is private."""
    if project is not None and not may_read_snippets(actor, here, project):
        return False
    if actor.admin or _wrote(actor, snippet):
        return True
    return _is_open_to(actor, snippet) or (snippet.visibility != "private" and here.level >= Level.GUEST)


def may_read_found(actor: Actor, here: Access, found: Found) -> bool:
    """Whoever was let find it."""
    return may_see_snippet(actor, here, found.project, found.snippet)


def may_edit_snippet(actor: Actor, here: Access, found: Found) -> bool:
    """Its author, and masters where it is not internal; nobody in a project that is archived."""
    if found.project is not None and found.project.archived:
        return False
    if actor.admin or _wrote(actor, found.snippet):
        return True
    return found.project is not None and here.level >= Level.MASTER and found.snippet.visibility != "internal"


def may_reach_snippets(actor: Actor, here: Access, project: Project) -> bool:
    """Users who read the project's snippets, unless it is archived; what they may do to one depends on that."""
    return actor.known and may_read_snippets(actor, here, project) and not project.archived


def may_take_part(actor: Actor, here: Access, found: Found) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Users who see it, unless its project is archived."""
    return actor.known and (found.project is None or not found.project.archived)


def may_moderate(actor: Actor, here: Access, found: Found) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Masters of its project may change what others said about it."""
    return here.level >= Level.MASTER or actor.admin


def _is_open_to(actor: Actor, snippet: Snippet) -> bool:
    return snippet.visibility == "public" or (snippet.visibility == "internal" and actor.known and not actor.external)


def _wrote(actor: Actor, snippet: Snippet) -> bool:
    return actor.known and snippet.author_id == actor.user_id


def open_or_own(*, external: bool) -> ColumnElement[bool]:
    """What somebody sees of a project: members like users who are not external; ``actor`` is bound."""
    open_to = ("public",) if external else ("public", "internal")
    return or_(one_of(snippets.c.visibility, *open_to), snippets.c.author_id == bindparam("actor"))


def in_a_project_that_has_them() -> ColumnElement[bool]:
    """Not in a project that is gone or has none any more; the projects must be joined, where there are any."""
    return or_(
        snippets.c.project_id.is_(None),
        and_(projects.c.namespace_id.is_not(None), projects.c.snippets_enabled.is_(True)),
    )


def visible_snippets(*, external: bool) -> ColumnElement[bool]:
    """``may_see_snippet`` for lists over many projects; ``actor`` and ``today`` are bound, and projects joined."""
    return and_(
        in_a_project_that_has_them(),
        or_(snippets.c.project_id.is_(None), visible_projects(external=external)),
        or_(
            open_or_own(external=external),
            and_(snippets.c.project_id.is_not(None), snippets.c.visibility != "private", belongs_to_this_project()),
        ),
    )
