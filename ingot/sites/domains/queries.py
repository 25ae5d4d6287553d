"""Queries of custom domains."""

from sqlalchemy import and_, bindparam, func, or_, select

from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.db.times import Timestamp
from ingot.core.errors import NotFound
from ingot.sites.domains.tables import AcmeAccount, PagesDomain, acme_accounts, acme_challenges, pages_domains

_BATCH = 100
_ALL = select(pages_domains)
_IN_PROJECT = _ALL.where(pages_domains.c.project_id == bindparam("project"))
_IN_PROJECT_BY_NAME = _IN_PROJECT.where(pages_domains.c.domain == bindparam("domain"))
_BY_NAME = _ALL.where(pages_domains.c.domain == bindparam("domain"))
_BY_ID = _ALL.where(pages_domains.c.id == bindparam("domain"))
_COUNT = select(func.count()).select_from(pages_domains).where(pages_domains.c.project_id == bindparam("project"))
_PAGE = list_query(_IN_PROJECT, pages_domains.c.id, pages_domains.c.domain)
_PAGE_OF_ALL = list_query(_ALL, pages_domains.c.id, pages_domains.c.id)
_TO_VERIFY = (
    select(pages_domains.c.id)
    .where(
        or_(
            pages_domains.c.verified_at.is_(None),
            pages_domains.c.enabled_until.is_(None),
            pages_domains.c.enabled_until < bindparam("moment"),
        ),
        pages_domains.c.id > bindparam("after"),
    )
    .order_by(pages_domains.c.id)
    .limit(_BATCH)
)
_TO_RENEW = (
    select(pages_domains.c.id)
    .where(
        pages_domains.c.auto_ssl_enabled,
        ~pages_domains.c.auto_ssl_failed,
        or_(
            pages_domains.c.certificate.is_(None),
            and_(pages_domains.c.valid_until.is_not(None), pages_domains.c.valid_until < bindparam("moment")),
        ),
        pages_domains.c.id > bindparam("after"),
    )
    .order_by(pages_domains.c.id)
    .limit(_BATCH)
)
_CHALLENGE = (
    select(acme_challenges.c.response)
    .join(pages_domains, pages_domains.c.id == acme_challenges.c.domain_id)
    .where(acme_challenges.c.token == bindparam("token"), pages_domains.c.domain == bindparam("domain"))
)
_ACCOUNT = select(acme_accounts).where(
    acme_accounts.c.directory == bindparam("directory"), acme_accounts.c.email == bindparam("email")
)


def list_domains(db: Connection, project_id: int, page: Page) -> Listing[PagesDomain]:
    """List a page of the domains of a project by their names."""
    return fetch_page(db, PagesDomain, _PAGE, page, project=project_id)


def list_all_domains(db: Connection, page: Page) -> Listing[PagesDomain]:
    """List a page of the domains of all projects."""
    return fetch_page(db, PagesDomain, _PAGE_OF_ALL, page)


def count_domains(db: Connection, project_id: int) -> int:
    """Return the number of domains of a project."""
    return int(db.value(_COUNT, project=project_id))


def find_domain(db: Connection, project_id: int, name: str) -> PagesDomain:
    """Return a domain of a project; raise NotFound otherwise."""
    domain = domain_of_project_or_none(db, project_id, name)
    if domain is None:
        raise NotFound("PagesDomain")
    return domain


def domain_of_project_or_none(db: Connection, project_id: int, name: str) -> PagesDomain | None:
    """Return a domain of a project, if it has it."""
    return db.first(PagesDomain, _IN_PROJECT_BY_NAME, project=project_id, domain=name.lower())


def domain_by_name(db: Connection, name: str) -> PagesDomain | None:
    """Return a domain of any project, if it exists."""
    return db.first(PagesDomain, _BY_NAME, domain=name.lower())


def domain_by_id(db: Connection, domain_id: int) -> PagesDomain | None:
    """Return a domain, if it exists."""
    return db.first(PagesDomain, _BY_ID, domain=domain_id)


def domains_to_verify(db: Connection, moment: Timestamp, after: int) -> list[int]:
    """List the next domains that are not verified, or that stop being served before a moment."""
    return [domain_id for (domain_id,) in db.rows(_TO_VERIFY, moment=moment, after=after)]


def domains_to_renew(db: Connection, moment: Timestamp, after: int) -> list[int]:
    """List the next domains that need a certificate by ACME, or whose certificate expires before a moment."""
    return [domain_id for (domain_id,) in db.rows(_TO_RENEW, moment=moment, after=after)]


def challenge_response(db: Connection, domain: str, token: str) -> str | None:
    """Return the response to a question of the ACME server, if one was ordered."""
    response: str | None = db.value(_CHALLENGE, token=token, domain=domain.lower())
    return response


def acme_account_or_none(db: Connection, directory: str, email: str) -> AcmeAccount | None:
    """Return the account at an ACME server, if there is one."""
    return db.first(AcmeAccount, _ACCOUNT, directory=directory, email=email)
