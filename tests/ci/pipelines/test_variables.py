"""Variables of jobs: predefined ones, precedence, and values that a job must not get."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import RunnerJob, project_runner
from tests.client import Api, Make
from tests.factories import Group, Project, make_group, make_project

FILE = """
variables: {FROM_FILE: global, SHARED: file}
plain: {script: make}
"""


def _set(api: Api, make: Make, owner: Project | Group | None, key: str, value: str, **attributes: Any) -> None:
    path = "/admin/ci" if owner is None else owner.url
    made = api.post(f"{path}/variables", make.root, key=key, value=value, **attributes)
    assert made.status_code == 201, made.text


def _take(make: Make, project: Project) -> RunnerJob:
    return project_runner(make, project.id).must_take()


def test_predefined_variables(api: Api, make: Make) -> None:
    group = make_group(make)
    project = make_project(make, group=group, visibility="private", description="About it")
    message = "Title of it\n\nMore text: $CI_JOB_TOKEN\n"
    sha = commit_files(make, project, {".gitlab-ci.yml": FILE}, branch="main", message=message)
    (pipeline,) = api.get(f"{project.url}/pipelines", make.root).json()
    runner = project_runner(make, project.id, description="builder", tag_list="a,b")
    job = runner.must_take()
    base = api.get(project.url, make.root).json()["web_url"].removesuffix(f"/{project.path}")
    root = api.get("/user", make.root).json()
    expected = {
        "CI": "true",
        "GITLAB_CI": "true",
        "CI_API_V4_URL": f"{base}/api/v4",
        "CI_REGISTRY": base.split("/")[2],
        "CI_REGISTRY_IMAGE": f"{base.split('/')[2]}/{project.path.lower()}",
        "CI_REGISTRY_USER": "gitlab-ci-token",
        "CI_REGISTRY_PASSWORD": job.token,
        "CI_SERVER_URL": base,
        "CI_SERVER_HOST": base.split("/")[2].partition(":")[0],
        "CI_SERVER_VERSION_MAJOR": "16",
        "CI_PROJECT_ID": str(project.id),
        "CI_PROJECT_NAME": project.path.rpartition("/")[2],
        "CI_PROJECT_PATH": project.path,
        "CI_PROJECT_PATH_SLUG": project.path.replace("/", "-"),
        "CI_PROJECT_NAMESPACE": group.path,
        "CI_PROJECT_ROOT_NAMESPACE": group.path,
        "CI_PROJECT_DESCRIPTION": "About it",
        "CI_PROJECT_URL": f"{base}/{project.path}",
        "CI_PROJECT_VISIBILITY": "private",
        "CI_DEFAULT_BRANCH": "main",
        "CI_CONFIG_PATH": ".gitlab-ci.yml",
        "CI_COMMIT_SHA": sha,
        "CI_COMMIT_SHORT_SHA": sha[:8],
        "CI_COMMIT_BEFORE_SHA": "0" * 40,
        "CI_COMMIT_REF_NAME": "main",
        "CI_COMMIT_REF_SLUG": "main",
        "CI_COMMIT_BRANCH": "main",
        "CI_COMMIT_REF_PROTECTED": "true",
        "CI_COMMIT_TITLE": "Title of it",
        "CI_COMMIT_DESCRIPTION": "More text: $CI_JOB_TOKEN",
        "CI_COMMIT_AUTHOR": f"{root['name']} <{root['email']}>",
        "CI_PIPELINE_ID": str(pipeline["id"]),
        "CI_PIPELINE_IID": "1",
        "CI_PIPELINE_SOURCE": "push",
        "CI_PIPELINE_URL": pipeline["web_url"],
        "CI_JOB_ID": str(job.id),
        "CI_JOB_NAME": "plain",
        "CI_JOB_STAGE": "test",
        "CI_JOB_TOKEN": job.token,
        "CI_JOB_URL": f"{base}/{project.path}/-/jobs/{job.id}",
        "CI_JOB_TIMEOUT": "3600",
        "CI_NODE_TOTAL": "1",
        "CI_RUNNER_ID": str(runner.id),
        "CI_RUNNER_DESCRIPTION": "builder",
        "GITLAB_USER_ID": "1",
        "GITLAB_USER_LOGIN": "root",
        "GITLAB_USER_EMAIL": root["email"],
        "FROM_FILE": "global",
    }
    assert {key: job.variables.get(key) for key in expected} == expected
    assert "CI_COMMIT_TAG" not in job.variables
    sent = {each["key"]: each for each in job.payload["variables"]}
    for key in ("CI_JOB_TOKEN", "CI_REGISTRY_PASSWORD"):
        assert (sent[key]["public"], sent[key]["masked"]) == (False, True)
    # A commit message must not be expanded by the runner.
    assert sent["CI_COMMIT_MESSAGE"]["raw"] is True


def test_variables_of_tags_and_copies(api: Api, make: Make) -> None:
    project = make_project(make, container_registry_enabled=False)
    commit_files(make, project, {".gitlab-ci.yml": "copy: {script: make, parallel: 2, only: [tags]}\n"})
    api.post(f"{project.url}/repository/tags", make.root, tag_name="v1", ref="main", message="First release")
    variables = _take(make, project).variables
    assert variables["CI_COMMIT_TAG"] == "v1"
    assert variables["CI_COMMIT_TAG_MESSAGE"] == "First release"
    assert (variables["CI_JOB_NAME"], variables["CI_JOB_GROUP_NAME"]) == ("copy 1/2", "copy")
    assert not variables.keys() & {"CI_COMMIT_BRANCH", "CI_REGISTRY", "CI_REGISTRY_IMAGE", "CI_REGISTRY_PASSWORD"}


def test_precedence(api: Api, make: Make) -> None:
    """Later in this list wins: predefined, file, instance, outer group, group, project, given to the pipeline."""
    outer = make_group(make)
    inner = make_group(make, parent=outer)
    project = make_project(make, group=inner)
    names = [make.name("P").replace("-", "_").upper() for _ in range(6)]
    places: list[Project | Group | None] = [None, outer, inner, project]
    for count, place in enumerate(places, 1):
        for name in names[count:]:
            _set(api, make, place, name, f"level {count}")
    text = "variables: {" + ", ".join(f"{name}: level 0" for name in names) + "}\njob: {script: make, only: [api]}\n"
    commit_files(make, project, {".gitlab-ci.yml": text})
    given = [{"key": names[5], "value": "level 5"}]
    assert api.post(f"{project.url}/pipeline", make.root, ref="main", variables=given).status_code == 201
    variables = _take(make, project).variables
    assert [variables[name] for name in names] == [f"level {count}" for count in (0, 1, 2, 3, 4, 5)]


def test_nested_references(api: Api, make: Make) -> None:
    """Runners expand references once, so the server inserts nested values; raw ones and files stay references."""
    project = make_project(make)
    _set(api, make, project, "NESTED", "pre-$CI_PROJECT_NAME")
    _set(api, make, project, "PLAIN", "$NESTED", raw=True)
    _set(api, make, project, "FILE", "text", variable_type="file")
    text = """
