"""Permissions on environments and deployments; all of them require CI and environments to be enabled."""

from typing import NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.errors import NotFound
from ingot.projects.environments.tables import Environment
from ingot.projects.projects.feature_access import may_use_feature
from ingot.projects.projects.tables import Project


def may_read_environments(actor: Actor, access: Access, project: Project) -> bool:
    """Reporters and above."""
    return _has_level(actor, access, project, Level.REPORTER)


def may_deploy(actor: Actor, access: Access, project: Project) -> bool:
    """Developers and above, unless the project is archived: create and stop environments, and deploy."""
    return _has_level(actor, access, project, Level.DEVELOPER) and not project.archived


class EnvironmentSubject(NamedTuple):
    """An environment in the path."""

    project: Project
    environment: Environment | None
    open: bool
    """Whether the environment is not protected from the caller."""

    def found(self) -> Environment:
        """Return the environment; raise NotFound if it does not exist."""
        if self.environment is None:
            raise NotFound("Environment")
        return self.environment


def may_stop(actor: Actor, access: Access, subject: EnvironmentSubject) -> bool:
    """Developers and above who may deploy to the environment if it is protected, unless the project is archived."""
    return may_deploy(actor, access, subject.project) and subject.open


def may_change_environment(actor: Actor, access: Access, subject: EnvironmentSubject) -> bool:
    """Maintainers and above who may deploy to the environment if it is protected, unless the project is archived."""
    return may_change_environments(actor, access, subject.project) and subject.open


def may_change_environments(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers and above, unless the project is archived: edit and delete environments."""
    return _has_level(actor, access, project, Level.MASTER) and not project.archived


def _has_level(actor: Actor, access: Access, project: Project, least: Level) -> bool:
    return (access.level >= least or actor.admin) and _has_environments(actor, access, project)


def _has_environments(actor: Actor, access: Access, project: Project) -> bool:
    return project.jobs_enabled and may_use_feature(actor, access, project, "environments")
