"""Request parameters of the protocol of runners."""

from typing import Annotated, Literal

from msgspec import Meta

from ingot.ci.runners.params import RunnerInfo, SystemId, Token
from ingot.core.api.params import Params, RawText
from ingot.pipelines.tables import Status

MAX_BYTESIZE = 2**40


class RequestJob(Params):
    """A runner that asks for a job."""

    token: Token
    last_update: Annotated[str, Meta(max_length=64)] | None = None
    system_id: SystemId | None = None
    info: RunnerInfo | None = None


class AppendTrace(Params):
    """The token of the job whose trace is appended to; the part and its offset are the body and a header."""

    token: Token | None = None
    debug_trace: bool | None = None


class TraceSummary(Params):
    """Size and checksum of a trace as the runner has sent it."""

    checksum: str | None = None
    bytesize: Annotated[int, Meta(ge=0, le=MAX_BYTESIZE)] | None = None


class UpdateJob(Params):
    """The state of a job that a runner executes."""

    token: Token | None = None
    state: Literal["pending", "running", "success", "failed", "canceling", "canceled"] | None = None
    failure_reason: str | None = None
    exit_code: Annotated[int, Meta(ge=-(2**31), le=2**31)] | None = None
    checksum: str | None = None
    output: TraceSummary | None = None
    trace: RawText | None = None


class ListRunnerJobs(Params):
    """Filters and order of the jobs of a runner."""

    status: Status | None = None
    order_by: Literal["id"] = "id"
    sort: Literal["asc", "desc"] = "desc"
