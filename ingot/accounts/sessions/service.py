"""Sessions, the record of sign-ins, and emails with one-time links."""

import secrets

from sqlalchemy import bindparam, delete, select

from ingot.accounts.emails.queries import find_email
from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.instance.settings import current_settings
from ingot.accounts.sessions.tables import OneTimeLink, Purpose, Session, one_time_links, sessions, sign_ins
from ingot.accounts.sessions.user_addresses import delete_ended_addresses
from ingot.accounts.users.addresses import adopt_address, claims_to_address, has_address, release_address
from ingot.accounts.users.events import AddressProven
from ingot.accounts.users.locks import unlock_user
from ingot.accounts.users.queries import find_user
from ingot.accounts.users.service import record_activity, set_password
from ingot.accounts.users.tables import Email, User, emails, users
from ingot.core.db.announcements import announce
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.events.bus import emit
from ingot.core.http.client_networks import client_network
from ingot.core.mail.queue import EXTERNAL_URL_PLACEHOLDER, send_mail

SIGN_IN_LOG_DAYS = 90
REMEMBERED_DAYS = 14
ADMIN_MODE_HOURS = 6
LINK_HOURS = {"password": 6, "confirmation": 72, "unlock": 24}

_DROP_OF_USER = delete(sessions).where(sessions.c.user_id == bindparam("user"))
_DROP_OTHERS = _DROP_OF_USER.where(sessions.c.id != bindparam("kept"))
_DROP_OWN = _DROP_OF_USER.where(sessions.c.id == bindparam("ended"))
_DROP_OLD_SIGN_INS = delete(sign_ins).where(sign_ins.c.created_at <= bindparam("long_ago"))
_DELETE_EXPIRED = delete(sessions).where(sessions.c.expires_at <= bindparam("now"))
_DROP_LINKS = delete(one_time_links).where(
    one_time_links.c.user_id == bindparam("user"),
    one_time_links.c.purpose == bindparam("purpose"),
    one_time_links.c.email_id.is_(None),
)
_DROP_ALL_LINKS = delete(one_time_links).where(one_time_links.c.user_id == bindparam("user"))
_DELETE_EXPIRED_LINKS = delete(one_time_links).where(one_time_links.c.expires_at <= bindparam("now"))


_SIGN_IN_ADDRESSES = (
    select(sign_ins.c.ip).where(sign_ins.c.user_id == bindparam("user"), sign_ins.c.succeeded).distinct().limit(1000)
)


def record_failure(database: Database, user_id: int, ip: str, user_agent: str, method: str = "password") -> None:
    """Record a failed sign-in, for the owner of the account to see."""
    database.write(lambda db: record_sign_in(db, user_id, ip, user_agent, method, succeeded=False))


def record_sign_in(
    db: Connection, user_id: int, ip: str, user_agent: str, method: str = "password", *, succeeded: bool
) -> int:
    """Record an attempt to sign in and return its id."""
    return db.insert(
        sign_ins,
        user_id=user_id,
        method=method,
        succeeded=succeeded,
        ip=ip,
        user_agent=_printable_user_agent(user_agent),
        created_at=db.now,
    )


def _printable_user_agent(user_agent: str) -> str:
    return user_agent.replace("\0", " ")[:255]


def create_session(
    db: Connection,
    user: User,
    ip: str,
    user_agent: str,
    method: str = "password",
    *,
    remembered: bool = False,
    for_administration: bool = False,
) -> str:
    """Create a session and return the value of its cookie; a remembered one lasts for two weeks.

    ``for_administration`` begins the admin mode of an administrator with it.
    """
    cookie = secrets.token_urlsafe(32)
    if cached_all_settings(db).notify_on_unknown_sign_in and not _is_known_network(db, user, ip):
        _mail_unknown_sign_in(db, user, ip, user_agent)
    record_sign_in(db, user.id, ip, user_agent, method, succeeded=True)
    db.insert(
        sessions,
        user_id=user.id,
        digest=db.vault.digest(cookie),
        ip=ip,
        user_agent=_printable_user_agent(user_agent),
        created_at=db.now,
        expires_at=add_duration(db.now, minutes=_session_minutes(db, remembered=remembered)),
        admin_until=add_duration(db.now, hours=ADMIN_MODE_HOURS) if user.admin and for_administration else None,
    )
    db.update(users, user.id, last_sign_in_at=user.current_sign_in_at or db.now, current_sign_in_at=db.now)
    record_activity(db, user)
    return cookie


