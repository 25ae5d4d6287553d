"""Tokens by which administrators act as somebody."""

from typing import Any

from msgspec import UNSET

from ingot.core.db.connection import Connection
from ingot.web.admin.layout import render_admin_page, require_admin
from ingot.web.form_errors import RequestRefusal, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.forms import FormsState, form_values, nonempty_values

pages = PageRoutes()
_ROUTE = "/users/:user_id/impersonation_tokens"
IMPERSONATION_SCOPES = ("api", "read_user", "read_api", "read_repository", "write_repository")


@pages.get("/admin/users/:id/impersonation_tokens")
def show_tokens(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page to read gets a connection.
    """Those that still open something."""
    require_admin(visit)
    return _tokens_page(visit, FormsState())


@pages.post("/admin/users/:id/impersonation_tokens")
def create_token(visit: Visit) -> PageResponse:
    """Make one and show it, once."""
    require_admin(visit)
    typed = form_values(visit, "token", ("name", "expires_at"), IMPERSONATION_SCOPES)
    sent = nonempty_values({name: typed[name] for name in ("name", "expires_at")})
    try:
        wish = sent | {"scopes": [scope for scope in IMPERSONATION_SCOPES if typed[scope]]}
        made = visit.call("POST", _ROUTE, wish, user_id=visit.path["id"])
    except RequestRefusal as refusal:
        return _tokens_page(visit, FormsState("token", typed, error_messages(refusal)))
    return _tokens_page(visit, FormsState(), made)


@pages.delete("/admin/users/:id/impersonation_tokens/:token")
def revoke_token(visit: Visit) -> PageResponse:
    """Let it open nothing more."""
    require_admin(visit)
    path = {"user_id": visit.path["id"], "impersonation_token_id": visit.path["token"]}
    visit.call("DELETE", f"{_ROUTE}/:impersonation_token_id", **path)
    return LocalRedirect(f"/admin/users/{visit.path['id']}/impersonation_tokens")


def _tokens_page(visit: Visit, forms: FormsState, made: Any = None) -> TemplateResponse:
    context = {
        "forms": forms,
        "scopes": IMPERSONATION_SCOPES,
        "person": visit.get("/users/:id", id=visit.path["id"]),
        "tokens": visit.get(_ROUTE, {"state": "active", "per_page": 100}, user_id=visit.path["id"]).items,
        "secret": made.token if made is not None and made.token is not UNSET else "",
    }
    return render_admin_page(visit, "impersonation", "users", context, forms.status)
