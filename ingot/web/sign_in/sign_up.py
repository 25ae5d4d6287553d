"""Sign-up, and resending of the confirmation email."""

from typing import Any

from ingot.accounts.appearance.records import current_appearance
from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.instance.email_restrictions import address_error
from ingot.accounts.instance.password_rules import current_password_rules
from ingot.accounts.instance.settings import InstanceSettings, current_settings
from ingot.accounts.instance.throttles import count_within_limit
from ingot.accounts.sessions.password_check import FAILURE_WINDOW_SECONDS
from ingot.accounts.sessions.policy import UNAPPROVED, may_sign_in
from ingot.accounts.sessions.service import create_session, resend_confirmation_to
from ingot.accounts.users.approvals import PENDING, request_approval
from ingot.accounts.users.confirmations import has_access_without_confirmation
from ingot.accounts.users.params import CreateUser
from ingot.accounts.users.queries import user_by_username_or_none
from ingot.accounts.users.service import create_user
from ingot.accounts.users.tables import User
from ingot.core.access.passwords import hash_password
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Invalid, NotFound
from ingot.core.http.client_networks import client_network
from ingot.core.names import NAMESPACES
from ingot.projects.invitations.queries import invitation_by_token_or_none
from ingot.web.cookies import SESSION_COOKIE, set_cookie
from ingot.web.page_routes import (
    JsonResponse,
    LocalRedirect,
    PageResponse,
    PageRoutes,
    TemplateResponse,
    Visit,
    form_field,
)
from ingot.web.sign_in.device_cookie import device_cookie
from ingot.web.texts import render_markdown

pages = PageRoutes()
MAX_SIGN_UPS = 10
MAX_LINKS = 5
_FIELDS = ("name", "username", "email")
CONFIRMATION_TEXT = "We have sent you an email with a link. Open it to confirm your address, then sign in."


def _require_sign_up_enabled(db: Connection) -> InstanceSettings:
    """Return the instance settings; raise ``NotFound`` if sign-up is disabled."""
    settings = current_settings(db)
    if not settings.signup_enabled:
        raise NotFound("Page")
    return settings


@pages.get("/users/sign_up", open=True)
def show_sign_up(visit: Visit, db: Connection) -> PageResponse:
    """Show the sign-up form."""
    _require_sign_up_enabled(db)
    if visit.viewer.user is not None:
        return LocalRedirect("/")
    token = _invitation_token(visit.request.query)
    invitation = invitation_by_token_or_none(db, token)
    return _sign_up_form(
        visit,
        dict.fromkeys(_FIELDS, "") | {"email": invitation.email if invitation else ""},
        token if invitation else "",
    )


def _sign_up_form(
    visit: Visit, typed: dict[str, str], invitation: str, errors: list[str] | None = None
) -> TemplateResponse:
    description = render_markdown(visit, visit.database.read(current_appearance).description)
    context = {
        "description": description,
        "errors": errors or [],
        "rules": visit.database.read(current_password_rules),
        "invitation": invitation,
        **typed,
    }
    return TemplateResponse("sign_in/sign_up.html", context, 422 if errors else 200)


def _invitation_token(fields: dict[str, Any]) -> str:
    """Return the token of the invitation that the user follows; empty without one."""
    token = fields.get("invitation")
    return token if isinstance(token, str) else ""


@pages.get("/users/:username/exists", open=True)
def username_exists(visit: Visit, db: Connection) -> PageResponse:
    """Tell whether a username is taken; the pages of users are public as well."""
    user = user_by_username_or_none(db, visit.request.path["username"])
    return JsonResponse({"exists": user is not None})


@pages.post("/users", open=True)
def sign_up(visit: Visit) -> PageResponse:
    """Create an account; send a confirmation email if required, otherwise sign the user in."""
    visit.database.read(_require_sign_up_enabled)
    typed = {name: form_field(visit.request.form, "user", name).strip() for name in _FIELDS}
    password = form_field(visit.request.form, "user", "password")
    hashed = hash_password(password[:1024])
    origin = visit.request.origin
    token = _invitation_token(visit.request.form)

    def create(db: Connection) -> tuple[User, str | None]:
        db.lock(NAMESPACES)
        settings = _require_sign_up_enabled(db)
        restriction = address_error(db, typed["email"])
        if restriction is not None:
            raise Invalid(email=[restriction])
        invitation = invitation_by_token_or_none(db, token)
        # The link of the invitation was sent to this address, so that it needs no other confirmation.
        proven = invitation is not None and invitation.email == typed["email"].lower()
        # An empty password must fail validation: the user could not sign in again.
        new_user = CreateUser(
            email=typed["email"],
            username=typed["username"],
            name=typed["name"],
            password=password or " ",
            confirm=proven or not settings.send_user_confirmation_email,
        )
        user = create_user(db, new_user, hashed, vouched_for=proven)
        if cached_all_settings(db).require_admin_approval_after_user_signup:
            user = request_approval(db, user)
        enters = may_sign_in(user, confirmed=has_access_without_confirmation(db, user))
        return user, create_session(db, user, origin.ip, origin.user_agent) if enters else None

    def count(db: Connection) -> None:
        count_within_limit(db, f"sign-up from {client_network(origin.ip)}", MAX_SIGN_UPS, FAILURE_WINDOW_SECONDS)

    visit.database.write(count)
    try:
        user, cookie = visit.database.write(create)
    except (Invalid, Conflict) as error:
        return _sign_up_form(visit, typed, token, _error_messages(error))
    if cookie is not None:
        return LocalRedirect("/", [set_cookie(visit.settings, SESSION_COOKIE, cookie), device_cookie(visit, user.id)])
    if user.state == PENDING:
        return TemplateResponse("message.html", {"title": "Waiting for approval", "text": UNAPPROVED})
    text = visit.database.read(current_settings).after_sign_up_text
    return TemplateResponse("message.html", {"title": "Check your email", "text": text or CONFIRMATION_TEXT})


@pages.get("/users/confirmation/new", open=True)
def show_resend_confirmation(visit: Visit) -> PageResponse:  # noqa: ARG001 - Every page takes the visit.
    """Show the form to resend the confirmation email."""
    return TemplateResponse("sign_in/confirmation_resend.html")


@pages.post("/users/confirmation/new", open=True)
def resend_confirmation(visit: Visit) -> PageResponse:
    """Resend the confirmation email; the response does not reveal whether the address exists."""
    address = form_field(visit.request.form, "user", "email").strip().lower()

    def send(db: Connection) -> None:
        key = f"confirmation link from {client_network(visit.request.origin.ip)}"
        count_within_limit(db, key, MAX_LINKS, FAILURE_WINDOW_SECONDS)
        resend_confirmation_to(db, address)

    visit.database.write(send)
    text = "If that address is waiting for confirmation, you will receive an email with a link."
    return TemplateResponse("message.html", {"title": "Check your email", "text": text})


def _error_messages(error: Invalid | Conflict) -> list[str]:
    messages = [f"{name.capitalize()} {reason}." for name, reasons in error.errors.items() for reason in reasons]
    return messages or [f"{error.message.rstrip('.')}."]
