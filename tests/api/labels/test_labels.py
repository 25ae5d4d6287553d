"""Labels of projects: creation, reading, editing, priority, subscription, deletion and permissions."""

from typing import Any
from urllib.parse import quote

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.factories import Project, make_group, make_project
from tests.roles import UsersByRole, project_with

RED = "#FF0000"


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    """Return a user who owns the projects."""
    return make.user()


@pytest.fixture
def project(make: Make, owner: User) -> Project:
    """Return a new project for each test."""
    return make_project(make, owner)


def _make(api: Api, owner: User, project: Project, name: str = "bug", **more: Any) -> dict[str, Any]:
    made = api.post(f"/projects/{project.id}/labels", owner, name=name, color=RED, **more)
    assert made.status_code == 201, made.text
    label: dict[str, Any] = made.json()
    return label


def test_create_and_read(api: Api, owner: User, project: Project) -> None:
    label = _make(api, owner, project, "Foo & Bar?", description="test", priority=2)
    assert label == {
        "id": label["id"],
        "name": "Foo & Bar?",
        "color": RED,
        "description": "test",
        "text_color": "#FFFFFF",
        "subscribed": False,
        "open_issues_count": 0,
        "closed_issues_count": 0,
        "open_merge_requests_count": 0,
        "priority": 2,
        "is_project_label": True,
    }
    for name in (label["id"], quote("Foo & Bar?", safe="")):
        assert api.get(f"/projects/{project.id}/labels/{name}", owner).json() == label
    assert api.get(f"/projects/{project.id}/labels", owner).json() == [label]
    short = api.get(f"/projects/{project.id}/labels", owner, with_counts="false").json()
    assert "open_issues_count" not in short[0]


def test_list_is_sorted_searched_and_paged(api: Api, owner: User, project: Project) -> None:
    for name in ("beta", "Alpha", "gamma 100%", "Äther"):
        _make(api, owner, project, name)

    def names(**params: Any) -> list[str]:
        return [label["name"] for label in api.get(f"/projects/{project.id}/labels", owner, **params).json()]

    assert names() == ["Alpha", "beta", "gamma 100%", "Äther"]
    assert names(search="ALPHA") == ["Alpha"]
    assert names(search="äT") == ["Äther"]
    assert names(search="%") == ["gamma 100%"]
    page = api.get(f"/projects/{project.id}/labels", owner, per_page=2, page=2)
    assert ([label["name"] for label in page.json()], page.headers["x-total"]) == (["gamma 100%", "Äther"], "4")


INVALID = [
    ({"name": "x"}, '400 (Bad request) "color" not given'),
    ({"color": RED}, '400 (Bad request) "name" not given'),
    ({"name": "x", "color": "#FFAA"}, {"color": ["must be a valid color code"]}),
    ({"name": "x", "color": "#FFAAFFFF"}, {"color": ["must be a valid color code"]}),
    ({"name": "x", "color": "reddish"}, {"color": ["must be a valid color code"]}),
    ({"name": "x", "color": "FF0000"}, {"color": ["must be a valid color code"]}),
    ({"name": ",", "color": RED}, {"title": ["is invalid"]}),
    ({"name": "a,b", "color": RED}, {"title": ["is invalid"]}),
    ({"name": " ", "color": RED}, {"title": ["can't be blank"]}),
    ({"name": "x" * 256, "color": RED}, {"title": ["is too long (maximum is 255 characters)"]}),
    ({"name": "x" * 1_000_000, "color": RED}, {"title": ["is too long (maximum is 255 characters)"]}),
    ({"name": ["x"], "color": RED}, {"name": ["is invalid"]}),
    ({"name": "x", "color": {"a": 1}}, {"color": ["is invalid"]}),
    ({"name": "a\0b", "color": RED}, {"name": ["is invalid"]}),
    ({"name": "x", "color": RED, "priority": "high"}, {"priority": ["is invalid"]}),
    ({"name": "x", "color": RED, "priority": -1}, {"priority": ["must be greater than or equal to 0"]}),
    ({"name": "x", "color": RED, "priority": 2**63}, {"priority": ["is invalid"]}),
    (
        {"name": "x", "color": RED, "description": "x" * 1_000_001},
        {"description": ["is too long (maximum is 1000000 characters)"]},
    ),
]


