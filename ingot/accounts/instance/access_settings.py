"""Settings that nearly each request needs, decoded once for each version of them."""

from functools import lru_cache

import msgspec

from ingot.accounts.instance.settings import cached_stored_settings
from ingot.core.access.scopes import ADMIN_MODE
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import Denied

TERMS_NOT_ACCEPTED = (
    "You must accept the Terms of Service in order to perform this action. "
    "To accept these terms, sign in on the web pages."
)


class AccessSettings(msgspec.Struct, frozen=True):
    """The settings by GitLab's names; all_settings.py declares them."""

    admin_mode: bool = False
    enforce_terms: bool = False
    terms_updated_at: Timestamp | None = None
    session_expire_from_init: bool = True
    session_expire_delay: int = 10080
    default_preferred_language: str = "en"
    allow_runner_registration_token: bool = True

    def requires_acceptance(self, accepted_at: Timestamp | None) -> bool:
        """Return whether a user must accept the terms of service, who has accepted terms at a time or never."""
        return self.enforce_terms and (accepted_at is None or accepted_at < (self.terms_updated_at or ""))

    def limits_token(self, kind: str, scopes: str) -> bool:
        """Return whether the owner of a token, if an administrator, has only the rights of a user with it."""
        return self.admin_mode and (kind == "private" or ADMIN_MODE not in scopes.split())


@lru_cache(4)
def decode_access_settings(document: str) -> AccessSettings:
    """Return the settings of a stored document."""
    return msgspec.json.decode(document, type=AccessSettings)


def access_settings(db: Connection) -> AccessSettings:
    """Return the current settings."""
    return decode_access_settings(cached_stored_settings(db).document)


class TermsNotAccepted(Denied):
    """The refusal of a user who has not accepted the terms of service."""

    def __init__(self) -> None:
        super().__init__(TERMS_NOT_ACCEPTED)
