"""Endpoints of the CI/CD catalog."""

from ingot.ci.catalog import policy, queries, service
from ingot.ci.catalog.params import ListResources, ListVersions, PublishVersion
from ingot.ci.catalog.publish import publish_version
from ingot.ci.catalog.views import (
    CatalogResourceView,
    CatalogVersionView,
    PublishedVersionView,
    catalog_url,
    resource_views,
    version_views,
)
from ingot.core.access.rules import anyone
from ingot.core.api.routes import Call, Routes, StagedCall
from ingot.core.db.paging import Listing, Page
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.tables import Project
from ingot.repositories.context import RepositoryContext, repository_in_path
from ingot.repositories.tags.policy import may_write_releases

routes = Routes("ci_catalog")


@routes.get("/ci/catalog/resources", may=anyone, returns=list[CatalogResourceView], open=True)
def list_catalog_resources(call: Call, params: ListResources, page: Page) -> Listing[CatalogResourceView]:
    """List the projects in the CI/CD catalog whose code the caller may read."""
    listing = queries.list_resources(call.db, call.actor, params, page)
    return listing.of(resource_views(call.db, listing.items, call.origin.base))


@routes.get(
    "/projects/:id/catalog",
    on=project_in_path,
    may=policy.may_read_resource,
    returns=CatalogResourceView,
    open=True,
)
def get_catalog_resource(call: Call, project: Project) -> CatalogResourceView:
    """Get a project as a resource of the CI/CD catalog."""
    return resource_views(call.db, [queries.find_resource(call.db, project.id)], call.origin.base)[0]


@routes.post("/projects/:id/catalog", on=project_in_path, may=policy.may_change_resource, returns=CatalogResourceView)
def create_catalog_resource(call: Call, project: Project) -> CatalogResourceView:
    """Make a project a resource of the CI/CD catalog, which is listed once it has published a version."""
    return resource_views(call.db, [service.create_resource(call.db, project)], call.origin.base)[0]


@routes.delete("/projects/:id/catalog", on=project_in_path, may=policy.may_change_resource, returns=None, status=204)
def delete_catalog_resource(call: Call, project: Project) -> None:
    """Remove a project with its published versions from the CI/CD catalog; its releases stay."""
    service.delete_resource(call.db, project)


@routes.get(
    "/projects/:id/catalog/versions",
    on=project_in_path,
    may=policy.may_read_resource,
    returns=list[CatalogVersionView],
    open=True,
)
def list_catalog_versions(
    call: Call, project: Project, params: ListVersions, page: Page
) -> Listing[CatalogVersionView]:
    """List the published versions of a project with their components, the highest version first."""
    listing = queries.list_versions(call.db, queries.find_resource(call.db, project.id), params.name, page)
    return listing.of(version_views(call.db, project, listing.items, call.origin.base))


@routes.post(
    "/projects/:id/catalog/publish",
    on=repository_in_path,
    may=may_write_releases,
    returns=PublishedVersionView,
    conflict=422,
    staged=True,
    job_token=True,
)
def publish_catalog_version(
    stage: StagedCall, context: RepositoryContext, params: PublishVersion
) -> PublishedVersionView:
    """Publish a release as a version in the CI/CD catalog."""
    publish_version(stage.database, stage.actor, context, params.version)
    return PublishedVersionView(catalog_url(context.project, stage.origin.base))
