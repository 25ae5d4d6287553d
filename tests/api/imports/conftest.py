"""Source project on the shared instance, and a second instance that imports from it over HTTP."""

from collections.abc import Iterator
from typing import Any

import pytest

from ingot.core.log import Log
from ingot.server.jobs import job_worker
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.second_instance import SecondInstance, serving


class ImportingInstance:
    """Instance that imports from the shared one."""

    def __init__(self, second: SecondInstance, source: Instance, source_make: Make) -> None:
        self.second = second
        self.api = second.api
        self.make = second.make
        self.root = second.make.root
        self.source = source
        self.source_root = source_make.root
        self.worker = job_worker(second.settings, second.app.database, Log("json", source.log))

    def work(self) -> None:
        """Run all queued jobs."""
        while self.worker.run_once():
            pass

    def configuration(self) -> dict[str, str]:
        """Return the address and token of the source."""
        return {"url": self.source.url, "access_token": self.source_root.token}

    def start(self, path: str, namespace: str, slug: str, user: User | None = None, **options: Any) -> dict[str, Any]:
        """Start the import of a project."""
        entity = {
            "source_type": "project_entity",
            "source_full_path": path,
            "destination_namespace": namespace,
            "destination_slug": slug,
        }
        sent = {"configuration": self.configuration(), "entities": [entity], **options}
        answer = self.api.request("POST", "/bulk_imports", user or self.root, json=sent)
        assert answer.status_code == 201, answer.text
        started: dict[str, Any] = answer.json()
        return started

    def entity(self, run: dict[str, Any], user: User | None = None) -> dict[str, Any]:
        """Return the only entity of a run."""
        (entity,) = self.api.get(f"/bulk_imports/{run['id']}/entities", user or self.root).json()
        found: dict[str, Any] = entity
        return found

    def import_project(self, path: str, slug: str, **options: Any) -> dict[str, Any]:
        """Import a project into the namespace of root; return its entity."""
        run = self.start(path, "root", slug, **options)
        self.work()
        return self.entity(run)


@pytest.fixture(scope="package")
def importing(tmp_path_factory: pytest.TempPathFactory, instance: Instance, make: Make) -> Iterator[ImportingInstance]:
    """Yield an instance that may send requests to loopback."""
    with serving(tmp_path_factory.mktemp("importing"), allow_local_requests=True) as second:
        yield ImportingInstance(second, instance, make)


class SourceProject:
    """Project of the source with some of everything."""

    def __init__(self, api: Api, make: Make) -> None:
        self.api = api
        self.make = make
        self.author = make.user(name="Alice Author")
        self.reviewer = make.user(name="Bob Reviewer")
        name = make.name("project")
        created = self._post(
            "/projects", name=name, visibility="private", initialize_with_readme=True, description="A source"
        )
        self.id: int = created["id"]
        self.path: str = created["path_with_namespace"]
        self._members()
        self._planning()
        self._merge_request()

    def _post(self, path: str, user: User | None = None, **sent: Any) -> dict[str, Any]:
        answer = self.api.post(path, user or self.make.root, **sent)
        assert answer.status_code == 201, answer.text
        created: dict[str, Any] = answer.json()
        return created

    def post(self, path: str, user: User | None = None, **sent: Any) -> dict[str, Any]:
        """Create an object of the project."""
        return self._post(f"/projects/{self.id}{path}", user, **sent)

    def _members(self) -> None:
        for user in (self.author, self.reviewer):
            self.post("/members", user_id=user.id, access_level=40)

    def _planning(self) -> None:
        self.post("/labels", name="bug", color="#ff0000", description="A defect")
        self.milestone = self.post("/milestones", title="1.0", due_date="2030-01-01")
        for number in range(1, 4):
            issue = {"title": f"Issue {number}", "description": f"See #{number} and @{self.reviewer.username}"}
            self.post("/issues", self.author, **issue, labels="bug", milestone_id=self.milestone["id"])
        self.post("/issues/1/notes", self.reviewer, body="A comment on #2")
        self.api.delete(f"/projects/{self.id}/issues/2", self.make.root)
        self.api.put(f"/projects/{self.id}/issues/3", self.author, state_event="close")

    def _merge_request(self) -> None:
        commit = {
            "branch": "feature",
            "start_branch": "master",
            "commit_message": "Add a file",
            "actions": [{"action": "create", "file_path": "file.txt", "content": "one\ntwo\n"}],
        }
        answer = self.api.request("POST", f"/projects/{self.id}/repository/commits", self.author, json=commit)
        assert answer.status_code == 201, answer.text
        branches = {"source_branch": "feature", "target_branch": "master"}
        self.post("/merge_requests", self.author, title="Add a file", **branches)
        self.post("/merge_requests/1/notes", self.reviewer, body="Looks good, see #1")
        self.post("/repository/tags", tag_name="v1", ref="master")
        self.post("/wikis", title="Home", content="Welcome")


@pytest.fixture(scope="package")
def source_project(api: Api, make: Make) -> SourceProject:
    """Return a project with some of everything."""
    return SourceProject(api, make)
