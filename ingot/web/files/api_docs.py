"""Interactive page of the API documentation."""

from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()
# The vendored viewer sets inline styles and loads its icons from data: URLs.
_VIEWER_POLICY = (
    b"default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src 'self' data:; "
    b"connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)


@pages.get("/api/v4/docs", open=True)
def show_api_docs(visit: Visit) -> PageResponse:  # noqa: ARG001 - Every page takes the visit.
    """Show the API documentation."""
    return TemplateResponse("files/api_docs.html", policy=_VIEWER_POLICY)
