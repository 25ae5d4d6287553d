"""Access levels of features, in GraphQL."""

from tests.api.issues.factories import make_issue
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make
from tests.graphql.conftest import Graphql

QUERY = """query($path: ID!) { project(fullPath: $path) {
  releases { nodes { tagName } } issues { nodes { title } } mergeRequests { nodes { title } } } }"""


def test_private_features_are_for_members(api: Api, make: Make, graphql: Graphql) -> None:
    project = filled_project(make, visibility="public")
    make_issue(make, project, make.root)
    make_merge_request(make, project)
    assert api.post(f"{project.url}/releases", make.root, tag_name="v1", ref="master").status_code == 201
    stranger = make.user()
    shown = graphql.data(QUERY, stranger, path=project.path)["project"]
    assert {name: len(shown[name]["nodes"]) for name in shown} == {"releases": 1, "issues": 1, "mergeRequests": 1}

    levels = {f"{name}_access_level": "private" for name in ("releases", "issues", "merge_requests")}
    assert api.put(project.url, make.root, **levels).status_code == 200
    hidden = graphql.answer(QUERY, stranger, path=project.path)["data"]["project"]
    assert not any(part and part["nodes"] for part in hidden.values())
    assert graphql.data(QUERY, make.root, path=project.path)["project"] == shown
