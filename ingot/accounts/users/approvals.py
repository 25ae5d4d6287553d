"""Users who signed up and wait for the approval of an administrator."""

from sqlalchemy import select

from ingot.accounts.users.queries import find_user
from ingot.accounts.users.service import delete_user
from ingot.accounts.users.tables import User, users
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Denied
from ingot.core.mail.queue import EXTERNAL_URL_PLACEHOLDER, send_mail

PENDING = "blocked_pending_approval"
"""State of a user who waits for approval."""
_ADMINISTRATORS = select(users).where(users.c.admin, users.c.state == "active", users.c.placeholder.is_(False))


def request_approval(db: Connection, user: User) -> User:
    """Keep a new user from signing in until an administrator approves them, and tell the administrators."""
    db.update(users, user.id, state=PENDING)
    for administrator in db.all(User, _ADMINISTRATORS):
        send_mail(
            db,
            administrator.email,
            f"{user.username} asks for an account",
            f"Hello {administrator.name},\n\n{user.name} ({user.username}, {user.email}) has signed up and waits for "
            f"your approval:\n{EXTERNAL_URL_PLACEHOLDER}/admin/users/{user.id}\n",
        )
    return find_user(db, user.id)


def approve_user(db: Connection, user: User) -> None:
    """Let a pending user sign in; raise Denied for a blocked user, and Conflict for others that are not pending."""
    if user.state in ("blocked", "banned"):
        raise Denied("A blocked user must be unblocked")
    if user.state != PENDING:
        raise Conflict("The user you are trying to approve is not pending approval")
    db.update(users, user.id, state="active", updated_at=db.now)
    send_mail(
        db,
        user.email,
        "Your account is approved",
        f"Hello {user.name},\n\nAn administrator has approved your account {user.username}. Sign in:\n"
        f"{EXTERNAL_URL_PLACEHOLDER}/users/sign_in\n",
    )


def reject_user(db: Connection, user: User) -> None:
    """Delete a pending user; raise Conflict for any other user."""
    if user.state != PENDING:
        raise Conflict("User does not have a pending request")
    delete_user(db, user, hard=True)
    send_mail(
        db,
        user.email,
        "Your account is not approved",
        f"Hello {user.name},\n\nAn administrator of {EXTERNAL_URL_PLACEHOLDER} has not approved your account "
        f"{user.username}. It has been deleted.\n",
    )
