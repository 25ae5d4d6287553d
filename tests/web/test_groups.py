"""Pages of groups and members."""

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.client import Api, Make, User
from tests.conftest import ROOT_PASSWORD
from tests.factories import make_group, make_project, statements_of
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

HOSTILE = "\"'><script>alert(1)</script>"
SETTINGS = ["edit", "hooks", "settings/ci_cd", "settings/repository", "settings/push_rules", "settings/badges"]
SETTINGS += ["settings/export"]


@pytest.fixture
def owner(browser: Browser, person: User) -> Browser:
    """Return a browser of the owner."""
    return browser.signed_in_as(person)


def _send(browser: Browser, path: str, method: str = "post", **fields: Any) -> httpx.Response:
    return browser.post(path, data={"authenticity_token": browser.token(), "_method": method, **fields})


def test_life_cycle_of_a_group(owner: Browser, api: Api, make: Make, person: User) -> None:
    path = make.name("crew")
    typed = {"group[name]": HOSTILE, "group[path]": path, "group[description]": "We **sail**"}
    refused = owner.submit("/groups/new", "/groups", fields=typed)
    assert (refused.status_code, "We **sail**" in refused.text) == (422, True)
    assert "<script>alert" not in refused.text

    made = owner.submit("/groups/new", "/groups", fields=typed | {"group[name]": "Crew"})
    there = made.headers["location"]
    assert there == f"/groups/{path}"
    group = api.get(f"/groups/{path}", person).json()
    home = owner.get(there).text
    assert "<strong>sail</strong>" in home
    assert f"/projects/new?namespace_id={group['id']}" in home

    below = {"group[name]": "Deck", "group[path]": "deck", "group[parent_id]": str(group["id"])}
    assert _send(owner, "/groups", **below).headers["location"] == f"{there}/deck"
    assert f"{there}/deck" in owner.get(there).text
    change = {"part": "general", "general[name]": "Crew of two", "general[visibility]": "public"}
    change |= {"general[project_creation_level]": "owner", "general[description]": HOSTILE}
    assert _send(owner, f"{there}/-/edit", "put", **change).status_code == 302
    assert "<script>alert" not in owner.get(f"{there}/-/edit").text + owner.get(there).text
    assert api.get(f"/groups/{path}", person).json()["project_creation_level"] == "owner"
    assert _send(owner, f"{there}/-/edit", "put", **change | {"general[name]": ""}).status_code == 422

    renamed = _send(owner, f"{there}/deck/-/edit", "put", part="path", **{"path[path]": f"{path}-deck"})
    assert renamed.headers["location"] == f"{there}/{path}-deck/-/edit"
    moved = _send(owner, f"{there}/{path}-deck/-/settings/transfer", "put", **{"transfer[group_id]": ""})
    assert moved.headers["location"] == f"/groups/{path}-deck"
    assert _send(owner, f"{there}/-/edit", "delete", **{"delete[confirm]": "crew?"}).status_code == 422
    assert _send(owner, f"{there}/-/edit", "delete", **{"delete[confirm]": path}).status_code == 302
    assert owner.get(there).status_code == 404


@pytest.mark.parametrize(("visibility", "status"), [("public", 200), ("internal", 404), ("private", 404)])
def test_group_visibility(
    owner: Browser, open_browser: Callable[[], Browser], make: Make, person: User, visibility: str, status: int
) -> None:
    group = make_group(make, person, visibility=visibility)
    make_project(make, person, namespace_id=group.id, visibility=visibility)
    nobody = open_browser()

    assert nobody.get(f"/groups/{group.path}").status_code == status
    assert nobody.get(f"/groups/{group.path}/-/group_members").status_code == status
    found = nobody.get(f"/explore/groups?search={group.path}").text
    assert (f'href="/groups/{group.path}"' in found) == (status == 200)
    assert owner.get(f"/groups/{group.path}/-/members").headers["location"] == f"/groups/{group.path}/-/group_members"
    assert f"/groups/{group.path}" in owner.get(f"/explore/groups?search={group.path}").text


