"""Lists of issues: filters, orders, pages and visibility."""

from functools import partial
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue, make_milestone
from tests.client import Api, Make, User
from tests.factories import Group, Project, day, ids, make_group, make_project, statements_of

Sample = tuple[User, User, Group, Project, dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def sample(make: Make) -> Sample:
    """Return a project in a group with issues of every kind."""
    owner, helper = make.user(), make.user()
    group = make_group(make, owner)
    project = make_project(make, owner, group=make_group(make, owner, parent=group), members={helper: Level.DEVELOPER})
    first, second = make_milestone(make, project, title="1.0"), make_milestone(make, project, title="empty")
    assert second["id"] != first["id"]
    written = [
        ("plain", {}),
        ("labelled", {"labels": "bug,ui", "milestone_id": first["id"], "due_date": "2001-01-01"}),
        ("half labelled", {"labels": "bug", "description": "The ÄPFEL fell_down 100%"}),
        ("assigned", {"assignee_ids": [helper.id], "due_date": "2999-01-01"}),
        ("closed", {"milestone_id": first["id"], "labels": "bug,ui"}),
        ("secret", {"confidential": True}),
    ]
    issues = {
        title: make_issue(make, project, owner, title=title, created_at=f"2020-01-0{number}T00:00:00Z", **more)
        for number, (title, more) in enumerate(written, 1)
    }
    issues["helped"] = make_issue(make, project, helper, title="helped")
    make.api.put(f"/projects/{project.id}/issues/{issues['closed']['iid']}", owner, state_event="close")
    return owner, helper, group, project, issues


ALL = ["helped", "secret", "closed", "assigned", "half labelled", "labelled", "plain"]
FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ALL),
    ({"state": "all"}, ALL),
    ({"state": "opened"}, [title for title in ALL if title != "closed"]),
    ({"state": "closed"}, ["closed"]),
    ({"labels": "bug"}, ["closed", "half labelled", "labelled"]),
    ({"labels": "bug,ui"}, ["closed", "labelled"]),
    ({"labels": "bug,none such"}, []),
    ({"labels": "bug,ui", "state": "opened"}, ["labelled"]),
    ({"labels": "bug", "state": "opened"}, ["half labelled", "labelled"]),
    ({"labels": "No Label"}, ["helped", "secret", "assigned", "plain"]),
    ({"labels": "None"}, ["helped", "secret", "assigned", "plain"]),
    ({"labels": "Any"}, ["closed", "half labelled", "labelled"]),
    ({"labels": "BUG"}, []),
    ({"milestone": "1.0"}, ["closed", "labelled"]),
    ({"milestone": "1.0", "state": "closed"}, ["closed"]),
    ({"milestone": "empty"}, []),
    ({"milestone": "none such"}, []),
    ({"milestone": "No Milestone", "labels": "bug"}, ["half labelled"]),
    ({"milestone": "Any"}, ["closed", "labelled"]),
    ({"iids[]": [1, 2, 99]}, ["labelled", "plain"]),
    ({"iids[]": [0]}, []),
    ({"search": "LABEL"}, ["half labelled", "labelled"]),
    ({"search": "äpfel"}, ["half labelled"]),
    ({"search": "l_d"}, ["half labelled"]),
    ({"search": "0%"}, ["half labelled"]),
    ({"search": "äpfel", "in": "description"}, ["half labelled"]),
    ({"search": "äpfel", "in": "title"}, []),
    ({"search": "äp", "in": "description"}, ["half labelled"]),
    ({"search": "äp", "in": "title"}, []),
    ({"search": "LABEL", "in": "title"}, ["half labelled", "labelled"]),
    ({"search": "LABEL", "in": "title, description"}, ["half labelled", "labelled"]),
    ({"search": "LABEL", "in": "elsewhere"}, ["half labelled", "labelled"]),
    ({"in": "title", "labels": "None", "search": "e"}, ["helped", "secret", "assigned"]),
    ({"search": '"'}, []),
    ({"search": "no such words"}, []),
    ({"created_after": "2020-01-05T00:00:00Z", "created_before": "2020-01-06"}, ["secret", "closed"]),
    ({"created_before": "2020-01-01T00:00:00.000Z"}, ["plain"]),
    ({"updated_after": "2020-02-01T00:00:00Z"}, ["helped", "closed"]),
    ({"updated_before": "2020-01-02T00:00:00Z"}, ["labelled", "plain"]),
    ({"confidential": "true"}, ["secret"]),
    ({"confidential": "false", "search": "sec"}, []),
    ({"due_date": "0", "labels": "None"}, ["helped", "secret", "plain"]),
    ({"due_date": "any"}, ["assigned", "labelled"]),
    ({"due_date": "overdue"}, ["labelled"]),
    ({"due_date": "week"}, []),
    ({"assignee_id": "Any"}, ["assigned"]),
    ({"assignee_id": "None", "state": "closed"}, ["closed"]),
    ({"not[labels]": "bug"}, ["helped", "secret", "assigned", "plain"]),
    ({"not[labels]": "ui,bug"}, ["helped", "secret", "assigned", "plain"]),
    ({"not[milestone]": "1.0", "labels": "bug"}, ["half labelled"]),
    ({"not[iids][]": [1, 2, 3, 4]}, ["helped", "secret", "closed"]),
    ({"not[search]": "e"}, ["plain"]),
    ({"sort": "asc", "labels": "bug"}, ["labelled", "half labelled", "closed"]),
    ({"order_by": "updated_at", "labels": "bug"}, ["closed", "half labelled", "labelled"]),
    ({"order_by": "updated_at", "sort": "asc", "labels": "bug"}, ["labelled", "half labelled", "closed"]),
    ({"order_by": "title", "sort": "asc", "state": "opened", "labels": "Any"}, ["half labelled", "labelled"]),
    ({"order_by": "due_date", "sort": "asc", "due_date": "any"}, ["labelled", "assigned"]),
    ({"order_by": "priority", "labels": "bug", "sort": "asc"}, ["labelled", "half labelled", "closed"]),
    ({"order_by": "relative_position", "labels": "bug"}, ["closed", "half labelled", "labelled"]),
    ({"scope": "all", "state": "closed"}, ["closed"]),
    ({"scope": "assigned_to_me"}, []),
    ({"scope": "created-by-me", "state": "closed"}, ["closed"]),
]


