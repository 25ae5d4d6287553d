"""python-gitlab's managers for statuses, comments and pipelines, unmodified, against the server."""

from collections.abc import Iterator
from typing import Any

import pytest
from gitlab import Gitlab, GitlabCreateError
from gitlab.v4.objects import Project

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History


@pytest.fixture(scope="module")
def client(instance: Instance, make: Make) -> Iterator[Gitlab]:
    """Yield the administrator's client."""
    with Gitlab(instance.url, private_token=make.root.token) as made:
        yield made


@pytest.fixture
def project(instance: Instance, client: Gitlab, make: Make) -> Project:
    """Return a new project with a commit for each test."""
    made = make_project(make, visibility="public")
    history = History()
    history.commit(files={"file.txt": "one\ntwo\n"})
    history.fill(instance, made)
    return client.projects.get(made.id)


def test_statuses_and_pipelines(project: Project) -> None:
    commit: Any = project.commits.get("master")
    assert commit.status is None
    status: Any = commit.statuses.create({"state": "running", "name": "ci", "ref": "master"})
    assert (status.status, status.name, status.sha) == ("running", "ci", commit.id)
    with pytest.raises(GitlabCreateError) as caught:
        commit.statuses.create({"state": "pending", "name": "ci", "ref": "master"})
    assert caught.value.response_code == 400
    commit.statuses.create({"state": "success", "name": "ci", "ref": "master", "coverage": 50})
    (listed,) = commit.statuses.list(get_all=True)
    assert (listed.id, listed.status, listed.coverage) == (status.id, "success", 50.0)
    assert project.commits.get("master").status == "success"
    (pipeline,) = project.pipelines.list(get_all=True)
    whole: Any = project.pipelines.get(pipeline.id)
    assert (whole.status, whole.sha, whole.coverage) == ("success", commit.id, "50.00")
    assert project.pipelines.latest().id == pipeline.id
    assert project.pipelines.latest(ref="master").id == pipeline.id


def test_comments(project: Project) -> None:
    commit = project.commits.get("master")
    plain: Any = commit.comments.create({"note": "Looks good"})
    assert (plain.note, plain.path) == ("Looks good", None)
    placed: Any = commit.comments.create({"note": "Why?", "path": "file.txt", "line": 2, "line_type": "new"})
    assert (placed.path, placed.line, placed.line_type) == ("file.txt", 2, "new")
    assert [comment.note for comment in commit.comments.list(get_all=True)] == ["Looks good", "Why?"]
