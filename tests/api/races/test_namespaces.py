"""Concurrent changes of groups and projects: create, transfer, rename, hide and delete stay consistent."""

from collections import Counter

from ingot.core.access.levels import Level
from tests.api.races.concurrent_servers import ConcurrentCall, ConcurrentServers
from tests.client import Api, Make
from tests.factories import Group, make_group, make_project

ROUNDS = 8


def _assert_consistent(api: Api, make: Make, group: Group) -> None:
    """Assert that paths and names follow from the parents, and nothing is more visible than its group."""
    openness = ("private", "internal", "public")
    shown = api.get(group.url, make.root).json()
    for below in api.get(f"{group.url}/subgroups", make.root, per_page=100).json():
        assert below["full_path"] == f"{shown['full_path']}/{below['path']}"
        assert below["full_name"] == f"{shown['full_name']} / {below['name']}"
        assert openness.index(below["visibility"]) <= openness.index(shown["visibility"])
    for project in api.get(f"{group.url}/projects", make.root, per_page=100).json():
        assert project["path_with_namespace"] == f"{shown['full_path']}/{project['path']}"
        assert openness.index(project["visibility"]) <= openness.index(shown["visibility"])


def test_groups_never_contain_themselves(api: Api, make: Make, servers: ConcurrentServers) -> None:
    for _ in range(ROUNDS):
        groups = [make_group(make) for _ in range(3)]
        into = [*groups[1:], groups[0]]

        answers = servers.race(
            *(
                ConcurrentCall("POST", f"{group.url}/transfer", make.root, {"group_id": there.id})
                for group, there in zip(groups, into, strict=True)
            )
        )

        assert sorted(answers) == [201, 201, 400]
        shown = {group.id: api.get(group.url, make.root).json() for group in groups}
        tops = [each for each in shown.values() if each["parent_id"] is None]
        assert len(tops) == 1
        for each in shown.values():
            if each["parent_id"] is not None:
                assert each["full_path"] == f"{shown[each['parent_id']]['full_path']}/{each['path']}"


def test_contents_follow_renames_of_their_group(api: Api, make: Make, servers: ConcurrentServers) -> None:
    for _ in range(ROUNDS):
        group = make_group(make)
        calls = []
        for number in range(4):
            path = make.name("renamed")
            calls += [
                ConcurrentCall("PUT", group.url, make.root, {"path": path, "name": path}),
                ConcurrentCall(
                    "POST", "/groups", make.root, {"name": f"s{number}", "path": f"s{number}", "parent_id": group.id}
                ),
                ConcurrentCall("POST", "/projects", make.root, {"name": f"p{number}", "namespace_id": group.id}),
            ]

        assert Counter(servers.race(*calls)) == {200: 4, 201: 8}
        _assert_consistent(api, make, group)


def test_contents_are_not_more_visible_than_their_group(api: Api, make: Make, servers: ConcurrentServers) -> None:
    for _ in range(ROUNDS):
        group = make_group(make, visibility="public")
        around = {"namespace_id": group.id, "visibility": "public"}
        below = make_group(make, parent=group)
        hidden = make_project(make, group=group)

        servers.race(
            ConcurrentCall("POST", "/projects", make.root, {"name": "shown", **around}),
            ConcurrentCall("PUT", group.url, make.root, {"visibility": "private"}),
            ConcurrentCall("POST", "/groups", make.root, {"name": "s", "path": "s", "parent_id": group.id, **around}),
            ConcurrentCall("PUT", below.url, make.root, {"visibility": "public"}),
            ConcurrentCall("PUT", hidden.url, make.root, {"visibility": "public"}),
        )

        _assert_consistent(api, make, group)


