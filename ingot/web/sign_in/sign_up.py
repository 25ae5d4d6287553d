"""Sign-up, and resending of the confirmation email."""

from fnmatch import fnmatchcase

from ingot.accounts.instance.settings import InstanceSettings, current_settings
from ingot.accounts.instance.throttles import client_network, count_within_limit
from ingot.accounts.sessions.password_check import FAILURE_WINDOW_SECONDS
from ingot.accounts.sessions.service import create_session, resend_confirmation_to
from ingot.accounts.users.params import CreateUser
from ingot.accounts.users.queries import user_by_username_or_none
from ingot.accounts.users.service import create_user
from ingot.accounts.users.tables import User
from ingot.core.access.passwords import MIN_LENGTH, hash_password
from ingot.core.db.connection import Connection
from ingot.core.names import NAMESPACES
from ingot.errors import Conflict, Invalid, NotFound
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
    return TemplateResponse(
        "sign_in/sign_up.html", {"errors": [], "shortest": MIN_LENGTH, **dict.fromkeys(_FIELDS, "")}
    )


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

    def create(db: Connection) -> tuple[User, str | None]:
        db.lock(NAMESPACES)
        settings = _require_sign_up_enabled(db)
        _validate_email_domain(settings, typed["email"])
        # An empty password must fail validation: the user could not sign in again.
        new_user = CreateUser(
            email=typed["email"],
            username=typed["username"],
            name=typed["name"],
            password=password or " ",
            confirm=not settings.send_user_confirmation_email,
        )
        user = create_user(db, new_user, hashed)
        return user, create_session(db, user, origin.ip, origin.user_agent) if user.confirmed_at else None

    def count(db: Connection) -> None:
        count_within_limit(db, f"sign-up from {client_network(origin.ip)}", MAX_SIGN_UPS, FAILURE_WINDOW_SECONDS)

    visit.database.write(count)
    try:
        user, cookie = visit.database.write(create)
    except (Invalid, Conflict) as error:
        return TemplateResponse(
            "sign_in/sign_up.html", {"errors": _error_messages(error), "shortest": MIN_LENGTH, **typed}, 422
        )
    if cookie is not None:
        return LocalRedirect("/", [set_cookie(visit.settings, SESSION_COOKIE, cookie), device_cookie(visit, user.id)])
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


def _validate_email_domain(settings: InstanceSettings, address: str) -> None:
    """Raise ``Invalid`` unless the email domain is allowed and not denied; ``*`` is a wildcard."""
    domain = address.rpartition("@")[2].lower()
    allowed = not settings.domain_whitelist or _matches_domain(domain, settings.domain_whitelist)
    denied = settings.domain_blacklist_enabled and _matches_domain(domain, settings.domain_blacklist)
    if not allowed or denied:
        raise Invalid(email=["is not from an allowed domain"])


def _matches_domain(domain: str, names: tuple[str, ...]) -> bool:
    return any(fnmatchcase(domain, name.strip().lower().replace("[", "[[]").replace("?", "[?]")) for name in names)


def _error_messages(error: Invalid | Conflict) -> list[str]:
    messages = [f"{name.capitalize()} {reason}." for name, reasons in error.errors.items() for reason in reasons]
    return messages or [f"{error.message.rstrip('.')}."]
