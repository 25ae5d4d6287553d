"""Pipelines that follow from pushes."""

from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.client import Make
from tests.factories import make_project

FILE = """
build:
  stage: build
  script: make
test:
  script: make test
"""


def test_push_creates_a_pipeline(make: Make) -> None:
    project = make_project(make)
    sha = commit_files(make, project, {".gitlab-ci.yml": FILE})
    (pipeline,) = list_pipelines(make, project)
    assert (pipeline["sha"], pipeline["ref"], pipeline["status"], pipeline["source"]) == (
        sha,
        "main",
        "pending",
        "push",
    )
