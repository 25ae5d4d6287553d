"""Two-factor authentication settings of the current user."""

import io
from collections.abc import Callable

from markupsafe import Markup

from ingot.accounts.sessions.password_check import is_current_password
from ingot.accounts.sessions.service import end_sessions
from ingot.accounts.two_factor.passkeys import own_passkeys
from ingot.accounts.two_factor.service import (
    codes_left,
    create_recovery_codes,
    disable_second_factor,
    enable_second_factor,
    has_authenticator_app,
    propose_second_factor,
)
from ingot.accounts.two_factor.totp import otpauth_url
from ingot.accounts.users.views import current_user
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.core.offload import require_blocking_allowed
from ingot.projects.group_projects import api as group_projects_api
from ingot.projects.groups import api as groups_api
from ingot.projects.namespaces.two_factor import two_factor_requirements
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.passkeys import relying_party
from ingot.web.second_factor import check_second_factor

pages = PageRoutes()
PAGE_PATH = "/profile/two_factor_auth"


@pages.get("/profile/two_factor_auth")
def show_two_factor(visit: Visit, db: Connection) -> PageResponse:
    """Show the passkeys and the QR code for setup, or the number of unused recovery codes."""
    return two_factor_page(visit, db)


@pages.post("/profile/two_factor_auth")
def enable_two_factor(visit: Visit) -> PageResponse:
    """Enable two-factor authentication with a code of the app; show the recovery codes once and end other sessions."""
    user, session = visit.viewer.signed_in, visit.viewer.session
    reason = _password_error(visit)
    if reason:
        return visit.database.read(lambda db: two_factor_page(visit, db, [reason]))

    def work(db: Connection) -> list[str]:
        codes = enable_second_factor(
            db, current_user(db, visit.viewer.actor), "".join(_text(visit, "pin_code").split())
        )
        end_sessions(db, user.id, but=session.id if session else 0)
        return codes

    try:
        codes = visit.database.write(work)
    except Invalid as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: two_factor_page(visit, db, errors))
    return TemplateResponse("profile/recovery_codes.html", {"tab": "two_factor", "codes": codes})


@pages.post("/profile/two_factor_auth/codes")
def renew_recovery_codes(visit: Visit) -> PageResponse:
    """Generate new recovery codes and show them once."""
    reason = (
        proof_error(visit) if visit.viewer.signed_in.two_factor_enabled else "Two-factor authentication is not enabled."
    )
    if reason:
        return visit.database.read(lambda db: two_factor_page(visit, db, [reason]))
    codes = visit.database.write(lambda db: create_recovery_codes(db, visit.viewer.signed_in))
    return TemplateResponse("profile/recovery_codes.html", {"tab": "two_factor", "codes": codes})


@pages.post("/profile/two_factor_auth/groups/:group/leave", notice="Membership ended.")
def leave_group(visit: Visit) -> PageResponse:
    """Leave a group that requires two-factor authentication; other pages are closed to its members without it."""
    user_id = visit.viewer.signed_in.id
    return _change_group(visit, lambda group: visit.ask(groups_api.MEMBERS.remove_member, id=group, user_id=user_id))


@pages.post("/profile/two_factor_auth/groups/:group/stop_requiring", notice="Settings saved.")
def stop_requiring(visit: Visit) -> PageResponse:
    """End the requirement of a group; its last owner, who may not have set it, cannot leave the group."""
    changes = {"require_two_factor_authentication": False}
    return _change_group(visit, lambda group: visit.ask(group_projects_api.edit_group, changes, id=group))


def _change_group(visit: Visit, change: Callable[[str], object]) -> PageResponse:
    try:
        change(visit.request.path["group"])
    except REQUEST_ERRORS as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: two_factor_page(visit, db, errors))
    return LocalRedirect(PAGE_PATH)


@pages.delete("/profile/two_factor_auth", notice="Two-factor authentication disabled.")
def disable_two_factor(visit: Visit) -> PageResponse:
    """Disable two-factor authentication, confirmed by the password, or by a code if the user has no password."""
    reason = proof_error(visit)
    if reason:
        return visit.database.read(lambda db: two_factor_page(visit, db, [reason]))
    visit.database.write(lambda db: disable_second_factor(db, visit.viewer.signed_in))
    return LocalRedirect(PAGE_PATH)


def _password_error(visit: Visit) -> str:
    """Return the error of the form's password; empty if it is correct or the user has no password."""
    return password_error(visit, _text(visit, "current_password"))


def proof_error(visit: Visit) -> str:
    """Return the error of the form's password or code; a session alone must not suffice to disable two-factor."""
    if needs_code(visit):
        return code_error(visit)
    return _password_error(visit)


def needs_code(visit: Visit) -> bool:
    """Return whether the user has a second factor but no password, so that a code must confirm the action."""
    user = visit.viewer.signed_in
    return user.password_hash is None and user.two_factor_enabled


def code_error(visit: Visit) -> str:
    """Return the error of the form's code; empty if it is correct, which uses it up."""
    return (
        ""
        if check_second_factor(visit, visit.viewer.signed_in, _text(visit, "otp_attempt"))
        else "The code is incorrect."
    )


def password_error(visit: Visit, password: str) -> str:
    """Return the error of the re-entered password; empty if correct. Raise ``Throttled`` after too many failures."""
    user = visit.viewer.signed_in
    if user.password_hash is None or is_current_password(visit.database, user, password):
        return ""
    return "The current password is incorrect."


def _text(visit: Visit, name: str) -> str:
    value = visit.request.form.get(name)
    return value if isinstance(value, str) else ""


def two_factor_page(visit: Visit, db: Connection, errors: list[str] | None = None) -> TemplateResponse:
    """Render the page with the errors of its forms."""
    user = current_user(db, visit.viewer.actor)
    context = {
        "tab": "two_factor",
        "errors": errors or [],
        "needs_password": user.password_hash is not None,
        "needs_code": user.password_hash is None and user.two_factor_enabled,
        "passkeys": own_passkeys(db, user),
        "passkeys_available": relying_party(visit) is not None,
        "left": codes_left(db, user),
        "picture": "",
        "requirements": [
            (each, visit.may(group_projects_api.edit_group, id=each.required_by_id))
            for each in (() if user.two_factor_enabled else two_factor_requirements(db, user.id))
        ],
    }
    status = 422 if errors else 200
    if has_authenticator_app(db, user):
        return TemplateResponse("profile/two_factor_on.html", context, status)
    # The first request stores the secret, so that the code entered later matches the QR code shown here.
    require_blocking_allowed()
    secret = visit.database.write(lambda db: propose_second_factor(db, user))
    issuer = f"Ingot {visit.request.origin.base.partition('://')[2]}"
    context |= {"secret": secret, "picture": _qr_code(otpauth_url(secret, issuer, user.username))}
    template = "profile/two_factor_on.html" if user.two_factor_enabled else "profile/two_factor_off.html"
    return TemplateResponse(template, context, status)


def _qr_code(text: str) -> Markup:
    """Return a QR code as inline SVG."""
    import segno

    svg = io.BytesIO()
    segno.make(text, error="m").save(svg, kind="svg", xmldecl=False, svgns=False, scale=5, border=3, light="#ffffff")
    return Markup(svg.getvalue().decode())  # noqa: S704 - The library draws shapes and includes no text.
