"""Administration pages of a user's impersonation tokens."""

from typing import Any

from msgspec import UNSET

from ingot.accounts.tokens import api as tokens_api
from ingot.accounts.users import api as users_api
from ingot.web.admin.layout import render_admin_page, require_admin
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.forms import FormsState, form_values, nonempty_values

pages = PageRoutes()
IMPERSONATION_SCOPES = ("api", "read_user", "read_api", "read_repository", "write_repository")


@pages.get("/admin/users/:id/impersonation_tokens")
def show_tokens(visit: Visit) -> PageResponse:
    """List the active impersonation tokens of a user."""
    require_admin(visit)
    return _tokens_page(visit, FormsState())


@pages.post("/admin/users/:id/impersonation_tokens")
def create_token(visit: Visit) -> PageResponse:
    """Create an impersonation token and show its value once."""
    require_admin(visit)
    typed = form_values(visit, "token", ("name", "expires_at"), IMPERSONATION_SCOPES)
    params = nonempty_values({name: typed[name] for name in ("name", "expires_at")})
    try:
        token_params = params | {"scopes": [scope for scope in IMPERSONATION_SCOPES if typed[scope]]}
        created = visit.ask(tokens_api.create_impersonation_token, token_params, user_id=visit.request.path["id"])
    except REQUEST_ERRORS as error:
        return _tokens_page(visit, FormsState("token", typed, error_messages(error)))
    return _tokens_page(visit, FormsState(), created)


@pages.delete("/admin/users/:id/impersonation_tokens/:token", notice="Token revoked.")
def revoke_token(visit: Visit) -> PageResponse:
    """Revoke an impersonation token."""
    require_admin(visit)
    path = {"user_id": visit.request.path["id"], "impersonation_token_id": visit.request.path["token"]}
    visit.ask(tokens_api.revoke_impersonation_token, **path)
    return LocalRedirect(f"/admin/users/{visit.request.path['id']}/impersonation_tokens")


def _tokens_page(visit: Visit, forms: FormsState, created: Any = None) -> TemplateResponse:
    active = {"state": "active", "per_page": 100}
    context = {
        "forms": forms,
        "scopes": IMPERSONATION_SCOPES,
        "shown_user": visit.ask(users_api.get_user, id=visit.request.path["id"]),
        "tokens": visit.ask(tokens_api.list_impersonation_tokens, active, user_id=visit.request.path["id"]).items,
        "secret": created.token if created is not None and created.token is not UNSET else "",
    }
    return render_admin_page(visit, "impersonation", "users", context, forms.status)