variables: {A: $NESTED-x, B: $A/$A, C: $PLAIN $FILE $UNKNOWN, D: $E, E: $D}
job: {script: make, variables: {A: $NESTED-y}}
"""
    commit_files(make, project, {".gitlab-ci.yml": text})
    variables = _take(make, project).variables
    assert variables["A"] == "pre-$CI_PROJECT_NAME-y"
    assert variables["B"] == "pre-$CI_PROJECT_NAME-y/pre-$CI_PROJECT_NAME-y"
    assert variables["C"] == "$PLAIN $FILE $UNKNOWN"
    assert variables["PLAIN"] == "$NESTED"
    assert {variables["D"], variables["E"]} <= {"$E", "$D"}


def test_scopes_of_environments(api: Api, make: Make) -> None:
    project = make_project(make)
    for value, scope in (("any", "*"), ("review", "review/*"), ("one", "review/one"), ("live", "production")):
        _set(api, make, project, "WHERE", value, environment_scope=scope)
    text = "".join(
        f"{name}: {{script: make, environment: {place}}}\n"
        for name, place in (("a", "review/one"), ("b", "review/$CI_COMMIT_REF_NAME"), ("c", "production"))
    )
    commit_files(make, project, {".gitlab-ci.yml": text + "d: {script: make}\n"})
    runner = project_runner(make, project.id)
    found = {job.name: job.variables for job in (runner.must_take() for _ in range(4))}
    assert {name: variables["WHERE"] for name, variables in found.items()} == {
        "a": "one",
        "b": "review",
        "c": "live",
        "d": "any",
    }
    assert found["b"]["CI_ENVIRONMENT_NAME"] == "review/main"
    assert found["c"]["CI_ENVIRONMENT_TIER"] == "production"
    assert "CI_ENVIRONMENT_NAME" not in found["d"]


MATRIX = [
    ("branch main", True, "production"),
    ("branch feature", False, "production"),
    ("tag v1", False, None),
    ("tag release-1", True, None),
    ("request", False, None),
]


@pytest.mark.parametrize(("where", "protected", "environment"), MATRIX)
def test_matrix_of_protected_and_scoped_values(
    api: Api, make: Make, where: str, protected: bool, environment: str | None
) -> None:
    """No protected or scoped value reaches a job that may not have it; masked values are marked as such."""
    project = make_project(make)
    assert api.post(f"{project.url}/protected_tags", make.root, name="release-*").status_code == 201
    for guarded in (False, True):
        for masked in (False, True):
            for scope in ("*", "production", "staging"):
                key = f"V_{guarded:d}{masked:d}_{scope.replace('*', 'ALL')}".upper()
                attributes = {"protected": guarded, "masked": masked, "environment_scope": scope}
                _set(api, make, project, key, f"secret-of-{key}", **attributes)
    job_text = f"job: {{script: make{', environment: production' if environment else ''}}}\n"
    request_text = "workflow: {rules: [{if: $CI_PIPELINE_SOURCE == 'merge_request_event'}]}\n"
    commit_files(make, project, {"README": "text"})
    kind, _, name = where.partition(" ")
    text = (request_text if kind == "request" else "") + job_text
    if kind == "tag":
        text += "\nworkflow: {rules: [{if: $CI_COMMIT_TAG}]}\n"
    branch = name if kind == "branch" else "work"
    start = None if branch == "main" else "main"
    commit_files(make, project, {".gitlab-ci.yml": text}, branch=branch, start_branch=start)
    if kind == "tag":
        assert api.post(f"{project.url}/repository/tags", make.root, tag_name=name, ref="work").status_code == 201
    if kind == "request":
        # No pipeline exists yet, so that the push is the event.
        sent = {"source_branch": "work", "target_branch": "main", "title": "x"}
        assert api.post(f"{project.url}/merge_requests", make.root, **sent).status_code == 201
        commit_files(make, project, {"more": "text"}, branch="work")
    job = _take(make, project)
    received = {each["key"]: each for each in job.payload["variables"] if each["key"].startswith("V_")}
    scopes = {"ALL", *({"PRODUCTION"} if environment else set())}
    allowed = {
        f"V_{guarded:d}{masked:d}_{scope}"
        for guarded in ({False, True} if protected else {False})
        for masked in (False, True)
        for scope in scopes
    }
    assert received.keys() == allowed
    for key, each in received.items():
        assert each["value"] == f"secret-of-{key}"
        assert each["public"] is False
        assert each["masked"] is (key[3] == "1")
    assert job.variables["CI_COMMIT_REF_PROTECTED"] == ("true" if protected else "false")


def test_errors_do_not_show_masked_values(api: Api, make: Make) -> None:
    """Attack: a guest reads a masked value in the error of a public pipeline."""
    project = make_project(make, visibility="public")
    _set(api, make, project, "HIDDEN", "masked-value", masked=True)
    commit_files(make, project, {".gitlab-ci.yml": "include: '/$HIDDEN.yml'\njob: {script: make}\n"})
    (pipeline,) = api.get(f"{project.url}/pipelines", make.root).json()
    shown = api.get(f"{project.url}/pipelines/{pipeline['id']}", make.root).json()
    assert "[MASKED]" in shown["yaml_errors"]
    assert "masked-value" not in shown["yaml_errors"]


def test_developers_do_not_start_jobs_of_protected_branches(api: Api, make: Make) -> None:
    """Attack: a developer overwrites a variable of a job that has protected values."""
    project, developer = make_project(make), make.user()
    api.post(f"{project.url}/members", make.root, user_id=developer.id, access_level=int(Level.DEVELOPER))
    commit_files(make, project, {".gitlab-ci.yml": "job: {script: $COMMAND, when: manual}\n"})
    (pipeline,) = api.get(f"{project.url}/pipelines", make.root).json()
    (job,) = api.get(f"{project.url}/pipelines/{pipeline['id']}/jobs", make.root).json()
    assert api.post(f"{project.url}/jobs/{job['id']}/play", developer).status_code == 403
    assert api.post(f"{project.url}/jobs/{job['id']}/play", make.root).status_code == 200


def test_names_do_not_show_masked_or_protected_values(api: Api, make: Make) -> None:
    """Attack: a guest reads a masked value in the name of a pipeline, or a reporter in an environment."""
    project = make_project(make)
    _set(api, make, project, "HIDDEN", "masked-value", masked=True)
    _set(api, make, project, "GUARDED", "protected-value", protected=True)
    text = """
workflow: {name: "n $HIDDEN $GUARDED"}
named: {script: make, environment: {name: e-$HIDDEN}}
linked: {script: make, environment: {name: "e$GUARDED", url: "http://x.example.com/$HIDDEN/$GUARDED"}}
"""
    commit_files(make, project, {"README": "text"})
    commit_files(make, project, {".gitlab-ci.yml": text}, branch="feature", start_branch="main")
    pipeline = list_pipelines(make, project)[0]
    assert api.get(f"{project.url}/pipelines/{pipeline['id']}", make.root).json()["name"] == "n [MASKED]"
    assert sorted(project_runner(make, project.id).run_all()) == ["linked", "named"]
    environments = api.get(f"{project.url}/environments", make.root)
    assert [each["name"] for each in environments.json()] == ["e"]
    jobs = api.get(f"{project.url}/pipelines/{pipeline['id']}/jobs", make.root)
    for shown in (environments.text, jobs.text):
        assert "masked-value" not in shown
        assert "protected-value" not in shown
