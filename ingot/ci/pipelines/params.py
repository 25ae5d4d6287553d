"""Request parameters of pipelines."""

from typing import Any

from ingot.ci.pipelines.tables import VariableType
from ingot.core.api.params import Params
from ingot.pipelines.tables import Status


class PipelineVariableParams(Params):
    """A variable for a new pipeline."""

    key: str
    value: str
    variable_type: VariableType = "env_var"


class CreatePipeline(Params):
    """A new pipeline for a branch or tag."""

    ref: str
    variables: list[PipelineVariableParams] | None = None
    inputs: dict[str, Any] | None = None


class ListJobsOfPipeline(Params):
    """Filters of a pipeline's jobs; ``scope`` contains statuses."""

    scope: list[Status] | None = None
    include_retried: bool = False
