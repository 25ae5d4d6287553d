"""Queries of repository storage moves."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.git.maintenance.store import DEFAULT_STORAGE, key_in, storage_of
from ingot.projects.projects.tables import Project, project_wikis, projects
from ingot.repositories.storage_moves.tables import StorageMove, repository_storage_moves

_moves = repository_storage_moves
_BY_ID = select(_moves).where(_moves.c.id == bindparam("move"))
_ALL = list_query(select(_moves), _moves.c.id, _moves.c.id.desc())
_OF_PROJECT = list_query(
    select(_moves).where(_moves.c.project_id == bindparam("project")), _moves.c.id, _moves.c.id.desc()
)
_RUNNING = select(_moves.c.id).where(
    _moves.c.project_id == bindparam("project"), (_moves.c.state == "scheduled") | (_moves.c.state == "started")
)
_WIKI_KEY = select(project_wikis.c.repository_key).where(project_wikis.c.project_id == bindparam("project"))
_LIVE = select(projects.c.id).where(projects.c.namespace_id.is_not(None)).order_by(projects.c.id)
_ON_STORAGE = _LIVE.where(
    projects.c.repository_key >= bindparam("first"), projects.c.repository_key < bindparam("after")
)
_ON_DEFAULT = _LIVE.where(projects.c.repository_key.not_like("%:%"))
_PATHS = select(projects.c.repository_key, projects.c.full_path).where(in_list(projects.c.repository_key, "keys"))
_WIKI_PATHS = (
    select(project_wikis.c.repository_key, projects.c.full_path)
    .join(projects, projects.c.id == project_wikis.c.project_id)
    .where(in_list(project_wikis.c.repository_key, "keys"))
)


def list_moves(db: Connection, page: Page, project_id: int | None = None) -> Listing[StorageMove]:
    """List moves, newest first; those of all projects or of one."""
    if project_id is None:
        return fetch_page(db, StorageMove, _ALL, page)
    return fetch_page(db, StorageMove, _OF_PROJECT, page, project=project_id)


def find_move(db: Connection, move_id: int, project_id: int | None = None) -> StorageMove:
    """Return a move; raise NotFound if it does not exist or belongs to another project."""
    move = db.first(StorageMove, _BY_ID, move=move_id)
    if move is None or project_id not in (None, move.project_id):
        raise NotFound(message="404 Not found")
    return move


def has_running_move(db: Connection, project_id: int) -> bool:
    """Return whether a move of a project has not ended yet."""
    return db.value(_RUNNING, project=project_id) is not None


def wiki_key_to_move_or_none(db: Connection, move: StorageMove) -> str | None:
    """Return the key of the repository of a wiki that moves with its project; None if it is in that storage already."""
    key: str | None = db.value(_WIKI_KEY, project=move.project_id)
    return None if key is None or key_in(move.destination_storage_name, key) == key else key


def projects_on_storage(db: Connection, storage: str) -> list[int]:
    """Return the projects whose repositories are in a storage."""
    if storage == DEFAULT_STORAGE:
        return [number for (number,) in db.rows(_ON_DEFAULT)]
    return [number for (number,) in db.rows(_ON_STORAGE, first=f"{storage}:", after=f"{storage};")]


def paths_by_repository_key(db: Connection, keys: Sequence[str]) -> dict[str, str]:
    """Return the full paths of projects and of their wikis, by the keys of repositories."""
    found = dict(db.rows(_PATHS, keys=list(keys)))
    return found | {key: f"{path}.wiki" for key, path in db.rows(_WIKI_PATHS, keys=list(keys))}


def storage_of_project(project: Project) -> str:
    """Return the name of the storage that has the repository of a project."""
    return storage_of(project.repository_key)
