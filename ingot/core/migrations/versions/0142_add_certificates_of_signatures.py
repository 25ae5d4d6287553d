"""Add the certificates of trusted signatures and their issuers."""

import sqlalchemy as sa
from alembic import op

revision = "0142"
down_revision = "0141"
_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Let a job record which certificates their issuers have revoked."""
    op.create_table(
        "x509_issuers",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("crl_url", sa.Text(), nullable=False),
        sa.Column("certificate", sa.LargeBinary(), nullable=True),
        sa.Column("checked_at", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_x509_issuers")),
        sa.UniqueConstraint("identity", name=op.f("uq_x509_issuers_identity")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "x509_certificates",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("issuer_id", _IDENTIFIER, nullable=False),
        sa.Column("serial_number", sa.Text(), nullable=False),
        sa.Column("revoked_at", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["issuer_id"], ["x509_issuers.id"], name=op.f("fk_x509_certificates_issuer_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_x509_certificates")),
        sa.UniqueConstraint("issuer_id", "serial_number", name=op.f("uq_x509_certificates_issuer_id_serial_number")),
        sqlite_autoincrement=True,
    )
