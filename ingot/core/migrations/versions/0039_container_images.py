"""Add container repositories, blobs, manifests, tags, uploads and protection rules."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add container repositories, blobs, manifests, tags, uploads and protection rules."""
    op.create_table(
        "container_blobs",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("storage_key", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_container_blobs")),
        sa.UniqueConstraint("digest", name=op.f("uq_container_blobs_digest")),
        sa.UniqueConstraint("storage_key", name=op.f("uq_container_blobs_storage_key")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "container_protection_rules",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("path_pattern", sa.Text(), nullable=False),
        sa.Column("push_level", sa.BigInteger(), nullable=True),
        sa.Column("delete_level", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_container_protection_rules_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_container_protection_rules")),
        sa.UniqueConstraint(
            "project_id", "path_pattern", name=op.f("uq_container_protection_rules_project_id_path_pattern")
        ),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "container_repositories",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("last_published_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_container_repositories_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_container_repositories")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_container_repositories_project_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "container_blob_links",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("repository_id", _IDENTIFIER, nullable=False),
        sa.Column("blob_id", _IDENTIFIER, nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["blob_id"], ["container_blobs.id"], name=op.f("fk_container_blob_links_blob_id"), ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["container_repositories.id"],
            name=op.f("fk_container_blob_links_repository_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_container_blob_links")),
        sa.UniqueConstraint("repository_id", "blob_id", name=op.f("uq_container_blob_links_repository_id_blob_id")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("container_blob_links", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_container_blob_links_blob_id"), ["blob_id"], unique=False)

    op.create_table(
        "container_manifests",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("repository_id", _IDENTIFIER, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("artifact_type", sa.Text(), nullable=True),
        sa.Column("subject", sa.Text(), nullable=True),
        sa.Column("config_digest", sa.Text(), nullable=True),
        sa.Column("total_size", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["container_repositories.id"],
            name=op.f("fk_container_manifests_repository_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_container_manifests")),
        sa.UniqueConstraint("repository_id", "digest", name=op.f("uq_container_manifests_repository_id_digest")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("container_manifests", schema=None) as batch_op:
        batch_op.create_index("ix_container_manifests_subject", ["repository_id", "subject"], unique=False)

    op.create_table(
        "container_uploads",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("uuid", sa.Text(), nullable=False),
        sa.Column("repository_id", _IDENTIFIER, nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["container_repositories.id"],
            name=op.f("fk_container_uploads_repository_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_container_uploads")),
        sa.UniqueConstraint("uuid", name=op.f("uq_container_uploads_uuid")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("container_uploads", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_container_uploads_repository_id"), ["repository_id"], unique=False)

    op.create_table(
        "container_references",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("manifest_id", _IDENTIFIER, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["manifest_id"],
            ["container_manifests.id"],
            name=op.f("fk_container_references_manifest_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_container_references")),
        sa.UniqueConstraint("manifest_id", "digest", name=op.f("uq_container_references_manifest_id_digest")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("container_references", schema=None) as batch_op:
        batch_op.create_index("ix_container_references_digest", ["digest", "manifest_id"], unique=False)

    op.create_table(
        "container_tags",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("repository_id", _IDENTIFIER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("manifest_id", _IDENTIFIER, nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["manifest_id"], ["container_manifests.id"], name=op.f("fk_container_tags_manifest_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["container_repositories.id"],
            name=op.f("fk_container_tags_repository_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_container_tags")),
        sa.UniqueConstraint("repository_id", "name", name=op.f("uq_container_tags_repository_id_name")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("container_tags", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_container_tags_manifest_id"), ["manifest_id"], unique=False)
