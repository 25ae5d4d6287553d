"""Pipelines of merge requests."""

from typing import Any

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import fork
from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import project_runner
from tests.client import Api, Make, User
from tests.factories import Project, make_project

FILE = """
branch job: {script: make}
request job:
  script: make
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
      changes: [src/*]
old style: {script: make, only: [merge_requests]}
only branches: {script: make, only: [branches]}
"""


def _open(make: Make, project: Project, user: User, target: Project | None = None, **options: Any) -> dict[str, Any]:
    sent = {"source_branch": "feature", "target_branch": "main", "title": "A feature", **options}
    if target is not None:
        sent["target_project_id"] = target.id
    made = make.api.post(f"{project.url}/merge_requests", user, **sent)
    assert made.status_code == 201, made.text
    shown: dict[str, Any] = made.json()
    return shown


def _job_names(make: Make, project: Project, pipeline: dict[str, Any]) -> list[str]:
    listed = make.api.get(f"{project.url}/pipelines/{pipeline['id']}/jobs", make.root)
    return [job["name"] for job in listed.json()]


def test_open_and_push(api: Api, make: Make) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": FILE})
    commit_files(make, project, {"src/a": "1"}, branch="feature", start_branch="main")
    request = _open(make, project, make.root, labels="one,two")
    newest = list_pipelines(make, project)[0]
    assert (newest["source"], newest["ref"]) == ("merge_request_event", f"refs/merge-requests/{request['iid']}/head")
    assert _job_names(make, project, newest) == ["request job", "old style"]
    taken = [project_runner(make, project.id).must_take() for _ in range(1)]
    variables = taken[0].variables
    while variables["CI_PIPELINE_SOURCE"] != "merge_request_event":
        taken.append(project_runner(make, project.id).must_take())
        variables = taken[-1].variables
    assert variables["CI_MERGE_REQUEST_IID"] == str(request["iid"])
    assert variables["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"] == "main"
    assert variables["CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"] == variables["CI_COMMIT_REF_NAME"] == "feature"
    assert variables["CI_MERGE_REQUEST_LABELS"] == "one,two"
    assert variables["CI_OPEN_MERGE_REQUESTS"] == f"{project.path}!{request['iid']}"
    assert "CI_COMMIT_BRANCH" not in variables
    commit_files(make, project, {"src/b": "1"}, branch="feature")
    push, event = sorted(list_pipelines(make, project)[:2], key=lambda each: each["id"])
    assert (push["source"], event["source"]) == ("push", "merge_request_event")
    assert push["sha"] == event["sha"]
    listed = api.get(f"{project.url}/merge_requests/{request['iid']}/pipelines", make.root).json()
    assert {event["id"], push["id"], newest["id"]} <= {each["id"] for each in listed}


def test_no_pipeline_without_jobs_for_merge_requests(make: Make) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": "test: {script: make}\n"})
    commit_files(make, project, {"a": "1"}, branch="feature", start_branch="main")
    _open(make, project, make.root)
    assert {each["source"] for each in list_pipelines(make, project)} == {"push"}


def test_workflow_rules_without_duplicates(make: Make) -> None:
    """The usual three rules: a branch pipeline until a merge request is open, then only its pipelines."""
    text = """
workflow:
  name: Pipeline of $CI_COMMIT_REF_NAME
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH && $CI_OPEN_MERGE_REQUESTS
      when: never
    - if: $CI_COMMIT_BRANCH
test: {script: make}
"""
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": text})
    commit_files(make, project, {"a": "1"}, branch="feature", start_branch="main")
    _open(make, project, make.root)
    commit_files(make, project, {"b": "1"}, branch="feature")
    sources = [each["source"] for each in list_pipelines(make, project)]
    assert sources == ["merge_request_event", "merge_request_event", "push", "push"]
    newest = list_pipelines(make, project)[0]
    details = make.api.get(f"{project.url}/pipelines/{newest['id']}", make.root).json()
    assert details["name"] == "Pipeline of feature"


