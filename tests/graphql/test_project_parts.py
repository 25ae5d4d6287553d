"""Environments, branch rules, packages and the variables of CI files, for callers with different access."""

from typing import Any

import httpx
import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, Project, add_members, make_group, make_project
from tests.git_history import History
from tests.graphql.conftest import Graphql

CONFIG = """
variables:
  TARGET: {value: staging, description: "Where to deploy", options: [staging, production]}
  DEPTH: "20"
build:
  script: echo
"""


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture(scope="module")
def group(make: Make, owner: User) -> Group:
    return make_group(make, owner)


@pytest.fixture(scope="module")
def project(instance: Instance, make: Make, owner: User, group: Group) -> Project:
    project = make_project(make, owner, group=group)
    history = History()
    history.commit("master", {"README.md": "hello\n", ".gitlab-ci.yml": CONFIG})
    for branch in ("release/1", "release/2"):
        history.commit(branch, {"README.md": f"{branch}\n"}, parents=(1,))
    history.fill(instance, project)
    api = make.api
    for name, tier in (("review/one", "development"), ("production", "production")):
        sent = {"name": name, "external_url": f"https://{tier}.example.org", "tier": tier}
        assert api.post(f"{project.url}/environments", owner, **sent).status_code == 201
    rule = {"name": "release/*", "push_access_level": 40, "merge_access_level": 30, "allow_force_push": True}
    assert api.post(f"{project.url}/protected_branches", owner, **rule).status_code == 201
    for version in ("1.0", "2.0"):
        url = f"{instance.url}/api/v4{project.url}/packages/generic/tool/{version}/tool.bin"
        assert httpx.put(url, content=b"x", headers={"PRIVATE-TOKEN": owner.token}).status_code == 201
    return project


@pytest.fixture(scope="module")
def members(make: Make, project: Project) -> dict[str, User | None]:
    """Return callers by their role."""
    roles = {"guest": 10, "reporter": 20, "developer": 30, "maintainer": 40}
    users = {name: make.user() for name in roles}
    add_members(make, project, {users[name]: level for name, level in roles.items()})
    return {**users, "stranger": make.user(), "anonymous": None}


def _field(graphql: Graphql, project: Project, user: User | None, selected: str) -> Any:
    answer = graphql.data(f"query($path: ID!) {{ project(fullPath: $path) {{ part: {selected} }} }}", user,
                          path=project.path)["project"]  # fmt: skip
    return answer and answer["part"]


def test_environments(graphql: Graphql, api: Api, project: Project, owner: User) -> None:
    selected = "{ nodes { id name path environmentType externalUrl state tier slug } }"
    nodes = _field(graphql, project, owner, f"environments {selected}")["nodes"]
    listed = api.get(f"{project.url}/environments", owner).json()
    assert [each["name"] for each in nodes] == [each["name"] for each in listed]
    production, review = sorted(nodes, key=lambda each: str(each["name"]))
    number = production["id"].rpartition("/")[2]
    assert production["path"] == f"/{project.path}/-/environments/{number}"
    assert (production["environmentType"], review["environmentType"]) == (None, "review")
    assert (production["tier"], review["state"]) == ("PRODUCTION", "available")
    for arguments, names in (
        ('(name: "production")', ["production"]),
        ('(search: "review")', ["review/one"]),
        ('(states: ["stopped"])', []),
        ('(states: ["available"], first: 1)', [listed[0]["name"]]),
    ):
        found = _field(graphql, project, owner, f"environments{arguments} {{ nodes {{ name }} }}")["nodes"]
        assert [each["name"] for each in found] == names, arguments
    assert _field(graphql, project, owner, 'environment(name: "production") { name }') == {"name": "production"}
    assert _field(graphql, project, owner, 'environment(name: "none") { name }') is None
    assert _field(graphql, project, owner, 'environment(name: "") { name }') is None


