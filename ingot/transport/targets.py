"""What a path leads git to: the repository of a project, or that of its wiki, and who may use which."""

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

_WIKI = ".wiki"


class GitTarget(NamedTuple):
    """A repository by its project."""

    project: Project
    wiki: bool = False


def find_target(db: Connection, caller: GitCaller, path: str) -> tuple[Access, GitTarget]:
    """What lies at a path, as the caller sees it; no project can be called like a wiki."""
    wiki = path.lower().endswith(_WIKI)
    around = path[: -len(_WIKI)] if wiki else path
    if "/" not in around:  # Else it would be taken for a project's number.
        raise NotFound("Project")
    access, project = caller.find(db, around)
    return access, GitTarget(project, wiki)


def target_refusal(caller: GitCaller, access: Access, target: GitTarget, service: Service) -> str | None:
    """Why they may not, in a sentence for the terminal; nothing where they may."""
    if not target.wiki:
        return service_refusal(caller, access, target.project, service)
    if not target.project.wiki_enabled:
        return "This project has no wiki."
    if service == "git-receive-pack":
        return _push_refusal(caller, access, target.project)
    if not caller.may_read:
        return "This token cannot read repositories: it lacks the scope read_repository or api."
    if not may_download_wiki(caller.actor, access, target.project):
        return "You are not allowed to download the wiki of this project."
    return None


def _push_refusal(caller: GitCaller, access: Access, project: Project) -> str | None:
    if not caller.writes:
        return "This token cannot push: it lacks the scope write_repository or api."
    if caller.is_deploy_key:
        return "Deploy keys cannot push to wikis."
    if project.archived:
        return "The project is archived, so it cannot be changed."
    if not may_write_project(caller.actor, access, project):
        return "You are not allowed to push to the wiki of this project."
    return None


def open_target_repository(database: Database, store: RepositoryStore, target: GitTarget) -> Repository:
    """The repository itself; a wiki's is made where nobody has used it yet, so this may write and wait."""
    if target.wiki:
        return ensure_wiki(database, store, target.project)
    return store.open(target.project.repository_key)
