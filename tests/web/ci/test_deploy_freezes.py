"""Page of freeze periods."""

from tests.client import Make
from tests.web.ci.scene import CiScene


def test_freeze_periods_are_added_changed_and_deleted(scene: CiScene, make: Make) -> None:
    browser, address = scene.browser(), f"{scene.path}/-/settings/deploy_freezes"
    assert "No deploy freezes" in browser.get(address).text
    environments = f"{scene.path}/-/environments"
    assert "A deploy freeze is in force." not in browser.get(environments).text
    fields = {"freeze[freeze_start]": "* * * * *", "freeze[freeze_end]": "0 0 1 1 *", "freeze[cron_timezone]": ""}
    assert browser.submit(address, address, fields=fields).status_code == 302
    for page in (address, environments):
        assert "A deploy freeze is in force." in browser.get(page).text
    (period,) = make.api.get(f"{scene.project.url}/freeze_periods", scene.owner).json()
    assert period["cron_timezone"] == "UTC"
    one = f"{address}/{period['id']}"
    changed = {**fields, "freeze[cron_timezone]": "Berlin"}
    assert browser.submit(address, one, does="put", fields=changed).status_code == 302
    (edited,) = make.api.get(f"{scene.project.url}/freeze_periods", scene.owner).json()
    assert edited["cron_timezone"] == "Berlin"
    rejected = browser.submit(address, one, does="put", fields={**fields, "freeze[freeze_end]": "never"})
    assert rejected.status_code == 422 and 'value="never"' in rejected.text
    assert browser.submit(address, address, fields={**fields, "freeze[freeze_start]": "never"}).status_code == 422
    assert browser.submit(address, one, does="delete").status_code == 302
    assert "No deploy freezes" in browser.get(address).text


def test_only_maintainers_see_the_page(scene: CiScene, make: Make) -> None:
    developer = make.user(password="correct horse battery")
    make.api.post(f"{scene.project.url}/members", scene.owner, user_id=developer.id, access_level=30)
    assert scene.browser(developer).get(f"{scene.path}/-/settings/deploy_freezes").status_code == 404
