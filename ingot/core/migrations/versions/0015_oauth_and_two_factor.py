"""Add OAuth applications, sign-ins and second factors."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add OAuth applications, sign-ins and second factors."""
    _create_applications()
    _create_second_factors()
    op.create_table(
        "sign_ins",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("succeeded", sa.Boolean(), nullable=False),
        sa.Column("ip", sa.Text(), nullable=False),
        sa.Column("user_agent", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_sign_ins_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_ins")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_sign_ins_created_at"), "sign_ins", ["created_at"], unique=False)
    op.create_index("ix_sign_ins_user_id_id", "sign_ins", ["user_id", "id"], unique=False)


def _create_applications() -> None:
    op.create_table(
        "oauth_applications",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("owner_id", _IDENTIFIER, nullable=True),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("secret_digest", sa.LargeBinary(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("redirect_uri", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("confidential", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["users.id"], name=op.f("fk_oauth_applications_owner_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_applications")),
        sa.UniqueConstraint("uid", name=op.f("uq_oauth_applications_uid")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_oauth_applications_owner_id"), "oauth_applications", ["owner_id"], unique=False)
    op.create_table(
        "oauth_codes",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("application_id", _IDENTIFIER, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("family", sa.Text(), nullable=False),
        sa.Column("redirect_uri", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("code_challenge", sa.Text(), nullable=True),
        sa.Column("code_challenge_method", sa.Text(), nullable=True),
        sa.Column("nonce", sa.Text(), nullable=True),
        sa.Column("signed_in_at", sa.Text(), nullable=False),
        sa.Column("used", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["application_id"],
            ["oauth_applications.id"],
            name=op.f("fk_oauth_codes_application_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_oauth_codes_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_codes")),
        sa.UniqueConstraint("digest", name=op.f("uq_oauth_codes_digest")),
        sqlite_autoincrement=True,
    )
    for column in ("application_id", "user_id", "expires_at"):
        op.create_index(op.f(f"ix_oauth_codes_{column}"), "oauth_codes", [column], unique=False)
    op.create_table(
        "oauth_tokens",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("access_token_id", _IDENTIFIER, nullable=False),
        sa.Column("application_id", _IDENTIFIER, nullable=True),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("family", sa.Text(), nullable=False),
        sa.Column("refresh_digest", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["access_token_id"],
            ["access_tokens.id"],
            name=op.f("fk_oauth_tokens_access_token_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["application_id"],
            ["oauth_applications.id"],
            name=op.f("fk_oauth_tokens_application_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_oauth_tokens_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_tokens")),
        sa.UniqueConstraint("access_token_id", name=op.f("uq_oauth_tokens_access_token_id")),
        sa.UniqueConstraint("refresh_digest", name=op.f("uq_oauth_tokens_refresh_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_oauth_tokens_family"), "oauth_tokens", ["family"], unique=False)
    op.create_index(
        "ix_oauth_tokens_application_id_user_id", "oauth_tokens", ["application_id", "user_id"], unique=False
    )
    op.create_index("ix_oauth_tokens_user_id", "oauth_tokens", ["user_id"], unique=False)


def _create_second_factors() -> None:
    op.create_table(
        "second_factors",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_second_factors_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_second_factors")),
        sa.UniqueConstraint("user_id", name=op.f("uq_second_factors_user_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "recovery_codes",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_recovery_codes_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recovery_codes")),
        sa.UniqueConstraint("digest", name=op.f("uq_recovery_codes_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_recovery_codes_user_id"), "recovery_codes", ["user_id"], unique=False)