def _session_minutes(db: Connection, *, remembered: bool) -> int:
    minutes = current_settings(db).session_expire_delay
    return max(minutes, REMEMBERED_DAYS * 24 * 60) if remembered else minutes


def _is_known_network(db: Connection, user: User, ip: str) -> bool:
    """Return whether the user has signed in from this network before, or has never signed in at all."""
    addresses = [address for (address,) in db.rows(_SIGN_IN_ADDRESSES, user=user.id)]
    network = client_network(ip)
    return not addresses or any(client_network(address) == network for address in addresses)


def _mail_unknown_sign_in(db: Connection, user: User, ip: str, user_agent: str) -> None:
    send_mail(
        db,
        user.email,
        "Sign-in from a new location",
        f"Hello {user.name},\n\nYour account {user.username} was used to sign in from the address {ip}, where you had "
        f"not signed in before ({_printable_user_agent(user_agent) or 'unknown browser'}).\n\n"
        f"If it was not you, change your password: {EXTERNAL_URL_PLACEHOLDER}/profile/password/edit\n",
    )


def session_topic(user_id: int) -> str:
    """Return the topic that is announced when sessions of a user end."""
    return f"sessions:{user_id}"


def end_session(db: Connection, session: Session) -> None:
    """Delete a session."""
    db.delete(sessions, session.id)
    announce(db, session_topic(session.user_id))


def leave_admin_mode(db: Connection, session: Session) -> None:
    """End the time in which an administrator acts as such."""
    db.update(sessions, session.id, admin_until=None)
    announce(db, session_topic(session.user_id))


def end_own_session(db: Connection, user_id: int, session_id: int) -> None:
    """Delete a session of a user; other users' sessions are not affected."""
    db.run(_DROP_OWN, user=user_id, ended=session_id)
    announce(db, session_topic(user_id))


def end_sessions(db: Connection, user_id: int, but: int = 0) -> None:
    """Delete all sessions of a user, except ``but``."""
    db.run(_DROP_OTHERS, user=user_id, kept=but)
    announce(db, session_topic(user_id))


def delete_expired_sessions(db: Connection) -> None:
    """Delete expired sessions and links, old sign-in attempts, and addresses that do not count any more."""
    delete_ended_addresses(db)
    db.run(_DELETE_EXPIRED, now=db.now)
    db.run(_DELETE_EXPIRED_LINKS, now=db.now)
    db.run(_DROP_OLD_SIGN_INS, long_ago=add_duration(db.now, days=-SIGN_IN_LOG_DAYS))


def mail_password_link(db: Connection, user: User) -> None:
    """Send a link for choosing a password."""
    token = _create_link(db, user, "password")
    send_mail(
        db,
        user.email,
        "Choose your password",
        f"Hello {user.name},\n\nOpen this link within {LINK_HOURS['password']} hours to choose a password for "
        f"{user.username}:\n"
        f"{EXTERNAL_URL_PLACEHOLDER}/users/password/edit?reset_password_token={token}\n\n"
        "If you did not request this, you can ignore this email.\n",
    )


def mail_unlock_link(db: Connection, user: User) -> None:
    """Send a link that ends the lock of an account."""
    token = _create_link(db, user, "unlock")
    send_mail(
        db,
        user.email,
        "Your account is locked",
        f"Hello {user.name},\n\nYour account {user.username} has been locked after too many failed sign-ins. "
        f"Open this link to unlock it now:\n"
        f"{EXTERNAL_URL_PLACEHOLDER}/users/unlock?unlock_token={token}\n\n"
        "If these attempts were not yours, someone may be guessing your password.\n",
    )


