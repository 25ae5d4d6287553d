"""Queries of certificates and issuers."""

from collections.abc import Collection

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.repositories.certificates.tables import X509Issuer, x509_certificates, x509_issuers

_certificates, _issuers = x509_certificates.c, x509_issuers.c
_BY_ID = select(x509_issuers).where(_issuers.id == bindparam("issuer"))
_BY_IDENTITY = select(_issuers.id).where(_issuers.identity == bindparam("identity"))
_IDS = select(_issuers.id).order_by(_issuers.id)
_KNOWN = (
    select(_issuers.identity, _certificates.serial_number, _certificates.revoked_at)
    .join(x509_issuers, _issuers.id == _certificates.issuer_id)
    .where(in_list(_issuers.identity, "identities"), in_list(_certificates.serial_number, "serials"))
)
_GOOD = select(_certificates.id, _certificates.serial_number).where(
    _certificates.issuer_id == bindparam("issuer"), _certificates.revoked_at.is_(None)
)


def issuer_or_none(db: Connection, issuer_id: int) -> X509Issuer | None:
    """Return an issuer by its id."""
    return db.first(X509Issuer, _BY_ID, issuer=issuer_id)


def issuer_id_or_none(db: Connection, identity: str) -> int | None:
    """Return the id of the issuer with this identity."""
    issuer_id: int | None = db.value(_BY_IDENTITY, identity=identity)
    return issuer_id


def issuer_ids(db: Connection) -> list[int]:
    """Return the ids of all issuers."""
    return [issuer_id for (issuer_id,) in db.rows(_IDS)]


def revocations(db: Connection, certificates: Collection[tuple[str, str]]) -> dict[tuple[str, str], bool]:
    """Return whether certificates are revoked, by the identity of the issuer and the serial number; only known ones."""
    identities, serials = ({each[part] for each in certificates} for part in (0, 1))
    rows = db.rows(_KNOWN, identities=sorted(identities), serials=sorted(serials))
    return {(identity, serial): revoked_at is not None for identity, serial, revoked_at in rows}


def good_certificates(db: Connection, issuer_id: int) -> dict[int, int]:
    """Return the serial numbers of the certificates of an issuer that are not revoked, by the id of their rows."""
    return {row_id: int(serial) for row_id, serial in db.rows(_GOOD, issuer=issuer_id)}