def test_anonymous_visitors_see_public_projects_of_a_group(
    owner: Browser, open_browser: Callable[[], Browser], make: Make, person: User
) -> None:
    group, insiders = make_group(make, person, visibility="public"), make_group(make, person, visibility="internal")
    below = make_group(make, person, parent=group, visibility="internal")
    shared = {"group_id": insiders.id, "group_access": 20}
    assert make.api.post(f"/groups/{group.id}/share", person, **shared).status_code == 201

    for hidden, page in ((below, ""), (insiders, "/-/group_members")):
        address = f'href="/groups/{hidden.path}"'
        assert address in owner.get(f"/groups/{group.path}{page}").text
        assert address not in open_browser().get(f"/groups/{group.path}{page}").text


def test_settings_of_a_group_are_for_owners(
    owner: Browser, open_browser: Callable[[], Browser], make: Make, person: User
) -> None:
    maintainer = make.user(password=PASSWORD)
    group = make_group(make, person, members={maintainer: 40}, visibility="public")
    other = open_browser().signed_in_as(maintainer)

    for path in SETTINGS:
        assert owner.get(f"/groups/{group.path}/-/{path}").status_code == 200, path
        assert other.get(f"/groups/{group.path}/-/{path}").status_code == 404, path
    assert "New project" in other.get(f"/groups/{group.path}").text
    assert _send(other, f"/groups/{group.path}/-/edit", "delete").status_code == 404


def test_variables_and_tokens_of_a_group(owner: Browser, api: Api, make: Make, person: User) -> None:
    group = make_group(make, person)
    settings = f"/groups/{group.path}/-/settings"

    assert _send(owner, f"{settings}/variables", **{"variable[key]": "K", "variable[value]": "hush"}).status_code == 302
    assert api.get(f"{group.url}/variables/K", person).json()["value"] == "hush"
    assert "hush" not in owner.get(f"{settings}/ci_cd").text
    made = _send(owner, f"{settings}/deploy_tokens", **{"token[name]": "robot", "token[scopes][]": "read_repository"})
    secret_label = 'aria-label="New deploy token"'
    assert secret_label in made.text
    later = owner.get(f"{settings}/repository").text
    assert ("robot" in later, secret_label in later) == (True, False)


@pytest.mark.parametrize("kind", ["project", "group"])
def test_members_are_added_edited_and_removed(
    owner: Browser, open_browser: Callable[[], Browser], api: Api, make: Make, person: User, kind: str
) -> None:
    made: Any = (make_project if kind == "project" else make_group)(make, person, visibility="public")
    there = f"/{made.path}/-/project_members" if kind == "project" else f"/groups/{made.path}/-/group_members"
    friend = make.user(password=PASSWORD, name="<b>Friend</b>")
    typed = {"member[username]": friend.username, "member[access_level]": "20", "member[expires_at]": ""}

    unknown = _send(owner, there, **typed | {"member[username]": HOSTILE})
    assert (unknown.status_code, "<script>alert" in unknown.text) == (422, False)
    assert _send(owner, there, **typed).status_code == 302
    assert _send(owner, there, **typed).status_code == 422, "They belong already."
    change = {"changed[access_level]": "30", "changed[expires_at]": "2099-01-31"}
    assert _send(owner, f"{there}/{friend.id}", "put", **change).status_code == 302
    held = api.get(f"{made.url}/members/{friend.id}", person).json()
    assert (held["access_level"], held["expires_at"]) == (30, "2099-01-31")
    page = owner.get(there).text
    assert ("2099-01-31" in page, "<b>Friend" in page) == (True, False)

    visitor = open_browser().signed_in_as(friend)
    assert _send(visitor, there, **typed).status_code in (403, 422), "Developers add nobody."
    assert "Leave" in visitor.get(there).text
    assert _send(visitor, f"{there}/leave").status_code == 302
    assert api.get(f"{made.url}/members/{friend.id}", person).status_code == 404
    assert "Request access" in visitor.get(there).text
    assert _send(visitor, f"{there}/request_access").status_code == 302
    assert "Withdraw access request" in visitor.get(there).text
    assert _send(visitor, f"{there}/request_access", "delete").status_code == 302
    assert _send(visitor, f"{there}/request_access").status_code == 302
    assert _send(visitor, f"{there}/{friend.id}/approve").status_code in (403, 422)
    assert f"{there}/{friend.id}/approve" in owner.get(there).text
    assert _send(owner, f"{there}/{friend.id}/approve", **{"request[access_level]": "10"}).status_code == 302
    assert api.get(f"{made.url}/members/{friend.id}", person).json()["access_level"] == 10
    assert _send(owner, f"{there}/{friend.id}", "delete").status_code == 302
    assert _send(visitor, f"{there}/request_access").status_code == 302
    assert _send(owner, f"{there}/{friend.id}/request", "delete").status_code == 302
    assert api.get(f"{made.url}/access_requests", person).json() == []


