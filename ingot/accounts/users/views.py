"""Response structs of users; the fields depend on the caller."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import UNSET, UnsetType

from ingot.accounts.users.commit_addresses import commit_address
from ingot.accounts.users.details import COMPUTED_DETAILS, PUBLIC_DETAILS, UserDetails, shown_user_details, user_details
from ingot.accounts.users.locks import is_locked
from ingot.accounts.users.policy import may_see_profile
from ingot.accounts.users.ports import UserNamespaces
from ingot.accounts.users.queries import (
    custom_attributes_by_user,
    find_user,
    identities_by_user,
    persons_by_ids,
    placeholder_user,
    user_by_username_or_none,
    user_status_or_none,
)
from ingot.accounts.users.tables import Identity, Person, User, UserCustomAttribute, UserStatus
from ingot.core.access.actor import Actor
from ingot.core.api.declared_fields import view_of
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date, Timestamp


class UserReference(View):
    """Attributes that every reference to a user has."""

    id: int
    username: str
    name: str
    state: str
    avatar_url: str | None
    web_url: str


class UserBrief(UserReference):
    """Reference to a user, which marks bots."""

    bot: bool | UnsetType = UNSET


class UserView(UserReference):
    """A user, for any caller."""

    created_at: Timestamp
    bio: str
    location: str
    skype: str
    linkedin: str
    twitter: str
    website_url: str
    organization: str
    public_email: str
    bot: bool
    work_information: str | None
    """Job title and organization."""
    job_title: str | None
    pronouns: str | None
    discord: str | None


class IdentityView(View):
    """A user's identity at an external provider."""

    provider: str
    extern_uid: str


class OwnUserView(UserView):
    """The caller's own account."""

    email: str
    commit_email: str
    last_sign_in_at: Timestamp | None
    current_sign_in_at: Timestamp | None
    confirmed_at: Timestamp | None
    last_activity_on: Date | None
    color_scheme_id: int
    projects_limit: int
    identities: list[IdentityView]
    can_create_group: bool
    can_create_project: bool
    two_factor_enabled: bool
    external: bool


class CustomAttributeView(View):
    """A custom attribute."""

    key: str
    value: str


if TYPE_CHECKING:  # The fields are declared once, and created at run time.
    _Details = OwnUserView
else:
    _Details = view_of(OwnUserView, UserDetails, (*COMPUTED_DETAILS, *PUBLIC_DETAILS))


class AdminUserView(_Details):
    """A user, for administrators."""

    is_admin: bool
    locked: bool
    namespace_id: int | None
    private_token: str | UnsetType = UNSET
    custom_attributes: list[CustomAttributeView] | UnsetType = UNSET


class ActivityView(View):
    """A user's last activity date."""

    username: str
    last_activity_on: Date
    last_activity_at: Date


class ApprovalView(View):
    """Result of the approval or rejection of a user."""

    message: str


class AvatarView(View):
    """Address of a user's avatar."""

    avatar_url: str | None


class StatusView(View):
    """A user's status."""

    emoji: str
    message: str
    availability: str
    message_html: str
    clear_status_at: Timestamp | None


