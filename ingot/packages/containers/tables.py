"""Tables and records of container images."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, binary, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

container_repositories = Table(
    "container_repositories",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    # The part of the path after that of the project; empty for the image of the project itself.
    text("name"),
    text("created_at"),
    # Null until the first image is complete; such repositories are not listed.
    text("last_published_at", nullable=True),
    UniqueConstraint("project_id", "name"),
    sqlite_autoincrement=True,
)

# A blob is stored once. A repository serves only blobs that were uploaded to it: a digest must not grant access.
container_blobs = Table(
    "container_blobs",
    metadata,
    row_id(),
    text("digest", unique=True),
    number("size"),
    text("storage_key", unique=True),
    text("created_at"),
    sqlite_autoincrement=True,
)

container_blob_links = Table(
    "container_blob_links",
    metadata,
    row_id(),
    reference("repository_id", "container_repositories.id"),
    reference("blob_id", "container_blobs.id", ondelete="RESTRICT", index=True),
    text("created_at"),
    UniqueConstraint("repository_id", "blob_id"),
    sqlite_autoincrement=True,
)

container_manifests = Table(
    "container_manifests",
    metadata,
    row_id(),
    reference("repository_id", "container_repositories.id"),
    text("digest"),
    text("media_type"),
    text("artifact_type", nullable=True),
    # Digest of the manifest that this one describes, such as that of a signed image.
    text("subject", nullable=True),
    text("config_digest", nullable=True),
    # Size of the image: the manifest, its configuration and layers.
    number("total_size"),
    binary("content"),
    text("created_at"),
    text("updated_at"),
    UniqueConstraint("repository_id", "digest"),
    Index("ix_container_manifests_subject", "repository_id", "subject"),
    sqlite_autoincrement=True,
)

container_references = Table(
    "container_references",
    metadata,
    row_id(),
    reference("manifest_id", "container_manifests.id"),
    # Digest of a blob or of another manifest of the repository.
    text("digest"),
    UniqueConstraint("manifest_id", "digest"),
    Index("ix_container_references_digest", "digest", "manifest_id"),
    sqlite_autoincrement=True,
)

container_tags = Table(
    "container_tags",
    metadata,
    row_id(),
    reference("repository_id", "container_repositories.id"),
    text("name"),
    reference("manifest_id", "container_manifests.id", index=True),
    text("created_at"),
    text("updated_at"),
    UniqueConstraint("repository_id", "name"),
    sqlite_autoincrement=True,
)

container_uploads = Table(
    "container_uploads",
    metadata,
    row_id(),
    text("uuid", unique=True),
    reference("repository_id", "container_repositories.id", index=True),
    text("created_at"),
    sqlite_autoincrement=True,
)

# Levels are those of members, and 60 for administrators.
container_protection_rules = Table(
    "container_protection_rules",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("path_pattern"),
    number("push_level", nullable=True),
    number("delete_level", nullable=True),
    UniqueConstraint("project_id", "path_pattern"),
    sqlite_autoincrement=True,
)


class ContainerRepository(Record, frozen=True):
    """Images under one path."""

    id: int
    project_id: int
    name: str
    created_at: Timestamp
    last_published_at: Timestamp | None


class ContainerBlob(Record, frozen=True):
    """Layer or configuration of images."""

    id: int
    digest: str
    size: int
    storage_key: str
    created_at: Timestamp


class ContainerManifest(Record, frozen=True):
    """Description of an image, of images for several platforms, or of another artifact."""

    id: int
    repository_id: int
    digest: str
    media_type: str
    artifact_type: str | None
    subject: str | None
    config_digest: str | None
    total_size: int
    content: bytes
    created_at: Timestamp
    updated_at: Timestamp


class ContainerTag(Record, frozen=True):
    """Name of a manifest."""

    id: int
    repository_id: int
    name: str
    manifest_id: int
    created_at: Timestamp
    updated_at: Timestamp


class TaggedManifest(Record, frozen=True):
    """Tag with the properties of its manifest."""

    id: int
    name: str
    updated_at: Timestamp
    digest: str
    config_digest: str | None
    total_size: int


class ContainerProtectionRule(Record, frozen=True):
    """Levels that members need to push or delete images whose paths match."""

    id: int
    project_id: int
    path_pattern: str
    push_level: int | None
    delete_level: int | None
