"""Endpoints of users."""

from collections.abc import Callable
from typing import TypeVar

from msgspec import UNSET

from ingot.accounts.instance.settings import current_settings
from ingot.accounts.users import approvals, custom_attributes, locks, policy, queries, service, statuses
from ingot.accounts.users.params import (
    ChangeStatus,
    CreateUser,
    DeleteUser,
    GetAvatar,
    GetUser,
    ListActivities,
    ListUsers,
    ModifyUser,
    SetAvatar,
    SetCustomAttribute,
    SetStatus,
)
from ingot.accounts.users.tables import User
from ingot.accounts.users.views import (
    ActivityView,
    AdminUserView,
    ApprovalView,
    AvatarView,
    CustomAttributeView,
    StatusView,
    UserBrief,
    UserReference,
    UserView,
    admin_user_view,
    avatar_url,
    custom_attribute_view,
    single_user_view,
    status_view,
    user_brief,
    user_list_views,
)
from ingot.core.access.levels import NO_ACCESS, Access
from ingot.core.access.passwords import MAX_LENGTH, hash_password
from ingot.core.access.rules import administrators, require, signed_in
from ingot.core.access.scopes import READ_USER_SCOPES
from ingot.core.api.params import MissingParameter, number_or_none, path_number
from ingot.core.api.routes import Call, Finder, PartialLock, PrepareContext, Routes
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.db.times import add_duration, day_of
from ingot.core.errors import NotFound, Unchanged
from ingot.core.names import NAMESPACES

routes = Routes("users")
T = TypeVar("T")


def user_in_path(call: Call) -> tuple[Access, User]:
    """Return the user with the id in the path."""
    return NO_ACCESS, queries.find_user(call.db, call.path.get("id") or call.path["user_id"])


def user_id_in_path(call: Call) -> tuple[Access, int]:
    """Return the id of the existing user in the path."""
    access, user = user_in_path(call)
    return access, user.id


def caller_id(call: Call) -> tuple[Access, int]:
    """Return the caller's id, for endpoints that act on the caller's own objects."""
    return NO_ACCESS, call.actor.user_id


def owned_item_finder(
    owner: Finder, name: str, find: Callable[[Connection, int, int], T]
) -> Callable[[Call], tuple[Access, T]]:
    """Return a finder of a user's object by the id in the path parameter ``name``."""

    def find_owned_item(call: Call) -> tuple[Access, T]:
        item_id = path_number(call.path, name)
        access, user_id = owner(call)
        return access, find(call.db, user_id, item_id)

    return find_owned_item


def user_by_id_or_username_in_path(call: Call) -> tuple[Access, User]:
    """Return the user with the id or username in the path."""
    name = call.path["id"]
    user = queries.user_by_username_or_none(call.db, name) if not name.isdigit() else None
    return NO_ACCESS, user or queries.find_user(call.db, name)


def _hash_password(_context: PrepareContext, params: CreateUser | ModifyUser) -> str | None:
    """Hash the password before the transaction begins. An invalid one is refused later, with all other reasons."""
    if params.password is UNSET or len(params.password) > MAX_LENGTH:
        return None
    return hash_password(params.password)


@routes.get("/users", may=signed_in, returns=list[AdminUserView | UserBrief], scopes=READ_USER_SCOPES, cached=True)
def list_users(call: Call, params: ListUsers, page: Page) -> Listing[UserReference]:
    """List users; administrators see all fields."""
    if (params.extern_uid is None) != (params.provider is None):
        raise MissingParameter("extern_uid" if params.extern_uid is None else "provider")
    if not call.actor.admin:
        require(not params.external and params.extern_uid is None)
        hidden = "public" in current_settings(call.db).restricted_visibility_levels
        require(not hidden, "Not authorized to access /api/v4/users")
    listing = queries.list_users(call.db, call.actor, params, page)
    views = user_list_views(
        call.db, call.actor, listing.items, call.origin.base, with_attributes=params.with_custom_attributes
    )
    return listing.of(list(views))


