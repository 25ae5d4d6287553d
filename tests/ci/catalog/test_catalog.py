"""CI/CD catalog: projects are added, releases are published as versions, and other projects include them."""

from typing import Any

import httpx
import pytest

from ingot.ci.catalog.jobs import enqueue_usage_expiry
from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import project_runner
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members, later, make_group, make_project, statements_of

DEPLOY = """spec:
  description: Deploys the project
  inputs:
    stage: {default: test}
    target: {description: Where to, options: [staging, production], regex: '^[a-z]+$'}
    retries: {type: number, default: 2}
---
from-VERSION: {stage: '$[[ inputs.stage ]]', script: make}
"""
FILES = {
    "README.md": "# Tools\n\n[Changes](CHANGES.md)",
    "templates/deploy.yml": DEPLOY,
    "templates/lint/template.yml": "lint: {script: make}\n",
    "templates/lint/notes.md": "x",
    "templates/not a name.yml": "x: {script: make}\n",
}


def component_project(make: Make, **attributes: Any) -> Project:
    """Create a catalog project with two components."""
    project = make_project(make, **{"visibility": "public", "description": "Tools for pipelines", **attributes})
    commit_files(make, project, FILES)
    assert make.api.post(f"{project.url}/catalog", make.root).status_code == 201
    return project


def publish(make: Make, project: Project, tag: str, user: User | None = None, **release: Any) -> httpx.Response:
    """Create the release of a tag and publish it."""
    user = user or make.root
    made = make.api.post(f"{project.url}/releases", user, tag_name=tag, ref="main", **release)
    assert made.status_code == 201, made.text
    return make.api.post(f"{project.url}/catalog/publish", user, version=tag, metadata={"components": []})


def test_a_version_shows_its_components(make: Make) -> None:
    project = component_project(make)
    assert make.api.get(f"{project.url}/catalog/versions").json() == []
    published = publish(make, project, "v1.2.3")
    assert published.status_code == 201
    assert published.json()["catalog_url"].endswith(f"/explore/catalog/{project.path}")
    (version,) = make.api.get(f"{project.url}/catalog/versions").json()
    assert (version["name"], version["semver"]) == ("v1.2.3", {"major": 1, "minor": 2, "patch": 3})
    assert version["author"]["id"] == make.root.id
    deploy, lint = version["components"]
    assert deploy["include_path"] == f"$CI_SERVER_FQDN/{project.path}/deploy@v1.2.3"
    assert deploy["description"] == "Deploys the project"
    shared = {"description": None, "options": None, "regex": None}
    assert deploy["inputs"] == [
        {"name": "stage", "type": "string", "required": False, "default": "test", **shared},
        {
            "name": "target",
            "type": "string",
            "required": True,
            "default": None,
            "description": "Where to",
            "options": ["staging", "production"],
            "regex": "^[a-z]+$",
        },
        {"name": "retries", "type": "number", "required": False, "default": 2, **shared},
    ]
    assert (lint["name"], lint["inputs"], lint["description"]) == ("lint", [], None)
    resource = make.api.get(f"{project.url}/catalog").json()
    assert (resource["latest_version"], resource["last_30_day_usage_count"]) == ("v1.2.3", 0)
    # What was published stays as it was; another commit needs another version.
    commit_files(make, project, {"templates/lint/template.yml": "spec:\n---\nx: {script: y}\n"}, action="update")
    assert len(make.api.get(f"{project.url}/catalog/versions", name="v1.2.3").json()[0]["components"]) == 2
    assert make.api.get(f"{project.url}/catalog/versions", name="9.9.9").json() == []
    # A version goes with its release.
    make.api.delete(f"{project.url}/releases/v1.2.3", make.root)
    assert make.api.get(f"{project.url}/catalog/versions").json() == []
    assert make.api.delete(f"{project.url}/catalog", make.root).status_code == 204
    assert make.api.get(f"{project.url}/catalog", make.root).status_code == 404


