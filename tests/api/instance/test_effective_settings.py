"""Settings of the instance that change what users may do."""

import httpx
import pytest

from ingot.core.db.times import add_duration
from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import changed_settings, make_group, make_project

PATH = "/application/settings"


def test_profiles_of_new_users_are_private(api: Api, make: Make) -> None:
    with changed_settings(make, user_defaults_to_private_profile=True):
        private, public = make.user(), make.user(private_profile=False)
    for user, hidden in ((private, True), (public, False), (make.user(), False)):
        assert api.get(f"/users/{user.id}", make.root).json()["private_profile"] is hidden


def test_exports_of_projects(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    with changed_settings(make, project_export_enabled=False):
        for kind in ("export", "export_relations"):
            assert api.post(f"{project.url}/{kind}", owner).status_code == 404
    assert api.post(f"{project.url}/export", owner).status_code == 202


def test_mirrors_for_administrators_only(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    push = {"url": "https://mirror.example/a.git"}
    pull = {"url": "https://mirror.example/a.git", "enabled": False}
    with changed_settings(make, mirror_available=False):
        assert api.post(f"{project.url}/remote_mirrors", owner, **push).status_code == 403
        assert api.put(f"{project.url}/mirror/pull", owner, **pull).status_code == 403
        assert api.put(project.url, owner, mirror=True, import_url=push["url"]).status_code == 403
        assert api.put(project.url, owner, mirror=False).status_code == 200
        assert api.post(f"{project.url}/remote_mirrors", make.root, **push).status_code == 201
    assert api.put(f"{project.url}/mirror/pull", owner, **pull).status_code == 200


@pytest.mark.parametrize("scope", ["issues", "merge_requests", "snippet_titles", "users"])
def test_global_searches(api: Api, make: Make, scope: str) -> None:
    user = make.user()
    with changed_settings(make, **{f"global_search_{scope}_enabled": False}):
        assert api.get("/search", user, scope=scope, search="x").status_code == 403
        assert api.get("/search", user, scope="projects", search="x").status_code == 200
    assert api.get("/search", user, scope=scope, search="xyz").status_code == 200


def test_anonymous_searches(api: Api, make: Make) -> None:
    with changed_settings(make, global_search_block_anonymous_searches_enabled=True):
        assert api.get("/projects", search="xyz").status_code == 401
        assert api.get("/projects").status_code == 200
    assert api.get("/projects", search="xyz").status_code == 200


def test_roles_that_create_projects_in_new_groups(api: Api, make: Make) -> None:
    developer, maintainer, owner = (make.user() for _ in range(3))
    admitted: tuple[list[User], ...] = ([], [maintainer, owner], [developer, maintainer, owner], [], [owner])
    for level, users in enumerate(admitted):
        with changed_settings(make, default_project_creation=level):
            group = make_group(make, owner, members={developer: 30, maintainer: 40})
        for user in (developer, maintainer, owner):
            made = api.post("/projects", user, name=make.name("project"), namespace_id=group.id)
            assert (made.status_code == 201) is (user in users), (level, made.text)


def test_security_contact(api: Api, make: Make) -> None:
    url = f"{api.url}/.well-known/security.txt"
    assert httpx.get(url).status_code == 404
    with changed_settings(make, security_txt_content="Contact: mailto:sécurité@example.org\n"):
        shown = httpx.get(url)
    assert (shown.status_code, shown.text) == (200, "Contact: mailto:sécurité@example.org\n")
    assert shown.headers["content-type"] == "text/plain; charset=utf-8"


def test_configuration_path_of_new_projects(api: Api, make: Make) -> None:
    with changed_settings(make, default_ci_config_path="ci/main.yml"):
        chosen, own = make_project(make), make_project(make, ci_config_path="own.yml")
        commit_files(make, chosen, {"ci/main.yml": "test: {script: make}"})
    assert [api.get(each.url, make.root).json()["ci_config_path"] for each in (chosen, own, make_project(make))] == [
        "ci/main.yml",
        "own.yml",
        None,
    ]
    assert len(list_pipelines(make, chosen)) == 1


def test_pipelines_of_a_commit_are_limited(api: Api, make: Make) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": "test: {script: make}"})
    with changed_settings(make, pipeline_limit_per_project_user_sha=2):
        assert api.post(f"{project.url}/pipeline", make.root, ref="main").status_code == 201
        refused = api.post(f"{project.url}/pipeline", make.root, ref="main")
        reason = "Too many pipelines created in the last minute. Try again later."
        assert (refused.status_code, refused.json()["message"]) == (400, {"base": [reason]})
    assert api.post(f"{project.url}/pipeline", make.root, ref="main").status_code == 201


def test_jobs_of_old_pipelines_are_archived(
    api: Api, make: Make, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wrong in ("soon", "5 hours", "0 days"):
        refused = api.put(PATH, make.root, archive_builds_in_human_readable=wrong)
        assert list(refused.json()["message"]) == ["archive_builds_in_human_readable"], wrong
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": "test: {script: make, when: manual}"})
    (pipeline,) = list_pipelines(make, project)
    (job,) = api.get(f"{project.url}/pipelines/{pipeline['id']}/jobs", make.root).json()
    clock = instance.app.database.clock
    with changed_settings(make, archive_builds_in_human_readable="2 days"), monkeypatch.context() as patch:
        patch.setattr(instance.app.database, "clock", lambda: add_duration(clock(), days=3))
        for path in (f"jobs/{job['id']}/play", f"pipelines/{pipeline['id']}/retry"):
            assert api.post(f"{project.url}/{path}", make.root).status_code == 403
    assert api.post(f"{project.url}/jobs/{job['id']}/play", make.root).status_code == 200


def test_guests_create_no_projects(api: Api, make: Make) -> None:
    guest, reporter = make.user(), make.user()
    make_project(make, members={guest: 10, reporter: 20})
    with changed_settings(make, allow_project_creation_for_guest_and_below=False):
        assert api.post("/projects", guest, name=make.name("own")).status_code == 403
        assert api.post("/projects", reporter, name=make.name("own")).status_code == 201
        assert api.post("/projects", make.root, name=make.name("own")).status_code == 201
    assert api.post("/projects", guest, name=make.name("own")).status_code == 201


@pytest.mark.parametrize("branch", ["a..b", "-x", "foo bar", "refs/heads/x", "HEAD", "a~b"])
def test_names_that_no_branch_can_have(api: Api, make: Make, branch: str) -> None:
    """As the default of new projects, it would prevent their creation."""
    refused = api.put("/application/settings", make.root, default_branch_name=branch)
    assert (refused.status_code, refused.json()) == (400, {"message": {"default_branch_name": ["is invalid"]}})
    make_project(make, initialize_with_readme=True)
