"""What people are told who need help: what administrators wrote, or else the first steps."""

from ingot.db.connection import Connection
from ingot.instance.settings import allows_protocol, current_settings
from ingot.projects.views import addresses_at
from ingot.web.pages import Page, Pages, Reply, Visit
from ingot.web.texts import html_of

pages = Pages()
_EXAMPLE = "group/project.git"


@pages.get("/help", open=True)
def show_help(visit: Visit, db: Connection) -> Reply:
    """For everybody, signed in or not."""
    settings, at = current_settings(db), addresses_at(visit.origin.base, visit.settings)
    context = {
        "text": html_of(visit, settings.help_page_text),
        "support_url": settings.help_page_support_url or "",
        "about_us": not settings.help_page_hide_commercial_content,
        "http": f"{at.base}/{_EXAMPLE}" if allows_protocol(db, "http") else "",
        "ssh": f"{at.ssh}{_EXAMPLE}" if allows_protocol(db, "ssh") else "",
        "api": f"{at.base}/api/v4",
    }
    return Page("explore/help.html", context)
