"""Protecting branches and tags, and letting go of them."""

from ingot.access.levels import Level
from ingot.db.connection import Connection
from ingot.projects.tables import Project
from ingot.repository.protection.queries import branch_rule_or_none, find_branch_rule
from ingot.repository.protection.tables import ProtectedBranch, protected_branches


def protect_branch(
    db: Connection,
    project_id: int,
    name: str,
    push_level: int = Level.MASTER,
    merge_level: int = Level.MASTER,
    *,
    allow_force_push: bool = False,
) -> ProtectedBranch:
    """Add a rule, or give the one of this name other levels."""
    levels = {"push_level": push_level, "merge_level": merge_level, "allow_force_push": allow_force_push}
    rule = branch_rule_or_none(db, project_id, name)
    if rule is None:
        db.insert(protected_branches, project_id=project_id, name=name, created_at=db.now, **levels)
    else:
        db.update(protected_branches, rule.id, **levels)
    return find_branch_rule(db, project_id, name)


def let_developers(
    db: Connection, project: Project, branch: str, *, push: bool | None = None, merge: bool | None = None
) -> ProtectedBranch:
    """Protect a branch, and say what developers can do; what is not said stays as it was."""
    rule = branch_rule_or_none(db, project.id, branch)

    def level(wanted: bool | None, before: int) -> int:
        if wanted is None:
            return before
        return Level.DEVELOPER if wanted else Level.MASTER

    return protect_branch(
        db,
        project.id,
        branch,
        level(push, rule.push_level if rule else Level.MASTER),
        level(merge, rule.merge_level if rule else Level.MASTER),
        allow_force_push=rule.allow_force_push if rule else False,
    )


def unprotect_branch(db: Connection, project_id: int, name: str) -> None:
    """Remove the rule of this very name; one that is gone already is no error."""
    rule = branch_rule_or_none(db, project_id, name)
    if rule is not None:
        db.delete(protected_branches, rule.id)


def move_protection(db: Connection, project_id: int, old: str, new: str) -> None:
    """Protect the default branch under its new name, where an empty project's first push gave it one."""
    rule = branch_rule_or_none(db, project_id, old)
    if rule is not None and branch_rule_or_none(db, project_id, new) is None:
        db.update(protected_branches, rule.id, name=new)
