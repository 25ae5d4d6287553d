"""Private data of users, and users of merge requests."""

from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, Project, add_members, make_group, make_project
from tests.git_history import History
from tests.graphql.conftest import Graphql

PRIVATE = """emails { nodes { id email confirmedAt createdAt } } groupCount
    projectMemberships { count nodes {
    id accessLevel { stringValue } expiresAt project { fullPath } user { username } } }
    groupMemberships { count nodes { id accessLevel { integerValue } createdAt group { fullPath maxAccessLevel {
    integerValue } } user { username } } }"""


@pytest.fixture(scope="module")
def person(make: Make) -> User:
    return make.user()


@pytest.fixture(scope="module")
def group(make: Make, person: User) -> Group:
    group = make_group(make, make.user())
    add_members(make, group, {person: 30})
    return group


@pytest.fixture(scope="module")
def project(make: Make, person: User) -> Project:
    project = make_project(make, make.user())
    add_members(make, project, {person: 20}, expires_at="2099-01-01")
    return project


def test_private_data_is_that_of_rest(
    graphql: Graphql, api: Api, make: Make, person: User, group: Group, project: Project
) -> None:
    assert api.post("/user/emails", person, email="second@example.org").status_code == 201
    query = f"query($name: String!) {{ user(username: $name) {{ {PRIVATE} }} currentUser {{ {PRIVATE} }} }}"
    own = graphql.data(query, person, name=person.username)
    assert own["user"] == own["currentUser"]
    assert graphql.data(query, make.root, name=person.username)["user"]["emails"] == own["user"]["emails"]
    shown = own["user"]
    listed = api.get("/user/emails", person).json()
    assert [each["email"] for each in shown["emails"]["nodes"]] == [each["email"] for each in listed]
    counts = api.get(f"/users/{person.id}/associations_count", person).json()
    assert shown["groupCount"] == counts["groups_count"] == 1
    memberships = api.get(f"/users/{person.id}/memberships", make.root).json()
    assert {(each["source_type"], each["access_level"]) for each in memberships} == {("Project", 20), ("Namespace", 30)}
    (in_project,) = shown["projectMemberships"]["nodes"]
    assert in_project.pop("id").startswith("gid://gitlab/ProjectMember/")
    assert in_project == {
        "accessLevel": {"stringValue": "REPORTER"},
        "expiresAt": "2099-01-01",
        "project": {"fullPath": project.path},
        "user": {"username": person.username},
    }
    (in_group,) = shown["groupMemberships"]["nodes"]
    assert in_group["createdAt"]
    assert (in_group["accessLevel"], in_group["group"]) == (
        {"integerValue": 30},
        {"fullPath": group.path, "maxAccessLevel": {"integerValue": 30}},
    )


@pytest.mark.usefixtures("group")
def test_private_data_of_others_is_null(graphql: Graphql, make: Make, person: User, project: Project) -> None:
    query = """query($name: String!) { user(username: $name) { username emails { nodes { email } } groupCount
        projectMemberships { count } groupMemberships { count } } }"""
    for other in (make.user(), None):
        shown = graphql.data(query, other, name=person.username)["user"] or {}
        assert set(shown.values()) <= {person.username, None}, other
    listed = """query($path: ID!) { project(fullPath: $path) { projectMembers { nodes { user {
        username groupCount } } } } }"""
    members = graphql.data(listed, person, path=project.path)["project"]["projectMembers"]["nodes"]
    counts = {each["user"]["username"]: each["user"]["groupCount"] for each in members}
    assert counts.pop(person.username) == 1
    assert set(counts.values()) == {None}


def test_members_of_a_group_have_their_level(graphql: Graphql, make: Make, person: User, group: Group) -> None:
    query = "query($path: ID!) { group(fullPath: $path) { maxAccessLevel { integerValue } } }"
    levels = {user: graphql.data(query, user, path=group.path)["group"] for user in (person, make.root, make.user())}
    assert [shown and shown["maxAccessLevel"]["integerValue"] for shown in levels.values()] == [30, 50, None]


@pytest.fixture(scope="module")
def reviewed(instance: Instance, make: Make) -> tuple[Project, dict[str, User]]:
    """Create a merge request with users of different levels; its target branch is protected."""
    users = {name: make.user() for name in ("owner", "maintainer", "developer", "guest", "author")}
    project = make_project(make, users["owner"], visibility="public")
    levels = {users["maintainer"]: 40, users["developer"]: 30, users["guest"]: 10, users["author"]: 30}
    add_members(make, project, levels)
    history = History()
    history.commit("master", {"README.md": "hello\n"})
    history.commit("topic", {"a.txt": "a\n"}, parents=(1,))
    history.fill(instance, project)
    sent = {"source_branch": "topic", "target_branch": "master", "title": "merge", "assignee_ids": [users["author"].id]}
    reviewers = [users[name].id for name in ("maintainer", "developer", "guest")]
    created = make.api.post(f"{project.url}/merge_requests", users["author"], **sent, reviewer_ids=reviewers)
    assert created.status_code == 201, created.text
    assert make.api.post(f"{project.url}/merge_requests/1/approve", users["maintainer"]).status_code == 201
    rule = {"name": "master", "push_access_level": 40, "merge_access_level": 40}
    make.api.delete(f"{project.url}/protected_branches/master", users["owner"])
    assert make.api.post(f"{project.url}/protected_branches", users["owner"], **rule).status_code == 201
    return project, users


def test_users_interact_with_merge_requests(
    graphql: Graphql, api: Api, reviewed: tuple[Project, dict[str, User]]
) -> None:
    project, users = reviewed
    interaction = "username mergeRequestInteraction { approved reviewed reviewState canMerge canUpdate }"
    query = f"""query($path: ID!) {{ project(fullPath: $path) {{ mergeRequest(iid: "1") {{
        author {{ {interaction} }} assignees {{ nodes {{ {interaction} }} }}
        reviewers {{ nodes {{ {interaction} }} }} participants {{ nodes {{ {interaction} }} }} }} }} }}"""
    names = {user.username: name for name, user in users.items()}
    for caller in (users["owner"], None):  # The project is public.
        merge: Any = graphql.data(query, caller, path=project.path)["project"]["mergeRequest"]
        reviewers = {names[each["username"]]: each["mergeRequestInteraction"] for each in merge["reviewers"]["nodes"]}
        unreviewed = {"approved": False, "reviewed": False, "reviewState": "UNREVIEWED"}
        assert reviewers == {
            "maintainer": {
                "approved": True,
                "reviewed": True,
                "reviewState": "APPROVED",
                "canMerge": True,
                "canUpdate": True,
            },
            "developer": {**unreviewed, "canMerge": False, "canUpdate": True},
            "guest": {**unreviewed, "canMerge": False, "canUpdate": False},
        }
        as_author = {**unreviewed, "reviewState": None, "canMerge": False, "canUpdate": True}
        assert merge["author"]["mergeRequestInteraction"] == as_author
        assert [each["mergeRequestInteraction"] for each in merge["assignees"]["nodes"]] == [as_author]
        assert merge["author"] in merge["participants"]["nodes"]
    listed = api.get(f"{project.url}/merge_requests/1/reviewers", users["owner"]).json()
    states = {names[each["user"]["username"]]: each["state"].upper() for each in listed}
    assert states == {name: each["reviewState"] for name, each in reviewers.items()}
    for name in ("maintainer", "developer", "guest"):
        detail = api.get(f"{project.url}/merge_requests/1", users[name]).json()
        assert detail["user"]["can_merge"] is reviewers[name]["canMerge"]
