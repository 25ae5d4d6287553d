"""Queries of groups with their projects."""

from collections.abc import Sequence

from sqlalchemy import bindparam, func, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.projects.groups.ports import StorageSizes
from ingot.projects.namespaces.policy import is_unexpired
from ingot.projects.projects.queries import more_visible_projects
from ingot.projects.projects.service import more_visible_than
from ingot.projects.projects.tables import Project, projects, shares

_SIZES = (
    select(
        projects.c.namespace_id,
        func.sum(projects.c.repository_size),
        func.sum(projects.c.lfs_objects_size),
        func.sum(projects.c.job_artifacts_size),
    )
    .where(in_list(projects.c.namespace_id, "groups"))
    .group_by(projects.c.namespace_id)
)
_INVITED = select(shares.c.group_id).where(
    shares.c.project_id == bindparam("project"),
    shares.c.group_access >= bindparam("least"),
    is_unexpired(shares.c.expires_at),
)


def storage_sizes(db: Connection, group_ids: Sequence[int]) -> dict[int, StorageSizes]:
    """Return the storage that the projects directly in each of these groups use."""
    rows = db.rows(_SIZES, groups=list(group_ids)) if group_ids else []
    # PostgreSQL sums 64-bit integers to decimals.
    return {row[0]: StorageSizes(int(row[1]), int(row[2]), int(row[3])) for row in rows}


def groups_invited_to_project(db: Connection, project: Project, least: int = 0) -> list[int]:
    """Return the ids of the groups that a project is shared with."""
    return [row[0] for row in db.rows(_INVITED, project=project.id, least=least, today=db.today)]


def has_more_visible_project(db: Connection, group_id: int, visibility: str) -> bool:
    """Whether a project in the group or below it is more visible than this."""
    more_open = more_visible_than(visibility)
    return bool(more_open and more_visible_projects(db, group_id, more_open))
