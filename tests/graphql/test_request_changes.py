"""The mutation that requests changes to a merge request."""

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Make
from tests.factories import add_members
from tests.graphql.conftest import Graphql

MUTATION = """mutation($project: ID!, $iid: String!) {
  mergeRequestRequestChanges(input: {projectPath: $project, iid: $iid}) {
    errors
    mergeRequest {
      detailedMergeStatus
      reviewers { nodes { mergeRequestInteraction { reviewState reviewed } } }
    }
  }
}"""


def test_reviewers_request_changes_and_authors_do_not(graphql: Graphql, make: Make) -> None:
    owner, reviewer = make.user(), make.user()
    project = filled_project(make, owner, visibility="private")
    add_members(make, project, {reviewer: Level.DEVELOPER})
    path = {"project": project.path, "iid": str(make_merge_request(make, project, owner)["iid"])}
    found = graphql.data(MUTATION, reviewer, **path)["mergeRequestRequestChanges"]
    assert found["errors"] == []
    assert found["mergeRequest"]["detailedMergeStatus"] == "REQUESTED_CHANGES"
    interaction = found["mergeRequest"]["reviewers"]["nodes"][0]["mergeRequestInteraction"]
    assert interaction == {"reviewState": "REQUESTED_CHANGES", "reviewed": True}
    for caller in (owner, make.user(), None):
        assert graphql.answer(MUTATION, caller, **path)["errors"], caller
