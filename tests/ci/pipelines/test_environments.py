"""Environments and deployments that follow from jobs, and badges."""

import gzip
from functools import partial
from typing import Any

import httpx

from ingot.ci.pipelines.badges import coverage_badge, pipeline_badge, render_badge
from ingot.ci.pipelines.due_environments import enqueue_environment_stops
from ingot.ci.pipelines.processing import change_job
from ingot.projects.environments.tables import environments
from tests.ci.pipelines.files import commit_files
from tests.ci.pipelines.rows import PipelineRows
from tests.ci.runner_client import project_runner
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_project

FILE = """
stages: [deploy, stop]
deploy:
  stage: deploy
  script: deploy
  environment:
    name: review/$CI_COMMIT_REF_SLUG
    url: https://$CI_COMMIT_REF_SLUG-$CI_ENVIRONMENT_SLUG$CI_COMMIT_REF_SLUG$UNKNOWN.example.com
    on_stop: stop
stop:
  stage: stop
  script: stop
  when: manual
  environment: {name: review/$CI_COMMIT_REF_SLUG, action: stop}
"""


def _environments(make: Make, project: Project) -> list[tuple[str, str, str | None]]:
    listed = make.api.get(f"{project.url}/environments", make.root).json()
    return [(each["name"], each["state"], each["external_url"]) for each in listed]


def _statuses(make: Make, project: Project) -> dict[str, str]:
    (newest, *_) = make.api.get(f"{project.url}/pipelines", make.root).json()
    listed: list[dict[str, Any]] = make.api.get(f"{project.url}/pipelines/{newest['id']}/jobs", make.root).json()
    return {job["name"]: job["status"] for job in listed}


def test_deploy_and_stop(api: Api, make: Make) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": FILE})
    assert _environments(make, project) == [("review/main", "available", None)]
    runner = project_runner(make, project.id)
    job = runner.must_take()
    assert job.variables["CI_ENVIRONMENT_NAME"] == "review/main"
    (deployment,) = api.get(f"{project.url}/deployments", make.root).json()
    assert deployment["status"] == "running"
    assert job.finish().status_code == 200
    (deployment,) = api.get(f"{project.url}/deployments", make.root).json()
    assert (deployment["status"], deployment["ref"]) == ("success", "main")
    slug = api.get(f"{project.url}/environments", make.root).json()[0]["slug"]
    assert _environments(make, project) == [("review/main", "available", f"https://main-{slug}main.example.com")]
    (environment,) = api.get(f"{project.url}/environments", make.root).json()
    stopped = api.post(f"{project.url}/environments/{environment['id']}/stop", make.root)
    assert (stopped.status_code, stopped.json()["state"]) == (200, "stopped")
    assert _statuses(make, project) == {"deploy": "success", "stop": "pending"}
    assert runner.run_all() == ["stop"]
    assert _environments(make, project)[0][1] == "stopped"


def test_a_deleted_branch_stops_its_environment(api: Api, make: Make) -> None:
    project = make_project(make)
    commit_files(make, project, {"README": "text"})
    commit_files(make, project, {".gitlab-ci.yml": FILE}, branch="feature", start_branch="main")
    runner = project_runner(make, project.id)
    assert runner.run_all() == ["deploy"]
    assert api.delete(f"{project.url}/repository/branches/feature", make.root).is_success
    assert runner.run_all() == ["stop"]
    assert _environments(make, project)[0][:2] == ("review/feature", "stopped")


def test_failed_deployments(api: Api, make: Make) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": FILE})
    assert project_runner(make, project.id).must_take().finish("failed").status_code == 200
    (deployment,) = api.get(f"{project.url}/deployments", make.root).json()
    assert deployment["status"] == "failed"
    (environment,) = api.get(f"{project.url}/environments", make.root).json()
    assert environment["external_url"] is None


def test_invalid_names_of_environments(make: Make) -> None:
    """A job whose environment has no valid name runs without one."""
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": "variables: {A: 'a:b'}\njob: {script: make, environment: $A}\n"})
    assert _environments(make, project) == []
    assert "CI_ENVIRONMENT_NAME" not in project_runner(make, project.id).must_take().variables


