"""Add repositories in a bucket."""

import sqlalchemy as sa
from alembic import op

revision = "0093"
down_revision = "0090"


def upgrade() -> None:
    """Add repositories in a bucket."""

    op.create_table(
        "stored_packs",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("object_key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("pack_bytes", sa.BigInteger(), nullable=False),
        sa.Column("pack_sha256", sa.Text(), nullable=False),
        sa.Column("index_bytes", sa.BigInteger(), nullable=False),
        sa.Column("index_sha256", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("unlisted_at", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stored_packs")),
        sa.UniqueConstraint("object_key", name=op.f("uq_stored_packs_object_key")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("stored_packs", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_stored_packs_unlisted_at"), ["unlisted_at"], unique=False)

    op.create_table(
        "stored_repositories",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.Column("refs_complete_since", sa.BigInteger(), nullable=False),
        sa.Column("changed_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stored_repositories")),
        sa.UniqueConstraint("key", name=op.f("uq_stored_repositories_key")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("stored_repositories", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_stored_repositories_changed_at"), ["changed_at"], unique=False)

    op.create_table(
        "repository_packs",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("repository_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("pack_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["pack_id"], ["stored_packs.id"], name=op.f("fk_repository_packs_pack_id"), ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["stored_repositories.id"],
            name=op.f("fk_repository_packs_repository_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_repository_packs")),
        sa.UniqueConstraint("repository_id", "pack_id", name=op.f("uq_repository_packs_repository_id_pack_id")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("repository_packs", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_repository_packs_pack_id"), ["pack_id"], unique=False)

    op.create_table(
        "stored_refs",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("repository_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("oid", sa.Text(), nullable=False),
        sa.Column("peeled", sa.Text(), nullable=True),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"], ["stored_repositories.id"], name=op.f("fk_stored_refs_repository_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stored_refs")),
        sa.UniqueConstraint("repository_id", "name", name=op.f("uq_stored_refs_repository_id_name")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("stored_refs", schema=None) as batch_op:
        batch_op.create_index("ix_stored_refs_repository_id_generation", ["repository_id", "generation"], unique=False)
