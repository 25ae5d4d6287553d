"""Context of repository endpoints: the project, the caller's access to it and its repository."""

from collections.abc import Hashable
from typing import NamedTuple, Protocol

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.api.routes import Call, StagedCall
from ingot.core.settings import Settings
from ingot.git.core.refs import HEADS, TAGS
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import refs_fingerprint
from ingot.projects.projects import policy
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.code_access import readable_repository
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project


class InProject(Protocol):
    """Subject of a call that belongs to a project."""

    @property
    def project(self) -> Project:
        """Return the project."""


class RepositoryContext(NamedTuple):
    """A project's repository and the caller's access to it."""

    access: Access
    project: Project
    repository: Repository


def repository_in_path(call: Call) -> tuple[Access, RepositoryContext]:
    """Find the project in the path and return the caller's access with the repository context."""
    access, project = find_project(call.db, call.actor, call.path["id"])
    repository = readable_repository(repository_store(call.settings), call.actor, access, project)
    return access, RepositoryContext(access, project, repository)


def repository_state(settings: Settings, subject: InProject) -> Hashable:
    """Return a value that stays equal while the branches and tags of the project's repository are unchanged."""
    project = subject.project
    repository = Repository(repository_store(settings).path_of(project.repository_key))
    return tuple(refs_fingerprint(repository, folder, project.generation) for folder in (HEADS, TAGS))


def project_url(call: Call | StagedCall, project: Project) -> str:
    """Return the URL of a project's pages."""
    return f"{call.origin.base}/{project.full_path}"


def may_read_code(actor: Actor, access: Access, context: RepositoryContext) -> bool:
    """Users with permission to download the code."""
    return policy.may_download_code(actor, access, context.project)


def may_push_code(actor: Actor, access: Access, context: RepositoryContext) -> bool:
    """Developers, unless the project is archived; protected refs are checked when the ref is updated."""
    return policy.may_push_code(actor, access, context.project)


def may_protect(actor: Actor, access: Access, context: RepositoryContext) -> bool:
    """Users who administer the project, unless it is archived."""
    return policy.may_change_project(actor, access, context.project)
