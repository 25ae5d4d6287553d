"""Queries of secure files."""

from collections.abc import Collection

from sqlalchemy import bindparam, func, select

from ingot.ci.secure_files.tables import SecureFile, secure_files
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound

_BATCH = 500
_IN_PROJECT = select(secure_files).where(secure_files.c.project_id == bindparam("project"))
_BY_ID = _IN_PROJECT.where(secure_files.c.id == bindparam("file"))
_BY_NAME = select(secure_files.c.id).where(
    secure_files.c.project_id == bindparam("project"), secure_files.c.name == bindparam("name")
)
_COUNT = select(func.count()).select_from(secure_files).where(secure_files.c.project_id == bindparam("project"))
_PAGE = list_query(_IN_PROJECT, secure_files.c.id, secure_files.c.id.desc())
_EXISTING_KEYS = select(secure_files.c.storage_key).where(in_list(secure_files.c.storage_key, "keys"))
_RECORDED = (
    select(secure_files.c.id, secure_files.c.storage_key, secure_files.c.stored_size)
    .where(secure_files.c.id > bindparam("after"))
    .order_by(secure_files.c.id)
    .limit(_BATCH)
)


def list_secure_files(db: Connection, project_id: int, page: Page) -> Listing[SecureFile]:
    """List a page of the secure files of a project, the newest first."""
    return fetch_page(db, SecureFile, _PAGE, page, project=project_id)


def count_secure_files(db: Connection, project_id: int) -> int:
    """Return the number of secure files of a project."""
    return int(db.value(_COUNT, project=project_id))


def has_secure_file(db: Connection, project_id: int, name: str) -> bool:
    """Return whether a project has a secure file of this name."""
    return db.value(_BY_NAME, project=project_id, name=name) is not None


def find_secure_file(db: Connection, project_id: int, file_id: int) -> SecureFile:
    """Return a secure file of a project; raise NotFound otherwise."""
    file = db.first(SecureFile, _BY_ID, project=project_id, file=file_id)
    if file is None:
        raise NotFound("Secure File")
    return file


def existing_keys(db: Connection, keys: Collection[str]) -> set[str]:
    """Return those of these storage keys that have a row."""
    return {key for (key,) in db.rows(_EXISTING_KEYS, keys=list(keys))}


def recorded_secure_files(db: Connection, after: int) -> list[tuple[int, str, int]]:
    """List the next files with their ids, storage keys and sizes in the storage."""
    return [(file_id, key, size) for file_id, key, size in db.rows(_RECORDED, after=after)]
