"""The links by which readers of a mail stop following what it is about; only this instance can make one."""

import hmac
import re
from typing import NamedTuple

from ingot.db.vault import Vault

_KEY = re.compile(r"([0-9]{1,18})-([a-z_]{1,20})-([0-9]{1,18})-([0-9a-f]{64})")


class Unsubscribing(NamedTuple):
    """Who stops following what."""

    user_id: int
    kind: str
    subject_id: int


def unsubscribe_key(vault: Vault, who: Unsubscribing) -> str:
    """What a link holds."""
    return f"{who.user_id}-{who.kind}-{who.subject_id}-{_signature(vault, who)}"


def read_key(vault: Vault, key: str) -> Unsubscribing | None:
    """What a link says, if we made it."""
    found = _KEY.fullmatch(key)
    if found is None:
        return None
    who = Unsubscribing(int(found[1]), found[2], int(found[3]))
    return who if hmac.compare_digest(found[4], _signature(vault, who)) else None


def _signature(vault: Vault, who: Unsubscribing) -> str:
    return vault.derive("unsubscribe", f"{who.user_id} {who.kind} {who.subject_id}".encode())
