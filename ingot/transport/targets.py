"""What a path leads git to: the repository of a project, or that of its wiki, and who may use which."""

from typing import NamedTuple

from ingot.access.levels import Access
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.errors import NotFound
from ingot.git.repository import Repository
from ingot.git.store import Store
from ingot.projects.policy import may_download_wiki, may_write_project
from ingot.projects.tables import Project
from ingot.transport.callers import Caller
from ingot.transport.policy import Service, refusal
from ingot.wikis.work import ensure_wiki

_WIKI = ".wiki"


class Target(NamedTuple):
    """A repository by its project."""

    project: Project
    wiki: bool = False


def find_target(db: Connection, caller: Caller, path: str) -> tuple[Access, Target]:
    """What lies at a path, as the caller sees it; no project can be called like a wiki."""
    wiki = path.lower().endswith(_WIKI)
    around = path[: -len(_WIKI)] if wiki else path
    if "/" not in around:  # Else it would be taken for a project's number.
        raise NotFound("Project")
    here, project = caller.find(db, around)
    return here, Target(project, wiki)


def target_refusal(caller: Caller, here: Access, target: Target, service: Service) -> str | None:
    """Why they may not, in a sentence for the terminal; nothing where they may."""
    if not target.wiki:
        return refusal(caller, here, target.project, service)
    if not target.project.wiki_enabled:
        return "This project has no wiki."
    if service == "git-receive-pack":
        return _push_refusal(caller, here, target.project)
    if not caller.reads:
        return "This token cannot read repositories: it lacks the scope read_repository or api."
    if not may_download_wiki(caller.actor, here, target.project):
        return "You are not allowed to download the wiki of this project."
    return None


def _push_refusal(caller: Caller, here: Access, project: Project) -> str | None:
    if not caller.writes:
        return "This token cannot push: it lacks the scope write_repository or api."
    if caller.deploys:
        return "Deploy keys cannot push to wikis."
    if project.archived:
        return "The project is archived, so it cannot be changed."
    if not may_write_project(caller.actor, here, project):
        return "You are not allowed to push to the wiki of this project."
    return None


def open_target(database: Database, store: Store, target: Target) -> Repository:
    """The repository itself; a wiki's is made where nobody has used it yet, so this may write and wait."""
    if target.wiki:
        return ensure_wiki(database, store, target.project)
    return store.open(target.project.repository_key)