def mail_deactivation(db: Connection, user: User) -> None:
    """Tell a user that the account was deactivated."""
    send_mail(
        db,
        user.email,
        "Your account has been deactivated",
        f"Hello {user.name},\n\nYour account {user.username} at {EXTERNAL_URL_PLACEHOLDER} has been deactivated. "
        "Ask an administrator to activate it.\n",
    )


def mail_password_hint(db: Connection, user: User) -> None:
    """Send a directory user an email about where to change their password."""
    send_mail(
        db,
        user.email,
        "Your password",
        f"Hello {user.name},\n\nYour account {user.username} uses the password from your organization's directory. "
        f"Change it there; it cannot be changed at {EXTERNAL_URL_PLACEHOLDER}.\n\n"
        "If you did not request this, you can ignore this email.\n",
    )


def mail_confirmation_link(db: Connection, user: User, email: Email | None = None) -> None:
    """Send a link that confirms a secondary email address, or the primary one for None."""
    token = _create_link(db, user, "confirmation", email)
    send_mail(
        db,
        email.email if email else user.email,
        "Confirm your email address",
        f"Hello {user.name},\n\nOpen this link to confirm your email address:\n"
        f"{EXTERNAL_URL_PLACEHOLDER}/users/confirmation?confirmation_token={token}\n",
    )


def _create_link(db: Connection, user: User, purpose: Purpose, email: Email | None = None) -> str:
    """Create a one-time link and return its token; earlier links to the primary address stop working."""
    if email is None:
        db.run(_DROP_LINKS, user=user.id, purpose=purpose)
    token = secrets.token_urlsafe(24)
    db.insert(
        one_time_links,
        user_id=user.id,
        purpose=purpose,
        email_id=email.id if email else None,
        digest=db.vault.digest(token),
        expires_at=add_duration(db.now, hours=LINK_HOURS[purpose]),
    )
    return token


def delete_links(db: Connection, user_id: int) -> None:
    """Delete all one-time links of a user."""
    db.run(_DROP_ALL_LINKS, user=user_id)


def use_password_link(db: Connection, link: OneTimeLink, password_hash: str) -> User:
    """Set the password and consume the link; having received it also verifies the email address."""
    user = find_user(db, link.user_id)
    set_password(db, user, password_hash)
    release_address(db, user.email, user.id)
    db.update(users, user.id, confirmed_at=user.confirmed_at or db.now, proven_at=db.now)
    db.delete(one_time_links, link.id)
    emit(db, AddressProven(user_id=user.id, address=user.email))
    return user


def use_unlock_link(db: Connection, link: OneTimeLink) -> None:
    """End the lock of the account and consume the link."""
    unlock_user(db, find_user(db, link.user_id))
    db.delete(one_time_links, link.id)


def use_confirmation_link(db: Connection, link: OneTimeLink) -> User:
    """Mark the email address as verified, drop the claims of other users to it, and consume the link."""
    user = find_user(db, link.user_id)
    email = find_email(db, user.id, link.email_id) if link.email_id is not None else None
    address = email.email if email else user.email
    release_address(db, address, user.id)
    if email is None:
        db.update(users, user.id, confirmed_at=db.now, proven_at=db.now)
    elif has_address(user):
        db.update(emails, email.id, confirmed_at=db.now, proven_at=db.now)
    else:
        adopt_address(db, user, email.email)
    db.delete(one_time_links, link.id)
    emit(db, AddressProven(user_id=user.id, address=address))
    return find_user(db, user.id)


def resend_confirmation(db: Connection, user_id: int, email_id: int | None = None) -> None:
    """Send the confirmation link of a further address, or of the primary one, unless it has been confirmed."""
    user = find_user(db, user_id)
    email = find_email(db, user_id, email_id) if email_id is not None else None
    if (email or user).proven_at is None:
        mail_confirmation_link(db, user, email)


def resend_confirmation_to(db: Connection, address: str) -> None:
    """Send the confirmation link of an address to the accounts that need it before their users can sign in."""
    for claim in claims_to_address(db, address):
        user = find_user(db, claim.user_id)
        if user.confirmed_at is None and user.state == "active":
            email = find_email(db, user.id, claim.email_id) if claim.email_id is not None else None
            mail_confirmation_link(db, user, email)
