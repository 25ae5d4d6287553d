"""The keys by which clients know this server: made once, and kept."""

import os
import secrets
from pathlib import Path

KEY_TYPES = ("ed25519", "ecdsa")


def host_keys(data: Path) -> list[Path]:
    """The files of the host keys; those that are missing are made."""
    folder = data / "secrets"
    return [_load_or_create_key(folder / f"ssh_host_{kind}_key", kind) for kind in KEY_TYPES]


def _load_or_create_key(path: Path, kind: str) -> Path:
    if not path.exists():
        fresh = path.with_name(f".{secrets.token_hex(8)}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_generate_key(kind))
            file.flush()
            os.fsync(file.fileno())
        try:
            # Linking never replaces: of two first starts at once, one key wins.
            os.link(fresh, path)
        except FileExistsError:
            pass
        fresh.unlink()
    return path


def _generate_key(kind: str) -> bytes:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = ed25519.Ed25519PrivateKey.generate() if kind == "ed25519" else ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
