"""Lists of projects: visibility, filters, orders, pages, statement counts."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.projects import view_fields
from tests.client import Api, Make, User
from tests.factories import Project, ids, make_group, make_project, share, statements_of


@pytest.fixture(scope="module")
def visible_projects(api: Api, make: Make) -> dict[str, Any]:
    """Return one project of each kind as seen by one user; all names contain the same word."""
    user, stem = make.user(), make.name("listed")
    group = make_group(make, members={user: Level.REPORTER})
    below = make_group(make, parent=make_group(make, user))
    sharing = make_group(make, members={user: Level.OWNER})

    def create(name: str, **more: Any) -> Project:
        return make_project(make, name=f"{stem} {name}", path=f"{stem}-{name}", **more)

    made = {
        "own": create("own", owner=user, topics=["Python", "web"]),
        "member": create("member", members={user: Level.DEVELOPER}, issues_enabled=False),
        "by_group": create("by-group", group=group, merge_requests_enabled=False),
        "below_owned": create("below-owned", group=below),
        "shared": create("shared"),
        "private": create("private", topics=["python"]),
        "internal": create("internal", visibility="internal"),
        "public": create("public", visibility="public", topics=["web"]),
        "archived": create("archived", owner=user),
    }
    share(make, made["shared"], sharing, Level.DEVELOPER)
    api.post(f"{made['archived'].url}/archive", user)
    for name in ("public", "own"):
        api.post(f"{made[name].url}/star", user)
    api.post(f"{made['internal'].url}/star", make.root)
    return {"user": user, "stem": stem, **made}


def _seen(api: Api, visible_projects: dict[str, Any], caller: User | None, **params: Any) -> set[str]:
    found = set(ids(api.get("/projects", caller, per_page=100, **{"search": visible_projects["stem"], **params})))
    return {name for name, project in visible_projects.items() if isinstance(project, Project) and project.id in found}


MINE = {"own", "member", "by_group", "below_owned", "shared", "archived"}
SEEN = MINE | {"internal", "public"}
FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, SEEN),
    ({"membership": True}, MINE),
    ({"owned": True}, {"own", "below_owned", "archived"}),
    ({"starred": True}, {"public", "own"}),
    ({"archived": True}, {"archived"}),
    ({"archived": False}, SEEN - {"archived"}),
    ({"visibility": "public"}, {"public"}),
    ({"visibility": "internal"}, {"internal"}),
    ({"visibility": "private"}, MINE),
    ({"with_issues_enabled": True}, SEEN - {"member"}),
    ({"with_issues_enabled": False}, SEEN),
    ({"with_merge_requests_enabled": True}, SEEN - {"by_group"}),
    ({"min_access_level": 10}, MINE),
    ({"min_access_level": 30}, MINE - {"by_group"}),
    ({"min_access_level": 40}, {"own", "below_owned", "archived"}),
    ({"topic": "python"}, {"own"}),
    ({"topic": "WEB"}, {"own", "public"}),
    ({"topic": "nothing"}, set()),
    ({"membership": True, "starred": True}, {"own"}),
    ({"owned": True, "archived": False, "visibility": "private"}, {"own", "below_owned"}),
    (
        {"membership": True, "min_access_level": 30, "archived": False, "with_merge_requests_enabled": True},
        {"own", "member", "below_owned", "shared"},
    ),
    ({"last_activity_after": "2999-01-01"}, set()),
    ({"last_activity_before": "2999-01-01T00:00:00Z"}, SEEN),
]


@pytest.mark.parametrize(
    ("params", "expected"), FILTERS, ids=lambda value: str(value) if isinstance(value, dict) else ""
)
def test_filters(api: Api, visible_projects: dict[str, Any], params: dict[str, Any], expected: set[str]) -> None:
    assert _seen(api, visible_projects, visible_projects["user"], **params) == expected


def test_users_list_visible_projects(api: Api, make: Make, visible_projects: dict[str, Any]) -> None:
    everything = SEEN | {"private"}

    assert _seen(api, visible_projects, None) == {"public"}
    assert _seen(api, visible_projects, make.user()) == {"public", "internal"}
    assert _seen(api, visible_projects, make.user(external=True)) == {"public"}
    assert _seen(api, visible_projects, make.root) == everything
    # Filters by membership do not apply to anonymous callers.
    assert _seen(api, visible_projects, None, owned=True, membership=True, starred=True, min_access_level=50) == {
        "public"
    }
    assert _seen(api, visible_projects, make.root, starred=True) == {"internal"}
    assert "own" not in _seen(api, visible_projects, make.root, membership=True)


@pytest.mark.parametrize(
    ("term", "found"), [("OWN", True), ("-own", True), ("listed", True), ("%", False), ("_wn", False), ("'\";", False)]
)
def test_search_escapes_special_characters(api: Api, visible_projects: dict[str, Any], term: str, found: bool) -> None:
    assert ("own" in _seen(api, visible_projects, visible_projects["user"], search=term)) is found


def test_filters_by_id_range(api: Api, visible_projects: dict[str, Any]) -> None:
    middle = visible_projects["shared"].id

    assert _seen(api, visible_projects, visible_projects["user"], id_after=middle) == {"internal", "public", "archived"}
    assert _seen(api, visible_projects, visible_projects["user"], id_before=middle) == {
        "own",
        "member",
        "by_group",
        "below_owned",
    }


@pytest.fixture(scope="module")
def ordered(api: Api, make: Make) -> tuple[User, dict[int, str]]:
    """Return three projects whose names, paths, ages and stars have different orders."""
    user = make.user()
    made = [make_project(make, user, name=name, path=path) for name, path in (("b", "x"), ("C", "z"), ("a", "Y"))]
    api.post(f"{made[1].url}/star", user)
    api.put(made[0].url, user, description="Changed last")
    return user, {project.id: project.name.lower() for project in made}


ORDERS = [
    ({}, "acb"),
    ({"sort": "asc"}, "bca"),
    ({"order_by": "id"}, "acb"),
    ({"order_by": "id", "sort": "asc"}, "bca"),
    ({"order_by": "created_at", "sort": "asc"}, "bca"),
    ({"order_by": "name"}, "cba"),
    ({"order_by": "name", "sort": "asc"}, "abc"),
    ({"order_by": "path"}, "cab"),
    ({"order_by": "path", "sort": "asc"}, "bac"),
    ({"order_by": "updated_at"}, "bac"),
    ({"order_by": "last_activity_at", "sort": "asc"}, "bca"),
    ({"order_by": "star_count"}, "cab"),
]


@pytest.mark.parametrize(("params", "expected"), ORDERS, ids=str)
def test_orders(api: Api, ordered: tuple[User, dict[int, str]], params: dict[str, str], expected: str) -> None:
    user, names = ordered
    for place in ("/projects?membership=true", f"/users/{user.id}/projects?x=1"):
        query = "".join(f"&{key}={value}" for key, value in params.items())
        assert "".join(names[each] for each in ids(api.request("GET", place + query, user))) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("order_by", "runners_token"),
        ("sort", "down"),
        ("visibility", "open"),
        ("archived", "maybe"),
        ("id_after", "x"),
        *(("min_access_level", value) for value in ("99", "60", "0", "-5", "45", "x")),
    ],
)
def test_invalid_filters_are_rejected(api: Api, name: str, value: str) -> None:
    refused = api.get("/projects", None, **{name: value})

    assert (refused.status_code, refused.json()) == (400, {"message": {name: ["is invalid"]}})


@pytest.mark.parametrize(
    "query", ["page=1e18", "per_page=-1", "per_page=0", "per_page=1000000000", "page=-3", "page=999999999999999999"]
)
def test_extreme_page_numbers(api: Api, query: str) -> None:
    assert api.request("GET", f"/projects?{query}").status_code in (200, 400)


def test_simple_view_is_short_and_lists_show_no_secrets(api: Api, make: Make, visible_projects: dict[str, Any]) -> None:
    for caller in (make.root, visible_projects["user"], None):
        sent = {"search": visible_projects["stem"], "simple": True}
        assert {frozenset(each) for each in api.get("/projects", caller, **sent).json()} == {
            frozenset(view_fields.SIMPLE)
        }
        listed = api.get("/projects", caller, search=visible_projects["stem"])
        allowed = view_fields.SIGNED_IN | {"owner"} if caller else view_fields.ANONYMOUS | {"owner"}
        assert all(set(each) <= allowed for each in listed.json())
        assert "@example" not in listed.text


def test_pages_and_totals(api: Api, make: Make) -> None:
    user = make.user()
    made = [make_project(make, user).id for _ in range(5)]

    page = api.get("/projects", user, membership=True, per_page=2, page=2)
    head = api.request("HEAD", "/projects?membership=true&per_page=2", user)

    assert ids(page) == made[::-1][2:4]
    assert [page.headers[f"x-{name}"] for name in ("total", "total-pages", "next-page", "prev-page")] == [
        "5",
        "3",
        "3",
        "1",
    ]
    assert "membership=true" in page.headers["link"]
    assert (head.headers["x-total"], head.content) == ("5", b"")
    assert ids(api.get("/projects", user, membership=True, page=9)) == []


@pytest.mark.parametrize("sort", ["asc", "desc"])
def test_keyset_pagination_returns_each_project_once(api: Api, make: Make, sort: str) -> None:
    user = make.user()
    made = [make_project(make, user).id for _ in range(5)]
    path, met = f"/projects?pagination=keyset&order_by=id&sort={sort}&per_page=2&owned=true", []
    while path:
        page = api.request("GET", path, user)
        met += ids(page)
        link = page.headers.get("link", "")
        path = link.split(">")[0].split("/api/v4")[-1] if "next" in link else ""

    assert met == (made if sort == "asc" else made[::-1])


def test_the_projects_of_a_user(api: Api, make: Make) -> None:
    owner = make.user()
    private, public = make_project(make, owner), make_project(make, owner, visibility="public")
    make_project(make, owner, group=make_group(make, owner, visibility="public"), visibility="public")

    for name in (str(owner.id), owner.username, owner.username.upper()):
        assert ids(api.get(f"/users/{name}/projects")) == [public.id]
        assert ids(api.get(f"/users/{name}/projects", make.user())) == [public.id]
        assert ids(api.get(f"/users/{name}/projects", owner)) == [public.id, private.id]
    assert ids(api.get(f"/users/{owner.id}/projects", owner, visibility="private")) == [private.id]
    assert api.get("/users/999999999/projects").json() == {"message": "404 User Not Found"}


LISTS = [
    "/projects",
    "/projects?membership=true&statistics=true",
    "/projects?simple=true",
    "/projects/search/pro",
    "/users/{user}/projects",
    "/users/{user}/starred_projects",
    "/groups/{group}/projects",
    "/groups/{group}/projects?include_subgroups=true",
    "/groups/{group}/projects/shared",
    "/projects/{source}/forks",
]


@pytest.mark.parametrize("who", ["owner", "root"])
@pytest.mark.parametrize("path", LISTS)
def test_a_longer_page_takes_no_more_statements(api: Api, make: Make, path: str, who: str) -> None:
    # More projects than either page holds: a list that fits on its page needs no statement to count it.
    owner = make.user()
    group, other = make_group(make, owner), make_group(make, owner)
    source = make_project(make, owner)
    for _ in range(4):
        make_project(make)
    for _ in range(4):
        made = [make_project(make, owner, topics=["a", "b"]), make_project(make, owner, group=group)]
        share(make, made[0], group, 20)
        share(make, made[1], other, 20)
        api.post(f"{made[0].url}/star", owner)
        forked = api.post(f"{source.url}/fork", owner, namespace=other.id, path=make.name("f"), name=make.name("f"))
        assert forked.status_code == 201, forked.text
    address, _, filters = path.format(user=owner.id, group=group.id, source=source.id).partition("?")
    caller = make.root if who == "root" else owner

    def cost(per_page: int) -> int:
        page = f"{address}?per_page={per_page}&{filters}"
        return statements_of(make, lambda: api.request("GET", page, caller))

    assert cost(1) == cost(3) <= 12


def test_statistics_require_membership_with_code_access(api: Api, make: Make) -> None:
    person, other = make.user(), make.user()
    group = make_group(make, visibility="public", members={person: Level.REPORTER})
    invited = make_group(make, members={person: Level.MASTER})
    stem = make.name("counted")

    def project(name: str, **attributes: Any) -> Project:
        return make_project(make, name=f"{stem} {name}", visibility="public", **attributes)

    share(make, project("shared for reporters"), invited, Level.REPORTER)
    share(make, project("shared for guests"), invited, Level.GUEST)
    project("own", owner=person)
    project("in the group", group=group)
    project("by membership", members={person: Level.REPORTER})
    project("as a guest", members={person: Level.GUEST})
    project("of somebody", owner=other)

    def counted(caller: User | None) -> set[str]:
        listed = api.get("/projects", caller, search=stem, statistics=True).json()
        for each in listed:
            alone = api.get(f"/projects/{each['id']}", caller, statistics=True).json()
            assert ("statistics" in alone) == ("statistics" in each), each["name"]
        return {each["name"].removeprefix(f"{stem} ") for each in listed if "statistics" in each}

    assert counted(person) == {"shared for reporters", "own", "in the group", "by membership"}
    assert counted(other) == {"of somebody"}
    assert counted(None) == set()
    assert len(counted(make.root)) == 7
