"""Job tokens: the API calls and git operations that they permit, and everything that they do not."""

import re
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from ingot.pipelines.tables import commit_statuses
from ingot.server.registry import all_endpoints
from tests.ci.artifacts.files import upload, zip_of
from tests.ci.pipelines.rows import PipelineRows
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, Project, make_group, make_project

JOB_TOKEN_ROUTES = {
    ("GET", "/job"),
    ("GET", "/projects/:id/repository/changelog"),
    ("GET", "/registry/repositories/:repository_id"),
    ("GET", "/projects/:id/jobs/:job_id/artifacts"),
    ("GET", "/projects/:id/jobs/:job_id/artifacts/:artifact_path"),
    ("GET", "/projects/:id/jobs/:job_id/artifacts/tree"),
    ("GET", "/projects/:id/jobs/artifacts/:ref_name/download"),
    ("GET", "/projects/:id/jobs/artifacts/:ref_name/raw/:artifact_path"),
    ("POST", "/projects/:id/catalog/publish"),
    ("POST", "/projects/:id/trigger/pipeline"),
    ("POST", "/projects/:id/ref/:ref/trigger/pipeline"),
    ("PUT", "/projects/:id/pipelines/:pipeline_id/metadata"),
}
OPEN_TO_JOB_TOKENS = re.compile(
    r"/projects/:id/(releases|environments|deployments|packages|registry|secure_files|terraform)(/.*)?"
)


class RunningJob:
    """A job that runs for a user of a project."""

    def __init__(self, make: Make, user: User, project: Project) -> None:
        self.rows = PipelineRows(make, "build 0", project=project)
        self.rows.process()
        job_id = self.rows.job("build").id
        self.rows.write(lambda db: db.update(commit_statuses, job_id, user_id=user.id))
        self.id = job_id
        self.project = project
        self.token = self.rows.start("build")


def _get(api: Api, path: str, token: str) -> httpx.Response:
    return api.request("GET", path, headers={"JOB-TOKEN": token})


@pytest.fixture
def user(make: Make) -> User:
    """Return the user for whom a job runs."""
    return make.user()


@pytest.fixture
def job(make: Make, user: User) -> RunningJob:
    """Return a running job in a project of the user."""
    return RunningJob(make, user, make_project(make, user, initialize_with_readme=True))


def test_declared_calls() -> None:
    """The list of calls is short: a new one must be added here on purpose."""
    declared = {(each.method, each.path) for each in all_endpoints() if each.job_token}
    beyond = {(method, path) for method, path in declared if not OPEN_TO_JOB_TOKENS.fullmatch(path)}
    assert beyond <= JOB_TOKEN_ROUTES
    assert {("GET", "/projects/:id/releases"), ("POST", "/projects/:id/deployments")} <= declared


def test_calls_in_the_own_project(api: Api, job: RunningJob, make: Make) -> None:
    url = job.project.url
    assert _get(api, f"{url}/releases", job.token).status_code == 200
    assert api.request("GET", f"{url}/releases", params={"job_token": job.token}).status_code == 200
    assert _get(api, f"{url}/environments", job.token).status_code == 200
    changelog = f"{url}/repository/changelog?version=1.0.0&from=master"
    assert _get(api, changelog, job.token).json()["notes"].endswith("No changes.\n")
    created = api.request(
        "POST", f"{url}/environments", headers={"JOB-TOKEN": job.token}, json={"name": make.name("review")}
    )
    assert created.status_code == 201
    release = api.request(
        "POST", f"{url}/releases", headers={"JOB-TOKEN": job.token}, json={"tag_name": "v1", "ref": "master"}
    )
    assert (release.status_code, release.json()["tag_name"]) == (201, "v1")
    assert upload(api, job.id, job.token, zip_of({"a": b"x"})).status_code == 201
    assert _get(api, f"{url}/jobs/{job.id}/artifacts/a", job.token).content == b"x"


def test_other_calls_ignore_the_token(api: Api, job: RunningJob, make: Make, user: User) -> None:
    url = job.project.url
    for path in ("/user", f"{url}/issues", f"{url}/variables", f"{url}/members", "/runners", f"{url}/job_token_scope"):
        assert _get(api, path, job.token).status_code == 401, path
        assert api.request("GET", path, params={"job_token": job.token}).status_code == 401, path
    assert _get(api, url, job.token).status_code == 404
    assert _get(api, f"{url}/repository/tree", job.token).status_code == 404
    assert job.project.id not in [each["id"] for each in _get(api, "/projects", job.token).json()]
    for method, path in (("PUT", url), ("DELETE", url), ("POST", f"{url}/hooks"), ("POST", "/projects")):
        answer = api.request(method, path, headers={"JOB-TOKEN": job.token}, json={"name": "x", "url": "http://x"})
        assert answer.status_code == 401, path
    for name in ("PRIVATE-TOKEN", "Authorization"):
        value = job.token if name == "PRIVATE-TOKEN" else f"Bearer {job.token}"
        assert api.request("GET", "/user", headers={name: value}).status_code == 401
    assert api.get(url, user).status_code == 200