@pytest.mark.parametrize(("sent", "message"), INVALID)
def test_invalid_labels_are_rejected(
    api: Api, owner: User, project: Project, sent: dict[str, Any], message: Any
) -> None:
    answer = api.post(f"/projects/{project.id}/labels", owner, **sent)
    assert (answer.status_code, answer.json()["message"]) == (400, message)
    assert api.get(f"/projects/{project.id}/labels", owner).json() == []


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", '"><img src=x onerror=x>', "日本語 🦊", "..", "a/b", "100", "?", "promote"]
)
def test_hostile_titles_are_stored_unchanged_and_reachable(api: Api, owner: User, project: Project, name: str) -> None:
    label = _make(api, owner, project, name)
    assert label["name"] == name
    path = f"/projects/{project.id}/labels/{label['id']}"
    assert api.get(path, owner).json()["name"] == name
    edited = api.put(f"/projects/{project.id}/labels", owner, name=name, color="#00ff00")
    assert (edited.status_code, edited.json()["color"]) == (200, "#00ff00")
    assert api.delete(f"/projects/{project.id}/labels", owner, name=name).status_code == 200
    assert api.get(path, owner).status_code == 404


COLORS = [
    ("#fff", "#fff", "#333333"),
    ("red", "#FF0000", "#FFFFFF"),
    (" RebeccaPurple ", "#663399", "#FFFFFF"),
    ("#abcdef", "#abcdef", "#333333"),
]


@pytest.mark.parametrize(("given", "shown", "text"), COLORS)
def test_colors(api: Api, owner: User, project: Project, given: str, shown: str, text: str) -> None:
    """A color code is stored as sent, because clients compare it; a name is converted to its code."""
    made = api.post(f"/projects/{project.id}/labels", owner, name="x", color=given).json()
    assert (made["color"], made["text_color"]) == (shown, text)


def test_a_title_is_unique(api: Api, make: Make, owner: User, project: Project) -> None:
    _make(api, owner, project)
    again = api.post(f"/projects/{project.id}/labels", owner, name=" bug ", color=RED)
    assert (again.status_code, again.json()) == (409, {"message": "Label already exists"})
    other = _make(api, owner, project, "other")
    renamed = api.put(f"/projects/{project.id}/labels/{other['id']}", owner, new_name="bug")
    assert (renamed.status_code, renamed.json()) == (400, {"message": {"title": ["has already been taken"]}})
    _make(api, owner, make_project(make, owner))


def test_edit(api: Api, owner: User, project: Project) -> None:
    label = _make(api, owner, project, description="old", priority=1)
    path = f"/projects/{project.id}/labels/{label['id']}"

    edited = api.put(path, owner, new_name="defect", color="blue", description="new", priority=5).json()
    assert (edited["name"], edited["color"], edited["description"], edited["priority"]) == (
        "defect",
        "#0000FF",
        "new",
        5,
    )
    assert api.put(path, owner, priority=None).json()["priority"] is None
    assert api.put(path, owner, description="").json()["description"] is None
    by_name = api.put(f"/projects/{project.id}/labels", owner, name="defect", new_name="bug")
    assert by_name.json()["name"] == "bug"
    assert api.put(f"/projects/{project.id}/labels", owner, label_id=label["id"], priority=0).json()["priority"] == 0
    assert api.put(path, owner, new_name="bug").status_code == 200

    assert api.put(path, owner).json()["message"] == '400 (Bad request) "new_name" not given'
    assert api.put(f"/projects/{project.id}/labels", owner, name="bug").status_code == 400
    assert api.put(f"/projects/{project.id}/labels", owner, color=RED).status_code == 400
    assert api.put(f"/projects/{project.id}/labels", owner, name="missing", color=RED).status_code == 404
    for sent, field in [({"new_name": ","}, "title"), ({"new_name": ""}, "title"), ({"color": "#12"}, "color")]:
        wrong = api.put(path, owner, **sent)
        assert (wrong.status_code, list(wrong.json()["message"])) == (400, [field])


