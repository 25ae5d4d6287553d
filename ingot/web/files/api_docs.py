"""API reference: a list of all endpoints, and for each group of them a page to try them out."""

from collections import defaultdict

from ingot.core.api.routes import Endpoint
from ingot.core.errors import NotFound
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit, text_field

pages = PageRoutes()
# The vendored viewer sets inline styles and loads its icons from data: URLs.
_VIEWER_POLICY = (
    b"default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src 'self' data:; "
    b"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


@pages.get("/api/v4/docs", open=True)
def show_api_docs(visit: Visit) -> PageResponse:
    """List all endpoints, or show those of one group in the viewer, which needs many seconds for all of them."""
    groups = _endpoint_groups(visit)
    tag = text_field(visit.request.query, "group")
    if not tag:
        return TemplateResponse("files/api_docs.html", {"groups": groups})
    if tag not in groups:
        raise NotFound("Group")
    context = {"groups": groups, "group": tag, "endpoints": groups[tag]}
    return TemplateResponse("files/api_group.html", context, policy=_VIEWER_POLICY)


def _endpoint_groups(visit: Visit) -> dict[str, list[Endpoint]]:
    """Return the endpoints by group, in alphabetical order."""
    groups: defaultdict[str, list[Endpoint]] = defaultdict(list)
    for endpoint in visit.client.internal.table.declarations:
        groups[endpoint.tag].append(endpoint)
    return {
        tag: sorted(groups[tag], key=lambda endpoint: (endpoint.path, endpoint.method))
        for tag in sorted(groups, key=lambda tag: tag.replace("_", " "))
    }
