"""Job that reads the revocation list (CRL, RFC 5280) of an issuer."""

import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ingot.core.db.database import Database
from ingot.core.log import log_failure
from ingot.core.outgoing.client import send
from ingot.core.outgoing.errors import OutgoingError
from ingot.core.outgoing.guard import SsrfGuard
from ingot.repositories.certificates.openssl import run_openssl
from ingot.repositories.certificates.queries import good_certificates, issuer_or_none
from ingot.repositories.certificates.service import record_check
from ingot.repositories.certificates.tables import X509Issuer

if TYPE_CHECKING:  # The library takes megabytes.
    from cryptography import x509

MAX_LIST_BYTES = 32 * 2**20
_DOWNLOAD_SECONDS = 60
_OPENSSL_SECONDS = 20
_PEM = b"-----BEGIN"


class RevocationJobs:
    """Idempotent handler of the job."""

    def __init__(self, guard: SsrfGuard) -> None:
        self._guard = guard

    def check(self, database: Database, issuer_id: int) -> None:
        """Download the list of an issuer, verify its signature, and record what it revokes.

        A list that cannot be read changes nothing; the next daily job tries again.
        """
        issuer = database.read(lambda db: issuer_or_none(db, issuer_id))
        if issuer is None:
            return
        try:
            revocation_list = _verified(issuer, self._download(issuer.crl_url))
        except (OutgoingError, ValueError, OSError, subprocess.TimeoutExpired) as error:
            log_failure("revocation list not read", error, issuer_id=issuer_id)
            return
        certificates = database.read(lambda db: good_certificates(db, issuer_id))
        revoked = [row_id for row_id, serial in certificates.items() if _revokes(revocation_list, serial)]
        database.write(lambda db: record_check(db, issuer_id, revoked))

    def _download(self, url: str) -> bytes:
        response = send(self._guard.pin(url), deadline_seconds=_DOWNLOAD_SECONDS, max_bytes=MAX_LIST_BYTES)
        if response.status != 200 or response.truncated:
            raise ValueError(f"status {response.status}" if response.status != 200 else "too large")
        return response.body


def _verified(issuer: X509Issuer, content: bytes) -> "x509.CertificateRevocationList":
    """Return a list that the issuer has signed; raise ValueError otherwise."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    is_pem = content.lstrip().startswith(_PEM)
    revocation_list = (x509.load_pem_x509_crl if is_pem else x509.load_der_x509_crl)(content)
    if revocation_list.issuer.rfc4514_string() != issuer.subject:
        raise ValueError("the list belongs to another issuer")
    with tempfile.TemporaryDirectory(prefix="ingot-crl-") as folder:
        Path(folder, "list").write_bytes(revocation_list.public_bytes(Encoding.DER))
        options = ["-verify"]
        if issuer.certificate is not None:
            certificate = x509.load_der_x509_certificate(issuer.certificate)
            Path(folder, "issuer").write_bytes(certificate.public_bytes(Encoding.PEM))
            options = ["-verify", "-CAfile", "issuer", "-no-CApath", "-no-CAstore"]
        result = run_openssl(
            folder, "crl", "-inform", "DER", "-in", "list", "-noout", *options, seconds=_OPENSSL_SECONDS
        )
    # The status of the process does not tell.
    if b"verify OK" not in result.stderr:
        raise ValueError("the signature of the list is not valid")
    return revocation_list


def _revokes(revocation_list: "x509.CertificateRevocationList", serial: int) -> bool:
    from cryptography import x509

    entry = revocation_list.get_revoked_certificate_by_serial_number(serial)
    if entry is None:
        return False
    # An entry of an indirect list may concern a certificate of another issuer.
    return not any(isinstance(extension.value, x509.CertificateIssuer) for extension in entry.extensions)