def test_a_fork_is_not_more_visible_than_its_source(api: Api, make: Make, servers: ConcurrentServers) -> None:
    people = [make.user() for _ in range(3)]
    for _ in range(ROUNDS):
        source = make_project(make, visibility="public")

        answers = servers.race(
            ConcurrentCall("PUT", source.url, make.root, {"visibility": "private"}),
            *(ConcurrentCall("POST", f"{source.url}/fork", person) for person in people),
        )

        assert answers[0] == 200
        forks = api.get(f"{source.url}/forks", make.root).json()
        assert {fork["visibility"] for fork in forks} <= {"private"}
        assert api.get(source.url, make.root).json()["forks_count"] == len(forks) == answers[1:].count(201)


def test_nothing_is_created_in_a_deleted_group(api: Api, make: Make, servers: ConcurrentServers) -> None:
    person = make.user()
    for _ in range(ROUNDS):
        group = make_group(make, members={person: Level.OWNER})

        servers.race(
            ConcurrentCall("POST", "/projects", person, {"name": "late", "namespace_id": group.id}),
            ConcurrentCall("DELETE", group.url, make.root),
            ConcurrentCall("POST", "/groups", person, {"name": "late", "path": "late", "parent_id": group.id}),
            ConcurrentCall("POST", f"{group.url}/members", make.root, {"user_id": make.user().id, "access_level": 30}),
        )

        assert api.get(group.url, make.root).status_code == 404
        assert api.get("/projects", person, membership=True).json() == []
        assert api.get("/groups", person).json() == []
        assert api.get(f"/users/{person.id}/memberships", make.root).json() == []


def test_a_project_is_found_at_its_path(api: Api, make: Make, servers: ConcurrentServers) -> None:
    for _ in range(ROUNDS):
        project, group, member = make_project(make), make_group(make), make.user()

        servers.race(
            ConcurrentCall("PUT", f"{project.url}/transfer", make.root, {"namespace": group.id}),
            ConcurrentCall("PUT", project.url, make.root, {"path": make.name("moved")}),
            ConcurrentCall("PUT", group.url, make.root, {"path": make.name("renamed")}),
            ConcurrentCall("POST", f"{project.url}/members", make.root, {"user_id": member.id, "access_level": 30}),
        )

        shown = api.get(project.url, make.root).json()
        assert shown["path_with_namespace"] == f"{shown['namespace']['full_path']}/{shown['path']}"
        # Members of the project see its parent group, wherever it is.
        assert api.get(group.url, member).status_code == 200


def test_a_path_belongs_to_a_project_or_a_group(api: Api, make: Make, servers: ConcurrentServers) -> None:
    group = make_group(make)
    for number in range(ROUNDS):
        name = f"same-{number}"
        sent = {"name": name, "path": name, "namespace_id": group.id, "parent_id": group.id}

        answers = servers.race(
            ConcurrentCall("POST", "/projects", make.root, sent),
            ConcurrentCall("POST", "/groups", make.root, sent),
            ConcurrentCall("POST", "/projects", make.root, sent),
        )

        assert sorted(answers) == [201, 400, 400]


def test_project_limits_hold(api: Api, make: Make, servers: ConcurrentServers) -> None:
    for _ in range(4):
        person = make.user(projects_limit=2)

        answers = servers.race(
            *(ConcurrentCall("POST", "/projects", person, {"name": f"p{number}"}) for number in range(8))
        )

        assert Counter(answers) == {201: 2, 403: 6}
        assert len(api.get(f"/users/{person.id}/projects", make.root).json()) == 2


def test_forks_into_other_namespaces_do_not_disturb_each_other(
    api: Api, make: Make, servers: ConcurrentServers
) -> None:
    source = make_project(make, make.root)
    groups = [make_group(make) for _ in range(4)]
    for number in range(2):
        name = f"fork{number}"
        calls = [
            ConcurrentCall(
                "POST", f"{source.url}/fork", make.root, {"namespace_id": group.id, "path": name, "name": name}
            )
            for group in groups
        ]

        # Each is sent twice, of which the second finds the path taken.
        assert Counter(servers.race(*calls, *calls)) == {201: len(groups), 409: len(groups)}
        assert api.get(source.url, make.root).json()["forks_count"] == len(groups) * (number + 1)
