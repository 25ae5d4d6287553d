"""What callers may send about keys."""

from typing import Literal

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp


class CreateKey(Params):
    """A new SSH key."""

    title: str
    key: str
    expires_at: Timestamp | None = None
    # A key for signing alone would open the SSH door all the same, so what we do not tell apart is refused.
    usage_type: Literal["auth_and_signing"] = "auth_and_signing"


class FindKey(Params):
    """The fingerprint of a key, by SHA-256 or MD5."""

    fingerprint: str


class CreateGpgKey(Params):
    """A new GPG key, in its armor."""

    key: str
