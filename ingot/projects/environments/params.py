"""Request parameters of environments and deployments."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp
from ingot.projects.environments.tables import Status, Tier


class ListEnvironments(Params):
    """Filters of the list of environments; name and search exclude each other."""

    name: str = ""
    search: str = ""
    states: Literal["available", "stopping", "stopped"] | None = None


class CreateEnvironment(Params):
    """New environment; the slug is derived from the name and must not be given."""

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
    """Whether to skip the job that stops the environment."""

    force: bool = False


class StopStaleEnvironments(Params):
    """Time before which the environments were last changed or deployed to."""

    before: Timestamp


class DeleteReviewApps(Params):
    """Which stopped review apps to delete; unless told otherwise, they are only listed."""

    before: Timestamp | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    dry_run: bool = True


class ListDeployments(Params):
    """Filters and order of the list of deployments."""

    environment: str = ""
    status: Literal["created", "running", "success", "failed", "canceled", "skipped", "blocked"] | None = None
    updated_after: Timestamp | None = None
    updated_before: Timestamp | None = None
    finished_after: Timestamp | None = None
    finished_before: Timestamp | None = None
    order_by: Literal["id", "iid", "created_at", "updated_at", "finished_at", "ref"] = "id"
    sort: Literal["asc", "desc"] = "asc"


class CreateDeployment(Params):
    """New deployment; an unknown environment is created."""

    environment: str
    sha: str
    ref: str
    tag: bool
    status: Status


class EditDeployment(Params):
    """New status of a deployment."""

    status: Status
