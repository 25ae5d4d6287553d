"""State changes of users."""

import re
from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from ingot.accounts.avatars.service import delete_avatar, replace_avatar
from ingot.accounts.instance.all_settings import all_settings, cached_all_settings
from ingot.accounts.instance.email_restrictions import matches_pattern
from ingot.accounts.instance.password_rules import current_password_rules
from ingot.accounts.users.addresses import (
    address_availability,
    confirmed_addresses,
    is_valid_email,
    release_address,
    require_own_public_email,
    stop_using_address,
    unknown_address,
)
from ingot.accounts.users.commit_addresses import PRIVATE, private_commit_address
from ingot.accounts.users.details import edited_user_details
from ingot.accounts.users.events import (
    AddressProven,
    EmailAdded,
    PasswordChanged,
    PrimaryEmailChanged,
    UserBlocked,
    UserCreated,
    UserDeleting,
    UserRenamed,
)
from ingot.accounts.users.locks import UNLOCKED
from ingot.accounts.users.params import CreateUser, ModifyUser
from ingot.accounts.users.queries import (
    count_administrators,
    find_user,
    following_or_none,
    identities_by_user,
    identity_owner_or_none,
    placeholder_user,
    user_by_username_or_none,
)
from ingot.accounts.users.tables import (
    User,
    emails,
    followings,
    identities,
    users,
)
from ingot.core.access.actor import Actor
from ingot.core.access.passwords import password_errors
from ingot.core.api.params import Upload, given_fields
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date
from ingot.core.errors import Conflict, Denied, Invalid, too_long_message
from ingot.core.events.bus import emit
from ingot.core.names import NAMESPACES, path_error

_TEXTS = ("skype", "linkedin", "twitter", "website_url", "organization", "bio", "location", "public_email")
# The scheme is optional, and only http(s): pages link to this address, and javascript: would run in them.
_WEBSITE = re.compile(r"(https?://)?[^\s:/?#@]+(:[0-9]+)?([/?#]\S*)?", re.IGNORECASE)
MAX_LENGTH = 255


def create_user(
    db: Connection,
    params: CreateUser,
    password_hash: str | None,
    *,
    vouched_for: bool = False,
    bot: bool = False,
    placeholder: bool = False,
) -> User:
    """Create a user; with ``reset_password`` they choose a password through a link in an email.

    ``vouched_for`` marks the email address as verified, if it counts as confirmed at all. An address that another user
    claims without proof becomes the new user's primary one when they open the link that is sent to it.
    A ``placeholder`` stands for a user of another server, and cannot sign in.
    """
    chooses = params.reset_password or params.force_random_password
    columns = _columns(given_fields(params))
    settings = all_settings(db)
    details = {"private_profile": settings.user_defaults_to_private_profile, **given_fields(params)}
    details |= _commit_email(params.commit_email, [columns["email"]], PRIVATE)
    columns["details_document"] = edited_user_details("{}", details)
    contested = _require_available(db, columns, vouched_for=vouched_for)
    _validate(db, columns, "" if chooses or params.password is UNSET else params.password)
    proven = vouched_for and _is_confirmed(params)
    require_own_public_email(db, columns.get("public_email", ""), None, columns["email"], proven=proven)
    confirmed = not contested and (_is_confirmed(params) or not settings.send_user_confirmation_email)
    address = columns["email"]
    if contested:
        columns["email"] = unknown_address()
    else:
        release_address(db, address)
    internal = matches_pattern(address, settings.user_default_internal_regex)
    defaults = {
        "state": "blocked" if placeholder else "active",
        "admin": False,
        "external": settings.user_default_external and not internal,
        "placeholder": placeholder,
        "blocked_by_directory": False,
        "bot": bot,
        **dict.fromkeys(_TEXTS, ""),
        "projects_limit": settings.default_projects_limit,
        "can_create_group": settings.can_create_group,
        "color_scheme_id": 1,
        "two_factor_enabled": False,
        "password_hash": None if chooses else password_hash,
        "password_expired": False,
        "confirmed_at": db.now if confirmed else None,
        "proven_at": db.now if proven else None,
        "created_at": db.now,
        "updated_at": db.now,
    }
    if columns.get("external", defaults["external"]):
        # External users may create neither projects nor groups, whatever the request says.
        columns |= {"external": True, "projects_limit": 0, "can_create_group": False}
    user_id = db.insert(users, **{**defaults, **columns})
    _set_identity(db, user_id, params.provider, params.extern_uid)
    if isinstance(params.avatar, Upload):
        _set_avatar(db, find_user(db, user_id), params.avatar)
    emit(
        db,
        UserCreated(
            user_id=user_id,
            username=columns["username"],
            name=columns["name"],
            chooses_password=params.reset_password,
            confirms_address=not confirmed and not contested,
            bot=bot,
        ),
    )
    if proven and not contested:
        emit(db, AddressProven(user_id=user_id, address=address))
    if contested:
        email_id = db.insert(emails, user_id=user_id, email=address, created_at=db.now)
        emit(db, EmailAdded(email_id=email_id))
    return find_user(db, user_id)


