"""Namespace selection with many groups: by a part of their path, with and without scripts."""

import re

import pytest

from ingot.web.projects import namespaces
from tests.client import Api, Make, User
from tests.factories import Group, Project, make_group, make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD
from tests.web.hostile import HOSTILE, is_safe


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    return make.user(password=PASSWORD)


@pytest.fixture(scope="module")
def project(make: Make, owner: User) -> Project:
    return make_project(make, owner, visibility="public")


@pytest.fixture(scope="module")
def groups(make: Make, owner: User) -> list[Group]:
    words = ("lagoon-east", "lagoon-west", "reef")
    return [make_group(make, owner, path=make.name(word), visibility="public") for word in words]


@pytest.fixture(autouse=True)
def two_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namespaces, "MAX_OPTIONS", 2)


def test_administrators_start_with_their_own_namespace(
    browser: Browser, api: Api, make: Make, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may use all namespaces; that of another user was selected before."""
    monkeypatch.setattr(namespaces, "MAX_OPTIONS", 100)
    admin = make.user(password=PASSWORD)
    assert api.put(f"/users/{admin.id}", make.root, admin=True).status_code == 200
    browser.signed_in_as(admin)
    for address in ("/projects/new", f"/{project.path}/-/forks/new"):
        page = browser.get(address).text
        if f'value="{admin.username}" list=' not in page:  # Other tests may have left more than a hundred namespaces.
            first, *others = re.findall(r"<option value=[^>]*>([^<]+)</option>", page)
            assert first == admin.username
            assert "root" in others


def test_a_new_project_finds_its_namespace(browser: Browser, owner: User, groups: list[Group]) -> None:
    browser.signed_in_as(owner)
    east, west, reef = groups
    page = browser.get("/projects/new").text
    assert f'name="project[namespace]" value="{owner.username}" list="namespaces"' in page
    assert 'name="project[namespace_id]"' not in page
    assert f'value="{reef.path}" list=' in browser.get(f"/projects/new?namespace_id={reef.id}").text
    assert browser.get("/projects/new?namespace_id=999999").status_code == 200

    asked = {"headers": {"HX-Request": "true"}, "params": {"project[namespace]": "Lagoon"}}
    offered = browser.get("/-/namespaces", **asked).text
    assert east.path in offered and west.path in offered and reef.path not in offered
    fields = {"project[name]": "Pearls", "project[namespace]": "lagoon"}
    refused = browser.submit("/projects/new", "/projects", fields=fields)
    assert refused.status_code == 422
    assert f"Namespace could be {east.path}, {west.path}" in refused.text
    assert 'value="lagoon" list=' in refused.text
    for odd in (HOSTILE, "nowhere-at-all", "1", "/", "x" * 5000):
        answer = browser.submit("/projects/new", "/projects", fields={**fields, "project[namespace]": odd})
        assert answer.status_code == 422 and is_safe(answer.text), odd
    made = browser.submit("/projects/new", "/projects", fields={**fields, "project[namespace]": west.path.upper()})
    assert made.headers["location"] == f"/{west.path}/pearls"


def test_forks_and_transfers_find_their_namespace(
    browser: Browser, make: Make, owner: User, project: Project, groups: list[Group]
) -> None:
    browser.signed_in_as(owner)
    east, west, reef = groups
    here = f"/{project.path}/-"
    fields = {"namespace": "lagoon", "name": "Copy", "path": "copy"}
    refused = browser.submit(f"{here}/forks/new", f"{here}/forks", fields=fields)
    assert (refused.status_code, f"could be {east.path}, {west.path}" in refused.text) == (422, True)
    forked = browser.submit(f"{here}/forks/new", f"{here}/forks", fields={**fields, "namespace": reef.path})
    assert forked.headers["location"] == f"/{reef.path}/copy"

    there = f"{here}/settings/transfer"
    refused = browser.submit(f"{here}/edit", there, fields={"transfer[namespace]": "lagoon"})
    assert (refused.status_code, f"could be {east.path}, {west.path}" in refused.text) == (422, True)
    moved = browser.submit(f"{here}/edit", there, fields={"transfer[namespace]": east.path})
    assert moved.headers["location"] == f"/{east.path}/{project.path.rpartition('/')[2]}"


def test_groups_find_their_parent(browser: Browser, make: Make, owner: User, groups: list[Group]) -> None:
    browser.signed_in_as(owner)
    east, west, reef = groups
    name = make.name("atoll")
    assert f'value="{reef.path}" list=' in browser.get(f"/groups/new?parent_id={reef.id}").text
    asked = {"params": {"group[parent]": "lagoon"}}
    assert east.path in browser.get("/-/namespaces", **asked).text
    fields = {"group[name]": name, "group[path]": name, "group[parent]": "lagoon"}
    refused = browser.submit("/groups/new", "/groups", fields=fields)
    assert (refused.status_code, f"could be {east.path}, {west.path}" in refused.text) == (422, True)
    assert (
        browser.submit("/groups/new", "/groups", fields=fields | {"group[parent]": owner.username}).status_code == 422
    )
    made = browser.submit("/groups/new", "/groups", fields=fields | {"group[parent]": east.path})
    assert made.headers["location"] == f"/groups/{east.path}/{name}"

    for where, lies in ((west.path, f"{west.path}/{name}"), ("", name)):
        here = made.headers["location"] + "/-"
        made = browser.submit(f"{here}/edit", f"{here}/settings/transfer", fields={"transfer[parent]": where})
        assert made.headers["location"] == f"/groups/{lies}"


def test_the_search_does_not_reveal_other_groups(browser: Browser, make: Make, person: User) -> None:
    hidden = make_group(make, visibility="private")
    asked = {"params": {"namespace": hidden.path}}
    assert browser.get("/-/namespaces", **asked).status_code == 302
    browser.signed_in_as(person)
    assert hidden.path not in browser.get("/-/namespaces", **asked).text
