"""Long lists of issues: orders merged from parts, and totals from stored counts."""

import random
import re
from functools import partial
from typing import Any, Literal, NamedTuple

import pytest

from ingot.collaboration.issues.params import ListIssues
from ingot.collaboration.issues.queries import (
    count_group_issues,
    count_issues,
    count_project_issues,
    list_group_issues,
    list_issues,
    list_project_issues,
)
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page
from ingot.projects.projects.queries import find_project
from tests.api.issues.factories import make_issue, make_milestone
from tests.client import Api, Make, User
from tests.factories import Group, Project, ids, make_group, make_project

NEVER, LAST = "9999", 99


class PrioritizedIssues(NamedTuple):
    """Project whose issues differ in every part of the priority order, with the expected values."""

    owner: User
    project: Project
    issues: list[tuple[str, int, int]]
    """Due date of the milestone, highest label priority, and iid of each issue."""
    closed: set[int]


@pytest.fixture(scope="module")
def prioritized(make: Make) -> PrioritizedIssues:
    """Return issues with milestones of project and group, some with the same due date and some without."""
    owner = make.user()
    group = make_group(make, owner)
    project = make_project(make, owner, group=group)
    base = f"/projects/{project.id}"
    ends = {
        make_milestone(make, project, due_date=day)["id"]: day or NEVER for day in ("2030-01-02", "2029-01-01", None)
    }
    for day in ("2030-01-02", "2031-05-05"):
        made = make.api.post(f"/groups/{group.id}/milestones", owner, title=make.name("goal"), due_date=day).json()
        ends[made["id"]] = day
    labels = {"first": 0, "second": 1, "also second": 1, "third": 5, "plain": None}
    for title, priority in labels.items():
        sent = {"name": title, "color": "#112233", "priority": priority}
        assert make.api.post(f"{base}/labels", owner, **sent).status_code == 201
    dice = random.Random(3)
    issues, closed = [], set()
    for number in range(24):
        milestone = dice.choice([None, *ends])
        carried = dice.sample(sorted(labels), dice.randrange(4))
        made = make_issue(make, project, owner, milestone_id=milestone, labels=",".join(carried))
        priorities = [labels[title] for title in carried]
        best = min((priority for priority in priorities if priority is not None), default=LAST)
        issues.append((ends.get(milestone or 0, NEVER), best, made["id"]))
        if number % 3 == 0:
            make.api.put(f"{base}/issues/{made['iid']}", owner, state_event="close")
            closed.add(made["id"])
    return PrioritizedIssues(owner, project, issues, closed)


def _pages(api: Api, caller: User, path: str, **params: Any) -> list[int]:
    """Return all pages of a list; each must have the same total."""
    found: list[int] = []
    for page in range(1, 10):
        answer = api.get(path, caller, per_page=7, page=page, **params)
        found += ids(answer)
        if not answer.headers["X-Next-Page"]:
            assert answer.headers["X-Total"] == str(len(found))
            break
    return found


@pytest.mark.parametrize("most_looked_up", [2000, -1])
@pytest.mark.parametrize("sort", ["asc", "desc"])
@pytest.mark.parametrize("order_by", ["priority", "label_priority", "milestone_due"])
def test_order_by_priority(
    api: Api,
    monkeypatch: pytest.MonkeyPatch,
    prioritized: PrioritizedIssues,
    order_by: str,
    sort: str,
    most_looked_up: int,
) -> None:
    """Each part is at its place on every page, with and without filters."""
    for module in ("pages", "priorities"):
        monkeypatch.setattr(f"ingot.collaboration.issues.lists.{module}.MAX_LOOKED_UP", most_looked_up)
    keys = {"priority": (0, 1, 2), "label_priority": (1, 2), "milestone_due": (0, 2)}[order_by]
    inorder = sorted(prioritized.issues, key=lambda issue: [issue[key] for key in keys], reverse=sort == "desc")
    expected = [issue[-1] for issue in inorder]
    path, wanted = f"/projects/{prioritized.project.id}/issues", {"order_by": order_by, "sort": sort}
    assert _pages(api, prioritized.owner, path, **wanted) == expected
    closed = [number for number in expected if number in prioritized.closed]
    assert _pages(api, prioritized.owner, path, **wanted, state="closed") == closed
    assert _pages(api, prioritized.owner, path, **wanted, state="closed", milestone="Any") == [
        number
        for number in _pages(api, prioritized.owner, path, **wanted, milestone="Any")
        if number in prioritized.closed
    ]
    carrying = set(ids(api.get(path, prioritized.owner, labels="second", per_page=100)))
    assert _pages(api, prioritized.owner, path, **wanted, labels="second") == [n for n in expected if n in carrying]
    others = [n for n in expected if n not in carrying]
    assert _pages(api, prioritized.owner, path, **wanted, **{"not[labels]": "second"}) == others
    # Over many projects, the whole list is sorted.
    assert _pages(api, prioritized.owner, "/issues", **wanted) == expected