def modify_user(db: Connection, actor: Actor, user: User, params: ModifyUser, password_hash: str | None) -> User:
    """Change the given fields; a password set by another user must be changed at the next sign-in."""
    columns = _columns(given_fields(params))
    details = given_fields(params)
    if params.commit_email is not UNSET:
        details |= _own_commit_email(db, user, params.commit_email, columns.get("email", user.email))
    columns["details_document"] = edited_user_details(user.details_document, details)
    if columns.get("email") == user.email:
        del columns["email"]
    if _require_available(db, columns, except_id=user.id, vouched_for=actor.admin):
        raise Conflict("Email has already been taken")
    _validate(db, columns, params.password if params.password is not UNSET else None)
    renamed = columns.get("name", user.name) != user.name
    if renamed and not actor.admin and cached_all_settings(db).updating_name_disabled_for_users:
        raise Denied("Only administrators can change names")
    if user.bot and (columns.get("admin") or not columns.get("external", True)):
        raise Denied("Bot users cannot be administrators or internal users")
    if user.bot and ("email" in columns or params.password is not UNSET):
        raise Denied("Bot users cannot have an email address or a password")
    if columns.get("admin") is False:
        _require_other_administrator(db, user)
    if columns.get("external"):
        columns |= {"projects_limit": 0, "can_create_group": False}
    if params.password is not UNSET:
        columns |= {"password_hash": password_hash, "password_expired": actor.user_id != user.id, **UNLOCKED}
    email_changed = "email" in columns
    if email_changed:
        columns["proven_at"] = db.now if actor.admin else None
        release_address(db, columns["email"], user.id)
    if columns.get("public_email", user.public_email) != user.public_email:
        # Unless it changes just now, a confirmed primary address may be shown: the user signs in with it.
        proven = columns["proven_at"] is not None if email_changed else user.confirmed_at is not None
        require_own_public_email(db, columns["public_email"], user, columns.get("email", user.email), proven=proven)
    db.update(users, user.id, **columns, updated_at=db.now)
    _set_identity(db, user.id, params.provider, params.extern_uid)
    if params.avatar is not UNSET:
        _set_avatar(db, user, params.avatar)
    if email_changed:
        stop_using_address(db, user.id, user.email)
    changed = find_user(db, user.id)
    if email_changed:
        emit(db, PrimaryEmailChanged(user_id=user.id))
        if changed.proven_at is not None:
            emit(db, AddressProven(user_id=user.id, address=changed.email))
    if (changed.username, changed.name) != (user.username, user.name):
        emit(db, UserRenamed(user_id=user.id, username=changed.username, name=changed.name))
    if params.password is not UNSET:
        emit(db, PasswordChanged(user_id=user.id))
    return changed


def delete_user(db: Connection, user: User, *, hard: bool) -> None:
    """Delete a user; their contributions are reassigned to the placeholder, or deleted if ``hard``."""
    if user.placeholder:
        raise Denied("The placeholder user cannot be deleted")
    if user.admin:
        _require_other_administrator(db, user)
    emit(db, UserDeleting(user_id=user.id, placeholder_id=placeholder_user(db).id, hard=hard))
    db.delete(users, user.id)
    delete_avatar(db, user.avatar_id)


def block_user(db: Connection, actor: Actor, user: User, state: str = "blocked") -> bool:
    """Block a user and end their sessions; return whether the state changed."""
    if user.blocked_by_directory:
        raise Denied("LDAP blocked users cannot be modified by the API")
    if user.id == actor.user_id:
        raise Denied("The API initiating user cannot be blocked by the API")
    if user.placeholder:
        raise Denied("The placeholder user cannot be blocked")
    _require_other_administrator(db, user)
    if user.state == state:
        return False
    db.update(users, user.id, state=state, updated_at=db.now)
    emit(db, UserBlocked(user_id=user.id))
    return True