def test_issues_show_the_new_name(api: Api, owner: User, project: Project) -> None:
    label = _make(api, owner, project)
    issue = api.post(f"/projects/{project.id}/issues", owner, title="x", labels="bug").json()
    api.put(f"/projects/{project.id}/labels/{label['id']}", owner, new_name="defect")
    path = f"/projects/{project.id}/issues/{issue['iid']}"
    assert api.get(path, owner).json()["labels"] == ["defect"]
    assert api.delete(f"/projects/{project.id}/labels/{label['id']}", owner).status_code == 200
    assert api.get(path, owner).json()["labels"] == []


def test_deleting_twice(api: Api, owner: User, project: Project) -> None:
    label = _make(api, owner, project)
    path = f"/projects/{project.id}/labels/{label['id']}"
    assert [api.delete(path, owner).status_code for _ in range(2)] == [200, 200]
    assert api.delete(f"/projects/{project.id}/labels", owner, name="bug").status_code == 404
    assert api.delete(f"/projects/{project.id}/labels", owner).status_code == 400


def test_subscribe(api: Api, make: Make, owner: User, project: Project) -> None:
    other = make.user()
    public = make_project(make, owner, visibility="public")
    label = _make(api, owner, public)
    base = f"/projects/{public.id}/labels"

    followed = api.post(f"/projects/{public.id}/labels/{label['id']}/subscribe", other)
    assert (followed.status_code, followed.json()["subscribed"]) == (201, True)
    assert api.post(f"{base}/bug/subscribe", other).status_code == 304
    assert api.get(base, owner).json()[0]["subscribed"] is False
    left = api.post(f"/projects/{public.id}/labels/{label['id']}/unsubscribe", other)
    assert (left.status_code, left.json()["subscribed"]) == (201, False)
    assert api.post(f"{base}/bug/unsubscribe", other).status_code == 304
    assert api.post(f"{base}/missing/subscribe", other).status_code == 404


def test_labels_of_other_projects_are_not_found(api: Api, make: Make, owner: User, project: Project) -> None:
    """Attack: reach a label, or learn its title, through another project by id or name."""
    stranger = make.user()
    secret = _make(api, owner, project, "secret title")
    theirs = make_project(make, stranger)
    base = f"/projects/{theirs.id}/labels"
    answers = [
        api.get(f"{base}/{secret['id']}", stranger),
        api.put(f"{base}/{secret['id']}", stranger, color=RED),
        api.put(base, stranger, label_id=secret["id"], color=RED),
        api.post(f"{base}/{secret['id']}/subscribe", stranger),
        api.delete(base, stranger, label_id=secret["id"]),
    ]
    assert [answer.status_code for answer in answers] == [404] * 5
    assert api.delete(f"{base}/{secret['id']}", stranger).status_code == 200
    assert not any("secret title" in answer.text for answer in answers)
    assert api.get(f"/projects/{project.id}/labels/{secret['id']}", owner).status_code == 200


CALLERS = [
    ("nobody", 401, 401),
    ("stranger", 404, 404),
    ("guest", 200, 403),
    ("reporter", 200, 201),
    ("developer", 200, 201),
    ("administrator", 200, 201),
]


@pytest.fixture(scope="module")
def private(make: Make, roles: UsersByRole) -> Project:
    """Return a private project of the same owner."""
    return project_with(make, roles)


@pytest.mark.parametrize(("role", "reads", "writes"), CALLERS)
def test_permissions(
    api: Api, make: Make, roles: UsersByRole, private: Project, role: str, reads: int, writes: int
) -> None:
    label = _make(api, roles.owner, private, make.name("label"))
    base = f"/projects/{private.id}/labels"
    caller = roles[role]
    assert api.get(base, caller).status_code == reads
    assert api.get(f"{base}/{label['id']}", caller).status_code == reads
    assert api.post(base, caller, name=make.name("label"), color=RED).status_code == writes
    done = 200 if writes == 201 else writes
    assert api.put(f"{base}/{label['id']}", caller, color="#000").status_code == done
    assert api.put(base, caller, name=label["name"], color="#000").status_code == done
    assert api.delete(f"{base}/{label['id']}", caller).status_code == done


