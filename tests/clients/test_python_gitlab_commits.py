"""python-gitlab's managers for commits and files."""

import base64
from collections.abc import Iterator
from typing import Any

import gitlab
import pytest
from gitlab.exceptions import GitlabCherryPickError, GitlabCreateError, GitlabGetError, GitlabUpdateError

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project


@pytest.fixture
def project(instance: Instance, make: Make) -> Iterator[Any]:
    """Yield an empty project, as seen by the administrator's client."""
    with gitlab.Gitlab(instance.url, private_token=make.root.token) as client:
        yield client.projects.get(make_project(make).id)


def test_files(project: Any) -> None:
    """A file is created in an empty repository, read, saved, and deleted in both ways."""
    made = project.files.create(
        {
            "file_path": "docs/README.rst",
            "branch": "main",
            "content": base64.b64encode(b"Initial content").decode(),
            "encoding": "base64",
            "commit_message": "Initial commit",
        }
    )
    assert (made.file_path, made.branch) == ("docs/README.rst", "main")
    file = project.files.get(file_path="docs/README.rst", ref="main")
    assert file.decode() == b"Initial content"

    file.content = base64.b64encode(b"Improved").decode()
    file.save(branch="main", commit_message="Improve it", encoding="base64")
    assert project.files.get("docs/README.rst", ref="main").decode() == b"Improved"
    project.files.update("docs/README.rst", {"branch": "main", "content": "Text", "commit_message": "Change it"})
    assert project.files.raw("docs/README.rst", ref="main") == b"Text"
    with pytest.raises(GitlabUpdateError):
        project.files.update("docs/README.rst", {"branch": "main", "content": "Text", "commit_message": "No change"})
    with pytest.raises(GitlabCreateError):
        said = {"branch": "main", "content": "Text", "commit_message": "Twice"}
        project.files.create({"file_path": "docs/README.rst", **said})

    project.files.create({"file_path": "b", "branch": "main", "content": "b", "commit_message": "b"})
    project.files.delete(file_path="b", branch="main", commit_message="Delete it")
    file.delete(branch="main", commit_message="Delete it too")
    with pytest.raises(GitlabGetError):
        project.files.get("docs/README.rst", ref="main")


def test_commits(project: Any) -> None:
    """Commits are created, cherry-picked, and reverted."""
    commit = project.commits.create(
        {
            "branch": "main",
            "commit_message": "Add files",
            "actions": [
                {"action": "create", "file_path": "a", "content": "a\n"},
                {"action": "create", "file_path": "b", "content": "b\n"},
            ],
        }
    )
    assert commit.stats == {"additions": 2, "deletions": 0, "total": 2}
    assert project.commits.list(get_all=True)[0].id == commit.id
    topic = project.commits.create(
        {
            "branch": "topic",
            "start_branch": "main",
            "commit_message": "Move",
            "author_name": "Eve",
            "author_email": "eve@example.org",
            "actions": [
                {"action": "move", "file_path": "c", "previous_path": "a"},
                {"action": "delete", "file_path": "b"},
            ],
        }
    )
    topic = project.commits.get(topic.id)
    assert topic.author_name == "Eve"
    picked = topic.cherry_pick(branch="main")
    assert picked["title"] == "Move"
    with pytest.raises(GitlabCherryPickError) as refused:
        topic.cherry_pick(branch="main")
    assert refused.value.response_code == 400
    undone = project.commits.get(picked["id"]).revert(branch="main")
    assert undone["title"] == 'Revert "Move"'
    assert {entry["name"] for entry in project.repository_tree(get_all=True)} == {"a", "b"}
