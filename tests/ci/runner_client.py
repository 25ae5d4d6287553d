"""Client of the protocol of runners, as gitlab-runner speaks it, for tests that execute whole pipelines."""

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.client import Api, Make

INFO = {
    "name": "gitlab-runner",
    "version": "17.9.3",
    "revision": "abc",
    "platform": "linux",
    "architecture": "amd64",
    "executor": "shell",
    "features": {"cancel_gracefully": True, "refspecs": True, "return_exit_code": True},
}
OLD_INFO = {"name": "gitlab-runner", "version": "13.12.0", "features": {"variables": True}}


@dataclass
class RunnerJob:
    """A job that a runner executes."""

    api: Api
    payload: dict[str, Any]
    sent: bytes = b""

    @property
    def id(self) -> int:
        """Return the id of the job."""
        job_id: int = self.payload["id"]
        return job_id

    @property
    def token(self) -> str:
        """Return the token of the job."""
        token: str = self.payload["token"]
        return token

    @property
    def name(self) -> str:
        """Return the name of the job."""
        name: str = self.payload["job_info"]["name"]
        return name

    @property
    def variables(self) -> dict[str, str]:
        """Return the variables of the job; of two with the same key, the later one."""
        return {variable["key"]: variable["value"] for variable in self.payload["variables"]}

    def trace(self, part: bytes, offset: int | None = None, token: str | None = None) -> httpx.Response:
        """Send output, by default after the output sent before."""
        start = len(self.sent) if offset is None else offset
        headers = {
            "JOB-TOKEN": self.token if token is None else token,
            "Content-Type": "text/plain",
            "Content-Range": f"{start}-{start + len(part) - 1}",
        }
        answer = self.api.request("PATCH", f"/jobs/{self.id}/trace?debug_trace=false", content=part, headers=headers)
        if answer.status_code == 202:
            self.sent = self.sent[:start] + part
        return answer

    def update(self, state: str, token: str | None = None, **fields: Any) -> httpx.Response:
        """Report the state of the job."""
        sent = {"token": self.token if token is None else token, "state": state, "info": INFO, **fields}
        return self.api.request("PUT", f"/jobs/{self.id}", json=sent, headers={"JOB-TOKEN": self.token})

    def finish(self, state: str = "success", **fields: Any) -> httpx.Response:
        """Report the end of the job with the checksum of its output."""
        checksum = f"crc32:{zlib.crc32(self.sent):08x}"
        output = {"checksum": checksum, "bytesize": len(self.sent)}
        return self.update(state, checksum=checksum, output=output, **fields)

    def upload(self, files: Mapping[str, bytes], **query: str) -> httpx.Response:
        """Upload an archive of files."""
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            for name, content in files.items():
                file.writestr(name, content)
        parameters = {"artifact_type": "archive", "artifact_format": "zip", **query}
        return self.api.request(
            "POST",
            f"/jobs/{self.id}/artifacts",
            params=parameters,
            files={"file": ("artifacts.zip", archive.getvalue(), "application/octet-stream")},
            headers={"JOB-TOKEN": self.token},
        )


@dataclass
class RunnerClient:
    """A runner."""

    api: Api
    id: int
    token: str
    info: dict[str, Any] = field(default_factory=lambda: dict(INFO))
    last_update: str | None = None

    def poll(self, **fields: Any) -> httpx.Response:
        """Ask for a job once; a new runner sends its token as a header too."""
        sent = {"token": self.token, "info": self.info, "system_id": "s_1", **fields}
        if self.last_update is not None:
            sent.setdefault("last_update", self.last_update)
        return self.api.request("POST", "/jobs/request", json=sent, headers={"PRIVATE-TOKEN": self.token})

    def take(self) -> RunnerJob | None:
        """Ask for a job and return it, if there is one."""
        answer = self.poll()
        assert answer.status_code in (201, 204), answer.text
        return RunnerJob(self.api, answer.json()) if answer.status_code == 201 else None

    def must_take(self) -> RunnerJob:
        """Ask for a job, which must exist."""
        job = self.take()
        assert job is not None
        return job

    def run_all(self, execute: Callable[[RunnerJob], None] | None = None) -> list[str]:
        """Execute jobs until there are none; return their names in order. By default each job succeeds."""
        names = []
        while (job := self.take()) is not None:
            names.append(job.name)
            if execute is not None:
                execute(job)
            else:
                assert job.trace(f"running {job.name}\n".encode()).status_code == 202
                assert job.finish().status_code == 200
        return names


def make_runner(make: Make, **attributes: Any) -> RunnerClient:
    """Create a runner, by default one of the instance."""
    answer = make.api.post("/user/runners", make.root, **{"runner_type": "instance_type", **attributes})
    assert answer.status_code == 201, answer.text
    return RunnerClient(make.api, answer.json()["id"], answer.json()["token"])


def project_runner(make: Make, project_id: int, **attributes: Any) -> RunnerClient:
    """Create a runner of a project."""
    return make_runner(make, runner_type="project_type", project_id=project_id, **attributes)
