"""Who may note what they have to look at."""

from sqlalchemy import ColumnElement, and_, or_

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.db.expressions import one_of
from ingot.involvement.kinds import Audience
from ingot.projects.policy import belongs_to_this_project, has_code, has_open_code
from ingot.projects.tables import projects
from ingot.subjects import Reached


def may_mark(actor: Actor, here: Access, reached: Reached) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Users who see it: a todo is their own affair."""
    return actor.known


def visible_commits(audience: Audience) -> ColumnElement[bool]:
    """Who may read the code of the projects that are joined; ``actor`` and ``today`` are bound for users."""
    there = and_(projects.c.namespace_id.is_not(None), has_code())
    if audience == "administrator":
        return there
    open_to = ("public", "internal") if audience == "user" else ("public",)
    opened = and_(one_of(projects.c.visibility, *open_to), has_open_code())
    return and_(there, opened if audience == "nobody" else or_(opened, belongs_to_this_project(Level.REPORTER)))
