"""Types and sizes of SSH keys that the settings of the instance allow, for new keys and at each use."""

from ingot.accounts.instance.all_settings import AllSettings, cached_all_settings
from ingot.core.db.connection import Connection

FORBIDDEN = -1
_NAMES = {
    "ssh-rsa": "rsa",
    "ssh-ed25519": "ed25519",
    "sk-ssh-ed25519@openssh.com": "ed25519_sk",
    "sk-ecdsa-sha2-nistp256@openssh.com": "ecdsa_sk",
}


def key_restriction_error(db: Connection, kind: str, bits: int) -> str | None:
    """Return why the settings do not allow a key of this type and size; None if they do."""
    settings = cached_all_settings(db)
    smallest = _smallest(settings, _NAMES.get(kind, "ecdsa"))
    if smallest == FORBIDDEN:
        allowed = [
            name.upper()
            for name in ("rsa", "ecdsa", "ed25519", "ecdsa_sk", "ed25519_sk")
            if _smallest(settings, name) != FORBIDDEN
        ]
        return f"type is forbidden. Must be one of: {', '.join(allowed)}" if allowed else "type is forbidden"
    return f"is too short (minimum is {smallest} bits)" if bits < smallest else None


def _smallest(settings: AllSettings, name: str) -> int:
    size: int = getattr(settings, f"{name}_key_restriction")
    return size
