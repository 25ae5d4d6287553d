"""Protected branches and tags: rules, wildcards and permissions."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ingot.repositories.protection import service
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_project, statements_of
from tests.git_history import History
from tests.roles import UsersByRole, project_with


@pytest.fixture
def project(instance: Instance, make: Make, roles: UsersByRole) -> Project:
    """Return a private project with a branch."""
    project = project_with(make, roles)
    history = History()
    history.commit(files={"README.md": "hello\n"})
    history.fill(instance, project)
    return project


def levels(shown: list[dict[str, Any]]) -> list[int]:
    """Return the levels of a rule."""
    return [each["access_level"] for each in shown]


def test_life_cycle_of_a_branch_rule(api: Api, roles: UsersByRole, project: Project) -> None:
    made = api.post(f"/projects/{project.id}/protected_branches", roles.master, name="release/*", push_access_level=30)
    assert made.status_code == 201, made.text
    shown = made.json()
    assert shown["name"] == "release/*"
    assert shown["push_access_levels"] == [
        {
            "id": shown["id"],
            "access_level": 30,
            "access_level_description": "Developers + Maintainers",
            "user_id": None,
            "group_id": None,
            "deploy_key_id": None,
        }
    ]
    assert shown["merge_access_levels"][0]["access_level_description"] == "Maintainers"
    assert shown["allow_force_push"] is False
    assert not {"unprotect_access_levels", "code_owner_approval_required"} & set(shown)

    one = api.get(f"/projects/{project.id}/protected_branches/release%2F*", roles.master)
    assert one.json() == shown
    listed = api.get(f"/projects/{project.id}/protected_branches", roles.master)
    assert [rule["name"] for rule in listed.json()] == ["master", "release/*"]
    assert listed.headers["x-total"] == "2"
    again = api.post(f"/projects/{project.id}/protected_branches", roles.master, name="release/*")
    assert (again.status_code, again.json()["message"]) == (409, "Protected branch 'release/*' already exists")

    changed = api.request(
        "PATCH", f"/projects/{project.id}/protected_branches/release%2F*", roles.master, json={"allow_force_push": True}
    )
    assert changed.status_code == 200
    assert changed.json() == {**shown, "allow_force_push": True}
    for _ in range(2):
        assert api.delete(f"/projects/{project.id}/protected_branches/release%2F*", roles.master).status_code == 200
    assert api.get(f"/projects/{project.id}/protected_branches/release%2F*", roles.master).status_code == 404
    gone = api.request("PATCH", f"/projects/{project.id}/protected_branches/release%2F*", roles.master, json={})
    assert gone.status_code == 404


def test_life_cycle_of_a_tag_rule(api: Api, roles: UsersByRole, project: Project) -> None:
    made = api.post(f"/projects/{project.id}/protected_tags", roles.master, name="v*", create_access_level=30)
    assert made.status_code == 201, made.text
    assert made.json()["name"] == "v*"
    assert levels(made.json()["create_access_levels"]) == [30]
    assert api.get(f"/projects/{project.id}/protected_tags/v*", roles.master).json() == made.json()
    other = api.post(f"/projects/{project.id}/protected_tags", roles.master, name="a/b.c")
    assert levels(other.json()["create_access_levels"]) == [40]
    listed = api.get(f"/projects/{project.id}/protected_tags", roles.master).json()
    assert [rule["name"] for rule in listed] == ["a/b.c", "v*"]
    again = api.post(f"/projects/{project.id}/protected_tags", roles.master, name="v*")
    assert (again.status_code, again.json()["message"]) == (409, "Protected tag 'v*' already exists")
    for _ in range(2):
        assert api.delete(f"/projects/{project.id}/protected_tags/v*", roles.master).status_code == 200
    assert api.get(f"/projects/{project.id}/protected_tags/v*", roles.master).status_code == 404


@pytest.mark.parametrize(
    ("who", "private", "public"),
    [
        ("administrator", True, True),
        ("owner", True, True),
        ("master", True, True),
        ("developer", 403, 403),
        ("reporter", 403, 403),
        ("guest", 403, 403),
        ("stranger", 404, 403),
        ("nobody", 401, 401),
    ],
)
def test_permissions(api: Api, make: Make, roles: UsersByRole, who: str, private: Any, public: Any) -> None:
    for visibility, expected in (("private", private), ("public", public)):
        project = project_with(make, roles, visibility=visibility)
        for kind in ("protected_branches", "protected_tags"):
            url = f"/projects/{project.id}/{kind}"
            api.post(url, make.root, name="there")
            answers = [
                api.get(url, roles[who]),
                api.get(f"{url}/there", roles[who]),
                api.delete(f"{url}/there", roles[who]),
                api.post(url, roles[who], name="new"),
            ]
            good = [200, 200, 200, 201]
            assert [answer.status_code for answer in answers] == (good if expected is True else [expected] * 4)
        edited = api.request("PATCH", f"{project.url}/protected_branches/master", roles[who], json={})
        assert edited.status_code == (200 if expected is True else expected)


def test_an_archived_project_is_read_only(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    assert api.post(f"/projects/{project.id}/archive", roles.owner).status_code == 201
    url = f"/projects/{project.id}/protected_branches"
    assert api.get(url, roles.master).status_code == 200
    assert api.post(url, roles.owner, name="x").status_code == 403
    assert api.delete(f"{url}/master", roles.owner).status_code == 403
    assert [rule["name"] for rule in api.get(url, roles.master).json()] == ["master"]


@pytest.mark.parametrize(
    ("sent", "push", "merge"),
    [
        ({}, 40, 40),
        ({"push_access_level": 0, "merge_access_level": 30}, 0, 30),
        ({"push_access_level": "60"}, 60, 40),
        ({"allowed_to_push": [{"access_level": 30}]}, 30, 40),
        ({"allowed_to_push": [], "allowed_to_merge": []}, 40, 40),
        ({"allowed_to_merge": [{"access_level": 0}], "merge_access_level": 30}, 40, 0),
        ({"unprotect_access_level": 40, "code_owner_approval_required": True}, 40, 40),
        ({"allowed_to_push": [{"user_id": 1}], "allowed_to_merge": [{"group_id": 1}]}, 40, 40),
        ({"allowed_to_push": [{"user_id": 1}, {"access_level": 0}]}, 0, 40),
    ],
)
def test_requested_levels_are_stored(
    api: Api, roles: UsersByRole, project: Project, sent: dict[str, Any], push: int, merge: int
) -> None:
    made = api.post(f"/projects/{project.id}/protected_branches", roles.master, name="x", **sent)
    assert made.status_code == 201, made.text
    shown = made.json()
    assert (levels(shown["push_access_levels"]), levels(shown["merge_access_levels"])) == ([push], [merge])
    changed = api.request("PATCH", f"/projects/{project.id}/protected_branches/x", roles.master, json=sent).json()
    assert changed == shown


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("push_access_level", 10),
        ("push_access_level", 20),
        ("push_access_level", 50),
        ("push_access_level", -1),
        ("merge_access_level", 2**70),
        ("merge_access_level", "master"),
        ("merge_access_level", [40]),
        ("merge_access_level", True),
        ("allow_force_push", "perhaps"),
        ("allowed_to_push", [{"access_level": 30}, {"access_level": 40}]),
        ("allowed_to_merge", [{"id": 1, "_destroy": True}]),
        ("allowed_to_merge", ["x"]),
        ("name", ""),
        ("name", "  "),
        ("name", "x" * 1001),
        ("name", ["x"]),
        ("name", "a\0b"),
    ],
)
def test_invalid_branch_rules_are_rejected(
    api: Api, roles: UsersByRole, project: Project, field: str, value: Any
) -> None:
    sent = {"name": "x", field: value}
    refused = api.post(f"/projects/{project.id}/protected_branches", roles.master, **sent)
    assert refused.status_code == 400, refused.text
    assert field in refused.json()["message"]
    assert len(api.get(f"/projects/{project.id}/protected_branches", roles.master).json()) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("create_access_level", 20),
        ("create_access_level", "x"),
        ("allowed_to_create", [{"deploy_key_id": 1}]),
        ("name", " "),
        ("name", {"a": 1}),
    ],
)
def test_invalid_tag_rules_are_rejected(api: Api, roles: UsersByRole, project: Project, field: str, value: Any) -> None:
    refused = api.post(f"/projects/{project.id}/protected_tags", roles.master, **{"name": "x", field: value})
    assert refused.status_code == 400, refused.text
    assert field in refused.json()["message"]


IMPOSSIBLE = ["a b", "a..b", "refs/heads/q", "a\nb", "x" * 300, "-x", "a*.lock", "*/", "a~1", "f" * 40, ".*", "a//*"]


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_impossible_names_are_rejected(api: Api, roles: UsersByRole, project: Project, name: str) -> None:
    """A rule of this kind would appear to protect something."""
    for kind in ("protected_branches", "protected_tags"):
        refused = api.post(f"/projects/{project.id}/{kind}", roles.master, name=name)
        assert refused.status_code == 400, refused.text
        assert list(refused.json()["message"]) == ["name"]


@pytest.mark.parametrize("name", ["*", "**", "*-stable", "a/*/b", "v*.*", "*" * 300, "f" * 40 + "*", "ünï/*", "it's"])
def test_possible_names_are_accepted(api: Api, roles: UsersByRole, project: Project, name: str) -> None:
    for kind in ("protected_branches", "protected_tags"):
        assert api.post(f"/projects/{project.id}/{kind}", roles.master, name=name).status_code == 201


def test_a_name_is_required(api: Api, roles: UsersByRole, project: Project) -> None:
    for kind in ("protected_branches", "protected_tags"):
        refused = api.post(f"/projects/{project.id}/{kind}", roles.master)
        assert (refused.status_code, refused.json()["message"]) == (400, '400 (Bad request) "name" not given')


@pytest.mark.parametrize("name", ["%00", "%FF", "%ED%A0%80", "..%2F..", "%2A%2A", "-x", "a" * 2000])
def test_missing_rules(api: Api, roles: UsersByRole, project: Project, name: str) -> None:
    for kind in ("protected_branches", "protected_tags"):
        assert api.get(f"/projects/{project.id}/{kind}/{name}", roles.master).status_code in (400, 404)
        assert api.delete(f"/projects/{project.id}/{kind}/{name}", roles.master).status_code in (200, 400, 404)


def test_search_and_pages(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    url = f"/projects/{project.id}/protected_branches"
    for name in ("Release-1", "release-2", "50%", "ünï/*"):
        assert api.post(url, roles.master, name=name).status_code == 201

    def found(**params: Any) -> list[str]:
        return [rule["name"] for rule in api.get(url, roles.master, **params).json()]

    assert found(search="RELEASE") == ["Release-1", "release-2"]
    assert found(search="%") == ["50%"]
    assert found(search="ÜNÏ") == ["ünï/*"]
    assert found(search="nope") == []
    assert found(per_page=2, page=2) == found()[2:4]
    few = statements_of(make, lambda: api.get(url, roles.master, per_page=1))
    assert statements_of(make, lambda: api.get(url, roles.master, per_page=100)) == few


def test_the_number_of_rules_is_limited(
    api: Api, roles: UsersByRole, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each push and each list evaluates all of them."""
    monkeypatch.setattr(service, "MAX_RULES", 2)
    for kind, there in (("protected_branches", 1), ("protected_tags", 0)):
        answers = [api.post(f"/projects/{project.id}/{kind}", roles.master, name=f"x{n}") for n in range(3)]
        assert [answer.status_code for answer in answers] == [201] * (2 - there) + [400] * (1 + there)
    full = api.put(f"/projects/{project.id}/repository/branches/feature/protect", roles.master)
    assert full.status_code in (400, 404)
    assert api.put(f"/projects/{project.id}/repository/branches/master/protect", roles.master).status_code == 200


