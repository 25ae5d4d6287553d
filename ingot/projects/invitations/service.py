"""State changes of invitations: sending, changing, accepting and deleting."""

import secrets

from msgspec import UNSET
from sqlalchemy import bindparam, delete, or_

from ingot.accounts.instance.email_restrictions import address_error
from ingot.accounts.instance.throttles import count_within_limit
from ingot.accounts.users.addresses import is_valid_email
from ingot.accounts.users.email_owners import user_ids_by_emails
from ingot.accounts.users.queries import find_user, users_by_ids
from ingot.accounts.users.tables import User
from ingot.core.access.actor import Actor
from ingot.core.access.levels import ROLE_NAMES, Access
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date
from ingot.core.errors import Conflict, Denied, Invalid, Throttled
from ingot.core.mail.queue import EXTERNAL_URL_PLACEHOLDER, send_mail
from ingot.core.names import NAMESPACES
from ingot.projects.invitations.params import EditInvitation, Invite
from ingot.projects.invitations.queries import VALID_DAYS, invitation_or_none, pending_limits
from ingot.projects.members.queries import MemberSource, membership_or_none
from ingot.projects.members.service import LEVELS, add_member, check_level, write_membership
from ingot.projects.namespaces.group_rules import require_unlocked_members
from ingot.projects.namespaces.tables import Invitation, invitations

MAX_INVITED = 100
"""Addresses and users in one request."""
MAX_MAILS = 100
"""Invitations that a user may send by mail in an hour."""
MAX_MAILS_TO_ADDRESS = 5
"""Invitations that an address receives in an hour, whoever sends them."""
_HOUR_SECONDS = 3600
_DELETE_EXPIRED = delete(invitations).where(
    or_(invitations.c.expires_at <= bindparam("today"), invitations.c.created_at <= bindparam("oldest"))
)


def invite(
    db: Connection, actor: Actor, access: Access, source: MemberSource, source_name: str, params: Invite
) -> dict[str, str]:
    """Invite addresses and users, and return the reasons by those that were not invited.

    Users, and the owners of proven addresses, become members at once. An address that is not proven gets a mail,
    because any user may claim it. Raises Denied if the level is higher than the caller's own.
    """
    check_level(actor, access, source, params.access_level)
    if source.kind == "project":
        require_unlocked_members(db, source.namespace_id)
    _require_future(db, params.expires_at)
    addresses = list(dict.fromkeys(address.strip() for address in params.email or []))
    user_ids = list(dict.fromkeys(params.user_id or []))
    if not addresses and not user_ids:
        raise Invalid("Must provide either email or user_id as a parameter")
    if len(addresses) + len(user_ids) > MAX_INVITED:
        raise Invalid(f"Too many users specified (limit is {MAX_INVITED})")
    owners = user_ids_by_emails(db, addresses, proven=True)
    users = users_by_ids(db, user_ids)
    inviter = find_user(db, actor.user_id)
    errors: dict[str, str] = {}

    def add(name: str, user_id: int) -> None:
        try:
            add_member(db, actor, access, source, user_id, params.access_level, params.expires_at)
        except Conflict:
            errors[name] = "User already exists in source"
        except Invalid:
            errors[name] = "User is invalid"

    for user_id in user_ids:
        if user_id in users:
            add(users[user_id].username, user_id)
        else:
            errors[str(user_id)] = "User does not exist"
    for address in addresses:
        if address.lower() in owners:
            add(address, owners[address.lower()])
        elif reason := _invite_address(db, inviter, source, source_name, address.lower(), params):
            errors[address] = reason
    return errors


def _require_future(db: Connection, expires_at: Date | None) -> None:
    if expires_at is not None and expires_at <= db.today:
        raise Invalid(expires_at=["must be a date in the future"])


