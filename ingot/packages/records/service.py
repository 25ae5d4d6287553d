"""State changes of packages and their files."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Failure, NotFound
from ingot.core.jobs.queue import enqueue
from ingot.packages.files.store import ReceivedFile
from ingot.packages.records.queries import file_or_none, files_of, package_by_version
from ingot.packages.records.tables import (
    Package,
    PackageFile,
    PackageStatus,
    PackageType,
    package_files,
    packages,
)
from ingot.projects.projects.tables import Project

DELETE_PACKAGE_FILES = "delete_package_files"


class FileExists(Failure):
    """A file of a published version with other content; it never changes."""


def find_or_create_package(
    db: Connection,
    actor: Actor,
    project: Project,
    package_type: PackageType,
    name: str,
    version: str,
    *,
    name_key: str | None = None,
    status: PackageStatus = "default",
    properties: dict[str, Any] | None = None,
) -> Package:
    """Return the package of a project with this name and version; create it if there is none."""
    key = name if name_key is None else name_key
    package = package_by_version(db, project.id, package_type, key, version)
    if package is not None:
        return package
    db.insert(
        packages,
        project_id=project.id,
        creator_id=actor.user_id or None,
        package_type=package_type,
        name=name,
        name_key=key,
        version=version,
        status=status,
        properties=msgspec.json.encode(properties or {}).decode(),
        created_at=db.now,
        updated_at=db.now,
    )
    package = package_by_version(db, project.id, package_type, key, version)
    if package is None:
        raise NotFound("Package")
    return package


def add_file(
    db: Connection, package: Package, name: str, received: ReceivedFile, *, replaces: bool = False
) -> PackageFile:
    """Add an uploaded file to a package.

    A file that exists with equal content stays, and the upload is deleted. Raise FileExists if the content differs,
    unless it may be replaced.
    """
    existing = file_or_none(db, package.id, name)
    if existing is not None and existing.sha256 == received.sha256:
        enqueue(db, DELETE_PACKAGE_FILES, [received.storage_key])
        return existing
    if existing is not None:
        if not replaces:
            raise FileExists(name)
        delete_file(db, existing)
    db.insert(
        package_files,
        package_id=package.id,
        file_name=name,
        size=received.size,
        sha256=received.sha256,
        sha1=received.sha1,
        md5=received.md5,
        storage_key=received.storage_key,
        created_at=db.now,
    )
    added = file_or_none(db, package.id, name)
    if added is None:
        raise NotFound("Package")
    return added


def delete_file(db: Connection, file: PackageFile) -> None:
    """Delete a file of a package."""
    db.delete(package_files, file.id)
    delete_stored_files(db, [file.storage_key])


def delete_package(db: Connection, package: Package) -> None:
    """Delete a package and its files."""
    keys = [file.storage_key for file in files_of(db, [package.id])]
    db.delete(packages, package.id)
    delete_stored_files(db, keys)


def delete_stored_files(db: Connection, keys: Sequence[str]) -> None:
    """Delete files from the storage after the commit."""
    if keys:
        enqueue(db, DELETE_PACKAGE_FILES, list(keys))
