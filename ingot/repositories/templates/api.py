"""Endpoints of templates; public, since every instance has the same texts."""

from ingot.core.access.rules import anyone
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.repositories.templates import queries
from ingot.repositories.templates.params import GetLicense, ListLicenses
from ingot.repositories.templates.views import (
    LicenseView,
    TemplateBrief,
    TemplateView,
    license_view,
    template_view,
)

routes = Routes("templates")


def _briefs(kind: queries.TemplateKind, page: Page) -> Listing[TemplateBrief]:
    listing = queries.list_templates(kind, page)
    return listing.of([TemplateBrief(name, name) for name in listing.items])


@routes.get("/templates/gitignores", may=anyone, returns=list[TemplateBrief])
def list_gitignores(call: Call, page: Page) -> Listing[TemplateBrief]:  # noqa: ARG001 - The kernel passes the call to every handler.
    """List the gitignore templates."""
    return _briefs("gitignores", page)


@routes.get("/templates/gitignores/:key", may=anyone, returns=TemplateView)
def get_gitignore(call: Call) -> TemplateView:
    """Get a gitignore template."""
    return template_view(queries.find_template("gitignores", call.path["key"]))


@routes.get("/templates/gitlab_ci_ymls", may=anyone, returns=list[TemplateBrief])
def list_gitlab_ci_ymls(call: Call, page: Page) -> Listing[TemplateBrief]:  # noqa: ARG001 - The kernel passes the call to every handler.
    """List the CI file templates."""
    return _briefs("gitlab_ci_ymls", page)


@routes.get("/templates/gitlab_ci_ymls/:key", may=anyone, returns=TemplateView)
def get_gitlab_ci_yml(call: Call) -> TemplateView:
    """Get a CI file template."""
    return template_view(queries.find_template("gitlab_ci_ymls", call.path["key"]))


@routes.get("/templates/dockerfiles", may=anyone, returns=list[TemplateBrief])
def list_dockerfiles(call: Call, page: Page) -> Listing[TemplateBrief]:  # noqa: ARG001 - The kernel passes the call to every handler.
    """List the Dockerfile templates."""
    return _briefs("dockerfiles", page)


@routes.get("/templates/dockerfiles/:key", may=anyone, returns=TemplateView)
def get_dockerfile(call: Call) -> TemplateView:
    """Get a Dockerfile template."""
    return template_view(queries.find_template("dockerfiles", call.path["key"]))


@routes.get("/templates/licenses", may=anyone, returns=list[LicenseView])
def list_licenses(call: Call, params: ListLicenses, page: Page) -> Listing[LicenseView]:  # noqa: ARG001 - Every handler takes the call.
    """List the licenses, with their placeholders."""
    listing = queries.list_licenses(page, popular=params.popular)
    return listing.of([license_view(each) for each in listing.items])


@routes.get("/templates/licenses/:key", may=anyone, returns=LicenseView)
def get_license(call: Call, params: GetLicense) -> LicenseView:
    """Get a license with the placeholders filled in; the holder defaults to the caller."""
    template = queries.find_license(call.path["key"])
    fullname = params.fullname.strip() or call.actor.name
    return license_view(queries.fill_license(template, call.db.now, fullname=fullname, project=params.project.strip()))
