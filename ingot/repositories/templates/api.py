"""Endpoints of templates; those of the instance are public, since every instance has the same texts."""

from typing import cast

from ingot.core.access.levels import Access
from ingot.core.access.rules import anyone
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Invalid
from ingot.repositories.context import repository_in_path
from ingot.repositories.templates import queries
from ingot.repositories.templates.description_templates import (
    DESCRIPTION_FOLDERS,
    description_templates,
    find_description_template,
)
from ingot.repositories.templates.params import GetLicense, ListLicenses
from ingot.repositories.templates.policy import ProjectTemplates, may_read_templates
from ingot.repositories.templates.views import (
    LicenseView,
    TemplateBrief,
    TemplateView,
    license_view,
    template_view,
)

routes = Routes("templates")
TEMPLATE_TYPES = frozenset({"dockerfiles", "gitignores", "gitlab_ci_ymls", "licenses", *DESCRIPTION_FOLDERS})


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
    return _filled_license(call, call.path["key"], params)


def _filled_license(call: Call, key: str, params: GetLicense) -> LicenseView:
    template = queries.find_license(key)
    fullname = params.fullname.strip() or call.actor.name
    return license_view(queries.fill_license(template, call.db.now, fullname=fullname, project=params.project.strip()))


def _templates_in_path(call: Call) -> tuple[Access, ProjectTemplates]:
    if call.path["type"] not in TEMPLATE_TYPES:
        raise Invalid(type=["is invalid"])
    access, context = repository_in_path(call)
    return access, ProjectTemplates(call.path["type"], context)


@routes.get(
    "/projects/:id/templates/:type",
    on=_templates_in_path,
    may=may_read_templates,
    returns=list[TemplateBrief],
    open=True,
)
def list_project_templates(call: Call, templates: ProjectTemplates, page: Page) -> Listing[TemplateBrief]:  # noqa: ARG001 - The kernel passes the call to every handler.
    """List the templates of one type that a project offers: those of the instance, or files of the project."""
    kind = templates.kind
    if kind == "licenses":
        listing = queries.list_licenses(page, popular=False)
        return listing.of([TemplateBrief(each.key, each.name) for each in listing.items])
    if kind in DESCRIPTION_FOLDERS:
        names = list(description_templates(templates.context.repository, kind))
        return queries.page_of([TemplateBrief(name, name) for name in names], page)
    return _briefs(cast("queries.TemplateKind", kind), page)


@routes.get(
    "/projects/:id/templates/:type/:name",
    on=_templates_in_path,
    may=may_read_templates,
    returns=LicenseView | TemplateView,
    open=True,
)
def get_project_template(call: Call, templates: ProjectTemplates, params: GetLicense) -> LicenseView | TemplateView:
    """Get a template that a project offers; the parameters fill the placeholders of a license."""
    kind, name = templates.kind, call.path["name"]
    if kind == "licenses":
        return _filled_license(call, name, params)
    if kind in DESCRIPTION_FOLDERS:
        return template_view(find_description_template(templates.context.repository, kind, name))
    return template_view(queries.find_template(cast("queries.TemplateKind", kind), name))
