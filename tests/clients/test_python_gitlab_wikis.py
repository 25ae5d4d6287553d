"""python-gitlab's manager for wikis, unmodified, against the server."""

from collections.abc import Iterator
from typing import Any

import pytest
from gitlab import Gitlab, GitlabCreateError, GitlabGetError

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project


@pytest.fixture(scope="module")
def client(instance: Instance, make: Make) -> Iterator[Gitlab]:
    """Yield the administrator's client."""
    with Gitlab(instance.url, private_token=make.root.token) as made:
        yield made


def test_wikis(client: Gitlab, make: Make) -> None:
    project = client.projects.get(make_project(make).id)
    page: Any = project.wikis.create({"title": "docs/Wiki Page", "content": "some content"})
    assert (page.slug, page.title) == ("docs/Wiki-Page", "docs/Wiki Page")
    with pytest.raises(GitlabCreateError) as refused:
        project.wikis.create({"title": "docs/Wiki Page", "content": "again"})
    assert refused.value.response_code == 400
    assert [each.slug for each in project.wikis.list(get_all=True)] == ["docs/Wiki-Page"]
    assert project.wikis.get(page.slug).content == "some content"
    assert "<em>" not in project.wikis.get(page.slug, render_html=True).content
    page.content = "*other*"
    page.save()
    assert "<em>" in project.wikis.get(page.slug, render_html=True).content
    page.delete()
    with pytest.raises(GitlabGetError) as caught:
        project.wikis.get(page.slug)
    assert caught.value.response_code == 404
