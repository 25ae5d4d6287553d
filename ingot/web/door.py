"""The door for browsers: sessions, CSRF tokens, forms, and pages made of templates."""

import asyncio
import hmac
import secrets
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ingot.api.answers import error_answer
from ingot.api.fields import BadRequest, parse_body, parse_query
from ingot.api.kernel import read_credentials
from ingot.api.router import NoRoute, Router, WrongMethod
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.errors import Failure, Throttled, Unavailable
from ingot.http.front import respond
from ingot.http.request import Header, Request, Send, Trace
from ingot.instance.queries import current_broadcasts
from ingot.settings import Settings
from ingot.users.sessions.queries import csrf_token, session_or_none
from ingot.web import avatars, documents, passwords, profile, sign_in, sign_up, static, unsubscribe, uploads, wiki_files
from ingot.web.cookies import SESSION_COOKIE, VISITOR_COOKIE, read_cookies, set_cookie
from ingot.web.pages import File, Page, Pages, Place, Redirect, Reply, StoredFile, Visit
from ingot.web.sending import send_file

if TYPE_CHECKING:
    from jinja2 import Environment

FORM_LIMIT = 2**20
ALL_PAGES: Sequence[Pages] = (
    sign_in.pages,
    sign_up.pages,
    passwords.pages,
    unsubscribe.pages,
    profile.pages,
    avatars.pages,
    uploads.pages,
    wiki_files.pages,
    documents.pages,
    static.pages,
)
_SAFE: list[Header] = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
]
_NO_CONTENT_RUNS: Header = (b"content-security-policy", b"default-src 'none'; sandbox")


