"""Protected environments in GraphQL."""

from ingot.core.access.levels import Level
from tests.client import Make
from tests.factories import add_members, make_group, make_project
from tests.graphql.conftest import Graphql

_RULES = """query($path: ID!) { project(fullPath: $path) { environments { nodes {
  name protectedEnvironments { nodes { name project { id } group { id } deployAccessLevels { nodes {
    accessLevel { integerValue humanAccess } user { username } group { id }
  } } } }
} } } }"""


def test_maintainers_see_the_rules_of_the_project_and_its_groups(graphql: Graphql, make: Make) -> None:
    group = make_group(make)
    project = make_project(make, group=group)
    developer, maintainer = make.user(), make.user()
    add_members(make, project, {developer: Level.DEVELOPER, maintainer: Level.MASTER})
    for name in ("gprd", "review"):
        assert make.api.post(f"{project.url}/environments", make.root, name=name).status_code == 201
    levels = [{"access_level": 40}, {"user_id": developer.id}, {"access_level": 60}]
    for url, name in ((project.url, "gprd"), (group.url, "production")):
        sent = {"name": name, "deploy_access_levels": levels if name == "gprd" else levels[:1]}
        assert make.api.post(f"{url}/protected_environments", make.root, **sent).status_code == 201
    nodes = graphql.data(_RULES, maintainer, path=project.path)["project"]["environments"]["nodes"]
    maintainers = {"accessLevel": {"integerValue": 40, "humanAccess": "Maintainer"}, "user": None, "group": None}
    admins = {"accessLevel": {"integerValue": 60, "humanAccess": "Admin"}, "user": None, "group": None}
    person = {"accessLevel": None, "user": {"username": developer.username}, "group": None}
    rules = {node["name"]: node["protectedEnvironments"]["nodes"] for node in nodes}
    assert rules["review"] == []
    of_project, of_group = sorted(rules["gprd"], key=lambda rule: str(rule["name"]))
    assert of_project["deployAccessLevels"]["nodes"] == [maintainers, person, admins]
    assert of_project["project"]["id"].endswith(f"/{project.id}") and of_project["group"] is None
    assert (of_group["name"], of_group["project"]) == ("production", None)
    assert of_group["deployAccessLevels"]["nodes"] == [maintainers]
    hidden = graphql.data(_RULES, developer, path=project.path)["project"]["environments"]["nodes"]
    assert {node["protectedEnvironments"] for node in hidden} == {None}
