"""Runner of the demo: takes the jobs of its pipelines through the protocol of runners, and reports prepared output."""

from ingot.ci.runner_protocol import api as runner_protocol_api
from ingot.ci.runner_protocol.payload import JobPayload
from ingot.ci.runners import api as runners_api
from ingot.core.api.routes import RawResponse
from ingot.core.db.times import to_datetime
from ingot.maintenance.demo.client import DemoClient
from ingot.maintenance.demo.clock import DemoClock
from ingot.maintenance.demo.pipeline_content import FAILING_JOB, FAILURE, OUTPUT
from ingot.maintenance.demo.users import DEMO_USERS

_OWNER = DEMO_USERS[0].username
_INFO = {"name": "ingot-runner", "platform": "linux", "architecture": "amd64"}
_BOLD, _GREEN, _RED, _END = "\x1b[36;1m", "\x1b[32;1m", "\x1b[31;1m", "\x1b[0;m"


class DemoRunner:
    """Executes pending jobs by reporting their prepared output."""

    def __init__(self, client: DemoClient, clock: DemoClock, group_id: int) -> None:
        self._client = client
        self._clock = clock
        sent = {"runner_type": "group_type", "group_id": group_id, "description": "harbour-runner"}
        self._token = client.ask_instance(_OWNER, runners_api.create_runner, sent).token

    def run(self, *, failing: bool = False) -> None:
        """Execute jobs until none is pending; the tests fail if ``failing``."""
        sent = {"token": self._token, "info": _INFO}
        # Contacts of polls are noted by the server that receives them, not by the endpoint.
        self._client.ask_instance(_OWNER, runners_api.verify_runner, sent)
        while not isinstance(
            job := self._client.ask_instance(_OWNER, runner_protocol_api.request_next_job, sent), RawResponse
        ):
            self._execute(job, failed=failing and job.job_info.name == FAILING_JOB)

    def _execute(self, job: JobPayload, *, failed: bool) -> None:
        begin = _seconds(self._clock)
        self._clock.tick(seconds=20 + 7 * (job.id % 6))
        trace = _trace(job, begin, _seconds(self._clock), failed=failed)
        report = {"token": job.token, "state": "failed" if failed else "success", "trace": trace}
        if failed:
            report["failure_reason"] = "script_failure"
        self._client.ask_instance(_OWNER, runner_protocol_api.update_job, report, id=job.id)


def _seconds(clock: DemoClock) -> int:
    return int(to_datetime(clock()).timestamp())


def _trace(job: JobPayload, begin: int, end: int, *, failed: bool) -> str:
    """Return the log of a job, with a section for each step."""
    commands = "".join(f"{_GREEN}$ {line}{_END}\n" for step in job.steps[:1] for line in step.script)
    output = FAILURE if failed else OUTPUT[job.job_info.name]
    source = f"Checking out {job.git_info.sha[:8]} as {job.git_info.ref}...\n"
    result = f"{_RED}ERROR: Job failed: exit code 1{_END}\n" if failed else f"{_GREEN}Job succeeded{_END}\n"
    return (
        f"Running on {_BOLD}harbour-runner{_END}\n"
        + _section("get_sources", "Getting source from Git repository", source, begin, begin + 3)
        + _section("step_script", "Executing the script of the job", commands + output, begin + 3, end)
        + result
    )


def _section(name: str, title: str, text: str, begin: int, end: int) -> str:
    start = f"section_start:{begin}:{name}\r\x1b[0K{_BOLD}{title}{_END}\n"
    return f"{start}{text}section_end:{end}:{name}\r\x1b[0K"
