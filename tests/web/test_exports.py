"""Tests of the export pages of projects and groups."""

from ingot.core.access.levels import Level
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.transfers.exports.archives import files_of
from tests.web.browser import Browser


def test_owners_export_a_project_and_a_group(instance: Instance, make: Make, browser: Browser, person: User) -> None:
    """The page starts an export, shows its status, also as a fragment, and offers the archive for download."""
    owner = browser.signed_in_as(person)
    group = make_group(make, person)
    project = make_project(make, person, group=group)
    for base, name in ((f"/{project.path}", "tree/project.json"), (f"/groups/{group.path}", "tree/groups/_all.ndjson")):
        url = f"{base}/-/settings/export"
        assert "There is no export yet." in owner.get(url).text
        assert owner.get(f"{url}/download").status_code == 404
        assert owner.submit(url, url, fields={}).headers["location"] == url
        assert "The export is waiting for its turn." in owner.get(url, headers={"HX-Request": "true"}).text
        instance.work()
        shown = owner.get(url).text
        assert "The export is ready." in shown
        assert f'href="{url}/download"' in shown
        assert name in files_of(owner.get(f"{url}/download").content)


def test_developers_have_no_export_page(make: Make, browser: Browser, person: User) -> None:
    """The pages look like missing ones to members without the permission."""
    group = make_group(make, members={person: Level.DEVELOPER})
    project = make_project(make, group=group)
    developer = browser.signed_in_as(person)
    for base in (f"/{project.path}", f"/groups/{group.path}"):
        for path in ("export", "export/download"):
            assert developer.get(f"{base}/-/settings/{path}").status_code == 404
