"""Certificates of custom domains in PEM: checks of uploaded ones, and what responses show of them."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from ingot.core.db.times import Timestamp, timestamp
from ingot.core.errors import Invalid

MAX_PEM_LENGTH = 64 * 1024
MAX_KEY_BITS = 8192
MIN_KEY_BITS = 2048


class CertificateFacts(NamedTuple):
    """Subject and validity of a certificate, as responses show them."""

    subject: str
    expires_at: Timestamp
    expired: bool
    text: str


def validate_certificate(certificate: str, key: str, domain: str) -> Timestamp:
    """Return the end of the validity of a chain; raise Invalid if it is unusable, or of another key or domain."""
    if len(certificate) > MAX_PEM_LENGTH:
        raise Invalid(certificate=["is too long"])
    if len(key) > MAX_PEM_LENGTH:
        raise Invalid(key=["is too long"])
    chain = _chain(certificate)
    try:
        private_key = load_pem_private_key(key.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise Invalid(key=["must be a valid PEM private key"]) from None
    if not isinstance(private_key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey):
        raise Invalid(key=["must be an RSA or ECDSA key"])
    if isinstance(private_key, rsa.RSAPrivateKey):
        if private_key.key_size > MAX_KEY_BITS:
            raise Invalid(key=[f"Certificate Key is too long. (Max {MAX_KEY_BITS} bits)"])
        if private_key.key_size < MIN_KEY_BITS:
            raise Invalid(key=[f"Certificate Key is too short. (Min {MIN_KEY_BITS} bits)"])
    encoding = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if private_key.public_key().public_bytes(*encoding) != chain[0].public_key().public_bytes(*encoding):
        raise Invalid(key=["doesn't match the certificate"])
    if not _covers(chain[0], domain):
        raise Invalid(certificate=[f"is not valid for {domain}"])
    for lower, upper in pairwise(chain):
        if lower.issuer != upper.subject:
            raise Invalid(certificate=["misses intermediates"])
    return timestamp(chain[0].not_valid_after_utc)


def read_facts(certificate: str) -> CertificateFacts:
    """Return the facts about the first certificate of a stored chain."""
    leaf = _chain(certificate)[0]
    now = datetime.now(UTC)
    subject = "".join(f"/{each.rfc4514_attribute_name}={each.value!s}" for each in leaf.subject)
    names = _names(leaf)
    text = (
        "Certificate:\n"
        f"    Version: {leaf.version.value + 1}\n"
        f"    Serial Number: {leaf.serial_number:x}\n"
        f"    Issuer: {leaf.issuer.rfc4514_string()}\n"
        f"    Not Before: {leaf.not_valid_before_utc:%b %d %H:%M:%S %Y} GMT\n"
        f"    Not After: {leaf.not_valid_after_utc:%b %d %H:%M:%S %Y} GMT\n"
        f"    Subject: {leaf.subject.rfc4514_string()}\n"
        f"    DNS: {', '.join(names)}\n"
    )
    expired = not leaf.not_valid_before_utc <= now <= leaf.not_valid_after_utc
    return CertificateFacts(subject, timestamp(leaf.not_valid_after_utc), expired, text)


def new_key() -> tuple[ec.EllipticCurvePrivateKey, str]:
    """Return a new key, also in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def self_signed_certificate(name: str) -> tuple[str, str]:
    """Return a certificate that no client accepts, and its key, both in PEM."""
    key, pem = new_key()
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=3650))
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(Encoding.PEM).decode(), pem


def _chain(certificate: str) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(certificate.encode())
    except (ValueError, TypeError):
        raise Invalid(certificate=["must be a valid PEM certificate"]) from None


def _covers(certificate: x509.Certificate, domain: str) -> bool:
    """Return whether a certificate names a domain, or all names beside it; clients look at no other names."""
    return not {domain, f"*.{domain.partition('.')[2]}"}.isdisjoint(name.lower() for name in _names(certificate))


def _names(certificate: x509.Certificate) -> list[str]:
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return []
    return extension.value.get_values_for_type(x509.DNSName)
