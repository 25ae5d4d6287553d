"""The page that renders the API's own description and lets a person try calls."""

from ingot.db.connection import Connection
from ingot.web.pages import Page, Pages, Reply, Visit

pages = Pages()
# The vendored viewer sets styles on elements and draws its icons from data: addresses.
_VIEWER_POLICY = (
    b"default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src 'self' data:; "
    b"connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)


@pages.get("/api/v4/docs", open=True)
def show_documents(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """The API's description."""
    return Page("files/documents.html", policy=_VIEWER_POLICY)
