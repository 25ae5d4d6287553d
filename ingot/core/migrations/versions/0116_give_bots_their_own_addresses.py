"""Give bots addresses that mark their commits."""

import sqlalchemy as sa
from alembic import op

revision = "0116"
down_revision = "0115"

_UNKNOWN = "@unverified.invalid"


def upgrade() -> None:
    """Replace the random addresses of bots of access tokens, which lead to no mailbox, by their usernames."""
    users = sa.table("users", sa.column("email"), sa.column("username_key"), sa.column("bot"))
    is_random = sa.and_(users.c.email.like(f"%{_UNKNOWN}"), users.c.username_key.like("%\\_bot\\_%", escape="\\"))
    addressed = users.update().where(users.c.bot.is_(sa.true()), is_random)
    op.execute(addressed.values(email=users.c.username_key.concat(_UNKNOWN)))
