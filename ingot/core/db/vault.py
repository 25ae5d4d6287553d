"""How secrets are stored: sealed where they are read back, a keyed digest where they are only looked up."""

import hashlib
import hmac
import secrets
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES = 12


class Vault:
    """Seals and digests under the instance's secret."""

    def __init__(self, secret: bytes) -> None:
        self._digest_key = hmac.digest(secret, b"ingot digest", "sha256")
        # What the key makes of the first block is the same for all: copied, it saves a third at every call.
        self._digest = hmac.new(self._digest_key, digestmod="sha256")
        self._sealing_key = hmac.digest(secret, b"ingot sealing", "sha256")

    @cached_property
    def _cipher(self) -> "AESGCM":
        # Most processes never seal anything, and the library costs megabytes.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._sealing_key)

    def digest(self, secret: str) -> bytes:
        """What a random secret is looked up by; equal secrets have equal digests."""
        digest = self._digest.copy()
        digest.update(secret.encode("utf-8", "surrogatepass"))
        return digest.digest()

    def derive(self, purpose: str, seed: bytes) -> str:
        """A token that only this instance can make from ``seed``."""
        return hmac.new(self._digest_key, purpose.encode() + b"\0" + seed, hashlib.sha256).hexdigest()

    def seal(self, secret: str) -> bytes:
        """Encrypt ``secret`` so that ``unseal`` can read it back."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, secret.encode(), None)

    def unseal(self, sealed: bytes) -> str:
        """Decrypt what ``seal`` made."""
        return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], None).decode()
