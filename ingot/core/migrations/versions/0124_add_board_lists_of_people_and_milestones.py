"""Add lists of boards for assignees and milestones, and limits of lists."""

import sqlalchemy as sa
from alembic import op

revision = "0124"
down_revision = "0123"
_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Let a list belong to an assignee or a milestone instead of a label, and have a limit."""
    if op.get_bind().dialect.name == "sqlite":
        _rebuild()
    else:
        _alter()
    op.create_index("ix_board_lists_assignee_id", "board_lists", ["assignee_id"])
    op.create_index("ix_board_lists_milestone_id", "board_lists", ["milestone_id"])


def _alter() -> None:
    op.alter_column("board_lists", "label_id", existing_type=_IDENTIFIER, nullable=True)
    for column, target in (("assignee_id", "users"), ("milestone_id", "milestones")):
        op.add_column("board_lists", sa.Column(column, _IDENTIFIER, nullable=True))
        op.create_foreign_key(f"fk_board_lists_{column}", "board_lists", target, [column], ["id"], ondelete="CASCADE")
        op.create_unique_constraint(f"uq_board_lists_board_id_{column}", "board_lists", ["board_id", column])
    op.add_column("board_lists", sa.Column("max_issue_count", sa.BigInteger(), server_default="0", nullable=False))


def _rebuild() -> None:
    """Copy the table, since SQLite cannot make a column optional; ids of deleted lists are not used again."""
    bind = op.get_bind()
    last_id = bind.exec_driver_sql("SELECT max(seq) FROM sqlite_sequence WHERE name = 'board_lists'").scalar()
    op.create_table(
        "new_board_lists",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("board_id", _IDENTIFIER, nullable=False),
        sa.Column("label_id", _IDENTIFIER, nullable=True),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("assignee_id", _IDENTIFIER, nullable=True),
        sa.Column("milestone_id", _IDENTIFIER, nullable=True),
        sa.Column("max_issue_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_board_lists_board_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["label_id"], ["labels.id"], name=op.f("fk_board_lists_label_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["assignee_id"], ["users.id"], name=op.f("fk_board_lists_assignee_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["milestone_id"], ["milestones.id"], name=op.f("fk_board_lists_milestone_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_board_lists")),
        sa.UniqueConstraint("board_id", "label_id", name=op.f("uq_board_lists_board_id_label_id")),
        sa.UniqueConstraint("board_id", "assignee_id", name=op.f("uq_board_lists_board_id_assignee_id")),
        sa.UniqueConstraint("board_id", "milestone_id", name=op.f("uq_board_lists_board_id_milestone_id")),
        sqlite_autoincrement=True,
    )
    bind.exec_driver_sql(
        "INSERT INTO new_board_lists SELECT id, board_id, label_id, position, created_at, NULL, NULL, 0 "
        "FROM board_lists"
    )
    bind.exec_driver_sql("DROP TABLE board_lists")
    bind.exec_driver_sql("ALTER TABLE new_board_lists RENAME TO board_lists")
    op.create_index("ix_board_lists_label_id", "board_lists", ["label_id"])
    if last_id is not None:
        bind.exec_driver_sql("UPDATE sqlite_sequence SET seq = ? WHERE name = 'board_lists'", (last_id,))
