"""Tables of the CI/CD catalog."""

from typing import Any

import msgspec
from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

# A project that publishes components. It is listed as soon as it has a version.
catalog_resources = Table(
    "catalog_resources",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    # Projects whose pipelines used a component within 30 days.
    number("usage_count"),
    text("created_at"),
    UniqueConstraint("project_id"),
    sqlite_autoincrement=True,
)

# A published release; it is withdrawn with the release.
catalog_versions = Table(
    "catalog_versions",
    metadata,
    row_id(),
    reference("resource_id", "catalog_resources.id"),
    reference("release_id", "releases.id"),
    reference("published_by_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    # Commit of the tag when the version was published.
    text("sha"),
    number("semver_major"),
    number("semver_minor"),
    number("semver_patch"),
    text("semver_prerelease", nullable=True),
    text("readme"),
    text("created_at"),
    UniqueConstraint("release_id"),
    Index("ix_catalog_versions_semver", "resource_id", "semver_major", "semver_minor", "semver_patch"),
    sqlite_autoincrement=True,
)

catalog_components = Table(
    "catalog_components",
    metadata,
    row_id(),
    reference("version_id", "catalog_versions.id"),
    text("name"),
    text("description", nullable=True),
    # JSON list of ``ComponentInput``.
    text("inputs"),
    number("usage_count"),
    UniqueConstraint("version_id", "name"),
    sqlite_autoincrement=True,
)

# The last day on which a pipeline of a project included a component.
catalog_component_usages = Table(
    "catalog_component_usages",
    metadata,
    row_id(),
    reference("component_id", "catalog_components.id"),
    reference("project_id", "projects.id", index=True),
    text("used_on", index=True),
    UniqueConstraint("component_id", "project_id"),
    sqlite_autoincrement=True,
)


class CatalogResource(Record, frozen=True):
    """A project that publishes components."""

    id: int
    project_id: int
    usage_count: int
    created_at: Timestamp


class CatalogVersion(Record, frozen=True):
    """A published version with its release, without its README."""

    id: int
    resource_id: int
    published_by_id: int | None
    sha: str
    semver_major: int
    semver_minor: int
    semver_patch: int
    semver_prerelease: str | None
    created_at: Timestamp
    tag: str
    released_at: Timestamp


class CatalogComponent(Record, frozen=True):
    """A component of a version."""

    id: int
    version_id: int
    name: str
    description: str | None
    inputs: str
    usage_count: int


class ComponentInput(msgspec.Struct, frozen=True):
    """An input of a component, as its header declares it."""

    name: str
    type: str
    required: bool
    default: Any
    description: str | None
    options: list[Any] | None
    regex: str | None
