"""The links by which readers of a mail stop following what it is about; only this instance can make one."""

import hmac
import re
from typing import NamedTuple

from ingot.core.db.vault import Vault

_KEY = re.compile(r"([0-9]{1,18})-([a-z_]{1,20})-([0-9]{1,18})-([0-9a-f]{64})")


class UnsubscribeRequest(NamedTuple):
    """Who stops following what."""

    user_id: int
    kind: str
    subject_id: int


def unsubscribe_key(vault: Vault, request: UnsubscribeRequest) -> str:
    """What a link holds."""
    return f"{request.user_id}-{request.kind}-{request.subject_id}-{_signature(vault, request)}"


def parse_unsubscribe_key(vault: Vault, key: str) -> UnsubscribeRequest | None:
    """What a link says, if we made it."""
    found = _KEY.fullmatch(key)
    if found is None:
        return None
    who = UnsubscribeRequest(int(found[1]), found[2], int(found[3]))
    return who if hmac.compare_digest(found[4], _signature(vault, who)) else None


def _signature(vault: Vault, request: UnsubscribeRequest) -> str:
    return vault.derive("unsubscribe", f"{request.user_id} {request.kind} {request.subject_id}".encode())
