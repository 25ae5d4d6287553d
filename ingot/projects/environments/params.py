"""What callers may send about environments and deployments."""

from typing import Literal

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp
from ingot.projects.environments.tables import Status, Tier


class ListEnvironments(Params):
    """Filters of the list; a name or a search, not both."""

    name: str = ""
    search: str = ""
    states: Literal["available", "stopping", "stopped"] | None = None


class CreateEnvironment(Params):
    """A new environment; its slug follows from its name."""

    name: str
    external_url: str | None = None
    tier: Tier | None = None
    slug: str | UnsetType = UNSET


class EditEnvironment(Params):
    """Changes of an environment."""

    name: str | UnsetType = UNSET
    external_url: str | UnsetType | None = UNSET
    tier: Tier | UnsetType = UNSET
    slug: str | UnsetType = UNSET


class StopEnvironment(Params):
    """Whether to do so without the job that stops it; there are no jobs yet."""

    force: bool = False


class ListDeployments(Params):
    """Filters and order of the list."""

    environment: str = ""
    status: Literal["created", "running", "success", "failed", "canceled", "skipped", "blocked"] | None = None
    updated_after: Timestamp | None = None
    updated_before: Timestamp | None = None
    finished_after: Timestamp | None = None
    finished_before: Timestamp | None = None
    order_by: Literal["id", "iid", "created_at", "updated_at", "finished_at", "ref"] = "id"
    sort: Literal["asc", "desc"] = "asc"


class CreateDeployment(Params):
    """What was deployed where; the environment is made where there is none of this name."""

    environment: str
    sha: str
    ref: str
    tag: bool
    status: Status


class EditDeployment(Params):
    """How a deployment went."""

    status: Status
