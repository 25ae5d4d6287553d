"""URLs returned by the API: valid pages for permitted users, and 404 for others."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.web.browser import Browser

KEYS = ("web_url", "target_url")


@pytest.fixture
def project(make: Make, person: User, api: Api) -> Project:
    """Return a private project with one of everything that has a URL."""
    group = make_group(make, person, visibility="private")
    made = make_project(make, person, group=group, visibility="private", description="Hidden")
    for method, path, sent in _contents(person):
        answer = api.request(method, f"{made.url}{path}", person, json=sent)
        assert answer.status_code in (200, 201, 304), (path, answer.text)
    api.post(f"/groups/{group.id}/milestones", person, title="Of the group")
    sha = api.get(f"{made.url}/repository/commits", person).json()[0]["id"]
    assert api.post(f"{made.url}/statuses/{sha}", person, state="success", ref="master").status_code == 201
    return made


def _contents(person: User) -> list[tuple[str, str, dict[str, Any]]]:
    file = {"commit_message": "Write it", "content": "Some text\n"}
    return [
        ("POST", "/repository/files/a%20b%2Fread%23me.md", {**file, "branch": "master"}),
        ("POST", "/repository/branches", {"branch": "topic/one", "ref": "master"}),
        ("POST", "/repository/files/new.txt", {**file, "branch": "topic/one"}),
        ("POST", "/repository/tags", {"tag_name": "v1.0", "ref": "master", "release_description": "First"}),
        ("POST", "/milestones", {"title": "Spring"}),
        ("POST", "/labels", {"name": "leak", "color": "#aa3300"}),
        ("POST", "/issues", {"title": "Leak", "milestone_id": None, "assignee_ids": [person.id], "labels": "leak"}),
        ("POST", "/issues/1/todo", {}),
        ("POST", "/issues/1/notes", {"body": "Seen"}),
        ("POST", "/merge_requests", {"source_branch": "topic/one", "target_branch": "master", "title": "Topic"}),
        ("POST", "/merge_requests/1/todo", {}),
        ("POST", "/snippets", {"title": "Kept", "file_name": "a.txt", "code": "x", "visibility": "private"}),
        ("POST", "/wikis", {"title": "home", "content": "Welcome"}),
    ]


def _requested(project: Project, group: int, person: User) -> list[str]:
    here = project.url
    return [
        here,
        f"{here}/issues",
        f"{here}/merge_requests",
        f"{here}/milestones",
        f"/groups/{group}/milestones",
        f"/groups/{group}",
        f"{here}/snippets",
        f"{here}/repository/branches",
        f"{here}/repository/commits?ref_name=topic/one",
        f"{here}/repository/commits/master",
        f"{here}/repository/compare?from=master&to=topic/one",
        f"{here}/repository/tags",
        f"{here}/releases",
        f"{here}/pipelines",
        f"{here}/merge_requests/1/pipelines",
        f"{here}/boards",
        f"{here}/members",
        f"{here}/events",
        f"{here}/search?scope=issues&search=Leak",
        f"/users/{person.id}",
        "/todos",
        "/events",
    ]


def _addresses(found: Any) -> Iterator[str]:
    if isinstance(found, list):
        for item in found:
            yield from _addresses(item)
    if isinstance(found, dict):
        for key, value in found.items():
            if key in KEYS and isinstance(value, str):
                yield value
            else:
                yield from _addresses(value)


def test_every_url_is_valid(
    instance: Instance, api: Api, make: Make, person: User, project: Project, open_browser: Callable[[], Browser]
) -> None:
    told = set()
    for path in _requested(project, project.namespace_id, person):
        answer = api.get(path, person)
        assert answer.status_code == 200, (path, answer.text)
        told |= {address for address in _addresses(answer.json()) if address.startswith(instance.url)}
    group_path = project.path.rpartition("/")[0]
    assert len(told) >= 14
    member, stranger, nobody = open_browser(), open_browser(), open_browser()
    member.signed_in_as(person)
    stranger.signed_in_as(make.user(password=person.password))

    wrong = {}
    for address in sorted(told):
        path = address.removeprefix(instance.url).partition("#")[0]
        answers = {"member": member.get(path), "stranger": stranger.get(path), "nobody": nobody.get(path)}
        hidden = group_path in path
        wanted = {"member": 200, "stranger": 404 if hidden else 200, "nobody": 404 if hidden else 200}
        seen = {who: answer.status_code for who, answer in answers.items()}
        if seen != wanted:
            wrong[path] = seen
        if hidden:
            assert project.name not in answers["stranger"].text.replace(path, "")

    assert wrong == {}
