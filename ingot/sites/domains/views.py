"""Responses with custom domains."""

import msgspec
from msgspec import UNSET, UnsetType

from ingot.core.api.views import View
from ingot.core.db.times import Timestamp
from ingot.sites.domains.certificates import read_facts
from ingot.sites.domains.tables import PagesDomain


class DomainCertificateView(View):
    """Certificate of a domain."""

    subject: str
    expired: bool
    certificate: str
    certificate_text: str


class CertificateExpirationView(View):
    """End of the validity of a certificate."""

    expired: bool
    expiration: Timestamp


class PagesDomainView(View):
    """Domain of a project."""

    domain: str
    url: str
    verified: bool
    verification_code: str
    enabled_until: Timestamp | None
    auto_ssl_enabled: bool
    certificate: DomainCertificateView | UnsetType = UNSET


class InstancePagesDomainView(View):
    """Domain of any project."""

    domain: str
    url: str
    project_id: int
    verified: bool
    verification_code: str
    enabled_until: Timestamp | None
    auto_ssl_enabled: bool
    certificate_expiration: CertificateExpirationView | UnsetType = UNSET


def domain_view(domain: PagesDomain) -> PagesDomainView:
    """Return the response struct of a domain of a project."""
    view = PagesDomainView(
        domain.domain,
        domain_url(domain),
        domain.is_verified,
        domain.verification_code,
        domain.enabled_until,
        domain.auto_ssl_enabled,
    )
    if domain.certificate is None:
        return view
    facts = read_facts(domain.certificate)
    shown = DomainCertificateView(facts.subject, facts.expired, domain.certificate, facts.text)
    return msgspec.structs.replace(view, certificate=shown)


def instance_domain_view(domain: PagesDomain) -> InstancePagesDomainView:
    """Return the response struct of a domain for administrators."""
    view = InstancePagesDomainView(
        domain.domain,
        domain_url(domain),
        domain.project_id,
        domain.is_verified,
        domain.verification_code,
        domain.enabled_until,
        domain.auto_ssl_enabled,
    )
    if domain.certificate is None:
        return view
    facts = read_facts(domain.certificate)
    return msgspec.structs.replace(
        view, certificate_expiration=CertificateExpirationView(facts.expired, facts.expires_at)
    )


def domain_url(domain: PagesDomain) -> str:
    """Return the URL of the site at a domain."""
    return f"http{'' if domain.certificate is None else 's'}://{domain.domain}"
