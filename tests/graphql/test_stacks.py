"""Stacks of merge requests in GraphQL."""

from tests.api.merge_requests.factories import filled_project
from tests.api.merge_requests.stacks import make_stack
from tests.client import Make
from tests.graphql.conftest import Graphql

QUERY = "query($path: ID!) { project(fullPath: $path) { mergeRequests { nodes { iid stack { iid title } } } } }"


def test_merge_requests_of_a_stack(graphql: Graphql, make: Make) -> None:
    """The bottom comes first; one that is alone has none."""
    owner = make.user()
    project = filled_project(make, owner)
    one, two = make_stack(make, project, owner, ["one", "two"])
    (alone,) = make_stack(make, project, owner, ["alone"])
    nodes = graphql.data(QUERY, owner, path=project.path)["project"]["mergeRequests"]["nodes"]
    stack = [{"iid": str(each["iid"]), "title": each["title"]} for each in (one, two)]
    shown = {node["iid"]: node["stack"] for node in nodes}
    assert shown == {str(alone["iid"]): None, str(one["iid"]): stack, str(two["iid"]): stack}
