"""State changes of custom domains."""

import re
from typing import Any, NamedTuple

from sqlalchemy import Text, bindparam, delete

from ingot.accounts.instance.all_settings import all_settings
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.db.vault import Vault
from ingot.core.errors import Invalid
from ingot.core.jobs.queue import enqueue
from ingot.projects.projects.tables import Project
from ingot.sites.domains.queries import acme_account_or_none, count_domains, domain_by_id, domain_by_name
from ingot.sites.domains.tables import PagesDomain, acme_accounts, acme_challenges, pages_domains

MAX_DOMAINS = 100
"""Domains of a project."""
ENABLED_SECONDS = 7 * 86_400
"""Time for which a domain is served after its TXT record was last seen."""
REMOVAL_SECONDS = 7 * 86_400
"""Time after which a domain that is not served is deleted, so that others can use it."""
VERIFY_DOMAIN = "verify_pages_domain"
OBTAIN_CERTIFICATE = "obtain_certificate"
VERIFICATION_KEY = "gitlab-pages-verification-code"
_CODE_LENGTH = 32
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN = re.compile(rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})+")
_CHALLENGE_SECONDS = 3600
_DELETE_OF_PROJECT = delete(pages_domains).where(pages_domains.c.project_id == bindparam("project"))
_DELETE_OLD_CHALLENGES = delete(acme_challenges).where(
    acme_challenges.c.domain_id == bindparam("domain"), acme_challenges.c.created_at < bindparam("moment", type_=Text)
)


class CheckedDomain(NamedTuple):
    """Facts about a new domain that were found before the transaction."""

    change: "CertificateChange | None"
    is_proven: bool
    """Whether its TXT record names this project."""


class CertificateChange(NamedTuple):
    """Certificate that was checked before the transaction; None removes the present one."""

    certificate: str | None
    key: str | None
    valid_until: Timestamp | None


def clean_domain(text: str, reserved: str) -> str:
    """Return a domain name; raise Invalid for other texts and for names of sites without a custom domain."""
    domain = text.strip().lower().rstrip(".")
    if not _DOMAIN.fullmatch(domain) or domain.rpartition(".")[2].isdigit():
        raise Invalid(domain=["is not a valid domain name"])
    if reserved and (domain == reserved or domain.endswith(f".{reserved}")):
        problem = f"Subdomains of the Pages root domain {reserved} are reserved"
        raise Invalid(domain=[f"{problem} and cannot be used as custom Pages domains."])
    return domain


def verification_code(vault: Vault, project_id: int, domain: str) -> str:
    """Return the code of a project for a domain, which its owner can publish before the project has the domain."""
    return vault.derive("verification of a domain", f"{project_id} {domain}".encode())[:_CODE_LENGTH]


def may_be_taken_over(db: Connection, project_id: int, existing: PagesDomain | None) -> bool:
    """Return whether a domain belongs to another project that has not proven to own it, and is not served for it."""
    if existing is None or existing.project_id == project_id or existing.enabled_until is not None:
        return False
    return all_settings(db).pages_domain_verification_enabled


def add_domain(db: Connection, project: Project, domain: str, checked: CheckedDomain, *, auto_ssl: bool) -> PagesDomain:
    """Add a domain to a project, also one that others have but did not verify; a job looks for its TXT record."""
    existing, code = domain_by_name(db, domain), verification_code(db.vault, project.id, domain)
    if existing is not None:
        if not may_be_taken_over(db, project.id, existing):
            raise Invalid(domain=["has already been taken"])
        if not checked.is_proven:
            record = f"_{VERIFICATION_KEY}.{domain} TXT {VERIFICATION_KEY}={code}"
            raise Invalid(
                domain=[f"has already been taken; if it is yours, create the record {record} and repeat this"]
            )
        delete_domain(db, existing)
    change = checked.change
    if count_domains(db, project.id) >= MAX_DOMAINS:
        raise Invalid(base=[f"This project reached the limit of custom domains. (Max {MAX_DOMAINS})"])
    domain_id = db.insert(
        pages_domains,
        project_id=project.id,
        domain=domain,
        verification_code=code,
        auto_ssl_enabled=auto_ssl,
        auto_ssl_failed=False,
        created_at=db.now,
        updated_at=db.now,
        **({} if change is None else _certificate_columns(db, change, "user")),
    )
    if checked.is_proven:
        return record_verification(db, _existing(db, domain_id), found=True)
    enqueue(db, VERIFY_DOMAIN, domain_id, unique_key=f"verify domain {domain_id}")
    return _existing(db, domain_id)


