"""Lookup of the deployment that a host and path name."""

from itertools import takewhile
from typing import NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import bindparam

from ingot.accounts.instance.all_settings import all_settings
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.settings import Settings
from ingot.projects.projects.filters import PROJECTS
from ingot.projects.projects.tables import Project, projects
from ingot.sites.deployments.queries import active_deployments
from ingot.sites.deployments.tables import PagesDeployment
from ingot.sites.domains.queries import domain_by_name
from ingot.sites.domains.tables import PagesDomain
from ingot.sites.project_pages.addresses import home_project_path, site_of_domain, site_url, sites_url
from ingot.sites.project_pages.queries import pages_by_unique_domain, pages_of_project
from ingot.sites.project_pages.tables import ProjectPages

_MAX_SEGMENTS = 22
_CACHED_BYTES = 8_000
_BY_PATHS = PROJECTS.where(in_list(projects.c.full_path_key, "paths"))
_BY_ID = PROJECTS.where(projects.c.id == bindparam("project"))


class SiteAddress(NamedTuple):
    """Part of the address of a request that says which site it means."""

    host: str
    """Without the port, lowercase."""
    segments: tuple[str, ...]
    """Decoded segments of the path, of which the first may be a namespace and projects."""


class Site(NamedTuple):
    """Project with the settings and deployments of its site."""

    project: Project
    pages: ProjectPages | None
    deployments: tuple[PagesDeployment, ...]
    base: str
    """Path of the site on its host, without a slash at its end; empty at the root."""
    domain: PagesDomain | None = None
    """Custom domain of the request."""
    primary_url: str = ""
    """URL of the primary domain, if the site has one."""
    isolated_url: str = ""
    """URL with the unique domain, if the request has the host of the namespace, which other sites share."""


def find_site(db: Connection, settings: Settings, address: SiteAddress) -> Site | None:
    """Return the site of a host and path, if there is one; the result is cached until something is committed."""
    # Paths of projects are text; other bytes can only be in the names of files.
    segments = tuple(takewhile(is_text, address.segments[:_MAX_SEGMENTS]))
    key = ("site", settings.pages_url, address.host, segments if _needs_path(settings, address.host) else ())
    return db.cached(key, lambda: _find_site(db, settings, address.host, segments), lambda _: _CACHED_BYTES)


def is_text(path: str) -> bool:
    """Return whether a decoded path was UTF-8."""
    return path.isascii() or not any("\udc80" <= character <= "\udcff" for character in path)


def preload_lookup(db: Connection, settings: Settings, host: str) -> None:
    """Run the statements that look up a site; there are none with these names and numbers."""
    _find_site(db, settings, host, ("none", ""))
    _at_custom_domain(db, settings, host)
    _site(db, settings, 0, "")
    active_deployments(db, 0)
    pages_of_project(db, 0)


def _needs_path(settings: Settings, host: str) -> bool:
    return settings.sites_in_path or host.endswith(f".{settings.pages_host}")


def _find_site(db: Connection, settings: Settings, host: str, segments: tuple[str, ...]) -> Site | None:
    root = settings.pages_host
    if root and host.endswith(f".{root}"):
        label = host.removesuffix(f".{root}")
        pages = pages_by_unique_domain(db, label)
        if pages is not None:
            return _site(db, settings, pages.project_id, "") if pages.unique_domain_enabled else None
        return None if "." in label else _below_namespace(db, settings, label, segments, ())
    custom = _at_custom_domain(db, settings, host)
    if custom is not None or not settings.sites_in_path or not segments:
        return custom
    return _below_namespace(db, settings, segments[0], segments[1:], (segments[0],))


def _at_custom_domain(db: Connection, settings: Settings, host: str) -> Site | None:
    domain = domain_by_name(db, host)
    if domain is None:
        return None
    if all_settings(db).pages_domain_verification_enabled and domain.enabled_until is None:
        return None
    site = _site(db, settings, domain.project_id, "")
    return None if site is None else site._replace(domain=domain)


def _below_namespace(
    db: Connection, settings: Settings, namespace: str, segments: tuple[str, ...], before: tuple[str, ...]
) -> Site | None:
    """Return the site with the longest matching path, or that of the namespace itself."""
    home = f"{namespace}/{home_project_path(settings, namespace)}".lower()
    paths = ["/".join((namespace, *segments[:count])).lower() for count in range(1, len(segments) + 1)]
    by_path = {row.full_path.lower(): row for row in db.all(Project, _BY_PATHS, paths=[home, *paths])}
    for path in reversed(paths):
        project = by_path.get(path)
        if project is not None and path != home:
            base = "/".join(("", *before, *segments[: path.count("/")]))
            site = _with_deployments(db, settings, project, base)
            if site is not None:
                return _isolated(settings, site)
    project = by_path.get(home)
    site = None if project is None else _with_deployments(db, settings, project, "/".join(("", *before)))
    return None if site is None else _isolated(settings, site)


def _isolated(settings: Settings, site: Site) -> Site:
    """Return a site below its namespace with the URL to which a unique domain redirects its visitors."""
    if site.pages is None or site.pages.host_label is None or settings.sites_in_path:
        return site
    return site._replace(isolated_url=site_url(settings, site.project, site.pages))


def _site(db: Connection, settings: Settings, project_id: int, base: str) -> Site | None:
    project = db.first(Project, _BY_ID, project=project_id)
    return None if project is None else _with_deployments(db, settings, project, base)


def _with_deployments(db: Connection, settings: Settings, project: Project, base: str) -> Site | None:
    deployments = tuple(active_deployments(db, project.id))
    if not deployments or project.options.pages_access_level == "disabled":
        return None
    pages = pages_of_project(db, project.id)
    primary = None if pages is None or pages.primary_domain is None else domain_by_name(db, pages.primary_domain)
    primary_url = ""
    if primary is not None and primary.project_id == project.id and primary.enabled_until is not None:
        primary_url = site_of_domain(settings, primary.domain, has_certificate=primary.certificate is not None)
    return Site(project, pages, deployments, base, primary_url=primary_url)


def deployment_at(
    site: Site, segments: tuple[str, ...], now: str
) -> tuple[PagesDeployment | None, tuple[str, ...], str]:
    """Return the deployment for a path, the rest of the path, and the path prefix with a slash before it."""
    rest = segments[site.base.count("/") :]
    active = {each.path_prefix: each for each in site.deployments if each.expires_at is None or each.expires_at > now}
    if rest and rest[0] and rest[0].lower() in active:
        return active[rest[0].lower()], rest[1:], f"/{rest[0]}"
    return active.get(""), rest, ""


def is_site_origin(db: Connection, settings: Settings, origin: str) -> bool:
    """Return whether sites are served at an origin, so that users may be identified to it."""
    base, given = urlsplit(sites_url(settings)), urlsplit(origin)
    host = (given.hostname or "").lower()
    if given.scheme not in ("http", "https") or not host or given.username is not None:
        return False
    if settings.pages_host and host.endswith(f".{settings.pages_host}"):
        return (given.scheme, given.netloc.lower().removeprefix(host)) == (
            base.scheme,
            base.netloc[len(settings.pages_host) :],
        )
    if settings.sites_in_path and (given.scheme, given.netloc.lower()) == (base.scheme, base.netloc.lower()):
        return True
    domain = domain_by_name(db, host)
    return domain is not None and domain.enabled_until is not None