@routes.get("/avatar", may=signed_in, returns=AvatarView)
def get_avatar_by_email(call: Call, params: GetAvatar) -> AvatarView:
    """Get the avatar of the user with a public email address; null if no user has it."""
    found = queries.list_users(call.db, call.actor, ListUsers(public_email=params.email), Page(size=1)).items
    return AvatarView(avatar_url(found[0], call.origin.base) if found and params.email else None)


@routes.get(
    "/users/:id",
    on=user_in_path,
    may=policy.may_see_user,
    returns=AdminUserView | UserView | UserBrief,
    scopes=READ_USER_SCOPES,
    cached=True,
)
def get_user(call: Call, user: User, params: GetUser) -> UserReference:
    """Get one user; a private profile shows only the name and the picture."""
    with_attributes = params.with_custom_attributes
    return single_user_view(call.db, call.actor, user, call.origin.base, with_attributes=with_attributes)


def _names_of_new_user(call: Call, params: CreateUser) -> list[str]:  # noqa: ARG001 - They follow from the parameters.
    return [params.username.lower(), f"address {params.email.lower()}"]


_NEW_USER_LOCK = PartialLock(NAMESPACES, _names_of_new_user, lambda params: params.extern_uid is not UNSET)


def _require_sign_in_grant(call: Call, params: CreateUser | ModifyUser, user: User | None = None) -> None:
    """Raise Denied if a token that cannot issue others would change how a user signs in or make an administrator."""
    grants = params.password is not UNSET or params.admin is True
    if user is not None:
        # A new address receives the link that sets a password, and a new identity signs in.
        grants |= params.email not in (UNSET, user.email) or (params.provider, params.extern_uid) != (UNSET, UNSET)
    if grants:
        require(
            policy.may_grant_sign_in(call.actor),
            "OAuth and impersonation tokens cannot change how users sign in or make users administrators",
        )


@routes.post("/users", may=administrators, returns=AdminUserView, prepare=_hash_password, locks=_NEW_USER_LOCK)
def create_user(call: Call, params: CreateUser, password_hash: str | None) -> AdminUserView:
    """Create a user."""
    if params.password is UNSET and not (params.reset_password or params.force_random_password):
        raise MissingParameter("password")
    _require_sign_in_grant(call, params)
    user = service.create_user(call.db, params, password_hash, vouched_for=True)
    return admin_user_view(call.db, user, call.origin.base)


@routes.put(
    "/users/:id",
    on=user_in_path,
    may=administrators,
    returns=AdminUserView,
    prepare=_hash_password,
    conflict=404,  # The specification answers 404 here for a taken email address or username.
    locks=NAMESPACES,
)
def modify_user(call: Call, user: User, params: ModifyUser, password_hash: str | None) -> AdminUserView:
    """Modify a user."""
    require(policy.may_modify_user(call.actor, NO_ACCESS, user))
    _require_sign_in_grant(call, params, user)
    changed = service.modify_user(call.db, call.actor, user, params, password_hash)
    return admin_user_view(call.db, changed, call.origin.base)


@routes.delete("/users/:id", may=administrators, returns=AdminUserView, locks=NAMESPACES)
def delete_user(call: Call, params: DeleteUser) -> AdminUserView | None:
    """Delete a user; with hard_delete also their contributions."""
    if number_or_none(call.path["id"]) is None:
        raise NotFound("User")
    user = queries.user_or_none(call.db, call.path["id"])
    if user is None:
        return None
    deleted = admin_user_view(call.db, user, call.origin.base)
    service.delete_user(call.db, user, hard=params.hard_delete)
    return deleted


@routes.post("/users/:id/block", on=user_in_path, may=administrators, returns=bool | None, locks=NAMESPACES)
def block_user(call: Call, user: User) -> bool | None:
    """Block a user; true if the state changed."""
    return service.block_user(call.db, call.actor, user) or None


