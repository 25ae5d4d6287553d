"""Responses with the settings of sites."""

from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.settings import Settings
from ingot.projects.projects.tables import Project
from ingot.sites.deployments.queries import active_deployments
from ingot.sites.domains.queries import domain_of_project_or_none
from ingot.sites.project_pages.addresses import site_of_domain, site_url
from ingot.sites.project_pages.queries import pages_of_project


class ActiveDeploymentView(View):
    """A deployment that is served."""

    created_at: Timestamp
    url: str
    path_prefix: str
    root_directory: str | None


class ProjectPagesView(View):
    """Settings and deployments of the site of a project."""

    url: str
    is_unique_domain_enabled: bool
    force_https: bool
    deployments: list[ActiveDeploymentView]
    primary_domain: str | None


def pages_view(db: Connection, settings: Settings, project: Project) -> ProjectPagesView:
    """Return the settings of the site of a project."""
    pages = pages_of_project(db, project.id)
    url = site_url(settings, project, pages)
    primary = None if pages is None or pages.primary_domain is None else pages.primary_domain
    domain = None if primary is None else domain_of_project_or_none(db, project.id, primary)
    deployments = [
        ActiveDeploymentView(
            each.created_at, f"{url}/{each.path_prefix}", each.path_prefix, each.root_directory or None
        )
        for each in active_deployments(db, project.id)
    ]
    shown = None
    if domain is not None:
        shown = site_of_domain(settings, domain.domain, has_certificate=domain.certificate is not None)
    enabled = pages is not None and pages.unique_domain_enabled and not settings.sites_in_path
    return ProjectPagesView(url, enabled, pages is not None and pages.https_only, deployments, shown)
