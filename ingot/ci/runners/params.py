"""Request parameters of runners."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from ingot.ci.runners.tables import RunnerAccessLevel, RunnerType
from ingot.core.api.params import Params

RunnerStatus = Literal["online", "offline", "stale", "never_contacted", "active", "paused"]
RunnerScope = Literal[
    "online",
    "offline",
    "stale",
    "never_contacted",
    "active",
    "paused",
    "specific",
    "shared",
    "instance_type",
    "group_type",
    "project_type",
]
Token = Annotated[str, Meta(max_length=1024)]
SystemId = Annotated[str, Meta(max_length=64)]
Description = Annotated[str, Meta(max_length=1024)]


class _Filters(Params):
    type: RunnerType | None = None
    status: RunnerStatus | None = None
    paused: bool | None = None
    tag_list: list[str] | None = None
    version_prefix: str | None = None


class ListOwnRunners(_Filters):
    """Filters of the runners available to the caller."""

    scope: RunnerStatus | None = None


class ListRunners(_Filters):
    """Filters of the runners of the instance, a project or a group."""

    scope: RunnerScope | None = None


class RunnerFeatures(Params):
    """Features of a runner that change the responses of the server."""

    cancel_gracefully: bool = False
    vault_secrets: bool = False


class RunnerInfo(Params):
    """Description of the machine and program of a runner."""

    name: str | None = None
    version: str | None = None
    revision: str | None = None
    platform: str | None = None
    architecture: str | None = None
    features: RunnerFeatures | None = None


class RegisterRunner(Params):
    """A new runner, with a registration token."""

    token: Token
    description: Description = ""
    maintenance_note: Description | None = None
    maintainer_note: Description | None = None
    info: RunnerInfo | None = None
    active: bool | None = None
    paused: bool | None = None
    locked: bool = False
    run_untagged: bool | None = None
    access_level: RunnerAccessLevel = "not_protected"
    maximum_timeout: int | None = None
    tag_list: list[str] | None = None


class VerifyRunner(Params):
    """The token of a runner."""

    token: Token
    system_id: SystemId | None = None
    info: RunnerInfo | None = None


class UnregisterRunner(Params):
    """The token of a runner to be deleted."""

    token: Token


class UnregisterManager(Params):
    """A machine to be removed from a runner."""

    token: Token
    system_id: SystemId


class CreateRunner(Params):
    """A new runner, created by a user."""

    runner_type: RunnerType
    group_id: int | None = None
    project_id: int | None = None
    description: Description = ""
    maintenance_note: Description | None = None
    paused: bool = False
    locked: bool = False
    run_untagged: bool | None = None
    access_level: RunnerAccessLevel = "not_protected"
    maximum_timeout: int | None = None
    tag_list: list[str] | None = None


class EditRunner(Params):
    """Changes of a runner."""

    refuses_unknown = True

    description: Description | UnsetType = UNSET
    maintenance_note: Description | UnsetType | None = UNSET
    active: bool | UnsetType = UNSET
    paused: bool | UnsetType = UNSET
    locked: bool | UnsetType = UNSET
    run_untagged: bool | UnsetType = UNSET
    access_level: RunnerAccessLevel | UnsetType = UNSET
    maximum_timeout: int | UnsetType | None = UNSET
    tag_list: list[str] | UnsetType = UNSET


class AssignRunner(Params):
    """A runner to be made available to a project."""

    runner_id: int
