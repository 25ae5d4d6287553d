"""Projects that publish a site, and requests to it, for tests of sites."""

from dataclasses import dataclass
from typing import Any

import httpx

from tests.ci.artifacts.files import upload, zip_of
from tests.ci.pipelines.files import commit_files
from tests.ci.runner_client import RunnerJob, project_runner
from tests.client import Make
from tests.conftest import Instance
from tests.factories import Project, make_project

HOST = "pages.test"
CONFIG = "pages:\n  script: build\n  artifacts: {paths: [public]}\n"
FILES = {"public/index.html": b"<h1>Home</h1>", "public/docs/index.html": b"docs", "secret.txt": b"not a page"}


@dataclass
class SiteProject:
    """A project with a runner, whose pipelines publish sites."""

    make: Make
    instance: Instance
    project: Project

    @property
    def namespace(self) -> str:
        """Return the namespace of the project, which is the label of the host."""
        return str(self.project.path.partition("/")[0])

    @property
    def host(self) -> str:
        """Return the host of the site."""
        return f"{self.namespace}.{HOST}"

    @property
    def name(self) -> str:
        """Return the path of the project in its namespace."""
        return self.project.path.partition("/")[2]

    def deploy(self, content: bytes | dict[str, bytes] = FILES, config: str | None = None) -> RunnerJob:
        """Run a pipeline with these artifacts, and deploy the site."""
        job = self.run_job(content, config)
        self.instance.work()
        return job

    def run_job(self, content: bytes | dict[str, bytes] | None = FILES, config: str | None = None) -> RunnerJob:
        """Run a pipeline whose job uploads these artifacts."""
        if config is not None:
            commit_files(self.make, self.project, {".gitlab-ci.yml": config}, action="update")
        else:
            made = self.make.api.post(f"{self.project.url}/pipeline", self.make.root, ref="main")
            assert made.status_code == 201, made.text
        job = project_runner(self.make, self.project.id).must_take()
        if content is not None:
            archive = content if isinstance(content, bytes) else zip_of(content)
            sent = upload(self.make.api, job.id, job.token, archive, artifact_type="archive", artifact_format="zip")
            assert sent.status_code == 201, sent.text
        assert job.finish().status_code == 200
        return job

    def get(self, path: str = "", host: str | None = None, **headers: str) -> httpx.Response:
        """Request a path of the site, which begins with that of the project."""
        return self.request("GET", f"/{self.name}{path}", host, **headers)

    def request(self, method: str, path: str, host: str | None = None, **headers: str) -> httpx.Response:
        """Request a path of a host."""
        return site_request(self.instance.url, method, host or self.host, path, headers)

    def deploy_status(self, job: RunnerJob) -> dict[str, Any]:
        """Return the status of the deployment of a job, which is the newest one of its commit."""
        pipeline = job.payload["job_info"]["pipeline_id"]
        shown = self.make.api.get(f"{self.project.url}/pipelines/{pipeline}", self.make.root).json()
        path = f"{self.project.url}/repository/commits/{shown['sha']}/statuses"
        statuses: list[dict[str, Any]] = self.make.api.get(path, self.make.root, name="pages:deploy").json()
        return max(statuses, key=lambda status: int(status["id"]))


def site_request(url: str, method: str, host: str, path: str, headers: dict[str, str]) -> httpx.Response:
    """Send a request for a host to a server."""
    sent = {"accept-encoding": "identity", **{name.replace("_", "-"): value for name, value in headers.items()}}
    with httpx.Client() as client:
        return client.request(method, url + path, headers={**sent, "host": host})


def site_project(make: Make, instance: Instance, config: str = CONFIG, **attributes: Any) -> SiteProject:
    """Create a public project whose pipelines publish a site."""
    project = make_project(make, jobs_enabled=False, visibility="public", **attributes)
    commit_files(make, project, {".gitlab-ci.yml": config})
    assert make.api.put(project.url, make.root, jobs_enabled=True).status_code == 200
    return SiteProject(make, instance, project)