def edit_domain(
    db: Connection, domain: PagesDomain, change: CertificateChange | None, auto_ssl: bool | None
) -> PagesDomain:
    """Change the certificate of a domain, and whether it is obtained automatically."""
    row: dict[str, Any] = {} if change is None else _certificate_columns(db, change, "user")
    if auto_ssl is not None:
        row |= {"auto_ssl_enabled": auto_ssl, "auto_ssl_failed": False}
        if auto_ssl and domain.is_verified:
            enqueue(db, OBTAIN_CERTIFICATE, domain.id, unique_key=f"certificate of domain {domain.id}")
    db.update(pages_domains, domain.id, **row, updated_at=db.now)
    return _existing(db, domain.id)


def record_verification(db: Connection, domain: PagesDomain, *, found: bool) -> PagesDomain:
    """Record whether the TXT record exists; a domain without it is served until its time has passed."""
    row: dict[str, Any] = {"updated_at": db.now, "remove_at": None}
    if found:
        row |= {"verified_at": db.now, "enabled_until": add_duration(db.now, seconds=ENABLED_SECONDS)}
        if domain.auto_ssl_enabled and domain.certificate is None:
            enqueue(db, OBTAIN_CERTIFICATE, domain.id, unique_key=f"certificate of domain {domain.id}")
    else:
        row["verified_at"] = None
        if domain.enabled_until is None or domain.enabled_until <= db.now:
            row["enabled_until"] = None
            if all_settings(db).pages_domain_verification_enabled:
                row["remove_at"] = domain.remove_at or add_duration(db.now, seconds=REMOVAL_SECONDS)
    db.update(pages_domains, domain.id, **row)
    return _existing(db, domain.id)


def delete_domains_of_project(db: Connection, project_id: int) -> None:
    """Delete all domains of a project."""
    db.run(_DELETE_OF_PROJECT, project=project_id)


def delete_domain(db: Connection, domain: PagesDomain) -> None:
    """Delete a domain with its certificate."""
    db.delete(pages_domains, domain.id)


def store_obtained_certificate(db: Connection, domain_id: int, change: CertificateChange) -> None:
    """Store a certificate that the ACME server has issued."""
    row = _certificate_columns(db, change, "acme")
    db.update(pages_domains, domain_id, **row, auto_ssl_failed=False, updated_at=db.now)


def record_acme_failure(db: Connection, domain_id: int) -> None:
    """Stop asking the ACME server for a certificate until somebody changes the domain, unless it has one by now."""
    domain = domain_by_id(db, domain_id)
    if domain is not None and domain.certificate is None:
        db.update(pages_domains, domain_id, auto_ssl_failed=True, updated_at=db.now)


def add_challenge(db: Connection, domain_id: int, token: str, response: str) -> None:
    """Record how to answer the ACME server at a domain; two orders may run at the same time."""
    db.run(_DELETE_OLD_CHALLENGES, domain=domain_id, moment=add_duration(db.now, seconds=-_CHALLENGE_SECONDS))
    db.insert_row(acme_challenges, domain_id=domain_id, token=token, response=response, created_at=db.now)


def add_acme_account(db: Connection, directory: str, email: str, url: str, key: str) -> None:
    """Store the account at an ACME server, unless another order has just stored one; both can be used."""
    if acme_account_or_none(db, directory, email) is not None:
        return
    sealed = db.vault.seal(key)
    db.insert_row(acme_accounts, directory=directory, email=email, url=url, sealed_key=sealed, created_at=db.now)


def _certificate_columns(db: Connection, change: CertificateChange, source: str) -> dict[str, Any]:
    return {
        "certificate": change.certificate,
        "sealed_key": None if change.key is None else db.vault.seal(change.key),
        "certificate_source": None if change.certificate is None else source,
        "valid_until": change.valid_until,
    }


def _existing(db: Connection, domain_id: int) -> PagesDomain:
    domain = domain_by_id(db, domain_id)
    assert domain is not None  # noqa: S101 - Written in this transaction.
    return domain
