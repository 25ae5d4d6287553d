"""Identification of a signed-in user to a static site, which is on another host."""

import re
from functools import partial
from urllib.parse import urlsplit

from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.sites.serving.access import issue_code
from ingot.sites.serving.sites import is_site_origin
from ingot.web.page_routes import ExternalRedirect, PageResponse, PageRoutes, Visit

pages = PageRoutes()
_NONCE = re.compile(r"[A-Za-z0-9_-]{20,64}")
_MAX_URL = 4096


@pages.get("/-/pages/authorize")
def authorize_site(visit: Visit) -> PageResponse:
    """Redirect back to a site with a code that names the user; the site checks the membership itself."""
    url, nonce = visit.request.query.get("return_to", ""), visit.request.query.get("nonce", "")
    if not visit.settings.serves_sites or len(url) > _MAX_URL or not _NONCE.fullmatch(nonce):
        raise NotFound("Page")
    try:
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
    except ValueError:
        raise NotFound("Page") from None
    if not visit.database.read(partial(_is_known, visit=visit, origin=origin)):
        raise NotFound("Page")
    now = visit.database.clock()
    return ExternalRedirect(issue_code(visit.database.vault, visit.viewer.signed_in.id, url, nonce, now))


def _is_known(db: Connection, visit: Visit, origin: str) -> bool:
    return is_site_origin(db, visit.settings, origin)