def test_token_dies_with_the_job_and_its_user(api: Api, job: RunningJob, make: Make, user: User) -> None:
    path = f"{job.project.url}/releases"
    assert _get(api, path, "unknown").status_code == 401
    assert _get(api, path, "").status_code == 404  # Without a token, the caller is anonymous.
    api.post(f"/users/{user.id}/block", make.root)
    assert _get(api, path, job.token).status_code == 401
    api.post(f"/users/{user.id}/unblock", make.root)
    assert _get(api, path, job.token).status_code == 200
    job.rows.finish("build")
    assert _get(api, path, job.token).status_code == 401


def test_token_loses_a_project_with_its_user(api: Api, make: Make, user: User) -> None:
    owner = make.user()
    project = make_project(make, owner, members={user: 30})
    job = RunningJob(make, user, project)
    assert _get(api, f"{project.url}/releases", job.token).status_code == 200
    api.delete(f"{project.url}/members/{user.id}", owner)
    assert _get(api, f"{project.url}/releases", job.token).status_code == 404


def _reading_paths(project: Project) -> list[str]:
    values = {"id": str(project.id), "tag_name": "v1", "ref_name": "main"}
    paths = []
    for endpoint in all_endpoints():
        if endpoint.job_token and endpoint.method == "GET" and ":id" in endpoint.path:
            path = re.sub(r":(\w+)", lambda match: values.get(match[1], "1"), endpoint.path)
            required = {"/artifacts/main": "?job=build", "/changelog": "?version=1.0.0"}
            paths.append(path + next((query for part, query in required.items() if part in path), ""))
    return paths


def test_nothing_in_other_projects(api: Api, make: Make, user: User, job: RunningJob) -> None:
    """The user may read and write these projects, but the token of a job in another project may not."""
    admin = make.user(admin=True)
    private = make_project(make, user)
    internal = make_project(make, make.user(), visibility="internal")
    admins_job = RunningJob(make, admin, make_project(make, admin))
    for project in (private, internal):
        for path in _reading_paths(project):
            assert _get(api, path, job.token).status_code == 404, path
            assert _get(api, path, admins_job.token).status_code == 404, path
        for token in (job.token, admins_job.token):
            for path in ("environments", "deployments", "releases"):
                answer = api.request(
                    "POST",
                    f"{project.url}/{path}",
                    headers={"JOB-TOKEN": token},
                    json={"name": "x", "tag_name": "v1", "environment": "x", "sha": "a" * 40, "ref": "x", "tag": False},
                )
                assert answer.status_code in (400, 404), path
    assert api.get(f"{private.url}/environments", user).json() == []


def test_public_projects_as_anonymous(api: Api, make: Make, user: User, job: RunningJob) -> None:
    public = make_project(make, user, visibility="public", initialize_with_readme=True)
    assert _get(api, f"{public.url}/releases", job.token).status_code == 200
    made = api.request(
        "POST", f"{public.url}/environments", headers={"JOB-TOKEN": job.token}, json={"name": "production"}
    )
    assert made.status_code == 403
    admin = make.user(admin=True)
    admins_job = RunningJob(make, admin, make_project(make, admin))
    made = api.request(
        "POST", f"{public.url}/environments", headers={"JOB-TOKEN": admins_job.token}, json={"name": "production"}
    )
    assert made.status_code == 403


def test_allow_list(api: Api, make: Make, user: User, job: RunningJob) -> None:
    target = make_project(make, user)
    foreign = make_project(make, make.user())
    path, scope = f"{target.url}/releases", f"{target.url}/job_token_scope"
    assert api.get(scope, user).json() == {"inbound_enabled": True, "outbound_enabled": False}
    added = api.post(f"{scope}/allowlist", user, target_project_id=job.project.id)
    assert (added.status_code, added.json()) == (
        201,
        {"source_project_id": target.id, "target_project_id": job.project.id},
    )
    assert _get(api, path, job.token).status_code == 200
    listed = api.get(f"{scope}/allowlist", user).json()
    assert [each["id"] for each in listed] == sorted([target.id, job.project.id])
    again = api.post(f"{scope}/allowlist", user, target_project_id=job.project.id)
    assert again.json() == {"message": "This project is already in the job token allowlist."}
    assert api.post(f"{scope}/allowlist", user, target_project_id=foreign.id).status_code == 404
    # The list gives access to what the user of the job may see, and to nothing else.
    api.post(f"{foreign.url}/job_token_scope/allowlist", make.root, target_project_id=job.project.id)
    assert _get(api, f"{foreign.url}/releases", job.token).status_code == 404
    removed = f"{target.url}/job_token_scope/allowlist/{job.project.id}"
    assert [api.delete(removed, user).status_code for _ in range(2)] == [204, 400]
    assert _get(api, path, job.token).status_code == 404
    assert api.request("PATCH", scope, user, json={"enabled": False}).status_code == 204
    assert api.get(scope, user).json()["inbound_enabled"] is False
    assert _get(api, path, job.token).status_code == 200
    assert api.request("PATCH", scope, user, json={"enabled": True}).status_code == 204
    assert _get(api, path, job.token).status_code == 404


