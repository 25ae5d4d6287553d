"""Construction of visits: the session, user and parameters of one page request."""

import secrets
from contextlib import suppress
from typing import Any

import msgspec

from ingot.accounts.authentication import authenticate
from ingot.accounts.instance.access_settings import access_settings
from ingot.accounts.sessions.policy import has_admin_rights
from ingot.accounts.sessions.queries import csrf_token, session_or_none
from ingot.accounts.sessions.tables import Session
from ingot.accounts.two_factor.queries import second_factor_due_at
from ingot.accounts.users.tables import User
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.api.endpoint_call import SubjectCache
from ingot.core.api.internal_client import InternalCaller, InternalClient
from ingot.core.api.request_credentials import read_credentials
from ingot.core.api.request_fields import parse_query
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Failure
from ingot.core.http.body_budget import BodyCharge
from ingot.core.http.content_headers import accepts_gzip
from ingot.core.http.request import Request
from ingot.core.settings import Settings
from ingot.projects.namespaces.ip_restrictions import actor_at
from ingot.web.client import PageClient
from ingot.web.cookies import SESSION_COOKIE, VISITOR_COOKIE, read_cookies
from ingot.web.page_routes import PageHeaders, PageRequest, Viewer, Visit, session_actor


class PageCall(msgspec.Struct):
    """State of one page request, filled in while it is processed."""

    request: Request
    form: dict[str, Any] = {}
    cookies: dict[str, str] = {}
    visitor: str = ""
    """Value of the visitor cookie, sent or new; empty while a session identifies the user."""
    visit: Visit | None = None
    charge: BodyCharge | None = None


class VisitBuilder:
    """Builds the visit that the handler of a page receives."""

    def __init__(self, settings: Settings, database: Database, client: InternalClient) -> None:
        self._settings = settings
        self._database = database
        self._client = client

    def of_session(self, path_params: dict[str, str], page_call: PageCall, db: Connection) -> Visit:
        """Return the visit of the user whose session cookie was sent; anonymous without a valid one."""
        cookie = page_call.cookies.get(SESSION_COOKIE, "")
        session, user = (session_or_none(db, cookie) if cookie else None) or (None, None)
        return self._build(path_params, page_call, db, session, user)

    def of_user(self, path_params: dict[str, str], page_call: PageCall, db: Connection, user: User | None) -> Visit:
        """Return the visit of a user without a session."""
        return self._build(path_params, page_call, db, None, user)

    def _build(
        self,
        path_params: dict[str, str],
        page_call: PageCall,
        db: Connection,
        session: Session | None,
        user: User | None,
    ) -> Visit:
        request = page_call.request
        if session is None and not page_call.visitor:
            page_call.visitor = page_call.cookies.get(VISITOR_COOKIE) or secrets.token_urlsafe(16)
        due_at = None if user is None else second_factor_due_at(db, user)
        settings = access_settings(db)
        is_admin = user is not None and user.admin
        limited = is_admin and session is not None and not has_admin_rights(settings, session, db.now)
        if user is not None and limited:
            user = msgspec.structs.replace(user, admin=False)
        query, actor = parse_query(request.query), actor_at(db, session_actor(user), request.origin.ip)
        subject_cache: SubjectCache | None = {} if request.method == "GET" else None
        return Visit(
            request=PageRequest(request.origin, _address(request), path_params, query, page_call.form),
            headers=PageHeaders(
                credentials=read_credentials(request.headers, query, writes=False),
                authorization=request.headers.get(b"authorization", b"").decode("latin-1"),
                cookies=page_call.cookies,
                fragment=b"hx-request" in request.headers,
                takes_gzip=accepts_gzip(request.headers),
                accept_language=request.headers.get(b"accept-language", b""),
            ),
            viewer=Viewer(
                actor=actor,
                user=user,
                session=session,
                csrf=csrf_token(db, session) if session else db.vault.derive("visitor", page_call.visitor.encode()),
                two_factor_due_at=due_at,
                must_set_up_two_factor=due_at is not None and due_at <= db.now,
                default_language=settings.default_preferred_language,
                must_accept_terms=user is not None and settings.requires_acceptance(user.terms_accepted_at),
                may_enter_admin_mode=limited,
                in_admin_mode=is_admin and settings.admin_mode and not limited,
            ),
            client=PageClient(self._client, InternalCaller(actor, request.origin, subject_cache)),
            database=self._database,
            settings=self._settings,
        )


def request_actors(page_call: PageCall, db: Connection) -> list[Actor]:
    """Return the users of the session cookie and of the access token that were sent, one or both.

    Whether a page accepts the token is not known before it is served. Without a valid credential the caller is
    anonymous.
    """
    cookie = page_call.cookies.get(SESSION_COOKIE, "")
    _, user = (session_or_none(db, cookie) if cookie else None) or (None, None)
    actors = [session_actor(user)] if user else []
    request = page_call.request
    credentials = read_credentials(request.headers, parse_query(request.query), writes=False)
    if credentials.token is not None:
        with suppress(Failure):  # The page refuses an invalid token, or ignores it.
            actors.append(authenticate(db, credentials))
    return actors or [ANONYMOUS]


def has_session(request: Request, db: Connection) -> bool:
    """Return whether a request was sent by a user who is signed in."""
    cookie = read_cookies(request).get(SESSION_COOKIE, "")
    return bool(cookie) and session_or_none(db, cookie) is not None


def _address(request: Request) -> str:
    return request.path.decode("latin-1") + ("?" + request.query.decode("latin-1") if request.query else "")