@routes.post("/users/:id/unblock", on=user_in_path, may=administrators, returns=bool)
def unblock_user(call: Call, user: User) -> bool:
    """Unblock a user; true if the state changed."""
    return service.unblock_user(call.db, user)


@routes.post("/users/:id/approve", on=user_in_path, may=administrators, returns=ApprovalView)
def approve_user(call: Call, user: User) -> ApprovalView:
    """Approve a user who signed up and waits for it."""
    approvals.approve_user(call.db, user)
    return ApprovalView("Success")


@routes.post(
    "/users/:id/reject", on=user_in_path, may=administrators, returns=ApprovalView, status=200, locks=NAMESPACES
)
def reject_user(call: Call, user: User) -> ApprovalView:
    """Reject a user who waits for approval: delete the account."""
    approvals.reject_user(call.db, user)
    return ApprovalView("Success")


@routes.post("/users/:id/unlock", on=user_in_path, may=administrators, returns=bool)
def unlock_user(call: Call, user: User) -> bool:
    """Unlock a user whose password is refused after too many failed sign-ins; true if the user was locked."""
    return locks.unlock_user(call.db, user)


@routes.post("/users/:id/ban", on=user_in_path, may=administrators, returns=bool | None, locks=NAMESPACES)
def ban_user(call: Call, user: User) -> bool | None:
    """Ban a user; true if the state changed."""
    return service.block_user(call.db, call.actor, user, "banned") or None


@routes.post("/users/:id/unban", on=user_in_path, may=administrators, returns=bool)
def unban_user(call: Call, user: User) -> bool:
    """Lift a user's ban; true if the state changed."""
    return service.unblock_user(call.db, user)


@routes.post("/users/:id/deactivate", on=user_in_path, may=administrators, returns=bool | None, locks=NAMESPACES)
def deactivate_user(call: Call, user: User) -> bool | None:
    """Deactivate a user until they are activated again."""
    return service.block_user(call.db, call.actor, user, "deactivated") or None


@routes.post("/users/:id/activate", on=user_in_path, may=administrators, returns=bool)
def activate_user(call: Call, user: User) -> bool:
    """Activate a deactivated user."""
    require(user.state in ("active", "deactivated"), "A blocked user must be unblocked to be activated")
    return service.unblock_user(call.db, user)


@routes.get("/user/activities", may=administrators, returns=list[ActivityView], scopes=READ_USER_SCOPES)
def list_activities(call: Call, params: ListActivities, page: Page) -> Listing[ActivityView]:
    """List the users' last activity dates, the oldest first."""
    since = params.from_ or day_of(add_duration(call.db.now, days=-183))
    listing = queries.list_activities(call.db, since, page)
    return listing.of(
        [
            ActivityView(user.username, user.last_activity_on, user.last_activity_on)
            for user in listing.items
            if user.last_activity_on is not None
        ]
    )


@routes.get(
    "/users/:id/status",
    on=user_by_id_or_username_in_path,
    may=policy.may_see_user,
    returns=StatusView,
    scopes=READ_USER_SCOPES,
)
def get_status(call: Call, user: User) -> StatusView:
    """Get the status of a user."""
    return status_view(queries.user_status_or_none(call.db, user))


@routes.get("/user/status", may=signed_in, returns=StatusView, scopes=READ_USER_SCOPES)
def get_own_status(call: Call) -> StatusView:
    """Get the caller's status."""
    return status_view(queries.user_status_or_none(call.db, queries.find_user(call.db, call.actor.user_id)))


@routes.put("/user/status", may=signed_in, returns=StatusView)
def set_status(call: Call, params: SetStatus) -> StatusView:
    """Set the caller's status."""
    return status_view(statuses.set_status(call.db, queries.find_user(call.db, call.actor.user_id), params))


