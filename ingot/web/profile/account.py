"""A user's own account: the private token and personal access tokens."""

from typing import Any

from ingot.access.scopes import SCOPES
from ingot.api.params import path_number
from ingot.db.connection import Connection
from ingot.db.paging import Page as ListPage
from ingot.db.times import Timestamp, parse_date
from ingot.errors import Invalid, NotFound
from ingot.users.tokens.params import ListTokens
from ingot.users.tokens.queries import list_tokens, private_token_of, token_or_none
from ingot.users.tokens.service import create_token, reset_private_token, revoke_token
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part
from ingot.web.scopes import SCOPE_TEXTS

pages = Pages()


@pages.get("/profile/account")
def show_account(visit: Visit, db: Connection) -> Reply:
    """Show the private token."""
    return Page(
        "profile/account.html",
        {"tab": "account", "private_token": private_token_of(db, visit.signed_in.id), "errors": []},
    )


@pages.post("/profile/reset_private_token")
def reset_token(visit: Visit) -> Reply:
    """Replace the private token; whatever uses the old one stops."""
    visit.database.write(lambda db: reset_private_token(db, visit.signed_in.id))
    return Redirect("/profile/account")


@pages.put("/profile/reset_private_token")
def reset_token_by_method(visit: Visit) -> Reply:
    """Replace the private token."""
    return reset_token(visit)


@pages.get("/profile/personal_access_tokens")
def show_tokens(visit: Visit, db: Connection) -> Reply:
    """List the tokens and offer to make one."""
    return _tokens_page(visit, db)


@pages.post("/profile/personal_access_tokens")
def make_token(visit: Visit) -> Reply:
    """Make a token and show it, once."""
    group = "personal_access_token"
    name, day = form_part(visit.form, group, "name"), form_part(visit.form, group, "expires_at")
    fields = visit.form.get(group)
    sent = fields.get("scopes") if isinstance(fields, dict) else None
    scopes = [scope for scope in sent if isinstance(scope, str)] if isinstance(sent, list) else []
    if "sudo" in scopes and not visit.signed_in.admin:
        scopes.remove("sudo")
    typed = {"name": name, "expires_at": day, "scopes": scopes}
    try:
        expires_at = Timestamp(f"{parse_date(day)}T00:00:00.000Z") if day else None
        _, secret = visit.database.write(
            lambda db: create_token(db, visit.signed_in.id, "personal", name, scopes, expires_at)
        )
    except ValueError:
        errors = ["The day must look like 2027-01-31."]
        return visit.database.read(lambda db: _tokens_page(visit, db, errors=errors, typed=typed, status=422))
    except Invalid as refusal:
        errors = [f"{field.capitalize()} {reason}." for field, reasons in refusal.errors.items() for reason in reasons]
        return visit.database.read(lambda db: _tokens_page(visit, db, errors=errors, typed=typed, status=422))
    return visit.database.read(lambda db: _tokens_page(visit, db, secret=secret))


@pages.post("/profile/personal_access_tokens/:id/revoke")
def revoke(visit: Visit) -> Reply:
    """Revoke one of one's own tokens."""

    def work(db: Connection) -> None:
        token = token_or_none(db, path_number(visit.path, "id"), "personal", visit.signed_in.id)
        if token is None:
            raise NotFound("Token")
        revoke_token(db, token)

    visit.database.write(work)
    return Redirect("/profile/personal_access_tokens")


@pages.put("/profile/personal_access_tokens/:id/revoke")
def revoke_by_method(visit: Visit) -> Reply:
    """Revoke one of one's own tokens."""
    return revoke(visit)


def _tokens_page(
    visit: Visit,
    db: Connection,
    *,
    secret: str = "",
    errors: list[str] | None = None,
    typed: dict[str, Any] | None = None,
    status: int = 200,
) -> Page:
    user = visit.signed_in
    held = list_tokens(db, "personal", user.id, ListTokens(), ListPage(size=100)).items
    offered = [scope for scope in SCOPES if scope != "sudo" or user.admin]
    return Page(
        "profile/tokens.html",
        {
            "tab": "tokens",
            "active": [token for token in held if token.active(db.now)],
            "inactive": [token for token in held if not token.active(db.now)],
            "scopes": [(scope, SCOPE_TEXTS[scope]) for scope in offered],
            "secret": secret,
            "errors": errors or [],
            "typed": typed or {"name": "", "expires_at": "", "scopes": []},
        },
        status,
    )
