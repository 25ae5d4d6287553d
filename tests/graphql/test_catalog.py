"""CI/CD catalog in GraphQL."""

from tests.ci.catalog.test_catalog import component_project, publish
from tests.client import Make
from tests.factories import make_group, make_project
from tests.graphql.conftest import Graphql
from tests.graphql.test_mutations import Mutations

LIST = """query($search: String, $scope: CiCatalogResourceScope, $sort: CiCatalogResourceSort, $groups: [GroupID!],
  $first: Int, $after: String, $level: CiCatalogResourceVerificationLevel) {
  ciCatalogResources(search: $search, scope: $scope, sort: $sort, groupIds: $groups, first: $first, after: $after,
    verificationLevel: $level) { count pageInfo { hasNextPage endCursor }
    nodes { id name description fullPath icon starCount starrersPath topics verificationLevel visibilityLevel webPath
      latestReleasedAt last30DayUsageCount } } }"""
SHOW = """query($path: ID, $id: CiCatalogResourceID) { ciCatalogResource(fullPath: $path, id: $id) { id fullPath
  versions { count nodes { id name path createdAt releasedAt readme readmeHtml semver { major minor patch }
    author { username } commit { sha } components { nodes { id name description includePath last30DayUsageCount
      inputs { name type required default description options regex } } } } } } }"""


def test_resources_are_listed_and_shown(graphql: Graphql, make: Make) -> None:
    group, stranger = make_group(make, visibility="public"), make.user()
    groups = [f"gid://gitlab/Group/{group.id}"]
    tools = component_project(make, namespace_id=group.id, topics=["ci"])
    hidden = component_project(make, namespace_id=group.id, visibility="private")
    for project in (tools, hidden):
        assert publish(make, project, "1.0.0").status_code == 201
    publish(make, tools, "1.1.0")
    listed = graphql.data(LIST, make.root, groups=groups, sort="CREATED_ASC", first=1)["ciCatalogResources"]
    (first,) = listed["nodes"]
    assert (listed["count"], listed["pageInfo"]["hasNextPage"]) == (2, True)
    assert (first["fullPath"], first["webPath"], first["topics"]) == (tools.path, f"/{tools.path}", ["ci"])
    assert (first["verificationLevel"], first["visibilityLevel"]) == ("UNVERIFIED", "public")
    assert (first["starCount"], first["last30DayUsageCount"]) == (0, 0)
    after = listed["pageInfo"]["endCursor"]
    second = graphql.data(LIST, make.root, groups=groups, sort="CREATED_ASC", first=1, after=after)
    assert [each["fullPath"] for each in second["ciCatalogResources"]["nodes"]] == [hidden.path]
    for user in (stranger, None):
        seen = graphql.data(LIST, user, groups=groups)["ciCatalogResources"]["nodes"]
        assert [each["fullPath"] for each in seen] == [tools.path]
        assert graphql.data(SHOW, user, path=hidden.path)["ciCatalogResource"] is None
    for level, count in (("UNVERIFIED", 1), ("GITLAB_MAINTAINED", 0)):
        assert graphql.data(LIST, groups=groups, level=level)["ciCatalogResources"]["count"] == count
    assert graphql.data(LIST, stranger, scope="NAMESPACES")["ciCatalogResources"]["nodes"] == []
    for found in ({"path": tools.path}, {"id": first["id"]}):
        resource = graphql.data(SHOW, None, **found)["ciCatalogResource"]
        assert [each["name"] for each in resource["versions"]["nodes"]] == ["1.1.0", "1.0.0"]
    version = resource["versions"]["nodes"][0]
    assert version["readme"].startswith("# Tools") and "<h1" in version["readmeHtml"]
    assert (version["author"]["username"], version["semver"]["minor"]) == (make.root.username, 1)
    assert version["path"] == f"/{tools.path}/-/tags/1.1.0"
    deploy = version["components"]["nodes"][0]
    assert deploy["includePath"] == f"$CI_SERVER_FQDN/{tools.path}/deploy@1.1.0"
    assert [(each["name"], each["type"], each["required"]) for each in deploy["inputs"]] == [
        ("stage", "STRING", False),
        ("target", "STRING", True),
        ("retries", "NUMBER", False),
    ]
    assert deploy["inputs"][2]["default"] == 2
    for arguments in ({}, {"path": tools.path, "id": first["id"]}, {"id": "gid://gitlab/Project/1"}):
        assert graphql.answer(SHOW, make.root, **arguments)["errors"]
    missing = graphql.data(SHOW, make.root, id="gid://gitlab/Ci::Catalog::Resource/999999")
    assert missing["ciCatalogResource"] is None


def test_owners_add_and_remove_projects(graphql: Graphql, make: Make) -> None:
    owner, developer = make.user(), make.user()
    project = make_project(make, owner)
    run = Mutations(graphql, owner)
    run("catalogResourcesCreate", "errors", projectPath=project.path)
    # A project without a version is not in the catalog yet.
    assert graphql.data(SHOW, owner, path=project.path)["ciCatalogResource"] is None
    mutation = "mutation($path: ID!) { catalogResources%s(input: {projectPath: $path}) { errors } }"
    again = graphql.data(mutation % "Create", owner, path=project.path)["catalogResourcesCreate"]
    assert again["errors"] == ["The project is a catalog resource already"]
    refused = graphql.answer(mutation % "Destroy", developer, path=project.path)
    assert refused.get("errors") or refused["data"]["catalogResourcesDestroy"]["errors"]
    run("catalogResourcesDestroy", "errors", projectPath=project.path)
    assert make.api.get(f"{project.url}/catalog", owner).status_code == 404
