"""Tables of repositories in a bucket."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text

stored_repositories = Table(
    "stored_repositories",
    metadata,
    row_id(),
    text("key", unique=True),
    text("head"),
    number("generation"),
    # Refs that were deleted in this generation or before have no row any more.
    number("refs_complete_since"),
    text("changed_at", index=True),
    sqlite_autoincrement=True,
)

# The object of a deleted ref is empty, so that copies of an older generation notice the deletion.
stored_refs = Table(
    "stored_refs",
    metadata,
    row_id(),
    reference("repository_id", "stored_repositories.id"),
    text("name"),
    text("oid"),
    text("peeled", nullable=True),
    number("generation"),
    UniqueConstraint("repository_id", "name"),
    Index("ix_stored_refs_repository_id_generation", "repository_id", "generation"),
    sqlite_autoincrement=True,
)

stored_packs = Table(
    "stored_packs",
    metadata,
    row_id(),
    text("object_key", unique=True),
    text("name"),
    number("pack_bytes"),
    text("pack_sha256"),
    number("index_bytes"),
    text("index_sha256"),
    text("created_at"),
    # Since when a job knows that no repository lists the pack.
    text("unlisted_at", nullable=True, index=True),
    sqlite_autoincrement=True,
)

repository_packs = Table(
    "repository_packs",
    metadata,
    row_id(),
    reference("repository_id", "stored_repositories.id"),
    # A pack that is listed cannot be deleted, even if it is listed at the same moment.
    reference("pack_id", "stored_packs.id", ondelete="RESTRICT", index=True),
    UniqueConstraint("repository_id", "pack_id"),
    sqlite_autoincrement=True,
)


class StoredRepository(Record, frozen=True):
    """A repository in the bucket."""

    id: int
    key: str
    head: str
    generation: int
    refs_complete_since: int
    changed_at: str


class StoredRef(Record, frozen=True):
    """Name, object and peeled object of a ref; the object of a deleted ref is empty."""

    name: str
    oid: str
    peeled: str | None


class StoredPack(Record, frozen=True):
    """A pack and its index in the bucket."""

    id: int
    object_key: str
    name: str
    pack_bytes: int
    pack_sha256: str
    index_bytes: int
    index_sha256: str
