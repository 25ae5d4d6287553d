"""State changes of certificates and issuers."""

import hashlib
from collections.abc import Collection

import msgspec

from ingot.core.db.connection import Connection
from ingot.core.jobs.queue import enqueue
from ingot.repositories.certificates.queries import issuer_id_or_none, issuer_ids, revocations
from ingot.repositories.certificates.tables import x509_certificates, x509_issuers

CHECK_REVOCATION_LIST = "check_revocation_list"


class SeenCertificate(msgspec.Struct, frozen=True):
    """The certificate of a trusted signature, whose issuer publishes a revocation list."""

    serial_number: int
    issuer: str
    issuer_key_identifier: str
    issuer_certificate: bytes | None
    crl_url: str

    @property
    def key(self) -> tuple[str, str]:
        """Return the identity of the issuer and the serial number."""
        parts = (self.issuer, self.issuer_key_identifier, self.crl_url)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest(), str(self.serial_number)


def record_certificates(db: Connection, certificates: Collection[SeenCertificate]) -> None:
    """Store certificates that are not known yet, and have the lists of their issuers read."""
    known = revocations(db, [each.key for each in certificates])
    for each in certificates:
        identity, serial = each.key
        if (identity, serial) in known:
            continue
        issuer_id = issuer_id_or_none(db, identity)
        if issuer_id is None:
            columns = {"subject": each.issuer, "crl_url": each.crl_url, "certificate": each.issuer_certificate}
            issuer_id = db.insert(x509_issuers, identity=identity, created_at=db.now, **columns)
        db.insert_row(x509_certificates, issuer_id=issuer_id, serial_number=serial, created_at=db.now)
        known[identity, serial] = False
        _enqueue(db, issuer_id)


def enqueue_revocation_checks(db: Connection) -> None:
    """Have the lists of all issuers read."""
    for issuer_id in issuer_ids(db):
        _enqueue(db, issuer_id)


def record_check(db: Connection, issuer_id: int, revoked: Collection[int]) -> None:
    """Record which certificates the list of an issuer revokes; as in GitLab, a revoked one never becomes good again."""
    for row_id in revoked:
        db.update(x509_certificates, row_id, revoked_at=db.now)
    db.update(x509_issuers, issuer_id, checked_at=db.now)


def _enqueue(db: Connection, issuer_id: int) -> None:
    enqueue(db, CHECK_REVOCATION_LIST, issuer_id, unique_key=f"{CHECK_REVOCATION_LIST} {issuer_id}")
