"""Account page and personal access tokens of the current user."""

from typing import Any

from ingot.accounts.identity_providers.openid import PROVIDER
from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.instance.throttles import count_within_limit
from ingot.accounts.sessions.password_check import FAILURE_WINDOW_SECONDS
from ingot.accounts.tokens.service import create_token, reset_private_token, revoke_personal_token
from ingot.accounts.tokens.views import own_private_token, personal_tokens
from ingot.accounts.users.params import ModifyUser
from ingot.accounts.users.service import modify_user
from ingot.accounts.users.views import current_user, identities_of_user
from ingot.core.access.scopes import ADMINISTRATOR_SCOPES, SCOPES
from ingot.core.api.params import path_number
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, parse_date
from ingot.core.errors import Conflict, Invalid
from ingot.core.names import NAMESPACES
from ingot.web.form_errors import error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field
from ingot.web.scope_labels import offered_scopes

pages = PageRoutes()
MAX_RENAMES = 5


@pages.get("/profile/account")
def show_account(visit: Visit, db: Connection) -> PageResponse:
    """Show the private token, the username and the linked identities."""
    return account_page(visit, db, {})


def may_delete_account(visit: Visit, db: Connection) -> bool:
    """Return whether users may delete their own accounts; administrators always may."""
    return visit.viewer.signed_in.admin or cached_all_settings(db).allow_account_deletion


def account_page(visit: Visit, db: Connection, errors: dict[str, list[str]], username: str = "") -> TemplateResponse:
    """Render the account page with the errors of its forms."""
    user = visit.viewer.signed_in
    identities = identities_of_user(db, user.id)
    context = {
        "tab": "account",
        "private_token": own_private_token(db, user.id),
        "errors": errors,
        "username": username or user.username,
        "identities": identities,
        "label": visit.settings.oidc_label,
        "may_link": bool(visit.settings.oidc_issuer) and not any(each.provider == PROVIDER for each in identities),
        "provider": PROVIDER,
        "may_delete": may_delete_account(visit, db),
    }
    return TemplateResponse("profile/account.html", context, 422 if errors else 200)


@pages.put("/profile/username", notice="Username changed.")
def change_username(visit: Visit) -> PageResponse:
    """Change the username; old URLs redirect, and the user's projects move with it."""
    username = form_field(visit.request.form, "user", "username").strip()
    key = f"username of {visit.viewer.signed_in.id}"

    def work(db: Connection) -> None:
        db.lock(NAMESPACES)
        user = current_user(db, visit.viewer.actor)
        if username == user.username:
            return
        count_within_limit(db, key, MAX_RENAMES, FAILURE_WINDOW_SECONDS)
        modify_user(db, visit.viewer.actor, user, ModifyUser(username=username), None)

    try:
        visit.database.write(work)
    except (Invalid, Conflict) as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: account_page(visit, db, {"username": errors}, username))
    return LocalRedirect("/profile/account")


@pages.post("/profile/reset_private_token", notice="Private token reset.")
def reset_token(visit: Visit) -> PageResponse:
    """Reset the private token; the old one stops working."""
    visit.database.write(lambda db: reset_private_token(db, visit.viewer.signed_in.id))
    return LocalRedirect("/profile/account")


@pages.put("/profile/reset_private_token", notice="Private token reset.")
def reset_token_by_put(visit: Visit) -> PageResponse:
    """Reset the private token."""
    return reset_token(visit)


@pages.get("/profile/personal_access_tokens")
def show_tokens(visit: Visit, db: Connection) -> PageResponse:
    """List the tokens and show the form for a new one; clients can preset ``name`` and ``scopes`` in the URL."""
    name, scopes = (visit.request.query.get(each) for each in ("name", "scopes"))
    typed = {
        "name": name if isinstance(name, str) else "",
        "expires_at": "",
        "scopes": scopes.split(",") if isinstance(scopes, str) else [],
    }
    return _tokens_page(visit, db, typed=typed)


@pages.post("/profile/personal_access_tokens")
def create_access_token(visit: Visit) -> PageResponse:
    """Create a token and show its value once."""
    group = "personal_access_token"
    name, day = form_field(visit.request.form, group, "name"), form_field(visit.request.form, group, "expires_at")
    fields = visit.request.form.get(group)
    values = fields.get("scopes") if isinstance(fields, dict) else None
    scopes = [scope for scope in values if isinstance(scope, str)] if isinstance(values, list) else []
    if "sudo" in scopes and not visit.viewer.signed_in.admin:
        scopes.remove("sudo")
    typed = {"name": name, "expires_at": day, "scopes": scopes}
    try:
        expires_at = Timestamp(f"{parse_date(day)}T00:00:00.000Z") if day else None
        _, secret = visit.database.write(
            lambda db: create_token(db, visit.viewer.signed_in.id, "personal", name, scopes, expires_at)
        )
    except ValueError:
        errors = ["The expiration date must have the format YYYY-MM-DD."]
        return visit.database.read(lambda db: _tokens_page(visit, db, errors=errors, typed=typed, status=422))
    except Invalid as error:
        errors = [f"{field.capitalize()} {reason}." for field, reasons in error.errors.items() for reason in reasons]
        return visit.database.read(lambda db: _tokens_page(visit, db, errors=errors, typed=typed, status=422))
    return visit.database.read(lambda db: _tokens_page(visit, db, secret=secret))


@pages.post("/profile/personal_access_tokens/:id/revoke", notice="Token revoked.")
def revoke_access_token(visit: Visit) -> PageResponse:
    """Revoke a personal access token of the current user."""
    number = path_number(visit.request.path, "id")
    visit.database.write(lambda db: revoke_personal_token(db, visit.viewer.signed_in.id, number))
    return LocalRedirect("/profile/personal_access_tokens")


@pages.put("/profile/personal_access_tokens/:id/revoke", notice="Token revoked.")
def revoke_access_token_by_put(visit: Visit) -> PageResponse:
    """Revoke a personal access token of the current user."""
    return revoke_access_token(visit)


def _tokens_page(
    visit: Visit,
    db: Connection,
    *,
    secret: str = "",
    errors: list[str] | None = None,
    typed: dict[str, Any] | None = None,
    status: int = 200,
) -> TemplateResponse:
    user = visit.viewer.signed_in
    tokens = personal_tokens(db, user.id)
    scopes = [scope for scope in SCOPES if user.admin or scope not in ADMINISTRATOR_SCOPES]
    return TemplateResponse(
        "profile/tokens.html",
        {
            "tab": "tokens",
            "active": [token for token in tokens if token.active(db.now)],
            "inactive": [token for token in tokens if not token.active(db.now)],
            "scopes": offered_scopes(scopes),
            "secret": secret,
            "errors": errors or [],
            "typed": typed or {"name": "", "expires_at": "", "scopes": []},
        },
        status,
    )
