"""All fields of every type are compared with the response of the REST endpoint of the same object."""

import re
from typing import Any

import httpx
import pytest

from ingot.graphql.schema_loader import load_schema, snake_case
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.git_history import History
from tests.graphql.conftest import Graphql

# Fields that the REST responses do not have under the same name, and the path of their value there.
NAMES = {
    "fullPath": "path_with_namespace|full_path",
    "emailsEnabled": "",
    "sha": "sha|id",
    "diffHeadSha": "sha",
    "visibilityLevel": "visibility",
    "conflicts": "has_conflicts",
    "action": "action_name",
    "refName": "ref",
    "tags": "tag_list",
    "createdByTag": "tag",
    "failureMessage": "failure_reason",
}


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture(scope="module")
def project(instance: Instance, make: Make, owner: User) -> Project:
    """Create a project with an object of every type."""
    api, group = make.api, make_group(make, owner)
    project = make_project(make, owner, group=group, description="a *text*")
    history = History()
    one = history.commit("master", {"README.md": "hello\n", "folder/a.txt": "a\n"}, message="First\n\nmore")
    history.commit("topic", {"README.md": "hello\nworld\n"}, parents=(one,), message="Second")
    history.fill(instance, project)
    milestone = api.post(f"{project.url}/milestones", owner, title="1.0", due_date="2030-01-01").json()
    for name in ("bug", "docs"):
        api.post(f"{project.url}/labels", owner, name=name, color="#ff0000", description="d")
    sent = {"title": "one", "description": "- [x] a", "labels": "bug,docs", "milestone_id": milestone["id"]}
    issue = api.post(f"{project.url}/issues", owner, **sent, assignee_ids=[owner.id]).json()
    api.post(f"{project.url}/issues/{issue['iid']}/notes", owner, body="a **note**")
    assert api.post(f"{project.url}/issues/{issue['iid']}/award_emoji", make.root, name="heart").status_code == 201
    api.post(f"{project.url}/issues/{issue['iid']}/todo", owner)
    api.post(f"{project.url}/issues", owner, title="two")
    link = {"target_project_id": project.id, "target_issue_iid": 2, "link_type": "is_blocked_by"}
    assert api.post(f"{project.url}/issues/1/links", owner, **link).status_code == 201
    merge = {"source_branch": "topic", "target_branch": "master", "title": "merge", "labels": "bug"}
    assert api.post(f"{project.url}/merge_requests", owner, **merge).status_code == 201
    api.post(f"{project.url}/merge_requests/1/discussions", owner, body="first")
    files = [{"file_path": "a.txt", "content": "text"}]
    api.post(f"{project.url}/snippets", owner, title="snippet", visibility="private", files=files)
    api.post(f"{project.url}/releases", owner, tag_name="v1", ref="master", name="One", description="notes")
    board = api.post(f"{project.url}/boards", owner, name="board").json()
    label = api.get(f"{project.url}/labels/bug", owner).json()
    api.post(f"{project.url}/boards/{board['id']}/lists", owner, label_id=label["id"])
    assert api.post("/user/emails", owner, email=f"{make.name('second-address')}@example.org").status_code == 201
    api.post(f"{project.url}/environments", owner, name="review/one", external_url="https://example.org")
    package = f"{instance.url}/api/v4{project.url}/packages/generic/tool/1.0/tool.bin"
    assert httpx.put(package, content=b"x", headers={"PRIVATE-TOKEN": owner.token}).status_code == 201
    head = api.get(f"{project.url}/repository/commits/master", owner).json()["id"]
    api.post(f"{project.url}/statuses/{head}", owner, state="success", name="build", ref="master")
    return project


def _leaves(kind: str) -> list[str]:
    """Return the fields of a type that have a value of their own and need no argument."""
    from graphql import get_named_type, is_leaf_type, is_list_type

    fields = load_schema().schema.type_map[kind].fields  # type: ignore[attr-defined]
    return [
        name
        for name, field in fields.items()
        if is_leaf_type(get_named_type(field.type))
        and not is_list_type(field.type)
        and not any(argument.type.to_kwargs and str(argument.type).endswith("!") for argument in field.args.values())
    ]


