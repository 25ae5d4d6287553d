"""Deployments of sites by CI jobs."""

import io
import os
import zipfile
from itertools import repeat
from pathlib import Path

import pytest

from ingot.sites.deployments.jobs import MAX_FILES, enqueue_site_sweep
from tests.ci.artifacts.files import upload, zip_of, zip_of_empty_files
from tests.ci.runner_client import project_runner
from tests.client import Make
from tests.conftest import Instance
from tests.factories import changed_settings, later
from tests.sites.site import CONFIG, FILES, HOST, site_project


def test_the_artifacts_of_the_job_pages_become_a_site(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    assert site.get("/").status_code == 302  # Like a site that strangers may not see.
    job = site.deploy()
    home = site.get("/")
    assert (home.status_code, home.content) == (200, b"<h1>Home</h1>")
    assert site.get("/docs/").content == b"docs"
    assert site.get("/secret.txt").status_code == 404
    assert site.get("/%2e%2e/secret.txt").status_code == 404
    assert site.deploy_status(job)["status"] == "success"


def test_a_new_deployment_replaces_the_one_before_it_at_once(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    site.deploy()
    site.deploy({"public/index.html": b"second"})
    assert site.get("/").content == b"second"
    assert site.get("/docs/").status_code == 404


@pytest.mark.parametrize(
    ("artifacts", "reason"),
    [
        ({"other/index.html": b"x"}, "contain no folder public/"),
        (None, "has no artifacts"),
    ],
)
def test_a_job_without_a_site_fails_the_deployment_only(
    make: Make, instance: Instance, artifacts: dict[str, bytes] | None, reason: str
) -> None:
    site = site_project(make, instance)
    job = site.run_job(artifacts)
    instance.work()
    status = site.deploy_status(job)
    assert status["status"] == "failed"
    assert reason in status["description"]
    assert site.get("/", sec_fetch_mode="cors").status_code == 404


def test_the_keyword_names_folder_prefix_and_expiry(make: Make, instance: Instance) -> None:
    config = """
build:
  script: build
  pages: {publish: "$OUT", path_prefix: "MR/${CI_COMMIT_REF_NAME}", expire_in: $DAYS days}
  variables: {OUT: dist, DAYS: "9"}
"""
    site = site_project(make, instance, config)
    job = site.deploy({"dist/index.html": b"preview"})
    assert [each["paths"] for each in job.payload["artifacts"]] == [["$OUT"]]
    assert site.get("/mr-main/").content == b"preview"
    assert site.get("/mr-main").headers["location"] == f"/{site.name}/mr-main/"
    for days, status in ((8, 200), (10, 404)):
        with later(instance, days=days):
            assert site.get("/mr-main/", sec_fetch_mode="cors").status_code == status
    assert site.get("/").status_code == 404


def test_jobs_know_the_address_of_the_site(make: Make, instance: Instance) -> None:
    config = """
preview:
  script: build
  pages: {path_prefix: "$PREFIX"}
  variables: {PREFIX: "MR/$CI_COMMIT_REF_NAME", BASE: "$CI_PAGES_URL/"}
"""
    site = site_project(make, instance)
    job = site.deploy()
    names = ("CI_PAGES_DOMAIN", "CI_PAGES_HOSTNAME", "CI_PAGES_URL")
    assert [job.variables.get(name) for name in names] == [HOST, site.host, f"http://{site.host}/{site.name}"]
    preview = site.deploy({"public/index.html": b"preview"}, config)
    assert preview.variables["CI_PAGES_URL"] == f"http://{site.host}/{site.name}/mr-main"
    assert site.get("/mr-main/").content == b"preview"
    assert make.api.put(site.project.url, make.root, pages_access_level="disabled").status_code == 200
    assert not set(names) & site.run_job().variables.keys()


def test_a_job_with_pages_false_publishes_nothing(make: Make, instance: Instance) -> None:
    site = site_project(make, instance, "pages: {script: build, pages: false, artifacts: {paths: [public]}}")
    site.deploy()
    assert site.get("/", sec_fetch_mode="cors").status_code == 404


def test_links_lead_to_files_of_the_site_only(make: Make, instance: Instance) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
        for name, target in (
            ("public/home.html", "index.html"),
            ("public/docs/up.html", "../home.html"),
            ("public/outside.txt", "../secret.txt"),
            ("public/passwd", "/etc/passwd"),
            ("public/circle", "circle"),
            ("public/folder", "docs"),
        ):
            entry = zipfile.ZipInfo(name)
            entry.create_system = 3
            entry.external_attr = 0o120777 << 16
            archive.writestr(entry, target)
    site = site_project(make, instance)
    site.deploy(buffer.getvalue())
    assert site.get("/home.html").content == FILES["public/index.html"]
    assert site.get("/docs/up.html").content == FILES["public/index.html"]
    for path in ("/outside.txt", "/passwd", "/circle", "/folder/index.html"):
        assert site.get(path).status_code == 404, path


def test_sites_that_are_too_large_are_refused_without_unpacking_them(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    with changed_settings(make, max_pages_size=1):
        job = site.deploy({"public/index.html": b"a" * (2**20 + 1)})
    status = site.deploy_status(job)
    assert status["status"] == "failed"
    assert "too large" in status["description"]


def test_an_archive_with_a_million_entries_is_refused(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    made = make.api.post(f"{site.project.url}/pipeline", make.root, ref="main")
    assert made.status_code == 201
    job = project_runner(make, site.project.id).must_take()
    archive = zip_of_empty_files(repeat(b"public/a", 1_000_000), declared=1)
    before = _stored_files(instance)
    refused = upload(make.api, job.id, job.token, archive, artifact_type="archive", artifact_format="zip")
    assert refused.status_code == 400
    assert "it has more than 500000 entries" in refused.json()["message"]
    assert job.finish().status_code == 200
    instance.work()
    assert site.deploy_status(job)["status"] == "failed"
    assert _stored_files(instance) == before


def test_a_site_of_too_many_files_is_refused(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    job = site.deploy(zip_of_empty_files(b"public/%d" % number for number in range(MAX_FILES + 1)))
    assert site.deploy_status(job)["description"] == "The site has more than 200000 files"
    # Other files of the artifacts do not count.
    names = [b"public/index.html", *(b"other/%d" % number for number in range(MAX_FILES + 1))]
    job = site.deploy(zip_of_empty_files(names))
    assert (site.deploy_status(job)["status"], site.get("/").content) == ("success", b"")


def test_damaged_content_is_refused(make: Make, instance: Instance) -> None:
    archive = zip_of({"public/index.html": b"content of the page"}, zipfile.ZIP_STORED)
    site = site_project(make, instance)
    job = site.deploy(archive.replace(b"content of", b"tampered a"))
    assert "damaged" in site.deploy_status(job)["description"]


def test_an_older_pipeline_does_not_replace_a_newer_site(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    first = make.api.post(f"{site.project.url}/pipeline", make.root, ref="main").json()["id"]
    site.make.api.post(f"{site.project.url}/pipelines/{first}/cancel", make.root)
    site.deploy({"public/index.html": b"newer"})
    retried = site.make.api.post(f"{site.project.url}/pipelines/{first}/retry", make.root)
    assert retried.status_code == 201
    # The retried job belongs to the older pipeline.
    job = project_runner(make, site.project.id).must_take()
    upload(make.api, job.id, job.token, zip_of({"public/index.html": b"older"}), artifact_type="archive")
    assert job.finish().status_code == 200
    instance.work()
    assert site.get("/").content == b"newer"
    assert "newer pipeline" in site.deploy_status(job)["description"]


def test_deleting_the_project_deletes_its_files(make: Make, instance: Instance) -> None:
    site = site_project(make, instance, CONFIG)
    before = _stored_files(instance)
    site.deploy()
    (stored,) = _stored_files(instance) - before
    assert make.api.delete(site.project.url, make.root).status_code == 200
    instance.work()
    assert site.get("/", sec_fetch_mode="cors").status_code == 404
    os.utime(stored, (0, 0))
    instance.app.database.write(enqueue_site_sweep)
    instance.work()
    assert not stored.exists()


def _stored_files(instance: Instance) -> set[Path]:
    return {path for path in (instance.settings.data / "pages").rglob("*") if path.is_file()}
