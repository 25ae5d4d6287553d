"""Targets of git requests: the repository of a project or of its wiki, and the permission to use it."""

from typing import NamedTuple

from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.errors import NotFound
from ingot.git.core.repository import Repository
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.policy import may_download_wiki, may_write_project
from ingot.projects.projects.tables import Project
from ingot.repositories.wikis.staged import ensure_wiki
from ingot.transport.callers import GitCaller
from ingot.transport.policy import Service, service_refusal

_WIKI_SUFFIX = ".wiki"


class GitTarget(NamedTuple):
    """Repository of a project or of its wiki."""

    project: Project
    wiki: bool = False


def find_target(db: Connection, caller: GitCaller, path: str) -> tuple[Access, GitTarget]:
    """Return the target at a path as the caller sees it; raise ``NotFound``. No project's path ends like a wiki's."""
    wiki = path.lower().endswith(_WIKI_SUFFIX)
    project_path = path[: -len(_WIKI_SUFFIX)] if wiki else path
    if "/" not in project_path:  # It would be taken for the id of a project.
        raise NotFound("Project")
    access, project = caller.find(db, project_path)
    return access, GitTarget(project, wiki)


def target_refusal(caller: GitCaller, access: Access, target: GitTarget, service: Service) -> str | None:
    """Return a message if the caller may not use a service on a target."""
    if not target.wiki:
        return service_refusal(caller, access, target.project, service)
    if not target.project.wiki_enabled:
        return "This project has no wiki."
    if service == "git-receive-pack":
        return _wiki_push_refusal(caller, access, target.project)
    if not caller.can_read:
        return "This token cannot read repositories: it lacks the scope read_repository or api."
    if not may_download_wiki(caller.actor, access, target.project):
        return "You are not allowed to download the wiki of this project."
    return None


def _wiki_push_refusal(caller: GitCaller, access: Access, project: Project) -> str | None:
    if not caller.can_write:
        return "This token cannot push: it lacks the scope write_repository or api."
    if caller.is_deploy_key:
        return "Deploy keys cannot push to wikis."
    if project.archived:
        return "The project is archived, so it cannot be changed."
    if not may_write_project(caller.actor, access, project):
        return "You are not allowed to push to the wiki of this project."
    return None


def open_target_repository(database: Database, store: RepositoryStore, target: GitTarget) -> Repository:
    """Open the repository; that of a wiki is created at its first use, which writes to the database."""
    if target.wiki:
        return ensure_wiki(database, store, target.project)
    return store.open(target.project.repository_key)