def test_a_fork_runs_its_pipelines_with_its_own_variables(api: Api, make: Make) -> None:
    """Attack: a merge request from a fork reads the variables of the target."""
    author = make.user()
    target = make_project(make, visibility="public")
    commit_files(make, target, {".gitlab-ci.yml": FILE})
    for key, attributes in (("SECRET", {}), ("GUARDED", {"protected": True})):
        sent = {"key": key, "value": "of the target", **attributes}
        assert api.post(f"{target.url}/variables", make.root, **sent).status_code == 201
    source = fork(make, target, author)
    commit_files(make, source, {"src/a": "1"}, branch="feature", start_branch="main", user=author)
    before = len(list_pipelines(make, target))
    _open(make, source, author, target)
    assert len(list_pipelines(make, target)) == before
    newest = list_pipelines(make, source, author)[0]
    assert newest["source"] == "merge_request_event"
    runner = project_runner(make, source.id)
    jobs = [runner.must_take() for _ in range(2)]
    for job in jobs:
        assert "SECRET" not in job.variables
        assert "GUARDED" not in job.variables
        assert "of the target" not in job.variables.values()


def test_protected_runners_and_variables_of_merge_requests(api: Api, make: Make) -> None:
    """Only merge requests between protected branches, run by users who may update both, and never those of forks."""
    author, developer = make.user(), make.user()
    target = make_project(make, visibility="public", members={developer: Level.DEVELOPER})
    commit_files(make, target, {".gitlab-ci.yml": "job: {script: make, only: [merge_requests]}\n"})
    api.post(f"{target.url}/variables", make.root, key="GUARDED", value="secret", protected=True)
    source = fork(make, target, author)
    for project, user in ((source, author), (target, make.root)):
        for branch in ("main", "feature"):
            api.post(f"{project.url}/protected_branches", user, name=branch)
        commit_files(make, project, {"src/a": "1"}, branch="feature", start_branch="main", user=user)
    guarded = project_runner(make, target.id, access_level="ref_protected")
    open_to_all = project_runner(make, target.id)
    of_fork = project_runner(make, source.id)

    _open(make, source, author, target)
    assert guarded.take() is None and open_to_all.take() is None
    assert "GUARDED" not in of_fork.must_take().variables

    own = _open(make, target, make.root)
    job = guarded.must_take()
    assert job.variables["GUARDED"] == "secret"
    job.finish("failed")
    assert api.post(f"{target.url}/jobs/{job.id}/retry", developer).status_code == 403
    assert api.post(f"{target.url}/merge_requests/{own['iid']}/pipelines", developer).status_code == 200
    assert guarded.take() is None
    assert "GUARDED" not in open_to_all.must_take().variables


def test_developers_run_pipelines_of_forks_in_the_parent(api: Api, make: Make) -> None:
    author, developer = make.user(), make.user()
    target = make_project(make, visibility="public", members={developer: Level.DEVELOPER})
    commit_files(make, target, {".gitlab-ci.yml": "job: {script: make, only: [merge_requests]}\n"})
    api.post(f"{target.url}/variables", make.root, key="GUARDED", value="secret", protected=True)
    source = fork(make, target, author)
    for branch in ("main", "feature"):
        api.post(f"{target.url}/protected_branches", make.root, name=branch)
    commit_files(make, source, {"src/a": "1"}, branch="feature", start_branch="main", user=author)
    opened = _open(make, source, author, target)
    url = f"{target.url}/merge_requests/{opened['iid']}/pipelines"
    runner = project_runner(make, target.id)
    assert runner.take() is None

    in_parent = api.post(url, make.root)
    assert (in_parent.status_code, in_parent.json()["project_id"]) == (200, target.id)
    job = runner.must_take()
    assert "GUARDED" not in job.variables
    assert job.variables["CI_MERGE_REQUEST_SOURCE_PROJECT_ID"] == str(source.id)
    assert api.post(url, author).json()["project_id"] == source.id

    api.put(target.url, make.root, ci_allow_fork_pipelines_to_run_in_parent_project=False)
    assert api.post(url, developer).status_code == 403
    assert api.post(url, make.root).json()["project_id"] == source.id


