"""The page that renders the API's own description and lets a person try calls."""

from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()
# The vendored viewer sets styles on elements and draws its icons from data: addresses.
_VIEWER_POLICY = (
    b"default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src 'self' data:; "
    b"connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)


@pages.get("/api/v4/docs", open=True)
def show_documents(visit: Visit) -> PageResponse:  # noqa: ARG001 - Every page takes the visit.
    """The API's description."""
    return TemplateResponse("files/documents.html", policy=_VIEWER_POLICY)