@pytest.mark.parametrize(
    ("tag", "files", "description", "message"),
    [
        ("1.0.0", {"templates/a.yml": "x"}, "d", "must have a README"),
        ("1.0.0", {"README.md": "x", "templates/a.yml": "x"}, "", "must have a description"),
        ("1.0.0", {"README.md": "x", "templates/a.txt": "x"}, "d", "must contain components"),
        ("1.0.0", {"README.md": "x"} | {f"templates/c{n}.yml": "x" for n in range(31)}, "d", "more than 30"),
        ("latest", {"README.md": "x", "templates/a.yml": "x"}, "d", "semantic version"),
        ("01.0.0", {"README.md": "x", "templates/a.yml": "x"}, "d", "semantic version"),
        ("1.0.0", {"README.md": "x", "templates/a.yml": "[: \n"}, "d", "Component a: Invalid configuration"),
        ("1.0.0", {"README.md": "x", "templates/a.yml": "spec: {inputs: [a]}\n---\n"}, "d", "spec:inputs is not valid"),
        (
            "1.0.0",
            {"README.md": "x", "templates/a.yml": "spec: {inputs: {a: {type: set}}}\n---\n"},
            "d",
            "spec:inputs is not valid",
        ),
    ],
)
def test_what_cannot_be_published(make: Make, tag: str, files: dict[str, str], description: str, message: str) -> None:
    project = make_project(make, description=description)
    commit_files(make, project, files)
    make.api.post(f"{project.url}/catalog", make.root)
    refused = publish(make, project, tag)
    assert refused.status_code == 422
    assert message in refused.json()["message"]
    assert make.api.get(f"{project.url}/catalog/versions", make.root).json() == []


def test_only_the_author_of_a_release_publishes_it_once(make: Make) -> None:
    owner, developer, reporter = make.user(), make.user(), make.user()
    project = make_project(make, owner)
    commit_files(make, project, FILES)
    make.api.put(project.url, make.root, description="d")
    add_members(make, project, {developer: 30, reporter: 20})
    address = f"{project.url}/catalog"
    not_yet = publish(make, project, "1.0.0", developer)
    assert (not_yet.status_code, not_yet.json()["message"]) == (422, "Project is not a catalog resource")
    for user, status in ((reporter, 403), (developer, 403), (owner, 201), (owner, 409)):
        assert make.api.post(address, user).status_code == status
    published = f"{address}/publish"
    assert make.api.post(published, reporter, version="1.0.0").status_code == 403
    assert make.api.post(published, developer).status_code == 400
    assert make.api.post(published, developer, version="8.0.0").status_code == 404
    assert "release author" in make.api.post(published, owner, version="1.0.0").json()["message"]
    assert make.api.post(published, developer, version="1.0.0").status_code == 201
    again = make.api.post(published, developer, version="1.0.0")
    assert (again.status_code, again.json()["message"]) == (422, "Release has already been published")
    make.api.post(f"{project.url}/protected_tags", owner, name="2.*", create_access_level=40)
    make.api.post(f"{project.url}/releases", owner, tag_name="2.0.0", ref="main")
    assert make.api.post(published, developer, version="2.0.0").status_code == 403
    for user, status in ((reporter, 403), (developer, 403), (make.user(), 404), (owner, 204), (owner, 404)):
        assert make.api.delete(address, user).status_code == status


def test_only_readers_of_the_code_find_a_project(make: Make) -> None:
    group, member, stranger = make_group(make, visibility="public"), make.user(), make.user()
    paths = {}
    for visibility in ("public", "internal", "private"):
        project = component_project(make, namespace_id=group.id, visibility=visibility)
        paths[visibility] = project.path
        if visibility == "private":
            add_members(make, project, {member: 20})
            private = project
        publish(make, project, "1.0.0")
    silent = component_project(make, namespace_id=group.id)

    def found(user: User | None, **params: Any) -> set[str]:
        answer = make.api.get("/ci/catalog/resources", user, group_ids=[group.id], **params)
        return {each["full_path"] for each in answer.json()}

    assert found(None) == {paths["public"]}
    assert found(stranger) == {paths["public"], paths["internal"]}
    assert found(member) == found(make.root) == set(paths.values())
    assert found(member, scope="namespaces") == {paths["private"]}
    assert found(None, scope="namespaces") == set()
    assert silent.path not in found(make.root)
    for url in ("catalog", "catalog/versions"):
        assert make.api.get(f"{private.url}/{url}", stranger).status_code == 404
        assert make.api.get(f"{private.url}/{url}", member).status_code == 200
    guest = make.user()
    add_members(make, private, {guest: 10})
    assert paths["private"] not in found(guest)
    assert make.api.get(f"{private.url}/catalog", guest).status_code == 403