def test_pipelines_of_forks_in_the_parent_count(api: Api, make: Make, instance: Any) -> None:
    """Also for users who do not see a private fork; other pipelines of the same commit in the parent do not count."""
    author, developer, visitor = make.user(), make.user(), make.user()
    target = make_project(make, visibility="public", members={developer: Level.DEVELOPER})
    commit_files(make, target, {".gitlab-ci.yml": "job: {script: make, only: [merge_requests]}\n"})
    api.put(target.url, make.root, only_allow_merge_if_pipeline_succeeds=True)
    source = fork(make, target, author)
    commit_files(make, source, {"src/a": "1"}, branch="feature", start_branch="main", user=author)
    opened = _open(make, source, author, target)
    path = f"{target.url}/merge_requests/{opened['iid']}"
    api.put(source.url, author, visibility="private")
    listed = api.get(f"{path}/pipelines", author).json()
    assert [pipeline["project_id"] for pipeline in listed] == [source.id]
    assert api.get(f"{path}/pipelines", visitor).json() == []
    assert api.get(path, visitor).json()["head_pipeline"] is None

    in_parent = api.post(f"{path}/pipelines", make.root).json()
    for user in (visitor, developer):
        assert api.get(path, user).json()["head_pipeline"]["id"] == in_parent["id"]
        (shown,) = api.get(f"{path}/pipelines", user).json()
        assert (shown["id"], shown["web_url"]) == (in_parent["id"], in_parent["web_url"])
    listed = api.get(f"{path}/pipelines", author).json()
    assert [pipeline["project_id"] for pipeline in listed] == [target.id, source.id]

    scheduled = api.put(f"{path}/merge", make.root, auto_merge=True)
    assert (scheduled.status_code, scheduled.json()["state"]) == (200, "opened")
    project_runner(make, target.id).run_all()
    instance.work()
    assert api.get(path, make.root).json()["state"] == "merged"


def test_outsiders_run_nothing_in_a_fork(make: Make) -> None:
    """A user who opens a merge request from a public fork without permission to push to it starts no pipeline."""
    owner, outsider = make.user(), make.user()
    target = make_project(make, visibility="public")
    commit_files(make, target, {".gitlab-ci.yml": FILE})
    source = fork(make, target, owner)
    commit_files(make, source, {"src/a": "1"}, branch="feature", start_branch="main", user=owner)
    before = len(list_pipelines(make, source))
    sent = {"source_branch": "feature", "target_branch": "main", "title": "x", "target_project_id": target.id}
    make.api.post(f"{source.url}/merge_requests", outsider, **sent)
    assert len(list_pipelines(make, source)) == before


def test_merge_when_pipeline_succeeds(api: Api, make: Make, instance: Any) -> None:
    project = make_project(make, only_allow_merge_if_pipeline_succeeds=True)
    commit_files(make, project, {".gitlab-ci.yml": "test: {script: make}\n"})
    commit_files(make, project, {"a": "1"}, branch="feature", start_branch="main")
    request = _open(make, project, make.root)
    path = f"{project.url}/merge_requests/{request['iid']}"
    assert api.put(f"{path}/merge", make.root).status_code in (405, 406, 422)
    scheduled = api.put(f"{path}/merge", make.root, merge_when_pipeline_succeeds=True)
    assert scheduled.status_code == 200
    assert scheduled.json()["state"] == "opened"
    runner = project_runner(make, project.id)
    assert runner.run_all() == ["test", "test"]
    instance.work()
    assert api.get(path, make.root).json()["state"] == "merged"


def test_failed_pipelines_add_todos(api: Api, make: Make) -> None:
    author = make.user()
    project = make_project(make, author)
    commit_files(make, project, {".gitlab-ci.yml": "test: {script: make}\n"}, user=author)
    commit_files(make, project, {"a": "1"}, branch="feature", start_branch="main", user=author)
    _open(make, project, author)
    runner = project_runner(make, project.id)
    runner.run_all(lambda job: _finish(job, "failed"))
    todos = api.get("/todos", author).json()
    assert [todo["action_name"] for todo in todos] == ["build_failed"]
    newest = list_pipelines(make, project, author)[0]
    assert api.post(f"{project.url}/pipelines/{newest['id']}/retry", author).status_code == 201
    runner.run_all()
    assert api.get("/todos", author).json() == []


def _finish(job: Any, state: str) -> None:
    assert job.finish(state, failure_reason="script_failure").status_code == 200


def test_run_a_pipeline_of_a_merge_request(api: Api, make: Make) -> None:
    developer, reporter = make.user(), make.user()
    members = {developer: int(Level.DEVELOPER), reporter: int(Level.REPORTER)}
    project = make_project(make, visibility="public", members=members)
    commit_files(make, project, {".gitlab-ci.yml": FILE})
    commit_files(make, project, {"src/a": "1"}, branch="feature", start_branch="main")
    address = f"{project.url}/merge_requests/{_open(make, project, developer)['iid']}"
    made = api.post(f"{address}/pipelines", developer)
    assert (made.status_code, made.json()["source"]) == (200, "merge_request_event")
    assert api.get(f"{address}/pipelines", developer).json()[0]["id"] == made.json()["id"]
    assert api.post(f"{address}/pipelines", reporter).status_code == 403
    assert api.post(f"{address}/pipelines", None).status_code == 401
    assert api.put(address, developer, state_event="close").status_code == 200
    assert api.post(f"{address}/pipelines", developer).status_code == 400
