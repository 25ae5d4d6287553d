"""Key pairs of mirrors over SSH."""

from ingot.core.late_imports import require_modules


def generate_key_pair(comment: str) -> tuple[str, str]:
    """Return a new private key in OpenSSH's format, and the line of its public key."""
    # Imported here, since hardly any process needs it.
    require_modules(
        "cryptography.hazmat.primitives.asymmetric.ed25519",
        "cryptography.hazmat.primitives.serialization",
        "cryptography.hazmat.primitives.serialization.ssh",
    )
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    return private, f"{public} {comment}"
