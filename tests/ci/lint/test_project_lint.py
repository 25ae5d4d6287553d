"""CI lint of a project: its files, branches and variables."""

import yaml

from ingot.core.access.levels import Level
from tests.ci.pipelines.files import commit_files
from tests.client import Api, Make
from tests.factories import make_project

FILE = """
include: ci/jobs.yml
stages: [build, test]
.base: {script: make}
build: {extends: .base, stage: build}
"""
JOBS = """
test:
  script: make test
  rules:
    - if: $CI_COMMIT_BRANCH == "release"
"""


def test_committed_configuration(api: Api, make: Make) -> None:
    project = make_project(make)
    nothing = api.get(f"{project.url}/ci/lint", make.root).json()
    assert (nothing["valid"], nothing["errors"]) == (False, ["Please provide content of .gitlab-ci.yml"])
    commit_files(make, project, {".gitlab-ci.yml": FILE, "ci/jobs.yml": JOBS})
    answer = api.get(f"{project.url}/ci/lint", make.root, include_jobs=True).json()
    assert (answer["valid"], answer["errors"], answer["warnings"]) == (True, [], [])
    assert answer["includes"] == [{"type": "local", "location": "ci/jobs.yml", "extra": {}}]
    assert [job["name"] for job in answer["jobs"]] == ["test", "build"]
    merged = yaml.safe_load(answer["merged_yaml"])
    assert merged["build"]["script"] == "make"
    assert "include" not in merged
    assert "jobs" not in api.get(f"{project.url}/ci/lint", make.root).json()
    assert api.get(f"{project.url}/ci/lint", make.root, content_ref="missing").status_code == 404


def test_content_for_a_project_without_commits(api: Api, make: Make) -> None:
    project = make_project(make)
    for dry_run in (False, True):
        answer = api.post(f"{project.url}/ci/lint", make.root, content="test: {script: make}", dry_run=dry_run)
        assert (answer.status_code, answer.json()["valid"]) == (200, True), answer.text
    included = api.post(f"{project.url}/ci/lint", make.root, content=FILE)
    assert (included.status_code, included.json()["valid"]) == (200, False), included.text
    changed = "test: {script: make, rules: [{changes: [a]}, {exists: [b]}]}"
    assert api.post(f"{project.url}/ci/lint", make.root, content=changed, dry_run=True).status_code == 200


def test_dry_run_for_a_branch(api: Api, make: Make) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": FILE, "ci/jobs.yml": JOBS})

    def names(**options: object) -> list[str]:
        answer = api.post(f"{project.url}/ci/lint", make.root, content=FILE, dry_run=True, include_jobs=True, **options)
        assert answer.status_code == 200
        return [job["name"] for job in answer.json()["jobs"]]

    assert names() == ["build"]
    assert names(ref="release") == ["test", "build"]
    filtered = "workflow: {rules: [{when: never}]}\ntest: {script: make}\n"
    refused = api.post(f"{project.url}/ci/lint", make.root, content=filtered, dry_run=True).json()
    assert refused["errors"] == ["Pipeline filtered out by workflow rules."]
    broken = api.post(f"{project.url}/ci/lint", make.root, content="test: {stage: x}").json()
    assert broken["valid"] is False
    assert broken["merged_yaml"] is None


def test_lint_shows_no_value_that_the_caller_may_not_use(api: Api, make: Make) -> None:
    """Attack: a file whose error message contains a variable."""
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": FILE, "ci/jobs.yml": JOBS})
    developer, reporter = make.user(), make.user()
    for user, level in ((developer, Level.DEVELOPER), (reporter, Level.REPORTER)):
        api.post(f"{project.url}/members", make.root, user_id=user.id, access_level=int(level))
    for key, attributes in (("OPEN", {}), ("HIDDEN", {"masked": True}), ("GUARDED", {"protected": True})):
        sent = {"key": key, "value": f"value-of-{key}", **attributes}
        assert api.post(f"{project.url}/variables", make.root, **sent).status_code == 201
    content = "include: '$OPEN $HIDDEN $GUARDED.yml'\ntest: {script: make}\n"
    assert api.post(f"{project.url}/ci/lint", reporter, content=content).status_code == 403
    protected = api.post(f"{project.url}/ci/lint", developer, content=content, ref="main").text
    assert "value-of" not in protected
    other = api.post(f"{project.url}/ci/lint", developer, content=content, ref="feature").text
    assert "value-of-OPEN [MASKED] .yml" in other
