"""Variables, failures, reports and merge requests, with a real server and a real runner."""

from collections.abc import Iterator

import pytest

from tests.ci.own_runner.flow_server import FlowServer, flow_server

VARIABLES = """
show:
  variables:
    LOCAL: "$NESTED-x"
  script:
    - cat $CERTIFICATE; echo
    - echo "raw=$RAW protected=$PROTECTED local=$LOCAL"
"""
FAILURES = """
stages: [first, second, third]

broken:
  stage: first
  script: [mkdir out, echo x > out/file, exit 7]
  artifacts:
    paths: [out]
    when: on_failure

allowed:
  stage: first
  script: [exit 42]
  allow_failure:
    exit_codes: [42]

reported:
  stage: first
  script: [echo "VERSION=1.2.3" > build.env]
  artifacts:
    reports:
      dotenv: build.env

later:
  stage: second
  script: [echo never]

rescue:
  stage: second
  when: on_failure
  script: [ls out, echo "version=$VERSION"]

final:
  stage: third
  when: always
  script: [echo always]

slow:
  stage: first
  timeout: 2s
  allow_failure: true
  script: [sleep 60]
"""
MERGE_REQUESTS = """
job:
  script: [echo "iid=$CI_MERGE_REQUEST_IID from=$CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"]
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
"""


@pytest.fixture(scope="module")
def flow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlowServer]:
    """Yield a server with a runner."""
    with flow_server(tmp_path_factory.mktemp("flow")) as server:
        yield server


def test_variables_reach_jobs(flow: FlowServer) -> None:
    """Files, raw and nested values; protected ones only on protected branches."""
    url = flow.project("variables", {"README.md": "x"})
    for key, value, options in (
        ("CERTIFICATE", "first\nsecond $HOME", {"variable_type": "file", "raw": True}),
        ("RAW", "a$B", {"raw": True}),
        ("PROTECTED", "shielded", {"protected": True}),
        ("NESTED", "in-$CI_PROJECT_NAME", {}),
    ):
        flow.call("POST", f"{url}/variables", 201, key=key, value=value, **options)
    flow.commit(url, {".gitlab-ci.yml": VARIABLES})
    flow.commit(url, {"other.txt": "x"}, branch="other", start_branch="main")
    traces = {}
    for branch in ("main", "other"):
        pipeline = flow.wait_for_pipeline(url, flow.newest_pipeline(url, ref=branch)["id"])
        traces[branch] = flow.trace(url, flow.jobs(url, pipeline["id"])["show"]).replace("\r", "")
    assert "first\nsecond $HOME\n" in traces["main"]
    assert "raw=a$B protected=shielded local=in-variables-x\n" in traces["main"]
    assert "raw=a$B protected= local=in-variables-x\n" in traces["other"]


def test_failures_and_their_followers(flow: FlowServer) -> None:
    """Jobs after a failure, allowed exit codes, artifacts of a failed job, reported variables and a timeout."""
    url = flow.project("failures", {".gitlab-ci.yml": FAILURES})
    pipeline = flow.wait_for_pipeline(url, flow.newest_pipeline(url)["id"])
    jobs = flow.jobs(url, pipeline["id"])
    assert {name: job["status"] for name, job in jobs.items()} == {
        "broken": "failed",
        "allowed": "failed",
        "reported": "success",
        "slow": "failed",
        "later": "skipped",
        "rescue": "success",
        "final": "success",
    }
    assert pipeline["status"] == "failed"
    assert jobs["slow"]["failure_reason"] == "job_execution_timeout"
    assert "version=1.2.3" in flow.trace(url, jobs["rescue"])
    assert flow.server.call("GET", f"{url}/jobs/{jobs['broken']['id']}/artifacts/out/file").content == b"x\n"


def test_a_merge_request_has_a_pipeline(flow: FlowServer) -> None:
    """Its jobs know the merge request, and its commit is fetched although it is on no branch of the clone."""
    url = flow.project("requests", {".gitlab-ci.yml": MERGE_REQUESTS})
    flow.commit(url, {"feature.txt": "x"}, branch="feature", start_branch="main")
    flow.call("POST", f"{url}/merge_requests", 201, source_branch="feature", target_branch="main", title="Feature")
    pipeline = flow.wait_for_pipeline(url, flow.newest_pipeline(url)["id"])
    assert (pipeline["source"], pipeline["status"]) == ("merge_request_event", "success")
    assert "iid=1 from=feature" in flow.trace(url, flow.jobs(url, pipeline["id"])["job"])
