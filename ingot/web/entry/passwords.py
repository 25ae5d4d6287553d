"""Passwords: changing one's own, and the links by which forgotten ones are replaced."""

from ingot.access.passwords import hash_password, password_matches, password_trouble
from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.instance.throttles import count_try, refuse_beyond
from ingot.users.accounts.queries import user_by_email
from ingot.users.accounts.service import set_password
from ingot.users.accounts.tables import User
from ingot.users.providers.people import is_of_directory
from ingot.users.sessions.queries import link_or_none
from ingot.users.sessions.service import (
    FAILURE_WINDOW_SECONDS,
    MOST_FAILURES_OF_ACCOUNT,
    mail_password_hint,
    mail_password_link,
    use_confirmation_link,
    use_password_link,
)
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part

pages = Pages()
MOST_LINKS = 5


@pages.get("/profile/password/new", with_expired_password=True)
def show_new_password(visit: Visit, db: Connection) -> Reply:
    """Ask for another password; that of a directory is changed there."""
    return _own_password(visit, [], elsewhere=_signs_in_elsewhere(visit, db, visit.signed_in))


@pages.get("/profile/password/edit", with_expired_password=True)
def show_edit_password(visit: Visit, db: Connection) -> Reply:
    """Ask for another password."""
    return show_new_password(visit, db)


@pages.post("/profile/password", with_expired_password=True)
def change_password(visit: Visit) -> Reply:
    """Change the password of whoever still knows the one in use; other sessions end."""
    user, session = visit.signed_in, visit.session
    if visit.database.read(lambda db: _signs_in_elsewhere(visit, db, user)):
        return _own_password(visit, ["The directory has your password."], elsewhere=True)
    key = f"password of {user.id}"
    visit.database.read(lambda db: refuse_beyond(db, key, MOST_FAILURES_OF_ACCOUNT, FAILURE_WINDOW_SECONDS))
    new = form_part(visit.form, "user", "password")
    errors = _troubles(new, form_part(visit.form, "user", "password_confirmation"))
    if not password_matches(user.password_hash, form_part(visit.form, "user", "current_password")):
        visit.database.write(lambda db: count_try(db, key, FAILURE_WINDOW_SECONDS))
        errors.insert(0, "The current password is not right.")
    elif password_matches(user.password_hash, new):
        errors.append("The new password is the one in use.")
    if errors:
        return _own_password(visit, errors)
    hashed = hash_password(new)
    visit.database.write(lambda db: set_password(db, user, hashed, session.id if session else 0))
    return Redirect("/profile/account")


@pages.put("/profile/password", with_expired_password=True)
def change_password_by_method(visit: Visit) -> Reply:
    """Change the password."""
    return change_password(visit)


@pages.get("/users/password/new", open=True)
def show_forgotten(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Ask for the address to write to."""
    return Page("entry/password_forgotten.html")


@pages.post("/users/password", open=True)
def mail_link(visit: Visit) -> Reply:
    """Write to the owner of exactly this address; the answer does not say whether there is one."""
    address = form_part(visit.form, "user", "email")

    def send(db: Connection) -> None:
        user = user_by_email(db, address) if address else None
        key = f"password link from {visit.origin.ip}"
        refuse_beyond(db, key, MOST_LINKS, FAILURE_WINDOW_SECONDS)
        count_try(db, key, FAILURE_WINDOW_SECONDS)
        if user is not None and user.state == "active" and not user.placeholder:
            send_mail = mail_password_hint if _signs_in_elsewhere(visit, db, user) else mail_password_link
            send_mail(db, user)

    visit.database.write(send)
    text = "If that address belongs to somebody here, a mail with a link is on its way to it."
    return Page("message.html", {"title": "Look into your mail", "text": text})


@pages.get("/users/password/edit", open=True)
def show_choose(visit: Visit, db: Connection) -> Reply:
    """Ask for a password, of whoever holds a link that still works."""
    token = _token(visit, "reset_password_token")
    if link_or_none(db, "password", token) is None:
        raise NotFound("Link")
    return Page("entry/password_choose.html", {"token": token, "errors": []})


@pages.put("/users/password", open=True)
def choose_password(visit: Visit) -> Reply:
    """Set the password that the reader of the mail chose."""
    token = form_part(visit.form, "user", "reset_password_token")
    new = form_part(visit.form, "user", "password")
    errors = _troubles(new, form_part(visit.form, "user", "password_confirmation"))
    if errors:
        return Page("entry/password_choose.html", {"token": token, "errors": errors}, 422)
    hashed = hash_password(new)

    def use(db: Connection) -> None:
        link = link_or_none(db, "password", token)
        if link is None:
            raise NotFound("Link")
        use_password_link(db, link, hashed)

    visit.database.write(use)
    return Redirect("/users/sign_in")


@pages.get("/users/confirmation", open=True)
def show_confirmation(visit: Visit, db: Connection) -> Reply:
    """Ask for one click: programs that only look at links in mails must not confirm anything."""
    token = _token(visit, "confirmation_token")
    if link_or_none(db, "confirmation", token) is None:
        raise NotFound("Link")
    return Page("entry/confirmation.html", {"token": token})


@pages.post("/users/confirmation", open=True)
def confirm(visit: Visit) -> Reply:
    """Take the address as proven."""
    token = form_part(visit.form, "user", "confirmation_token")

    def use(db: Connection) -> None:
        link = link_or_none(db, "confirmation", token)
        if link is None:
            raise NotFound("Link")
        use_confirmation_link(db, link)

    visit.database.write(use)
    return Redirect("/users/sign_in")


def _signs_in_elsewhere(visit: Visit, db: Connection, user: User) -> bool:
    """Whether a directory has the password, so that one of ours would open nothing."""
    return bool(visit.settings.ldap_url) and is_of_directory(db, user)


def _own_password(visit: Visit, errors: list[str], *, elsewhere: bool = False) -> Page:
    context = {"tab": "password", "errors": errors, "elsewhere": elsewhere}
    return Page(
        "profile/password.html", context | {"expired": visit.signed_in.password_expired}, 422 if errors else 200
    )


def _token(visit: Visit, name: str) -> str:
    value = visit.query.get(name)
    return value if isinstance(value, str) else ""


def _troubles(password: str, again: str) -> list[str]:
    trouble = password_trouble(password)
    errors = [f"The password {trouble}."] if trouble else []
    return errors if password == again else [*errors, "The two passwords differ."]
