"""Subscribers of sessions to events of users."""

from sqlalchemy import bindparam, select

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.sessions.service import (
    delete_links,
    end_sessions,
    mail_confirmation_link,
    mail_deactivation,
    mail_password_link,
)
from ingot.accounts.users.events import EmailAdded, PasswordChanged, PrimaryEmailChanged, UserBlocked, UserCreated
from ingot.accounts.users.queries import find_user
from ingot.accounts.users.tables import Email, emails
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions

subscriptions = Subscriptions()
_EMAIL = select(emails).where(emails.c.id == bindparam("email"))


@subscriptions.on(UserCreated)
def mail_new_user(db: Connection, event: UserCreated) -> None:
    """Send the email with which a new user chooses a password or confirms the address."""
    if event.chooses_password:
        mail_password_link(db, find_user(db, event.user_id))
    elif event.confirms_address:
        mail_confirmation_link(db, find_user(db, event.user_id))


@subscriptions.on(EmailAdded)
def mail_email_confirmation(db: Connection, event: EmailAdded) -> None:
    """Send the email that confirms a secondary address."""
    email = db.first(Email, _EMAIL, email=event.email_id)
    if email is not None:
        mail_confirmation_link(db, find_user(db, email.user_id), email)


@subscriptions.on(PrimaryEmailChanged)
def delete_links_of_changed_address(db: Connection, event: PrimaryEmailChanged) -> None:
    """Delete links that were sent to the previous address: they prove nothing about the new one."""
    delete_links(db, event.user_id)


@subscriptions.on(UserBlocked)
def sign_out_blocked(db: Connection, event: UserBlocked) -> None:
    """End all sessions of a blocked user."""
    end_sessions(db, event.user_id)


@subscriptions.on(UserBlocked)
def mail_deactivated_user(db: Connection, event: UserBlocked) -> None:
    """Send a mail to a user who was deactivated, if the instance does so."""
    user = find_user(db, event.user_id)
    if user.state == "deactivated" and cached_all_settings(db).user_deactivation_emails_enabled:
        mail_deactivation(db, user)


@subscriptions.on(PasswordChanged)
def sign_out_elsewhere(db: Connection, event: PasswordChanged) -> None:
    """End the user's other sessions after a password change."""
    end_sessions(db, event.user_id, but=event.kept_session_id)
