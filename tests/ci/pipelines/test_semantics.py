"""Semantics of configurations that are easy to get wrong, with a runner that executes the jobs."""

from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import RunnerJob, project_runner
from tests.client import Api, Make
from tests.factories import Project, make_project


def _statuses(make: Make, project: Project) -> dict[str, str]:
    (newest, *_) = list_pipelines(make, project)
    listed = make.api.get(f"{project.url}/pipelines/{newest['id']}/jobs", make.root, per_page=100).json()
    return {"pipeline": newest["status"], **{job["name"]: job["status"] for job in listed}}


def _run(make: Make, text: str, *failing: str) -> tuple[Project, list[str]]:
    """Push a configuration and execute its jobs; return their names in the order of execution."""
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": text})

    def execute(job: RunnerJob) -> None:
        assert job.finish("failed" if job.name in failing else "success").status_code == 200

    return project, project_runner(make, project.id).run_all(execute)


def test_only_matches_branches_and_tags_of_the_name(api: Api, make: Make) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": "job: {script: make, only: [main]}\n"})
    commit_files(make, project, {"a": "1"}, branch="other", start_branch="main")
    assert len(list_pipelines(make, project)) == 1
    assert api.post(f"{project.url}/repository/tags", make.root, tag_name="main", ref="other").status_code == 201
    assert len(list_pipelines(make, project)) == 2


def test_manual_jobs_block_only_within_rules(make: Make) -> None:
    text = "a: {stage: build, script: make, when: manual}\nb: {script: make}\n"
    project, names = _run(make, text)
    assert names == ["b"]
    assert _statuses(make, project) == {"pipeline": "success", "a": "manual", "b": "success"}
    text = "a: {stage: build, script: make, rules: [{when: manual}]}\nb: {script: make}\n"
    project, names = _run(make, text)
    assert names == []
    assert _statuses(make, project) == {"pipeline": "manual", "a": "manual", "b": "created"}


def test_needs_start_at_once_and_wait_for_manual_jobs(make: Make) -> None:
    text = """
stages: [one, two, three]
slow: {stage: one, script: make}
early: {stage: three, script: make, needs: []}
gate: {stage: one, script: make, when: manual}
after gate: {stage: two, script: make, needs: [gate]}
"""
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": text})
    statuses = _statuses(make, project)
    assert (statuses["slow"], statuses["early"]) == ("pending", "pending")
    project_runner(make, project.id).run_all()
    statuses = _statuses(make, project)
    assert statuses["pipeline"] == "success"
    assert statuses["after gate"] in ("created", "skipped")


def test_allowed_failures(make: Make) -> None:
    text = """
a: {stage: build, script: make, allow_failure: true}
b: {script: make}
c: {script: make, when: on_failure}
"""
    project, names = _run(make, text, "a")
    assert names == ["a", "b"]
    assert _statuses(make, project) == {"pipeline": "success", "a": "failed", "b": "success", "c": "skipped"}


def test_failures_run_jobs_for_failures_and_always(make: Make) -> None:
    text = """
a: {stage: build, script: make}
b: {script: make}
c: {script: make, when: on_failure}
d: {stage: deploy, script: make, when: always}
"""
    project, names = _run(make, text, "a")
    assert names == ["a", "c", "d"]
    assert _statuses(make, project)["pipeline"] == "failed"


def test_parallel_jobs_and_automatic_retries(make: Make) -> None:
    text = """
build: {stage: build, script: make, parallel: {matrix: [{OS: [a, b]}]}}
flaky: {stage: build, script: make, retry: 2}
test: {script: make, needs: ["build: [b]"]}
"""
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": text})
    seen: list[str] = []

    def execute(job: RunnerJob) -> None:
        seen.append(job.name)
        if job.name.startswith("build"):
            assert job.variables["CI_NODE_TOTAL"] == "2"
            assert f"[{job.variables['OS']}]" in job.name
        failed = job.name == "flaky" and seen.count("flaky") < 3
        assert job.finish("failed" if failed else "success").status_code == 200

    project_runner(make, project.id).run_all(execute)
    assert seen.count("flaky") == 3
    statuses = _statuses(make, project)
    assert (statuses["pipeline"], statuses["flaky"], statuses["test"]) == ("success", "success", "success")
