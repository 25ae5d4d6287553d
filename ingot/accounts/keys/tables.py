"""Tables of SSH and GPG keys; all columns are public data."""

from sqlalchemy import Table, false

from ingot.core.db.schema import Record, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

ssh_keys = Table(
    "ssh_keys",
    metadata,
    row_id(),
    # Null for deploy keys.
    reference("user_id", "users.id", nullable=True, index=True),
    text("title"),
    text("key"),
    text("kind"),
    number("bits"),
    # In the format of ``ssh-keygen -l``, ``SHA256:…`` and ``aa:bb:…``. Unique, because a key identifies one user.
    text("fingerprint_sha256", unique=True),
    text("fingerprint_md5", index=True),
    text("created_at"),
    text("expires_at", nullable=True),
    text("last_used_at", nullable=True),
    # Set for deploy keys that administrators created for all projects.
    flag("public", server_default=false()),
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
    """A public key that authenticates a user, or grants access to projects, over SSH."""

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
    public: bool = False

    def active(self, now: Timestamp) -> bool:
        """Return whether the key has not expired."""
        return self.expires_at is None or self.expires_at > now


class GpgKey(Record, frozen=True):
    """A public key for verifying signatures of commits and tags."""

    id: int
    user_id: int
    key: str
    fingerprint: str
    created_at: Timestamp
