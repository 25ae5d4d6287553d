"""Settings whose effect no test of their own area observes."""

import httpx

from ingot.core.db.times import add_duration
from tests.ci.pipelines.files import commit_files
from tests.ci.runner_client import make_runner, project_runner
from tests.ci.runner_protocol.projects import ci_project
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import changed_settings, make_project
from tests.packages.client import basic
from tests.web.browser import Browser

PASSWORD = "correct-horse-battery"


def test_artifacts_expire_by_default(api: Api, make: Make, instance: Instance) -> None:
    for duration, days in (("3 days", 3), ("0", None)):
        with changed_settings(make, default_artifacts_expire_in=duration):
            project = ci_project(make, {"test": {"script": ["make"], "artifacts": {"paths": ["out/"]}}})
            job = project_runner(make, project.id).must_take()
            assert job.upload({"out/a": b"text"}).status_code == 201
        expires_at = api.get(f"{project.url}/jobs/{job.id}", make.root).json()["artifacts_expire_at"]
        now = instance.app.database.clock()
        expected = None if days is None else add_duration(now, days=days)[:10]
        assert (expires_at and expires_at[:10]) == expected


def test_tokens_of_the_registry_expire(instance: Instance, make: Make) -> None:
    user = make.user()
    for minutes in (5, 20):
        with changed_settings(make, container_registry_token_expire_delay=minutes):
            issued = httpx.get(f"{instance.url}/jwt/auth", headers=basic(user.username, user.token))
        assert issued.json()["expires_in"] == minutes * 60


def test_visibility_of_new_groups(api: Api, make: Make) -> None:
    for visibility, status in (("private", 404), ("internal", 200)):
        with changed_settings(make, default_group_visibility=visibility):
            path = make.name("group")
            group = api.post("/groups", make.root, name=path, path=path).json()
        assert api.get(f"/groups/{group['id']}", make.user()).status_code == status


def test_caches_of_protected_branches(api: Api, make: Make) -> None:
    """Branches that are not protected share the cache only if the project says so."""
    config = {"test": {"script": ["make"], "cache": {"key": "deps", "paths": ["vendor/"]}}}
    keys = []
    for separated in (True, False):
        project = ci_project(make, config)
        assert api.put(project.url, make.root, ci_separated_caches=separated).status_code == 200
        keys.append(project_runner(make, project.id).must_take().payload["cache"][0]["key"])
    assert keys == ["deps-protected", "deps-non_protected"]


def test_new_projects_use_the_runners_of_the_instance(make: Make) -> None:
    tag = make.name("tag")
    runner = make_runner(make, tag_list=[tag], run_untagged=False)
    for enabled in (False, True):
        with changed_settings(make, shared_runners_enabled=enabled):
            project = make_project(make)
        commit_files(make, project, {".gitlab-ci.yml": f"test: {{script: make, tags: [{tag}]}}"})
        assert (runner.take() is not None) is enabled


def test_the_page_after_a_sign_out(instance: Instance, make: Make) -> None:
    user = make.user(password=PASSWORD)
    for path in ("/help", "/explore"):
        with changed_settings(make, after_sign_out_path=path), Browser(instance.url).signed_in_as(user) as browser:
            left = browser.post("/users/sign_out", data={"authenticity_token": browser.token()})
        assert (left.status_code, left.headers["location"]) == (302, path)
    assert (
        make.api.put("/application/settings", make.root, after_sign_out_path="https://example.org").status_code == 400
    )


def test_git_over_one_protocol(instance: Instance, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner, visibility="public", initialize_with_readme=True)
    url = f"{instance.url}/{project.path}.git/info/refs?service=git-upload-pack"
    for protocol, status in (("ssh", 403), ("http", 200)):
        with changed_settings(make, enabled_git_access_protocol=protocol):
            for caller in (None, ("x", owner.token)):
                assert httpx.get(url, auth=caller).status_code == status, (protocol, caller)


def test_new_users_may_create_groups(api: Api, make: Make) -> None:
    earlier = make.user()
    for allowed, status in ((False, 403), (True, 201)):
        with changed_settings(make, can_create_group=allowed):
            later = make.user()
        for user, expected in ((later, status), (earlier, 201)):
            name = make.name()
            assert api.post("/groups", user, name=name, path=name).status_code == expected
