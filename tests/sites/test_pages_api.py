"""Settings and deployments of sites in the API."""

from functools import partial

import pytest

from tests.ci.artifacts.files import upload, zip_of
from tests.ci.pipelines.files import commit_files
from tests.ci.runner_client import project_runner
from tests.client import Make
from tests.conftest import Instance
from tests.factories import add_members, changed_settings, later, make_group, statements_of
from tests.sites.site import HOST, SiteProject, site_project

PREVIEW = """
preview: {script: build, pages: {path_prefix: preview}}
"""
REQUESTS = """
review:
  script: build
  rules: [{if: $CI_PIPELINE_SOURCE == "merge_request_event"}]
  pages: {path_prefix: mr-$CI_MERGE_REQUEST_IID}
"""


def _names(site: SiteProject) -> list[str]:
    shown = site.make.api.get(f"{site.project.url}/pages", site.make.root).json()
    return [each["path_prefix"] for each in shown["deployments"]]


def test_maintainers_see_and_change_the_settings(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    site.deploy()
    path = f"{site.project.url}/pages"
    maintainer, developer = make.user(), make.user()
    add_members(make, site.project, {maintainer: 40, developer: 30})
    shown = make.api.get(path, maintainer)
    assert shown.status_code == 200
    body = shown.json()
    assert body["url"] == f"http://{site.host}/{site.name}"
    assert (body["is_unique_domain_enabled"], body["force_https"], body["primary_domain"]) == (False, False, None)
    (deployment,) = body["deployments"]
    assert deployment["url"] == f"http://{site.host}/{site.name}/"
    assert deployment["root_directory"] == "public"
    for method in ("GET", "PATCH", "DELETE"):
        assert make.api.request(method, path, developer, json={}).status_code == 403
        assert make.api.request(method, path, make.user(), json={}).status_code == 403


def test_a_unique_domain_replaces_the_address(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    site.deploy()
    path = f"{site.project.url}/pages"
    edited = make.api.request("PATCH", path, make.root, json={"pages_unique_domain_enabled": True}).json()
    host = edited["url"].removeprefix("http://")
    assert host.endswith(f".{HOST}")
    assert host.startswith(f"{site.name}-")
    assert site.request("GET", "/docs/", host).content == b"docs"
    make.api.request("PATCH", path, make.root, json={"pages_unique_domain_enabled": False})
    assert site.request("GET", "/docs/", host, sec_fetch_mode="cors").status_code == 404


def test_a_unique_domain_ends_the_address_that_other_sites_share(make: Make, instance: Instance) -> None:
    site = site_project(make, instance, pages_access_level="private")
    site.deploy({"public/index.html": b"for members"})
    path = f"{site.project.url}/pages"
    url = make.api.request("PATCH", path, make.root, json={"pages_unique_domain_enabled": True}).json()["url"]
    for below, target in (("", "/"), ("/", "/"), ("/a%20b/c?x=1&y=%2F", "/a%20b/c?x=1&y=%2F"), ("/docs", "/docs")):
        moved = site.get(below)
        assert (moved.status_code, moved.headers["location"], moved.content) == (308, f"{url}{target}", b"")
        assert moved.headers["cache-control"] == "no-store"
        assert "set-cookie" not in moved.headers
    # Paths are found in any case, and the first segment may be quoted.
    quoted = site.request("GET", f"/{site.name.upper().replace('P', '%50')}/docs/")
    assert (quoted.status_code, quoted.headers["location"]) == (308, f"{url}/docs/")
    assert "set-cookie" in site.request("GET", "/", url.removeprefix("http://")).headers


def test_nobody_takes_the_unique_domain_of_a_site(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    site.deploy()
    path = f"{site.project.url}/pages"
    other = make_group(make, make.root)
    shown = make.api.request("PATCH", path, make.root, json={"pages_unique_domain_enabled": True}).json()
    label = shown["url"].removeprefix("http://").partition(".")[0]
    for enabled in (True, False):
        make.api.request("PATCH", path, make.root, json={"pages_unique_domain_enabled": enabled})
        for taken in (label, label.upper()):
            answers = (
                make.api.post("/groups", make.root, name="Other", path=taken),
                make.api.put(other.url, make.root, path=taken),
                make.api.put(f"/users/{make.user().id}", make.root, username=taken),
            )
            # The specification has 404 for this change of a user.
            assert [answer.status_code for answer in answers] == [400, 400, 404], [each.text for each in answers]
            assert all("has already been taken" in answer.text for answer in answers)
    assert make.api.post("/groups", make.root, name="Inner", path=label, parent_id=other.id).status_code == 201


def test_deleting_the_site_takes_it_off(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    site.deploy()
    assert make.api.delete(f"{site.project.url}/pages", make.root).status_code == 204
    assert _names(site) == []
    assert site.get("/", sec_fetch_mode="cors").status_code == 404


def test_deployments_are_deleted_and_restored(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    site.deploy({"public/index.html": b"first"})
    site.deploy({"public/index.html": b"second"})
    path = f"{site.project.url}/pages/deployments"
    second, first = make.api.get(path, make.root).json()
    assert (first["active"], second["active"]) == (False, True)
    assert make.api.post(f"{path}/{first['id']}/restore", make.root).json()["active"] is True
    assert site.get("/").content == b"first"
    assert make.api.delete(f"{path}/{first['id']}", make.root).status_code == 204
    assert site.get("/", sec_fetch_mode="cors").status_code == 404
    assert make.api.delete(f"{path}/999999", make.root).status_code == 404


def test_only_maintainers_delete_and_restore_deployments(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    site.deploy()
    project = site.project.url
    (deployment,) = make.api.get(f"{project}/pages/deployments", make.root).json()
    maintainer, developer = make.user(), make.user()
    add_members(make, site.project, {maintainer: 40, developer: 30})
    for user, status in ((developer, 403), (make.user(), 403), (None, 401)):
        assert make.api.get(f"{project}/pages/deployments", user).status_code == status
        assert make.api.delete(f"{project}/pages/deployments/{deployment['id']}", user).status_code == status
        assert make.api.post(f"{project}/pages/deployments/{deployment['id']}/restore", user).status_code == status
    assert make.api.delete(f"{project}/pages/deployments/{deployment['id']}", maintainer).status_code == 204
    restored = make.api.post(f"{project}/pages/deployments/{deployment['id']}/restore", maintainer)
    assert (restored.status_code, restored.json()["deleted_at"]) == (201, None)
    assert site.get("/").status_code == 200
    for wrong in ("0", "x", str(2**63)):
        answers = (
            make.api.delete(f"{project}/pages/deployments/{wrong}", maintainer),
            make.api.post(f"{project}/pages/deployments/{wrong}/restore", maintainer),
        )
        assert {answer.status_code for answer in answers} <= {400, 404}, wrong


def test_deployments_of_other_projects_are_not_found(make: Make, instance: Instance) -> None:
    site, other = site_project(make, instance), site_project(make, instance)
    site.deploy()
    (deployment,) = make.api.get(f"{site.project.url}/pages/deployments", make.root).json()
    path = f"{other.project.url}/pages/deployments/{deployment['id']}"
    assert make.api.delete(path, make.root).status_code == 404
    assert make.api.post(f"{path}/restore", make.root).status_code == 404
    assert site.get("/").status_code == 200


def test_expired_deployments_are_not_restored(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    site.deploy({"public/index.html": b"preview"}, PREVIEW)
    (deployment,) = make.api.get(f"{site.project.url}/pages/deployments", make.root).json()
    with later(instance, days=2):
        refused = make.api.post(f"{site.project.url}/pages/deployments/{deployment['id']}/restore", make.root)
    assert (refused.status_code, refused.json()["message"]) == (400, "The deployment has expired")


def test_parallel_deployments_are_beside_the_site(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    site.deploy()
    site.deploy({"public/index.html": b"preview"}, PREVIEW)
    assert _names(site) == ["", "preview"]
    assert site.get("/preview/").content == b"preview"
    assert site.get("/docs/").content == b"docs"


def test_sites_with_a_prefix_expire_by_default(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    site.deploy({"public/index.html": b"preview"}, PREVIEW)
    with later(instance, days=2):
        assert _names(site) == []
        assert site.get("/preview/", sec_fetch_mode="cors").status_code == 404
    with changed_settings(make, pages_extra_deployments_default_expiry_seconds=0):
        site.deploy({"public/index.html": b"preview"}, PREVIEW.replace("build", "make"))
    with later(instance, days=2):
        assert site.get("/preview/").content == b"preview"


@pytest.mark.parametrize("end", ["close", "merge"])
def test_sites_with_a_prefix_end_with_their_merge_request(make: Make, instance: Instance, end: str) -> None:
    site = site_project(make, instance)
    site.deploy()
    site.deploy({"public/index.html": b"preview"}, PREVIEW)
    project = site.project
    for branch in ("one", "two"):
        commit_files(
            make,
            project,
            {".gitlab-ci.yml": REQUESTS},
            branch=branch,
            message=branch,
            start_branch="main",
            action="update",
        )
        sent = {"source_branch": branch, "target_branch": "main", "title": branch}
        request = make.api.post(f"{project.url}/merge_requests", make.root, **sent).json()
        job = project_runner(make, project.id).must_take()
        archive = zip_of({"public/index.html": b"review"})
        assert upload(make.api, job.id, job.token, archive, artifact_type="archive").status_code == 201
        assert job.finish().status_code == 200
        instance.work()
    assert _names(site) == ["", "preview", "mr-1", "mr-2"]
    assert site.get("/mr-2/").content == b"review"
    path = f"{project.url}/merge_requests/{request['iid']}"
    ended = (
        make.api.put(f"{path}/merge", make.root) if end == "merge" else make.api.put(path, make.root, state_event=end)
    )
    assert ended.status_code == 200, ended.text
    assert _names(site) == ["", "preview", "mr-1"]
    assert site.get("/mr-2/", sec_fetch_mode="cors").status_code == 404
    assert (site.get("/").status_code, site.get("/mr-1/").status_code) == (200, 200)


def test_longer_pages_need_no_more_statements(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    for number in range(3):
        site.deploy()
        sent = make.api.post(f"{site.project.url}/pages/domains", make.root, domain=f"{make.name('www')}.example")
        assert sent.status_code == 201, (number, sent.text)
    for path in (f"{site.project.url}/pages/deployments", f"{site.project.url}/pages/domains", "/pages/domains"):
        assert len(make.api.get(path, make.root).json()) >= 3
        read = partial(make.api.get, path, make.root)
        short, long = (statements_of(make, partial(read, per_page=size)) for size in (1, 100))
        assert long <= short, path


def test_a_disabled_site_does_not_exist(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    site.deploy()
    assert make.api.put(site.project.url, make.root, pages_access_level="disabled").status_code == 200
    assert make.api.get(f"{site.project.url}/pages", make.root).status_code == 404
    assert site.get("/", sec_fetch_mode="cors").status_code == 404