def _invite_address(
    db: Connection, inviter: User, source: MemberSource, source_name: str, address: str, params: Invite
) -> str:
    """Create an invitation and send its mail; return the reason if that is not possible."""
    db.must_hold_part(NAMESPACES)
    if not is_valid_email(address):
        return "Invite email is invalid"
    restriction = address_error(db, address)
    if restriction is not None:
        return f"Invite email {restriction}"
    limits = pending_limits(db)
    existing = invitation_or_none(db, source, address)
    if existing is not None:
        expired = existing.expires_at is not None and existing.expires_at <= limits["today"]
        if not expired and existing.created_at > limits["oldest"]:
            return "Invite email has already been taken"
        db.delete(invitations, existing.id)
    count_within_limit(db, f"invitation mail of {inviter.id}", MAX_MAILS, _HOUR_SECONDS)
    try:
        count_within_limit(db, f"invitation mail to {address}", MAX_MAILS_TO_ADDRESS, _HOUR_SECONDS)
    except Throttled:
        return "Invite email has received too many invitations. Try again later"
    token = secrets.token_urlsafe(24)
    db.insert(
        invitations,
        source_kind=source.kind,
        source_id=source.id,
        namespace_id=source.namespace_id,
        email=address,
        access_level=params.access_level,
        expires_at=params.expires_at,
        digest=db.vault.digest(token),
        created_at=db.now,
        created_by_id=inviter.id,
    )
    _send_invitation(db, inviter, source, source_name, address, params.access_level, token)
    return ""


def _send_invitation(
    db: Connection, inviter: User, source: MemberSource, source_name: str, address: str, level: int, token: str
) -> None:
    send_mail(
        db,
        address,
        f"Invitation to join the {source.kind} {source_name}",
        f"Hello,\n\n{inviter.name} (@{inviter.username}) invited you to join the {source.kind} {source_name} as "
        f"{ROLE_NAMES[level]}.\n\nOpen this link within {VALID_DAYS} days to accept or decline:\n"
        f"{EXTERNAL_URL_PLACEHOLDER}/-/invites/{token}\n\n"
        "If you do not know the sender, you can ignore this email.\n",
        sender=inviter.name,
    )


def edit_invitation(
    db: Connection, actor: Actor, access: Access, source: MemberSource, invitation: Invitation, params: EditInvitation
) -> None:
    """Change the level or expiry date; raise Denied if the old or the new level is higher than the caller's."""
    if params.access_level is UNSET and params.expires_at is UNSET:
        raise Invalid("access_level, expires_at are missing, at least one parameter must be provided")
    level = invitation.access_level if params.access_level is UNSET else params.access_level
    check_level(actor, access, source, max(level, invitation.access_level) if level in LEVELS[source.kind] else level)
    expires_at = invitation.expires_at if params.expires_at is UNSET else params.expires_at
    _require_future(db, expires_at)
    db.update(invitations, invitation.id, access_level=level, expires_at=expires_at)


def revoke_invitation(db: Connection, actor: Actor, access: Access, invitation: Invitation) -> None:
    """Delete an invitation; raise Denied if its level is higher than the caller's."""
    if invitation.access_level > access.level and not actor.admin:
        raise Denied
    db.delete(invitations, invitation.id)


def resend_invitation(
    db: Connection, actor: Actor, access: Access, source: MemberSource, source_name: str, invitation: Invitation
) -> None:
    """Send the mail of a pending invitation again, with a new link that is valid as long as that of a new one.

    Raises Denied if the level is higher than the caller's own, and Throttled after too many mails.
    """
    check_level(actor, access, source, invitation.access_level)
    if source.kind == "project":
        require_unlocked_members(db, source.namespace_id)
    inviter = find_user(db, actor.user_id)
    count_within_limit(db, f"invitation mail of {inviter.id}", MAX_MAILS, _HOUR_SECONDS)
    count_within_limit(db, f"invitation mail to {invitation.email}", MAX_MAILS_TO_ADDRESS, _HOUR_SECONDS)
    token = secrets.token_urlsafe(24)
    db.update(invitations, invitation.id, digest=db.vault.digest(token), created_at=db.now)
    _send_invitation(db, inviter, source, source_name, invitation.email, invitation.access_level, token)


def decline_invitation(db: Connection, invitation: Invitation) -> None:
    """Delete an invitation that its recipient does not want."""
    db.delete(invitations, invitation.id)


def accept_invitation(db: Connection, user_id: int, invitation: Invitation) -> None:
    """Make a user a member, unless they are one by now, and delete the invitation."""
    if invitation.source_kind == "project":
        require_unlocked_members(db, invitation.namespace_id)
    source = MemberSource(invitation.source_kind, invitation.source_id, invitation.namespace_id)
    existing = membership_or_none(db, source, user_id)
    if existing is None or (existing.expires_at is not None and existing.expires_at <= db.today):
        write_membership(db, source, user_id, invitation.access_level, invitation.expires_at, invitation.created_by_id)
    db.delete(invitations, invitation.id)


def delete_expired_invitations(db: Connection) -> int:
    """Delete the invitations that can no longer be accepted, and return their number."""
    return db.run_counted(_DELETE_EXPIRED, **pending_limits(db))
