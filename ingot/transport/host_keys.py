"""Host keys of the built-in SSH server: created at the first start and kept in the data directory."""

import os
import secrets
from pathlib import Path

KEY_TYPES = ("ed25519", "ecdsa")


def host_keys(data: Path) -> list[Path]:
    """Return the files of the host keys; create those that are missing."""
    folder = data / "secrets"
    return [_ensure_key(folder / f"ssh_host_{kind}_key", kind) for kind in KEY_TYPES]


def _ensure_key(path: Path, kind: str) -> Path:
    if not path.exists():
        temporary = path.with_name(f".{secrets.token_hex(8)}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_generate_key(kind))
            file.flush()
            os.fsync(file.fileno())
        try:
            # A link never replaces a file: of two concurrent first starts, one key wins.
            os.link(temporary, path)
        except FileExistsError:
            pass
        temporary.unlink()
    return path


def _generate_key(kind: str) -> bytes:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = ed25519.Ed25519PrivateKey.generate() if kind == "ed25519" else ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