class UserFields(Protocol):
    """Columns that a reference to a user needs."""

    @property
    def id(self) -> int: ...
    @property
    def username(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def avatar_id(self) -> int | None: ...
    @property
    def avatar_file(self) -> str | None: ...
    @property
    def bot(self) -> bool: ...


def web_url(user: UserFields, base: str) -> str:
    """Return the URL of the user's page."""
    return f"{base}/{user.username}"


def avatar_url(user: UserFields, base: str) -> str | None:
    """Return the URL of the user's avatar, if there is one."""
    if user.avatar_id is None:
        return None
    return f"{base}/uploads/-/system/user/avatar/{user.id}/{user.avatar_file}"


def user_brief(user: UserFields, base: str) -> UserBrief:
    """Return a reference to a user."""
    return UserBrief(
        user.id,
        user.username,
        user.name,
        user.state,
        avatar_url(user, base),
        web_url(user, base),
        True if user.bot else UNSET,
    )


def user_brief_from_columns(
    user_id: int | None,
    username: str | None,
    name: str | None,
    state: str | None,
    avatar_id: int | None,
    avatar_file: str | None,
    bot: bool | None,
    base: str,
) -> UserBrief | None:
    """Return a reference to a user from the columns of an outer join; None if the join matched no user."""
    if user_id is None:
        return None
    return user_brief(Person(user_id, username or "", name or "", state or "", avatar_id, avatar_file, bool(bot)), base)


def user_briefs_by_ids(db: Connection, user_ids: Iterable[int | None], base: str) -> dict[int, UserBrief]:
    """Return references to the users with these ids, by id; one statement."""
    return {person.id: user_brief(person, base) for person in persons_by_ids(db, user_ids)}


def names_by_ids(db: Connection, user_ids: Iterable[int | None]) -> dict[int, str]:
    """Return the names of users by id; one statement for all."""
    return {person.id: person.name for person in persons_by_ids(db, user_ids)}


def user_view(user: User, base: str) -> UserView:
    """Return a user for any caller."""
    return UserView(*_public_fields(user, base))


def user_view_by_name(db: Connection, username: str, base: str) -> UserView | None:
    """Return the user with this username for any caller; the placeholder has no page."""
    user = user_by_username_or_none(db, username)
    return user_view(user, base) if user is not None and not user.placeholder else None


def profile_or_none(db: Connection, actor: Actor, user_id: int) -> UserDetails | None:
    """Return the details of a user; None if their profile is private for the caller."""
    user = find_user(db, user_id)
    return user_details(user.details_document) if may_see_profile(actor, user) else None


def user_avatar_id(db: Connection, user_id: str) -> int | None:
    """Return the id of a user's avatar; raise NotFound for an unknown user."""
    return find_user(db, user_id).avatar_id


def placeholder_username(db: Connection) -> str:
    """Return the username of the placeholder, which inherits the contributions of deleted users."""
    return placeholder_user(db).username


def own_user_view(db: Connection, user: User, base: str) -> OwnUserView:
    """Return the caller's own account."""
    return OwnUserView(*_public_fields(user, base), *_private_fields(db, user, identities_by_user(db, [user.id])))


def admin_user_views(db: Connection, users: Sequence[User], base: str) -> list[AdminUserView]:
    """Return users for administrators; one statement reads all identities."""
    user_ids = [user.id for user in users]
    identities = identities_by_user(db, user_ids)
    namespaces = db.ports[UserNamespaces].ids_of_users(db, user_ids)
    return [
        AdminUserView(
            *(
                *_public_fields(user, base),
                *_private_fields(db, user, identities),
                *shown_user_details(user.details_document),
                user.admin,
                is_locked(db, user),
                namespaces.get(user.id),
            )
        )
        for user in users
    ]


def admin_user_view(db: Connection, user: User, base: str) -> AdminUserView:
    """Return a user for administrators."""
    return admin_user_views(db, [user], base)[0]


def user_list_views(
    db: Connection, actor: Actor, users: list[User], base: str, *, with_attributes: bool = False
) -> Sequence[UserReference]:
    """Return users with the fields that the caller may see."""
    if not actor.admin:
        return [user_brief(user, base) for user in users]
    views = admin_user_views(db, users, base)
    if with_attributes:
        _add_attributes(db, views)
    return views


def single_user_view(
    db: Connection, actor: Actor, user: User, base: str, *, with_attributes: bool = False
) -> UserReference:
    """Return a user with the fields that the caller may see."""
    if not actor.admin:
        return user_view(user, base) if may_see_profile(actor, user) else user_brief(user, base)
    view = admin_user_view(db, user, base)
    if with_attributes:
        _add_attributes(db, [view])
    return view


def _add_attributes(db: Connection, views: list[AdminUserView]) -> None:
    attributes = custom_attributes_by_user(db, [view.id for view in views])
    for view in views:
        view.custom_attributes = [CustomAttributeView(*pair) for pair in attributes.get(view.id, ())]


def _public_fields(user: User, base: str) -> tuple[Any, ...]:
    details = user_details(user.details_document)
    work_information = " at ".join(filter(None, (details.job_title, user.organization))) or None
    return (
        user.id,
        user.username,
        user.name,
        user.state,
        avatar_url(user, base),
        web_url(user, base),
        user.created_at,
        user.bio,
        user.location,
        user.skype,
        user.linkedin,
        user.twitter,
        user.website_url,
        user.organization,
        user.public_email,
        user.bot,
        work_information,
        details.job_title,
        details.pronouns,
        details.discord,
    )


def _private_fields(db: Connection, user: User, identities: dict[int, list[Identity]]) -> tuple[Any, ...]:
    return (
        user.email,
        commit_address(db, user),
        user.last_sign_in_at,
        user.current_sign_in_at,
        user.confirmed_at,
        user.last_activity_on,
        user.color_scheme_id,
        user.projects_limit,
        [IdentityView(each.provider, each.extern_uid) for each in identities.get(user.id, ())],
        user.can_create_group,
        user.projects_limit > 0 and not user.external,
        user.two_factor_enabled,
        user.external,
    )


def status_view(status: UserStatus | None) -> StatusView:
    """Return a status; an empty one for None."""
    if status is None:
        return StatusView("speech_balloon", "", "not_set", "", None)
    escaped = status.message.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return StatusView(status.emoji, status.message, status.availability, escaped, status.clear_at)


def custom_attribute_view(attribute: UserCustomAttribute) -> CustomAttributeView:
    """Return the key and value of a custom attribute."""
    return CustomAttributeView(attribute.key, attribute.value)


def identities_of_user(db: Connection, user_id: int) -> list[Identity]:
    """Return the identities by which a user signs in elsewhere."""
    return identities_by_user(db, [user_id]).get(user_id, [])


def status_or_none(db: Connection, user: User) -> UserStatus | None:
    """Return a user's status, unless it has expired."""
    return user_status_or_none(db, user)


def status_of_user(db: Connection, user_id: int) -> UserStatus | None:
    """Return the status of a user whose profile the caller may see, unless it has expired."""
    return user_status_or_none(db, find_user(db, user_id))


def current_user(db: Connection, actor: Actor) -> User:
    """Return the caller's own record as it is within this transaction."""
    return find_user(db, actor.user_id)