def test_url_with_variables_of_needed_jobs(api: Api, make: Make) -> None:
    project = make_project(make)
    file = """
stages: [build, deploy]
name: {stage: build, script: name, artifacts: {reports: {dotenv: a.env}}}
deploy:
  stage: deploy
  script: deploy
  artifacts: {reports: {dotenv: b.env}}
  environment: {name: live, url: "https://$HOST.example.com/$PLACE"}
"""
    commit_files(make, project, {".gitlab-ci.yml": file})
    runner = project_runner(make, project.id)
    for report in (b"HOST=green\nCI_COMMIT_SHA=0\nGITLAB_USER_LOGIN=x\n", b"PLACE=home\n"):
        job = runner.must_take()
        # A report of an earlier job replaces no predefined variable.
        assert job.variables["CI_COMMIT_SHA"] == job.payload["git_info"]["sha"]
        assert job.variables["GITLAB_USER_LOGIN"] == "root"
        query = {"artifact_type": "dotenv", "artifact_format": "gzip"}
        sent = api.request(
            "POST",
            f"/jobs/{job.id}/artifacts",
            params=query,
            files={"file": (".env.gz", gzip.compress(report), "application/gzip")},
            headers={"JOB-TOKEN": job.token},
        )
        assert sent.status_code == 201, sent.text
        assert job.finish().status_code == 200
    assert _environments(make, project) == [("live", "available", "https://green.example.com/home")]
    (deployment,) = api.get(f"{project.url}/deployments", make.root).json()
    assert (deployment["deployable"]["name"], deployment["deployable"]["status"]) == ("deploy", "success")
    assert deployment["deployable"]["commit"]["id"] == deployment["sha"]
    environment = api.get(f"{project.url}/environments/{deployment['environment']['id']}", make.root).json()
    assert environment["last_deployment"]["deployable"]["id"] == job.id


def test_environment_stops_by_itself(api: Api, make: Make, instance: Instance) -> None:
    project = make_project(make)
    commit_files(
        make, project, {".gitlab-ci.yml": FILE.replace("on_stop: stop", "on_stop: stop\n    auto_stop_in: 1 day")}
    )
    runner = project_runner(make, project.id)
    assert runner.run_all() == ["deploy"]
    (environment,) = api.get(f"{project.url}/environments", make.root).json()
    assert environment["auto_stop_at"] > environment["updated_at"]

    def search() -> None:
        make.database.write(enqueue_environment_stops)
        instance.work()

    search()
    assert _environments(make, project)[0][1] == "available"
    past = "2020-01-01T00:00:00.000Z"
    make.database.write(lambda db: db.update(environments, environment["id"], auto_stop_at=past))
    search()
    assert _environments(make, project)[0][1] == "stopped"
    assert api.get(f"{project.url}/environments", make.root).json()[0]["auto_stop_at"] is None
    assert runner.run_all() == ["stop"]


def test_badges(make: Make) -> None:
    rows = PipelineRows(make, "a 0", "b 0", ref="main")

    def badges() -> list[tuple[str, str]]:
        def read(db: Any) -> list[tuple[str, str]]:
            made = (
                pipeline_badge(db, rows.project.id, "main"),
                coverage_badge(db, rows.project.id, "main"),
                coverage_badge(db, rows.project.id, "main", "a", "<of a>"),
                pipeline_badge(db, rows.project.id, "other"),
            )
            return [(badge.label, badge.value) for badge in made]

        return rows.database.read(read)

    rows.process()
    assert badges() == [
        ("pipeline", "pending"),
        ("coverage", "unknown"),
        ("<of a>", "unknown"),
        ("pipeline", "unknown"),
    ]
    for name, coverage in (("a", 80.0), ("b", 90.0)):
        rows.write(partial(change_job, job=rows.job(name), status="pending", coverage=coverage))
        rows.finish(name)
    assert badges() == [
        ("pipeline", "passed"),
        ("coverage", "85.00%"),
        ("<of a>", "80.00%"),
        ("pipeline", "unknown"),
    ]
    image = render_badge(rows.database.read(lambda db: coverage_badge(db, rows.project.id, "main", "a", "<of a>")))
    assert b"<svg" in image
    assert b"&lt;of a&gt;" in image


def test_badge_pages(api: Api, make: Make) -> None:
    project, hidden = make_project(make, visibility="public"), make_project(make, visibility="private")
    commit_files(make, project, {".gitlab-ci.yml": "job: {script: make}\n"})
    commit_files(make, project, {"a": "1"}, branch="feature/x", start_branch="main")
    for name in ("main/pipeline", "feature/x/pipeline", "main/build"):
        shown = httpx.get(f"{api.url}/{project.path}/badges/{name}.svg")
        assert (shown.status_code, shown.headers["content-type"]) == (200, "image/svg+xml")
        assert "pipeline: pending" in shown.text
    assert "coverage: unknown" in httpx.get(f"{api.url}/{project.path}/badges/main/coverage.svg").text
    refused = httpx.get(f"{api.url}/{hidden.path}/badges/main/pipeline.svg")
    missing = httpx.get(f"{api.url}/{hidden.path}x/badges/main/pipeline.svg")
    assert refused.status_code == missing.status_code
    assert "svg" not in refused.headers["content-type"]


