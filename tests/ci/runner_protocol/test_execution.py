"""Pipelines executed by a client of the protocol, from the poll to the result."""

from typing import Any

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from ingot.ci.job_records.queries import job_by_id
from ingot.ci.job_records.tables import CiJob
from ingot.ci.traces.store import trace_store_of
from ingot.core.access.levels import Level
from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import OLD_INFO, RunnerJob, project_runner
from tests.ci.runner_protocol.projects import ci_project, commit_config, pipeline_status
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import add_members, make_project, statements_of

THREE_STAGES = {
    "stages": ["build", "test", "deploy"],
    "variables": {"GREETING": "hello"},
    "compile": {"stage": "build", "script": ["make"], "artifacts": {"paths": ["out/"], "expire_in": "1 day"}},
    "unit": {"stage": "test", "script": ["make test"], "coverage": r"/Coverage: (\d+\.\d+)%/"},
    "flaky": {"stage": "test", "script": ["false"], "allow_failure": True},
    "publish": {"stage": "deploy", "script": ["make publish"], "dependencies": ["compile"]},
}


def stored_job(make: Make, job_id: int) -> CiJob:
    """Return the row of a job."""
    job = make.database.read(lambda db: job_by_id(db, job_id))
    assert job is not None
    return job


def test_a_running_job_ends_when_its_user_is_blocked(make: Make, api: Api, instance: Instance) -> None:
    """Its token loses all access at once; the runner then learns that the job has failed."""
    user = make.user()
    project = make_project(make, user, shared_runners_enabled=False)
    commit_files(make, project, {".gitlab-ci.yml": '{"job": {"script": "x"}}'}, branch="master", user=user)
    job = project_runner(make, project.id).must_take()
    assert job.upload({"a": b"1"}).status_code == 201
    assert api.post(f"/users/{user.id}/block", make.root).status_code == 201
    refused = [
        job.upload({"a": b"2"}),
        job.trace(b"more\n"),
        job.update("running"),
        job.finish(),
        api.request("GET", f"/jobs/{job.id}/artifacts", headers={"JOB-TOKEN": job.token}),
    ]
    assert [answer.status_code for answer in refused] == [403] * 5
    assert refused[0].json() == {"message": "403 Forbidden - The user of the job is blocked"}
    instance.work()
    assert (stored_job(make, job.id).status, stored_job(make, job.id).failure_reason) == ("failed", "user_blocked")
    assert job.update("running").headers["job-status"] == "failed"
    assert job.upload({"a": b"2"}).status_code == 403


def test_a_pipeline_of_three_stages(make: Make, instance: Instance) -> None:
    project = ci_project(make, THREE_STAGES)
    runner = project_runner(make, project.id)
    build = runner.must_take()
    assert (build.name, runner.take()) == ("compile", None)
    assert pipeline_status(make, project) == "running"
    answer = build.trace(b"first\n")
    assert (answer.status_code, answer.headers["range"], answer.headers["job-status"]) == (202, "0-6", "running")
    assert answer.headers["x-gitlab-trace-update-interval"] == "3"
    assert build.trace(b"second\n").headers["range"] == "0-13"
    assert build.upload({"out/a.txt": b"content"}, expire_in="1 day").status_code == 201
    assert build.finish().status_code == 200
    assert trace_store_of(instance.settings).read(build.id) == b"first\nsecond\n"
    tests = {job.name: job for job in (runner.must_take(), runner.must_take())}
    assert tests.keys() == {"unit", "flaky"}
    tests["unit"].trace(b"Coverage: 12.5%\nCoverage: 97.25%\n")
    assert tests["unit"].finish().status_code == 200
    assert tests["flaky"].finish("failed", failure_reason="script_failure", exit_code=1).status_code == 200
    publish = runner.must_take()
    (dependency,) = publish.payload["dependencies"]
    assert (dependency["id"], dependency["name"], dependency["token"]) == (build.id, "compile", publish.token)
    assert dependency["artifacts_file"].keys() == {"filename", "size"}
    assert publish.finish().status_code == 200
    assert pipeline_status(make, project) == "success"
    assert stored_job(make, tests["unit"].id).coverage == 97.25
    failed = stored_job(make, tests["flaky"].id)
    assert (failed.status, failed.failure_reason, failed.exit_code) == ("failed", "script_failure", 1)


