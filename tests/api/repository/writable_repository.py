"""Writable project with a user of each role, for write tests."""

import subprocess
from dataclasses import dataclass
from typing import Any

import httpx

from ingot.git.core.repository import Repository
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History, repository_of, run

MODULE = "3" * 40
LINES = "".join(f"line {number}\n" for number in range(20))
FILES: dict[str, Any] = {
    "README.md": "hello\n",
    "lines": LINES,
    "deep/er/file": "deep\n",
    "run.sh": ("100755", "#!/bin/sh\n"),
    "link": ("120000", "/etc"),
    "module": ("160000", MODULE),
}


def act(action: str, file_path: str, **more: Any) -> dict[str, Any]:
    """Return one action."""
    return {"action": action, "file_path": file_path, **more}


@dataclass(frozen=True)
class WritableRepository:
    """Project in which ``master`` is protected and ``dev`` is not; both start with the same commit."""

    api: Api
    project: Project
    repository: Repository
    first: str
    master: User
    developer: User
    reporter: User
    stranger: User

    def commit(self, *actions: dict[str, Any], who: User | None = None, **more: Any) -> httpx.Response:
        """Commit actions, by default to ``dev`` and as the developer."""
        sent = {"branch": "dev", "commit_message": "Change", "actions": list(actions), **more}
        return self.api.post(f"/projects/{self.project.id}/repository/commits", who or self.developer, **sent)

    def git(self, *args: str) -> str:
        """Return the output of git in the repository."""
        return run(self.repository.path, *args)

    def tip(self, branch: str = "dev") -> str:
        """Return the commit at the head of a branch."""
        return self.git("rev-parse", f"refs/heads/{branch}")

    def content(self, path: str, ref: str = "dev") -> bytes:
        """Return the content of a file of a branch."""
        args = ["git", "cat-file", "blob", f"{ref}:{path}"]
        return subprocess.run(args, cwd=self.repository.path, capture_output=True, check=True).stdout

    def listed(self, ref: str = "dev") -> dict[str, str]:
        """Return the paths of a branch with their modes."""
        lines = self.git("ls-tree", "-rz", ref).split("\0")
        return {line.split("\t")[1]: line.split()[0] for line in lines if line}


def make_writable_repository(instance: Instance, make: Make, **attributes: Any) -> WritableRepository:
    """Create the project with its users and a first commit."""
    project, people = _project(make, attributes)
    history = History()
    first = history.commit(files=FILES, message="Begin")
    history.commit("dev", parents=(first,), message="Begin dev")
    ids = history.fill(instance, project)
    repository = repository_of(instance, project)
    run(repository.path, "update-ref", "refs/heads/dev", ids[first])
    if repository.ref_store is not None:
        repository.ref_store.publish()
    return WritableRepository(make.api, project, repository, ids[first], *people)


def make_empty_writable_repository(instance: Instance, make: Make, **attributes: Any) -> WritableRepository:
    """Create the project with its users and an empty repository."""
    project, people = _project(make, attributes)
    return WritableRepository(make.api, project, repository_of(instance, project), "", *people)


def _project(make: Make, attributes: dict[str, Any]) -> tuple[Project, list[User]]:
    people = [make.user() for _ in range(4)]
    members = dict(zip(people, (40, 30, 20), strict=False))
    return make_project(make, members=members, **{"visibility": "internal", **attributes}), people


def message_of(answer: httpx.Response) -> Any:
    """Return the message of a rejected call."""
    assert answer.status_code == 400, answer.text
    return answer.json()["message"]
