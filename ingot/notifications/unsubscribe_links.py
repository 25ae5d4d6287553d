"""Signed unsubscribe links in emails."""

import hmac
import re
from typing import NamedTuple

from ingot.core.db.vault import Vault

_KEY = re.compile(r"([0-9]{1,18})-([a-z_]{1,20})-([0-9]{1,18})-([0-9a-f]{64})")


class UnsubscribeRequest(NamedTuple):
    """The user and the subject of an unsubscribe link."""

    user_id: int
    kind: str
    subject_id: int


def unsubscribe_key(vault: Vault, request: UnsubscribeRequest) -> str:
    """Return the signed key of an unsubscribe link."""
    return f"{request.user_id}-{request.kind}-{request.subject_id}-{_signature(vault, request)}"


def parse_unsubscribe_key(vault: Vault, key: str) -> UnsubscribeRequest | None:
    """Return the content of a key if its signature is valid, or None."""
    match = _KEY.fullmatch(key)
    if match is None:
        return None
    request = UnsubscribeRequest(int(match[1]), match[2], int(match[3]))
    return request if hmac.compare_digest(match[4], _signature(vault, request)) else None


def _signature(vault: Vault, request: UnsubscribeRequest) -> str:
    return vault.derive("unsubscribe", f"{request.user_id} {request.kind} {request.subject_id}".encode())
