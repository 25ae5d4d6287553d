"""Password change, password reset by email, and the links that confirm an address or unlock an account."""

from ingot.accounts.identity_providers.directory_users import is_directory_user
from ingot.accounts.instance.password_rules import current_password_rules
from ingot.accounts.instance.throttles import count_within_limit
from ingot.accounts.sessions.password_check import FAILURE_WINDOW_SECONDS, is_current_password
from ingot.accounts.sessions.queries import one_time_link_or_none
from ingot.accounts.sessions.service import (
    mail_password_hint,
    mail_password_link,
    use_confirmation_link,
    use_password_link,
    use_unlock_link,
)
from ingot.accounts.users.queries import user_by_email_or_none
from ingot.accounts.users.service import set_password
from ingot.accounts.users.tables import User
from ingot.core.access.passwords import hash_password, password_errors, password_matches
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.core.http.client_networks import client_network
from ingot.core.names import NAMESPACES
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field

pages = PageRoutes()
MAX_LINKS = 5


@pages.get("/profile/password/new", with_expired_password=True)
def show_new_password(visit: Visit, db: Connection) -> PageResponse:
    """Show the form to change the password; LDAP passwords must be changed in the directory."""
    return _password_page(visit, [], directory_password=_uses_directory_password(visit, db, visit.viewer.signed_in))


@pages.get("/profile/password/edit", with_expired_password=True)
def show_edit_password(visit: Visit, db: Connection) -> PageResponse:
    """Show the form to change the password."""
    return show_new_password(visit, db)


@pages.post("/profile/password", notice="Password changed.", with_expired_password=True)
def change_password(visit: Visit) -> PageResponse:
    """Change the password, confirmed by the current one, and end other sessions."""
    user, session = visit.viewer.signed_in, visit.viewer.session
    if visit.database.read(lambda db: _uses_directory_password(visit, db, user)):
        return _password_page(
            visit, ["Your password is managed by the LDAP directory. Change it there."], directory_password=True
        )
    new = form_field(visit.request.form, "user", "password")
    errors = _password_errors(visit, new)
    if not is_current_password(visit.database, user, form_field(visit.request.form, "user", "current_password")):
        errors.insert(0, "The current password is incorrect.")
    elif password_matches(user.password_hash, new):
        errors.append("The new password must differ from the current one.")
    if errors:
        return _password_page(visit, errors)
    hashed = hash_password(new)
    visit.database.write(lambda db: set_password(db, user, hashed, session.id if session else 0))
    return LocalRedirect("/profile/account")


@pages.put("/profile/password", notice="Password changed.", with_expired_password=True)
def change_password_by_put(visit: Visit) -> PageResponse:
    """Change the password."""
    return change_password(visit)


@pages.get("/users/password/new", open=True)
def show_forgot_password(visit: Visit) -> PageResponse:  # noqa: ARG001 - Every page takes the visit.
    """Show the form to request a password reset."""
    return TemplateResponse("sign_in/password_forgotten.html")


@pages.post("/users/password", open=True)
def mail_reset_link(visit: Visit) -> PageResponse:
    """Email a reset link to the user with this address; the response does not reveal whether there is one."""
    address = form_field(visit.request.form, "user", "email")

    def send(db: Connection) -> None:
        user = user_by_email_or_none(db, address) if address else None
        key = f"password link from {client_network(visit.request.origin.ip)}"
        count_within_limit(db, key, MAX_LINKS, FAILURE_WINDOW_SECONDS)
        if user is not None and user.state == "active" and not (user.placeholder or user.bot):
            send_mail = mail_password_hint if _uses_directory_password(visit, db, user) else mail_password_link
            send_mail(db, user)

    visit.database.write(send)
    text = "If that address belongs to an account, you will receive an email with a link to reset the password."
    return TemplateResponse("message.html", {"title": "Check your email", "text": text})


@pages.get("/users/password/edit", open=True)
def show_reset_password(visit: Visit, db: Connection) -> PageResponse:
    """Show the form to set a new password; raise ``NotFound`` if the link is invalid or expired."""
    token = _token(visit, "reset_password_token")
    if one_time_link_or_none(db, "password", token) is None:
        raise NotFound("Link")
    return _choose_password_page(visit, token, [])


