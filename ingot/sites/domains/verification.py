"""Verification of custom domains by TXT records, before the first use and then every few days."""

from functools import partial
from typing import Any

import msgspec

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.errors import Unavailable
from ingot.core.jobs.handlers import RetryLater
from ingot.core.jobs.queue import enqueue
from ingot.core.settings import Settings
from ingot.sites.domains.queries import domain_by_id, domains_to_verify
from ingot.sites.domains.service import VERIFICATION_KEY, VERIFY_DOMAIN, delete_domain, record_verification
from ingot.sites.domains.txt_records import txt_records

_AHEAD_SECONDS = 3 * 86_400
_RETRY_SECONDS = 600.0


def has_record(settings: Settings, domain: str, code: str) -> bool:
    """Return whether the TXT record exists, at the domain or below it; raise Unavailable if nobody answers."""
    accepted = {f"{VERIFICATION_KEY}={code}", code}
    names = (f"_{VERIFICATION_KEY}.{domain}", domain)
    records = (record for name in names for record in txt_records(settings, name))
    return any(not accepted.isdisjoint(record.split()) for record in records)


def enqueue_verifications(db: Connection) -> None:
    """Enqueue the verification of domains that are not verified, or stop being served within three days."""
    moment, after = add_duration(db.now, seconds=_AHEAD_SECONDS), 0
    while domain_ids := domains_to_verify(db, moment, after):
        for domain_id in domain_ids:
            enqueue(db, VERIFY_DOMAIN, domain_id, unique_key=f"verify domain {domain_id}")
        after = domain_ids[-1]


class DomainVerification:
    """Handler of the job that verifies a domain."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def run(self, database: Database, payload: Any) -> None:
        """Look for the TXT record of a domain."""
        domain = database.read(partial(domain_by_id, domain_id=msgspec.convert(payload, int)))
        if domain is None:
            return
        try:
            found = has_record(self._settings, domain.domain, domain.verification_code)
        except Unavailable as error:
            raise RetryLater(_RETRY_SECONDS, str(error)) from None
        database.write(partial(_record, domain_id=domain.id, found=found))


def _record(db: Connection, domain_id: int, *, found: bool) -> None:
    domain = domain_by_id(db, domain_id)
    if domain is None:
        return
    if not found and domain.remove_at is not None and domain.remove_at <= db.now:
        delete_domain(db, domain)
    else:
        record_verification(db, domain, found=found)
