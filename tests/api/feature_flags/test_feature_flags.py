"""Feature flags of projects, lists of users, and the addresses that clients of Unleash read."""

from functools import partial
from typing import Any

import pytest

from ingot.projects.feature_flags.queries import instance_id, is_in_scope
from ingot.projects.feature_flags.service import reset_instance_id
from ingot.projects.feature_flags.tables import FlagScope
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project, statements_of
from tests.roles import UsersByRole, project_with

CALLERS = [
    ("administrator", 200),
    ("owner", 200),
    ("master", 200),
    ("developer", 200),
    ("reporter", 403),
    ("guest", 403),
    ("stranger", 404),
    ("nobody", 401),
]
ROLLOUT = {"groupId": "default", "rollout": "25", "stickiness": "userId"}


def create(api: Api, caller: User, project: Project, name: str, **params: Any) -> dict[str, Any]:
    """Create a flag."""
    made = api.post(f"{project.url}/feature_flags", caller, name=name, version="new_version_flag", **params)
    assert made.status_code == 201, made.text
    return dict(made.json())


def scopes(*names: str) -> list[dict[str, str]]:
    """Return parameters of scopes."""
    return [{"environment_scope": name} for name in names]


@pytest.fixture
def project(make: Make, roles: UsersByRole) -> Project:
    """Return a private project of the roles."""
    return project_with(make, roles)