def test_release_badge(api: Api, make: Make) -> None:
    project, reader = make_project(make, visibility="public"), make.user()
    commit_files(make, project, {"a": "1"})

    def badge(**options: object) -> str:
        query = "&".join(f"{name}={value}" for name, value in options.items())
        shown = httpx.get(f"{api.url}/{project.path}/-/badges/release.svg?{query}")
        assert (shown.status_code, shown.headers["content-type"]) == (200, "image/svg+xml")
        return shown.text

    assert "latest release: none" in badge()
    for tag, released_at in (("v1", "2020-02-01"), ("v0", "2020-01-01"), ("v9", "2999-01-01")):
        sent = {"tag_name": tag, "ref": "main", "released_at": f"{released_at}T00:00:00Z"}
        assert api.post(f"{project.url}/releases", make.root, **sent).status_code == 201
    assert "latest release: v1" in badge()
    assert "latest release: v1" in badge(order_by="semver")
    assert "<b>" not in badge(key_text="<b>")
    assert "&lt;b&gt;: v0" in badge(key_text="<b>", order_by="created_at")
    assert 'width="250"' in badge(key_width=150, value_width=100)
    assert {badge(key_width=width) for width in (0, 513, "x", "-1", 2**64)} == {badge()}
    assert '<rect width="243"' in httpx.get(f"{api.url}/{project.path}/-/badges/main/pipeline.svg?key_width=243").text

    assert api.put(project.url, make.root, releases_access_level="private").status_code == 200
    assert "latest release: none" in badge()
    assert api.put(project.url, make.root, visibility="private").status_code == 200
    hidden, missing = (
        api.request("GET", f"{api.url}/{path}/-/badges/release.svg", reader) for path in (project.path, "no/such")
    )
    assert (hidden.status_code, "svg" in hidden.headers["content-type"]) == (missing.status_code, False)


PRODUCTION = """
deploy: {script: deploy, environment: production}
later: {script: deploy, environment: production, when: manual}
"""


def test_an_outdated_deployment_job_does_not_run(api: Api, make: Make) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": PRODUCTION})
    api.put(project.url, make.root, auto_cancel_pending_pipelines="disabled")
    commit_files(make, project, {"a": "1"})
    commit_files(make, project, {"b": "2"})
    runner = project_runner(make, project.id)
    first, older, newer = (runner.must_take() for _ in range(3))
    assert [job.finish().status_code for job in (first, newer)] == [200, 200]
    assert older.finish().status_code == 200  # It had started before the newer one ended.
    third, second, _ = api.get(f"{project.url}/pipelines", make.root).json()
    jobs = {job["name"]: job for job in api.get(f"{project.url}/pipelines/{second['id']}/jobs", make.root).json()}
    refused = api.post(f"{project.url}/jobs/{jobs['later']['id']}/play", make.root)
    assert (refused.status_code, "older than the latest deployment" in refused.text) == (403, True)
    (latest,) = (
        job
        for job in api.get(f"{project.url}/pipelines/{third['id']}/jobs", make.root).json()
        if job["name"] == "later"
    )
    assert api.post(f"{project.url}/jobs/{latest['id']}/play", make.root).status_code == 200
    assert runner.run_all() == ["later"]

    # A rollback repeats a finished job, unless the project forbids it.
    assert api.post(f"{project.url}/jobs/{older.id}/retry", make.root).status_code == 201
    assert runner.run_all() == ["deploy"]
    api.put(project.url, make.root, ci_forward_deployment_rollback_allowed=False)
    refused = api.post(f"{project.url}/jobs/{first.id}/retry", make.root)
    assert (refused.status_code, "older than the latest deployment" in refused.text) == (403, True)
    api.put(project.url, make.root, ci_forward_deployment_enabled=False)
    assert api.post(f"{project.url}/jobs/{first.id}/retry", make.root).status_code == 201


def test_a_waiting_deployment_job_fails_when_a_newer_one_has_deployed(api: Api, make: Make) -> None:
    project = make_project(make)
    file = "deploy: {script: deploy, environment: production, tags: [$CI_COMMIT_REF_NAME]}"
    commit_files(make, project, {".gitlab-ci.yml": file})
    api.put(project.url, make.root, auto_cancel_pending_pipelines="disabled")
    commit_files(make, project, {"a": "1"}, branch="other", start_branch="main")
    newer = project_runner(make, project.id, tag_list="other", run_untagged=False)
    assert newer.run_all() == ["deploy"]
    older = project_runner(make, project.id, tag_list="main", run_untagged=False)
    assert older.run_all() == []
    (job,) = api.get(f"{project.url}/jobs", make.root, scope="failed").json()
    assert (job["ref"], job["failure_reason"]) == ("main", "failed_outdated_deployment_job")
    (deployment,) = api.get(f"{project.url}/deployments", make.root).json()
    assert deployment["ref"] == "other"
