"""Protected environments of projects and groups: rules, entries and permissions."""

from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.factories import Project, add_members, make_group, make_project, share, statements_of
from tests.roles import UsersByRole, group_with, project_with


@pytest.fixture
def project(make: Make, roles: UsersByRole) -> Project:
    """Return a private project."""
    return project_with(make, roles)


def _protect(make: Make, url: str, *entries: dict[str, Any], name: str = "production") -> dict[str, Any]:
    made = make.api.post(f"{url}/protected_environments", make.root, name=name, deploy_access_levels=list(entries))
    assert made.status_code == 201, made.text
    shown: dict[str, Any] = made.json()
    return shown


def _problem(api: Api, project: Project, user: User | None, *entries: dict[str, Any], **fields: Any) -> tuple[int, str]:
    sent = {"name": "x", "deploy_access_levels": list(entries) or [{"access_level": 40}], **fields}
    answer = api.post(f"{project.url}/protected_environments", user, **sent)
    return answer.status_code, str(answer.json())


def test_life_cycle(api: Api, roles: UsersByRole, project: Project) -> None:
    url = f"{project.url}/protected_environments"
    made = api.post(url, roles.master, name="review/a b", deploy_access_levels=[{"access_level": 40}])
    assert made.status_code == 201, made.text
    (entry,) = made.json()["deploy_access_levels"]
    assert made.json() == {
        "name": "review/a b",
        "deploy_access_levels": [
            {
                "id": entry["id"],
                "access_level": 40,
                "access_level_description": "Maintainers",
                "user_id": None,
                "group_id": None,
                "group_inheritance_type": 0,
            }
        ],
        "required_approval_count": 0,
        "approval_rules": [],
    }
    again = api.post(url, roles.master, name="review/a b", deploy_access_levels=[{"access_level": 30}])
    assert (again.status_code, again.json()["message"]) == (409, "Protected environment 'review/a b' already exists")
    one = f"{url}/review%2Fa%20b"
    assert api.get(one, roles.master).json() == made.json()
    assert api.get(url, roles.master).json() == [made.json()]
    added = api.put(one, roles.master, deploy_access_levels=[{"user_id": roles.developer.id}, {"access_level": 60}])
    assert added.status_code == 200, added.text
    shown = added.json()["deploy_access_levels"]
    assert [(each["access_level"], each["user_id"]) for each in shown] == [
        (40, None),
        (None, roles.developer.id),
        (60, None),
    ]
    assert shown[2]["access_level_description"] == "Instance admins"
    changes = [{"id": shown[1]["id"], "access_level": 30}, {"id": shown[0]["id"], "_destroy": True}]
    changed = api.put(one, roles.master, deploy_access_levels=changes).json()["deploy_access_levels"]
    assert [(each["id"], each["access_level"], each["user_id"]) for each in changed] == [
        (shown[1]["id"], 30, None),
        (shown[2]["id"], 60, None),
    ]
    emptied = [{"id": each["id"], "_destroy": True} for each in changed]
    assert api.put(one, roles.master, deploy_access_levels=emptied).json()["deploy_access_levels"] == []
    assert api.delete(one, roles.master).status_code == 204
    assert api.delete(one, roles.master).status_code == 404
    assert api.get(one, roles.master).status_code == 404
    events = api.get(f"{project.url}/audit_events", roles.owner).json()
    assert [(each["details"]["change"], each["details"]["to"]) for each in events][::-1] == [
        ("protected_environments.review/a b", '["Maintainers"]'),
        ("protected_environments.review/a b", f'["Maintainers","{_name(api, roles.developer)}","Instance admins"]'),
        ("protected_environments.review/a b", '["Developers + Maintainers","Instance admins"]'),
        ("protected_environments.review/a b", "[]"),
        ("protected_environments.review/a b", None),
    ]


def _name(api: Api, user: User) -> str:
    name: str = api.get("/user", user).json()["name"]
    return name


