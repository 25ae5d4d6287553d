"""Lists of merge requests: filters, orders, pages and visibility."""

from functools import partial
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_milestone
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.factories import Group, Project, ids, make_group, statements_of

Sample = tuple[User, User, Group, Project, dict[str, dict[str, Any]]]
ALL = ["helped", "closed", "reviewed", "draft", "assigned", "labelled", "plain"]


@pytest.fixture(scope="module")
def sample(make: Make) -> Sample:
    """Return a project in a group with merge requests of every kind, each from a branch named like its title."""
    owner, helper = make.user(), make.user()
    group = make_group(make, owner)
    project = filled_project(make, owner, group=group, members={helper: Level.DEVELOPER})
    milestone = make_milestone(make, project, title="1.0")
    written: list[tuple[str, dict[str, Any]]] = [
        ("plain", {}),
        ("labelled", {"labels": "bug,ui", "milestone_id": milestone["id"], "description": "The ÄPFEL fell_down"}),
        ("assigned", {"assignee_id": helper.id, "labels": "bug"}),
        ("draft", {"title": "Draft: more"}),
        ("reviewed", {"reviewer_ids": [helper.id]}),
        ("closed", {}),
    ]
    made = {name: make_merge_request(make, project, owner, name, **more) for name, more in written}
    made["helped"] = make_merge_request(make, project, helper, "helped")
    closed = make.api.put(f"/projects/{project.id}/merge_requests/{made['closed']['iid']}", owner, state_event="close")
    assert closed.json()["state"] == "closed"
    made["closed"] = closed.json()
    return owner, helper, group, project, made


def _names(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [one["source_branch"] for one in answer.json()]


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ALL),
    ({"state": "all"}, ALL),
    ({"state": "opened"}, [name for name in ALL if name != "closed"]),
    ({"state": "reopened"}, [name for name in ALL if name != "closed"]),
    ({"state": "closed"}, ["closed"]),
    ({"state": "merged"}, []),
    ({"labels": "bug"}, ["assigned", "labelled"]),
    ({"labels": "bug,ui"}, ["labelled"]),
    ({"labels": "None", "state": "closed"}, ["closed"]),
    ({"labels": "Any"}, ["assigned", "labelled"]),
    ({"milestone": "1.0"}, ["labelled"]),
    ({"milestone": "None", "labels": "bug"}, ["assigned"]),
    ({"source_branch": "draft"}, ["draft"]),
    ({"source_branch": "none such"}, []),
    ({"target_branch": "master"}, ALL),
    ({"target_branch": "main"}, []),
    ({"search": "äpfel"}, ["labelled"]),
    ({"search": "äpfel", "in": "title"}, []),
    ({"search": "äp", "in": "title"}, []),
    ({"search": "äp", "in": "description"}, ["labelled"]),
    ({"search": "äpfel", "in": "description,title"}, ["labelled"]),
    ({"search": "re"}, ["reviewed", "draft"]),
    ({"search": "L%D"}, []),
    ({"wip": "yes"}, ["draft"]),
    ({"draft": "true"}, ["draft"]),
    ({"wip": "no", "state": "closed"}, ["closed"]),
    ({"assignee_id": "None", "wip": "yes"}, ["draft"]),
    ({"assignee_id": "Any"}, ["assigned"]),
    ({"reviewer_id": "Any"}, ["reviewed"]),
    ({"reviewer_id": "None", "labels": "ui"}, ["labelled"]),
    ({"created_after": "2999-01-01T00:00:00Z"}, []),
    ({"updated_before": "2001-01-01T00:00:00Z"}, []),
    ({"created_before": "2999-01-01T00:00:00Z", "sort": "asc", "labels": "bug"}, ["labelled", "assigned"]),
    ({"order_by": "title", "sort": "asc", "labels": "bug"}, ["assigned", "labelled"]),
    ({"order_by": "merged_at", "labels": "ui"}, ["labelled"]),
    ({"not[labels]": "bug", "state": "opened"}, ["helped", "reviewed", "draft", "plain"]),
    ({"not[source_branch]": "draft", "wip": "yes"}, []),
    ({"approved_by_ids": "Any"}, []),
    ({"my_reaction_emoji": "Any"}, []),
    ({"scope": "all"}, ALL),
]


@pytest.mark.parametrize(("asked", "names"), FILTERS)
def test_filters(api: Api, sample: Sample, asked: dict[str, Any], names: list[str]) -> None:
    owner, _, group, project, _ = sample
    assert _names(api.get(f"/projects/{project.id}/merge_requests", owner, **asked)) == names
    assert _names(api.get(f"/groups/{group.id}/merge_requests", owner, **asked)) == names
    everywhere = api.get("/merge_requests", owner, per_page=100, **{"scope": "all", **asked})
    # Other tests create public merge requests.
    assert [one["source_branch"] for one in everywhere.json() if one["project_id"] == project.id] == names


