"""Permissions on pipelines that run jobs."""

from collections.abc import Iterable

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.projects.policy import may_own_project, may_push_code
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.policy import (
    matching_branch_rules,
    matching_tag_rules,
    may_create_tag,
    may_merge_into,
    may_push_to,
)
from ingot.repositories.protection.tables import ProtectedBranch, ProtectedTag


def may_run_pipelines(actor: Actor, access: Access, project: Project) -> bool:
    """Developers, unless the project is archived or has no pipelines."""
    return actor.known and project.jobs_enabled and may_push_code(actor, access, project)


def may_delete_pipeline(actor: Actor, access: Access, project: Project) -> bool:
    """Owners, unless the project is archived or has no pipelines."""
    return may_run_pipelines(actor, access, project) and may_own_project(actor, access, project)


def may_run_on_branch(actor: Actor, access: Access, rules: Iterable[ProtectedBranch], branch: str) -> bool:
    """Users who may push to the branch or merge into it, because its jobs get protected variables."""
    matching = matching_branch_rules(rules, branch)
    return not matching or may_push_to(actor, access, matching) or may_merge_into(actor, access, matching)


def may_run_on_tag(actor: Actor, access: Access, rules: Iterable[ProtectedTag], tag: str) -> bool:
    """Users who may create the tag, because its jobs get protected variables."""
    matching = matching_tag_rules(rules, tag)
    return not matching or may_create_tag(actor, access, matching)