@routes.patch("/user/status", may=signed_in, returns=StatusView)
def change_status(call: Call, params: ChangeStatus) -> StatusView:
    """Change parts of the caller's status; omitted fields stay."""
    user = queries.find_user(call.db, call.actor.user_id)
    return status_view(statuses.change_status(call.db, user, params))


@routes.put("/user/avatar", may=signed_in, returns=AvatarView)
def set_own_avatar(call: Call, params: SetAvatar) -> AvatarView:
    """Set or remove the caller's avatar."""
    user = service.set_avatar(call.db, queries.find_user(call.db, call.actor.user_id), params.avatar)
    return AvatarView(avatar_url(user, call.origin.base))


@routes.post("/users/:id/follow", on=user_in_path, may=policy.may_follow_user, returns=UserBrief)
def follow_user(call: Call, user: User) -> UserBrief:
    """Follow a user; 304 if the caller already follows them."""
    if not service.follow_user(call.db, call.actor, user):
        raise Unchanged
    return user_brief(user, call.origin.base)


@routes.post("/users/:id/unfollow", on=user_in_path, may=policy.may_follow_user, returns=UserBrief)
def unfollow_user(call: Call, user: User) -> UserBrief:
    """Stop following a user; 304 if the caller does not follow them."""
    if not service.unfollow_user(call.db, call.actor, user):
        raise Unchanged
    return user_brief(user, call.origin.base)


@routes.get(
    "/users/:id/followers",
    on=user_in_path,
    may=policy.may_see_followers,
    returns=list[UserBrief],
    scopes=READ_USER_SCOPES,
    denied=404,  # As in GitLab.
)
def list_followers(call: Call, user: User, page: Page) -> Listing[UserBrief]:
    """List the followers of a user."""
    listing = queries.list_followers(call.db, user, page)
    return listing.of([user_brief(each, call.origin.base) for each in listing.items])


@routes.get(
    "/users/:id/following",
    on=user_in_path,
    may=policy.may_see_followers,
    returns=list[UserBrief],
    scopes=READ_USER_SCOPES,
    denied=404,  # As in GitLab.
)
def list_followed(call: Call, user: User, page: Page) -> Listing[UserBrief]:
    """List the users that a user follows."""
    listing = queries.list_followed(call.db, user, page)
    return listing.of([user_brief(each, call.origin.base) for each in listing.items])


@routes.delete("/users/:id/identities/:provider", on=user_in_path, may=administrators, returns=None)
def delete_identity(call: Call, user: User) -> None:
    """Delete a user's identity at a provider."""
    service.delete_identity(call.db, user, call.path["provider"])


@routes.get("/users/:id/custom_attributes", on=user_in_path, may=administrators, returns=list[CustomAttributeView])
def list_custom_attributes(call: Call, user: User, page: Page) -> Listing[CustomAttributeView]:
    """List the custom attributes of a user."""
    listing = queries.list_custom_attributes(call.db, user, page)
    return listing.of([custom_attribute_view(each) for each in listing.items])


@routes.get("/users/:id/custom_attributes/:key", on=user_in_path, may=administrators, returns=CustomAttributeView)
def get_custom_attribute(call: Call, user: User) -> CustomAttributeView:
    """Get a custom attribute of a user."""
    return custom_attribute_view(queries.find_custom_attribute(call.db, user, call.path["key"]))


@routes.put("/users/:id/custom_attributes/:key", on=user_in_path, may=administrators, returns=CustomAttributeView)
def set_custom_attribute(call: Call, user: User, params: SetCustomAttribute) -> CustomAttributeView:
    """Set a custom attribute of a user."""
    return custom_attribute_view(custom_attributes.set_custom_attribute(call.db, user, call.path["key"], params.value))


@routes.delete("/users/:id/custom_attributes/:key", on=user_in_path, may=administrators, returns=None)
def delete_custom_attribute(call: Call, user: User) -> None:
    """Delete a custom attribute of a user."""
    custom_attributes.delete_custom_attribute(call.db, user, call.path["key"])
