"""Permissions of issues: rules as tables, and lists that agree with them."""

import random
from typing import Any

import msgspec
import pytest

from ingot.collaboration.issues import policy
from ingot.collaboration.issues.params import ListIssues
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.queries import (
    count_issues,
    count_project_issues,
    find_issue,
    issue_by_id,
    list_group_issues,
    list_issues,
    list_project_issues,
)
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.planning.scope import ProjectScope
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page
from ingot.core.errors import Denied, NotFound
from ingot.projects.projects.queries import existing_project, find_project
from ingot.projects.projects.tables import Project
from tests.api.issues.factories import make_issue
from tests.client import Make, User
from tests.factories import Group, add_members, make_group, make_project, share
from tests.factories import Project as MadeProject

USER = Actor(user_id=70_007, username="u", via="private")
EXTERNAL = Actor(user_id=70_008, username="e", external=True, via="private")
ROOT = Actor(user_id=1, username="root", admin=True, via="private")


@pytest.fixture(scope="module")
def sample(make: Make) -> tuple[Project, Issue]:
    """Return the records to modify."""
    made = make_project(make)
    issue_id = make_issue(make, made, make.root)["id"]
    return make.database.read(lambda db: (existing_project(db, made.id), issue_by_id(db, issue_id)))


# Rule, and the lowest level for it in a private, an internal and a public project; ``None`` is any user.
RULES: list[tuple[Any, Level | None, Level | None, Level | None]] = [
    (policy.may_read_issue, Level.GUEST, None, None),
    (policy.may_edit_issue, Level.REPORTER, Level.REPORTER, Level.REPORTER),
    (policy.may_triage_issue, Level.REPORTER, Level.REPORTER, Level.REPORTER),
    (policy.may_move_issue, Level.REPORTER, Level.REPORTER, Level.REPORTER),
]
PARENT_RULES: list[tuple[Any, Level | None, Level | None, Level | None]] = [
    (policy.may_create_issue, Level.GUEST, None, None),
    (policy.may_delete_issues, Level.OWNER, Level.OWNER, Level.OWNER),
]


@pytest.mark.parametrize(
    ("rule", "private", "internal", "public"), RULES + PARENT_RULES, ids=lambda value: getattr(value, "__name__", "")
)
def test_each_rule_requires_a_level(
    sample: tuple[Project, Issue], rule: Any, private: Level | None, internal: Level | None, public: Level | None
) -> None:
    for visibility, least in (("private", private), ("internal", internal), ("public", public)):
        project = msgspec.structs.replace(sample[0], visibility=visibility)
        for level in Level:
            here = Access(level=level)
            subject = _subject(rule, here, project, sample[1])
            assert rule(ROOT, here, subject) is True
            assert rule(USER, here, subject) is (least is None or level >= least), (visibility, level)
            if visibility == "internal":
                # External users are treated as on a private project.
                assert rule(EXTERNAL, here, subject) is (private is not None and level >= private)


def _subject(rule: Any, here: Access, project: Project, issue: Issue, assignees: tuple[int, ...] = ()) -> Any:
    if any(rule is place_rule[0] for place_rule in PARENT_RULES):
        return ProjectScope(here, project)
    return IssueLookup(here, project, issue, assignees)


