"""python-gitlab's managers for snippets, unmodified, against the server."""

from collections.abc import Iterator
from typing import Any

import pytest
from gitlab import Gitlab, GitlabGetError

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project


@pytest.fixture(scope="module")
def client(instance: Instance, make: Make) -> Iterator[Gitlab]:
    """Yield the administrator's client."""
    with Gitlab(instance.url, private_token=make.root.token) as made:
        yield made


def test_project_snippets(client: Gitlab, make: Make) -> None:
    project = client.projects.get(make_project(make).id)
    files = [{"file_path": "a.py", "content": "print()"}]
    made: Any = project.snippets.create({"title": "one", "visibility": "private", "files": files})
    assert (made.title, made.file_name, made.visibility) == ("one", "a.py", "private")
    assert made.content() == b"print()"
    made.title = "two"
    made.save()
    assert [snippet.title for snippet in project.snippets.list(get_all=True)] == ["two"]
    assert made.user_agent_detail()["ip_address"] == "127.0.0.1"
    note: Any = made.notes.create({"body": "nice"})
    assert [listed.id for listed in made.notes.list(get_all=True)] == [note.id]
    assert made.awardemojis.create({"name": "tada"}).name == "tada"
    assert made.discussions.create({"body": "why?"}).attributes["notes"][0]["body"] == "why?"
    made.delete()
    with pytest.raises(GitlabGetError) as caught:
        project.snippets.get(made.id)
    assert caught.value.response_code == 404


def test_personal_snippets(client: Gitlab) -> None:
    made: Any = client.snippets.create(
        {"title": "mine", "file_name": "a.sh", "content": "true", "visibility": "public"}
    )
    assert client.snippets.get(made.id).content() == b"true"
    made.title = "still mine"
    made.save()
    assert made.id in [snippet.id for snippet in client.snippets.list(get_all=True)]
    assert made.id in [snippet.id for snippet in client.snippets.list_public(get_all=True)]
    assert made.id in [snippet.id for snippet in client.snippets.list_all(get_all=True)]
    made.files = [{"action": "create", "file_path": "b.sh", "content": "false"}]
    made.save()
    assert [file["path"] for file in client.snippets.get(made.id).files] == ["a.sh", "b.sh"]
    made.delete()