class WebDoor:
    """Serves everything that is not the API."""

    def __init__(self, settings: Settings, database: Database, pool: Executor) -> None:
        self._settings = settings
        self._database = database
        self._pool = pool
        self._router: Router[Place] = Router(place for pages in ALL_PAGES for place in pages.places)

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Answer one visit."""
        body: bytes | StoredFile
        try:
            status, headers, body = await self._serve(request, trace)
        except NoRoute:
            status, headers, body = self._page(Page("message.html", _message(404), 404))
        except WrongMethod as error:
            status, headers, body = self._page(Page("message.html", _message(405), 405))
            headers.append((b"allow", ", ".join(error.allowed).encode()))
        except BadRequest as error:
            status, headers, body = self._page(Page("message.html", _message(error.status), error.status))
        except (Failure, Unavailable) as error:
            answer = error_answer(error)
            status = answer.status if answer else 500
            status, headers, body = self._page(Page("message.html", _message(status), status))
            if isinstance(error, Throttled):
                headers.append((b"retry-after", b"%d" % error.retry_after))
        if isinstance(body, StoredFile):
            await send_file(request, send, trace, headers, body, self._pool)
            return
        await respond(send, trace, status, headers, body)

    async def _serve(self, request: Request, trace: Trace) -> tuple[int, list[Header], bytes | StoredFile]:
        form: dict[str, Any] = {}
        method = request.method
        if method in ("POST", "PUT", "PATCH", "DELETE"):
            form = await parse_body(request.receive, request.headers, FORM_LIMIT)
            method = str(form.get("_method", method)).upper()
        meant = wiki_files.by_project(request.path) or uploads.by_project(request.path) or request.path
        place, path = self._router.match(method, meant)
        trace.route = place.path
        cookies = read_cookies(request)
        visitor = cookies.get(VISITOR_COOKIE) or secrets.token_urlsafe(16)
        enter = partial(self._enter, place, path, request, form, cookies.get(SESSION_COOKIE, ""), visitor, trace)
        if place.method == "GET":
            reply, visit = self._database.read(enter)
        else:
            stopped, visit = self._database.read(partial(enter, forms=True))
            loop = asyncio.get_running_loop()
            reply = stopped or await loop.run_in_executor(self._pool, place.handler, visit)
        assert reply is not None  # noqa: S101 - A page always gives one.
        status, headers, body = self._render(reply, visit)
        if visit.user is None and isinstance(reply, Page) and cookies.get(VISITOR_COOKIE) != visitor:
            headers.append(set_cookie(self._settings, VISITOR_COOKIE, visitor))
        return status, headers, body

    def _enter(
        self,
        place: Place,
        path: dict[str, str],
        request: Request,
        form: dict[str, Any],
        cookie: str,
        visitor: str,
        trace: Trace,
        db: Connection,
        forms: bool = False,
    ) -> tuple[Reply | None, Visit]:
        """Find out who visits, and whether they may; a page to read is answered right here."""
        found = session_or_none(db, cookie) if cookie else None
        session, user = found or (None, None)
        csrf = csrf_token(db, session) if session else db.vault.derive("visitor", visitor.encode())
        query = parse_query(request.query)
        brought = read_credentials(request.headers, query, writes=False)
        visit = Visit(self._database, self._settings, request.origin, path, query, form, user, session, csrf, brought)
        if user is not None:
            trace.user = user.username
        if user is None and not place.open:
            back = request.path.decode("latin-1") + ("?" + request.query.decode("latin-1") if request.query else "")
            return Redirect(f"/users/sign_in?redirect_to={quote(back, safe='')}"), visit
        if user is not None and user.password_expired and not place.with_expired_password:
            return Redirect("/profile/password/new"), visit
        if not forms:
            return place.handler(visit, db), visit
        if place.by_link:
            return None, visit
        sent = form.get("authenticity_token") or request.headers.get(b"x-csrf-token", b"").decode("latin-1")
        if not isinstance(sent, str) or not hmac.compare_digest(sent.encode(), csrf.encode()):
            return Page("message.html", _message(422), 422), visit
        return None, visit

    def _render(self, reply: Reply, visit: Visit) -> tuple[int, list[Header], bytes | StoredFile]:
        if isinstance(reply, Redirect):
            location = quote(reply.location, safe="/%?#=&+:@!$,;~*'()") if reply.location.startswith("/") else "/"
            return 302, [(b"location", location.encode()), *_SAFE, *reply.headers], b""
        if isinstance(reply, File | StoredFile):
            kind = (b"content-type", reply.content_type.encode())
            content = reply.content if isinstance(reply, File) else reply
            return 200, [kind, _NO_CONTENT_RUNS, *_SAFE, *reply.headers], content
        return self._page(reply, visit)

    def _page(self, page: Page, visit: Visit | None = None) -> tuple[int, list[Header], bytes]:
        template = self._templates.get_template(page.template)
        broadcasts = self._database.read(current_broadcasts)
        text = template.render(visit=visit, user=visit.user if visit else None, broadcasts=broadcasts, **page.context)
        kind, policy = (b"content-type", b"text/html; charset=utf-8"), (b"content-security-policy", page.policy)
        return page.status, [kind, policy, (b"cache-control", b"no-store"), *_SAFE], text.encode()

    @cached_property
    def _templates(self) -> "Environment":
        # A server that only answers API calls never loads the template engine.
        from jinja2 import Environment, PackageLoader, StrictUndefined

        return Environment(
            loader=PackageLoader("ingot.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )


def _message(status: int) -> dict[str, Any]:
    texts = {
        400: ("That did not arrive whole", "The form could not be read. Go back and try again."),
        401: ("That did not match", "Sign in to go on."),
        403: ("Not for you", "You are signed in, but may not do this."),
        404: ("Nothing here", "There is no such page, or you may not see it."),
        405: ("Not this way", "The page exists, but not for this kind of request."),
        413: ("Too large", "What was sent is larger than this page takes."),
        422: ("The form was too old", "Go back, reload the page and send the form again."),
        429: ("Too many tries", "Retry later: wait a few minutes before the next one."),
        503: ("Busy", "The server cannot answer right now. Try again in a moment."),
    }
    title, text = texts.get(status, ("That did not work", "Go back and try again."))
    return {"title": title, "text": text}