def test_the_payload_has_everything_a_runner_needs(make: Make, instance: Instance) -> None:
    config: dict[str, Any] = {
        "image": {"name": "alpine", "entrypoint": [""]},
        "job": {
            "before_script": ["echo before"],
            "script": ["echo $GREETING", "echo end"],
            "after_script": ["echo after"],
            "services": [{"name": "postgres:16", "alias": "db", "command": ["-c", "x=1"]}],
            "variables": {"GREETING": "hello", "GIT_DEPTH": "7"},
            "timeout": "20 minutes",
            "cache": [
                {"key": "deps", "paths": ["vendor/"], "fallback_keys": ["old"]},
                {"paths": ["x"], "policy": "pull"},
            ],
            "artifacts": {
                "name": "$CI_JOB_NAME",
                "paths": ["out/"],
                "exclude": ["out/*.tmp"],
                "when": "always",
                "reports": {"junit": "report.xml", "dotenv": ["a.env"]},
            },
        },
    }
    project = ci_project(make, config)
    payload = project_runner(make, project.id).must_take().payload
    (pipeline,) = list_pipelines(make, project)
    token, base = payload["token"], instance.url
    assert payload["job_info"] | {"time_in_queue_seconds": 0} == {
        "id": payload["id"],
        "name": "job",
        "stage": "test",
        "project_id": project.id,
        "project_name": project.path.rpartition("/")[2],
        "project_full_path": project.path,
        "pipeline_id": pipeline["id"],
        "namespace_id": project.namespace_id,
        "user_id": make.root.id,
        "time_in_queue_seconds": 0,
        "project_jobs_running_on_instance_runners_count": "+Inf",
    }
    scheme, _, address = base.partition("://")
    assert payload["git_info"] == {
        "repo_url": f"{scheme}://gitlab-ci-token:{token}@{address}/{project.path}.git",
        "ref": "master",
        "sha": pipeline["sha"],
        "before_sha": "0" * 40,
        "ref_type": "branch",
        "refspecs": [
            f"+refs/pipelines/{pipeline['id']}:refs/pipelines/{pipeline['id']}",
            "+refs/heads/master:refs/remotes/origin/master",
        ],
        "depth": 7,
        "repo_object_format": "sha1",
        "protected": True,
    }
    assert payload["runner_info"] == {"timeout": 1200, "runner_session_url": None}
    assert payload["steps"] == [
        {
            "name": "script",
            "script": ["echo before", "echo $GREETING", "echo end"],
            "timeout": 1200,
            "when": "on_success",
            "allow_failure": False,
        },
        {"name": "after_script", "script": ["echo after"], "timeout": 1200, "when": "always", "allow_failure": True},
    ]
    assert (payload["image"]["name"], payload["image"]["entrypoint"]) == ("alpine", [""])
    (service,) = payload["services"]
    assert (service["name"], service["alias"], service["command"]) == ("postgres:16", "db", ["-c", "x=1"])
    assert [(entry["artifact_type"], entry["artifact_format"], entry["paths"]) for entry in payload["artifacts"]] == [
        ("archive", "zip", ["out/"]),
        ("junit", "gzip", ["report.xml"]),
        ("dotenv", "gzip", ["a.env"]),
    ]
    assert payload["artifacts"][0]["exclude"] == ["out/*.tmp"]
    assert [(entry["key"], entry["policy"], entry["fallback_keys"]) for entry in payload["cache"]] == [
        ("deps-protected", "pull-push", ["old-protected"]),
        ("default-protected", "pull", []),
    ]
    assert payload["credentials"] == [
        {"type": "registry", "url": address, "username": "gitlab-ci-token", "password": token}
    ]
    assert (payload["dependencies"], payload["allow_git_fetch"]) == ([], True)
    assert payload["features"]["trace_sections"] is True
    assert "job_canceled" in payload["features"]["failure_reasons"]
    variables = {variable["key"]: variable for variable in payload["variables"]}
    assert (variables["GREETING"]["value"], variables["CI_JOB_ID"]["value"]) == ("hello", str(payload["id"]))
    assert (variables["CI_JOB_TOKEN"]["value"], variables["CI_JOB_TOKEN"]["masked"]) == (token, True)


