"""Signed values that a browser stores between two requests; it can read but not change them."""

import base64
import hmac
from typing import TypeVar

import msgspec

from ingot.core.db.vault import Vault

S = TypeVar("S", bound=msgspec.Struct)


def sign_value(vault: Vault, purpose: str, content: msgspec.Struct) -> str:
    """Encode and sign a value for one purpose."""
    written = base64.urlsafe_b64encode(msgspec.json.encode(content))
    return f"{written.decode()}.{vault.derive(purpose, written)}"


def verify_signed(vault: Vault, purpose: str, text: str, kind: type[S]) -> S | None:
    """Return the value if its signature is valid for this purpose; otherwise None."""
    written, _, signature = text.encode("utf-8", "replace").partition(b".")
    if not hmac.compare_digest(vault.derive(purpose, written).encode(), signature):
        return None
    return msgspec.json.decode(base64.urlsafe_b64decode(written), type=kind)
