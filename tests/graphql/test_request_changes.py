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
    withdraw = MUTATION.replace("mergeRequestRequestChanges", "mergeRequestDestroyRequestedChanges")
    for caller in (make.user(), None):
        assert graphql.answer(withdraw, caller, **path)["errors"], caller
    for _ in range(2):
        found = graphql.data(withdraw, reviewer, **path)["mergeRequestDestroyRequestedChanges"]
        assert found["errors"] == [] and found["mergeRequest"]["detailedMergeStatus"] == "MERGEABLE"
        interaction = found["mergeRequest"]["reviewers"]["nodes"][0]["mergeRequestInteraction"]
        assert interaction == {"reviewState": "REVIEWED", "reviewed": True}
    graphql.data(MUTATION, reviewer, **path)
    # Another user's request stays.
    graphql.data(withdraw, owner, **path)
    shown = make.api.get(f"{project.url}/merge_requests/{path['iid']}", owner).json()
    assert shown["detailed_merge_status"] == "requested_changes"
    closed = make.api.put(f"{project.url}/merge_requests/{path['iid']}", owner, state_event="close")
    assert closed.status_code == 200
    refused = graphql.answer(withdraw, reviewer, **path)
    assert "not open" in str(refused), refused
    make.api.put(f"{project.url}/merge_requests/{path['iid']}", owner, state_event="reopen")
    for caller in (owner, make.user(), None):
        assert graphql.answer(MUTATION, caller, **path)["errors"], caller