def test_artifacts_of_named_needed_and_earlier_jobs(make: Make) -> None:
    built = {"stage": "build", "script": "x", "artifacts": {"paths": ["a"]}}
    config: dict[str, Any] = {
        "stages": ["build", "test"],
        "one": built,
        "two": built,
        "copies": {**built, "parallel": 2},
        "all": {"stage": "test", "script": "x"},
        "none": {"stage": "test", "script": "x", "dependencies": []},
        "named": {"stage": "test", "script": "x", "dependencies": ["copies"]},
        "needing": {"stage": "test", "script": "x", "needs": ["one", {"job": "two", "artifacts": False}]},
    }
    project = ci_project(make, config)
    dependencies: dict[str, list[str]] = {}

    def execute(job: RunnerJob) -> None:
        dependencies[job.name] = [dependency["name"] for dependency in job.payload["dependencies"]]
        if job.payload["artifacts"]:
            assert job.upload({"a": b"1"}).status_code == 201
        assert job.finish().status_code == 200

    project_runner(make, project.id).run_all(execute)
    assert {name: sorted(names) for name, names in dependencies.items() if names} == {
        "all": ["copies 1/2", "copies 2/2", "one", "two"],
        "named": ["copies 1/2", "copies 2/2"],
        "needing": ["one"],
    }


def test_a_deleted_branch_does_not_prevent_the_fetch(make: Make, api: Api) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    runner = project_runner(make, project.id)
    runner.must_take().finish()
    commit_config(make, project, {"job": {"script": "x"}}, branch="topic", start_branch="master", action="update")
    assert api.delete(f"{project.url}/repository/branches/topic", make.root).status_code == 200
    git_info = runner.must_take().payload["git_info"]
    assert (git_info["ref"], [spec.partition("/")[2] for spec in git_info["refspecs"]]) == (
        "topic",
        [
            f"pipelines/{git_info['refspecs'][0].rpartition('/')[2]}:refs/pipelines/{git_info['refspecs'][0].rpartition('/')[2]}"
        ],
    )


def test_duplicate_and_out_of_order_parts(make: Make, instance: Instance) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    job = project_runner(make, project.id).must_take()
    assert job.trace(b"0123456789").headers["range"] == "0-10"
    for offset in (0, 5, 11, 50):
        answer = job.trace(b"again", offset)
        assert (answer.status_code, answer.headers["range"]) == (416, "0-10")
    assert job.trace(b"", 10).headers["range"] == "0-10"
    assert job.trace(b"abc", 10).headers["range"] == "0-13"
    assert trace_store_of(instance.settings).read(job.id) == b"0123456789abc"


def test_the_token_is_masked_in_the_trace(make: Make, instance: Instance) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    job = project_runner(make, project.id).must_take()
    token = job.token.encode()
    job.trace(b"token " + token[:5])
    job.trace(token[5:] + b" end")
    assert trace_store_of(instance.settings).read(job.id) == b"token " + b"x" * len(token) + b" end"
    assert job.finish().status_code == 200


def test_an_incomplete_trace_is_sent_again(make: Make) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    job = project_runner(make, project.id).must_take()
    job.trace(b"0123456789")
    answer = job.update("success", output={"checksum": "crc32:00000000", "bytesize": 15})
    assert (answer.status_code, answer.headers["range"]) == (412, "0-10")
    assert stored_job(make, job.id).status == "running"
    job.trace(b"abcde")
    assert job.finish().status_code == 200
    assert stored_job(make, job.id).status == "success"
    # The runner repeats a report whose answer was lost.
    assert job.finish().status_code == 200
    assert job.trace(b"late").status_code == 403


def test_the_whole_trace_in_the_result(make: Make, instance: Instance) -> None:
    """GitLab 9.4's protocol."""
    project = ci_project(make, {"job": {"script": "true"}})
    job = project_runner(make, project.id).must_take()
    assert job.update("success", trace="whole trace\u00e9").status_code == 200
    assert trace_store_of(instance.settings).read(job.id) == "whole trace\u00e9".encode()


def test_a_trace_beyond_the_limit_fails_the_job(make: Make) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    job = project_runner(make, project.id).must_take()
    part = b"x" * (10 * 2**20)
    for _ in range(10):
        assert job.trace(part).status_code == 202
    assert job.trace(b"the log was truncated").status_code == 202
    assert job.trace(part).status_code == 403
    failed = stored_job(make, job.id)
    assert (failed.status, failed.failure_reason) == ("failed", "trace_size_exceeded")