def _agrees(kind: str, name: str, value: Any, expected: Any) -> bool:
    """Compare a value with that of REST; ids are global, and enumerations in capitals."""
    if name in ("id", "iid"):
        return str(value).rpartition("/")[2] == str(expected)
    if isinstance(expected, str) and isinstance(value, str):
        return value == expected or value.lower() == expected.lower()
    if isinstance(value, str) and not isinstance(expected, str):
        return value == str(expected) or (isinstance(expected, list) and value == ", ".join(expected))
    if isinstance(expected, float | int) and isinstance(value, float | int):
        return abs(value - expected) < 1
    return bool(value == expected)


CASES = [
    ("CurrentUser", "currentUser { %s }", "/user"),
    ("Email", "currentUser { emails { nodes { %s } } }", "/user/emails"),
    ("Metadata", "metadata { %s }", "/metadata"),
    ("Project", 'project(fullPath: "{path}") { %s }', "{project}"),
    ("Group", 'group(fullPath: "{group}") { %s }', "/groups/{group}"),
    ("Namespace", 'namespace(fullPath: "{group}") { %s }', "/namespaces/{group}"),
    ("Issue", 'project(fullPath: "{path}") { issue(iid: "1") { %s } }', "{project}/issues/1"),
    ("WorkItem", 'project(fullPath: "{path}") { workItems { nodes { %s } } }', "{project}/issues"),
    ("MergeRequest", 'project(fullPath: "{path}") { mergeRequest(iid: "1") { %s } }', "{project}/merge_requests/1"),
    ("Label", 'project(fullPath: "{path}") { label(title: "bug") { %s } }', "{project}/labels/bug"),
    ("Milestone", 'project(fullPath: "{path}") { milestones { nodes { %s } } }', "{project}/milestones"),
    (
        "Note",
        'project(fullPath: "{path}") { issue(iid: "1") { notes(filter: ONLY_COMMENTS) { nodes { %s } } } }',
        "{project}/issues/1/notes?activity_filter=only_comments",
    ),
    (
        "AwardEmoji",
        'project(fullPath: "{path}") { issue(iid: "1") { awardEmoji { nodes { %s } } } }',
        "{project}/issues/1/award_emoji",
    ),
    (
        "LinkedWorkItemType",
        'project(fullPath: "{path}") { issue(iid: "1") { linkedWorkItems { nodes { %s } } } }',
        "{project}/issues/1/links",
    ),
    ("Todo", "currentUser { todos { nodes { %s } } }", "/todos"),
    ("Snippet", 'project(fullPath: "{path}") { snippets { nodes { %s } } }', "{project}/snippets"),
    ("Release", 'project(fullPath: "{path}") { release(tagName: "v1") { %s } }', "{project}/releases/v1"),
    ("Environment", 'project(fullPath: "{path}") { environments { nodes { %s } } }', "{project}/environments"),
    ("BranchRule", 'project(fullPath: "{path}") { branchRules { nodes { %s } } }', "{project}/protected_branches"),
    (
        "Package",
        'project(fullPath: "{path}") { packages { nodes { %s } } }',
        "{project}/packages?order_by=created_at&sort=desc",
    ),
    ("Board", 'project(fullPath: "{path}") { boards(last: 1) { nodes { %s } } }', "{project}/boards?per_page=1&page=2"),
    ("Pipeline", 'project(fullPath: "{path}") { pipelines { nodes { %s } } }', "{project}/pipelines/latest"),
    (
        "Commit",
        'project(fullPath: "{path}") { repository { commit(ref: "master") { %s } } }',
        "{project}/repository/commits/master",
    ),
    (
        "ProjectMember",
        'project(fullPath: "{path}") { projectMembers { nodes { ... on ProjectMember { %s } } } }',
        "{project}/members/all",
    ),
]


