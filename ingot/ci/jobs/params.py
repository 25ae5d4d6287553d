"""Request parameters of jobs."""

from msgspec import UNSET, UnsetType

from ingot.ci.job_records.tables import ProcessMode
from ingot.core.api.params import Params
from ingot.pipelines.tables import Status


class ListJobs(Params):
    """Filter of a project's jobs by status."""

    scope: list[Status] | None = None


class ManualVariable(Params):
    """A variable for a job that is started by hand."""

    key: str
    value: str


class PlayJob(Params):
    """Variables for the started job."""

    job_variables_attributes: list[ManualVariable] | None = None


class EditResourceGroup(Params):
    """Changes of a resource group."""

    process_mode: ProcessMode | UnsetType = UNSET
