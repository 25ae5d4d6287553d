"""Permissions on todos."""

from sqlalchemy import ColumnElement, and_, or_

from ingot.collaboration.participants.subject_kinds import Audience
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.expressions import one_of
from ingot.projects.projects.policy import belongs_to_scanned_project, has_code, has_open_code
from ingot.projects.projects.tables import projects


def may_add_todo(actor: Actor, access: Access, subject_access: SubjectAccess) -> bool:  # noqa: ARG001 - All rules take the same three arguments.
    """Users who can see the subject."""
    return actor.known


def visible_commits(audience: Audience) -> ColumnElement[bool]:
    """Return the condition that an audience can read the code of the joined project.

    ``actor`` and ``today`` are bound for users.
    """
    available = and_(projects.c.namespace_id.is_not(None), has_code())
    if audience == "administrator":
        return available
    visibilities = ("public", "internal") if audience == "user" else ("public",)
    open_code = and_(one_of(projects.c.visibility, *visibilities), has_open_code())
    return and_(
        available, open_code if audience == "nobody" else or_(open_code, belongs_to_scanned_project(Level.REPORTER))
    )
