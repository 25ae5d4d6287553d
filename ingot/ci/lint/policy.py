"""Permissions on the CI lint of projects."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.projects.feature_access import may_use_feature
from ingot.projects.projects.policy import may_download_code, may_push_code
from ingot.projects.projects.tables import Project


def may_lint_committed_config(actor: Actor, access: Access, project: Project) -> bool:
    """Users who may read the code of a project that has pipelines."""
    return may_use_feature(actor, access, project, "builds") and may_download_code(actor, access, project)


def may_lint_config(actor: Actor, access: Access, project: Project) -> bool:
    """Developers: an included file may be requested from another server, and variables of the project are used."""
    return project.jobs_enabled and may_push_code(actor, access, project)
