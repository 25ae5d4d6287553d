"""Lists of groups: visibility, filters, order, statement counts."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.factories import Group, add_members, ids, make_group, make_project, statements_of


def test_the_list_requires_authentication(api: Api) -> None:
    assert api.get("/groups").status_code == 401


@pytest.fixture(scope="module")
def roles(make: Make) -> dict[str, Any]:
    """Return one group of each kind, as seen by one user."""
    user, stem = make.user(), make.name("cast")
    owned = make_group(make, user, path=f"{stem}-owned")
    below = make_group(make, user, path="below", name=f"{stem} below", parent=owned)
    private = make_group(make, path=f"{stem}-private")
    groups = {
        "owned": owned,
        "below": below,
        "guest": make_group(make, members={user: Level.GUEST}, path=f"{stem}-guest"),
        "inherited": make_group(
            make, path="inherited", parent=make_group(make, members={user: Level.DEVELOPER}, path=f"{stem}-above")
        ),
        "private": private,
        "internal": make_group(make, path=f"{stem}-internal", visibility="internal"),
        "public": make_group(make, path=f"{stem}-public", visibility="public"),
    }
    return {"user": user, "stem": stem, **groups}


def _seen(api: Api, roles: dict[str, Any], caller: User, **params: Any) -> set[str]:
    found = set(ids(api.get("/groups", caller, per_page=100, search=roles["stem"], **params)))
    return {name for name, group in roles.items() if isinstance(group, Group) and group.id in found}


ALL = {"owned", "below", "guest", "inherited", "private", "internal", "public"}
LISTS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, {"owned", "below", "guest"}),
    ({"all_available": True}, ALL - {"private"}),
    ({"owned": True}, {"owned", "below"}),
    ({"min_access_level": 30}, {"owned", "below", "inherited"}),
    ({"all_available": True, "visibility": "public"}, {"public"}),
    ({"all_available": True, "top_level_only": True}, {"owned", "guest", "internal", "public"}),
]


@pytest.mark.parametrize(("params", "expected"), LISTS)
def test_filters_by_membership_and_ownership(
    api: Api, roles: dict[str, Any], params: dict[str, Any], expected: set[str]
) -> None:
    assert _seen(api, roles, roles["user"], **params) == expected


def test_anonymous_and_other_users_see_visible_groups(api: Api, make: Make, roles: dict[str, Any]) -> None:
    assert _seen(api, roles, make.user(), all_available=True) == {"internal", "public"}
    assert _seen(api, roles, make.user(external=True), all_available=True) == {"public"}
    assert _seen(api, roles, make.user()) == set()
    assert _seen(api, roles, make.root) == ALL


def test_members_of_a_nested_project_see_its_parent_groups(api: Api, make: Make) -> None:
    user = make.user()
    top = make_group(make)
    middle = make_group(make, parent=top)
    make_project(make, group=middle, members={user: Level.GUEST})
    beside = make_group(make, parent=top)

    assert set(ids(api.get("/groups", user, all_available=True, search=top.path))) == {top.id, middle.id}
    assert ids(api.get(f"{top.url}/subgroups", user)) == [middle.id]
    for group, status in ((top, 200), (middle, 200), (beside, 404)):
        assert api.get(group.url, user).status_code == status


def test_skip_groups(api: Api, roles: dict[str, Any]) -> None:
    everything = set(ids(api.get("/groups", roles["user"])))
    skipped = {roles["guest"].id, roles["below"].id}

    assert set(ids(api.get("/groups", roles["user"], **{"skip_groups[]": list(skipped)}))) == everything - skipped


ORDERS = [
    ({}, ["a", "b", "c"]),
    ({"sort": "desc"}, ["c", "b", "a"]),
    ({"order_by": "path"}, ["c", "a", "b"]),
    ({"order_by": "path", "sort": "desc"}, ["b", "a", "c"]),
    ({"order_by": "id"}, ["b", "a", "c"]),
]


@pytest.mark.parametrize(("params", "expected"), ORDERS)
def test_orders(api: Api, make: Make, params: dict[str, str], expected: list[str]) -> None:
    user, stem = make.user(), make.name("order")
    for name, path in (("b", "z"), ("A", "y"), ("c", "X")):
        make_group(make, user, name=f"{name} {stem}", path=f"{path}-{stem}")

    listed = api.get("/groups", user, **params).json()

    assert [group["name"][0].lower() for group in listed] == expected


LEVELS = [("min_access_level", value) for value in ("99", "60", "0", "-5", "45", "x")]


@pytest.mark.parametrize(
    ("name", "value"), [("order_by", "owner_id"), ("sort", "up"), ("visibility", "secret"), *LEVELS]
)
def test_invalid_filters_are_rejected(api: Api, make: Make, name: str, value: str) -> None:
    refused = api.get("/groups", make.root, **{name: value})

    assert (refused.status_code, refused.json()) == (400, {"message": {name: ["is invalid"]}})


def test_statistics_are_shown_to_administrators_only(api: Api, make: Make) -> None:
    user = make.user()
    group = make_group(make, user)
    first, second = (make_project(make, user, group=group) for _ in range(2))
    empty = make_group(make, user, parent=group)
    columns = ("repository_size", "lfs_objects_size", "job_artifacts_size")
    for number, project in enumerate((first, second), 1):
        _set_sizes(make, project.id, {name: number * 10**place for place, name in enumerate(columns)})

    by_id = {each["id"]: each for each in api.get("/groups", make.root, statistics=True, search=group.path).json()}

    assert by_id[group.id]["statistics"] == {
        "storage_size": 333,
        "repository_size": 3,
        "lfs_objects_size": 30,
        "job_artifacts_size": 300,
    }
    assert set(by_id[empty.id]["statistics"].values()) == {0}
    assert "statistics" not in api.get("/groups", make.root, search=group.path).json()[0]
    assert "statistics" not in api.get("/groups", user, statistics=True).json()[0]


def _set_sizes(make: Make, project_id: int, sizes: dict[str, int]) -> None:
    from ingot.projects.projects.tables import projects

    make.database.write(lambda db: db.update(projects, project_id, **sizes))


def test_pages_and_totals(api: Api, make: Make) -> None:
    user, stem = make.user(), make.name("paged")
    groups = [make_group(make, user, path=f"{stem}-{number}") for number in range(5)]

    page = api.get("/groups", user, per_page=2, page=2)
    head = api.request("HEAD", "/groups?per_page=2", user)

    assert [each["id"] for each in page.json()] == [groups[2].id, groups[3].id]
    assert (page.headers["x-total"], page.headers["x-total-pages"]) == ("5", "3")
    assert (head.headers["x-total"], head.content) == ("5", b"")


def test_keyset_pagination_returns_each_group_once(api: Api, make: Make) -> None:
    user = make.user()
    groups = [make_group(make, user).id for _ in range(5)]
    path, met = "/groups?pagination=keyset&order_by=id&sort=asc&per_page=2", []
    while path:
        page = api.request("GET", path, user)
        met += ids(page)
        link = page.headers.get("link", "")
        path = link.split(">")[0].split("/api/v4")[-1] if "next" in link else ""

    assert met == groups


LISTED = [
    "/groups?all_available=true",
    "/groups?owned=true",
    "/groups/{top}/subgroups",
    "/groups/{top}/descendant_groups",
]


@pytest.mark.parametrize("path", LISTED)
@pytest.mark.parametrize("who", ["member", "root"])
def test_a_longer_page_takes_no_more_statements(api: Api, make: Make, path: str, who: str) -> None:
    # More groups than either page holds: a list that fits on its page needs no statement to count it.
    user = make.user()
    top = make_group(make, user)
    for _ in range(7):
        add_members(make, make_group(make, user, parent=top), {make.user(): 30})
    caller = user if who == "member" else make.root
    address, _, filters = path.format(top=top.id).partition("?")

    def cost(per_page: int) -> int:
        page = f"{address}?per_page={per_page}&{filters}"
        return statements_of(make, lambda: api.request("GET", page, caller))

    assert cost(2) == cost(6) < 8
