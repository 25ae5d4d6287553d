"""Default protection of branches of new projects, of the instance and of groups."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.factories import Group, changed_settings, make_group, make_project
from tests.instance_settings import PATH

NAME, NUMBER = "default_branch_protection_defaults", "default_branch_protection"
FULL = {
    "allowed_to_push": [{"access_level": 40}],
    "allow_force_push": False,
    "allowed_to_merge": [{"access_level": 40}],
    "developer_can_initial_push": False,
}
DEVELOPERS = [{"access_level": 30}]
PROTECTIONS: dict[int, dict[str, Any]] = {
    0: {**FULL, "allowed_to_push": DEVELOPERS, "allowed_to_merge": DEVELOPERS, "allow_force_push": True},
    1: {**FULL, "allowed_to_push": DEVELOPERS},
    2: FULL,
    3: {**FULL, "allowed_to_merge": DEVELOPERS},
    4: {**FULL, "developer_can_initial_push": True},
}


def _rules(make: Make, owner: User, group: Group | None = None) -> list[tuple[int, int, bool]]:
    """Return the rules of a new project: levels of pushes and merges, and whether pushes may be forced."""
    rules = make.api.get(f"{make_project(make, owner, group=group).url}/protected_branches", owner).json()
    return [
        (
            rule["push_access_levels"][0]["access_level"],
            rule["merge_access_levels"][0]["access_level"],
            rule["allow_force_push"],
        )
        for rule in rules
    ]


def test_of_the_instance(api: Api, make: Make) -> None:
    owner = make.user()
    assert api.get(PATH, make.root).json()[NAME] == FULL
    assert _rules(make, owner) == [(40, 40, False)]
    with changed_settings(make, **{NAME: {"allowed_to_push": [{"access_level": 0}], "allow_force_push": True}}):
        shown = api.get(PATH, make.root).json()
        assert (shown[NAME]["allowed_to_merge"], shown[NUMBER]) == (FULL["allowed_to_merge"], 2)
        assert _rules(make, owner) == [(0, 40, True)]
        assert api.put(PATH, make.root, **{NUMBER: 2}).json()[NAME] == FULL, "The number stands for a whole object."
    with changed_settings(make, **{NAME: PROTECTIONS[0]}):
        assert _rules(make, owner) == []
    assert _rules(make, owner) == [(40, 40, False)]


def test_of_a_group(api: Api, make: Make) -> None:
    owner = make.user()
    group = make_group(make, owner)
    changed = {"allowed_to_merge": [{"access_level": 60}], "developer_can_initial_push": True}
    assert api.put(group.url, owner, **{NAME: changed}).json()[NAME] == {**FULL, **changed}
    assert _rules(make, owner, group) == [(40, 60, False)]
    whole = api.get(group.url, owner).json()
    assert (api.put(group.url, owner, **whole).json()[NAME], whole[NUMBER]) == ({**FULL, **changed}, 4)
    with changed_settings(make, **{NAME: PROTECTIONS[0]}):
        assert _rules(make, owner, group) == [(40, 60, False)]
        api.put(group.url, owner, **{NAME: None})
        assert _rules(make, owner, group) == []


@pytest.mark.parametrize("number", PROTECTIONS)
def test_the_number_stands_for_an_object(api: Api, make: Make, number: int) -> None:
    owner = make.user()
    group = make_group(make, owner)
    for url, caller in ((group.url, owner), (PATH, make.root)):
        other = (number + 1) % 5
        with changed_settings(make, **{NUMBER: other}):
            assert api.put(url, caller, **{NUMBER: other}).json()[NAME] == PROTECTIONS[other]
            assert api.put(url, caller, **{NUMBER: number}).json()[NAME] == PROTECTIONS[number]
            shown = api.put(url, caller, **{NAME: PROTECTIONS[other], NUMBER: number}).json()
            assert (shown[NUMBER], shown[NAME]) == (other, PROTECTIONS[other]), "The changed value counts."
            shown = api.put(url, caller, **{NAME: PROTECTIONS[other], NUMBER: number}).json()
            assert (shown[NUMBER], shown[NAME]) == (number, PROTECTIONS[number]), "The changed value counts."


def test_invalid_objects(api: Api, make: Make) -> None:
    owner = make.user()
    group = make_group(make, owner)
    for url, caller in ((group.url, owner), (PATH, make.root)):
        before = api.get(url, caller).json()[NAME]
        invalid: tuple[Any, ...] = (
            "full",
            {"allowed_to_push": []},
            {"allowed_to_push": [{"access_level": 10}]},
            {"allowed_to_merge": [{"access_level": 30}, {"access_level": 40}]},
            {"allow_force_push": "perhaps"},
        )
        for sent in invalid:
            assert api.put(url, caller, **{NAME: sent}).status_code == 400, sent
            assert api.get(url, caller).json()[NAME] == before


@pytest.mark.parametrize(("number", "status"), [(0, 201), (1, 201), (2, 403), (3, 403), (4, 201)])
def test_first_push_of_developers(api: Api, make: Make, number: int, status: int) -> None:
    owner, developer, reporter = make.user(), make.user(), make.user()
    group = make_group(make, owner)
    api.put(group.url, owner, **{NUMBER: number})
    members = {developer: Level.DEVELOPER, reporter: Level.REPORTER}
    project = make_project(make, owner, group=group, members=members)
    sent = {"branch": "master", "commit_message": "First", "content": "x"}
    assert api.post(f"{project.url}/repository/files/a", reporter, **sent).status_code == 403
    assert api.post(f"{project.url}/repository/files/a", developer, **sent).status_code == status
    if number == 4:
        second = api.post(f"{project.url}/repository/files/b", developer, **sent)
        assert second.status_code == 403, "Only the first push is allowed."


def test_owners_of_groups_change_it_unless_the_instance_keeps_it(api: Api, make: Make) -> None:
    owner = make.user()
    group = make_group(make, owner)
    with changed_settings(make, group_owners_can_manage_default_branch_protection=False):
        for sent in ({NUMBER: 0}, {NAME: {"allow_force_push": True}}):
            assert api.put(group.url, owner, **sent).status_code == 403, sent
        assert _rules(make, owner, group) == [(40, 40, False)]
        assert api.put(group.url, owner, description="Other").status_code == 200
        assert api.put(group.url, make.root, **{NUMBER: 0}).status_code == 200
        assert _rules(make, owner, group) == []
    assert api.put(group.url, owner, **{NUMBER: 1}).status_code == 200
