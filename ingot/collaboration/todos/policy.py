"""Who may note what they have to look at."""

from sqlalchemy import ColumnElement, and_, or_

from ingot.collaboration.participants.subject_kinds import Audience
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.expressions import one_of
from ingot.projects.projects.policy import belongs_to_scanned_project, has_code, has_open_code
from ingot.projects.projects.tables import projects


def may_add_todo(actor: Actor, access: Access, subject_access: SubjectAccess) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Users who see it: a todo is their own affair."""
    return actor.known


def visible_commits(audience: Audience) -> ColumnElement[bool]:
    """Who may read the code of the projects that are joined; ``actor`` and ``today`` are bound for users."""
    there = and_(projects.c.namespace_id.is_not(None), has_code())
    if audience == "administrator":
        return there
    open_to = ("public", "internal") if audience == "user" else ("public",)
    opened = and_(one_of(projects.c.visibility, *open_to), has_open_code())
    return and_(there, opened if audience == "nobody" else or_(opened, belongs_to_scanned_project(Level.REPORTER)))
