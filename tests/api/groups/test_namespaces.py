"""Namespaces of groups: parents and member counts."""

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.factories import add_members, by_path, make_group, make_project, statements_of

VIEW = {"id", "name", "path", "kind", "full_path", "parent_id", "web_url", "avatar_url"}
COUNT = "members_count_with_descendants"


@pytest.mark.parametrize(
    ("level", "counts"), [(Level.OWNER, True), (Level.MASTER, True), (Level.DEVELOPER, False), (Level.GUEST, False)]
)
def test_masters_and_owners_see_member_counts(api: Api, make: Make, level: Level, counts: bool) -> None:
    user, below_too = make.user(), make.user()
    top = make_group(make, members={user: level, below_too: Level.GUEST})
    below = make_group(make, parent=top, members={below_too: Level.DEVELOPER, make.user(): Level.GUEST})
    make_project(make, group=below, members={make.user(): Level.GUEST})
    add_members(make, below, {make.user(): Level.GUEST}, expires_at="2001-01-01")

    by_id = {each["id"]: each for each in api.get("/namespaces", user).json()}

    assert set(by_id[top.id]) == (VIEW | {COUNT} if counts else VIEW)
    assert by_id[below.id]["parent_id"] == top.id
    if counts:
        # Root, the user, the member of both, and the member of the subgroup only.
        assert (by_id[top.id][COUNT], by_id[below.id][COUNT]) == (4, 3)
    assert api.get(f"/namespaces/{top.id}", user).json() == by_id[top.id]
    own = next(each for each in by_id.values() if each["kind"] == "user")
    assert (set(own), own["parent_id"]) == (VIEW, None)


def test_administrators_see_all_member_counts(api: Api, make: Make) -> None:
    group = make_group(make, make.user())
    (found,) = api.get("/namespaces", make.root, search=group.path).json()

    assert found | {"id": group.id, COUNT: 1} == found
    assert COUNT not in api.get(f"/namespaces/{make.user().username}", make.root).json()


def test_other_users_see_no_groups(api: Api, make: Make) -> None:
    group = make_group(make, visibility="public")

    assert [each["kind"] for each in api.get("/namespaces", make.user()).json()] == ["user"]
    assert api.get(f"/namespaces/{group.id}", make.user()).status_code == 404
    assert api.get(by_path("namespaces", group.path), make.root).json()["id"] == group.id


def test_existence_of_nested_paths_is_shown_to_members_only(api: Api, make: Make) -> None:
    """Attack: guess the subgroups of a private group."""
    member = make.user()
    top = make_group(make, members={member: Level.GUEST})
    below = make_group(make, parent=top, path="secret")

    for caller, taken in ((member, True), (make.root, True), (make.user(), False)):
        answer = api.get("/namespaces/Secret/exists", caller, parent_id=top.id).json()
        assert answer == {"exists": taken, "suggests": ["Secret1"] if taken else []}
    assert api.get(f"/namespaces/{below.id}/exists", member, parent_id=999999999).json()["exists"] is False


def test_a_path_reserved_by_a_rename_exists(api: Api, make: Make) -> None:
    group = make_group(make)
    api.put(group.url, make.root, path=make.name("moved"))

    assert api.get(f"/namespaces/{group.path}/exists", make.user()).json()["exists"] is True


def test_a_longer_list_takes_no_more_statements(api: Api, make: Make) -> None:
    user = make.user()
    costs = []
    for _ in range(2):
        for _ in range(3):
            make_group(make, user)
        costs.append(statements_of(make, lambda: api.get("/namespaces", user)))

    assert costs[0] == costs[1]
