"""Cleanup of container images by the policies of their projects."""

from functools import partial

import msgspec
from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.jobs.queue import enqueue
from ingot.packages.containers.params import DeleteContainerTags
from ingot.packages.containers.queries import all_tags
from ingot.packages.containers.service import delete_tag
from ingot.packages.containers.tables import container_repositories
from ingot.packages.containers.tag_selection import select_tags
from ingot.projects.projects.cleanup_policy import ContainerCleanupPolicy, next_run
from ingot.projects.projects.options import edited_options, project_options
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import projects

CLEAN_UP_TAGS = "clean_up_container_tags"
_CANDIDATES = (
    select(projects.c.id, projects.c.options_document)
    .where(
        projects.c.id.in_(select(container_repositories.c.project_id)),
        projects.c.options_document.contains('"container_expiration_policy"'),
    )
    .order_by(projects.c.id)
)
_REPOSITORIES = (
    select(container_repositories.c.id)
    .where(container_repositories.c.project_id == bindparam("project"))
    .order_by(container_repositories.c.id)
)


def enqueue_tag_cleanups(db: Connection) -> None:
    """Enqueue the cleanup of the projects whose policies are due."""
    for project_id, document in db.rows(_CANDIDATES):
        if _is_due(project_options(document).container_expiration_policy, db):
            enqueue(db, CLEAN_UP_TAGS, project_id, unique_key=f"{CLEAN_UP_TAGS}:{project_id}")


def clean_up_tags(database: Database, project_id: int) -> None:
    """Delete the tags that the policy of a project selects, and schedule the next cleanup."""
    for (repository_id,) in database.read(lambda db: db.rows(_REPOSITORIES, project=project_id)):
        database.write(partial(_clean_up_repository, project_id=project_id, repository_id=repository_id))
    database.write(partial(_schedule_next, project_id=project_id))


def _is_due(policy: ContainerCleanupPolicy, db: Connection) -> bool:
    return policy.enabled and policy.next_run_at is not None and policy.next_run_at <= db.now


def _clean_up_repository(db: Connection, project_id: int, repository_id: int) -> None:
    project = project_or_none(db, project_id)
    if project is None or not _is_due(project.options.container_expiration_policy, db):
        return
    policy = project.options.container_expiration_policy
    selection = DeleteContainerTags(
        name_regex_delete=policy.name_regex,
        name_regex_keep=policy.name_regex_keep,
        keep_n=policy.keep_n,
        older_than=policy.older_than,
    )
    for tag in select_tags(all_tags(db, repository_id), selection, db.now):
        delete_tag(db, tag)


def _schedule_next(db: Connection, project_id: int) -> None:
    project = project_or_none(db, project_id)
    if project is None or not _is_due(project.options.container_expiration_policy, db):
        return
    policy = project.options.container_expiration_policy
    scheduled = msgspec.structs.replace(policy, next_run_at=next_run(policy, db.now))
    document = edited_options(project.options_document, {"container_expiration_policy": scheduled})
    db.update(projects, project.id, options_document=document)
