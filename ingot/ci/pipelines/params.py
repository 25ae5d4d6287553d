"""Request parameters of pipelines."""

from typing import Annotated, Any

from msgspec import Meta

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


class EditPipelineMetadata(Params):
    """A new name of a pipeline."""

    name: Annotated[str, Meta(max_length=255)]


class ListJobsOfPipeline(Params):
    """Filters of a pipeline's jobs; ``scope`` contains statuses."""

    scope: list[Status] | None = None
    include_retried: bool = False
    include_external: Annotated[bool, Meta(description="Also external statuses, in the format of jobs.")] = False
