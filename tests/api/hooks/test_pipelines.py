"""Payloads of pipeline and job events for reported commit statuses."""

from tests.api.hooks.conftest import HookedProject
from tests.api.hooks.test_events import PROJECT, REPOSITORY, write_file
from tests.ci.runner_client import project_runner
from tests.client import Make
from tests.conftest import Instance

JOB = {
    "object_kind", "ref", "tag", "before_sha", "sha", "build_id", "build_name", "build_stage", "build_status",
    "build_started_at", "build_finished_at", "build_duration", "build_allow_failure", "project_id", "project_name",
    "user", "commit", "repository",
}  # fmt: skip
JOB_COMMIT = {
    "id", "sha", "message", "author_name", "author_email", "status", "duration", "started_at", "finished_at",
}  # fmt: skip


def test_pipeline_events(hooked: HookedProject) -> None:
    """Sent whenever the status of a pipeline changes."""
    oid = write_file(hooked, "a")
    hooked.next("Push Hook")
    hooked.post(f"/statuses/{oid}", state="running", name="ci", ref="master")
    hooked.next("Job Hook")
    running = hooked.next("Pipeline Hook")
    assert (running["object_kind"], running["object_attributes"]["status"]) == ("pipeline", "running")
    hooked.post(f"/statuses/{oid}", state="success", name="ci", ref="master")
    hooked.next("Job Hook")
    done = hooked.next("Pipeline Hook")
    attributes = done["object_attributes"]
    assert attributes.keys() >= {"id", "ref", "tag", "sha", "before_sha", "status", "stages", "created_at",
                                 "finished_at", "duration"}  # fmt: skip
    assert (attributes["ref"], attributes["sha"], attributes["status"]) == ("master", oid, "success")
    assert done["project"].keys() >= PROJECT
    assert "homepage" not in done["project"]
    assert done["commit"]["id"] == oid
    (build,) = done["builds"]
    assert build.keys() >= {"id", "stage", "name", "status", "created_at", "started_at", "finished_at", "when",
                            "manual", "user", "runner", "artifacts_file"}  # fmt: skip
    assert (build["name"], build["status"]) == ("ci", "success")


def test_job_events(hooked: HookedProject, instance: Instance) -> None:
    """Sent for each reported commit status, before the pipeline event that follows."""
    oid = write_file(hooked, "a")
    hooked.next("Push Hook")
    status = hooked.post(f"/statuses/{oid}", state="running", name="ci", ref="master")
    running = hooked.next("Job Hook")
    assert running.keys() >= JOB
    assert running["commit"].keys() >= JOB_COMMIT
    assert running["repository"].keys() >= REPOSITORY | {"git_http_url", "git_ssh_url", "visibility_level"}
    assert (running["object_kind"], running["build_id"], running["build_name"]) == ("build", status["id"], "ci")
    assert (running["build_status"], running["build_duration"], running["ref"]) == ("running", None, "master")
    assert (running["sha"], running["commit"]["sha"], running["commit"]["status"]) == (oid, oid, "running")
    assert (running["commit"]["message"], running["commit"]["author_email"]) == ("Write a", "admin@example.com")
    assert running["commit"]["author_url"] == f"{instance.url}/root"
    assert (running["user"]["id"], running["user"]["email"]) == (1, "admin@example.com")
    assert hooked.next("Pipeline Hook")["object_attributes"]["id"] == running["commit"]["id"]

    # A report with the same status is no change.
    hooked.post(f"/statuses/{oid}", state="running", name="ci", ref="master", description="Still")
    hooked.post(f"/statuses/{oid}", state="failed", name="lint", ref="master")
    assert hooked.next("Job Hook")["build_name"] == "lint"
    hooked.post(f"/statuses/{oid}", state="success", name="ci", ref="master")
    done = hooked.next("Job Hook")
    assert (done["build_status"], done["commit"]["status"]) == ("success", "failed")
    assert done["build_duration"] >= 0
    assert hooked.next("Pipeline Hook")["object_attributes"]["status"] == "failed"


def test_events_of_jobs_that_runners_execute(hooked: HookedProject, make: Make) -> None:
    """In the order of the changes: a job starts and ends, then its pipeline follows."""
    text = "test: {script: make, environment: live}\nlater: {script: make, stage: deploy, when: manual}\n"
    action = {"action": "create", "file_path": ".gitlab-ci.yml", "content": text}
    write_file(hooked, ".gitlab-ci.yml", actions=[action])
    hooked.next("Push Hook")
    waiting = hooked.next("Job Hook")
    assert (waiting["build_name"], waiting["build_status"], waiting["runner"]) == ("test", "pending", None)
    assert waiting["environment"] == {"name": "live", "action": "start", "deployment_tier": "production"}
    pending = hooked.next("Pipeline Hook")
    assert (pending["object_attributes"]["status"], pending["object_attributes"]["stages"]) == (
        "pending",
        ["test", "deploy"],
    )
    runner = project_runner(make, hooked.project.id, description="builder", tag_list="a")
    job = runner.must_take()
    running = hooked.next("Job Hook")
    assert (running["build_id"], running["build_status"], running["pipeline_id"]) == (
        job.id,
        "running",
        pending["object_attributes"]["id"],
    )
    assert (running["runner"]["id"], running["runner"]["tags"]) == (runner.id, ["a"])
    assert hooked.next("Pipeline Hook")["object_attributes"]["status"] == "running"
    assert job.finish("failed", failure_reason="script_failure").status_code == 200
    ended = [hooked.next("Job Hook") for _ in range(2)]
    assert [(each["build_name"], each["build_status"]) for each in ended] == [("test", "failed"), ("later", "skipped")]
    assert ended[0]["build_failure_reason"] == "script_failure"
    assert ended[0]["build_duration"] is not None
    done = hooked.next("Pipeline Hook")
    builds = {build["name"]: build for build in done["builds"]}
    assert (builds["later"]["when"], builds["later"]["manual"]) == ("manual", True)
    assert builds["test"]["runner"]["description"] == "builder"
    assert done["object_attributes"]["duration"] is not None
