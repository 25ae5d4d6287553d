"""Tables and records of packages, their files, their tags and their protection rules."""

from typing import Literal

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

PackageType = Literal["generic", "maven", "npm", "pypi"]
PackageStatus = Literal["default", "hidden", "processing", "error", "pending_destruction", "deprecated"]

packages = Table(
    "packages",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    reference("creator_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    text("package_type"),
    text("name"),
    # The name as its package manager compares it.
    text("name_key"),
    # Empty for the package of the files that describe all versions in Maven.
    text("version"),
    text("status"),
    # JSON object with the properties that only this type of package has.
    text("properties"),
    text("created_at"),
    text("updated_at"),
    text("last_downloaded_at", nullable=True),
    UniqueConstraint("project_id", "package_type", "name_key", "version"),
    Index("ix_packages_project_id", "project_id", "id"),
    Index("ix_packages_name_key", "package_type", "name_key", "project_id"),
    sqlite_autoincrement=True,
)

# The file lies in <data>/packages below the first four digits of its key.
package_files = Table(
    "package_files",
    metadata,
    row_id(),
    reference("package_id", "packages.id"),
    text("file_name"),
    number("size"),
    text("sha256"),
    text("sha1", nullable=True),
    text("md5", nullable=True),
    text("storage_key", unique=True),
    text("created_at"),
    UniqueConstraint("package_id", "file_name"),
    Index("ix_package_files_sha256", "sha256", "package_id"),
    sqlite_autoincrement=True,
)

package_tags = Table(
    "package_tags",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("package_name"),
    text("name"),
    reference("package_id", "packages.id", index=True),
    UniqueConstraint("project_id", "package_name", "name"),
    sqlite_autoincrement=True,
)

# Levels are those of members, and 60 for administrators.
package_protection_rules = Table(
    "package_protection_rules",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("package_type"),
    text("name_pattern"),
    number("push_level", nullable=True),
    number("delete_level", nullable=True),
    UniqueConstraint("project_id", "package_type", "name_pattern", name="uq_package_protection_rules"),
    sqlite_autoincrement=True,
)


class Package(Record, frozen=True):
    """A version of a package."""

    id: int
    project_id: int
    creator_id: int | None
    package_type: PackageType
    name: str
    name_key: str
    version: str
    status: PackageStatus
    properties: str
    created_at: Timestamp
    updated_at: Timestamp
    last_downloaded_at: Timestamp | None


class PackageFile(Record, frozen=True):
    """A file of a package."""

    id: int
    package_id: int
    file_name: str
    size: int
    sha256: str
    sha1: str | None
    md5: str | None
    storage_key: str
    created_at: Timestamp


class PackageTag(Record, frozen=True):
    """A name for a version of a package, such as ``latest``."""

    id: int
    project_id: int
    package_name: str
    name: str
    package_id: int


class PackageProtectionRule(Record, frozen=True):
    """Levels that members need to push or delete packages whose names match."""

    id: int
    project_id: int
    package_type: PackageType
    name_pattern: str
    push_level: int | None
    delete_level: int | None