@pytest.mark.parametrize("graceful", [True, False])
def test_a_canceled_job(make: Make, api: Api, graceful: bool) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    runner = project_runner(make, project.id)
    if not graceful:
        runner.info = dict(OLD_INFO)
    job = runner.must_take()
    assert job.trace(b"working\n").headers["job-status"] == "running"
    assert api.post(f"{project.url}/jobs/{job.id}/cancel", make.root).status_code in (200, 201)
    expected = "canceling" if graceful else "canceled"
    assert job.update("running").headers["job-status"] == expected
    answer = job.trace(b"after_script\n")
    assert (answer.status_code, answer.headers["job-status"]) == (202, expected)
    # Old runners send the part again that told them of the cancellation.
    assert job.trace(b"after_script\n", 8).status_code == 416
    answer = job.finish("failed", failure_reason="job_canceled")
    assert (answer.status_code, answer.headers["job-status"]) == (200, "canceled")
    canceled = stored_job(make, job.id)
    assert (canceled.status, canceled.failure_reason) == ("canceled", None)


def test_wrong_tokens_reach_nothing(make: Make, instance: Instance) -> None:
    config = {"one": {"script": "true"}, "two": {"script": "true"}}
    project = ci_project(make, config)
    runner = project_runner(make, project.id)
    one, two = runner.must_take(), runner.must_take()
    one.trace(b"one")
    for token in (two.token, runner.token, make.root.token, "", "x" * 2000):
        for answer in (one.trace(b"forged", token=token), one.update("success", token=token)):
            assert answer.status_code in (400, 403), answer.text
    two.finish()
    assert two.trace(b"late").status_code == 403
    assert RunnerJob(make.api, {"id": 10**15, "token": one.token}).trace(b"x").status_code == 404
    assert stored_job(make, one.id).status == "running"
    assert trace_store_of(instance.settings).read(one.id) == b"one"
    for token in (one.token, two.token, make.root.token, "unknown"):
        assert make.api.post("/jobs/request", token=token).status_code == 403


@pytest.mark.parametrize("content_range", [None, "", "-5-3", "5", "a-b", "0-" + "9" * 40, "9" * 40 + "-1", "bytes 0-3"])
def test_invalid_ranges(make: Make, content_range: str | None) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    job = project_runner(make, project.id).must_take()
    headers = {"JOB-TOKEN": job.token, "Content-Type": "text/plain"}
    if content_range is not None:
        headers["Content-Range"] = content_range
    answer = make.api.request("PATCH", f"/jobs/{job.id}/trace", content=b"abc", headers=headers)
    assert answer.status_code == 400


@pytest.mark.parametrize(
    "fields",
    [
        {"exit_code": "x"},
        {"exit_code": 10**30},
        {"output": {"bytesize": -1}},
        {"output": {"bytesize": 10**30}},
        {"output": "text"},
        {"trace": ["a"]},
    ],
)
def test_invalid_results(make: Make, fields: dict[str, Any]) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    job = project_runner(make, project.id).must_take()
    assert job.update("failed", **fields).status_code == 400
    assert stored_job(make, job.id).status == "running"
    assert job.update("bogus").status_code == 400
    assert job.update("failed", failure_reason="no such reason").status_code == 200
    assert stored_job(make, job.id).failure_reason == "unknown_failure"


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"token": 5},
        {"token": ["a"]},
        {"token": "x" * 5000},
        {"token": "x", "info": []},
        {"token": "x", "last_update": "x" * 5000},
        {"token": "x", "system_id": {"a": 1}},
        {"token": "a\0"},
    ],
)
def test_invalid_polls(make: Make, sent: dict[str, Any]) -> None:
    assert make.api.post("/jobs/request", **sent).status_code in (400, 403)


def test_there_is_no_job_router(make: Make) -> None:
    answer = make.api.request("GET", "/runners/router/discovery", headers={"RUNNER-TOKEN": "x"})
    assert answer.status_code == 501


