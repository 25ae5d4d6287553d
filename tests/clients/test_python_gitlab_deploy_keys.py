"""python-gitlab's managers for deploy keys, unmodified, against the server."""

from collections.abc import Iterator

import pytest
from gitlab import Gitlab, GitlabCreateError, GitlabGetError, GitlabProjectDeployKeyError

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.ssh_public_keys import ed25519_line


@pytest.fixture(scope="module")
def client(instance: Instance, make: Make) -> Iterator[Gitlab]:
    """Yield the administrator's client."""
    with Gitlab(instance.url, private_token=make.root.token) as made:
        yield made


def test_deploy_keys(client: Gitlab, make: Make) -> None:
    first, second = (client.projects.get(make_project(make).id) for _ in range(2))
    line = ed25519_line()
    key = first.keys.create({"title": "robot", "key": line, "can_push": True})
    assert (key.title, key.key, key.can_push) == ("robot", line, True)
    assert [each.id for each in first.keys.list(get_all=True)] == [key.id]
    assert key.id in [each.id for each in client.deploykeys.list(iterator=True)]
    key.title = "machine"
    key.save()
    assert first.keys.get(key.id).title == "machine"
    second.keys.enable(key.id)
    assert second.keys.get(key.id).can_push is False
    with pytest.raises(GitlabProjectDeployKeyError):
        second.keys.enable(999_999_999)
    with pytest.raises(GitlabCreateError) as caught:
        second.keys.create({"title": "x", "key": "ssh-ed25519 nonsense"})
    assert caught.value.response_code == 400
    key.delete()
    second.keys.delete(key.id)
    with pytest.raises(GitlabGetError):
        second.keys.get(key.id)