class MixedProjects(NamedTuple):
    """Projects of all visibilities with open and confidential issues, and users of every role."""

    people: dict[str, User]
    group: Group
    projects: list[Project]


@pytest.fixture(scope="module")
def mixed(make: Make) -> MixedProjects:
    """Return one user wrote a confidential issue, another is assigned to one, a third is both."""
    people = {name: make.user(external=name == "external") for name in ("stranger", "external", "guest", "reporter")}
    people |= {name: make.user() for name in ("author", "assignee", "both")}
    people["administrator"] = make.root
    group = make_group(make, visibility="public")
    levels = {people["guest"]: Level.GUEST, people["reporter"]: Level.REPORTER}
    projects = []
    for visibility in ("public", "internal", "private"):
        members = {**levels, **{people[name]: Level.GUEST for name in ("author", "both", "assignee")}}
        project = make_project(make, group=group, visibility=visibility, members=members)
        secrets = [make_issue(make, project, people[name], confidential=True) for name in ("author", "both", "both")]
        for place, (name, issue) in enumerate(zip(("assignee", "both", "reporter"), secrets, strict=True)):
            sent = {"assignee_ids": [people[name].id], "state_event": "close" if place == 1 else None}
            assert make.api.put(f"{project.url}/issues/{issue['iid']}", make.root, **sent).status_code == 200
        gone = [make_issue(make, project, make.root, confidential=number == 0) for number in range(3)]
        for issue in gone[:2]:
            assert make.api.delete(f"{project.url}/issues/{issue['iid']}", make.root).status_code == 200
        projects.append(project)
    hidden = make_project(make, group=group, visibility="public")
    make_issue(make, hidden, make.root)
    make.api.put(hidden.url, make.root, issues_enabled=False)
    return MixedProjects(people, group, projects)


STATES: tuple[Literal["opened", "closed", "all"], ...] = ("opened", "closed", "all")


def test_stored_totals_equal_counted_rows(make: Make, mixed: MixedProjects) -> None:
    """For each user, list, state and kind."""

    def compare(db: Connection, actor: Actor, confidential: bool | None) -> None:
        places = [find_project(db, actor, project.id) for project in mixed.projects[: 1 if actor.external else 2]]
        everywhere = ListIssues(scope="all", confidential=confidential)
        counted = [count_issues(db, actor, everywhere), count_group_issues(db, actor, mixed.group.id, everywhere)]
        counted += [count_project_issues(db, actor, *place, everywhere) for place in places]
        for state in STATES:
            wanted = ListIssues(scope="all", confidential=confidential, state=state)
            found = [
                list_issues(db, actor, wanted, Page()),
                list_group_issues(db, actor, mixed.group.id, wanted, Page()),
                *(list_project_issues(db, actor, *place, wanted, Page()) for place in places),
            ]
            expected = [sum(count[each] for each in count if state in (each, "all")) for count in counted]
            assert [listing.total for listing in found] == expected, (actor.username, confidential, state)
            assert [len(listing.items) for listing in found[1:]] == expected[1:]

    for name, person in mixed.people.items():
        actor = Actor(person.id, person.username, admin=name == "administrator", external=name == "external")
        for confidential in (None, True, False):
            make.database.read(partial(compare, actor=actor, confidential=confidential))


def test_lists_without_a_total(api: Api, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of many rows without a stored count have no total."""
    author = make.user()
    project = make_project(make, author)
    made = [make_issue(make, project, author)["id"] for _ in range(5)][::-1]
    monkeypatch.setattr("ingot.collaboration.issues.lists.pages.MAX_COUNTED", 3)
    monkeypatch.setattr("ingot.collaboration.issues.lists.pages.MAX_LOOKED_UP", -1)
    for page, shown, links in (
        (1, made[:2], ["next", "first"]),
        (2, made[2:4], ["prev", "next", "first"]),
        (3, made[4:], ["prev", "first"]),
        (4, [], ["prev", "first"]),
    ):
        answer = api.get("/issues", author, per_page=2, page=page)
        assert ids(answer) == shown
        assert re.findall(r'rel="(\w+)"', answer.headers["Link"]) == links
        assert answer.headers["X-Next-Page"] == (str(page + 1) if "next" in links else "")
        assert answer.headers["X-Prev-Page"] == (str(page - 1) if page > 1 else "")
        assert "X-Total" not in answer.headers
        assert "X-Total-Pages" not in answer.headers