def unblock_user(db: Connection, user: User) -> bool:
    """Reactivate a user; return whether the state changed."""
    if user.blocked_by_directory:
        raise Denied("LDAP blocked users cannot be unblocked by the API")
    if user.state == "active":
        return False
    db.update(users, user.id, state="active", updated_at=db.now)
    return True


def block_by_directory(db: Connection, user: User) -> None:
    """Block a user on behalf of a directory (LDAP); the API cannot lift this block."""
    db.update(users, user.id, state="blocked", blocked_by_directory=True, updated_at=db.now)
    emit(db, UserBlocked(user_id=user.id))


def remove_block(db: Connection, user: User) -> None:
    """Lift any block, including a directory's, and any lock."""
    db.update(users, user.id, state="active", blocked_by_directory=False, updated_at=db.now, **UNLOCKED)


def set_admin(db: Connection, user: User, admin: bool) -> None:
    """Grant or revoke administrator rights."""
    if admin and user.bot:
        raise Denied("Bot users cannot be administrators")
    if not admin:
        _require_other_administrator(db, user)
    db.update(users, user.id, admin=admin, updated_at=db.now)


def set_password(db: Connection, user: User, password_hash: str, kept_session_id: int = 0) -> None:
    """Set a password that the user chose, which ends a lock; all sessions except ``kept_session_id`` end."""
    columns = {"password_hash": password_hash, "password_expired": False, **UNLOCKED}
    db.update(users, user.id, **columns, updated_at=db.now)
    emit(db, PasswordChanged(user_id=user.id, kept_session_id=kept_session_id))


def accept_terms(db: Connection, user_id: int) -> None:
    """Record that a user accepts the terms of service of the instance."""
    db.update(users, user_id, terms_accepted_at=db.now)


def record_activity(db: Connection, user: User) -> None:
    """Record that a user was active today; at most one write per day."""
    today: Date = db.today
    if user.last_activity_on != today:
        db.update(users, user.id, last_activity_on=today)


def delete_identity(db: Connection, user: User, provider: str) -> None:
    """Delete a user's identity at a provider, if there is one."""
    for identity in identities_by_user(db, [user.id]).get(user.id, ()):
        if identity.provider == provider:
            db.delete(identities, identity.id)


def follow_user(db: Connection, actor: Actor, user: User) -> bool:
    """Follow a user; return False if the caller already follows them."""
    if following_or_none(db, actor.user_id, user.id) is not None:
        return False
    db.insert(followings, follower_id=actor.user_id, followed_id=user.id)
    return True


def unfollow_user(db: Connection, actor: Actor, user: User) -> bool:
    """Stop following a user; return False if the caller does not follow them."""
    row_id = following_or_none(db, actor.user_id, user.id)
    return row_id is not None and db.delete_counted(followings, row_id) > 0


def _is_confirmed(params: CreateUser) -> bool:
    return params.confirm if params.skip_confirmation is UNSET else params.skip_confirmation


def _own_commit_email(db: Connection, user: User, chosen: str | None, new_primary: str) -> dict[str, str | None]:
    """Return the detail that states the address of commits, which a user has or is about to get."""
    others = confirmed_addresses(db, user.id) if chosen else []
    return _commit_email(chosen, [user.email, new_primary], private_commit_address(db, user), others)


def _commit_email(
    chosen: str | UnsetType | None, primary: Sequence[str], private_address: str, others: Sequence[str] = ()
) -> dict[str, str | None]:
    """Return the detail that states the address of commits: a private one, another one, or none for the primary one."""
    if chosen is UNSET:
        return {}
    address = (chosen or "").strip().lower()
    if address in (PRIVATE, private_address.lower()):
        return {"commit_email": PRIVATE}
    if not address or address in primary:
        return {"commit_email": None}
    if address not in others:
        raise Invalid(commit_email=["is not an email you own"])
    return {"commit_email": address}


