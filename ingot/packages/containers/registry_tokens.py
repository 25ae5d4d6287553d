"""Tokens of the container registry: issued for a credential, and valid for minutes.

A token contains the encrypted credential, which is checked at each use, so it ends with the credential.
"""

import base64
import binascii
from collections.abc import Sequence

import msgspec

from ingot.accounts.sessions.password_check import require_password_use
from ingot.accounts.users.actors import active_actor
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import Unauthenticated
from ingot.core.late_imports import require_modules
from ingot.packages.access.authentication import actor_by_client_secret

_PURPOSE = "container registry token"
_MAX_SCOPES = 100


class RegistryCredential(msgspec.Struct, array_like=True):
    """A credential that was accepted: a token with its username, a user by password, or none."""

    username: str | None = None
    secret: str | None = None
    user_id: int = 0
    expires_at: Timestamp | None = None
    purpose: str = _PURPOSE
    granted: dict[str, list[str]] | None = None
    """The actions by repository for which a token was requested; None without a token."""


def registry_token(db: Connection, credential: RegistryCredential) -> str:
    """Return the token for a credential."""
    sealed = db.vault.seal(msgspec.json.encode(credential).decode())
    return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()


def credential_of(db: Connection, token: str) -> RegistryCredential:
    """Return the credential in a token; raise Unauthenticated if it is not valid or has expired."""
    # Imported here because the library takes megabytes.
    require_modules("cryptography.exceptions")
    from cryptography.exceptions import InvalidTag

    try:
        sealed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        credential = msgspec.json.decode(db.vault.unseal(sealed), type=RegistryCredential)
    except (InvalidTag, binascii.Error, ValueError, msgspec.DecodeError):
        raise Unauthenticated from None
    if credential.purpose != _PURPOSE or credential.expires_at is None or credential.expires_at <= db.now:
        raise Unauthenticated
    return credential


def requested_access(scopes: Sequence[str]) -> dict[str, list[str]]:
    """Return the actions by repository that scopes name, such as ``repository:group/project:pull,push``."""
    access: dict[str, list[str]] = {}
    for scope in " ".join(scopes).split()[:_MAX_SCOPES]:
        kind, _, rest = scope.partition(":")
        path, _, actions = rest.rpartition(":")
        if kind == "repository":
            access.setdefault(path, []).extend(actions.split(","))
    return access


def actor_of(db: Connection, credential: RegistryCredential) -> Actor:
    """Return the caller; raise Unauthenticated if the credential is not valid any more."""
    if credential.secret is not None:
        return actor_by_client_secret(db, credential.username, credential.secret)
    if not credential.user_id:
        return ANONYMOUS
    require_password_use(db, credential.user_id, "git")
    actor = active_actor(db, credential.user_id)
    if actor is None:
        raise Unauthenticated
    return actor
