"""Releases of all projects in a group and its subgroups."""

import itertools
from typing import Any

from tests.api.releases.test_releases import some_tags, tags
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, Project, make_group, make_project, statements_of
from tests.roles import UsersByRole, group_with


def _released(instance: Instance, make: Make, group: Group, tag: str, **attributes: Any) -> Project:
    """Create a project with a release of a new tag."""
    project = make_project(make, group=group, **attributes)
    some_tags().fill(instance, project)
    _release(make, project, tag, "2026-01-01T00:00:00Z")
    return project


def _release(make: Make, project: Project, tag: str, released_at: str) -> None:
    sent = {"tag_name": tag, "ref": "v1", "description": "x", "released_at": released_at}
    made = make.api.post(f"{project.url}/releases", make.root, **sent)
    assert made.status_code == 201, made.text


def test_a_group_lists_the_releases_that_each_caller_may_read(
    api: Api, instance: Instance, make: Make, roles: UsersByRole
) -> None:
    """They are those of the projects whose own list the caller may read, in every combination of settings."""
    group = group_with(make, roles, visibility="public")
    external = make.user(external=True)
    projects = {
        f"{visibility}-{releases}-{code}": _released(
            instance, make, group, f"{visibility}-{releases}-{code}", visibility=visibility
        )
        for visibility, releases, code in itertools.product(
            ("public", "internal", "private"), ("enabled", "private", "disabled"), ("enabled", "private", "disabled")
        )
    }
    for name, project in projects.items():
        _, releases, code = name.split("-")
        levels = {"releases_access_level": releases, "repository_access_level": code}
        assert api.put(project.url, make.root, **levels).status_code == 200
    people: list[User | None] = [roles[role] for role in ("administrator", "owner", "developer", "reporter", "guest")]
    for caller in (*people, roles.stranger, external, None):
        readable = {name for name, each in projects.items() if api.get(f"{each.url}/releases", caller).is_success}
        for simple in (False, True):
            listed = tags(api.get(f"{group.url}/releases", caller, per_page=100, simple=simple))
            assert sorted(listed) == sorted(readable)
        assert readable
    hidden = make_group(make, visibility="private")
    assert [api.get(f"{hidden.url}/releases", caller).status_code for caller in (roles.owner, None)] == [404, 404]


def test_releases_of_a_group_have_an_order_and_all_fields(api: Api, instance: Instance, make: Make) -> None:
    group = make_group(make)
    first = _released(instance, make, group, "a1")
    second = _released(instance, make, make_group(make, parent=group), "b1")
    _release(make, first, "a2", "2026-03-01T00:00:00Z")
    _release(make, second, "b2", "2026-02-01T00:00:00Z")
    releases = f"{group.url}/releases"

    assert tags(api.get(releases, make.root)) == ["a2", "b2", "b1", "a1"]
    assert tags(api.get(releases, make.root, sort="asc")) == ["a1", "b1", "b2", "a2"]
    assert tags(api.get(releases, make.root, order_by="created_at")) == ["b2", "a2", "b1", "a1"]
    assert api.get(releases, make.root, per_page=1).headers["x-total"] == "4"
    assert api.get(releases, make.root, sort="up").status_code == 400
    lists = [api.get(f"{project.url}/releases", make.root).json() for project in (first, second)]
    own = {each["tag_name"]: each for each in itertools.chain(*lists)}
    assert {each["tag_name"]: each for each in api.get(releases, make.root).json()} == own
    simple = api.get(releases, make.root, simple=True).json()[0]
    fields = ("name", "tag_name", "description", "created_at", "released_at", "upcoming_release")
    assert simple == {name: own["a2"][name] for name in fields}


def test_long_pages_of_a_group_need_no_more_statements(api: Api, instance: Instance, make: Make) -> None:
    group = make_group(make)
    for number in range(3):
        _released(instance, make, group, f"v-{number}")

    def cost(per_page: int) -> int:
        return statements_of(make, lambda: api.get(f"{group.url}/releases", make.root, per_page=per_page))

    assert cost(3) == cost(1)