def test_search_and_order(make: Make) -> None:
    group = make_group(make, visibility="public")
    names = ("Alpha", "beta", "Gamma")
    projects = [
        component_project(make, namespace_id=group.id, name=name, path=name.lower(), description=f"About 100%_{name}")
        for name in names
    ]
    make.api.put(projects[1].url, make.root, topics=["Deploy"])
    make.api.post(f"{projects[1].url}/star", make.root)
    for number in (2, 0, 1):
        moment = f"2026-01-0{number + 1}T00:00:00Z"
        publish(make, projects[number], "1.0.0", released_at=moment)
    publish(make, projects[0], "2.0.0-rc1", released_at="2026-03-01T00:00:00Z")

    def listed(**params: Any) -> list[str]:
        answer = make.api.get("/ci/catalog/resources", make.root, group_ids=[group.id], **params)
        assert answer.status_code == 200
        return [each["name"] for each in answer.json()]

    assert listed(sort="name_asc") == ["Alpha", "beta", "Gamma"]
    assert listed(sort="name_desc") == ["Gamma", "beta", "Alpha"]
    assert listed()[0] == "beta"
    assert listed(sort="latest_released_at_desc") == ["Gamma", "beta", "Alpha"]
    assert listed(sort="created_asc") == ["Alpha", "beta", "Gamma"]
    assert listed(sort="usage_count_asc") == ["Alpha", "beta", "Gamma"]
    assert listed(search="alp") == ["Alpha"]
    assert listed(search="100%_b") == ["beta"]
    assert listed(topics=["deploy"]) == ["beta"]
    assert listed(search="nothing") == []
    assert make.api.get("/ci/catalog/resources", sort="wrong").status_code == 400


def test_lists_take_a_fixed_number_of_statements(make: Make) -> None:
    group = make_group(make, visibility="public")

    def count() -> int:
        return statements_of(make, lambda: make.api.get("/ci/catalog/resources", make.root, group_ids=[group.id]))

    publish(make, component_project(make, namespace_id=group.id), "1.0.0")
    one = count()
    project = component_project(make, namespace_id=group.id)
    for tag in ("1.0.0", "1.1.0"):
        publish(make, project, tag)
    assert count() == one


def _jobs(make: Make, project: Project, address: str) -> tuple[list[str], str | None]:
    text = f"include: [{{component: '{address}', inputs: {{target: staging}}}}]\n"
    known = make.api.get(f"{project.url}/repository/files/.gitlab-ci.yml", make.root, ref="main").status_code == 200
    commit_files(make, project, {".gitlab-ci.yml": text}, action="update" if known else "create")
    (pipeline, *_) = list_pipelines(make, project)
    shown = make.api.get(f"{project.url}/pipelines/{pipeline['id']}", make.root).json()
    jobs = make.api.get(f"{project.url}/pipelines/{pipeline['id']}/jobs", make.root).json()
    return sorted(job["name"] for job in jobs), shown["yaml_errors"]


