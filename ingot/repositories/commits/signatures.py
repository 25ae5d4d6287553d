"""Verification of commit signatures against the SSH and GPG keys of users.

A signature is verified if it is valid, its key belongs to a user, and the committer's address is a verified one of that
user: otherwise any user could sign in the name of another.
"""

import base64
import hashlib
import subprocess
import tempfile
from pathlib import Path
from typing import Literal

import msgspec
from sqlalchemy import bindparam, exists, select

from ingot.accounts.keys.gpg_format import key_packets
from ingot.accounts.keys.queries import gpg_keys_of_user, key_by_fingerprint_or_none
from ingot.accounts.keys.tables import GpgKey
from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.tables import User, emails, users
from ingot.core.db.connection import Connection
from ingot.errors import Invalid
from ingot.git.history.signatures import CommitSignature
from ingot.log import log_failure
from ingot.offload import require_blocking_allowed

VerificationStatus = Literal["verified", "unverified", "unknown_key"]
MAX_SIGNATURE_BYTES = 100_000
_GPGV_SECONDS = 5
_SSH_MAGIC = b"SSHSIG"
_SSH_HASHES = {b"sha256": hashlib.sha256, b"sha512": hashlib.sha512}
_WITH_VERIFIED_ADDRESS = (
    select(users)
    .where(
        users.c.state == "active",
        (users.c.email == bindparam("address")) & users.c.proven_at.is_not(None)
        | exists().where(
            emails.c.user_id == users.c.id, emails.c.email == bindparam("address"), emails.c.proven_at.is_not(None)
        ),
    )
    .order_by(users.c.id)
    .limit(1)
)


class SignatureCheck(msgspec.Struct, frozen=True):
    """Result of a verification, with the owner of the key if it is verified."""

    status: VerificationStatus
    user: User | None = None
    gpg_key: GpgKey | None = None


def check_signature(db: Connection, signature: CommitSignature) -> SignatureCheck:
    """Verify the signature of a commit."""
    if len(signature.text) > MAX_SIGNATURE_BYTES or signature.kind == "X509":
        return SignatureCheck("unverified")
    committer = db.first(User, _WITH_VERIFIED_ADDRESS, address=signature.committer_email.strip().lower())
    if signature.kind == "SSH":
        return _check_ssh(db, signature, committer)
    keys = gpg_keys_of_user(db, committer.id) if committer is not None else []
    key = _valid_gpg_key(signature, keys)
    return SignatureCheck("verified", committer, key) if key is not None else SignatureCheck("unknown_key")


def _check_ssh(db: Connection, signature: CommitSignature, committer: User | None) -> SignatureCheck:
    try:
        parsed = _parse_ssh_signature(signature.text)
        digest = base64.b64encode(hashlib.sha256(parsed.public_key).digest()).decode().rstrip("=")
        key = key_by_fingerprint_or_none(db, f"SHA256:{digest}")
        if key is None or key.user_id is None:
            return SignatureCheck("unknown_key")
        _verify_ssh(parsed, key.key, signature.payload)
    except Exception as error:  # noqa: BLE001 - Malformed blobs raise errors of many types; none of them is verified.
        log_failure("SSH signature rejected", error)
        return SignatureCheck("unverified")
    owner = user_or_none(db, key.user_id)
    is_own = committer is not None and owner is not None and committer.id == owner.id and key.active(db.now)
    return SignatureCheck("verified", owner) if is_own else SignatureCheck("unverified")


class _SshSignature(msgspec.Struct, frozen=True):
    public_key: bytes
    hash_name: bytes
    algorithm: bytes
    blob: bytes


def _parse_ssh_signature(text: bytes) -> _SshSignature:
    """Parse an armored signature (PROTOCOL.sshsig of OpenSSH); raise ValueError if it is not one of git."""
    lines = text.strip().splitlines()
    content = base64.b64decode(b"".join(line.strip() for line in lines[1:-1]), validate=True)
    if not content.startswith(_SSH_MAGIC) or content[6:10] != b"\0\0\0\1":
        raise ValueError("format")
    public_key, namespace, _, hash_name, signature = _strings(content[10:], 5)
    if namespace != b"git":
        raise ValueError("namespace")
    algorithm, blob = _strings(signature, 2)
    return _SshSignature(public_key, hash_name, algorithm, blob)


def _strings(content: bytes, number: int) -> list[bytes]:
    """Read strings with their lengths; raise ValueError if they are truncated."""
    strings = []
    for _ in range(number):
        length = int.from_bytes(content[:4], "big")
        if len(content) < 4 + length:
            raise ValueError("length")
        strings.append(content[4 : 4 + length])
        content = content[4 + length :]
    return strings


def _verify_ssh(signature: _SshSignature, key_line: str, payload: bytes) -> None:
    """Verify a signature with the public key of a user; raise an error if it is not valid."""
    # Imported on first use: most processes verify nothing, and the library takes megabytes.
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key

    digest = _SSH_HASHES[signature.hash_name](payload).digest()
    parts = (b"git", b"", signature.hash_name, digest)
    signed = _SSH_MAGIC + b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    key = load_ssh_public_key(key_line.encode())
    if isinstance(key, ed25519.Ed25519PublicKey) and signature.algorithm == b"ssh-ed25519":
        key.verify(signature.blob, signed)
    elif isinstance(key, rsa.RSAPublicKey):
        chosen = {b"rsa-sha2-256": hashes.SHA256(), b"rsa-sha2-512": hashes.SHA512()}[signature.algorithm]
        key.verify(signature.blob, signed, padding.PKCS1v15(), chosen)
    elif isinstance(key, ec.EllipticCurvePublicKey) and signature.algorithm.startswith(b"ecdsa-sha2-"):
        r, s = (int.from_bytes(part, "big") for part in _strings(signature.blob, 2))
        curve_hash = {256: hashes.SHA256(), 384: hashes.SHA384(), 521: hashes.SHA512()}[key.curve.key_size]
        key.verify(encode_dss_signature(r, s), signed, ec.ECDSA(curve_hash))
    else:
        raise ValueError("algorithm")


def _valid_gpg_key(signature: CommitSignature, keys: list[GpgKey]) -> GpgKey | None:
    """Return the key that made a valid signature, determined by gpgv; None without gpgv."""
    if not keys:
        return None
    require_blocking_allowed()
    with tempfile.TemporaryDirectory(prefix="ingot-gpg-") as folder:
        for name, content in (
            ("signature", signature.text),
            ("payload", signature.payload),
            ("keys.gpg", b"".join(_binary_key(key) for key in keys)),
        ):
            Path(folder, name).write_bytes(content)
        command = ["gpgv", "--homedir", folder, "--keyring", f"{folder}/keys.gpg", "--status-fd", "1"]
        try:
            result = subprocess.run(
                [*command, f"{folder}/signature", f"{folder}/payload"],
                capture_output=True,
                timeout=_GPGV_SECONDS,
                check=False,
                env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"},
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            log_failure("gpgv failed", error)
            return None
    return next((key for key in keys if result.returncode == 0 and _is_signer(result.stdout, key)), None)


def _is_signer(status: bytes, key: GpgKey) -> bool:
    """Return whether the status names a key as the primary key of the only valid signature."""
    valid = [line.split() for line in status.splitlines() if line.startswith(b"[GNUPG:] VALIDSIG ")]
    return len(valid) == 1 and valid[0][-1].decode() == key.fingerprint


def _binary_key(key: GpgKey) -> bytes:
    try:
        return key_packets(key.key)
    except (Invalid, ValueError):  # It was accepted by an older version.
        return b""
