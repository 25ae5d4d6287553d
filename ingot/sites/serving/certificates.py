"""TLS of custom domains: the certificate for each connection is chosen by the name that the client sends (SNI)."""

import ssl
import tempfile
from functools import partial
from pathlib import Path

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Unavailable
from ingot.core.log import log_failure
from ingot.core.settings import Settings
from ingot.sites.domains.certificates import self_signed_certificate
from ingot.sites.domains.queries import domain_by_name

_MAX_CONTEXTS = 256
_NAME_OF_DEFAULT = "invalid.localhost"


class SiteCertificates:
    """TLS contexts by domain; the newest certificate is used for each connection."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._contexts: dict[str, tuple[str, ssl.SSLContext]] = {}
        # Clients that name no domain of ours get a certificate that no client accepts.
        self.context = _context(*self_signed_certificate(_NAME_OF_DEFAULT))
        self.context.sni_callback = self._choose

    def _choose(self, connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, _: ssl.SSLContext) -> int | None:
        """Choose the context of a domain; an alert tells clients that a domain has none."""
        try:
            found = None if name is None else self._context_of(name.lower())
        except (Unavailable, ssl.SSLError, ValueError) as error:
            log_failure("certificate of a custom domain is not usable", error)
            return ssl.ALERT_DESCRIPTION_INTERNAL_ERROR
        if found is None:
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        connection.context = found
        return None

    def _context_of(self, domain: str) -> ssl.SSLContext | None:
        stored = self._database.read(partial(_certificate_of, domain=domain))
        if stored is None:
            self._contexts.pop(domain, None)
            return None
        certificate, key = stored
        known = self._contexts.get(domain)
        if known is not None and known[0] == certificate:
            return known[1]
        if len(self._contexts) >= _MAX_CONTEXTS:
            self._contexts.pop(next(iter(self._contexts)))
        context = _context(certificate, key)
        self._contexts[domain] = certificate, context
        return context


def _certificate_of(db: Connection, domain: str) -> tuple[str, str] | None:
    row = domain_by_name(db, domain)
    if row is None or row.certificate is None or row.sealed_key is None:
        return None
    return row.certificate, db.vault.unseal(row.sealed_key)


def _context(certificate: str, key: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    # The library reads certificates from files only.
    with tempfile.TemporaryDirectory(prefix="ingot-") as folder:
        path = Path(folder) / "chain.pem"
        path.touch(mode=0o600)
        path.write_text(f"{certificate.strip()}\n{key.strip()}\n")
        context.load_cert_chain(path)
    return context
