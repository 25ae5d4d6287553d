"""Storage of secrets: encrypted if they are read back, a keyed digest if they are only looked up."""

import hashlib
import hmac
import secrets
from functools import cached_property
from typing import TYPE_CHECKING

from ingot.core.late_imports import require_modules

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES = 12


class Vault:
    """Encryption and digests with the instance's secret."""

    def __init__(self, secret: bytes) -> None:
        self._digest_key = hmac.digest(secret, b"ingot digest", "sha256")
        # Copying the state after the key block saves a third of every call.
        self._digest = hmac.new(self._digest_key, digestmod="sha256")
        self._sealing_key = hmac.digest(secret, b"ingot sealing", "sha256")

    @cached_property
    def _cipher(self) -> "AESGCM":
        # Imported on first use: most processes never encrypt, and the library takes megabytes.
        require_modules("cryptography.hazmat.primitives.ciphers.aead")
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._sealing_key)

    def digest(self, secret: str) -> bytes:
        """Return the digest by which a random secret is looked up; equal secrets have equal digests."""
        digest = self._digest.copy()
        digest.update(secret.encode("utf-8", "surrogatepass"))
        return digest.digest()

    def derive(self, purpose: str, seed: bytes) -> str:
        """Return a token that only this instance can derive from ``seed``."""
        return hmac.new(self._digest_key, purpose.encode() + b"\0" + seed, hashlib.sha256).hexdigest()

    def seal(self, secret: str) -> bytes:
        """Encrypt ``secret`` so that ``unseal`` can read it back."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, secret.encode(), None)

    def unseal(self, sealed: bytes) -> str:
        """Decrypt the result of ``seal``."""
        return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], None).decode()

    def seal_file(self, content: bytes, key: str) -> bytes:
        """Encrypt the content of a file; only a file with the same storage key can be decrypted."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, content, key.encode())

    def unseal_file(self, sealed: bytes, key: str) -> bytes:
        """Decrypt the result of ``seal_file``."""
        return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], key.encode())
