"""Signing in and out, and the links that mails hold."""

import secrets

from sqlalchemy import bindparam, delete

from ingot.accounts.identity_providers.ldap_sync import authenticate_by_directory, is_directory_user
from ingot.accounts.instance.settings import current_settings
from ingot.accounts.instance.throttles import count_attempt, seconds_left, uncount_attempt
from ingot.accounts.sessions.tables import OneTimeLink, Purpose, Session, one_time_links, sessions, sign_ins
from ingot.accounts.users.queries import find_user, user_by_login_or_none
from ingot.accounts.users.service import record_activity, set_password
from ingot.accounts.users.tables import Email, User, emails, users
from ingot.core.access.passwords import password_matches
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.mail.delivery import EXTERNAL_URL_PLACEHOLDER, send_mail
from ingot.errors import Throttled, Unauthenticated
from ingot.settings import Settings

MAX_FAILURES_PER_ACCOUNT = 10
MAX_FAILURES_PER_IP = 100
FAILURE_WINDOW_SECONDS = 600
SIGN_IN_LOG_DAYS = 90
LINK_HOURS = {"password": 6, "confirmation": 72}

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


def check_password(
    database: Database, login: str, password: str, ip: str, user_agent: str = "", settings: Settings | None = None
) -> User:
    """Who this is, by name or address and password; doors call it outside of any unit of work.

    A try is counted before the password is looked at, so that many at once cannot slip through, and given back
    where it was right: only failures use up the limits. With ``settings`` that name a directory, its people come in
    too, by the password that they have there and by no other.
    """

    asks_directory = settings is not None and bool(settings.ldap_url)

    def take(db: Connection) -> tuple[User | None, list[str], bool]:
        user = user_by_login_or_none(db, login) if current_settings(db).signin_enabled else None
        # By whichever name or address, it is the same account.
        account = str(user.id) if user else login.strip().lower()[:255]
        keys = [f"sign-in of {account}", f"sign-in from {ip}"]
        for key, most in zip(keys, (MAX_FAILURES_PER_ACCOUNT, MAX_FAILURES_PER_IP), strict=True):
            counted = count_attempt(db, key, FAILURE_WINDOW_SECONDS)
            if counted.count > most:
                raise Throttled(seconds_left(db, counted))
        return user, keys, asks_directory and user is not None and is_directory_user(db, user)

    user, keys, elsewhere = database.write(take)
    matched = password_matches(user.password_hash if user and not elsewhere else None, password)
    if not matched and settings is not None and asks_directory:
        found = authenticate_by_directory(database, settings, login.strip(), password)
        user, matched = found or user, found is not None
    if user is None or not matched or user.state != "active" or user.confirmed_at is None or user.placeholder:
        if user is not None:
            record_failure(database, user.id, ip, user_agent)
        raise Unauthenticated

    def give_back(db: Connection) -> None:
        for key in keys:
            uncount_attempt(db, key)

    database.write(give_back)
    return user


def record_failure(database: Database, user_id: int, ip: str, user_agent: str, method: str = "password") -> None:
    """Write down that somebody tried in vain, for the owner of the account to see."""
    database.write(lambda db: _record_sign_in(db, user_id, ip, user_agent, method, succeeded=False))


def _record_sign_in(db: Connection, user_id: int, ip: str, user_agent: str, method: str, *, succeeded: bool) -> None:
    db.insert(
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


def create_session(db: Connection, user: User, ip: str, user_agent: str, method: str = "password") -> str:
    """Sign a user in; gives the value of the cookie."""
    cookie = secrets.token_urlsafe(32)
    _record_sign_in(db, user.id, ip, user_agent, method, succeeded=True)
    db.insert(
        sessions,
        user_id=user.id,
        digest=db.vault.digest(cookie),
        ip=ip,
        user_agent=_printable_user_agent(user_agent),
        created_at=db.now,
        expires_at=add_duration(db.now, minutes=current_settings(db).session_expire_delay),
    )
    db.update(users, user.id, last_sign_in_at=user.current_sign_in_at or db.now, current_sign_in_at=db.now)
    record_activity(db, user)
    return cookie


def end_session(db: Connection, session: Session) -> None:
    """Sign a browser out."""
    db.delete(sessions, session.id)


def end_own_session(db: Connection, user_id: int, session_id: int) -> None:
    """Sign a user out in one browser; somebody else's session is not theirs to end."""
    db.run(_DROP_OWN, user=user_id, ended=session_id)


def end_sessions(db: Connection, user_id: int, but: int = 0) -> None:
    """Sign a user out everywhere, or everywhere else."""
    db.run(_DROP_OTHERS, user=user_id, kept=but)


def delete_expired_sessions(db: Connection) -> None:
    """Forget sessions and links that are over."""
    db.run(_DELETE_EXPIRED, now=db.now)
    db.run(_DELETE_EXPIRED_LINKS, now=db.now)
    db.run(_DROP_OLD_SIGN_INS, long_ago=add_duration(db.now, days=-SIGN_IN_LOG_DAYS))


def mail_password_link(db: Connection, user: User) -> None:
    """Let a user choose a password."""
    token = _create_link(db, user, "password")
    send_mail(
        db,
        user.email,
        "Choose your password",
        f"Hello {user.name},\n\nchoose a password for {user.username} here, within {LINK_HOURS['password']} hours:\n"
        f"{EXTERNAL_URL_PLACEHOLDER}/users/password/edit?reset_password_token={token}\n\n"
        "If you did not ask for this, there is nothing to do.\n",
    )


def mail_password_hint(db: Connection, user: User) -> None:
    """Tell somebody of the directory where their password is."""
    send_mail(
        db,
        user.email,
        "Your password",
        f"Hello {user.name},\n\nyour account {user.username} opens with the password that you have in the directory of "
        f"your organization. It is changed there, and not by {EXTERNAL_URL_PLACEHOLDER}.\n\n"
        "If you did not ask for this, there is nothing to do.\n",
    )


def mail_confirmation_link(db: Connection, user: User, email: Email | None = None) -> None:
    """Let a user prove that an address is theirs: a further one, or the first."""
    token = _create_link(db, user, "confirmation", email)
    send_mail(
        db,
        email.email if email else user.email,
        "Confirm your address",
        f"Hello {user.name},\n\nconfirm that this address is yours:\n"
        f"{EXTERNAL_URL_PLACEHOLDER}/users/confirmation?confirmation_token={token}\n",
    )


def _create_link(db: Connection, user: User, purpose: Purpose, email: Email | None = None) -> str:
    """A new link for this purpose; those before it stop working."""
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
    """Let nothing count any more that was mailed to a user."""
    db.run(_DROP_ALL_LINKS, user=user_id)


def use_password_link(db: Connection, link: OneTimeLink, password_hash: str) -> User:
    """Set the password that the reader of the mail chose; reading it also proves the address."""
    user = find_user(db, link.user_id)
    set_password(db, user, password_hash)
    db.update(users, user.id, confirmed_at=user.confirmed_at or db.now, proven_at=db.now)
    db.delete(one_time_links, link.id)
    return user


def use_confirmation_link(db: Connection, link: OneTimeLink) -> User:
    """Take the address as proven."""
    if link.email_id is None:
        db.update(users, link.user_id, confirmed_at=db.now, proven_at=db.now)
    else:
        db.update(emails, link.email_id, confirmed_at=db.now, proven_at=db.now)
    db.delete(one_time_links, link.id)
    return find_user(db, link.user_id)