def test_filters_by_users_and_iids(api: Api, sample: Sample) -> None:
    owner, helper, _, project, made = sample
    ask = partial(api.get, f"/projects/{project.id}/merge_requests", owner)
    assert _names(ask(author_id=helper.id)) == ["helped"]
    assert _names(ask(author_username=helper.username)) == ["helped"]
    assert _names(ask(assignee_id=helper.id)) == ["assigned"]
    assert _names(ask(reviewer_id=helper.id)) == ["reviewed"]
    assert _names(ask(reviewer_username=helper.username)) == ["reviewed"]
    assert _names(ask(source_project_id=project.id, labels="ui")) == ["labelled"]
    numbers = [made["plain"]["iid"], made["draft"]["iid"]]
    assert _names(ask(**{"iids[]": numbers})) == ["draft", "plain"]
    everywhere = partial(api.get, "/merge_requests")
    assert _names(everywhere(helper)) == ["helped"]
    assert _names(everywhere(helper, scope="assigned_to_me")) == ["assigned"]
    assert _names(everywhere(helper, scope="assigned-to-me")) == ["assigned"]
    assert _names(everywhere(helper, scope="reviews_for_me")) == ["reviewed"]


INVALID = [
    {"state": "open"},
    {"order_by": "size"},
    {"sort": "up"},
    {"view": "complex"},
    {"iids[]": "x"},
    {"created_after": "yesterday"},
    {"assignee_id": "x"},
    {"reviewer_id": "x"},
    {"author_id": "x"},
    {"wip": "maybe"},
    {"labels": ",".join(f"l{number}" for number in range(30))},
]


@pytest.mark.parametrize("asked", INVALID)
def test_invalid_filters_are_rejected(api: Api, sample: Sample, asked: dict[str, Any]) -> None:
    owner, _, _, project, _ = sample
    assert api.get(f"/projects/{project.id}/merge_requests", owner, **asked).status_code == 400


def test_simple_view(api: Api, sample: Sample) -> None:
    owner, _, _, project, made = sample
    answer = api.get(f"/projects/{project.id}/merge_requests", owner, view="simple", labels="ui")
    one = made["labelled"]
    names = "id", "iid", "project_id", "title", "description", "state", "created_at", "updated_at", "web_url"
    assert answer.json() == [{name: one[name] for name in names}]


def test_pages_have_totals(api: Api, sample: Sample) -> None:
    owner, _, _, project, _ = sample
    page = api.get(f"/projects/{project.id}/merge_requests", owner, per_page=3, page=2)
    assert _names(page) == ["draft", "assigned", "labelled"]
    assert (page.headers["x-total"], page.headers["x-total-pages"]) == ("7", "3")
    opened = api.get(f"/projects/{project.id}/merge_requests", owner, per_page=1, state="opened")
    assert opened.headers["x-total"] == "6"


def test_with_labels_details(api: Api, sample: Sample) -> None:
    owner, _, _, project, _ = sample
    asked = {"with_labels_details": "true", "labels": "ui"}
    found = api.get(f"/projects/{project.id}/merge_requests", owner, **asked).json()
    assert [label["name"] for label in found[0]["labels"]] == ["bug", "ui"]


def test_milestones_and_labels_count_merge_requests(api: Api, sample: Sample) -> None:
    owner, _, group, project, made = sample
    milestone = made["labelled"]["milestone"]["id"]
    assert ids(api.get(f"/projects/{project.id}/milestones/{milestone}/merge_requests", owner)) == [
        made["labelled"]["id"]
    ]
    of_group = api.post(f"/groups/{group.id}/milestones", owner, title="Of all").json()
    plain = made["plain"]
    put = api.put(f"/projects/{project.id}/merge_requests/{plain['iid']}", owner, milestone_id=of_group["id"])
    assert put.status_code == 200
    assert ids(api.get(f"/groups/{group.id}/milestones/{of_group['id']}/merge_requests", owner)) == [plain["id"]]
    labels = api.get(f"/projects/{project.id}/labels", owner, with_counts="true").json()
    assert {label["name"]: label["open_merge_requests_count"] for label in labels} == {"bug": 2, "ui": 1}


def test_invisible_merge_requests_are_not_listed(api: Api, make: Make, sample: Sample) -> None:
    _, _, group, project, _ = sample
    guest, stranger = make.user(), make.user()
    make.api.post(f"/projects/{project.id}/members", make.root, user_id=guest.id, access_level=int(Level.GUEST))
    assert api.get(f"/projects/{project.id}/merge_requests", guest).status_code == 403
    everywhere = api.get("/merge_requests", guest, scope="all", per_page=100).json()
    assert project.id not in [one["project_id"] for one in everywhere]
    assert api.get(f"/projects/{project.id}/merge_requests", stranger).status_code == 404
    assert api.get(f"/groups/{group.id}/merge_requests", make.root, state="closed").headers["x-total"] == "1"
    assert api.get("/merge_requests", None).status_code == 401


def test_disabled_merge_requests_are_hidden(api: Api, make: Make) -> None:
    owner = make.user()
    project = filled_project(make, owner)
    make_merge_request(make, project, owner)
    api.put(f"/projects/{project.id}", owner, name=project.name, merge_requests_enabled=False)
    assert api.get(f"/projects/{project.id}/merge_requests", owner).status_code == 403
    assert api.get(f"/projects/{project.id}/merge_requests/1", owner).status_code == 403
    assert api.get("/merge_requests", owner).json() == []


@pytest.mark.parametrize("path", ["/projects/:id/merge_requests", "/groups/:id/merge_requests", "/merge_requests"])
def test_statement_count_does_not_grow_with_the_page(api: Api, make: Make, sample: Sample, path: str) -> None:
    owner, _, group, project, _ = sample
    where = path.replace(":id", str(group.id if path.startswith("/groups") else project.id))
    # The oldest two have all relations.
    one, many = (
        statements_of(make, partial(api.get, where, owner, author_id=owner.id, sort="asc", per_page=size))
        for size in (2, 6)
    )
    assert one == many
