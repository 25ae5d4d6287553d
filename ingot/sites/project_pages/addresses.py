"""Addresses of sites: the namespace is a subdomain or in the path, or the site has a domain of its own."""

from urllib.parse import urlsplit

from ingot.core.settings import Settings, url_host
from ingot.projects.projects.tables import Project
from ingot.sites.project_pages.tables import ProjectPages

_DEFAULT_PORTS = {"http": 80, "https": 443}


def sites_url(settings: Settings) -> str:
    """Return the base URL of all sites; empty if none are served."""
    if settings.pages_url:
        return settings.pages_url.rstrip("/")
    if settings.pages_port < 0:
        return ""
    host = urlsplit(settings.base_url).hostname or settings.host
    return f"http://{url_host(host)}:{settings.pages_port}"


def site_url(settings: Settings, project: Project, pages: ProjectPages | None) -> str:
    """Return the URL of the site of a project, without a slash at its end."""
    base = urlsplit(sites_url(settings))
    namespace, _, path = project.full_path.partition("/")
    is_home = path.lower() == home_project_path(settings, namespace)
    if settings.sites_in_path:
        return f"{base.scheme}://{base.netloc}/{namespace if is_home else project.full_path}"
    label = None if pages is None else pages.host_label
    if label is not None:
        return f"{base.scheme}://{label}.{base.netloc}"
    root = f"{base.scheme}://{namespace.lower()}.{base.netloc}"
    return root if is_home else f"{root}/{path}"


def home_project_path(settings: Settings, namespace: str) -> str:
    """Return the path of the project of a namespace whose site is at the root: the namespace with the sites' host."""
    host = urlsplit(sites_url(settings)).hostname or ""
    return f"{namespace}.{host}".lower()


def site_of_domain(settings: Settings, domain: str, *, has_certificate: bool) -> str:
    """Return the URL of a site at a custom domain."""
    return f"https://{domain}" if has_certificate else f"http://{domain}{_port_suffix(settings)}"


def _port_suffix(settings: Settings) -> str:
    """Return the port of plain HTTP in URLs of custom domains: none if a proxy or pages_url hides it."""
    if settings.pages_url or settings.pages_port <= 0 or settings.pages_port == _DEFAULT_PORTS["http"]:
        return ""
    return f":{settings.pages_port}"
