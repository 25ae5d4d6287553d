"""What groups show of the projects in them, and projects of the groups around them."""

from sqlalchemy import bindparam, func, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import day_of
from ingot.projects.namespaces.policy import is_unexpired
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
ProjectSizes = tuple[int, int, int]
"""Bytes in repositories, in LFS objects and in artifacts."""


def project_sizes_by_group(db: Connection, group_ids: list[int]) -> dict[int, ProjectSizes]:
    """How much there is in the projects directly in each of these groups."""
    rows = db.rows(_SIZES, groups=group_ids) if group_ids else []
    # PostgreSQL sums 64-bit integers to decimals.
    return {row[0]: (int(row[1]), int(row[2]), int(row[3])) for row in rows}


def groups_invited_to_project(db: Connection, project: Project, least: int = 0) -> list[int]:
    """The ids of the groups with which a project was shared."""
    return [row[0] for row in db.rows(_INVITED, project=project.id, least=least, today=day_of(db.now))]