@pytest.mark.parametrize("kind", ["project", "group"])
def test_sharing_with_a_group(owner: Browser, make: Make, person: User, kind: str) -> None:
    made: Any = (make_project if kind == "project" else make_group)(make, person)
    there = f"/{made.path}/-/project_members" if kind == "project" else f"/groups/{made.path}/-/group_members"
    guests, hidden = make_group(make, person), make_group(make, make.user(), visibility="private")

    for unseen in (hidden.path, "no-such-group", ""):
        refused = _send(owner, f"{there}/groups", **{"share[group]": unseen, "share[group_access]": "20"})
        assert refused.status_code == 422
    shared = _send(owner, f"{there}/groups", **{"share[group]": guests.path, "share[group_access]": "20"})
    assert shared.status_code == 302, shared.text
    assert "max role: Reporter" in owner.get(there).text
    assert _send(owner, f"{there}/groups/{guests.id}", "delete").status_code == 302
    assert "max role: Reporter" not in owner.get(there).text


def test_users_are_autocompleted(owner: Browser, open_browser: Callable[[], Browser], person: User) -> None:
    found = owner.get("/-/people", params={"member[username]": person.username}, headers={"HX-Request": "true"})

    assert f'value="{person.username}"' in found.text
    assert owner.get("/-/people", params={"member[username]": "x"}).text.strip() == ""
    assert owner.get("/-/people", params={"member[username][]": "x"}).status_code == 200
    assert open_browser().get("/-/people").status_code == 302


def test_administrators_impersonate_users(
    browser: Browser, open_browser: Callable[[], Browser], api: Api, person: User
) -> None:
    admin, there = browser, f"/admin/users/{person.id}/impersonation_tokens"
    assert admin.sign_in("root", ROOT_PASSWORD).status_code == 302
    assert open_browser().signed_in_as(person).get(there).status_code == 404

    assert _send(admin, there, **{"token[name]": "help"}).status_code == 422
    made = _send(admin, there, **{"token[name]": "help", "token[api]": "1"})
    secret = made.text.split('aria-label="New token"')[0].rpartition('value="')[2].split('"')[0]
    assert api.get("/user", person.with_token(secret)).json()["id"] == person.id
    later = admin.get(there).text
    assert ("help" in later, secret in later) == (True, False)
    number = later.split(f"{there}/")[1].split('"')[0]
    assert _send(admin, f"{there}/{number}", "delete").status_code == 302
    assert api.get("/user", person.with_token(secret)).status_code == 401


def test_a_groups_calendar_counts_visible_events(
    owner: Browser, open_browser: Callable[[], Browser], api: Api, make: Make, person: User
) -> None:
    group = make_group(make, person, visibility="public")
    below = make_group(make, person, parent=group, visibility="public")
    opened, hidden = (
        make_project(make, person, namespace_id=each.id, visibility=visibility)
        for each, visibility in ((below, "public"), (group, "private"))
    )
    stranger, home = make.user(password=PASSWORD), f"/groups/{group.path}"

    def counted() -> list[str]:
        visitors = (open_browser(), open_browser().signed_in_as(stranger), owner)
        return [re.findall(r"[\d,]+ contributions? in", visitor.get(home).text)[0] for visitor in visitors]

    before = [int(each.split()[0]) for each in counted()]
    api.post(f"{opened.url}/issues", person, title="For all")
    api.post(f"{opened.url}/issues", person, title="For few", confidential=True)
    api.post(f"{hidden.url}/issues", person, title="For us")
    after = [int(each.split()[0]) for each in counted()]
    assert [now - then for now, then in zip(after, before, strict=True)] == [1, 1, 3]
    api.post(f"{hidden.url}/members", person, user_id=stranger.id, access_level=20)
    joined = int(counted()[1].split()[0])
    assert joined > after[1]
    api.delete(f"{hidden.url}/members/{stranger.id}", person)
    assert int(counted()[1].split()[0]) == after[1]
    empty = make_group(make, person)
    assert "0 contributions in the last year" in owner.get(f"/groups/{empty.path}").text


