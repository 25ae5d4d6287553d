"""Permissions on timelogs; everyone who sees the subject sees its entries."""

from ingot.collaboration.planning.timelogs.tables import Timelog
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.tables import Project


def may_delete_timelog(actor: Actor, access: Access, project: Project, timelog: Timelog) -> bool:
    """The user who added the entry, and maintainers, unless the project is archived."""
    own = actor.known and timelog.user_id == actor.user_id
    return (own or actor.admin or access.level >= Level.MASTER) and not project.archived
