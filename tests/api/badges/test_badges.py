"""Badges of projects and groups."""

from functools import partial
from typing import Any

import pytest

from ingot.core.access.levels import Level
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import existing_project
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import ids, make_group, make_project, statements_of
from tests.roles import UsersByRole, group_with, project_with

PARAMS = {"link_url": "https://example.com/%{project_path}", "image_url": "https://img.example.com/%{project_id}.svg"}
PROJECT_CALLERS = [
    ("administrator", 200, 200),
    ("owner", 200, 200),
    ("master", 200, 200),
    ("developer", 200, 403),
    ("guest", 200, 403),
    ("stranger", 404, 404),
    ("nobody", 401, 401),
]
GROUP_CALLERS = [
    ("administrator", 200, 200),
    ("owner", 200, 200),
    ("master", 200, 403),
    ("stranger", 404, 404),
    ("nobody", 401, 401),
]


@pytest.mark.parametrize(("role", "read", "write"), PROJECT_CALLERS)
def test_masters_manage_project_badges(
    api: Api, make: Make, roles: UsersByRole, role: str, read: int, write: int
) -> None:
    project, caller = project_with(make, roles), roles[role]
    made = api.post(f"/projects/{project.id}/badges", caller, **PARAMS)
    assert made.status_code == (201 if write == 200 else write)
    badge_id = api.post(f"/projects/{project.id}/badges", make.root, **PARAMS).json()["id"]

    assert api.get(f"/projects/{project.id}/badges", caller).status_code == read
    assert api.get(f"/projects/{project.id}/badges/{badge_id}", caller).status_code == read
    assert api.get(f"/projects/{project.id}/badges/render", caller, **PARAMS).status_code == write
    assert api.put(f"/projects/{project.id}/badges/{badge_id}", caller, name="new").status_code == write
    now = api.get(f"/projects/{project.id}/badges/{badge_id}", make.root).json()
    assert now["name"] == ("new" if write == 200 else None)
    assert api.delete(f"/projects/{project.id}/badges/{badge_id}", caller).status_code == write
    assert (badge_id in ids(api.get(f"/projects/{project.id}/badges", make.root))) == (write != 200)


@pytest.mark.parametrize(("role", "read", "write"), GROUP_CALLERS)
def test_owners_manage_group_badges(api: Api, make: Make, roles: UsersByRole, role: str, read: int, write: int) -> None:
    group, caller = group_with(make, roles), roles[role]
    made = api.post(f"/groups/{group.id}/badges", caller, **PARAMS)
    assert made.status_code == (201 if write == 200 else write)
    badge_id = api.post(f"/groups/{group.id}/badges", make.root, **PARAMS).json()["id"]

    assert api.get(f"/groups/{group.id}/badges", caller).status_code == read
    assert api.get(f"/groups/{group.id}/badges/{badge_id}", caller).status_code == read
    assert api.get(f"/groups/{group.id}/badges/render", caller, **PARAMS).status_code == write
    assert api.put(f"/groups/{group.id}/badges/{badge_id}", caller, name="new").status_code == write
    assert api.delete(f"/groups/{group.id}/badges/{badge_id}", caller).status_code == write
    assert (badge_id in ids(api.get(f"/groups/{group.id}/badges", make.root))) == (write != 200)


def test_placeholders_are_replaced_by_project_values(
    api: Api, make: Make, roles: UsersByRole, instance: Instance
) -> None:
    project = make_project(make, roles.owner, name="Ein Größtes", path=make.name("path"))
    url = "https://example.com/%{project_path}/%{project_id}/%{project_name}/%{project_title}/%{default_branch}/%{what}"
    sent = {"name": "build", "link_url": url, "image_url": "http://example.com/a%20ü?x=%{commit_sha}"}
    made = api.post(f"/projects/{project.id}/badges", roles.owner, **sent)
    path = project.path.rpartition("/")[2]
    rendered = (
        f"https://example.com/{project.path}/{project.id}/{path}/Ein%20Gr%C3%B6%C3%9Ftes/"
        f"{instance.settings.default_branch}/%{{what}}"
    )
    assert made.json() == {
        **sent,
        "id": made.json()["id"],
        "kind": "project",
        "rendered_link_url": rendered,
        "rendered_image_url": "http://example.com/a%20%C3%BC?x=%{commit_sha}",  # There is no commit yet.
    }
    tried = api.get(f"/projects/{project.id}/badges/render", roles.owner, link_url=url, image_url=PARAMS["image_url"])
    assert tried.json() == {
        "name": None,
        "link_url": url,
        "image_url": PARAMS["image_url"],
        "rendered_link_url": rendered,
        "rendered_image_url": f"https://img.example.com/{project.id}.svg",
    }


def test_a_commit_is_shown_only_with_read_access_to_code(
    api: Api, make: Make, roles: UsersByRole, instance: Instance
) -> None:
    """Attack: a guest of a private project learns its newest commit from a badge."""
    project = project_with(make, roles)
    sha = "0123456789" * 4
    key = instance.app.database.read(lambda db: existing_project(db, project.id)).repository_key
    branch = repository_store(instance.settings).open(key).path / "refs" / "heads" / instance.settings.default_branch
    branch.parent.mkdir(parents=True, exist_ok=True)
    branch.write_text(sha + "\n")
    sent = {**PARAMS, "link_url": "https://example.com/%{commit_sha}"}
    badge_id = api.post(f"/projects/{project.id}/badges", roles.owner, **sent).json()["id"]
    for person, shown in ((roles.reporter, sha), (roles.guest, "%{commit_sha}")):
        seen = api.get(f"/projects/{project.id}/badges/{badge_id}", person).json()
        assert seen["rendered_link_url"] == f"https://example.com/{shown}"