@pytest.mark.parametrize(("params", "expected"), FILTERS, ids=lambda value: str(value)[:60])
def test_filters(api: Api, sample: Sample, params: dict[str, Any], expected: list[str]) -> None:
    """In a project and in its group; totals match the lists."""
    owner, _, group, project, _ = sample
    for path in (f"/projects/{project.id}/issues", f"/groups/{group.id}/issues"):
        answer = api.get(path, owner, **params)
        assert answer.status_code == 200, answer.text
        assert [issue["title"] for issue in answer.json()] == expected, path
        assert int(answer.headers["x-total"]) == len(expected)
        counted = api.get(f"{path}_statistics", owner, **params).json()["statistics"]["counts"]
        if "state" not in params:
            assert counted["all"] == len(expected) == counted["opened"] + counted["closed"]
            assert counted["closed"] == expected.count("closed")


@pytest.mark.parametrize(("params", "expected"), FILTERS, ids=lambda value: str(value)[:60])
def test_filters_with_very_many_matches(
    api: Api, monkeypatch: pytest.MonkeyPatch, sample: Sample, params: dict[str, Any], expected: list[str]
) -> None:
    """Above a threshold, pages scan in their order and totals use stored counts."""
    for module in ("pages", "priorities"):
        monkeypatch.setattr(f"ingot.collaboration.issues.lists.{module}.MAX_LOOKED_UP", -1)
    test_filters(api, sample, params, expected)


def test_scope(api: Api, make: Make, sample: Sample) -> None:
    """``/issues`` lists issues created by the caller by default."""
    owner, helper, group, project, issues = sample
    stranger = make.user()

    assert ids(api.get("/issues", helper)) == [issues["helped"]["id"]]
    assert ids(api.get("/issues", helper, scope="assigned_to_me")) == [issues["assigned"]["id"]]
    by_owner = ids(api.get("/issues", helper, scope="all", author_id=owner.id))
    assert set(by_owner) == {issue["id"] for title, issue in issues.items() if title != "helped"}
    assert ids(api.get("/issues", helper, author_id=owner.id, search="half")) == [issues["half labelled"]["id"]]
    by_name = api.get(f"/projects/{project.id}/issues", owner, author_username=helper.username)
    assert ids(by_name) == [issues["helped"]["id"]]
    to_name = api.get(f"/projects/{project.id}/issues", owner, assignee_username=helper.username.upper())
    assert ids(to_name) == ids(api.get(f"/groups/{group.id}/issues", owner, assignee_id=helper.id))
    assert ids(to_name) == [issues["assigned"]["id"]]
    without = api.get(f"/projects/{project.id}/issues", owner, **{"not[author_username]": owner.username})
    assert ids(without) == [issues["helped"]["id"]]
    unassigned = api.get(f"/projects/{project.id}/issues", owner, **{"not[assignee_id]": helper.id, "state": "opened"})
    assert issues["assigned"]["id"] not in ids(unassigned)
    assert ids(api.get(f"/projects/{project.id}/issues", owner, author_username="nobody-at-all")) == []
    assert ids(api.get("/issues", stranger)) == []
    mine = api.get("/issues_statistics", helper).json()["statistics"]["counts"]
    assert mine == {"all": 1, "opened": 1, "closed": 0}
    everybodys = api.get("/issues_statistics", owner, scope="all").json()["statistics"]["counts"]
    assert everybodys["all"] >= len(issues)


def test_with_labels_details(api: Api, sample: Sample) -> None:
    owner, _, _, project, _ = sample

    labelled = api.get(f"/projects/{project.id}/issues", owner, with_labels_details=True, **{"iids[]": 2}).json()

    assert [label["name"] for label in labelled[0]["labels"]] == ["bug", "ui"]
    assert {"id", "name", "color", "description", "text_color"} <= labelled[0]["labels"][0].keys()
    assert "subscribed" not in labelled[0]