def test_branch_rules(graphql: Graphql, api: Api, project: Project, group: Group, owner: User) -> None:
    inherited = {"name": "master", "push_access_level": 0}
    assert api.post(f"{group.url}/protected_branches", owner, **inherited).status_code == 201
    selected = """branchRules { count nodes { id name isDefault isProtected matchingBranchesCount createdAt
        branchProtection { allowForcePush pushAccessLevels { nodes { accessLevel accessLevelDescription } }
        mergeAccessLevels { nodes { accessLevel accessLevelDescription } } } } }"""
    rules = _field(graphql, project, owner, selected)["nodes"]
    listed = api.get(f"{project.url}/protected_branches", owner).json()
    assert [rule["name"] for rule in rules] == [rule["name"] for rule in listed]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert all(rule["createdAt"] for rule in rules)
    release = next(rule for rule in rules if rule["name"] == "release/*")
    assert (release["isDefault"], release["isProtected"], release["matchingBranchesCount"]) == (False, True, 2)
    assert release["branchProtection"] == {
        "allowForcePush": True,
        "pushAccessLevels": {"nodes": [{"accessLevel": 40, "accessLevelDescription": "Maintainers"}]},
        "mergeAccessLevels": {"nodes": [{"accessLevel": 30, "accessLevelDescription": "Developers + Maintainers"}]},
    }
    # The default branch has a rule of its own and that of the group.
    assert [rule["isDefault"] for rule in rules if rule["name"] == "master"] == [True, True]
    assert api.delete(f"{group.url}/protected_branches/master", owner).status_code == 204


def test_packages(graphql: Graphql, api: Api, project: Project, group: Group, owner: User) -> None:
    selected = """{ count nodes { id name version packageType status createdAt updatedAt tags { nodes { name } }
        _links { webPath } project { fullPath } userPermissions { destroyPackage } } }"""
    page = _field(graphql, project, owner, f"packages {selected}")
    listed = api.get(f"{project.url}/packages", owner).json()
    assert [package["version"] for package in page["nodes"]] == ["2.0", "1.0"]  # The newest first, as in GitLab.
    assert [package["_links"]["webPath"] for package in page["nodes"][::-1]] == [
        package["_links"]["web_path"] for package in listed
    ]
    package = page["nodes"][0]
    assert (package["packageType"], package["status"], package["project"]) == (
        "GENERIC",
        "DEFAULT",
        {"fullPath": project.path},
    )
    assert package["userPermissions"] == {"destroyPackage": True}
    for arguments, count in (("packageType: NPM", 0), ("packageType: NUGET", 0), ('packageVersion: "1.0"', 1)):
        assert _field(graphql, project, owner, f"packages({arguments}) {{ count }}") == {"count": count}
    query = f"query($path: ID!) {{ group(fullPath: $path) {{ packages(sort: VERSION_ASC) {selected} }} }}"
    of_group = graphql.data(query, owner, path=group.path)["group"]["packages"]["nodes"]
    assert [(each["version"], each["project"]["fullPath"]) for each in of_group] == [
        ("1.0", project.path),
        ("2.0", project.path),
    ]


def test_variables_of_ci_files(graphql: Graphql, project: Project, owner: User) -> None:
    selected = 'ciConfigVariables(ref: "%s") { key value description valueOptions }'
    assert _field(graphql, project, owner, selected % "master") == [
        {
            "key": "TARGET",
            "value": "staging",
            "description": "Where to deploy",
            "valueOptions": ["staging", "production"],
        },
        {"key": "DEPTH", "value": "20", "description": None, "valueOptions": None},
    ]
    assert _field(graphql, project, owner, selected % "none") == []


@pytest.mark.parametrize(
    ("selected", "least"),
    [
        ("environments { nodes { name } }", "reporter"),
        ('environment(name: "production") { name }', "reporter"),
        ("branchRules { nodes { name } }", "maintainer"),
        ("packages { nodes { name } }", "reporter"),
        # Developers may run pipelines, but not set their variables.
        ('ciConfigVariables(ref: "master") { key }', "maintainer"),
    ],
)
def test_parts_are_null_below_their_level(
    graphql: Graphql, project: Project, members: dict[str, User | None], selected: str, least: str
) -> None:
    levels = ["anonymous", "stranger", "guest", "reporter", "developer", "maintainer"]
    for role in levels:
        shown = _field(graphql, project, members[role], selected)
        assert bool(shown) is (levels.index(role) >= levels.index(least)), role


def test_public_projects_show_packages_only(graphql: Graphql, api: Api, make: Make, members: dict[str, Any]) -> None:
    project = make_project(make, make.user(), visibility="public", initialize_with_readme=True)
    for role in ("anonymous", "stranger"):
        query = """query($path: ID!) { project(fullPath: $path) { packages { nodes { name } }
            environments { nodes { name } } branchRules { nodes { name } }
            ciConfigVariables(ref: "master") { key } } }"""
        assert graphql.data(query, members[role], path=project.path)["project"] == {
            "packages": {"nodes": []},
            "environments": None,
            "branchRules": None,
            "ciConfigVariables": None,
        }