def test_concurrent_creation_makes_one_rule(api: Api, roles: UsersByRole, project: Project) -> None:
    for kind in ("protected_branches", "protected_tags"):
        url = f"/projects/{project.id}/{kind}"
        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(lambda _, url=url: api.post(url, roles.master, name="same"), range(6)))
        assert sorted(answer.status_code for answer in answers) == [201] + [409] * 5


def test_rules_of_one_project_do_not_affect_another(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    other = make_project(make, roles.owner)
    api.post(f"/projects/{project.id}/protected_tags", roles.master, name="v*")
    assert api.get(f"/projects/{other.id}/protected_tags", roles.owner).json() == []
    assert api.delete(f"/projects/{other.id}/protected_tags/v*", roles.owner).status_code == 200
    assert api.get(f"/projects/{project.id}/protected_tags/v*", roles.master).status_code == 200


def test_a_rule_applies_at_once_and_shows_on_the_branch(api: Api, roles: UsersByRole, project: Project) -> None:
    """The branch endpoint and the rule endpoint agree."""
    branches = f"/projects/{project.id}/repository/branches"
    assert api.post(branches, roles.developer, branch="stable/1", ref="master").status_code == 201
    rule = {"name": "stable/*", "push_access_level": 40, "merge_access_level": 30}
    assert api.post(f"/projects/{project.id}/protected_branches", roles.master, **rule).status_code == 201
    shown = api.get(f"{branches}/stable%2F1", roles.developer).json()
    flags = ("protected", "developers_can_push", "developers_can_merge", "can_push")
    assert [shown[flag] for flag in flags] == [True, False, True, False]
    assert api.get(f"{branches}/stable%2F1", roles.master).json()["can_push"] is True
    assert api.post(branches, roles.developer, branch="stable/2", ref="master").status_code == 403
    assert api.post(branches, roles.master, branch="stable/2", ref="master").status_code == 201
    api.delete(f"/projects/{project.id}/protected_branches/stable%2F*", roles.master)
    assert api.get(f"{branches}/stable%2F1", roles.developer).json()["protected"] is False
    assert api.post(branches, roles.developer, branch="stable/3", ref="master").status_code == 201
