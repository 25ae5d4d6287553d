"""Frame in which the browser draws diagrams of Markdown texts.

The library that draws them interprets text of users. The policy therefore gives the frame an origin of its own, so that
it reads no cookies and no other page, and lets it load nothing except the library.
"""

from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()
_POLICY = (
    b"sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; "
    b"font-src data:; form-action 'none'; frame-ancestors 'self'; base-uri 'none'"
)


@pages.get("/-/diagram_frame", open=True, with_expired_password=True)
def show_diagram_frame(visit: Visit) -> PageResponse:  # noqa: ARG001 - Every page takes the visit.
    """Return the frame; it contains no data of the user."""
    return TemplateResponse("files/_diagram_frame.html", policy=_POLICY, frameable=True)
