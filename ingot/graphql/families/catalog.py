"""CI/CD catalog."""

from collections.abc import Sequence
from typing import Any

from ingot.ci.catalog.queries import project_of_resource_or_none, readmes_by_version
from ingot.ci.catalog.tables import ComponentInput
from ingot.ci.catalog.views import CatalogComponentView, CatalogResourceView, CatalogVersionView
from ingot.core.errors import Invalid, NotFound
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import number_of, to_global_id
from ingot.graphql.loaders import render_html
from ingot.graphql.resolvers import Arguments, Resolvers

resolvers = Resolvers()
for _type in ("CiCatalogResource", "CiCatalogResourceComponent"):
    resolvers.rename(_type, last30DayUsageCount="last_30_day_usage_count")
_MODEL = "Ci::Catalog::Resource"
_COMMIT = "GET /projects/:id/repository/commits/:sha"


@resolvers.single("Query.ciCatalogResources")
def list_resources(context: QueryContext, _: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the catalog; no project has another level of verification than "unverified"."""
    if arguments.get("verificationLevel") not in (None, "UNVERIFIED"):
        return connection_of([], arguments)
    params = {
        "search": arguments.get("search"),
        "scope": arguments["scope"].lower() if arguments.get("scope") else None,
        "sort": arguments["sort"].lower() if arguments.get("sort") else None,
        "topics": arguments.get("topics"),
        "group_ids": [number_of(each, "Group") for each in arguments.get("groupIds") or ()] or None,
    }
    return listed(context, "GET /ci/catalog/resources", arguments, params)


@resolvers.single("Query.ciCatalogResource")
def find_resource(context: QueryContext, _: Any, arguments: Arguments) -> CatalogResourceView:
    """Return a published resource by its id or by the path of its project."""
    path, global_id = arguments.get("fullPath"), arguments.get("id")
    if bool(path) == bool(global_id):
        raise Invalid("Exactly one of 'id' or 'full_path' arguments is required.")
    if global_id:
        number = number_of(global_id, _MODEL)
        path = context.read(lambda db: project_of_resource_or_none(db, number))
        if path is None:
            raise NotFound("Catalog Resource")
    found: CatalogResourceView = context.call("GET /projects/:id/catalog", id=path)
    if not context.call("GET /projects/:id/catalog/versions", {"per_page": 1}, id=found.project_id).items:
        raise NotFound("Catalog Resource")
    return found


@resolvers.value("CiCatalogResource.id")
def resource_id(_: QueryContext, resource: CatalogResourceView) -> str:
    """Return the global id."""
    return to_global_id(_MODEL, resource.id)


@resolvers.value("CiCatalogResource.verificationLevel")
def verification_level(_: QueryContext, resource: CatalogResourceView) -> str:
    """Return the level as a constant."""
    return resource.verification_level.upper()


@resolvers.single("CiCatalogResource.versions")
def list_versions(context: QueryContext, resource: CatalogResourceView, arguments: Arguments) -> ConnectionPage:
    """Return a page of the versions of a resource, the highest first."""
    params = {"name": arguments.get("name")}
    return listed(context, "GET /projects/:id/catalog/versions", arguments, params, id=resource.project_id)


@resolvers.value("CiCatalogResourceVersion.id")
def version_id(_: QueryContext, version: CatalogVersionView) -> str:
    """Return the global id."""
    return to_global_id("Ci::Catalog::Resources::Version", version.id)


@resolvers.single("CiCatalogResourceVersion.commit")
def find_commit(context: QueryContext, version: CatalogVersionView, _: Arguments) -> Any:
    """Return the commit of a version."""
    return context.call(_COMMIT, id=version.project_id, sha=version.sha)


@resolvers.batch("CiCatalogResourceVersion.readme")
def readmes(context: QueryContext, versions: Sequence[CatalogVersionView], _: Arguments) -> list[str | None]:
    """Return the READMEs as they were when the versions were published."""
    ids = [version.id for version in versions]
    found = context.load("catalog readme", ids, lambda keys: context.read(lambda db: readmes_by_version(db, keys)))
    return [found[each] for each in ids]


@resolvers.batch("CiCatalogResourceVersion.readmeHtml")
def readmes_as_html(
    context: QueryContext, versions: Sequence[CatalogVersionView], arguments: Arguments
) -> list[str | None]:
    """Return the READMEs as HTML."""
    texts = dict(zip((version.id for version in versions), readmes(context, versions, arguments), strict=True))
    return render_html(context, versions, lambda version: texts[version.id], lambda version: version.project_id)


@resolvers.batch("CiCatalogResourceVersion.components")
def list_components(
    _: QueryContext, versions: Sequence[CatalogVersionView], arguments: Arguments
) -> list[ConnectionPage]:
    """Return the components of versions."""
    return [connection_of(version.components, arguments) for version in versions]


@resolvers.value("CiCatalogResourceComponent.id")
def component_id(_: QueryContext, component: CatalogComponentView) -> str:
    """Return the global id."""
    return to_global_id("Ci::Catalog::Resources::Component", component.id)


@resolvers.value("CiInputsSpec.type")
def input_type(_: QueryContext, declared: ComponentInput) -> str:
    """Return the type as a constant."""
    return declared.type.upper()
