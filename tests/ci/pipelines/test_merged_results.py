"""Merged results pipelines: they test the merge, and the head where that is not possible."""

from typing import Any

from tests.api.merge_requests.factories import fork
from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import project_runner
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_project

JOBS = "test:\n  script: make\n  rules: [{if: $CI_MERGE_REQUEST_IID}]\n"
CHANGES = "test:\n  script: make\n  rules:\n    - if: $CI_MERGE_REQUEST_IID\n      changes: [src/*]\n"


def _project(make: Make, text: str = JOBS, **options: Any) -> Project:
    project = make_project(make, **options)
    commit_files(make, project, {".gitlab-ci.yml": text, "shared": "1\n"})
    answer = make.api.put(project.url, make.root, merge_pipelines_enabled=True)
    assert answer.json()["merge_pipelines_enabled"] is True
    return project


def _open(make: Make, project: Project, branch: str = "feature", **options: Any) -> dict[str, Any]:
    sent = {"source_branch": branch, "target_branch": "main", "title": f"Merge {branch}", **options}
    made = make.api.post(f"{project.url}/merge_requests", make.root, **sent)
    assert made.status_code == 201, made.text
    shown: dict[str, Any] = made.json()
    return shown


def _newest(make: Make, project: Project) -> dict[str, Any]:
    pipeline = list_pipelines(make, project)[0]
    shown: dict[str, Any] = make.api.get(f"{project.url}/pipelines/{pipeline['id']}", make.root).json()
    return shown


def test_the_result_of_the_merge_is_tested(api: Api, make: Make) -> None:
    project = _project(make)
    head = commit_files(make, project, {"a": "1"}, branch="feature", start_branch="main")
    tip = commit_files(make, project, {"b": "1"})
    request = _open(make, project)
    pipeline = _newest(make, project)
    assert pipeline["ref"] == f"refs/merge-requests/{request['iid']}/merge"
    assert pipeline["merge_request_event_type"] == "merged_result"
    merged = api.get(f"{project.url}/repository/commits/{pipeline['sha']}", make.root).json()
    assert merged["parent_ids"] == [tip, head]
    where = f"{project.url}/merge_requests/{request['iid']}"
    assert api.get(f"{where}/merge_ref", make.root).json()["commit_id"] == pipeline["sha"]
    shown = api.get(where, make.root).json()
    assert shown["head_pipeline"]["id"] == pipeline["id"]
    assert [each["id"] for each in api.get(f"{where}/pipelines", make.root).json()] == [pipeline["id"]]
    variables = project_runner(make, project.id).must_take().variables
    assert variables["CI_COMMIT_SHA"] == pipeline["sha"]
    assert variables["CI_MERGE_REQUEST_EVENT_TYPE"] == "merged_result"
    assert variables["CI_MERGE_REQUEST_REF_PATH"] == f"refs/merge-requests/{request['iid']}/head"
    assert variables["CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"] == head
    assert variables["CI_MERGE_REQUEST_TARGET_BRANCH_SHA"] == tip


def test_conflicts_lead_to_a_detached_pipeline_with_the_reason(api: Api, make: Make) -> None:
    project = _project(make)
    head = commit_files(make, project, {"shared": "2\n"}, branch="feature", start_branch="main", action="update")
    commit_files(make, project, {"shared": "3\n"}, action="update")
    request = _open(make, project)
    pipeline = _newest(make, project)
    assert (pipeline["sha"], pipeline["merge_request_event_type"]) == (head, "detached")
    assert pipeline["ref"] == f"refs/merge-requests/{request['iid']}/head"
    commit_files(make, project, {"shared": "3\n"}, branch="feature", action="update")
    newer = _newest(make, project)
    assert newer["merge_request_event_type"] == "merged_result"
    canceled = api.get(f"{project.url}/pipelines/{pipeline['id']}", make.root).json()
    assert canceled["status"] == "canceled"


def test_changes_are_those_of_the_merge_request(make: Make) -> None:
    """Changes of the target since the branch was created do not count."""
    project = _project(make, CHANGES)
    commit_files(make, project, {"docs": "1"}, branch="feature", start_branch="main")
    commit_files(make, project, {"src/a": "1"})
    _open(make, project)
    assert list_pipelines(make, project, source="merge_request_event") == []
    commit_files(make, project, {"src/b": "1"}, branch="feature")
    assert len(list_pipelines(make, project, source="merge_request_event")) == 1


def test_the_head_decides_whether_pipelines_are_skipped(make: Make) -> None:
    project = _project(make)
    commit_files(make, project, {"a": "1"}, branch="feature", start_branch="main", message="Change [skip ci]")
    _open(make, project)
    assert list_pipelines(make, project, source="merge_request_event") == []
    commit_files(make, project, {"b": "1"}, branch="feature", message="Change")
    assert len(list_pipelines(make, project, source="merge_request_event")) == 1


def test_auto_merge_follows_the_merged_result(api: Api, make: Make, instance: Instance) -> None:
    project = _project(make)
    api.put(project.url, make.root, only_allow_merge_if_pipeline_succeeds=True)
    commit_files(make, project, {"a": "1"}, branch="feature", start_branch="main")
    request = _open(make, project)
    where = f"{project.url}/merge_requests/{request['iid']}"
    assert api.get(where, make.root).json()["detailed_merge_status"] == "ci_still_running"
    listed = api.get(f"{project.url}/merge_requests", make.root).json()
    assert listed[0]["detailed_merge_status"] == "ci_still_running"
    answer = api.put(f"{where}/merge", make.root, auto_merge=True)
    assert answer.json()["merge_when_pipeline_succeeds"] is True
    job = project_runner(make, project.id).must_take()
    job.finish()
    instance.work()
    assert api.get(where, make.root).json()["state"] == "merged"


def test_pipelines_of_forks_test_the_head(make: Make) -> None:
    author = make.user()
    target = _project(make, visibility="public")
    source = fork(make, target, author)
    head = commit_files(make, source, {"a": "1"}, branch="feature", start_branch="main", user=author)
    sent = {"source_branch": "feature", "target_branch": "main", "title": "A", "target_project_id": target.id}
    assert make.api.post(f"{source.url}/merge_requests", author, **sent).status_code == 201
    newest = list_pipelines(make, source, author)[0]
    assert (newest["sha"], newest["source"]) == (head, "merge_request_event")