def _columns(values: dict[str, Any]) -> dict[str, Any]:
    """Return the columns to write; null texts become empty."""
    names = (
        *_TEXTS,
        "name",
        "username",
        "email",
        "projects_limit",
        "color_scheme_id",
        "admin",
        "can_create_group",
        "external",
    )
    columns = {name: values[name] for name in names if name in values}
    columns |= {name: columns[name] or "" for name in _TEXTS if name in columns}
    if "email" in columns:
        columns["email"] = columns["email"].strip().lower()
    if "public_email" in columns:
        columns["public_email"] = columns["public_email"].strip().lower()
    if "username" in columns:
        columns["username_key"] = columns["username"].lower()
    if "name" in columns:
        columns["name"] = columns["name"].strip()
        columns["name_key"] = columns["name"].casefold()
    return columns


def _require_available(
    db: Connection, columns: dict[str, Any], except_id: int = 0, *, vouched_for: bool = False
) -> bool:
    """Raise Conflict if the email address or username is taken; return whether the address is contested."""
    availability = "free"
    if "email" in columns:
        availability = address_availability(db, columns["email"], except_id, vouched_for=vouched_for)
    if availability == "taken":
        raise Conflict("Email has already been taken")
    owner = user_by_username_or_none(db, columns["username"]) if "username" in columns else None
    if owner is not None and owner.id != except_id:
        raise Conflict("Username has already been taken")
    return availability == "contested"


def _validate(db: Connection, columns: dict[str, Any], password: str | None) -> None:
    """Raise Invalid with all reasons at once."""
    errors: dict[str, list[str]] = {}
    if password:
        reasons = password_errors(password, current_password_rules(db))
        if reasons:
            errors["password"] = reasons
    elif password == "" and "username" not in columns:
        errors["password"] = ["can't be blank"]
    if "username" in columns:
        error = path_error(columns["username"])
        if error:
            errors["username"] = [error]
    if "name" in columns and not columns["name"]:
        errors["name"] = ["can't be blank"]
    for name in ("email", "public_email"):
        if (columns.get(name) or name == "email") and name in columns and not is_valid_email(columns[name]):
            errors[name] = ["is invalid"]
    if columns.get("website_url") and not _WEBSITE.fullmatch(columns["website_url"]):
        errors["website_url"] = ["is not a valid URL"]
    for name in (*_TEXTS, "name"):
        if len(columns.get(name, "")) > MAX_LENGTH:
            errors.setdefault(name, [too_long_message(MAX_LENGTH)])
    if columns.get("projects_limit", 0) < 0:
        errors["projects_limit"] = ["must be greater than or equal to 0"]
    if errors:
        raise Invalid(**errors)


def _require_other_administrator(db: Connection, user: User) -> None:
    db.must_hold(NAMESPACES)
    if user.admin and user.state == "active" and count_administrators(db) == 1:
        raise Denied("There must be at least one active administrator")


def _set_identity(db: Connection, user_id: int, provider: Any, extern_uid: Any) -> None:
    if provider is UNSET and extern_uid is UNSET:
        return
    if not provider or not extern_uid:
        raise Invalid("400 (Bad request) provider and extern_uid must be given together")
    if identity_owner_or_none(db, provider, extern_uid) not in (None, user_id):
        raise Invalid(extern_uid=["has already been taken"])
    for identity in identities_by_user(db, [user_id]).get(user_id, ()):
        if identity.provider == provider:
            db.update(identities, identity.id, extern_uid=extern_uid)
            return
    db.insert(identities, user_id=user_id, provider=provider, extern_uid=extern_uid)


def _set_avatar(db: Connection, user: User, upload: Any) -> None:
    if upload is not UNSET:
        replace_avatar(db, users, user.id, user.avatar_id, upload)


def set_avatar(db: Connection, user: User, upload: Upload | None) -> User:
    """Replace the avatar of a user, or remove it for None."""
    replace_avatar(db, users, user.id, user.avatar_id, upload)
    return find_user(db, user.id)


def set_commit_address(db: Connection, user: User, address: str) -> None:
    """Choose an address of a user for commits; the empty text chooses the primary one, whichever that is."""
    details = _own_commit_email(db, user, address, user.email)
    db.update(users, user.id, details_document=edited_user_details(user.details_document, details))


def set_page_preferences(db: Connection, user: User, language: str | None, time_zone: str | None) -> None:
    """Set the language and the time zone of the pages for a user; None means those of the browser."""
    db.update(users, user.id, language=language, time_zone=time_zone)
