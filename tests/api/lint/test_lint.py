"""CI lint of the instance: valid and invalid files, and files that must not be read."""

from tests.client import Api, Make
from tests.conftest import Instance


def test_valid_file(api: Api) -> None:
    answer = api.post("/ci/lint", content="test:\n  script: make test\n")

    assert answer.status_code == 200
    assert answer.json() == {"status": "valid", "errors": [], "warnings": []}


def test_errors_name_job_and_key(api: Api) -> None:
    answer = api.post("/ci/lint", content="test:\n  script: make\n  stage: review\n  tags: one\n").json()

    assert answer["status"] == "invalid"
    assert "jobs:test:tags config should be an array of strings" in answer["errors"]


def test_keywords_without_effect_are_warnings(api: Api) -> None:
    answer = api.post("/ci/lint", content="test:\n  script: make\n  hooks: {pre_get_sources_script: x}\n").json()

    assert answer["status"] == "valid"
    assert "hooks" in answer["warnings"][0]


def test_missing_and_hostile_content(api: Api, make: Make) -> None:
    assert api.post("/ci/lint").json() == {"message": '400 (Bad request) "content" not given'}
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    for content in (bomb, "[" * 100_000, "a: *a", "test: 1", "include: http://127.0.0.1/x.yml\nt: {script: x}"):
        answer = api.post("/ci/lint", make.root, content=content)
        assert (answer.status_code, answer.json()["status"]) == (200, "invalid"), content[:40]


def test_other_projects_are_not_read(api: Api, make: Make) -> None:
    content = "include: {project: group/secret, file: ci.yml}\ntest: {script: make}\n"

    assert api.post("/ci/lint", make.root, content=content).json()["errors"] == [
        "Project `group/secret` not found or access denied!"
    ]


def test_templates_without_effect_are_warnings(api: Api) -> None:
    text = "include: [{template: Security/BAS.latest.gitlab-ci.yml}, {template: Security/SAST}]\nstages: [test, dast]"
    linted = api.post("/ci/lint", content=text).json()
    assert linted["status"] == "valid", linted
    (warning,) = linted["warnings"]
    assert warning.startswith("Template `Security/BAS.latest.gitlab-ci.yml` has no effect: it needs")
    refused = api.post("/ci/lint", content="include: [{template: Security/Unknown}]").json()
    assert "Template file `Security/Unknown` is not a valid location!" in refused["errors"][0]


def test_a_file_is_parsed_without_a_write_transaction(api: Api, make: Make, instance: Instance) -> None:
    """It would have to wait for the transaction of the test, and respond with 503."""
    answers = instance.app.database.write(
        lambda _db: [api.post("/ci/lint", caller, content="test: {script: make}") for caller in (None, make.root)]
    )
    assert [(answer.status_code, answer.json()["status"]) for answer in answers] == [(200, "valid")] * 2


def test_anonymous_callers_send_short_files_only(api: Api, make: Make) -> None:
    content = "".join(f"key{number}: 1\n" for number in range(8_000))

    refused = api.post("/ci/lint", content=content)
    assert refused.status_code == 400
    assert refused.json() == {"message": {"content": ["is too long (maximum is 65536 bytes without a token)"]}}
    assert api.post("/ci/lint", make.root, content=content).json()["status"] == "invalid"