def test_allow_list_of_groups(api: Api, make: Make, user: User) -> None:
    group: Group = make_group(make, user)
    subgroup = make_group(make, user, parent=group)
    job = RunningJob(make, user, make_project(make, user, group=subgroup))
    target = make_project(make, user)
    path, scope = f"{target.url}/releases", f"{target.url}/job_token_scope/groups_allowlist"
    assert _get(api, path, job.token).status_code == 404
    assert api.post(scope, user, target_group_id=group.id).json() == {
        "source_project_id": target.id,
        "target_group_id": group.id,
    }
    assert _get(api, path, job.token).status_code == 200
    assert [each["id"] for each in api.get(scope, user).json()] == [group.id]
    assert api.post(scope, user, target_group_id=group.id).status_code == 400
    assert api.post(scope, user, target_group_id=999_999_999).status_code == 404
    removed = f"{target.url}/job_token_scope/groups_allowlist/{group.id}"
    assert [api.delete(removed, user).status_code for _ in range(2)] == [204, 400]
    assert _get(api, path, job.token).status_code == 404


def test_permission_to_change_the_scope(api: Api, make: Make, user: User) -> None:
    developer, stranger = make.user(), make.user()
    project = make_project(make, user, members={developer: 30})
    scope = f"{project.url}/job_token_scope"
    for path in (scope, f"{scope}/allowlist", f"{scope}/groups_allowlist"):
        codes = [api.get(path, each).status_code for each in (user, developer, stranger, None)]
        assert codes == [200, 403, 404, 401]
    assert api.request("PATCH", scope, developer, json={"enabled": False}).status_code == 403
    for path in (f"{scope}/allowlist/1", f"{scope}/groups_allowlist/1"):
        assert api.delete(path, developer).status_code == 403
    assert api.post(f"{scope}/allowlist", developer, target_project_id=1).status_code == 403
    assert api.post(f"{scope}/groups_allowlist", developer, target_group_id=1).status_code == 403


def _git(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {
        "GIT_TERMINAL_PROMPT": "0",
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "PATH": "/usr/bin:/bin",
    }
    command = ["git", *(["-C", str(folder)] if folder else []), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def _url(instance: Instance, project: Project, token: str, username: str = "gitlab-ci-token") -> str:
    return f"http://{username}:{token}@{urlsplit(instance.url).netloc}/{project.path}.git"


def test_git(make: Make, user: User, job: RunningJob, instance: Instance, tmp_path: Path, api: Api) -> None:
    clone = tmp_path / "clone"
    assert _git("clone", "-q", _url(instance, job.project, job.token), str(clone)).returncode == 0
    (clone / "new").write_text("x")
    _git("add", "new", folder=clone)
    _git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "new", folder=clone)
    pushed = _git("push", "-q", folder=clone)
    assert pushed.returncode != 0
    assert "403" in pushed.stderr
    assert api.put(job.project.url, user, ci_push_repository_for_job_token_allowed=True).status_code == 200
    assert _git("push", "-q", folder=clone).returncode == 0
    assert api.get(f"{job.project.url}/repository/files/new", user, ref="master").status_code == 200
    elsewhere = make_project(make, user, visibility="public", ci_push_repository_for_job_token_allowed=True)
    api.post(f"{elsewhere.url}/job_token_scope/allowlist", user, target_project_id=job.project.id)
    assert _git("push", "-q", _url(instance, elsewhere, job.token), "master", folder=clone).returncode != 0
    other = make_project(make, user, initialize_with_readme=True)
    assert "not found" in _git("ls-remote", _url(instance, other, job.token)).stderr
    public = make_project(make, user, visibility="public", initialize_with_readme=True)
    assert _git("ls-remote", _url(instance, public, job.token)).returncode == 0
    api.post(f"{other.url}/job_token_scope/allowlist", user, target_project_id=job.project.id)
    assert _git("ls-remote", _url(instance, other, job.token)).returncode == 0
    for username, token in (("gitlab-ci-token", "wrong"), (user.username, job.token)):
        assert _git("ls-remote", _url(instance, job.project, token, username)).returncode != 0, username
    job.rows.finish("build")
    assert _git("ls-remote", _url(instance, job.project, job.token)).returncode != 0


def test_lfs(user: User, job: RunningJob, instance: Instance, make: Make) -> None:
    other = make_project(make, user)

    def batch(project: Project, operation: str) -> int:
        return httpx.post(
            f"{instance.url}/{project.path}.git/info/lfs/objects/batch",
            json={"operation": operation, "objects": [{"oid": "a" * 64, "size": 1}]},
            auth=("gitlab-ci-token", job.token),
            headers={"Accept": "application/vnd.git-lfs+json", "Content-Type": "application/vnd.git-lfs+json"},
        ).status_code

    assert batch(job.project, "download") == 200
    assert batch(job.project, "upload") == 403
    assert batch(other, "download") == 404
