"""Request parameters of the user endpoints."""

from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import UNSET, UnsetType

from ingot.accounts.users.details import COMPUTED_DETAILS, UserDetails
from ingot.core.api.declared_fields import params_of
from ingot.core.api.params import Params, Upload
from ingot.core.db.times import Date, Timestamp


class ListUsers(Params):
    """Filters and order of the list; a flag that is false does not filter."""

    active: bool = False
    blocked: bool = False
    blocked_pending_approval: bool = False
    external: bool = False
    humans: bool = False
    admins: bool = False
    two_factor: Literal["enabled", "disabled"] | None = None
    custom_attributes: dict[str, str] | None = None
    with_custom_attributes: bool = False
    exclude_internal: bool = False
    exclude_external: bool = False
    search: str = ""
    username: str | None = None
    extern_uid: str | None = None
    provider: str | None = None
    public_email: str | None = None
    created_before: Timestamp | None = None
    created_after: Timestamp | None = None
    order_by: Literal["id", "name", "username", "created_at", "updated_at"] = "id"
    sort: Literal["asc", "desc"] = "desc"


class GetAvatar(Params):
    """Public email address of a user; images have one size, so ``size`` has no effect."""

    email: str
    size: int | None = None


class GetUser(Params):
    """Options of a single user; custom attributes are shown to administrators only."""

    with_custom_attributes: bool = False


if TYPE_CHECKING:  # The fields are declared once, and created at run time.
    _Details = Params
else:
    _Details = params_of(UserDetails, without=COMPUTED_DETAILS)


class _Profile(_Details):
    """Fields of a user that can be both set at creation and modified."""

    skype: str | UnsetType | None = UNSET
    linkedin: str | UnsetType | None = UNSET
    twitter: str | UnsetType | None = UNSET
    website_url: str | UnsetType | None = UNSET
    organization: str | UnsetType | None = UNSET
    bio: str | UnsetType | None = UNSET
    location: str | UnsetType | None = UNSET
    public_email: str | UnsetType | None = UNSET
    projects_limit: int | UnsetType = UNSET
    color_scheme_id: int | UnsetType = UNSET
    extern_uid: str | UnsetType = UNSET
    provider: str | UnsetType = UNSET
    admin: bool | UnsetType = UNSET
    can_create_group: bool | UnsetType = UNSET
    external: bool | UnsetType = UNSET
    avatar: Upload | UnsetType | None = UNSET
    commit_email: str | UnsetType | None = UNSET


class SetAvatar(Params):
    """The caller's avatar; nothing removes it."""

    avatar: Upload | None = None


class CreateUser(_Profile, kw_only=True):
    """A new user."""

    names_unknown: ClassVar[bool] = True

    email: str
    username: str
    name: str
    password: str | UnsetType = UNSET
    reset_password: bool = False
    force_random_password: bool = False
    confirm: bool = True
    skip_confirmation: bool | UnsetType = UNSET


class ModifyUser(_Profile, kw_only=True):
    """Changes to a user."""

    names_unknown: ClassVar[bool] = True
    email: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    username: str | UnsetType = UNSET
    password: str | UnsetType = UNSET


class DeleteUser(Params):
    """Options of a deletion."""

    hard_delete: bool = False


class ListActivities(Params, rename={"from_": "from"}):
    """Start of the period; six months ago by default."""

    from_: Date | None = None


class SetStatus(Params):
    """A complete status of the caller."""

    emoji: str = "speech_balloon"
    message: str = ""
    availability: Literal["not_set", "busy"] = "not_set"
    clear_status_after: (
        Literal["30_minutes", "3_hours", "8_hours", "1_day", "3_days", "7_days", "30_days"] | UnsetType | None
    ) = UNSET


class ChangeStatus(Params):
    """Changes to the caller's status."""

    emoji: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    availability: Literal["not_set", "busy"] | UnsetType = UNSET
    clear_status_after: (
        Literal["30_minutes", "3_hours", "8_hours", "1_day", "3_days", "7_days", "30_days"] | UnsetType | None
    ) = UNSET


class SetCustomAttribute(Params):
    """Value of a custom attribute."""

    value: str
