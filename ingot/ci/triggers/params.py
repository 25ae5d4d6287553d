"""Request parameters of pipeline triggers."""

from typing import Any

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params


class CreateTrigger(Params):
    """A new trigger."""

    description: str


class TriggerPipeline(Params):
    """Start of a pipeline with the token of a trigger or of a running job."""

    token: str
    ref: str
    variables: dict[str, str] | None = None
    inputs: dict[str, Any] | None = None


class TriggerPipelineOfRef(Params):
    """Start of a pipeline whose branch or tag is part of the path."""

    token: str
    variables: dict[str, str] | None = None
    inputs: dict[str, Any] | None = None


class EditTrigger(Params):
    """Changes of a trigger."""

    description: str | UnsetType = UNSET
