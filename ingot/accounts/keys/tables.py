"""What is stored of keys; all of it is public."""

from sqlalchemy import Table

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

ssh_keys = Table(
    "ssh_keys",
    metadata,
    row_id(),
    # A key that opens projects instead of standing for a user has none.
    reference("user_id", "users.id", nullable=True, index=True),
    text("title"),
    text("key"),
    text("kind"),
    number("bits"),
    # Both as ``ssh-keygen -l`` prints them, ``SHA256:…`` and ``aa:bb:…``; a key stands for one user at most.
    text("fingerprint_sha256", unique=True),
    text("fingerprint_md5", index=True),
    text("created_at"),
    text("expires_at", nullable=True),
    text("last_used_at", nullable=True),
    sqlite_autoincrement=True,
)

gpg_keys = Table(
    "gpg_keys",
    metadata,
    row_id(),
    reference("user_id", "users.id", index=True),
    text("key"),
    text("fingerprint", unique=True),
    text("created_at"),
    sqlite_autoincrement=True,
)


class SshKey(Record, frozen=True):
    """A public key that proves over SSH who somebody is."""

    id: int
    user_id: int | None
    title: str
    key: str
    kind: str
    bits: int
    fingerprint_sha256: str
    fingerprint_md5: str
    created_at: Timestamp
    expires_at: Timestamp | None
    last_used_at: Timestamp | None

    def active(self, now: Timestamp) -> bool:
        """Whether it still opens anything."""
        return self.expires_at is None or self.expires_at > now


class GpgKey(Record, frozen=True):
    """A public key that signatures of commits and tags are checked against."""

    id: int
    user_id: int
    key: str
    fingerprint: str
    created_at: Timestamp
