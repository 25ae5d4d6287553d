"""Request parameters of jobs that start pipelines."""

from ingot.core.api.params import Params
from ingot.pipelines.tables import Status


class ListBridges(Params):
    """Filter of jobs that start other pipelines; ``scope`` contains statuses."""

    scope: list[Status] | None = None
