"""Rendering of templates, with the layout context, filters and error pages that all pages share."""

from functools import partial
from typing import TYPE_CHECKING, Any

from ingot.accounts.appearance.records import Appearance, current_appearance
from ingot.accounts.instance.outgoing_rules import is_silent
from ingot.accounts.instance.views import current_broadcast_views
from ingot.collaboration.todos.views import pending_todos
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.web.cookies import dismissed_ids
from ingot.web.display_zone import page_locale
from ingot.web.languages import DEFAULT_LANGUAGE, load_catalogue, page_language
from ingot.web.notices import notice_of
from ingot.web.page_routes import TemplateResponse, Visit

if TYPE_CHECKING:
    from jinja2 import Environment

_ERROR_MESSAGES = {
    400: ("Invalid request", "The form could not be read. Go back and try again."),
    401: ("Unauthorized", "Sign in to continue."),
    403: ("Access denied", "You do not have permission to do this."),
    404: ("Page not found", "The page does not exist, or you do not have permission to view it."),
    405: ("Method not allowed", "The page does not support this kind of request."),
    409: ("Conflict", "The page has changed in the meantime. Reload it and check the changes before you try again."),
    413: ("Request too large", "The form or file is larger than this page accepts."),
    422: ("The form has expired", "Go back, reload the page and submit the form again."),
    429: ("Too many requests", "Retry later: wait a few minutes before you try again."),
    507: ("Disk full", "The server has no free disk space, so nothing was stored. Ask an administrator to free some."),
    503: ("Service unavailable", "The server is temporarily unavailable. Try again in a moment."),
}

_UNAVAILABLE = 503
_EMPTY_LAYOUT: dict[str, Any] = {"broadcasts": [], "to_do": 0, "appearance": Appearance(), "silent": False}


def error_page(status: int, message: str = "") -> TemplateResponse:
    """Return the error page for a status, with the usual text unless there is a message."""
    title, text = _ERROR_MESSAGES.get(status, ("Request failed", "Go back and try again."))
    return TemplateResponse("message.html", {"title": title, "text": message or text, "missing": status == 404}, status)


def _layout_context(visit: Visit | None, db: Connection) -> dict[str, Any]:
    """Return the context of the layout: broadcast messages, the appearance and the number of pending to-do items."""
    to_do = pending_todos(db, visit.viewer.actor) if visit and visit.viewer.user else 0
    dismissed = dismissed_ids(visit.headers.cookies) if visit else ()
    return {
        "broadcasts": [view for view in current_broadcast_views(db) if view.id not in dismissed],
        "to_do": to_do,
        "appearance": current_appearance(db),
        "silent": is_silent(db),
    }


class TemplateRenderer:
    """Template renderer that creates its environment with the first page, so that API-only workers never do."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._environments: dict[str, Environment] = {}

    def render(self, page: TemplateResponse, visit: Visit | None) -> bytes:
        """Render a page to bytes; partial templates (``_name.html``) get no layout context."""
        language = page_language(visit)
        template = self._environment_of(language).get_template(page.template)
        context: dict[str, Any] = {"visit": visit, "user": visit.viewer.user if visit else None, **page.context}
        if not page.is_fragment:
            notice = notice_of(self._database.vault, visit.headers.cookies) if visit else ""
            context["notice"] = load_catalogue(language).get(notice, notice) if language != DEFAULT_LANGUAGE else notice
            # The page that says that the database does not answer must not need it.
            down = page.status == _UNAVAILABLE
            context |= _EMPTY_LAYOUT if down else self._database.read(partial(_layout_context, visit))
        with page_locale(visit):
            return template.render(context).encode()

    def _environment_of(self, language: str) -> "Environment":
        """Return the environment of a language, created for its first page."""
        environment = self._environments.get(language)
        if environment is None:
            from ingot.web.template_environment import template_environment

            environment = self._environments[language] = template_environment(self._database.clock, language)
        return environment
