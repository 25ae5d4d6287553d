"""Totals of users, projects and groups, for the administrators' overview."""

from typing import Any, NamedTuple

from sqlalchemy import Table, func, select

from ingot.accounts.users.tables import users
from ingot.core.db.connection import Connection
from ingot.projects.namespaces.tables import namespaces
from ingot.projects.projects.tables import projects


class InstanceTotals(NamedTuple):
    """Totals of the objects on the instance."""

    users: int
    projects: int
    groups: int


def _count(table: Table) -> Any:
    return select(func.count()).select_from(table)


_USERS = _count(users)
_PROJECTS = _count(projects).where(projects.c.namespace_id.is_not(None))
_GROUPS = _count(namespaces).where(namespaces.c.kind == "group")


def instance_totals(db: Connection) -> InstanceTotals:
    """Count the users, projects and groups of the instance."""
    return InstanceTotals(*(db.value(statement) for statement in (_USERS, _PROJECTS, _GROUPS)))