def test_the_jobs_of_a_runner(make: Make, api: Api) -> None:
    owner, developer = make.user(), make.user()
    project = ci_project(make, {"one": {"script": "true"}, "two": {"script": "true"}})
    runner = project_runner(make, project.id)
    one, two = runner.must_take(), runner.must_take()
    one.finish()
    url = f"/runners/{runner.id}/jobs"
    add_members(make, project, {owner: Level.MASTER, developer: Level.DEVELOPER})
    assert [job["id"] for job in api.get(url, owner).json()] == [two.id, one.id]
    assert [job["id"] for job in api.get(url, owner, status="running", sort="asc").json()] == [two.id]
    (first, second) = api.get(url, make.root, order_by="id", sort="asc").json()
    assert (first["status"], first["project"]["id"], second["pipeline"]["status"]) == ("success", project.id, "running")
    assert api.get(url, developer).status_code == 404
    assert api.get(url, owner, status="unknown").status_code == 400
    short = statements_of(make, lambda: api.get(url, owner, per_page=1, pagination="keyset"))
    assert statements_of(make, lambda: api.get(url, owner, per_page=2, pagination="keyset")) == short


def test_release_and_identity_of_a_job(api: Api, make: Make) -> None:
    """The runner creates the release after the script; other services verify the tokens of the job."""
    release = {
        "tag_name": "v$VERSION",
        "description": "About $VERSION",
        "milestones": ["m1"],
        "assets": {"links": [{"name": "file", "url": "https://files.example/$VERSION"}]},
    }
    tokens = {"ONE": {"aud": "https://$TARGET"}, "TWO": {"aud": ["a", "b"]}}
    job = {
        "script": ["make"],
        "after_script": ["end"],
        "release": release,
        "id_tokens": tokens,
        "environment": "production",
    }
    project = ci_project(make, {"variables": {"TARGET": "vault.example"}, "publish": job})
    taken = project_runner(make, project.id).must_take()
    steps = {step["name"]: step for step in taken.payload["steps"]}
    assert list(steps) == ["script", "release", "after_script"]
    (command,) = steps["release"]["script"]
    link = r'"{\"name\":\"file\",\"url\":\"https://files.example/$VERSION\"}"'
    assert 'release-cli create --description "About $VERSION" --tag-name "v$VERSION"' in command
    assert f'--milestone "m1" --assets-link {link}' in command
    assert steps["release"]["when"] == "on_success"
    variables = {each["key"]: each for each in taken.payload["variables"]}
    assert [(variables[name]["masked"], variables[name]["public"]) for name in tokens] == [(True, False)] * 2
    discovery = httpx.get(f"{api.url}/.well-known/openid-configuration").json()
    keys = KeySet.import_key_set(httpx.get(f"{api.url}/oauth/discovery/keys").json())
    claims = jwt.decode(variables["ONE"]["value"], keys, algorithms=["RS256"]).claims
    expected = {
        "iss": discovery["issuer"],
        "aud": "https://vault.example",
        "sub": f"project_path:{project.path}:ref_type:branch:ref:master",
        "project_path": project.path,
        "project_id": str(project.id),
        "ref": "master",
        "ref_path": "refs/heads/master",
        "ref_protected": "true",
        "job_id": str(taken.id),
        "pipeline_source": "push",
        "user_login": "root",
        "environment": "production",
    }
    assert {name: claims.get(name) for name in expected} == expected
    assert claims["nbf"] < claims["iat"] < claims["exp"]
    assert jwt.decode(variables["TWO"]["value"], keys, algorithms=["RS256"]).claims["aud"] == ["a", "b"]
    listed = api.get(f"{project.url}/jobs/{taken.id}", make.root).text
    assert variables["ONE"]["value"] not in listed


def test_subject_of_an_id_token(api: Api, make: Make) -> None:
    job = {"script": ["make"], "id_tokens": {"ONE": {"aud": "x"}}}
    chosen = {"ci_id_token_sub_claim_components": ["project_path", "ref"]}
    project = ci_project(make, {"publish": job}, **chosen)
    taken = project_runner(make, project.id).must_take()
    keys = KeySet.import_key_set(httpx.get(f"{api.url}/oauth/discovery/keys").json())
    claims = jwt.decode(taken.variables["ONE"], keys, algorithms=["RS256"]).claims
    assert claims["sub"] == f"project_path:{project.path}:ref:master"
