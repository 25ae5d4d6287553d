"""References from issuables to milestones, which follow merged milestones and moved projects."""

from sqlalchemy import ColumnElement, Table, bindparam, select, update

from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.collaboration.milestones.service import find_or_copy_milestone
from ingot.collaboration.milestones.tables import milestones
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.queries import existing_project, projects_in_namespace
from ingot.projects.projects.tables import Project

_ANCESTORS = select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))


class MilestoneReferences:
    """The ``milestone_id`` column of one table of issuables."""

    def __init__(self, rows: Table, project_id: ColumnElement[int]) -> None:
        in_project = project_id == bindparam("project")
        self._merge = update(rows).where(in_list(rows.c.milestone_id, "merged")).values(milestone_id=bindparam("into"))
        # Deleted issuables are included: their rows remain, and may refer to a milestone of a group that is now hidden.
        used = select(rows.c.milestone_id).where(in_project, rows.c.milestone_id.is_not(None))
        self._unusable = (
            select(milestones.c.id)
            .where(
                milestones.c.group_id.is_not(None),
                milestones.c.group_id.not_in(_ANCESTORS.scalar_subquery()),
                milestones.c.id.in_(used.scalar_subquery()),
            )
            .order_by(milestones.c.id)
        )
        self._replace = (
            update(rows)
            .where(in_project, rows.c.milestone_id == bindparam("unusable"))
            .values(milestone_id=bindparam("into"))
        )

    def merge(self, db: Connection, milestone_ids: list[int], into_id: int) -> None:
        """Change references to merged milestones into references to the remaining one."""
        db.run(self._merge, merged=milestone_ids, into=into_id)

    def replace_in_project(self, db: Connection, project_id: int) -> None:
        """Replace milestones of groups that a moved project no longer belongs to by milestones that it can use."""
        self._replace_unusable(db, existing_project(db, project_id))

    def replace_in_namespace(self, db: Connection, namespace_id: int) -> None:
        """Replace such milestones in every project of a moved namespace."""
        for project in projects_in_namespace(db, namespace_id):
            self._replace_unusable(db, project)

    def _replace_unusable(self, db: Connection, project: Project) -> None:
        ids = [row[0] for row in db.rows(self._unusable, project=project.id, namespace=project.namespace_id)]
        for milestone in milestones_by_ids(db, ids).values() if ids else ():
            into_id = find_or_copy_milestone(db, project, milestone).id
            db.run(self._replace, project=project.id, unusable=milestone.id, into=into_id)
