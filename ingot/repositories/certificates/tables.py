"""Tables of the certificates of trusted signatures and of their issuers."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import Record, binary, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

# An authority with a revocation list; one that publishes several lists has a row for each.
x509_issuers = Table(
    "x509_issuers",
    metadata,
    row_id(),
    # Digest of the name, the key and the address of the list.
    text("identity"),
    text("subject"),
    text("crl_url"),
    # In DER, if a signature contained it; otherwise it is one of the trusted certificates of the system.
    binary("certificate", nullable=True),
    text("checked_at", nullable=True),
    text("created_at"),
    UniqueConstraint("identity"),
    sqlite_autoincrement=True,
)

x509_certificates = Table(
    "x509_certificates",
    metadata,
    row_id(),
    reference("issuer_id", "x509_issuers.id"),
    # A decimal number of up to 49 digits.
    text("serial_number"),
    # When the server learned that it is revoked.
    text("revoked_at", nullable=True),
    text("created_at"),
    UniqueConstraint("issuer_id", "serial_number"),
    sqlite_autoincrement=True,
)


class X509Issuer(Record, frozen=True):
    """An authority with a revocation list."""

    id: int
    identity: str
    subject: str
    crl_url: str
    certificate: bytes | None
    checked_at: Timestamp | None
    created_at: Timestamp