@pytest.mark.parametrize(("kind", "query", "path"), CASES, ids=[case[0] for case in CASES])
def test_graphql_and_rest_agree(
    graphql: Graphql, api: Api, owner: User, project: Project, kind: str, query: str, path: str
) -> None:
    group = project.path.rpartition("/")[0]
    names = _leaves(kind)
    text = query.replace("{path}", project.path).replace("{group}", group) % " ".join(names)
    value: Any = graphql.data("{ " + text + " }", owner)
    while isinstance(value, dict) and not set(names) <= set(value):
        value = next(iter(value.values()))
        value = value[0] if isinstance(value, list) else value
    url, _, params = path.replace("{project}", project.url).replace("{group}", group).partition("?")
    answer = api.get(url, owner, **dict(pair.split("=") for pair in params.split("&") if pair)).json()
    rest = answer[0] if isinstance(answer, list) else answer
    compared = 0
    for name in names:
        for key in NAMES.get(name, snake_case(name)).split("|"):
            if key in rest and not isinstance(rest[key], dict):
                if (kind, name) in (("WorkItem", "state"), ("Pipeline", "yamlErrors")):
                    continue
                assert _agrees(kind, name, value[name], rest[key]), (kind, name, value[name], rest[key])
                compared += 1
                break
    assert compared >= min(5, len(names) // 4), (kind, compared)


def test_texts_have_the_html_of_rest(graphql: Graphql, api: Api, owner: User, project: Project) -> None:
    query = """query($path: ID!) { project(fullPath: $path) { descriptionHtml
        issue(iid: "1") { titleHtml descriptionHtml notes(filter: ONLY_COMMENTS) { nodes { bodyHtml } } }
        workItems(iid: "1") { nodes { widgets(onlyTypes: [DESCRIPTION]) {
        ... on WorkItemWidgetDescription { descriptionHtml } } } }
        label(title: "bug") { descriptionHtml } release(tagName: "v1") { descriptionHtml } } }"""
    shown = graphql.data(query, owner, path=project.path)["project"]

    def html(text: str) -> str:
        return str(api.post("/markdown", owner, text=text, gfm=True, project=project.path).json()["html"])

    assert 'data-sourcepos="1:1-1:8" dir="auto"' in html("a *text*")
    assert shown["descriptionHtml"] == html("a *text*")
    assert shown["issue"]["descriptionHtml"] == html("- [x] a")
    assert shown["workItems"]["nodes"][0]["widgets"] == [{"descriptionHtml": html("- [x] a")}]
    assert shown["issue"]["notes"]["nodes"] == [{"bodyHtml": html("a **note**")}]
    release = api.get(f"{project.url}/releases/v1", owner, include_html_description=True).json()
    assert shown["release"]["descriptionHtml"] == release["description_html"]
    # Texts of one line have no blocks.
    assert (shown["issue"]["titleHtml"], shown["label"]["descriptionHtml"]) == ("one", "d")


def test_every_type_is_covered() -> None:
    """Types that are no object of their own are part of a compared type, or have fields that only GraphQL has."""
    derived = re.compile(
        "Connection$|Edge$|Payload$|Permissions$|^WorkItem|^CiConfig|^MergeRequest|^Release|^__|^Snippet"
    )
    parts = {
        "AccessLevel", "Blob", "BoardList", "Branch", "BranchProtection", "CiJob", "CiJobArtifact", "CiJobTrace",
        "CiCatalogResource", "CiCatalogResourceComponent",  # Compared in test_catalog.py.
        "CiCatalogResourceVersion", "CiCatalogResourceVersionSemver", "CiInputsSpec",
        "CiStage", "CustomField", "CustomFieldSelectOption", "FeatureFlag", "Iteration", "IterationCadence",  # Paid.
        "DetailedStatus", "Diff", "DiffPosition", "DiffRefs", "DiffStats", "DiffStatsSummary",
        "Discussion", "GitlabInstanceFeatureFlag", "GroupMember", "Ide", "IssueStatusCountsType", "Kas",
        "MergeAccessLevel", "MergeTrain", "MergeTrainCar",  # Compared in test_merge_trains.py.
        "MilestoneStats", "Mutation", "PackageLinks", "PackageTag", "PageInfo",
        "ProjectCiCdSetting",  # Compared in test_merge_trains.py.
        "ProtectedEnvironment",  # Compared in test_protected_environments.py.
        "ProtectedEnvironmentDeployAccessLevel",
        "ProjectStatistics", "PushAccessLevel", "Query", "QueryComplexity", "QuickActionsStatus", "Repository",
        "RepositoryBlob", "RepositoryLanguage", "Submodule", "Tag", "TaskCompletionStatus",
        "TerraformState", "TerraformStateVersion",  # Compared in test_terraform.py.
        "TimelineEventTagType", "TimelineEventType",  # They have no endpoints; tested in test_timelines.py.
        "TimeTrackingHumanReadableAttributes", "Timelog", "Tree", "TreeEntry", "UserCore",
        "UserMergeRequestInteraction", "UserStatus",
    }  # fmt: skip
    from graphql import is_object_type

    types = {name for name, kind in load_schema().schema.type_map.items() if is_object_type(kind)}
    covered = parts | {case[0] for case in CASES}
    assert {name for name in types if name not in covered and not derived.search(name)} == set()
