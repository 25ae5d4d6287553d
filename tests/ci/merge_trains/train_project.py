"""A project with merge trains, whose pipelines a test ends."""

from typing import Any

import httpx

from tests.ci.pipelines.files import commit_files
from tests.ci.runner_client import RunnerClient, RunnerJob, project_runner
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project

JOBS = "test:\n  script: make\n  rules: [{if: $CI_MERGE_REQUEST_EVENT_TYPE == 'merge_train'}]\n"


class TrainProject:
    """The project, its runner, and the jobs that the runner has taken, by the commit that they test."""

    def __init__(self, make: Make, instance: Instance, **options: Any) -> None:
        self.make, self.instance = make, instance
        self.project: Project = make_project(make)
        commit_files(make, self.project, {".gitlab-ci.yml": JOBS, "shared": "1\n"})
        sent = {"merge_pipelines_enabled": True, "merge_trains_enabled": True, **options}
        answer = make.api.put(self.project.url, make.root, **sent)
        assert answer.status_code == 200, answer.text
        self.runner: RunnerClient = project_runner(make, self.project.id)
        self.jobs: dict[str, RunnerJob] = {}

    def offer(self, name: str, files: dict[str, str] | None = None, **sent: Any) -> dict[str, Any]:
        """Return a new merge request of a branch with one commit."""
        commit_files(self.make, self.project, files or {name: name}, branch=name, start_branch="main")
        fields = {"source_branch": name, "target_branch": "main", "title": f"Merge {name}", **sent}
        made = self.make.api.post(f"{self.project.url}/merge_requests", self.make.root, **fields)
        assert made.status_code == 201, made.text
        shown: dict[str, Any] = made.json()
        return shown

    def add(self, merge_request: dict[str, Any], user: User | None = None, **sent: Any) -> httpx.Response:
        """Add a merge request to the train."""
        url = f"{self.project.url}/merge_trains/merge_requests/{merge_request['iid']}"
        answer = self.make.api.post(url, user or self.make.root, **sent)
        self.work()
        return answer

    def offer_and_add(self, *names: str) -> list[dict[str, Any]]:
        """Return new merge requests in the train."""
        offered = [self.offer(name) for name in names]
        for each in offered:
            assert self.add(each).status_code == 201
        return offered

    def work(self) -> None:
        """Run the jobs of the queue and take the jobs of pipelines."""
        self.instance.work()
        while (job := self.runner.take()) is not None:
            self.jobs[job.variables["CI_COMMIT_SHA"]] = job

    def train(self, **filters: Any) -> list[dict[str, Any]]:
        """Return the cars of the train, the first one first."""
        sent = {"scope": "active", "sort": "asc", **filters}
        cars: list[dict[str, Any]] = self.make.api.get(
            f"{self.project.url}/merge_trains/main", self.make.root, **sent
        ).json()
        return cars

    def iids(self) -> list[int]:
        """Return the merge requests of the train."""
        return [car["merge_request"]["iid"] for car in self.train()]

    def job_of(self, merge_request: dict[str, Any]) -> RunnerJob:
        """Return the job that tests a merge request now."""
        car = next(car for car in self.train() if car["merge_request"]["iid"] == merge_request["iid"])
        return self.jobs[car["pipeline"]["sha"]]

    def end(self, merge_request: dict[str, Any], state: str = "success") -> str:
        """End the pipeline of a merge request and return the commit that it tested."""
        job = self.job_of(merge_request)
        job.finish(state)
        self.work()
        return job.variables["CI_COMMIT_SHA"]

    def shown(self, merge_request: dict[str, Any]) -> dict[str, Any]:
        """Return the current state of a merge request."""
        url = f"{self.project.url}/merge_requests/{merge_request['iid']}"
        shown: dict[str, Any] = self.make.api.get(url, self.make.root).json()
        return shown

    def notes(self, merge_request: dict[str, Any]) -> list[str]:
        """Return the texts of the system notes, the oldest first."""
        url = f"{self.project.url}/merge_requests/{merge_request['iid']}/notes"
        notes = self.make.api.get(url, self.make.root, sort="asc", per_page=100).json()
        return [note["body"] for note in notes if note["system"]]

    def tip(self) -> dict[str, Any]:
        """Return the newest commit of the target branch."""
        tip: dict[str, Any] = self.make.api.get(f"{self.project.url}/repository/branches/main", self.make.root).json()[
            "commit"
        ]
        return tip
