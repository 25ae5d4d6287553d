"""Permissions of merge requests: rules as tables, and lists that agree with them."""

import random
from typing import Any

import msgspec
import pytest

from ingot.collaboration.merge_requests import policy
from ingot.collaboration.merge_requests.params import ListMergeRequests
from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.queries import (
    find_merge_request,
    list_group_merge_requests,
    list_merge_requests,
    merge_request_by_id,
)
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.planning.scope import ProjectScope
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page
from ingot.core.errors import Denied, NotFound
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.tables import Project
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Make, User
from tests.factories import Project as MadeProject
from tests.factories import add_members, make_group, share

USER = Actor(user_id=70_007, username="u", via="private")
EXTERNAL = Actor(user_id=70_008, username="e", external=True, via="private")
ROOT = Actor(user_id=1, username="root", admin=True, via="private")
_PAGE = Page(size=100)
_ALL = ListMergeRequests(scope="all")


@pytest.fixture(scope="module")
def sample(make: Make) -> tuple[Project, MergeRequest]:
    """Return the records to modify."""
    made = filled_project(make)
    number = make_merge_request(make, made)["id"]
    return make.database.read(lambda db: (existing_project(db, made.id), merge_request_by_id(db, number)))


# Rule, and the lowest level for it in a private, an internal and a public project; ``None`` is any user.
RULES: list[tuple[Any, Level | None, Level | None, Level | None]] = [
    (policy.may_read_merge_request, Level.REPORTER, None, None),
    (policy.may_edit_merge_request, Level.DEVELOPER, Level.DEVELOPER, Level.DEVELOPER),
    (policy.may_approve, Level.DEVELOPER, Level.DEVELOPER, Level.DEVELOPER),
]
PARENT_RULES: list[tuple[Any, Level | None, Level | None, Level | None]] = [
    (policy.may_list_merge_requests, Level.REPORTER, None, None),
    (policy.may_offer_branches, Level.DEVELOPER, Level.DEVELOPER, Level.DEVELOPER),
    (policy.may_delete_merge_requests, Level.OWNER, Level.OWNER, Level.OWNER),
]


@pytest.mark.parametrize(
    ("rule", "private", "internal", "public"), RULES + PARENT_RULES, ids=lambda value: getattr(value, "__name__", "")
)
def test_each_rule_requires_a_level(
    sample: tuple[Project, MergeRequest], rule: Any, private: Level | None, internal: Level | None, public: Level | None
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


def _subject(rule: Any, here: Access, project: Project, merge_request: MergeRequest) -> Any:
    if any(rule is place_rule[0] for place_rule in PARENT_RULES):
        return ProjectScope(here, project)
    return MergeRequestLookup(here, project, merge_request, ())


@pytest.mark.parametrize(
    ("rule", "archived", "switched_off"),
    [
        (policy.may_read_merge_request, True, False),
        (policy.may_edit_merge_request, False, True),
        (policy.may_approve, False, True),
        (policy.may_offer_branches, False, True),
        (policy.may_delete_merge_requests, False, False),
    ],
)
def test_archived_projects_and_disabled_merge_requests(
    sample: tuple[Project, MergeRequest], rule: Any, archived: bool, switched_off: bool
) -> None:
    here = Access(level=Level.OWNER)
    for changes, allowed in (({"archived": True}, archived), ({"merge_requests_enabled": False}, switched_off)):
        project = msgspec.structs.replace(sample[0], **changes)
        assert rule(USER, here, _subject(rule, here, project, sample[1])) is allowed


def test_authors_and_assignees_edit(sample: tuple[Project, MergeRequest]) -> None:
    project, merge_request = sample
    here = Access(level=Level.GUEST)
    mine = msgspec.structs.replace(merge_request, author_id=USER.user_id)
    assert policy.may_edit_merge_request(USER, here, MergeRequestLookup(here, project, mine, ())) is True
    assert (
        policy.may_edit_merge_request(USER, here, MergeRequestLookup(here, project, merge_request, (USER.user_id,)))
        is True
    )
    assert policy.may_edit_merge_request(USER, here, MergeRequestLookup(here, project, merge_request, ())) is False


def _sees(db: Connection, actor: Actor, project: MadeProject, iid: int) -> bool:
    try:
        find_merge_request(db, actor, str(project.id), str(iid))
    except (NotFound, Denied):
        return False
    return True


def test_policy_and_lists_agree(make: Make) -> None:
    """Random groups, shares and levels; each list must match the rule for single objects."""
    dice = random.Random(6)
    people: list[User] = [make.user() for _ in range(4)]
    outside = make.user(external=True)
    outer = make_group(make, visibility="public")
    groups = [outer, make_group(make, parent=outer, visibility="private"), make_group(make, visibility="private")]
    for group in groups:
        add_members(make, group, {person: dice.choice([0, 10, 20, 30]) for person in people})
    made: list[tuple[MadeProject, dict[str, Any]]] = []
    for number in range(8):
        group, visibility = dice.choice(groups), dice.choice(["private", "internal", "public"])
        if group is not outer:
            visibility = "private"
        project = filled_project(make, group=group, visibility=visibility)
        add_members(make, project, {person: dice.choice([0, 0, 10, 20]) for person in (*people, outside)})
        if number % 3 == 0:
            share(make, project, outer if group is groups[2] else groups[2], dice.choice([10, 20, 30]))
        made.append((project, make_merge_request(make, project)))
        if number == 5:
            make.api.put(f"/projects/{project.id}", make.root, name=project.name, merge_requests_enabled=False)
        if number % 3 == 1:
            make.api.put(f"/projects/{project.id}", make.root, merge_requests_access_level="private")
    numbers = {each["id"] for _, each in made}
    actors = [Actor(user_id=person.id, username=person.username, via="private") for person in people]
    actors += [Actor(user_id=outside.id, username=outside.username, external=True, via="private"), ROOT]

    def check(db: Connection) -> None:
        for actor in actors:
            seen = {each["id"] for project, each in made if _sees(db, actor, project, each["iid"])}
            listed = {each.id for each in list_merge_requests(db, actor, _ALL, _PAGE).items} & numbers
            assert listed == seen, actor
            inside = {each.id for each in list_group_merge_requests(db, actor, outer.id, _ALL, _PAGE).items}
            assert inside <= seen

    make.database.read(check)
