"""Endpoints of custom domains."""

from msgspec import UNSET

from ingot.core.access.rules import administrators, require
from ingot.core.api.routes import Call, PrepareContext, Routes
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Invalid, Unavailable
from ingot.core.log import log_failure
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.sites.deployments import policy
from ingot.sites.deployments.finders import project_with_pages, require_sites
from ingot.sites.domains import queries, service
from ingot.sites.domains.certificates import validate_certificate
from ingot.sites.domains.params import CreatePagesDomain, EditPagesDomain
from ingot.sites.domains.service import CertificateChange, CheckedDomain
from ingot.sites.domains.tables import PagesDomain
from ingot.sites.domains.verification import has_record
from ingot.sites.domains.views import InstancePagesDomainView, PagesDomainView, domain_view, instance_domain_view

routes = Routes("pages_domains")
BODY_LIMIT = 256 * 1024


def _domain_in_path(call: Call, project: Project) -> PagesDomain:
    return queries.find_domain(call.db, project.id, call.path["domain"])


def _checked_certificate(
    context: PrepareContext, params: CreatePagesDomain | EditPagesDomain
) -> CertificateChange | None:
    """Return the sent certificate, checked before the transaction; None if none was sent."""
    domain = context.path.get("domain", "").lower()
    if isinstance(params, CreatePagesDomain):
        domain = service.clean_domain(params.domain, context.settings.pages_host)
    if params.certificate in (None, UNSET) and params.key in (None, UNSET):
        return None
    certificate, key = str(params.certificate or "").strip(), str(params.key or "").strip()
    if not certificate and not key:
        return CertificateChange(None, None, None)
    if not certificate or not key:
        raise Invalid("certificate, key are missing, exactly one parameter must be provided together with the other")
    return CertificateChange(certificate, key, validate_certificate(certificate, key, domain))


def _require_acme(call: Call, enabled: object) -> None:
    """Raise Invalid if nobody would obtain the certificates."""
    if enabled is True and not call.settings.pages_acme_email:
        raise Invalid(auto_ssl_enabled=["is not available on this server; upload a certificate instead"])


def _look_up(context: PrepareContext, _params: object) -> bool:
    """Look for the TXT record before the transaction, after the permission was checked."""

    def find(db: Connection) -> PagesDomain:
        access, project = find_project(db, context.actor, context.path["id"])
        require(policy.may_change_pages(context.actor, access, project))
        return queries.find_domain(db, project.id, context.path["domain"])

    domain = context.database.read(find, ahead_of_change=True)
    return has_record(context.settings, domain.domain, domain.verification_code)


def _check_new(context: PrepareContext, params: CreatePagesDomain) -> CheckedDomain:
    """Check the certificate of a new domain, and the TXT record of one that another project has not verified."""
    change = _checked_certificate(context, params)
    name = service.clean_domain(params.domain, context.settings.pages_host)

    def code_to_prove(db: Connection) -> str | None:
        access, project = find_project(db, context.actor, context.path["id"])
        require(policy.may_change_pages(context.actor, access, project))
        can_prove = service.may_be_taken_over(db, project.id, queries.domain_by_name(db, name))
        return service.verification_code(db.vault, project.id, name) if can_prove else None

    code = context.database.read(code_to_prove, ahead_of_change=True)
    try:
        return CheckedDomain(change, code is not None and has_record(context.settings, name, code))
    except Unavailable as error:
        log_failure("TXT record of a domain that another project has added was not found", error)
        return CheckedDomain(change, is_proven=False)


@routes.get("/pages/domains", may=administrators, returns=list[InstancePagesDomainView])
def list_all_pages_domains(call: Call, page: Page) -> Listing[InstancePagesDomainView]:
    """List the custom domains of all sites."""
    require_sites(call)
    listing = queries.list_all_domains(call.db, page)
    return listing.of([instance_domain_view(domain) for domain in listing.items])


@routes.get(
    "/projects/:id/pages/domains", on=project_with_pages, may=policy.may_read_pages, returns=list[PagesDomainView]
)
def list_pages_domains(call: Call, project: Project, page: Page) -> Listing[PagesDomainView]:
    """List the custom domains of the site of a project."""
    listing = queries.list_domains(call.db, project.id, page)
    return listing.of([domain_view(domain) for domain in listing.items])


@routes.get(
    "/projects/:id/pages/domains/:domain", on=project_with_pages, may=policy.may_read_pages, returns=PagesDomainView
)
def get_pages_domain(call: Call, project: Project) -> PagesDomainView:
    """Get a custom domain."""
    return domain_view(_domain_in_path(call, project))


@routes.post(
    "/projects/:id/pages/domains",
    on=project_with_pages,
    may=policy.may_change_pages,
    returns=PagesDomainView,
    prepare=_check_new,
    body_limit=BODY_LIMIT,
)
def create_pages_domain(
    call: Call, project: Project, params: CreatePagesDomain, checked: CheckedDomain
) -> PagesDomainView:
    """Add a custom domain, whose TXT record is then looked for."""
    _require_acme(call, params.auto_ssl_enabled)
    name = service.clean_domain(params.domain, call.settings.pages_host)
    return domain_view(service.add_domain(call.db, project, name, checked, auto_ssl=params.auto_ssl_enabled))


@routes.put(
    "/projects/:id/pages/domains/:domain",
    on=project_with_pages,
    may=policy.may_change_pages,
    returns=PagesDomainView,
    prepare=_checked_certificate,
    body_limit=BODY_LIMIT,
)
def edit_pages_domain(
    call: Call, project: Project, params: EditPagesDomain, change: CertificateChange | None
) -> PagesDomainView:
    """Change the certificate of a custom domain; an empty one removes it."""
    _require_acme(call, params.auto_ssl_enabled)
    auto_ssl = None if params.auto_ssl_enabled is UNSET else params.auto_ssl_enabled
    return domain_view(service.edit_domain(call.db, _domain_in_path(call, project), change, auto_ssl))


@routes.put(
    "/projects/:id/pages/domains/:domain/verify",
    on=project_with_pages,
    may=policy.may_change_pages,
    returns=PagesDomainView,
    prepare=_look_up,
)
def verify_pages_domain(call: Call, project: Project, found: bool) -> PagesDomainView:
    """Look for the TXT record of a custom domain now."""
    domain = _domain_in_path(call, project)
    if not found:
        raise Invalid(f"Couldn't verify {domain.domain}")
    return domain_view(service.record_verification(call.db, domain, found=found))


@routes.delete(
    "/projects/:id/pages/domains/:domain", on=project_with_pages, may=policy.may_change_pages, returns=None, status=204
)
def delete_pages_domain(call: Call, project: Project) -> None:
    """Delete a custom domain with its certificate."""
    service.delete_domain(call.db, _domain_in_path(call, project))