def test_projects_list_the_badges_of_parent_groups(api: Api, make: Make, roles: UsersByRole) -> None:
    top = make_group(make, roles.owner)
    inner = make_group(make, roles.owner, parent=top)
    project = make_project(make, roles.owner, group=inner)
    other = make_group(make, roles.owner)
    above = api.post(f"/groups/{top.id}/badges", roles.owner, **PARAMS, name="top").json()
    around = api.post(f"/groups/{inner.id}/badges", roles.owner, **PARAMS).json()
    own = api.post(f"/projects/{project.id}/badges", roles.owner, **PARAMS).json()
    api.post(f"/groups/{other.id}/badges", roles.owner, **PARAMS)

    listed = api.get(f"/projects/{project.id}/badges", roles.owner)
    assert ids(listed) == [above["id"], around["id"], own["id"]]
    assert [each["kind"] for each in listed.json()] == ["group", "group", "project"]
    assert {each["rendered_link_url"] for each in listed.json()} == {f"https://example.com/{project.path}"}
    assert ids(api.get(f"/projects/{project.id}/badges", roles.owner, name="top")) == [above["id"]]
    assert ids(api.get(f"/groups/{inner.id}/badges", roles.owner)) == [around["id"]]
    badge_id = above["id"]
    assert api.get(f"/projects/{project.id}/badges/{badge_id}", roles.owner).status_code == 404
    assert api.put(f"/projects/{project.id}/badges/{badge_id}", roles.owner, name="x").status_code == 404
    assert api.delete(f"/projects/{project.id}/badges/{badge_id}", roles.owner).status_code == 200
    assert ids(api.get(f"/groups/{top.id}/badges", roles.owner)) == [badge_id]
    few, many = (
        statements_of(make, partial(api.get, f"/projects/{project.id}/badges", roles.owner, per_page=n))
        for n in (1, 100)
    )
    assert many <= few


def test_group_badges_are_rendered_for_a_visible_project(api: Api, make: Make, roles: UsersByRole) -> None:
    group = make_group(make, roles.owner, visibility="public", members={roles.guest: Level.GUEST})
    badge = api.post(f"/groups/{group.id}/badges", roles.owner, **PARAMS).json()
    assert badge["rendered_link_url"] == PARAMS["link_url"]
    hidden = make_project(make, roles.owner, group=group, visibility="private")
    shown = make_project(make, roles.owner, group=group, visibility="public")
    for person, project in ((roles.owner, hidden), (roles.stranger, shown)):
        seen = api.get(f"/groups/{group.id}/badges", person).json()[0]
        assert seen["rendered_link_url"] == f"https://example.com/{project.path}"


URLS = [
    ("javascript:alert(1)", 400),
    ("JavaScript://example.com/%0aalert(1)", 400),
    ("data:text/html,x", 400),
    ("ftp://example.com/", 400),
    ("//example.com/", 400),
    ("https://", 400),
    ("https:///path", 400),
    ("http://[", 400),
    ("https://exa mple.com/", 400),
    ("https://example.com/\n", 400),
    ('https://example.com/"onload=', 400),
    ("", 400),
    ("https://example.com/" + "x" * 2048, 400),
    (["https://example.com"], 400),
    ("HTTPS://EXAMPLE.COM:8443/%{project_path}", 201),
    ("http://127.0.0.1/ü", 201),
]


@pytest.mark.parametrize(("url", "status"), URLS, ids=lambda value: str(value)[:30])
def test_only_http_urls_are_accepted(api: Api, make: Make, roles: UsersByRole, url: Any, status: int) -> None:
    """Attack: a badge whose link runs a script in the page that shows it."""
    project = project_with(make, roles)
    for field in ("link_url", "image_url"):
        answer = api.post(f"/projects/{project.id}/badges", roles.owner, **{**PARAMS, field: url})
        assert answer.status_code == status
        assert status == 201 or field in answer.json()["message"]
    badge_id = api.post(f"/projects/{project.id}/badges", roles.owner, **PARAMS).json()["id"]
    edited = api.put(f"/projects/{project.id}/badges/{badge_id}", roles.owner, link_url=url)
    assert edited.status_code == (200 if status == 201 else 400)


def test_missing_parameters_and_badges(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    missing = api.post(f"/projects/{project.id}/badges", roles.owner, link_url="https://example.com")
    assert (missing.status_code, missing.json()["message"]) == (400, '400 (Bad request) "image_url" not given')
    long = api.post(f"/projects/{project.id}/badges", roles.owner, **PARAMS, name="n" * 256)
    assert long.status_code == 400
    badge_id = api.post(f"/projects/{project.id}/badges", roles.owner, **PARAMS).json()["id"]
    for _ in range(2):
        gone = api.delete(f"/projects/{project.id}/badges/{badge_id}", roles.owner)
        assert (gone.status_code, gone.content) == (200, b"")
    assert api.get(f"/projects/{project.id}/badges/x", roles.owner).status_code == 400


def test_an_archived_project_is_read_only(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    badge_id = api.post(f"/projects/{project.id}/badges", roles.owner, **PARAMS).json()["id"]
    api.post(f"/projects/{project.id}/archive", roles.owner)
    for caller in (roles.owner, make.root):
        assert ids(api.get(f"/projects/{project.id}/badges", caller)) == [badge_id]
        assert api.post(f"/projects/{project.id}/badges", caller, **PARAMS).status_code == 403
        assert api.put(f"/projects/{project.id}/badges/{badge_id}", caller, name="x").status_code == 403
        assert api.delete(f"/projects/{project.id}/badges/{badge_id}", caller).status_code == 403