def test_ranges_mean_published_versions(make: Make) -> None:
    """The order of GitLab's documentation, with a tag and a pre-release that are not published or do not count."""
    tools, own = component_project(make), make_project(make)
    assert "no published version" in (_jobs(make, own, f"$CI_SERVER_FQDN/{tools.path}/deploy@~latest")[1] or "")
    order = ("1.0.0", "1.1.0", "2.0.0", "1.1.1", "1.2.0", "2.1.0", "2.0.1", "2.2.0-rc")
    for tag in order:
        text = DEPLOY.replace("VERSION", tag)
        commit_files(make, tools, {"templates/deploy.yml": text}, action="update")
        assert publish(make, tools, tag).status_code == 201
    commit_files(make, tools, {"templates/deploy.yml": DEPLOY.replace("VERSION", "tag")}, action="update")
    make.api.post(f"{tools.url}/repository/tags", make.root, tag_name="3.0.0", ref="main")
    names = [each["name"] for each in make.api.get(f"{tools.url}/catalog/versions").json()]
    assert names == ["2.2.0-rc", "2.1.0", "2.0.1", "2.0.0", "1.2.0", "1.1.1", "1.1.0", "1.0.0"]
    cases = {"1": "1.2.0", "1.1": "1.1.1", "~latest": "2.1.0", "2.2.0-rc": "2.2.0-rc", "3.0.0": "tag", "main": "tag"}
    for version, expected in cases.items():
        address = f"$CI_SERVER_FQDN/{tools.path}/deploy@{version}"
        assert _jobs(make, own, address) == ([f"from-{expected}"], None), version
    assert "does not exist" in (_jobs(make, own, f"$CI_SERVER_FQDN/{tools.path}/deploy@4")[1] or "")


def test_projects_that_use_a_component_are_counted_for_30_days(make: Make, instance: Instance) -> None:
    tools, users = component_project(make), [make_project(make) for _ in range(2)]
    publish(make, tools, "1.0.0")

    def counts() -> tuple[int, dict[str, int]]:
        (version,) = make.api.get(f"{tools.url}/catalog/versions").json()
        by_name = {each["name"]: each["last_30_day_usage_count"] for each in version["components"]}
        return make.api.get(f"{tools.url}/catalog").json()["last_30_day_usage_count"], by_name

    for project in (*users, users[0]):
        assert _jobs(make, project, f"$CI_SERVER_FQDN/{tools.path}/deploy@1.0.0")[1] is None
    assert counts() == (2, {"deploy": 2, "lint": 0})
    nested = f"include: [{{component: '$CI_SERVER_FQDN/{tools.path}/lint@main'}}]\n"
    commit_files(make, users[1], {"inner.yml": nested})
    include = f"include: [{{project: '{users[1].path}', file: inner.yml}}]\n"
    commit_files(make, users[0], {".gitlab-ci.yml": include}, action="update")
    # The branch is still at the commit of the version.
    assert counts() == (2, {"deploy": 2, "lint": 1})
    with later(instance, days=31):
        assert _jobs(make, users[0], f"$CI_SERVER_FQDN/{tools.path}/deploy@1")[1] is None
        make.database.write(enqueue_usage_expiry)
        instance.work()
        assert counts() == (1, {"deploy": 1, "lint": 0})
        make.api.delete(users[0].url, make.root)
        instance.work()
        make.database.write(enqueue_usage_expiry)
        instance.work()
        assert counts() == (0, {"deploy": 0, "lint": 0})


def test_a_job_publishes_its_release(make: Make) -> None:
    project = component_project(make)
    text = "publish: {script: [make], release: {tag_name: 1.0.0, description: First}}\n"
    commit_files(make, project, {".gitlab-ci.yml": text})
    job = project_runner(make, project.id).must_take()
    (command,) = next(step["script"] for step in job.payload["steps"] if step["name"] == "release")
    assert "--publish-to-catalog" in command and "--catalog-publish" in command
    headers = {"JOB-TOKEN": job.token}
    released = {"tag_name": "1.0.0", "ref": "main", "description": "First"}
    assert make.api.request("POST", f"{project.url}/releases", json=released, headers=headers).status_code == 201
    sent = {"version": "1.0.0", "metadata": {"components": [{"name": "x", "spec": {}, "component_type": "template"}]}}
    published = make.api.request("POST", f"{project.url}/catalog/publish", json=sent, headers=headers)
    assert published.status_code == 201
    (version,) = make.api.get(f"{project.url}/catalog/versions").json()
    assert [each["name"] for each in version["components"]] == ["deploy", "lint"]
