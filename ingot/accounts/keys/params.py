"""Request parameters of SSH and GPG keys."""

from typing import Literal

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp


class CreateKey(Params):
    """A new SSH key."""

    title: str
    key: str
    expires_at: Timestamp | None = None
    # Usage types are not distinguished: a key for signing alone would give SSH access too, so it is refused.
    usage_type: Literal["auth_and_signing"] = "auth_and_signing"


class FindKey(Params):
    """SHA-256 or MD5 fingerprint of a key."""

    fingerprint: str


class CreateGpgKey(Params):
    """A new armored GPG key."""

    key: str
