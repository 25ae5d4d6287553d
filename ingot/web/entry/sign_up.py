"""Signing up, where administrators allow it; and asking once more for the mail that proves an address."""

from fnmatch import fnmatchcase

from ingot.access.passwords import SHORTEST, hash_password
from ingot.db.connection import Connection
from ingot.errors import Conflict, Invalid, NotFound
from ingot.instance.settings import InstanceSettings, current_settings
from ingot.instance.throttles import count_try, refuse_beyond
from ingot.names import NAMESPACES
from ingot.users.accounts.params import CreateUser
from ingot.users.accounts.queries import user_by_email
from ingot.users.accounts.service import create_user
from ingot.users.accounts.tables import User
from ingot.users.sessions.service import FAILURE_WINDOW_SECONDS, begin_session, mail_confirmation_link
from ingot.web.cookies import SESSION_COOKIE, set_cookie
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part

pages = Pages()
MOST_SIGN_UPS = 10
MOST_LINKS = 5
_FIELDS = ("name", "username", "email")
CONFIRM = "We have sent you a mail with a link. Follow it to prove that the address is yours, then sign in."


def _refuse_where_closed(db: Connection) -> InstanceSettings:
    """Where nobody may sign up there is no such page."""
    settings = current_settings(db)
    if not settings.signup_enabled:
        raise NotFound("Page")
    return settings


@pages.get("/users/sign_up", open=True)
def show_sign_up(visit: Visit, db: Connection) -> Reply:
    """Ask for a name, an address and a password."""
    _refuse_where_closed(db)
    if visit.user is not None:
        return Redirect("/")
    return Page("entry/sign_up.html", {"errors": [], "shortest": SHORTEST, **dict.fromkeys(_FIELDS, "")})


@pages.post("/users", open=True)
def sign_up(visit: Visit) -> Reply:
    """Make an account; who has to prove the address first gets a mail, all others are signed in."""
    visit.database.read(_refuse_where_closed)
    given = {name: form_part(visit.form, "user", name).strip() for name in _FIELDS}
    password = form_part(visit.form, "user", "password")
    hashed = hash_password(password[:1024])
    origin = visit.origin

    def make(db: Connection) -> tuple[User, str | None]:
        db.lock(NAMESPACES)
        settings = _refuse_where_closed(db)
        _refuse_address(settings, given["email"])
        # Without a password somebody would come in who cannot come back.
        wanted = CreateUser(
            email=given["email"],
            username=given["username"],
            name=given["name"],
            password=password or " ",
            confirm=not settings.send_user_confirmation_email,
        )
        user = create_user(db, wanted, hashed)
        return user, begin_session(db, user, origin.ip, origin.user_agent) if user.confirmed_at else None

    def count(db: Connection) -> None:
        key = f"sign-up from {origin.ip}"
        refuse_beyond(db, key, MOST_SIGN_UPS, FAILURE_WINDOW_SECONDS)
        count_try(db, key, FAILURE_WINDOW_SECONDS)

    visit.database.write(count)
    try:
        _, cookie = visit.database.write(make)
    except (Invalid, Conflict) as refused:
        return Page("entry/sign_up.html", {"errors": _sentences(refused), "shortest": SHORTEST, **given}, 422)
    if cookie is not None:
        return Redirect("/", [set_cookie(visit.settings, SESSION_COOKIE, cookie)])
    text = visit.database.read(current_settings).after_sign_up_text
    return Page("message.html", {"title": "Look into your mail", "text": text or CONFIRM})


@pages.get("/users/confirmation/new", open=True)
def show_unconfirmed(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Ask for the address to write to once more."""
    return Page("entry/confirmation_again.html")


@pages.post("/users/confirmation/new", open=True)
def mail_confirmation_again(visit: Visit) -> Reply:
    """Write to an address that waits to be proven; the answer does not say whether there is one."""
    address = form_part(visit.form, "user", "email").strip().lower()

    def send(db: Connection) -> None:
        key = f"confirmation link from {visit.origin.ip}"
        refuse_beyond(db, key, MOST_LINKS, FAILURE_WINDOW_SECONDS)
        count_try(db, key, FAILURE_WINDOW_SECONDS)
        user = user_by_email(db, address) if address else None
        if user is not None and user.email == address and user.confirmed_at is None and user.state == "active":
            mail_confirmation_link(db, user)

    visit.database.write(send)
    text = "If that address waits to be confirmed, a mail with a link is on its way to it."
    return Page("message.html", {"title": "Look into your mail", "text": text})


def _refuse_address(settings: InstanceSettings, address: str) -> None:
    """Only addresses of the domains that are allowed, and of none that is not; ``*`` stands for any part of a name."""
    domain = address.rpartition("@")[2].lower()
    allowed = not settings.domain_whitelist or _is_among(domain, settings.domain_whitelist)
    denied = settings.domain_blacklist_enabled and _is_among(domain, settings.domain_blacklist)
    if not allowed or denied:
        raise Invalid(email=["is not from an allowed domain"])


def _is_among(domain: str, names: tuple[str, ...]) -> bool:
    return any(fnmatchcase(domain, name.strip().lower().replace("[", "[[]").replace("?", "[?]")) for name in names)


def _sentences(refused: Invalid | Conflict) -> list[str]:
    listed = [f"{name.capitalize()} {reason}." for name, reasons in refused.errors.items() for reason in reasons]
    return listed or [f"{refused.message.rstrip('.')}."]
