"""Members of projects and groups through shares with other groups."""

from typing import Any

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, Project, day, ids, make_group, make_project, share


def _levels(api: Api, where: Group | Project, person: User) -> dict[int, int]:
    answer = api.get(f"{where.url}/members/all", person, per_page=100)
    assert answer.status_code == 200, answer.text
    return {member["id"]: member["access_level"] for member in answer.json()}


def test_members_of_an_invited_group_are_listed(api: Api, make: Make) -> None:
    """With their effective level: the lower of the share and of their level in the group."""
    owner, master, guest, above = make.user(), make.user(), make.user(), make.user()
    top = make_group(make, members={above: Level.MASTER})
    group = make_group(make, parent=top, members={master: Level.MASTER, guest: Level.GUEST})
    project = make_project(make, owner, members={guest: Level.REPORTER})
    assert not _levels(api, project, owner).keys() & {master.id, above.id}
    share(make, project, group, Level.DEVELOPER)

    people = _levels(api, project, make.root)
    assert {person.id: people.get(person.id) for person in (owner, master, above, guest)} == {
        owner.id: 40,
        master.id: 30,
        above.id: 30,
        guest.id: 20,
    }
    for person in (master, guest, above):
        one = api.get(f"{project.url}/members/all/{person.id}", make.root)
        assert (one.status_code, one.json()["access_level"]) == (200, people[person.id])
        assert _levels(api, project, person) == people
    listed = ids(api.get(f"{project.url}/users", master, per_page=100))
    assert sorted(listed) == sorted(people), "each is there once"
    assert ids(api.get(f"{project.url}/users", master, search=above.username)) == [above.id]
    # The list of direct members contains added users only.
    assert set(ids(api.get(f"{project.url}/members", make.root))) == {owner.id, guest.id}
    assert api.get(f"{project.url}/members/{master.id}", make.root).status_code == 404


def test_members_of_a_hidden_group_are_not_shown_to_others(api: Api, make: Make) -> None:
    """Attack: learn the members of a private group from a public project shared with it."""
    owner, member, stranger, external = make.user(), make.user(), make.user(), make.user(external=True)
    hidden = make_group(make, visibility="private", members={member: Level.DEVELOPER, owner: Level.GUEST})
    internal = make_group(make, visibility="internal", members={stranger: Level.DEVELOPER})
    project = make_project(make, owner, visibility="public")
    for group in (hidden, internal):
        share(make, project, group, Level.DEVELOPER)

    sees = {who: set(_levels(api, project, who)) for who in (owner, member, stranger, external, make.root)}
    assert {who: (member.id in seen, stranger.id in seen) for who, seen in sees.items()} == {
        owner: (True, True),
        member: (True, True),
        stranger: (False, True),
        external: (False, False),
        make.root: (True, True),
    }
    assert api.get(f"{project.url}/members/all/{member.id}", stranger).status_code == 404
    assert member.id not in ids(api.get(f"{project.url}/users", stranger, per_page=100))
    total = api.get(f"{project.url}/users", stranger, search=member.username).headers["x-total"]
    assert total == "0"


def test_expired_shares_and_memberships_do_not_count(instance: Instance, api: Api, make: Make) -> None:
    """The earlier of both dates is shown as the expiry."""
    owner, brief, lasting = make.user(), make.user(), make.user()
    group = make_group(make, owner, members={lasting: Level.DEVELOPER})
    sent: dict[str, Any] = {"user_id": brief.id, "access_level": 30, "expires_at": "2999-01-01"}
    assert api.post(f"{group.url}/members", owner, **sent).status_code == 201
    project, ended = make_project(make, owner), make_project(make, owner)
    share(make, project, group, Level.DEVELOPER, expires_at="2999-02-01")
    share(make, ended, group, Level.DEVELOPER, expires_at="2998-12-31")

    shown = {each["id"]: each["expires_at"] for each in api.get(f"{project.url}/members/all", owner).json()}
    assert (shown[brief.id], shown[lasting.id], shown[owner.id]) == ("2999-01-01", "2999-02-01", None)
    assert brief.id in _levels(api, ended, owner)
    with day(instance, "2998-12-31"):
        assert not _levels(api, ended, owner).keys() & {brief.id, lasting.id}
        assert brief.id in _levels(api, project, owner)
    with day(instance, "2999-01-01"):
        assert _levels(api, project, owner).keys() & {brief.id, lasting.id} == {lasting.id}
    with day(instance, "2999-02-01"):
        assert lasting.id not in ids(api.get(f"{project.url}/users", owner))


def test_members_of_an_invited_group_are_listed_in_subgroups(api: Api, make: Make) -> None:
    """Direct members of the invited group, in the group and its projects; not members of its parents."""
    member, above, stranger = make.user(), make.user(), make.user()
    top = make_group(make, visibility="private", members={above: Level.MASTER})
    invited = make_group(make, visibility="private", parent=top, members={member: Level.MASTER})
    group = make_group(make, visibility="public")
    below = make_group(make, visibility="public", parent=group)
    project = make_project(make, group=below, visibility="public")
    shared = api.post(f"{group.url}/share", make.root, group_id=invited.id, group_access=30)
    assert shared.status_code == 201

    for where in (group, below, project):
        people = _levels(api, where, make.root)
        assert (people.get(member.id), people.get(above.id)) == (30, None), where.url
        one = api.get(f"{where.url}/members/all/{member.id}", member)
        assert (one.status_code, one.json()["access_level"]) == (200, 30)
        assert member.id not in _levels(api, where, stranger)
        assert api.get(f"{where.url}/members/all/{member.id}", stranger).status_code == 404
