"""A server with a runner: the built-in one, or a gitlab-runner whose path is in ``INGOT_TEST_RUNNER``."""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.server.process import Server, environment, until

BINARY = os.environ.get("INGOT_TEST_RUNNER", "")
FIRST_WITH_AUTHENTICATION_TOKENS = 16
FINISHED = ("success", "failed", "canceled", "skipped", "manual")
WAIT_SECONDS = 120.0


class FlowServer:
    """API of a running server, as root."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def call(self, method: str, path: str, expected: int, **fields: Any) -> Any:
        """Call the API and return the body; fail on another status than expected."""
        sent: dict[str, Any] = {"params": fields} if method == "GET" else {"json": fields}
        answer = self.server.call(method, path, **sent)
        assert answer.status_code == expected, f"{method} {path}: {answer.status_code} {answer.text}"
        return (
            answer.json() if answer.headers.get("content-type", "").startswith("application/json") else answer.content
        )

    def project(self, name: str, files: dict[str, str]) -> str:
        """Create a project with files and return its path in the API."""
        project = self.call("POST", "/projects", 201, name=name, default_branch="main")
        url = f"/projects/{project['id']}"
        self.commit(url, files)
        return url

    def commit(self, url: str, files: dict[str, str], branch: str = "main", **fields: str) -> str:
        """Commit files and return the id of the commit."""
        actions = [{"action": "create", "file_path": path, "content": content} for path, content in files.items()]
        sent = {"branch": branch, "commit_message": f"Add {', '.join(files)}", "actions": actions, **fields}
        sha: str = self.call("POST", f"{url}/repository/commits", 201, **sent)["id"]
        return sha

    def newest_pipeline(self, url: str, **filters: str) -> dict[str, Any]:
        """Return the newest pipeline; it exists as soon as the push has been answered."""
        pipeline: dict[str, Any] = self.call("GET", f"{url}/pipelines", 200, **filters)[0]
        return pipeline

    def jobs(self, url: str, pipeline_id: int, **filters: Any) -> dict[str, dict[str, Any]]:
        """Return the jobs of a pipeline by name."""
        jobs = self.call("GET", f"{url}/pipelines/{pipeline_id}/jobs", 200, per_page=100, **filters)
        return {job["name"]: job for job in jobs}

    def trace(self, url: str, job: dict[str, Any]) -> str:
        """Return the log of a job."""
        content = self.server.call("GET", f"{url}/jobs/{job['id']}/trace").text
        return re.sub(r"\x1b\[[0-9;]*[mK]", "", content)

    def wait_for_pipeline(self, url: str, pipeline_id: int, *statuses: str) -> dict[str, Any]:
        """Wait until a pipeline has one of the statuses, or has ended with another one."""

        def look() -> dict[str, Any] | None:
            pipeline: dict[str, Any] = self.call("GET", f"{url}/pipelines/{pipeline_id}", 200)
            return pipeline if pipeline["status"] in (statuses or FINISHED) else None

        return until(f"the end of pipeline {pipeline_id}", look, WAIT_SECONDS)

    def wait_for_job(self, url: str, job_id: int, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until a job meets a condition."""

        def look() -> dict[str, Any] | None:
            job: dict[str, Any] = self.call("GET", f"{url}/jobs/{job_id}", 200)
            return job if condition(job) else None

        return until(f"job {job_id}", look, WAIT_SECONDS)


@contextmanager
def flow_server(folder: Path) -> Iterator[FlowServer]:
    """Start a server and a runner."""
    server = Server(folder / "data")
    try:
        if not BINARY:
            server.start("--runner")
            yield FlowServer(server)
        else:
            server.start()
            with gitlab_runner(FlowServer(server), folder, server.url):
                yield FlowServer(server)
    finally:
        server.kill()


@contextmanager
def gitlab_runner(flow: FlowServer, folder: Path, url: str) -> Iterator[None]:
    """Register and run a gitlab-runner, which reaches the server at a URL."""
    config = folder / "config.toml"
    builds = folder / "builds"
    builds.mkdir()
    version = subprocess.run([BINARY, "--version"], capture_output=True, text=True, check=True).stdout
    major = int(re.search(r"Version:\s+(\d+)", version)[1])  # type: ignore[index]  # It prints its version.
    if major >= FIRST_WITH_AUTHENTICATION_TOKENS:
        made = flow.call("POST", "/user/runners", 201, runner_type="instance_type", run_untagged=True)
        token = ["--token", made["token"]]
    else:
        made = flow.call("POST", "/runners/reset_registration_token", 201)
        token = ["--registration-token", made["token"]]
    command = [BINARY, "register", "--non-interactive", "--config", str(config), "--url", url]
    home = environment(HOME=str(folder))
    registered = subprocess.run(
        [*command, *token, "--executor", "shell", "--name", "flow"],
        env=home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert registered.returncode == 0, registered.stderr
    text = re.sub(r"concurrent = \d+", "concurrent = 4", config.read_text())
    config.write_text(re.sub(r"check_interval = \d+", "check_interval = 1", text))
    with (folder / "runner.log").open("wb") as log:
        process = subprocess.Popen(
            [BINARY, "run", "--config", str(config), "--working-directory", str(builds)],
            env=home,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield
        process.send_signal(signal.SIGQUIT)
        assert process.wait(WAIT_SECONDS) == 0
    finally:
        process.kill()
        process.wait()
