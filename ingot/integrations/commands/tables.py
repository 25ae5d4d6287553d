"""Table and record of links between accounts and chat users."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

chat_names = Table(
    "chat_names",
    metadata,
    row_id(),
    reference("user_id", "users.id", index=True),
    # A link is valid for one service only, because those who know its token can act as any user of the chat.
    reference("service_id", "services.id"),
    text("team_id"),
    text("team_domain"),
    text("chat_id"),
    text("chat_name"),
    text("created_at"),
    text("last_used_at", nullable=True),
    UniqueConstraint("service_id", "team_id", "chat_id", name="uq_chat_names_service_id_team_id_chat_id"),
    sqlite_autoincrement=True,
)


class ChatName(Record, frozen=True):
    """Link between an account and a user of a chat."""

    id: int
    user_id: int
    service_id: int
    team_id: str
    team_domain: str
    chat_id: str
    chat_name: str
    created_at: Timestamp
    last_used_at: Timestamp | None
