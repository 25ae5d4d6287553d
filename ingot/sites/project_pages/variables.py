"""Variables of jobs with the address of the static site of their project."""

from urllib.parse import urlsplit

from ingot.core.db.connection import Connection
from ingot.core.settings import Settings
from ingot.projects.projects.tables import Project
from ingot.sites.deployments.site_options import path_prefix_of
from ingot.sites.project_pages.addresses import site_url, sites_url
from ingot.sites.project_pages.queries import pages_of_project


def list_site_variables(
    settings: Settings, db: Connection, project: Project, path_prefix: str
) -> list[tuple[str, str]]:
    """Return the variables of a job; the URL includes the path prefix of the site that the job publishes."""
    if project.options.pages_access_level == "disabled":
        return []
    url = site_url(settings, project, pages_of_project(db, project.id))
    prefix = path_prefix_of(path_prefix)
    return [
        ("CI_PAGES_DOMAIN", urlsplit(sites_url(settings)).hostname or ""),
        ("CI_PAGES_HOSTNAME", urlsplit(url).hostname or ""),
        ("CI_PAGES_URL", f"{url}/{prefix}" if prefix else url),
    ]
