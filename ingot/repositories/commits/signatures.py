"""Verification of the signatures of commits and tags against the SSH and GPG keys of users, and X.509 certificates.

A signature is verified if it is valid, its key belongs to a user or its certificate comes from a trusted authority and
names the signer's address, and that address is a verified one of the user: otherwise any user could sign in the name of
another.
"""

import base64
import hashlib
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from ingot.accounts.keys.gpg_format import key_packets
from ingot.accounts.keys.tables import GpgKey
from ingot.accounts.users.tables import User
from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, day_of
from ingot.core.errors import Invalid
from ingot.core.log import log_failure
from ingot.core.offload import require_blocking_allowed
from ingot.git.history.signatures import ObjectSignature
from ingot.repositories.certificates.queries import revocations
from ingot.repositories.certificates.service import SeenCertificate, record_certificates
from ingot.repositories.commits.signature_keys import SignatureKeys, normal_address, read_signature_keys
from ingot.repositories.commits.x509_signatures import SigningCertificate, check_x509

VerificationStatus = Literal["verified", "unverified", "unknown_key"]
MAX_SIGNATURE_BYTES = 100_000
_GPGV_SECONDS = 5
_LIST_SECONDS = 3
_SSH_MAGIC = b"SSHSIG"
_SSH_HASHES = {b"sha256": hashlib.sha256, b"sha512": hashlib.sha512}
_gpg_cache: BoundedCache[tuple[str, bytes, tuple[str, ...]], str] = declare_cache("gpg-signatures", share=1)


class SignatureCheck(msgspec.Struct, frozen=True):
    """Result of a verification, with the owner of the key or address if it is verified."""

    status: VerificationStatus
    user: User | None = None
    gpg_key: GpgKey | None = None
    certificate: SigningCertificate | None = None
    """The certificate of a valid X.509 signature, trusted or not."""
    is_trusted: bool = False
    """Whether the certificate comes from a trusted authority."""
    is_revoked: bool = False


def check_signature(db: Connection, signature: ObjectSignature) -> SignatureCheck:
    """Verify the signature of a commit or tag."""
    keys = read_signature_keys(db, [signature.signer_email], _ssh_fingerprints([signature]))
    return _with_revocations(db, {"": _check(db.now, keys, signature)})[""]


def check_signatures(db: Connection, signatures: Mapping[str, ObjectSignature]) -> dict[str, SignatureCheck]:
    """Verify signatures by object id, with a fixed number of statements.

    Stops after a few seconds, because each new GPG signature takes a process; the rest is verified by the next call.
    """
    if not signatures:
        return {}
    addresses = [signature.signer_email for signature in signatures.values()]
    keys = read_signature_keys(db, addresses, _ssh_fingerprints(signatures.values()))
    checks, end = {}, time.monotonic() + _LIST_SECONDS
    for oid, signature in signatures.items():
        if time.monotonic() > end:
            break
        checks[oid] = _check(db.now, keys, signature)
    return _with_revocations(db, checks)


def _with_revocations(db: Connection, checks: dict[str, SignatureCheck]) -> dict[str, SignatureCheck]:
    """Return checks that tell which certificates are revoked; new certificates are recorded after the read.

    Only trusted ones count: otherwise anybody who pushes a signature could make the server read any address.
    """
    seen = {oid: each for oid, check in checks.items() if (each := _with_list_or_none(check)) is not None}
    if not seen:
        return checks
    known = revocations(db, {each.key for each in seen.values()})
    new = {each.key: each for each in seen.values() if each.key not in known}
    if new:
        db.after_read(lambda db: record_certificates(db, list(new.values())))
    revoked = {oid for oid, each in seen.items() if known.get(each.key)}
    return checks | {oid: replace(checks[oid], status="unverified", user=None, is_revoked=True) for oid in revoked}


def _with_list_or_none(check: SignatureCheck) -> SeenCertificate | None:
    """Return the trusted certificate of a signature if its issuer publishes a revocation list that HTTP reaches."""
    of = check.certificate if check.is_trusted else None
    if of is None or of.crl_url is None or not of.crl_url.startswith(("http://", "https://")):
        return None
    return SeenCertificate(of.serial_number, of.issuer, of.issuer_key_identifier, of.issuer_certificate, of.crl_url)


