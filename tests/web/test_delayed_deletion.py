"""Pages of projects and groups that are scheduled for deletion."""

from tests.client import Api, Make, User
from tests.factories import changed_settings, make_group, make_project
from tests.web.browser import Browser


def test_project_settings_restore_and_delete(browser: Browser, person: User, api: Api, make: Make) -> None:
    project = make_project(make, person)
    browser.signed_in_as(person)
    with changed_settings(make, deletion_adjourned_period=7):
        edit = f"/{project.path}/-/edit"
        deleted = browser.submit(edit, edit, does="delete", fields={"delete[confirm]": project.path})
        settings = f"/{project.path}-deletion_scheduled-{project.id}/-/edit"
        assert deleted.headers["location"] == settings
        page = browser.get(settings).text
        assert "marked for deletion" in page
        assert "Unarchive" not in page
        restore = settings.replace("/edit", "/settings/restore")
        assert browser.submit(settings, restore).status_code == 302
        assert browser.get(edit).status_code == 200
        browser.submit(edit, edit, does="delete", fields={"delete[confirm]": project.path})
        path = settings.removesuffix("/-/edit").removeprefix("/")
        gone = browser.submit(settings, settings, does="delete", fields={"delete[confirm]": path})
        assert gone.headers["location"].startswith("/-/deleting/")
    assert api.get(project.url, person).status_code == 404


def test_group_settings_restore(browser: Browser, person: User, make: Make) -> None:
    group = make_group(make, person)
    browser.signed_in_as(person)
    with changed_settings(make, deletion_adjourned_period=7):
        edit = f"/groups/{group.path}/-/edit"
        deleted = browser.submit(edit, edit, does="delete", fields={"delete[confirm]": group.path})
        settings = f"/groups/{group.path}-deletion_scheduled-{group.id}/-/edit"
        assert deleted.headers["location"] == settings
        restored = browser.submit(settings, settings.replace("/edit", "/settings/restore"))
        assert restored.status_code == 302
        assert browser.get(edit).status_code == 200
