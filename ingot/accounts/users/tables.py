"""Tables of users, identities, emails, statuses, followings and custom attributes."""

from typing import Literal

from sqlalchemy import Index, Table, UniqueConstraint, false

from ingot.core.db.schema import Record, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Date, Timestamp

users = Table(
    "users",
    metadata,
    row_id(),
    text("username"),
    text("name"),
    text("email", unique=True),
    text("state"),
    flag("admin"),
    flag("external"),
    flag("placeholder"),
    flag("blocked_by_directory"),
    flag("bot", server_default=false()),
    text("bio"),
    text("location"),
    text("skype"),
    text("linkedin"),
    text("twitter"),
    text("website_url"),
    text("organization"),
    text("public_email"),
    number("projects_limit"),
    flag("can_create_group"),
    number("color_scheme_id"),
    flag("two_factor_enabled"),
    reference("avatar_id", "avatars.id", ondelete="SET NULL", nullable=True),
    text("avatar_file", nullable=True),
    text("password_hash", nullable=True),
    flag("password_expired"),
    text("confirmed_at", nullable=True),
    # When the address was verified, by a link in an email or by an administrator. ``confirmed_at`` is also set without
    # any verification where the instance requires none.
    text("proven_at", nullable=True),
    text("last_sign_in_at", nullable=True),
    text("current_sign_in_at", nullable=True),
    text("last_activity_on", nullable=True),
    text("created_at"),
    text("updated_at"),
    # Case-folded copies, for unique and case-insensitive lookups that work the same on both engines.
    text("username_key", unique=True),
    text("name_key"),
    # Preferences of the pages; null means those of the browser.
    text("language", nullable=True),
    text("time_zone", nullable=True),
    # JSON document of ``UserDetails``; values that equal the default are omitted.
    text("details_document", server_default="{}"),
    # Failed sign-ins since the last successful one, and the lock that follows from too many.
    number("failed_attempts", server_default="0"),
    text("locked_at", nullable=True),
    # When the user accepted the terms of service of the instance.
    text("terms_accepted_at", nullable=True),
    sqlite_autoincrement=True,
)
Index("ix_users_created_at", users.c.created_at)
Index("ix_users_last_activity_on", users.c.last_activity_on)
# For users other than administrators, lists omit external users and count the rest.
Index("ix_users_external", users.c.external)

identities = Table(
    "identities",
    metadata,
    row_id(),
    reference("user_id", "users.id"),
    text("provider"),
    text("extern_uid"),
    UniqueConstraint("provider", "extern_uid"),
    UniqueConstraint("user_id", "provider"),
    sqlite_autoincrement=True,
)

emails = Table(
    "emails",
    metadata,
    row_id(),
    reference("user_id", "users.id", index=True),
    # Not unique: several users may claim an address until one of them proves it.
    text("email", index=True),
    text("confirmed_at", nullable=True),
    text("proven_at", nullable=True),
    text("created_at"),
    sqlite_autoincrement=True,
)

statuses = Table(
    "user_statuses",
    metadata,
    row_id(),
    reference("user_id", "users.id", unique=True),
    text("emoji"),
    text("message"),
    text("availability"),
    text("clear_at", nullable=True),
    sqlite_autoincrement=True,
)

followings = Table(
    "user_followings",
    metadata,
    row_id(),
    reference("follower_id", "users.id"),
    reference("followed_id", "users.id", index=True),
    UniqueConstraint("follower_id", "followed_id"),
    sqlite_autoincrement=True,
)

custom_attributes = Table(
    "user_custom_attributes",
    metadata,
    row_id(),
    reference("user_id", "users.id"),
    text("key"),
    text("value"),
    UniqueConstraint("user_id", "key"),
    sqlite_autoincrement=True,
)


Availability = Literal["not_set", "busy"]


class Person(Record, frozen=True):
    """Columns of a user that a reference to a user shows."""

    id: int
    username: str
    name: str
    state: str
    avatar_id: int | None
    avatar_file: str | None
    bot: bool


class User(Record, frozen=True):
    """A user account: a person, a bot, or the placeholder that inherits the contributions of deleted users."""

    id: int
    username: str
    name: str
    email: str
    state: str
    admin: bool
    external: bool
    placeholder: bool
    blocked_by_directory: bool
    bot: bool
    bio: str
    location: str
    skype: str
    linkedin: str
    twitter: str
    website_url: str
    organization: str
    public_email: str
    projects_limit: int
    can_create_group: bool
    color_scheme_id: int
    two_factor_enabled: bool
    avatar_id: int | None
    avatar_file: str | None
    password_hash: str | None
    password_expired: bool
    confirmed_at: Timestamp | None
    proven_at: Timestamp | None
    last_sign_in_at: Timestamp | None
    current_sign_in_at: Timestamp | None
    last_activity_on: Date | None
    created_at: Timestamp
    updated_at: Timestamp
    username_key: str
    name_key: str
    language: str | None
    time_zone: str | None
    details_document: str
    failed_attempts: int
    locked_at: Timestamp | None
    terms_accepted_at: Timestamp | None


class Identity(Record, frozen=True):
    """A user's identity at an external provider."""

    id: int
    user_id: int
    provider: str
    extern_uid: str


class Email(Record, frozen=True):
    """A secondary email address of a user."""

    id: int
    user_id: int
    email: str
    confirmed_at: Timestamp | None
    proven_at: Timestamp | None
    created_at: Timestamp


class UserStatus(Record, frozen=True):
    """A status that a user has set."""

    id: int
    user_id: int
    emoji: str
    message: str
    availability: Availability
    clear_at: Timestamp | None


class UserCustomAttribute(Record, frozen=True):
    """A custom attribute of a user, visible to administrators."""

    id: int
    user_id: int
    key: str
    value: str