def test_group_activity_shows_visible_events(
    owner: Browser, open_browser: Callable[[], Browser], api: Api, make: Make, person: User
) -> None:
    group = make_group(make, person, visibility="public")
    below = make_group(make, person, parent=group, visibility="public")
    elsewhere = make_project(make, person, visibility="public")
    opened = make_project(make, person, namespace_id=below.id, visibility="public")
    home = f"/groups/{group.path}"
    api.post(f"{elsewhere.url}/issues", person, title="Elsewhere")
    api.post(f"{opened.url}/issues", person, title="First of all")
    hidden = make_project(make, person, namespace_id=group.id)
    api.post(f"{opened.url}/issues", person, title="For few", confidential=True)
    api.post(f"{hidden.url}/issues", person, title="For us")

    def shown(visitor: Browser) -> list[str]:
        return re.findall("Elsewhere|First of all|For few|For us", visitor.get(home).text)

    assert shown(owner) == ["For us", "For few", "First of all"]
    assert f">created {opened.path}</a></span>" in owner.get(home).text
    assert shown(open_browser()) == ["First of all"]
    few = statements_of(make, lambda: owner.get(home))
    for _ in range(2):
        another = make_project(make, person, namespace_id=group.id)
        api.post(f"{another.url}/issues", person, title="More")
    assert statements_of(make, lambda: owner.get(home)) == few


def test_protected_branches_of_a_group(owner: Browser, api: Api, make: Make, person: User) -> None:
    group = make_group(make, person)
    project = make_project(make, person, group=group)
    page = f"/groups/{group.path}/-/settings/repository"
    rules = f"/groups/{group.path}/-/settings/protected_branches"
    rule = {"rule[name]": "release/*", "rule[push_access_level]": "0", "rule[merge_access_level]": "30"}
    assert owner.submit(page, rules, fields=rule).status_code == 302
    refused = owner.submit(page, rules, fields=rule, does="post")
    assert (refused.status_code, "already exists" in refused.text) == (422, True)
    changed = {"rule[name]": "release/*", "rule[push_access_level]": "40", "rule[allow_force_push]": "1"}
    assert owner.submit(page, rules, fields=changed, does="put").status_code == 302
    (stored,) = api.get(f"{group.url}/protected_branches", person).json()
    levels = [stored[f"{verb}_access_levels"][0]["access_level"] for verb in ("push", "merge")]
    assert (levels, stored["allow_force_push"]) == ([40, 30], True)
    inherited = owner.get(f"/{project.path}/-/settings/repository").text
    assert ("group rule" in inherited, 'name="rule[name]" value="release/*"' in inherited) == (True, False)
    assert owner.submit(page, rules, fields={"rule[name]": "release/*"}, does="delete").status_code == 302
    assert api.get(f"{group.url}/protected_branches", person).json() == []


def test_push_rules_of_a_group(owner: Browser, api: Api, make: Make, person: User) -> None:
    group = make_group(make, person)
    page = f"/groups/{group.path}/-/settings/push_rules"
    for pattern in ("^[A-Z]", "^[a-z]"):
        fields = {"rule[commit_message_regex]": pattern, "rule[max_file_size]": "5"}
        assert owner.submit(page, page, fields=fields, does="put").status_code == 302
        assert api.get(f"{group.url}/push_rule", person).json()["commit_message_regex"] == pattern
        assert pattern in owner.get(page).text
    refused = owner.submit(page, page, fields={"rule[file_name_regex]": "("}, does="put")
    assert (refused.status_code, 'role="alert"' in refused.text) == (422, True)