@pages.put("/users/password", notice="Password changed. Sign in with the new password.", open=True)
def reset_password(visit: Visit) -> PageResponse:
    """Set the new password and use up the link."""
    token = form_field(visit.request.form, "user", "reset_password_token")
    new = form_field(visit.request.form, "user", "password")
    errors = _password_errors(visit, new)
    if errors:
        return _choose_password_page(visit, token, errors)
    hashed = hash_password(new)

    def use(db: Connection) -> None:
        db.lock(NAMESPACES)
        link = one_time_link_or_none(db, "password", token)
        if link is None:
            raise NotFound("Link")
        use_password_link(db, link, hashed)

    visit.database.write(use)
    return LocalRedirect("/users/sign_in")


@pages.get("/users/confirmation", open=True)
def show_confirmation(visit: Visit, db: Connection) -> PageResponse:
    """Show a confirmation button, because mail scanners that follow links must not confirm the address."""
    token = _token(visit, "confirmation_token")
    if one_time_link_or_none(db, "confirmation", token) is None:
        raise NotFound("Link")
    return TemplateResponse("sign_in/confirmation.html", {"token": token})


@pages.post("/users/confirmation", notice="Email address confirmed.", open=True)
def confirm_email(visit: Visit) -> PageResponse:
    """Confirm the email address and use up the link."""
    token = form_field(visit.request.form, "user", "confirmation_token")

    def use(db: Connection) -> None:
        db.lock(NAMESPACES)
        link = one_time_link_or_none(db, "confirmation", token)
        if link is None:
            raise NotFound("Link")
        use_confirmation_link(db, link)

    visit.database.write(use)
    return LocalRedirect("/users/sign_in")


@pages.get("/users/unlock", open=True)
def show_unlock(visit: Visit, db: Connection) -> PageResponse:
    """Show a button, because mail scanners that follow links must not unlock the account."""
    token = _token(visit, "unlock_token")
    if one_time_link_or_none(db, "unlock", token) is None:
        raise NotFound("Link")
    return TemplateResponse("sign_in/unlock.html", {"token": token})


@pages.post("/users/unlock", notice="Account unlocked.", open=True)
def unlock_account(visit: Visit) -> PageResponse:
    """Unlock the account and use up the link."""
    token = form_field(visit.request.form, "user", "unlock_token")

    def use(db: Connection) -> None:
        link = one_time_link_or_none(db, "unlock", token)
        if link is None:
            raise NotFound("Link")
        use_unlock_link(db, link)

    visit.database.write(use)
    return LocalRedirect("/users/sign_in")


def _uses_directory_password(visit: Visit, db: Connection, user: User) -> bool:
    """Return whether the user signs in with an LDAP password, so that a local password would have no effect."""
    return bool(visit.settings.ldap_url) and is_directory_user(db, user)


def _choose_password_page(visit: Visit, token: str, errors: list[str]) -> TemplateResponse:
    context = {"token": token, "errors": errors, "rules": visit.database.read(current_password_rules)}
    return TemplateResponse("sign_in/password_choose.html", context, 422 if errors else 200)


def _password_page(visit: Visit, errors: list[str], *, directory_password: bool = False) -> TemplateResponse:
    context = {
        "tab": "password",
        "errors": errors,
        "directory_password": directory_password,
        "rules": visit.database.read(current_password_rules),
        "expired": visit.viewer.signed_in.password_expired,
    }
    return TemplateResponse("profile/password.html", context, 422 if errors else 200)


def _token(visit: Visit, name: str) -> str:
    value = visit.request.query.get(name)
    return value if isinstance(value, str) else ""


def _password_errors(visit: Visit, password: str) -> list[str]:
    """Return why the new password of a form cannot be used."""
    errors = [
        f"The password {error}." for error in password_errors(password, visit.database.read(current_password_rules))
    ]
    confirmation = form_field(visit.request.form, "user", "password_confirmation")
    return errors if password == confirmation else [*errors, "The passwords do not match."]
