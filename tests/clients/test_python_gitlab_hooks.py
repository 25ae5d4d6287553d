"""python-gitlab's managers for hooks of projects, groups and the instance, unmodified, against the server."""

from typing import Any

import pytest
from gitlab import Gitlab, GitlabCreateError, GitlabGetError, GitlabHookTestError

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_group, make_project

URL = "https://example.com/hook"


def test_hooks_of_projects_and_groups(instance: Instance, make: Make) -> None:
    """Create, read, list, edit, save, test and delete."""
    with Gitlab(instance.url, private_token=make.root.token) as client:
        owners: list[Any] = [client.projects.get(make_project(make).id), client.groups.get(make_group(make).id)]
        for owner in owners:
            hook = owner.hooks.create({"url": URL, "push_events": 1, "token": "secret", "name": "Bot"})
            assert (hook.url, hook.push_events, hook.issues_events) == (URL, True, False)
            assert not hasattr(hook, "token")
            read = owner.hooks.get(hook.id)
            read.issues_events = True
            read.save()
            assert owner.hooks.get(hook.id).issues_events is True
            assert [each.id for each in owner.hooks.list(get_all=True)] == [hook.id]
            with pytest.raises(GitlabHookTestError):
                hook.test("push_events")
            with pytest.raises(GitlabCreateError):
                owner.hooks.create({"url": "http://127.0.0.1/"})
            owner.hooks.delete(hook.id)
            with pytest.raises(GitlabGetError):
                owner.hooks.get(hook.id)


def test_system_hooks(instance: Instance, make: Make) -> None:
    """For administrators."""
    with Gitlab(instance.url, private_token=make.root.token) as client:
        hook: Any = client.hooks.create({"url": URL})
        assert client.hooks.get(hook.id).url == URL
        assert hook.id in [each.id for each in client.hooks.list(get_all=True)]
        hook.delete()
        assert hook.id not in [each.id for each in client.hooks.list(get_all=True)]
