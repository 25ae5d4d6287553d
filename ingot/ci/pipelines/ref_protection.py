"""Protection of the branch or tag of a pipeline: which variables and runners apply, and who may run its jobs."""

from ingot.accounts.users.actors import active_actor
from ingot.ci.pipelines.policy import may_run_pipelines
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.pipelines.tables import Pipeline
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.policy import (
    matching_branch_rules,
    matching_tag_rules,
    may_update_branch,
    may_update_tag,
)
from ingot.repositories.protection.queries import branch_rules, tag_rules


def is_protected_ref(db: Connection, project_id: int, ref: str, *, is_tag: bool) -> bool:
    """Return whether a rule protects a branch or tag."""
    if is_tag:
        return bool(matching_tag_rules(tag_rules(db, project_id), ref))
    return bool(matching_branch_rules(branch_rules(db, project_id), ref))


def is_protected_merge_request(
    db: Connection, actor: Actor, access: Access, project_id: int, merge_request: MergeRequest
) -> bool:
    """Return whether both branches of a merge request within one project are protected and the user may update both.

    Others would run jobs with protected variables that they could not run on either branch.
    """
    if not merge_request.target_project_id == merge_request.source_project_id == project_id:
        return False
    rules = branch_rules(db, project_id)
    return all(
        matching_branch_rules(rules, branch) and may_update_branch(actor, access, rules, branch)
        for branch in (merge_request.source_branch, merge_request.target_branch)
    )


def may_run_on_ref(db: Connection, actor: Actor, access: Access, project: Project, ref: str, *, is_tag: bool) -> bool:
    """Return whether a user may run pipelines for a branch or tag."""
    if not may_run_pipelines(actor, access, project):
        return False
    if is_tag:
        return may_update_tag(actor, access, tag_rules(db, project.id), ref)
    return may_update_branch(actor, access, branch_rules(db, project.id), ref)


def may_run_jobs_of(db: Connection, actor: Actor, access: Access, project: Project, pipeline: Pipeline) -> bool:
    """Return whether a user may start, retry or cancel jobs of a pipeline."""
    if pipeline.merge_request_id is not None:
        if not may_run_pipelines(actor, access, project):
            return False
        merge_request = merge_request_by_id(db, pipeline.merge_request_id) if pipeline.protected else None
        return merge_request is None or is_protected_merge_request(db, actor, access, project.id, merge_request)
    return may_run_on_ref(db, actor, access, project, pipeline.ref, is_tag=pipeline.tag)


def runner_of_pipeline(db: Connection, user_id: int | None, project: Project) -> tuple[Actor, Access] | None:
    """Return the user in whose name a pipeline runs, with their access; None if they may not run pipelines."""
    actor = None if user_id is None else active_actor(db, user_id)
    if actor is None:
        return None
    try:
        access, project = find_project(db, actor, project.id)
    except NotFound:
        return None
    return (actor, access) if may_run_pipelines(actor, access, project) else None
