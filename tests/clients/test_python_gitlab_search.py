"""python-gitlab's searches, unmodified, against the server."""

from collections.abc import Iterator

import pytest
from gitlab import Gitlab, GitlabSearchError
from gitlab.const import SearchScope

from tests.api.issues.factories import make_issue
from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_group, make_project


@pytest.fixture(scope="module")
def client(instance: Instance, make: Make) -> Iterator[Gitlab]:
    """Yield the administrator's client."""
    with Gitlab(instance.url, private_token=make.root.token) as made:
        yield made


def test_searches(client: Gitlab, make: Make) -> None:
    word = make.name("sought")
    group = make_group(make)
    project = make_project(make, group=group, name=word, initialize_with_readme=True)
    issue = make_issue(make, project, make.root, title=word)
    for found in (
        client.search(SearchScope.PROJECTS, word),
        client.groups.get(group.id).search(SearchScope.PROJECTS, word),
    ):
        assert [each["id"] for each in found] == [project.id]
    place = client.projects.get(project.id)
    for found in (
        client.search(SearchScope.ISSUES, word, iterator=True),
        client.groups.get(group.id).search(SearchScope.ISSUES, word, iterator=True),
        place.search(SearchScope.ISSUES, word, iterator=True),
    ):
        assert [each["id"] for each in found] == [issue["id"]]
    place.issues.get(issue["iid"]).notes.create({"body": f"Say {word}"})
    assert [note["noteable_iid"] for note in place.search(SearchScope.PROJECT_NOTES, word)] == [issue["iid"]]
    (file,) = place.search(SearchScope.BLOBS, word)
    assert (file["path"], file["ref"], file["project_id"]) == ("README.md", "master", project.id)
    assert len(list(place.search(SearchScope.COMMITS, "initial", iterator=True))) == 1
    place.wikis.create({"title": "Home", "content": word})
    assert [page["basename"] for page in place.search(SearchScope.WIKI_BLOBS, word)] == ["Home"]
    with pytest.raises(GitlabSearchError) as caught:
        client.search(SearchScope.BLOBS, word)
    assert caught.value.response_code == 400
