"""Help page: the text of the administrators, or the first steps, and facts about this instance."""

from ingot.accounts.instance.all_settings import all_settings
from ingot.accounts.instance.settings import allows_protocol, current_settings
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.core.version import product_version
from ingot.projects.projects import api as projects_api
from ingot.projects.projects.views import instance_urls
from ingot.web.page_routes import BytesResponse, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.texts import render_markdown

pages = PageRoutes()
_EXAMPLE = "group/project.git"


@pages.get("/help", open=True)
def show_help(visit: Visit, db: Connection) -> PageResponse:
    """Show the help page."""
    settings, at = current_settings(db), instance_urls(db, visit.request.origin, visit.settings)
    context = {
        "text": render_markdown(visit, settings.help_page_text),
        "support_url": settings.help_page_support_url or "",
        "about_us": not settings.help_page_hide_commercial_content,
        "http": f"{at.clone}{_EXAMPLE}" if allows_protocol(db, "http") else "",
        "ssh": f"{at.ssh}{_EXAMPLE}" if allows_protocol(db, "ssh") else "",
        "api": f"{at.base}/api/v4",
        "base": at.base,
        "version": product_version() if visit.viewer.user is not None else "",
        "public_projects": visit.ask(projects_api.list_projects, {"visibility": "public", "per_page": 1}).total,
        "registration": settings.signup_enabled,
    }
    return TemplateResponse("explore/help.html", context)


@pages.get("/.well-known/security.txt", open=True, for_api_clients=True)
def show_security_contact(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Pages that read take the visit.
    """Return how to report security problems (RFC 9116), as administrators wrote it."""
    text = all_settings(db).security_txt_content
    if not text:
        raise NotFound("Page")
    return BytesResponse(text.encode(), "text/plain; charset=utf-8")