def test_labels_of_a_public_project_require_authentication(api: Api, make: Make, owner: User) -> None:
    public = make_project(make, owner, visibility="public")
    _make(api, owner, public)
    stranger = make.user()
    assert api.get(f"/projects/{public.id}/labels").status_code == 401
    assert len(api.get(f"/projects/{public.id}/labels", stranger).json()) == 1
    assert api.post(f"/projects/{public.id}/labels", stranger, name="x", color=RED).status_code == 403


def test_an_archived_project_is_read_only(api: Api, owner: User, project: Project) -> None:
    label = _make(api, owner, project)
    api.post(f"/projects/{project.id}/archive", owner)
    base = f"/projects/{project.id}/labels"
    assert api.get(f"{base}/{label['id']}", owner).status_code == 200
    refused = [
        api.post(base, owner, name="x", color=RED),
        api.put(f"{base}/{label['id']}", owner, color=RED),
        api.delete(f"{base}/{label['id']}", owner),
        api.post(f"{base}/{label['id']}/subscribe", owner),
        api.put(f"{base}/{label['id']}/promote", owner),
    ]
    assert [answer.status_code for answer in refused] == [403] * 5


def test_labels_are_hidden_if_issues_and_merge_requests_are_disabled(api: Api, owner: User, project: Project) -> None:
    _make(api, owner, project)
    path = f"/projects/{project.id}"
    api.put(path, owner, issues_enabled=False)
    assert api.get(f"{path}/labels", owner).status_code == 200
    api.put(path, owner, merge_requests_enabled=False)
    assert api.get(f"{path}/labels", owner).status_code == 403
    assert api.post(f"{path}/labels", owner, name="x", color=RED).status_code == 403
    api.put(path, owner, issues_enabled=True)
    assert len(api.get(f"{path}/labels", owner).json()) == 1


def test_promote(api: Api, make: Make) -> None:
    """All labels with the title become one group label, and labelled objects keep it."""
    owner, reporter = make.user(), make.user()
    group = make_group(make, owner, members={reporter: Level.REPORTER})
    below = make_group(make, owner, parent=group)
    one, two = make_project(make, owner, group=group), make_project(make, owner, group=below)
    label = _make(api, owner, one, priority=3)
    _make(api, owner, two)
    for project in (one, two):
        assert api.post(f"/projects/{project.id}/issues", owner, title="x", labels="bug").status_code == 201
    api.post(f"/projects/{one.id}/labels/bug/subscribe", owner)

    promoted = api.put(f"/projects/{one.id}/labels/{label['id']}/promote", reporter)

    assert promoted.status_code == 200, promoted.text
    assert promoted.json()["open_issues_count"] == 2
    for project in (one, two):
        (shown,) = api.get(f"/projects/{project.id}/labels", owner).json()
        assert (shown["id"], shown["is_project_label"]) == (promoted.json()["id"], False)
        assert (shown["open_issues_count"], shown["subscribed"]) == (1, True)
        assert shown["priority"] == (3 if project is one else None)
        assert [issue["labels"] for issue in api.get(f"/projects/{project.id}/issues", owner, labels="bug").json()] == [
            ["bug"]
        ]
    assert api.put(f"/projects/{one.id}/labels/bug/promote", reporter).status_code == 404


def test_promotion_requires_a_group_and_permission_in_it(api: Api, make: Make, owner: User, project: Project) -> None:
    _make(api, owner, project)
    alone = api.put(f"/projects/{project.id}/labels/bug/promote", owner)
    assert alone.status_code == 400
    reporter = make.user()
    grouped = make_project(make, owner, group=make_group(make, owner), members={reporter: Level.REPORTER})
    _make(api, owner, grouped)
    assert api.put(f"/projects/{grouped.id}/labels/bug/promote", reporter).status_code == 403
