"""Limits of the default plan, and their effects."""

from collections.abc import Iterator

import pytest

from tests.ci.artifacts.files import gzip_of, upload
from tests.ci.pipelines.files import commit_files
from tests.ci.pipelines.rows import PipelineRows
from tests.client import Api, Make
from tests.factories import make_project

PATH = "/application/plan_limits"
DEFAULTS = {
    "ci_instance_level_variables": 0,
    "ci_needs_size_limit": 50,
    "ci_pipeline_schedules": 0,
    "dotenv_size": 5120,
    "dotenv_variables": 20,
    "generic_packages_max_file_size": 5_368_709_120,
    "maven_max_file_size": 3_221_225_472,
    "npm_max_file_size": 524_288_000,
    "pypi_max_file_size": 3_221_225_472,
}
CI_FILE = "a:\n  script: [a]\nb:\n  script: [b]\nc:\n  needs: [a, b]\n  script: [c]\n"


@pytest.fixture(autouse=True)
def _defaults(api: Api, make: Make) -> Iterator[None]:
    yield
    assert api.put("/application/settings", make.root, **{**DEFAULTS, "ci_needs_size_limit": None}).status_code == 200


def _change(make: Make, **limits: int) -> None:
    changed = make.api.put(PATH, make.root, plan_name="default", **limits)
    assert (changed.status_code, changed.json()) == (200, {**DEFAULTS, **limits})
    assert make.api.get(PATH, make.root, plan_name="default").json() == changed.json()


def test_limits_are_those_with_an_effect(api: Api, make: Make) -> None:
    assert api.get(PATH, make.root).json() == DEFAULTS
    refused = api.put(PATH, make.root, plan_name="default", conan_max_file_size=5, ci_pipeline_size=7, dotenv_size=9)
    assert (refused.status_code, refused.json()) == (
        400,
        {
            "message": {
                "conan_max_file_size": ["cannot be changed to 5: not supported by this server"],
                "ci_pipeline_size": ["cannot be changed to 7: not supported by this server"],
            }
        },
    )
    for params in (
        {"dotenv_size": 9},
        {"plan_name": "gold", "dotenv_size": 9},
        {"plan_name": "default", "dotenv_size": 0},
        {"plan_name": "default", "ci_pipeline_schedules": -1},
        {"plan_name": "default", "npm_max_file_size": 2**63},
    ):
        assert api.put(PATH, make.root, **params).status_code == 400, params
    assert api.get(PATH, make.root).json() == api.put(PATH, make.root, plan_name="default").json() == DEFAULTS
    assert api.get(PATH, make.root, plan_name="gold").status_code == 400
    user = make.user()
    assert api.get(PATH, user).status_code == api.put(PATH, user, plan_name="default").status_code == 403


def test_number_of_needs(api: Api, make: Make) -> None:
    """The limit also applies to configurations that were valid before, which are cached."""
    project = make_project(make, default_branch="main")
    commit_files(make, project, {".gitlab-ci.yml": CI_FILE})
    assert api.post(f"{project.url}/pipeline", make.root, ref="main").status_code == 201
    _change(make, ci_needs_size_limit=1)
    message = "one job can only need 1 others"
    assert message in api.post(f"{project.url}/pipeline", make.root, ref="main").text
    assert message in api.get(f"{project.url}/ci/lint", make.root).text
    assert message in api.post("/ci/lint", content=CI_FILE).text
    _change(make, ci_needs_size_limit=2)
    assert api.post(f"{project.url}/pipeline", make.root, ref="main").status_code == 201


def test_number_of_schedules(api: Api, make: Make) -> None:
    project = make_project(make, default_branch="main")
    commit_files(make, project, {".gitlab-ci.yml": CI_FILE})
    sent = {"description": "Nightly", "ref": "main", "cron": "0 3 * * *"}
    url = f"{project.url}/pipeline_schedules"
    _change(make, ci_pipeline_schedules=1)
    assert api.post(url, make.root, **sent).status_code == 201
    refused = api.post(url, make.root, **sent)
    expected = {"message": {"base": ["Maximum number of pipeline schedules (1) exceeded"]}}
    assert (refused.status_code, refused.json()) == (400, expected)


def test_number_of_variables_of_the_instance(api: Api, make: Make) -> None:
    """Variables of projects do not count."""
    url, key = "/admin/ci/variables", make.name("VARIABLE").replace("-", "_")
    _change(make, ci_instance_level_variables=len(api.get(url, make.root, per_page=100).json()) + 1)
    assert api.post(url, make.root, key=key, value="x").status_code == 201
    assert api.post(url, make.root, key=f"{key}_2", value="x").status_code == 400
    project = make_project(make)
    for number in range(3):
        assert api.post(f"{project.url}/variables", make.root, key=f"K{number}", value="x").status_code == 201
    assert api.delete(f"{url}/{key}", make.root).status_code == 200


def test_size_of_dotenv_reports(api: Api, make: Make) -> None:
    rows = PipelineRows(make, "build 0")
    rows.process()
    token, job = rows.start("build"), rows.job("build")

    def report(content: bytes) -> int:
        query = {"artifact_type": "dotenv", "artifact_format": "gzip"}
        return upload(api, job.id, token, gzip_of(content), ".env.gz", **query).status_code

    _change(make, dotenv_size=100, dotenv_variables=2)
    assert [report(b"A=1\nB=2\n"), report(b"A=1\nB=2\nC=3\n"), report(b"A=" + b"x" * 100)] == [201, 400, 400]


def test_size_of_packages(api: Api, make: Make) -> None:
    project = make_project(make)
    url = f"{project.url}/packages/generic/tool/1.0/file"
    _change(make, generic_packages_max_file_size=10)
    assert api.request("PUT", url, make.root, content=b"x" * 11).status_code == 413
    _change(make, generic_packages_max_file_size=11)
    assert api.request("PUT", url, make.root, content=b"x" * 11).status_code == 201
