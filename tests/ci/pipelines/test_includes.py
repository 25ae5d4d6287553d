"""Included files of a configuration: of the commit, other projects, templates, components and other servers."""

from typing import Any

import pytest

from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.client import Make
from tests.factories import Project, make_project

JOB = "{name}: {{script: make}}\n"


def _newest(make: Make, project: Project) -> tuple[list[str], str | None]:
    (pipeline, *_) = list_pipelines(make, project)
    shown: dict[str, Any] = make.api.get(f"{project.url}/pipelines/{pipeline['id']}", make.root).json()
    jobs = make.api.get(f"{project.url}/pipelines/{pipeline['id']}/jobs", make.root).json()
    return sorted(job["name"] for job in jobs), shown["yaml_errors"]


def test_local_files_and_their_changes(make: Make) -> None:
    """A changed file is read again although the configuration that includes it is cached."""
    project = make_project(make)
    files = {
        ".gitlab-ci.yml": "include: [/ci/a.yml, 'ci/parts/**.yml']\nmain: {script: make}\n",
        "ci/a.yml": "include: ci/b.yml\n" + JOB.format(name="a"),
        "ci/b.yml": JOB.format(name="b"),
        "ci/parts/c.yml": JOB.format(name="c"),
    }
    commit_files(make, project, files)
    assert _newest(make, project) == (["a", "b", "c", "main"], None)
    commit_files(make, project, {"ci/b.yml": JOB.format(name="changed")}, action="update")
    assert _newest(make, project) == (["a", "c", "changed", "main"], None)
    commit_files(make, project, {"ci/parts/d.yml": JOB.format(name="d")})
    assert _newest(make, project)[0] == ["a", "c", "changed", "d", "main"]


def test_cached_files_are_compared(make: Make) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": "include: a.yml\n", "a.yml": JOB.format(name="one")})
    assert _newest(make, project) == (["one"], None)
    commit_files(make, project, {"a.yml": JOB.format(name="two")}, action="update")
    assert _newest(make, project) == (["two"], None)
    commit_files(make, project, {"README": "text"})
    assert _newest(make, project) == (["two"], None)


def test_variables_in_paths_and_rules(make: Make) -> None:
    project = make_project(make)
    text = """
include:
  - local: $CI_COMMIT_REF_NAME.yml
  - local: extra.yml
    rules: [{if: $CI_COMMIT_BRANCH == "other"}]
"""
    files = {".gitlab-ci.yml": text, "extra.yml": JOB.format(name="extra")}
    names = {"main.yml": JOB.format(name="of main"), "other.yml": JOB.format(name="of other")}
    commit_files(make, project, files | names)
    assert _newest(make, project) == (["of main"], None)
    commit_files(make, project, {"README": "text"}, branch="other", start_branch="main")
    assert _newest(make, project) == (["extra", "of other"], None)


def test_other_projects(make: Make) -> None:
    """Attack: a pusher includes a file of a project that they may not read, or asks whether it exists."""
    owner = make.user()
    shared, hidden = make_project(make, visibility="public"), make_project(make, visibility="private")
    for project in (shared, hidden):
        commit_files(make, project, {"ci.yml": JOB.format(name="included")})
    own = make_project(make, owner)
    include = f"include: {{project: {shared.path}, file: /ci.yml, ref: main}}\n"
    commit_files(make, own, {".gitlab-ci.yml": include}, user=owner)
    assert _newest(make, own) == (["included"], None)
    secret = include.replace(shared.path, hidden.path)
    commit_files(make, own, {".gitlab-ci.yml": secret}, user=owner, action="update")
    names, errors = _newest(make, own)
    assert names == []
    assert errors is not None
    assert f"Project `{hidden.path}` not found or access denied!" in errors
    for path, file, jobs in (
        (shared.path, "ci.yml", ["job", "other"]),
        (shared.path, "no.yml", ["other"]),
        (hidden.path, "ci.yml", []),
    ):
        rule = f"{{exists: {{paths: [{file}], project: {path}, ref: main}}}}"
        text = f"job: {{script: make, rules: [{rule}]}}\nother: {{script: make}}\n"
        commit_files(make, own, {".gitlab-ci.yml": text}, user=owner, action="update")
        assert _newest(make, own)[0] == jobs


@pytest.mark.parametrize(
    ("include", "error"),
    [
        ("missing.yml", "Local file `missing.yml` does not exist!"),
        ("{template: Missing.gitlab-ci.yml}", "Template file `Missing.gitlab-ci.yml` is not a valid location!"),
        ("http://127.0.0.1/x.yml", "could not be fetched: Requests to the local network are not allowed"),
        ("http://[::1]:80/x.yml", "could not be fetched: Requests to the local network are not allowed"),
        ("http://169.254.169.254/latest", "could not be fetched: Requests to the local network are not allowed"),
    ],
)
def test_refused_files(make: Make, include: str, error: str) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": f"include: {include}\njob: {{script: make}}\n"})
    errors = _newest(make, project)[1]
    assert errors is not None
    assert error in errors


def test_components(make: Make) -> None:
    """A version is a tag, a branch, or the newest release that a partial version allows."""
    tools, own = make_project(make, visibility="public"), make_project(make)
    template = (
        "spec: {inputs: {stage: {default: test}}}\n---\nfrom-VERSION: {stage: '$[[ inputs.stage ]]', script: make}\n"
    )
    for number, tag in enumerate(("1.2.0", "1.10.0", "2.0.0-beta", "1.2")):
        text = template.replace("VERSION", tag)
        commit_files(make, tools, {"templates/deploy.yml": text}, action="update" if number else "create")
        make.api.post(f"{tools.url}/repository/tags", make.root, tag_name=tag, ref="main")
    commit_files(make, tools, {"templates/nested/template.yml": JOB.format(name="nested")})
    cases = {
        "deploy@1.2.0": ["from-1.2.0"],
        "deploy@1.2": ["from-1.2"],
        "deploy@1": ["from-1.10.0"],
        "deploy@~latest": ["from-1.10.0"],
        "deploy@2.0.0-beta": ["from-2.0.0-beta"],
        "nested@main": ["nested"],
    }
    for number, (name, jobs) in enumerate(cases.items()):
        address = f"$CI_SERVER_FQDN/{tools.path}/{name}"
        text = f"include: [{{component: '{address}'}}]\n"
        commit_files(make, own, {".gitlab-ci.yml": text}, action="update" if number else "create")
        assert _newest(make, own) == (jobs, None), name


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("$CI_SERVER_FQDN/{path}/deploy@2", "reference `2` does not exist"),
        ("$CI_SERVER_FQDN/{path}/deploy@main", "has no file `templates/deploy.yml`"),
        ("$CI_SERVER_FQDN/no/such/deploy@main", "not found or access denied"),
        ("other.example.com/{path}/deploy@main", "belongs to another server"),
        ("$CI_SERVER_FQDN/{path}/deploy", "should have the form"),
        ("deploy@1", "should have the form"),
        ("$CI_SERVER_FQDN/{path}/../deploy@main", "not found or access denied"),
    ],
)
def test_wrong_components(make: Make, address: str, error: str) -> None:
    project = make_project(make)
    text = f"include: [{{component: '{address.format(path=project.path)}'}}]\n"
    commit_files(make, project, {".gitlab-ci.yml": text})
    jobs, errors = _newest(make, project)
    assert jobs == []
    assert error in (errors or "")
