"""RSA key that signs ID tokens, created once and stored with the instance's other secrets."""

import os
import secrets
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingot.core.late_imports import require_modules
from ingot.core.offload import require_blocking_allowed, require_no_transaction

if TYPE_CHECKING:
    from joserfc.jwk import RSAKey

KEY_FILE = "openid.key"
ALGORITHM = "RS256"
_KEY_BITS = 2048
_keys: dict[Path, "RSAKey"] = {}
"""Keys that were read, by their files; a process needs one."""


def signing_key(data: Path) -> "RSAKey":
    """Return the instance's signing key, creating it at the first use."""
    file = data / "secrets" / KEY_FILE
    if file not in _keys:
        require_blocking_allowed()
        require_no_transaction(partial(_load_key, file))
        _load_key(file)
    require_modules("joserfc.jwk")
    return _keys[file]


def public_keys(data: Path) -> dict[str, Any]:
    """Return the public key as a JWK set."""
    key = signing_key(data)
    return {"keys": [{**key.as_dict(private=False), "kid": key.thumbprint(), "use": "sig", "alg": ALGORITHM}]}


def _load_key(file: Path) -> None:
    """Create the key if it does not exist, and read it; both compute for some milliseconds."""
    # Imported here because most instances never issue an ID token.
    from joserfc.jwk import RSAKey

    if not file.exists():
        _create_key(file)
    _keys[file] = RSAKey.import_key(file.read_bytes())


def _create_key(file: Path) -> None:
    from joserfc.jwk import RSAKey

    temporary = file.with_name(f".{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(RSAKey.generate_key(_KEY_BITS).as_pem(private=True))
        opened.flush()
        os.fsync(opened.fileno())
    try:
        # A link never replaces a file: if two workers create the key at once, one of them wins.
        os.link(temporary, file)
    except FileExistsError:
        pass
    temporary.unlink()