def test_developers_manage_flags_and_lists(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    flags, lists = f"{project.url}/feature_flags", f"{project.url}/feature_flags_user_lists"
    for role, status in CALLERS:
        caller, created = roles[role], 201 if status == 200 else status
        create(api, make.root, project, f"of-{role}")
        users = {"name": f"of {role}", "user_xids": "a,b"}
        iid = api.post(lists, make.root, **users).json()["iid"]
        assert api.post(flags, caller, name=f"by-{role}").status_code == created
        assert api.post(lists, caller, name=f"by {role}", user_xids="1").status_code == created
        for path in (flags, f"{flags}/of-{role}", lists, f"{lists}/{iid}"):
            assert api.get(path, caller).status_code == status, (role, path)
        assert api.put(f"{flags}/of-{role}", caller, active=False).status_code == status
        assert api.put(f"{lists}/{iid}", caller, user_xids="c").status_code == status
        assert api.delete(f"{flags}/of-{role}", caller).status_code == status
        assert api.delete(f"{lists}/{iid}", caller).status_code == status
        assert api.get(f"{flags}/of-{role}", make.root).status_code == (404 if status == 200 else 200)
    api.post(f"{project.url}/archive", roles.owner)
    assert api.post(flags, roles.owner, name="late").status_code == 403
    assert api.get(flags, roles.owner).status_code == 200


def test_strategies_are_added_changed_and_removed(api: Api, roles: UsersByRole, project: Project) -> None:
    strategies: list[dict[str, Any]] = [
        {"name": "default", "parameters": {}, "scopes": scopes("production", "review/*")},
        {"name": "userWithId", "parameters": {"userIds": "u1,u2"}},
    ]
    made = create(api, roles.developer, project, "merge_train", description="Trains", strategies=strategies)
    first, second = made["strategies"]
    assert (made["active"], made["version"], made["scopes"]) == (True, "new_version_flag", [])
    assert (first["name"], first["parameters"], first["user_list"]) == ("default", {}, None)
    assert [scope["environment_scope"] for scope in first["scopes"]] == ["production", "review/*"]
    assert (second["parameters"], second["scopes"]) == ({"userIds": "u1,u2"}, [])

    where = f"{project.url}/feature_flags/merge_train"
    first["scopes"][0]["_destroy"] = True
    second["_destroy"] = True
    added = {"name": "flexibleRollout", "parameters": ROLLOUT, "scopes": scopes("*")}
    changed = api.put(where, roles.developer, strategies=[first, second, added]).json()
    assert [strategy["name"] for strategy in changed["strategies"]] == ["default", "flexibleRollout"]
    assert [scope["environment_scope"] for scope in changed["strategies"][0]["scopes"]] == ["review/*"]
    # A partial change keeps everything else.
    kept = api.put(where, roles.developer, strategies=[{"id": changed["strategies"][1]["id"]}]).json()
    assert kept["strategies"] == changed["strategies"]
    renamed = api.put(where, roles.developer, name="train", active=False, description=None).json()
    assert (renamed["name"], renamed["active"], renamed["description"]) == ("train", False, None)
    assert api.get(where, roles.developer).status_code == 404
    assert [flag["name"] for flag in api.get(f"{project.url}/feature_flags", roles.owner, scope="disabled").json()] == [
        "train"
    ]
    assert api.get(f"{project.url}/feature_flags", roles.owner, scope="enabled").json() == []


STRATEGY = "strategies"
REFUSED: list[tuple[dict[str, Any], object]] = [
    ({}, '400 (Bad request) "name" not given'),
    ({"name": "x"}, {"name": ["is too short (minimum is 2 characters)"]}),
    ({"name": "x" * 64}, {"name": ["is too long (maximum is 63 characters)"]}),
    ({"name": "taken"}, {"name": ["has already been taken"]}),
    ({"name": "ok", "description": "x" * 256}, {"description": ["is too long (maximum is 255 characters)"]}),
    ({"name": "ok", "version": "legacy_flag"}, {"version": ["is invalid"]}),
    ({"name": "ok", "active": "perhaps"}, {"active": ["is invalid"]}),
    ({"name": "ok", "strategies": 7}, {STRATEGY: ["is invalid"]}),
    ({"name": "ok", "strategies": [{"name": "none"}]}, {STRATEGY: ["strategy name is invalid"]}),
    ({"name": "ok", "strategies": [{"name": "userWithId"}]}, {STRATEGY: ["parameters are invalid"]}),
    (
        {"name": "ok", "strategies": [{"name": "flexibleRollout", "parameters": {**ROLLOUT, "rollout": "101"}}]},
        {STRATEGY: ["rollout must be a string between 0 and 100 inclusive"]},
    ),
    (
        {"name": "ok", "strategies": [{"name": "flexibleRollout", "parameters": {**ROLLOUT, "stickiness": "age"}}]},
        {STRATEGY: ["stickiness parameter must be default, userId, sessionId, or random"]},
    ),
    (
        {
            "name": "ok",
            "strategies": [{"name": "gradualRolloutUserId", "parameters": {"groupId": "A", "percentage": "1"}}],
        },
        {STRATEGY: ["groupId parameter is invalid"]},
    ),
    (
        {"name": "ok", "strategies": [{"name": "gitlabUserList"}]},
        {STRATEGY: ["a user list must be given for gitlabUserList, and only for it"]},
    ),
    (
        {"name": "ok", "strategies": [{"name": "default", "id": 1}]},
        {STRATEGY: ["must belong to the feature flag"]},
    ),
    (
        {"name": "ok", "strategies": [{"name": "default", "scopes": [{"environment_scope": " "}]}]},
        {STRATEGY: ["environment scope is invalid"]},
    ),
]


def test_invalid_flags_are_rejected(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    create(api, roles.owner, project, "taken")
    where = f"{project.url}/feature_flags"
    for sent, message in REFUSED:
        answer = api.post(where, roles.owner, **sent)
        assert (answer.status_code, answer.json()["message"]) == (400, message), sent
    for name in ("Upper", "ends-", "1st", "sp ace"):
        assert "can contain only" in api.post(where, roles.owner, name=name).json()["message"]["name"][0]
    assert api.get(where, roles.owner, scope="all").status_code == 400
    assert [flag["name"] for flag in api.get(where, roles.owner).json()] == ["taken"]
    # Attack: a strategy with the list of a hidden project, or an id of another flag's strategy or scope.
    foreign = make_project(make, roles.stranger)
    listed = api.post(f"{foreign.url}/feature_flags_user_lists", roles.stranger, name="x", user_xids="secret").json()
    theirs = create(api, roles.stranger, foreign, "theirs", strategies=[{"name": "default", "scopes": scopes("*")}])[
        "strategies"
    ][0]
    taken = f"{where}/taken"
    for strategy in (
        {"name": "gitlabUserList", "user_list_id": listed["id"]},
        {"id": theirs["id"], "_destroy": True},
        {"name": "default", "scopes": [{"id": theirs["scopes"][0]["id"], "environment_scope": "stolen"}]},
    ):
        assert api.put(taken, roles.owner, strategies=[strategy]).status_code == 400
    assert api.get(f"{foreign.url}/feature_flags/theirs", roles.stranger).json()["strategies"] == [theirs]


def test_lists_of_users(api: Api, roles: UsersByRole, project: Project) -> None:
    where = f"{project.url}/feature_flags_user_lists"
    made = api.post(where, roles.owner, name="Testers", user_xids="1,b").json()
    assert (made["iid"], made["project_id"], made["user_xids"]) == (1, project.id, "1,b")
    for sent, field in (
        ({"name": "Testers", "user_xids": "1"}, "name"),
        ({"name": " ", "user_xids": "1"}, "name"),
        ({"name": "x", "user_xids": "1,1"}, "user_xids"),
        ({"name": "x", "user_xids": "1,,2"}, "user_xids"),
    ):
        answer = api.post(where, roles.owner, **sent)
        assert (answer.status_code, list(answer.json()["message"])) == (400, [field])
    assert [each["iid"] for each in api.get(where, roles.owner, search="TEST").json()] == [1]
    assert api.get(where, roles.owner, search="none").json() == []
    assert api.put(f"{project.url}/feature_flags_user_lists/1", roles.owner, name="All").json()["name"] == "All"
    strategy = {"name": "gitlabUserList", "user_list_id": made["id"], "scopes": scopes("*")}
    flag = create(api, roles.owner, project, "listed", strategies=[strategy])
    assert flag["strategies"][0]["user_list"] == {"id": made["id"], "iid": 1, "name": "All", "user_xids": "1,b"}
    assert api.delete(f"{where}/1", roles.owner).status_code == 409
    api.delete(f"{project.url}/feature_flags/listed", roles.owner)
    for _ in range(2):
        assert api.delete(f"{where}/1", roles.owner).status_code == 200
    assert api.post(where, roles.owner, name="Next", user_xids="1").json()["iid"] == 2


def test_applications_read_the_flags_of_their_environment(
    api: Api, make: Make, roles: UsersByRole, project: Project, instance: Instance
) -> None:
    testers = api.post(f"{project.url}/feature_flags_user_lists", roles.owner, name="T", user_xids="u1,u2").json()
    for name, active, strategies in (
        ("everywhere", True, [{"name": "default", "scopes": scopes("*")}]),
        ("off", False, [{"name": "default", "scopes": scopes("*")}]),
        ("staging", True, [{"name": "userWithId", "parameters": {"userIds": "u9"}, "scopes": scopes("staging")}]),
        ("review", True, [{"name": "gitlabUserList", "user_list_id": testers["id"], "scopes": scopes("rev*/a*")}]),
        ("nowhere", True, [{"name": "default"}]),
    ):
        create(api, roles.owner, project, name, active=active, strategies=strategies)
    database = instance.app.database
    secret = database.read(partial(instance_id, project_id=project.id))
    where = f"/feature_flags/unleash/{project.id}"

    def features(environment: str) -> dict[str, Any]:
        headers = {"UNLEASH-INSTANCEID": secret, "UNLEASH-APPNAME": environment, "Authorization": "of the client"}
        answer = api.request("GET", f"/feature_flags/unleash/{project.id}/client/features", headers=headers)
        assert answer.status_code == 200, answer.text
        assert answer.json()["version"] == 1
        return {each["name"]: each for each in answer.json()["features"]}

    assert features("production").keys() == {"everywhere", "off"}
    assert features("production")["off"]["enabled"] is False
    assert features("staging")["staging"]["strategies"] == [{"name": "userWithId", "parameters": {"userIds": "u9"}}]
    assert features("review/ab")["review"]["strategies"] == [{"name": "userWithId", "parameters": {"userIds": "u1,u2"}}]
    credentials = {"instance_id": secret, "app_name": "production"}
    assert len(api.get(f"/feature_flags/unleash/{project.id}/features", None, **credentials).json()["features"]) == 2
    assert api.get(f"/feature_flags/unleash/{project.id}", None, **credentials).status_code == 200
    headers = {"UNLEASH-INSTANCEID": secret, "UNLEASH-APPNAME": "production"}
    for path in (
        f"/feature_flags/unleash/{project.id}/client/register",
        f"/feature_flags/unleash/{project.id}/client/metrics",
    ):
        answer = api.request("POST", path, headers=headers, json={"appName": "production", "bucket": {"toggles": {}}})
        assert answer.status_code == 202

    # Attack: read the flags of another project, or with a guessed, replaced or personal credential.
    other = make_project(make, roles.owner)
    for number, given in ((other.id, secret), (project.id, "guess"), (999999, secret), (project.id, make.root.token)):
        assert api.get(f"/feature_flags/unleash/{number}/features", None, instance_id=given).status_code == 401
    assert api.get(f"{where}/features", make.root).status_code == 400
    database.write(partial(reset_instance_id, project_id=project.id))
    assert api.get(f"{where}/features", None, **credentials).status_code == 401
    secret = database.read(partial(instance_id, project_id=project.id))
    assert features("production").keys() == {"everywhere", "off"}
    api.delete(project.url, roles.owner)
    assert api.get(f"{where}/features", None, instance_id=secret).status_code == 401


@pytest.mark.parametrize(
    ("scope", "environment", "matches"),
    [
        ("*", "", True),
        ("a", "a", True),
        ("a", "ab", False),
        ("review/*", "review/1", True),
        ("review/*", "preview/1", False),
        ("*/a", "b/a", True),
        ("a*a", "a", False),
        ("a*b*c", "a-b-c", True),
        ("a*b*c", "acb", False),
        ("*" * 200 + "x", "a" * 5_000, False),
    ],
)
def test_scopes_match_environments(scope: str, environment: str, matches: bool) -> None:
    assert is_in_scope(FlagScope(1, 1, scope), environment) is matches


def test_list_has_constant_statements(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    for name in ("aa", "bb", "cc"):
        create(api, roles.owner, project, name, strategies=[{"name": "default", "scopes": scopes("*", "x")}])
    where = f"{project.url}/feature_flags"
    assert api.get(where, roles.owner, per_page=2).headers["x-total-pages"] == "2"
    few, many = (statements_of(make, partial(api.get, where, roles.owner, per_page=n)) for n in (1, 100))
    assert many <= few