def test_milestone_filters_by_date(instance: Any, api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    with day(instance, "2025-06-15"):
        for title, start, due in (
            ("past", "2025-01-01", "2025-02-01"),
            ("next", "2025-07-01", "2025-08-01"),
            ("later", "2025-09-01", "2025-10-01"),
        ):
            milestone = make_milestone(make, project, title=title, start_date=start, due_date=due)
            make_issue(make, project, owner, title=title, milestone_id=milestone["id"])

        def titles(milestone: str) -> list[str]:
            return [
                each["title"] for each in api.get(f"/projects/{project.id}/issues", owner, milestone=milestone).json()
            ]

        assert titles("#upcoming") == titles("Upcoming") == ["next"]
        assert titles("#started") == ["past"]
    api_order = api.get(f"/projects/{project.id}/issues", owner, order_by="milestone_due", sort="asc").json()
    assert [each["title"] for each in api_order] == ["past", "next", "later"]


@pytest.mark.parametrize(
    "params",
    [
        {"state": "merged"},
        {"order_by": "author"},
        {"sort": "up"},
        {"iids[]": "x"},
        {"created_after": "soon"},
        {"due_date": "someday"},
        {"assignee_id": "me"},
        {"author_id": "x"},
        {"confidential": "x"},
        {"scope": "mine"},
        {"labels": ",".join(f"label{number}" for number in range(30))},
        {"search": "x" * 8001},
        {"not": "x"},
    ],
    ids=lambda value: str(value)[:40],
)
def test_invalid_filters(api: Api, sample: Sample, params: dict[str, Any]) -> None:
    owner, _, group, project, _ = sample
    for path in ("/issues", f"/groups/{group.id}/issues", f"/projects/{project.id}/issues", "/issues_statistics"):
        answer = api.get(path, owner, **params)
        assert answer.status_code == 400, (path, answer.text)


def test_statement_count_does_not_grow(api: Api, make: Make) -> None:
    """Twenty issues take as many statements as two."""
    owner = make.user()
    project = make_project(make, owner)
    people = [make.user() for _ in range(4)]
    for person in people:
        make.api.post(f"/projects/{project.id}/members", owner, user_id=person.id, access_level=30)

    def create(number: int) -> None:
        milestone = make_milestone(make, project)
        author, assigned = people[number % 4], people[(number + 1) % 4]
        sent = {"labels": f"l{number},common", "milestone_id": milestone["id"], "assignee_ids": [assigned.id]}
        iid = make_issue(make, project, author, **sent)["iid"]
        if number % 2:
            api.put(f"/projects/{project.id}/issues/{iid}", author, state_event="close")

    paths = (f"/projects/{project.id}/issues?labels=common&with_labels_details=true", "/issues?scope=all&labels=common")
    for number in range(2):
        create(number)
    few = [statements_of(make, partial(api.request, "GET", path, owner)) for path in paths]
    for number in range(2, 20):
        create(number)
    many = [statements_of(make, partial(api.request, "GET", path, owner)) for path in paths]
    assert many == few
    assert max(many) <= 13


def test_pages(api: Api, make: Make) -> None:
    """By number with a total, and by keyset, which new rows do not disturb."""
    owner = make.user()
    project = make_project(make, owner)
    written = [make_issue(make, project, owner)["id"] for _ in range(7)]
    base = f"/projects/{project.id}/issues"

    second = api.get(base, owner, per_page=3, page=2)
    assert ids(second) == written[::-1][3:6]
    assert (second.headers["x-total"], second.headers["x-total-pages"], second.headers["x-next-page"]) == (
        "7",
        "3",
        "3",
    )
    assert ids(api.get(base, owner, per_page=3, page=99)) == []
    seen: list[int] = []
    url = f"{base}?pagination=keyset&order_by=id&sort=asc&per_page=3"
    while url:
        answer = api.request("GET", url, owner)
        seen += ids(answer)
        if len(seen) == 3:
            api.delete(f"{base}/1", owner)
        url = answer.links["next"]["url"].split("/api/v4")[1] if "next" in answer.links else ""
    assert seen == written
    assert ids(api.get(base, owner, pagination="keyset", per_page=100)) == written[:0:-1]


def test_issue_by_id(api: Api, make: Make) -> None:
    """For administrators."""
    owner = make.user()
    project = make_project(make, owner, visibility="private")
    issue = make_issue(make, project, owner, confidential=True)

    found = api.get(f"/issues/{issue['id']}", make.root)
    assert (found.status_code, found.json()["iid"]) == (200, issue["iid"])
    assert api.get(f"/issues/{issue['id']}", owner).status_code == 403
    assert api.get("/issues/999999999", make.root).status_code == 404
    api.delete(f"/projects/{project.id}/issues/{issue['iid']}", owner)
    assert api.get(f"/issues/{issue['id']}", make.root).status_code == 404
