"""Requirements for merges that a group sets for its projects."""

from typing import Any

import pytest

from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.api.merging.merge_calls import listed_status, merged, refused, url
from tests.client import Api, Make
from tests.factories import make_group

RULES = [
    ("only_allow_merge_if_pipeline_succeeds", "failed", "ci_must_pass"),
    ("only_allow_merge_if_pipeline_succeeds", "canceled", "ci_must_pass"),
    ("only_allow_merge_if_all_discussions_are_resolved", None, "discussions_not_resolved"),
]


@pytest.mark.parametrize(("rule", "pipeline", "reason"), RULES)
def test_requirements_of_groups_apply_to_projects_below(
    api: Api, make: Make, rule: str, pipeline: str | None, reason: str
) -> None:
    top = make_group(make)
    project = filled_project(make, group=make_group(make, parent=top))
    merge_request = make_merge_request(make, project)
    if pipeline is None:
        api.post(f"{url(project, merge_request)}/discussions", make.root, body="Why?")
    else:
        sent: dict[str, Any] = {"state": pipeline, "ref": merge_request["source_branch"]}
        assert api.post(f"{project.url}/statuses/{merge_request['sha']}", make.root, **sent).status_code == 201
    assert listed_status(api, project, merge_request, make.root) != reason
    assert api.put(top.url, make.root, **{rule: True}).json()[rule] is True
    assert api.get(project.url, make.root).json()[rule] is False

    assert listed_status(api, project, merge_request, make.root) == reason
    assert api.get(url(project, merge_request), make.root).json()["detailed_merge_status"] == reason
    refused(api.put(url(project, merge_request, "/merge"), make.root), 405, reason)
    api.put(top.url, make.root, **{rule: False})
    merged(api, project, merge_request, make.root)
