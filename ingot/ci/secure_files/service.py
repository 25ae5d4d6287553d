"""State changes of secure files."""

from typing import NamedTuple

import msgspec

from ingot.ci.encrypted_files.store import EncryptedFile
from ingot.ci.secure_files.details import FileDetails
from ingot.ci.secure_files.queries import count_secure_files, find_secure_file, has_secure_file
from ingot.ci.secure_files.tables import SecureFile, secure_files
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, too_long_message
from ingot.core.jobs.queue import enqueue
from ingot.projects.projects.tables import Project

DELETE_SECURE_FILES = "delete_secure_files"
MAX_FILE_BYTES = 5 * 2**20
MAX_FILES = 100
"""Secure files of a project."""
MAX_NAME_LENGTH = 255


class StoredSecureFile(NamedTuple):
    """An uploaded file that is encrypted in the storage."""

    name: str
    file: EncryptedFile
    details: FileDetails | None


def validate_new_file(db: Connection, project: Project, name: str) -> None:
    """Raise Invalid for an invalid or taken name, or if the project has too many secure files."""
    if not name.strip():
        raise Invalid(name=["can't be blank"])
    if len(name) > MAX_NAME_LENGTH:
        raise Invalid(name=[too_long_message(MAX_NAME_LENGTH)])
    if name in (".", "..") or any(character in "/\\" or not character.isprintable() for character in name):
        raise Invalid(name=["is invalid"])
    if has_secure_file(db, project.id, name):
        raise Invalid(name=["has already been taken"])
    if count_secure_files(db, project.id) >= MAX_FILES:
        raise Invalid(base=[f"Maximum number of secure files ({MAX_FILES}) exceeded"])


def add_secure_file(db: Connection, project: Project, stored: StoredSecureFile) -> SecureFile:
    """Record an uploaded file; raise Invalid if its name was taken meanwhile."""
    validate_new_file(db, project, stored.name)
    details = stored.details
    file_id = db.insert(
        secure_files,
        project_id=project.id,
        name=stored.name,
        checksum=stored.file.sha256,
        storage_key=stored.file.storage_key,
        stored_size=stored.file.stored_size,
        expires_at=None if details is None else details.expires_at,
        details=None if details is None else msgspec.json.encode(details.facts).decode(),
        created_at=db.now,
    )
    return find_secure_file(db, project.id, file_id)


def delete_secure_file(db: Connection, file: SecureFile) -> None:
    """Delete a secure file; a job deletes the stored file after the commit."""
    db.delete(secure_files, file.id)
    enqueue(db, DELETE_SECURE_FILES, [file.storage_key])
