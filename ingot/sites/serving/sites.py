"""Lookup of the deployment that a host and path name."""

from typing import NamedTuple

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
from ingot.sites.project_pages.addresses import home_project_path
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
    custom_domain: bool


def find_site(db: Connection, settings: Settings, address: SiteAddress) -> Site | None:
    """Return the site of a host and path, if there is one; the result is cached until something is committed."""
    segments = address.segments[:_MAX_SEGMENTS]
    key = ("site", settings.pages_url, address.host, segments if _needs_path(settings, address.host) else ())
    return db.cached(key, lambda: _find_site(db, settings, address.host, segments), lambda _: _CACHED_BYTES)


def _needs_path(settings: Settings, host: str) -> bool:
    return settings.sites_in_path or host.endswith(f".{settings.pages_host}")


def _find_site(db: Connection, settings: Settings, host: str, segments: tuple[str, ...]) -> Site | None:
    root = settings.pages_host
    if root and host.endswith(f".{root}"):
        label = host.removesuffix(f".{root}")
        pages = pages_by_unique_domain(db, label)
        if pages is not None:
            return _site(db, pages.project_id, "")
        return None if "." in label else _below_namespace(db, settings, label, segments, ())
    custom = _at_custom_domain(db, host)
    if custom is not None or not settings.sites_in_path or not segments:
        return custom
    return _below_namespace(db, settings, segments[0], segments[1:], (segments[0],))


def _at_custom_domain(db: Connection, host: str) -> Site | None:
    domain = domain_by_name(db, host)
    if domain is None:
        return None
    if all_settings(db).pages_domain_verification_enabled and domain.enabled_until is None:
        return None
    site = _site(db, domain.project_id, "")
    return None if site is None else site._replace(custom_domain=True)


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
            site = _with_deployments(db, project, base)
            # A site with a domain of its own is only there.
            if site is not None:
                return site
    project = by_path.get(home)
    return None if project is None else _with_deployments(db, project, "/".join(("", *before)) if before else "")


def _site(db: Connection, project_id: int, base: str) -> Site | None:
    project = db.first(Project, _BY_ID, project=project_id)
    return None if project is None else _with_deployments(db, project, base)


def _with_deployments(db: Connection, project: Project, base: str) -> Site | None:
    deployments = tuple(active_deployments(db, project.id))
    if not deployments or project.options.pages_access_level == "disabled":
        return None
    return Site(project, pages_of_project(db, project.id), deployments, base, custom_domain=False)


def deployment_at(
    site: Site, segments: tuple[str, ...], now: str
) -> tuple[PagesDeployment | None, tuple[str, ...], str]:
    """Return the deployment for a path, the rest of the path, and the path prefix with a slash before it."""
    rest = segments[site.base.count("/") :]
    active = {each.path_prefix: each for each in site.deployments if each.expires_at is None or each.expires_at > now}
    if rest and rest[0] and rest[0].lower() in active:
        return active[rest[0].lower()], rest[1:], f"/{rest[0]}"
    return active.get(""), rest, ""
