"""A project with a CI file, a runner and a signed-in browser, for tests of CI pages."""

from dataclasses import dataclass, field
from typing import Any

from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import RunnerClient, project_runner
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.web.browser import Browser

CONFIG = """
stages: [build, test, deploy]
compile: {stage: build, script: [make], artifacts: {paths: [out], expire_in: 1 week}}
unit: {stage: test, script: [make test], needs: [compile], tags: [linux]}
lint: {stage: test, script: [make lint], allow_failure: true}
ship: {stage: deploy, script: [make ship], when: manual}
"""
INPUTS_FILE = """
spec:
  inputs:
    target: {default: staging, options: [staging, production], description: Where to <deploy>}
    count: {type: number, description: How many}
    dry: {type: boolean, default: true}
    names: {type: array, default: [a, b]}
    note: {default: none, regex: '^[a-z]*$'}
---
job:
  script: ["echo $[[ inputs.target ]] $[[ inputs.count ]] $[[ inputs.dry ]] $[[ inputs.names ]] $[[ inputs.note ]]"]
"""


@dataclass
class CiScene:
    """A project whose pipelines a test executes as a runner."""

    make: Make
    owner: User
    project: Project
    url: str
    runner: RunnerClient
    browsers: list[Browser] = field(default_factory=list)

    @property
    def path(self) -> str:
        """Return the path of the project's pages."""
        return f"/{self.project.path}"

    def commit(self, config: str = CONFIG, branch: str = "main", **options: Any) -> int:
        """Commit a CI file and return the id of the pipeline that the commit starts."""
        commit_files(self.make, self.project, {".gitlab-ci.yml": config}, branch=branch, user=self.owner, **options)
        pipeline_id: int = list_pipelines(self.make, self.project)[0]["id"]
        return pipeline_id

    def browser(self, person: User | None = None) -> Browser:
        """Return a browser that is signed in, by default as the owner."""
        self.browsers.append(Browser(self.url).signed_in_as(person or self.owner))
        return self.browsers[-1]

    def job_ids(self, pipeline_id: int) -> dict[str, int]:
        """Return the ids of a pipeline's jobs by name."""
        jobs = self.make.api.get(f"{self.project.url}/pipelines/{pipeline_id}/jobs", self.owner, per_page=100)
        return {job["name"]: job["id"] for job in jobs.json()}


def make_scene(make: Make, instance: Instance, **attributes: Any) -> CiScene:
    """Create a project with a runner."""
    owner = make.user(password="correct horse battery")
    project = make_project(make, owner, **attributes)
    runner = project_runner(make, project.id, tag_list="linux", run_untagged=True)
    return CiScene(make, owner, project, instance.url, runner)
