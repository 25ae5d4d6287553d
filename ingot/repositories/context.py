"""Where calls on a repository take place: the project, what the caller holds in it, and the repository itself."""

from typing import NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.api.routes import Call, StagedCall
from ingot.git.core.repository import Repository
from ingot.projects.projects import policy
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.code_access import project_repository
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project


class RepositoryContext(NamedTuple):
    """A project's repository, seen by a caller."""

    here: Access
    project: Project
    repository: Repository


def repository_in_path(call: Call) -> tuple[Access, RepositoryContext]:
    """The repository of the project that the path names."""
    access, project = find_project(call.db, call.actor, call.path["id"])
    return access, RepositoryContext(access, project, project_repository(repository_store(call.settings), project))


def project_url(call: Call | StagedCall, project: Project) -> str:
    """Where the pages of a project begin."""
    return f"{call.origin.base}/{project.full_path}"


def may_read_code(actor: Actor, access: Access, context: RepositoryContext) -> bool:
    """Those who may download the code."""
    return policy.may_download_code(actor, access, context.project)


def may_push_code(actor: Actor, access: Access, context: RepositoryContext) -> bool:
    """Developers, unless the project is archived; what is protected asks for more at the gate."""
    return policy.may_push_code(actor, access, context.project)


def may_protect(actor: Actor, access: Access, context: RepositoryContext) -> bool:
    """Those who administer the project, unless it is archived."""
    return policy.may_change_project(actor, access, context.project)
