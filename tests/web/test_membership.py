"""Joining and leaving projects and groups, and deploy keys of other projects."""

from collections.abc import Callable

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.factories import Group, Project, make_group, make_project
from tests.ssh_public_keys import ed25519_line
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD


def _public(make: Make, kind: str) -> tuple[Project | Group, str, str]:
    if kind == "project":
        project = make_project(make, visibility="public")
        return project, f"/{project.path}", f"/{project.path}/-/project_members"
    group = make_group(make, visibility="public")
    return group, f"/groups/{group.path}", f"/groups/{group.path}/-/group_members"


@pytest.mark.parametrize("kind", ["project", "group"])
def test_request_withdraw_join_and_leave(
    browser: Browser, open_browser: Callable[[], Browser], api: Api, make: Make, person: User, kind: str
) -> None:
    place, home, members = _public(make, kind)
    assert "Request access" not in open_browser().get(home).text
    visitor = browser.signed_in_as(person)

    assert visitor.submit(home, f"{members}/request_access").status_code == 302
    page = visitor.get(home).text
    assert ("You requested access" in page, "Request access" in page) == (True, False)
    assert visitor.submit(home, f"{members}/request_access", does="delete").status_code == 302
    assert "Request access" in visitor.get(home).text

    api.post(f"{place.url}/members", make.root, user_id=person.id, access_level=Level.DEVELOPER)
    page = visitor.get(home).text
    assert ("Developer</span>" in page, "Request access" in page) == (True, False)
    assert visitor.submit(home, f"{members}/leave").headers["location"] == "/"
    assert "Request access" in visitor.get(home).text


def test_owners_cannot_leave(
    browser: Browser, open_browser: Callable[[], Browser], make: Make, person: User, api: Api
) -> None:
    own, group = make_project(make, person), make_group(make, person)
    owner = browser.signed_in_as(person)

    assert ">Leave</button>" not in owner.get(f"/{own.path}").text
    refused = owner.submit(f"/groups/{group.path}", f"/groups/{group.path}/-/group_members/leave")
    assert (refused.status_code, "error" in refused.text) == (422, True)
    root = open_browser().signed_in_as(make.root)
    assert "Request access" not in root.get(f"/groups/{group.path}").text, "Administrators need no request."
    closed = make_project(make, visibility="public", members={person: Level.REPORTER})
    api.post(f"{closed.url}/archive", make.root)
    assert ">Leave</button>" not in owner.get(f"/{closed.path}").text


def test_a_deploy_key_of_another_project_is_enabled(
    browser: Browser, open_browser: Callable[[], Browser], api: Api, make: Make, person: User
) -> None:
    known, here, foreign = make_project(make, person), make_project(make, person), make_project(make)
    title, settings = "<b>robot</b>", f"/{here.path}/-/settings/repository"
    key = api.post(f"{known.url}/deploy_keys", person, title=title, key=ed25519_line()).json()
    hidden = api.post(f"{foreign.url}/deploy_keys", make.root, title="secret robot", key=ed25519_line()).json()
    owner = browser.signed_in_as(person)

    page = owner.get(settings).text
    assert ("&lt;b&gt;robot" in page, f">{known.path}<" in page, title in page) == (True, True, False)
    assert "secret robot" not in page
    enable = f"/{here.path}/-/settings/deploy_keys/{{}}/enable"
    token = {"authenticity_token": owner.token()}
    assert owner.post(enable.format(hidden["id"]), data=token).status_code == 422
    assert owner.submit(settings, enable.format(key["id"])).headers["location"] == settings
    assert [each["id"] for each in api.get(f"{here.url}/deploy_keys", person).json()] == [key["id"]]
    assert "Deploy keys of your other projects" not in owner.get(settings).text
    stranger = make.user(password=PASSWORD)
    assert open_browser().signed_in_as(stranger).get(settings).status_code == 404
