"""Pipelines started with the token of a trigger or of a running job."""

from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import project_runner
from tests.client import Api, Make
from tests.factories import Project, make_project

FILE = "test:\n  script: echo $WHAT\n  only: [triggers, pipelines]\n"


def _with_file(make: Make) -> Project:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": FILE})
    assert list_pipelines(make, project) == []
    return project


def _token(make: Make, project: Project) -> str:
    made = make.api.post(f"{project.url}/triggers", make.root, description="nightly")
    token: str = made.json()["token"]
    return token


def test_trigger_a_pipeline(api: Api, make: Make) -> None:
    project = _with_file(make)
    token = _token(make, project)
    made = api.post(f"{project.url}/trigger/pipeline", token=token, ref="main", variables={"WHAT": "this"})
    assert made.status_code == 201
    assert (made.json()["source"], made.json()["user"]["id"]) == ("trigger", make.root.id)
    variables = api.get(f"{project.url}/pipelines/{made.json()['id']}/variables", make.root).json()
    assert [(each["key"], each["variable_type"]) for each in variables] == [
        ("WHAT", "env_var"),
        ("TRIGGER_PAYLOAD", "file"),
    ]
    (trigger,) = api.get(f"{project.url}/triggers", make.root).json()
    assert trigger["last_used"] is not None
    by_path = api.post(f"{project.url}/ref/main/trigger/pipeline", token=token)
    assert by_path.status_code == 201
    job = project_runner(make, project.id).must_take()
    assert job.variables["WHAT"] == "this"
    assert job.variables["CI_PIPELINE_TRIGGERED"] == "true"
    assert job.variables["CI_TRIGGER_SHORT_TOKEN"] == token[:4]


def test_refused_triggers(api: Api, make: Make) -> None:
    project, other, public = _with_file(make), _with_file(make), _with_file(make)
    assert api.put(public.url, make.root, visibility="public").status_code == 200
    token = _token(make, project)
    path = f"{project.url}/trigger/pipeline"
    assert api.post(path, token="x", ref="main").status_code == 404
    assert api.post("/projects/987654321/trigger/pipeline", token=token, ref="main").status_code == 404
    assert api.post(f"{other.url}/trigger/pipeline", token=token, ref="main").status_code == 404
    assert api.post(f"{public.url}/trigger/pipeline", token=token, ref="main").status_code == 401
    assert api.post(path, token=token, ref="missing").json() == {"message": {"base": ["Reference not found"]}}
    assert api.post(path, token=token).status_code == 400
    assert api.post(path, token=token, ref="main", variables={"A": {"b": "c"}}).status_code == 400
    assert api.post(path, token=token, ref="main", variables={"a b": "x"}).status_code == 400
    empty = make_project(make)
    commit_files(make, empty, {"README.md": "text"})
    refused = api.post(f"{empty.url}/trigger/pipeline", token=_token(make, empty), ref="main")
    assert (refused.status_code, refused.json()) == (400, {"message": "No pipeline created"})


def test_owners_without_permission_start_nothing(api: Api, make: Make) -> None:
    """Attack: the token of a user who has left the project."""
    project, owner = _with_file(make), make.user()
    api.post(f"{project.url}/members", make.root, user_id=owner.id, access_level=40)
    token = api.post(f"{project.url}/triggers", owner, description="mine").json()["token"]
    assert api.post(f"{project.url}/trigger/pipeline", token=token, ref="main").status_code == 201
    assert api.delete(f"{project.url}/members/{owner.id}", make.root).is_success
    assert api.post(f"{project.url}/trigger/pipeline", token=token, ref="main").status_code == 400


def test_trigger_with_a_job_token(api: Api, make: Make) -> None:
    project, other = make_project(make), _with_file(make)
    commit_files(make, project, {".gitlab-ci.yml": FILE.replace("[triggers, pipelines]", "[pushes, pipelines]")})
    job = project_runner(make, project.id).must_take()
    own = api.post(f"{project.url}/trigger/pipeline", token=job.token, ref="main")
    assert (own.status_code, own.json()["source"]) == (201, "pipeline")
    assert api.post(f"{other.url}/trigger/pipeline", token=job.token, ref="main").status_code == 404
    allowed = api.post(f"{other.url}/job_token_scope/allowlist", make.root, target_project_id=project.id)
    assert allowed.status_code == 201
    assert api.post(f"{other.url}/trigger/pipeline", token=job.token, ref="main").status_code == 201
    assert job.finish().status_code == 200
    assert api.post(f"{other.url}/trigger/pipeline", token=job.token, ref="main").status_code == 404
