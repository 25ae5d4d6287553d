"""Pipelines from a push to their end, with a real server and a real runner.

``make runner-test RUNNER=path`` runs the same tests with a gitlab-runner.
"""

import io
import time
import zipfile
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.ci.own_runner.flow_server import FlowServer, flow_server
from tests.server.process import until

STAGES = """
stages: [build, test, deploy]

variables:
  GREETING: hello

compile:
  stage: build
  cache:
    key: counts
    paths: [cached/]
  script:
    - mkdir -p out cached
    - echo "$GREETING from $CI_COMMIT_REF_NAME" > out/result.txt
    - echo run >> cached/runs
    - echo "runs=$(wc -l < cached/runs)"
  artifacts:
    paths: [out/]
    expire_in: 1 week

unit:
  stage: test
  before_script: [cat out/result.txt]
  script:
    - |
      cat > report.xml <<END
      <testsuite name="unit"><testcase name="a"/><testcase name="b"><failure>no</failure></testcase></testsuite>
      END
  after_script: [echo "after $CI_JOB_STATUS"]
  artifacts:
    reports:
      junit: report.xml

sizes:
  stage: test
  parallel:
    matrix:
      - SIZE: [small, large]
  script: [echo "size=$SIZE"]

flaky:
  stage: test
  retry: 1
  script:
    - |
      test -e MARKER || { touch MARKER; exit 4; }
  after_script: [echo done]

lint:
  stage: test
  needs: []
  allow_failure: true
  script: [exit 3]

early:
  stage: deploy
  needs: [compile]
  script: [grep hello out/result.txt]

publish:
  stage: deploy
  when: manual
  script: [echo "published $(cat out/result.txt)"]

secret:
  stage: test
  script: [echo "value=$HIDDEN", echo "token=$CI_JOB_TOKEN"]
"""
SLEEPER = """
sleeper:
  script: [echo started, sleep 300]
  after_script: [echo "after $CI_JOB_STATUS"]
"""
MERGED = """
check:
  script: [sleep 1, echo checked]
"""


@pytest.fixture(scope="module")
def flow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlowServer]:
    """Yield a server with a runner."""
    with flow_server(tmp_path_factory.mktemp("flow")) as server:
        yield server