def test_maintainers_change_the_protection(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    expected = {"owner": 201, "master": 201, "developer": 403, "reporter": 403, "guest": 403, "stranger": 404}
    for role, status in expected.items():
        made = api.post(
            f"{project.url}/protected_environments",
            roles[role],
            name=f"env-{role}",
            deploy_access_levels=[{"access_level": 30}],
        )
        assert made.status_code == status, role
    _protect(make, project.url, {"access_level": 40})
    for role, refusal in expected.items():
        status = 200 if refusal == 201 else refusal
        assert api.get(f"{project.url}/protected_environments", roles[role]).status_code == status, role
        one = f"{project.url}/protected_environments/production"
        assert api.get(one, roles[role]).status_code == status, role
        assert api.put(one, roles[role], deploy_access_levels=[]).status_code == status, role
        if status != 200:
            assert api.delete(one, roles[role]).status_code == status, role
    assert api.get(f"{project.url}/protected_environments").status_code in (401, 404)


def test_refused_entries(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    group = make_group(make)
    assert _problem(api, project, roles.master, {})[0] == 400
    assert "one of access_level" in _problem(api, project, roles.master, {"access_level": 40, "group_id": group.id})[1]
    assert _problem(api, project, roles.master, {"access_level": 50})[0] == 400
    assert "not at least a developer" in _problem(api, project, roles.master, {"user_id": roles.reporter.id})[1]
    assert "not at least a developer" in _problem(api, project, roles.master, {"user_id": roles.stranger.id})[1]
    assert "not at least a developer" in _problem(api, project, roles.master, {"user_id": 999_999_999})[1]
    assert "not shared" in _problem(api, project, roles.master, {"group_id": group.id})[1]
    assert "twice" in _problem(api, project, roles.master, {"access_level": 40}, {"access_level": 40})[1]
    assert "approval" in _problem(api, project, roles.master, approval_rules=[{"access_level": 40}])[1]
    assert "approval" in _problem(api, project, roles.master, required_approval_count=1)[1]
    assert _problem(api, project, roles.master, name=" ")[0] == 400
    assert _problem(api, project, roles.master, name="x" * 256)[0] == 400
    assert "at least one" in _problem(api, project, roles.master, deploy_access_levels=[])[1]
    assert "100 entries" in _problem(api, project, roles.master, *_many_users(make, project))[1]
    assert api.get(f"{project.url}/protected_environments", roles.master).json() == []
    _protect(make, project.url, {"access_level": 40})
    one = f"{project.url}/protected_environments/production"
    assert api.put(one, roles.master, deploy_access_levels=[{"id": 999_999_999}]).status_code == 404
    assert api.put(one, roles.master, approval_rules=[{"access_level": 40}]).status_code == 400


def _many_users(make: Make, project: Project) -> list[dict[str, Any]]:
    users = [make.user() for _ in range(101)]
    add_members(make, project, dict.fromkeys(users, 30))
    return [{"user_id": user.id} for user in users]


def test_groups_of_a_project_must_be_invited(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    group = make_group(make)
    share(make, project, group, 20)
    shown = _protect(make, project.url, {"group_id": group.id, "group_inheritance_type": 1})
    (entry,) = shown["deploy_access_levels"]
    assert (entry["group_id"], entry["group_inheritance_type"], entry["access_level"]) == (group.id, 1, None)
    one = f"{project.url}/protected_environments/production"
    edited = api.put(one, roles.master, deploy_access_levels=[{"id": entry["id"], "group_inheritance_type": 0}])
    assert edited.json()["deploy_access_levels"][0]["group_inheritance_type"] == 0
    assert edited.json()["deploy_access_levels"][0]["group_id"] == group.id


def test_tiers_of_a_group(api: Api, make: Make, roles: UsersByRole) -> None:
    group = group_with(make, roles)
    below, other = make_group(make, roles.owner, parent_id=group.id), make_group(make)
    url = f"{group.url}/protected_environments"

    def post(user: User | None, *entries: dict[str, Any], name: str = "production") -> tuple[int, str]:
        answer = api.post(url, user, name=name, deploy_access_levels=list(entries))
        return answer.status_code, answer.text

    assert "deployment tier" in post(roles.owner, {"access_level": 40}, name="prod")[1]
    assert "not at least a maintainer" in post(roles.owner, {"user_id": roles.developer.id})[1]
    assert "not a subgroup" in post(roles.owner, {"group_id": other.id})[1]
    assert "not a subgroup" in post(roles.owner, {"group_id": group.id})[1]
    assert post(roles.master, {"access_level": 40})[0] == 403
    assert post(roles.stranger, {"access_level": 40})[0] == 404
    assert post(roles.owner, {"access_level": 40}, {"user_id": roles.master.id}, {"group_id": below.id})[0] == 201
    assert post(roles.owner, {"access_level": 40})[0] == 409
    shown = api.get(f"{url}/production", roles.owner).json()
    assert [each["group_id"] for each in shown["deploy_access_levels"]] == [None, None, below.id]
    assert api.get(url, roles.owner).json() == [shown]
    assert api.get(url, roles.master).status_code == 403
    entries = [{"id": shown["deploy_access_levels"][0]["id"], "_destroy": True}]
    assert api.put(f"{url}/production", roles.master, deploy_access_levels=entries).status_code == 403
    changed = api.put(f"{url}/production", roles.owner, deploy_access_levels=entries).json()
    assert len(changed["deploy_access_levels"]) == 2
    assert api.delete(f"{url}/production", roles.master).status_code == 403
    assert api.delete(f"{url}/production", roles.owner).status_code == 204
    events = api.get(f"{group.url}/audit_events", roles.owner).json()
    assert {each["details"]["change"] for each in events} == {"protected_environments.production"}


def test_the_list_costs_a_fixed_number_of_statements(api: Api, make: Make) -> None:
    project = make_project(make)

    def cost() -> int:
        return statements_of(make, lambda: api.get(f"{project.url}/protected_environments", make.root))

    _protect(make, project.url, {"access_level": 40})
    few = cost()
    for number in range(5):
        _protect(make, project.url, {"access_level": 30}, {"access_level": 40}, name=f"env-{number}")
    assert cost() == few
