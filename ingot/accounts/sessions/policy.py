"""Permissions of sign-ins: the users who may sign in, and the uses for which a correct password suffices."""

from typing import Literal

from ingot.accounts.instance.access_settings import AccessSettings
from ingot.accounts.sessions.tables import Session
from ingot.accounts.users.approvals import PENDING
from ingot.accounts.users.tables import User
from ingot.core.db.times import Timestamp

PasswordUse = Literal["pages", "session", "oauth", "git"]
"""Sign-in on pages, ``POST /session``, OAuth's password grant, and git or Git LFS over HTTP."""

HIDDEN = ""
"""A refusal that must look like a wrong password."""
_SECOND_FACTOR: dict[PasswordUse, str] = {
    "session": "You have 2FA enabled. Please use a personal access token to access the API",
    "oauth": "You have 2FA enabled. Use the authorization code flow.",
    "git": "You have 2FA enabled: use a personal access token for git over HTTP.",
}
_MISSING_SECOND_FACTOR = (
    "Your account requires 2FA: set it up on the web pages, or use a personal access token instead of the password."
)
GIT_PASSWORDS_DISABLED = "Passwords are not accepted for git over HTTP: use a personal access token."
UNCONFIRMED = "Confirm your email address before you sign in: open the link in the email that was sent to you."
UNAPPROVED = "An administrator must approve your account before you can sign in. You will receive an email."
_EXPIRED = "Your password has expired: sign in on the web pages to change it."


def may_sign_in(user: User, *, confirmed: bool) -> bool:
    """Accept active users with a confirmed address, whichever credential proves their identity; no bots.

    ``confirmed`` is also true while an address need not be confirmed yet.
    """
    return user.state == "active" and confirmed and not user.placeholder and not user.bot


def has_admin_rights(settings: AccessSettings, session: Session, now: Timestamp) -> bool:
    """Accept sessions of administrators; where the instance has admin mode, only for a time after a sign-in for it."""
    return not settings.admin_mode or (session.admin_until is not None and session.admin_until > now)


def password_refusal(
    user: User, use: PasswordUse, *, passwords_enabled: bool, second_factor_due: bool, confirmed: bool
) -> str | None:
    """Return why the correct password of a user is refused for a use; None if it is accepted.

    Pages accept a password that has expired or lacks the second factor, because they ask for a new password, for the
    code, or for the setup of a second factor before they show anything else. No other use can ask.
    """
    if not passwords_enabled:
        return HIDDEN
    if not may_sign_in(user, confirmed=confirmed):
        return _waiting_reason(user, confirmed=confirmed) if use == "pages" else HIDDEN
    if use == "pages":
        return None
    if user.two_factor_enabled:
        return _SECOND_FACTOR[use]
    if second_factor_due:
        return _MISSING_SECOND_FACTOR
    return _EXPIRED if user.password_expired else None


def _waiting_reason(user: User, *, confirmed: bool) -> str:
    """Return what a user who knows the password waits for; blocked users and bots learn nothing."""
    if user.state == PENDING:
        return UNAPPROVED
    return UNCONFIRMED if may_sign_in(user, confirmed=True) and not confirmed else HIDDEN