@pytest.fixture(scope="module")
def marker(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the path of a file by which a job knows that it runs again."""
    return (tmp_path_factory.mktemp("marker") / "again").as_posix()


class Staged(NamedTuple):
    """A project, its first pipeline, which has ended, and the jobs as they were then."""

    url: str
    pipeline: dict[str, Any]
    jobs: dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def staged(flow: FlowServer, marker: str) -> Staged:
    url = flow.project("stages", {"README.md": "Stages"})
    flow.call("POST", f"{url}/variables", 201, key="HIDDEN", value="very-secret-value", masked=True)
    flow.commit(url, {".gitlab-ci.yml": STAGES.replace("MARKER", marker)})
    pipeline = flow.wait_for_pipeline(url, flow.newest_pipeline(url)["id"])
    return Staged(url, pipeline, flow.jobs(url, pipeline["id"]))


def test_stages_run_in_order_and_pass_artifacts(flow: FlowServer, staged: Staged) -> None:
    """Jobs with needs start early; an allowed failure does not count; the manual job waits."""
    url, pipeline, jobs = staged
    assert pipeline["yaml_errors"] is None
    statuses = {name: job["status"] for name, job in jobs.items()}
    assert statuses == {
        "compile": "success",
        "unit": "success",
        "sizes: [small]": "success",
        "sizes: [large]": "success",
        "flaky": "success",
        "lint": "failed",
        "early": "success",
        "publish": "manual",
        "secret": "success",
    }, {name: flow.trace(url, job) for name, job in jobs.items() if job["status"] == "failed" and name != "lint"}
    assert pipeline["status"] == "success"
    assert "hello from main" in flow.trace(url, jobs["unit"])
    assert "after success" in flow.trace(url, jobs["unit"])
    assert "size=large" in flow.trace(url, jobs["sizes: [large]"])
    assert jobs["lint"]["failure_reason"] == "script_failure"
    assert jobs["compile"]["runner"] is not None and jobs["compile"]["duration"] is not None


def test_secrets_are_masked_in_traces(flow: FlowServer, staged: Staged) -> None:
    """A masked variable and the job's token."""
    trace = flow.trace(staged.url, staged.jobs["secret"])
    assert "value=[MASKED]" in trace and "token=[MASKED]" in trace
    assert "very-secret-value" not in trace


def test_artifacts_are_stored(flow: FlowServer, staged: Staged) -> None:
    """The archive, one file of it, and both by the name of the branch."""
    url, _, jobs = staged
    job = jobs["compile"]
    with zipfile.ZipFile(io.BytesIO(flow.call("GET", f"{url}/jobs/{job['id']}/artifacts", 200))) as archive:
        files = [name for name in archive.namelist() if not name.endswith("/")]
        assert files == ["out/result.txt"]
        assert archive.read("out/result.txt") == b"hello from main\n"
    expected = b"hello from main\n"
    assert flow.server.call("GET", f"{url}/jobs/{job['id']}/artifacts/out/result.txt").content == expected
    by_ref = f"{url}/jobs/artifacts/main/raw/out/result.txt?job=compile"
    assert flow.server.call("GET", by_ref).content == expected
    assert job["artifacts_file"]["size"] > 0 and job["artifacts_expire_at"] is not None


def test_junit_reports_are_read(flow: FlowServer, staged: Staged) -> None:
    """The test report of the pipeline counts the cases."""
    url, pipeline, _ = staged
    report = flow.call("GET", f"{url}/pipelines/{pipeline['id']}/test_report", 200)
    assert (report["total_count"], report["failed_count"]) == (2, 1)


def test_a_failed_job_is_retried_automatically(flow: FlowServer, staged: Staged) -> None:
    """Both attempts are listed."""
    url, pipeline, _ = staged
    attempts = [
        job["status"]
        for job in flow.call("GET", f"{url}/pipelines/{pipeline['id']}/jobs", 200, include_retried=True, per_page=100)
        if job["name"] == "flaky"
    ]
    assert sorted(attempts) == ["failed", "success"]


def test_a_manual_job_is_played_and_retried(flow: FlowServer, staged: Staged) -> None:
    """It gets the artifacts of the jobs before it; a retried job is a new one."""
    url, _, jobs = staged
    job = jobs["publish"]
    flow.call("POST", f"{url}/jobs/{job['id']}/play", 200)
    played = flow.wait_for_job(url, job["id"], lambda job: job["status"] in ("success", "failed"))
    assert played["status"] == "success", flow.trace(url, played)
    assert "published hello from main" in flow.trace(url, played)
    again = flow.call("POST", f"{url}/jobs/{job['id']}/retry", 201)
    assert again["id"] != job["id"]
    assert flow.wait_for_job(url, again["id"], lambda job: job["status"] == "success")


def test_caches_are_reused(flow: FlowServer, staged: Staged) -> None:
    """The second pipeline finds the cache of the first one, on the same runner."""
    url, pipeline, _ = staged
    flow.wait_for_pipeline(url, pipeline["id"])
    flow.commit(url, {"second.txt": "x"})
    second = flow.newest_pipeline(url)
    job_id = flow.jobs(url, second["id"])["compile"]["id"]
    job = flow.wait_for_job(url, job_id, lambda job: job["status"] in ("success", "failed"))
    trace = until("the trace", lambda: flow.trace(url, job))
    assert "runs=2" in trace or "runs=1" in trace
    assert "runs=2" in trace, trace


def test_a_running_job_is_canceled(flow: FlowServer) -> None:
    """The process is stopped, the job stays canceled, and the runner takes the next job."""
    url = flow.project("sleeper", {".gitlab-ci.yml": SLEEPER})
    pipeline = flow.newest_pipeline(url)
    job = flow.jobs(url, pipeline["id"])["sleeper"]
    until("the start of the job", lambda: "\nstarted" in flow.trace(url, job).replace("\r", "\n"))
    began = time.monotonic()
    flow.call("POST", f"{url}/jobs/{job['id']}/cancel", 201)
    canceled = flow.wait_for_job(url, job["id"], lambda job: job["status"] == "canceled")
    assert time.monotonic() - began < 100
    assert flow.wait_for_pipeline(url, pipeline["id"])["status"] == "canceled"
    again = flow.call("POST", f"{url}/jobs/{canceled['id']}/retry", 201)
    flow.wait_for_job(url, again["id"], lambda job: job["status"] == "running")
    flow.call("POST", f"{url}/pipelines/{pipeline['id']}/cancel", 200)
    assert flow.wait_for_job(url, again["id"], lambda job: job["status"] == "canceled")


def test_a_merge_request_merges_when_its_pipeline_succeeds(flow: FlowServer) -> None:
    """The runner's report of the last job leads to the merge."""
    url = flow.project("merge", {".gitlab-ci.yml": MERGED})
    flow.wait_for_pipeline(url, flow.newest_pipeline(url)["id"], "success")
    flow.commit(url, {"feature.txt": "x"}, branch="feature", start_branch="main")
    made = flow.call(
        "POST", f"{url}/merge_requests", 201, source_branch="feature", target_branch="main", title="Feature"
    )
    merge_request = f"{url}/merge_requests/{made['iid']}"
    answer = flow.server.call("PUT", f"{merge_request}/merge", json={"merge_when_pipeline_succeeds": True})
    assert answer.status_code == 200, answer.text
    until("the merge", lambda: flow.call("GET", merge_request, 200)["state"] == "merged")
    assert flow.newest_pipeline(url, ref="feature")["status"] == "success"
