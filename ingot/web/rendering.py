"""From templates to bytes, with what every page shows and says the same way."""

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ingot.accounts.instance.views import current_broadcast_views
from ingot.collaboration.todos.views import pending_todos
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.web import formats
from ingot.web.bidi import mark_bidi_in_text
from ingot.web.files.static import versioned_url
from ingot.web.page_routes import TemplateResponse, Visit

if TYPE_CHECKING:
    from jinja2 import Environment

_ERROR_MESSAGES = {
    400: ("That did not arrive whole", "The form could not be read. Go back and try again."),
    401: ("That did not match", "Sign in to go on."),
    403: ("Not for you", "You are signed in, but may not do this."),
    404: ("Nothing here", "There is no such page, or you may not see it."),
    405: ("Not this way", "The page exists, but not for this kind of request."),
    409: ("Somebody was faster", "It has changed meanwhile. Reload the page and look before you try again."),
    413: ("Too large", "What was sent is larger than this page takes."),
    422: ("The form was too old", "Go back, reload the page and send the form again."),
    429: ("Too many tries", "Retry later: wait a few minutes before the next one."),
    503: ("Busy", "The server cannot answer right now. Try again in a moment."),
}


def error_page(status: int) -> TemplateResponse:
    """A page that only says what went wrong."""
    title, text = _ERROR_MESSAGES.get(status, ("That did not work", "Go back and try again."))
    return TemplateResponse("message.html", {"title": title, "text": text}, status)


def _layout_context(visit: Visit | None, db: Connection) -> dict[str, Any]:
    """What stands around every page."""
    to_do = pending_todos(db, visit.viewer.actor) if visit and visit.viewer.user else 0
    return {"broadcasts": current_broadcast_views(db), "to_do": to_do}


class TemplateRenderer:
    """The templates, loaded when the first page is asked for: who only answers API calls never needs them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def render(self, page: TemplateResponse, visit: Visit | None) -> bytes:
        """A page as the browser gets it."""
        template = self._environment.get_template(page.template)
        context: dict[str, Any] = {"visit": visit, "user": visit.viewer.user if visit else None, **page.context}
        if not page.template.rpartition("/")[2].startswith("_"):
            context |= self._database.read(partial(_layout_context, visit))
        return template.render(context).encode()

    @cached_property
    def _environment(self) -> "Environment":
        from jinja2 import PackageLoader, StrictUndefined

        from ingot.web.escape import FastEscapingEnvironment

        environment = FastEscapingEnvironment(
            loader=PackageLoader("ingot.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        clock = self._database.clock
        environment.filters["ago"] = lambda stamp: formats.ago(stamp, clock())
        environment.filters |= {"exactly": formats.exact_time, "size": formats.size, "count": formats.count}
        environment.filters |= {"with_query": formats.with_query, "initials": formats.initials}
        environment.filters |= {"pretty": formats.pretty_json, "local": formats.local_url}
        environment.filters["visible"] = mark_bidi_in_text
        environment.globals["static"] = versioned_url
        return environment
