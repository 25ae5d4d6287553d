"""Verification of X.509 signatures (CMS, RFC 5652) by openssl, which trusts the certificate authorities of the system.

Administrators add their own authority to the system's certificates, or name a file by ``SSL_CERT_FILE``.
"""

import base64
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.db.times import Timestamp, day_of
from ingot.core.log import log_failure
from ingot.core.offload import require_blocking_allowed
from ingot.git.history.signatures import ObjectSignature
from ingot.repositories.certificates.openssl import run_openssl

if TYPE_CHECKING:  # The library takes megabytes, and most processes verify nothing.
    from cryptography import x509

_SECONDS = 5


class SigningCertificate(msgspec.Struct, frozen=True):
    """Facts about the certificate of a signer."""

    fingerprint: str
    subject: str
    key_identifier: str
    emails: tuple[str, ...]
    serial_number: int
    issuer: str
    issuer_key_identifier: str
    issuer_certificate: bytes | None
    """The certificate of the issuer in DER, if the signature contains it."""
    crl_url: str | None


class X509Check(msgspec.Struct, frozen=True):
    """Result of a verification; without a certificate, the signature is not valid."""

    is_trusted: bool = False
    certificate: SigningCertificate | None = None


_x509_cache: BoundedCache[tuple[str, bytes], X509Check] = declare_cache("certificate-signatures", share=1)


def check_x509(now: Timestamp, signature: ObjectSignature) -> X509Check:
    """Verify a signature; a change of the trusted authorities counts from the next day or restart on."""
    key = day_of(now), hashlib.sha256(signature.text + b"\0" + signature.payload).digest()
    check = _x509_cache.get(key)
    if check is None:
        try:
            check = _check(signature)
        except (OSError, subprocess.TimeoutExpired) as error:
            log_failure("openssl failed", error)
            return X509Check()
        except ValueError as error:  # The certificate or the armor is malformed.
            log_failure("X.509 signature rejected", error)
            check = X509Check()
        issuer = check.certificate.issuer_certificate if check.certificate else None
        _x509_cache.put(key, check, 1000 + len(issuer or b""))
    return check


def _check(signature: ObjectSignature) -> X509Check:
    from cryptography import x509

    require_blocking_allowed()
    with tempfile.TemporaryDirectory(prefix="ingot-x509-") as folder:
        Path(folder, "signature").write_bytes(_without_armor(signature.text))
        Path(folder, "payload").write_bytes(signature.payload)
        trusted = _verify(folder, "-attime", str(max(signature.signed_at, 0)))
        if not trusted and not _verify(folder, "-noverify"):
            return X509Check()
        signers = x509.load_pem_x509_certificates(Path(folder, "signer").read_bytes())
        others = x509.load_pem_x509_certificates(Path(folder, "certificates").read_bytes())
    return X509Check(trusted, _facts(signers[0], others)) if len(signers) == 1 else X509Check()


def _without_armor(text: bytes) -> bytes:
    """Return the content of an armored message, which openssl reads only under one of its names."""
    return base64.b64decode(b"".join(text.split(b"-----")[2:3]))


def _verify(folder: str, *options: str) -> bool:
    """Return whether the signature is valid; the certificate of its signer is in the file ``signer`` then."""
    command = ["cms", "-verify", "-binary", "-inform", "DER", "-in", "signature", "-content", "payload"]
    files = ("-signer", "signer", "-certsout", "certificates", "-out", os.devnull)
    return run_openssl(folder, *command, *files, *options, seconds=_SECONDS).returncode == 0


def _facts(certificate: "x509.Certificate", others: Iterable["x509.Certificate"]) -> SigningCertificate:
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    found: dict[type, Any] = {type(extension.value): extension.value for extension in certificate.extensions}
    identifier, authority = found.get(x509.SubjectKeyIdentifier), found.get(x509.AuthorityKeyIdentifier)
    names, lists = found.get(x509.SubjectAlternativeName), found.get(x509.CRLDistributionPoints)
    in_subject = [str(name.value) for name in certificate.subject.get_attributes_for_oid(x509.NameOID.EMAIL_ADDRESS)]
    emails = [*(names.get_values_for_type(x509.RFC822Name) if names else ()), *in_subject]
    return SigningCertificate(
        hashlib.sha256(certificate.tbs_certificate_bytes).hexdigest(),
        certificate.subject.rfc4514_string(),
        _written(identifier and identifier.digest),
        tuple(dict.fromkeys(email.lower() for email in emails)),
        certificate.serial_number,
        certificate.issuer.rfc4514_string(),
        _written(authority and authority.key_identifier),
        next((each.public_bytes(Encoding.DER) for each in others if _has_issued(each, certificate)), None),
        next((str(name.value) for point in lists or () for name in point.full_name or ()), None),
    )


def _has_issued(issuer: "x509.Certificate", certificate: "x509.Certificate") -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        certificate.verify_directly_issued_by(issuer)
    except (InvalidSignature, TypeError, ValueError):
        return False
    return True


def _written(identifier: bytes | None) -> str:
    return (identifier or b"").hex(":").upper()
