"""Tokens by which administrators act as somebody."""

from typing import Any

from msgspec import UNSET

from ingot.db.connection import Connection
from ingot.web.admin.frame import admin_page, require_admin
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.projects.forms import Forms, filled, texts_of
from ingot.web.refusals import Refusal, sentences

pages = Pages()
_ROUTE = "/users/:user_id/impersonation_tokens"
SCOPES = ("api", "read_user", "read_api", "read_repository", "write_repository")


@pages.get("/admin/users/:id/impersonation_tokens")
def show_tokens(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Those that still open something."""
    require_admin(visit)
    return _page(visit, Forms())


@pages.post("/admin/users/:id/impersonation_tokens")
def make_token(visit: Visit) -> Reply:
    """Make one and show it, once."""
    require_admin(visit)
    typed = texts_of(visit, "token", ("name", "expires_at"), SCOPES)
    sent = filled({name: typed[name] for name in ("name", "expires_at")})
    try:
        wish = sent | {"scopes": [scope for scope in SCOPES if typed[scope]]}
        made = visit.call("POST", _ROUTE, wish, user_id=visit.path["id"])
    except Refusal as refusal:
        return _page(visit, Forms("token", typed, sentences(refusal)))
    return _page(visit, Forms(), made)


@pages.delete("/admin/users/:id/impersonation_tokens/:token")
def revoke_token(visit: Visit) -> Reply:
    """Let it open nothing more."""
    require_admin(visit)
    path = {"user_id": visit.path["id"], "impersonation_token_id": visit.path["token"]}
    visit.call("DELETE", f"{_ROUTE}/:impersonation_token_id", **path)
    return Redirect(f"/admin/users/{visit.path['id']}/impersonation_tokens")


def _page(visit: Visit, forms: Forms, made: Any = None) -> Page:
    context = {
        "forms": forms,
        "scopes": SCOPES,
        "person": visit.get("/users/:id", id=visit.path["id"]),
        "tokens": visit.get(_ROUTE, {"state": "active", "per_page": 100}, user_id=visit.path["id"]).items,
        "secret": made.token if made is not None and made.token is not UNSET else "",
    }
    return admin_page(visit, "impersonation", "users", context, forms.status)
