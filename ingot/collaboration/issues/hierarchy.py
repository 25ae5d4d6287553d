"""Hierarchy of work items: issues contain tasks of their project; a task that is moved stays part of its issue."""

from collections.abc import Collection

from sqlalchemy import bindparam, delete, func, select, update

from ingot.collaboration.issues.lists.statements import CONDITIONS
from ingot.collaboration.issues.tables import ISSUE_COLUMNS, Issue, issues, work_item_parents
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import Invalid
from ingot.projects.projects.tables import Project, projects

MAX_CHILDREN = 1000
_BY_ID = select(*ISSUE_COLUMNS).where(issues.c.id == bindparam("issue"))
_CHILD, _PARENT = work_item_parents.c.issue_id, work_item_parents.c.parent_id
_PARENTS = select(_CHILD, _PARENT).where(in_list(_CHILD, "issues"))
_CHILDREN = select(_PARENT, _CHILD).where(in_list(_PARENT, "issues")).order_by(work_item_parents.c.id)
_VISIBLE = {
    name: select(*ISSUE_COLUMNS)
    .join(projects, projects.c.id == issues.c.project_id)
    .where(in_list(issues.c.id, "issues"), issues.c.deleted_at.is_(None), CONDITIONS[name])
    for name in ("with_feature", "visible", "visible_to_external")
}
_COUNT = select(func.count()).where(bindparam("issue") == _PARENT)
_REMOVE = delete(work_item_parents).where(bindparam("issue") == _CHILD)
_REPLACE_CHILD = update(work_item_parents).where(bindparam("old") == _CHILD).values(issue_id=bindparam("new"))
_REPLACE_PARENT = update(work_item_parents).where(bindparam("old") == _PARENT).values(parent_id=bindparam("new"))
_REMOVE_CHILDREN = delete(work_item_parents).where(bindparam("issue") == _PARENT)


def parents_of(db: Connection, issue_ids: Collection[int]) -> dict[int, int]:
    """Return the ids of the issues that contain these tasks, by task."""
    return dict(db.rows(_PARENTS, issues=sorted(issue_ids)))


def children_of(db: Connection, issue_ids: Collection[int]) -> dict[int, list[int]]:
    """Return the ids of the tasks of issues, in the order in which they were added."""
    children: dict[int, list[int]] = {}
    for parent_id, child_id in db.rows(_CHILDREN, issues=sorted(issue_ids)):
        children.setdefault(parent_id, []).append(child_id)
    return children


def visible_issues(db: Connection, actor: Actor, issue_ids: Collection[int]) -> list[Issue]:
    """Return those of the issues that the caller may see."""
    if actor.admin:
        return db.all(Issue, _VISIBLE["with_feature"], issues=sorted(issue_ids))
    name = "visible_to_external" if actor.external else "visible"
    return db.all(Issue, _VISIBLE[name], issues=sorted(issue_ids), actor=actor.user_id, today=db.today)


def relatives(db: Connection, actor: Actor, issue: Issue) -> tuple[Issue | None, list[Issue]]:
    """Return the issue that contains a task and the tasks of an issue, as far as the caller may see them."""
    parent_id = parents_of(db, [issue.id]).get(issue.id) if issue.issue_type == "task" else None
    child_ids = children_of(db, [issue.id]).get(issue.id, []) if issue.issue_type != "task" else []
    ids = [*child_ids, *([parent_id] if parent_id is not None else [])]
    visible = {each.id: each for each in visible_issues(db, actor, ids)} if ids else {}
    return visible.get(parent_id or 0), [visible[child] for child in child_ids if child in visible]


def find_parent(db: Connection, project: Project, parent_id: int) -> Issue:
    """Return an issue of the project that can contain tasks; raise Invalid otherwise."""
    parent = db.first(Issue, _BY_ID, issue=parent_id)
    if parent is None or parent.project_id != project.id or parent.deleted_at is not None:
        raise Invalid(parent_id=["is not an issue of this project"])
    return parent


def set_parent(db: Connection, issue: Issue, parent: Issue | None) -> None:
    """Make a task part of an issue, or of none; raise Invalid if their types or their confidentiality forbid it."""
    db.run(_REMOVE, issue=issue.id)
    if parent is None:
        return
    if issue.issue_type != "task" or parent.issue_type == "task":
        raise Invalid(parent_id=["is not allowed: only an issue or incident can contain tasks"])
    if parent.confidential and not issue.confidential:
        raise Invalid(parent_id=["is not allowed: a task of a confidential issue must be confidential"])
    if db.value(_COUNT, issue=parent.id) >= MAX_CHILDREN:
        raise Invalid(parent_id=["has too many tasks"])
    db.insert_row(work_item_parents, issue_id=issue.id, parent_id=parent.id)


def require_convertible(db: Connection, issue: Issue, new_type: str) -> None:
    """Raise Invalid if the issue has tasks, or the task a parent: the new type would not allow them."""
    if issue.id in parents_of(db, [issue.id]):
        raise Invalid(issue_type=[f"cannot be changed to {new_type} when linked to a parent issue"])
    if new_type == "task" and db.value(_COUNT, issue=issue.id):
        raise Invalid(issue_type=["cannot be changed to task while the issue has tasks"])


def replace_in_hierarchy(db: Connection, old_id: int, new_id: int) -> None:
    """Give the parent and the tasks of an issue to its copy."""
    db.run(_REPLACE_CHILD, old=old_id, new=new_id)
    db.run(_REPLACE_PARENT, old=old_id, new=new_id)


def remove_from_hierarchy(db: Connection, issue_id: int) -> None:
    """Remove the relations of a deleted issue to its parent and its tasks."""
    db.run(_REMOVE, issue=issue_id)
    db.run(_REMOVE_CHILDREN, issue=issue_id)