def _check(now: Timestamp, keys: SignatureKeys, signature: ObjectSignature) -> SignatureCheck:
    if len(signature.text) > MAX_SIGNATURE_BYTES:
        return SignatureCheck("unverified")
    address = normal_address(signature.signer_email)
    signer = keys.signers.get(address)
    if signature.kind == "X509":
        checked = check_x509(now, signature)
        if signer is not None and checked.is_trusted and checked.certificate and address in checked.certificate.emails:
            return SignatureCheck("verified", signer, certificate=checked.certificate, is_trusted=True)
        return SignatureCheck("unverified", certificate=checked.certificate, is_trusted=checked.is_trusted)
    if signature.kind == "SSH":
        return _check_ssh(now, keys, signature, signer)
    key = _valid_gpg_key(now, signature, keys.gpg_keys.get(signer.id, [])) if signer is not None else None
    return SignatureCheck("verified", signer, key) if key is not None else SignatureCheck("unknown_key")


def _ssh_fingerprints(signatures: Iterable[ObjectSignature]) -> list[str]:
    parsed = [_parsed_or_none(signature) for signature in signatures if signature.kind == "SSH"]
    return [signature.fingerprint for signature in parsed if signature is not None]


def _parsed_or_none(signature: ObjectSignature) -> "_SshSignature | None":
    if len(signature.text) > MAX_SIGNATURE_BYTES:
        return None
    try:
        return _parse_ssh_signature(signature.text)
    except ValueError as error:
        log_failure("SSH signature rejected", error)
        return None


def _check_ssh(now: Timestamp, keys: SignatureKeys, signature: ObjectSignature, signer: User | None) -> SignatureCheck:
    parsed = _parsed_or_none(signature)
    if parsed is None:
        return SignatureCheck("unverified")
    key = keys.ssh_keys.get(parsed.fingerprint)
    if key is None or key.user_id is None:
        return SignatureCheck("unknown_key")
    try:
        _verify_ssh(parsed, key.key, signature.payload)
    except Exception as error:  # noqa: BLE001 - Malformed blobs raise errors of many types; none of them is verified.
        log_failure("SSH signature rejected", error)
        return SignatureCheck("unverified")
    is_own = signer is not None and signer.id == key.user_id and key.active(now)
    return SignatureCheck("verified", signer) if is_own else SignatureCheck("unverified")


class _SshSignature(msgspec.Struct, frozen=True):
    public_key: bytes
    hash_name: bytes
    algorithm: bytes
    blob: bytes

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint of the key, as it is stored."""
        digest = base64.b64encode(hashlib.sha256(self.public_key).digest()).decode().rstrip("=")
        return f"SHA256:{digest}"


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


def _valid_gpg_key(now: Timestamp, signature: ObjectSignature, keys: Sequence[GpgKey]) -> GpgKey | None:
    """Return the key that made a valid signature; the result for given keys changes only when one expires."""
    if not keys:
        return None
    content = hashlib.sha256(signature.text + b"\0" + signature.payload).digest()
    cached = (day_of(now), content, tuple(hashlib.sha256(key.key.encode()).hexdigest() for key in keys))
    fingerprint = _gpg_cache.get(cached)
    if fingerprint is None:
        fingerprint = _gpg_signer(signature, keys)
        if fingerprint is None:
            return None
        _gpg_cache.put(cached, fingerprint, 100 * len(keys) + 100)
    return next((key for key in keys if key.fingerprint == fingerprint), None)


def _gpg_signer(signature: ObjectSignature, keys: Sequence[GpgKey]) -> str | None:
    """Return the fingerprint of the key that made a valid signature, or ""; None if gpgv is missing or too slow."""
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
    valid = [key.fingerprint for key in keys if result.returncode == 0 and _is_signer(result.stdout, key)]
    return valid[0] if valid else ""


def _is_signer(status: bytes, key: GpgKey) -> bool:
    """Return whether the status names a key as the primary key of the only valid signature.

    gpgv accepts signatures of expired and revoked keys and subkeys. It names only others as good.
    """
    if not any(line.startswith(b"[GNUPG:] GOODSIG ") for line in status.splitlines()):
        return False
    valid = [line.split() for line in status.splitlines() if line.startswith(b"[GNUPG:] VALIDSIG ")]
    return len(valid) == 1 and valid[0][-1].decode() == key.fingerprint


def _binary_key(key: GpgKey) -> bytes:
    try:
        return key_packets(key.key)
    except (Invalid, ValueError):  # It was accepted by an older version.
        return b""