@pytest.mark.parametrize(
    ("rule", "archived", "without_issues"),
    [
        (policy.may_read_issue, True, False),
        (policy.may_create_issue, False, False),
        (policy.may_edit_issue, False, True),
        (policy.may_triage_issue, False, True),
        (policy.may_take_part, False, True),
        (policy.may_move_issue, False, True),
        (policy.may_delete_issues, False, False),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_archived_projects_and_disabled_issues(
    sample: tuple[Project, Issue], rule: Any, archived: bool, without_issues: bool
) -> None:
    """Archived ones are read-only; with issues disabled, none is found."""
    here = Access(level=Level.OWNER)
    for actor in (USER, ROOT):
        project = msgspec.structs.replace(sample[0], archived=True)
        assert rule(actor, here, _subject(rule, here, project, sample[1], (USER.user_id,))) is archived
        project = msgspec.structs.replace(sample[0], issues_enabled=False)
        assert rule(actor, here, _subject(rule, here, project, sample[1])) is without_issues


def test_permission_to_receive_a_moved_issue(sample: tuple[Project, Issue]) -> None:
    project, _ = sample
    for level in Level:
        here = Access(level=level)
        assert policy.may_receive_issue(USER, here, project) is (level >= Level.REPORTER)
        for closed in ({"archived": True}, {"issues_enabled": False}):
            assert not policy.may_receive_issue(ROOT, here, msgspec.structs.replace(project, **closed))


def test_authors_and_assignees_edit(sample: tuple[Project, Issue]) -> None:
    project, issue = sample
    mine = msgspec.structs.replace(issue, author_id=USER.user_id)
    assert policy.may_edit_issue(USER, Access(), IssueLookup(Access(), project, mine, ()))
    assert policy.may_edit_issue(USER, Access(), IssueLookup(Access(), project, issue, (USER.user_id,)))
    assert not policy.may_edit_issue(USER, Access(), IssueLookup(Access(), project, issue, (5,)))
    assert not policy.may_triage_issue(USER, Access(), IssueLookup(Access(), project, mine, (USER.user_id,)))
    nobodys = msgspec.structs.replace(issue, author_id=ANONYMOUS.user_id)
    assert not policy.may_edit_issue(ANONYMOUS, Access(), IssueLookup(Access(), project, nobodys, (ANONYMOUS.user_id,)))


@pytest.mark.parametrize(
    ("actor", "level", "author", "assigned", "seen"),
    [
        (ANONYMOUS, Level.NONE, False, False, False),
        (ANONYMOUS, Level.NONE, True, True, False),
        (USER, Level.NONE, False, False, False),
        (USER, Level.GUEST, False, False, False),
        (USER, Level.REPORTER, False, False, True),
        (USER, Level.NONE, True, False, True),
        (USER, Level.NONE, False, True, True),
        (EXTERNAL, Level.GUEST, True, False, True),
        (ROOT, Level.NONE, False, False, True),
    ],
)
def test_visibility_of_confidential_issues(
    sample: tuple[Project, Issue], actor: Actor, level: Level, author: bool, assigned: bool, seen: bool
) -> None:
    changes: dict[str, Any] = {"confidential": True, "author_id": actor.user_id if author else 999}
    issue = msgspec.structs.replace(sample[1], **changes)
    assignees = (actor.user_id,) if assigned else (998,)
    assert policy.may_see_issue(actor, Access(level=level), issue, assignees) is seen
    public = msgspec.structs.replace(issue, confidential=False)
    assert policy.may_see_issue(actor, Access(level=level), public, assignees) is True


RandomData = tuple[list[User], list[Group], list[MadeProject], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def random_data(make: Make) -> RandomData:
    """Return random users, groups, projects, memberships, shares and issues."""
    dice = random.Random(5)
    people = [make.user(external=number == 0) for number in range(5)]
    levels = [Level.GUEST, Level.REPORTER, Level.DEVELOPER, Level.OWNER]
    groups = [make_group(make, visibility="public") for _ in range(3)]
    groups += [make_group(make, parent=group, visibility="public") for group in groups[:2]]
    for group in groups:
        for person in dice.sample(people, dice.choice([0, 1, 1])):
            ends = {"expires_at": "2001-01-01"} if dice.random() < 0.2 else {}
            add_members(make, group, {person: dice.choice(levels)}, **ends)
    made: list[MadeProject] = []
    issues: list[dict[str, Any]] = []
    for number in range(16):
        visibility = dice.choice(["private", "private", "internal", "public"])
        project = make_project(make, group=dice.choice(groups), visibility=visibility)
        made.append(project)
        for person in dice.sample(people, dice.choice([0, 1, 2])):
            sent = {"user_id": person.id, "access_level": dice.choice([10, 20, 30])}
            make.api.post(f"{project.url}/members", make.root, **sent)
        if number % 3 == 0:
            target = dice.choice(groups)
            around = make.api.get(project.url, make.root).json()["namespace"]["full_path"]
            if not (around + "/").startswith(target.path + "/"):
                share(make, project, target, dice.choice([10, 20, 30]))
        issues += [_create_issue(make, dice, project, people) for _ in range(5)]
        if number % 7 == 6:
            make.api.put(project.url, make.root, issues_enabled=False)
        if number % 4 == 1:
            make.api.put(project.url, make.root, issues_access_level="private")
    return people, groups, made, issues


def _create_issue(make: Make, dice: random.Random, project: MadeProject, people: list[User]) -> dict[str, Any]:
    """Create an issue as a user, or as root if they may not; assigned to a permitted user."""
    sent = {"title": make.name("issue"), "confidential": dice.random() < 0.6}
    answer = make.api.post(f"{project.url}/issues", dice.choice(people), **sent)
    issue: dict[str, Any] = answer.json() if answer.status_code == 201 else make_issue(make, project, make.root, **sent)
    path = f"{project.url}/issues/{issue['iid']}"
    if dice.random() < 0.5:
        make.api.put(path, make.root, assignee_ids=[dice.choice(people).id])
    if dice.random() < 0.3:
        make.api.put(path, make.root, state_event="close")
    return issue


def _finds(db: Connection, actor: Actor, issue: dict[str, Any]) -> bool:
    try:
        find_issue(db, actor, str(issue["project_id"]), str(issue["iid"]))
    except (NotFound, Denied):
        return False
    return True


def test_policy_and_lists_agree(make: Make, random_data: RandomData) -> None:
    """``may_see_issue`` and ``visible_issues``, on every row for each user, in every list and count."""
    people, groups, made, issues = random_data
    actors = [
        Actor(user_id=person.id, username=person.username, external=number == 0, via="private")
        for number, person in enumerate(people)
    ]
    page, wanted = Page(size=10_000), ListIssues(scope="all")

    def compare(db: Connection) -> list[int]:
        seen_by = []
        for actor in [*actors, ROOT]:
            anywhere = {issue.id for issue in list_issues(db, actor, wanted, page).items}
            below = {
                issue.id for group in groups for issue in list_group_issues(db, actor, group.id, wanted, page).items
            }
            single = {issue["id"] for issue in issues if _finds(db, actor, issue)}
            mine = {issue["id"] for issue in issues}
            assert anywhere & mine == single, actor
            assert below & mine == single, actor
            assert sum(count_issues(db, actor, wanted).values()) == len(anywhere)
            for project in made:
                _compare_project(db, actor, project, single, issues)
            seen_by.append(len(single))
        return seen_by

    counts = make.database.read(compare)
    assert min(counts) > 0
    assert len(set(counts)) > 3
    assert counts[-1] == max(counts)


def _compare_project(
    db: Connection, actor: Actor, made: MadeProject, single: set[int], issues: list[dict[str, Any]]
) -> None:
    try:
        here, project = find_project(db, actor, made.id)
    except NotFound:
        assert not any(issue["id"] in single for issue in issues if issue["project_id"] == made.id)
        return
    if not policy.may_read_issues(actor, here, project):
        return
    for state in (None, "opened", "closed"):
        found = list_project_issues(db, actor, here, project, ListIssues(state=state), Page(size=1000))
        assert found.total == len(found.items), (actor, made)
        assert {issue.id for issue in found.items} <= single
    of_project = {issue["id"] for issue in issues if issue["project_id"] == made.id}
    everything = list_project_issues(db, actor, here, project, ListIssues(), Page(size=1000))
    assert {issue.id for issue in everything.items} == of_project & single
    counts = count_project_issues(db, actor, here, project, ListIssues())
    assert sum(counts.values()) == len(everything.items)
