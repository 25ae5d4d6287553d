"""Page of Terraform states."""

from tests.client import Make
from tests.web.ci.scene import CiScene


def test_states_are_listed_unlocked_and_deleted(scene: CiScene, make: Make) -> None:
    browser, address = scene.browser(), f"{scene.path}/-/terraform"
    assert "No Terraform states" in browser.get(address).text
    url = f"{scene.project.url}/terraform/state/eu.web"
    assert make.api.request("POST", url, scene.owner, json={"version": 4, "serial": 3}).status_code == 200
    assert make.api.post(f"{url}/lock", scene.owner, ID="a").status_code == 200
    page = browser.get(address).text
    for text in ("eu.web", "#3", "Locked", f"/api/v4{url}"):
        assert text in page, text
    one = f"{address}/eu.web"
    assert browser.submit(address, one, does="delete").status_code == 422
    assert browser.submit(address, f"{one}/lock", does="delete").status_code == 302
    assert browser.get(f"/api/v4{url}").json() == {"version": 4, "serial": 3}
    assert browser.submit(address, one, does="delete").status_code == 302
    assert "No Terraform states" in browser.get(address).text


def test_a_name_with_slashes_is_one_part_of_the_address(scene: CiScene, make: Make) -> None:
    browser, address = scene.browser(), f"{scene.path}/-/terraform"
    url = f"{scene.project.url}/terraform/state/eu%2Fweb%20%231"
    assert make.api.request("POST", url, scene.owner, json={"version": 4, "serial": 3}).status_code == 200
    assert f'href="/api/v4{url}"' in browser.get(address).text
    assert browser.submit(address, f"{address}/eu%2Fweb%20%231", does="delete").status_code == 302
    assert "No Terraform states" in browser.get(address).text


def test_developers_see_the_page_without_actions(scene: CiScene, make: Make) -> None:
    developer, reporter = make.user(password="correct horse battery"), make.user(password="correct horse battery")
    for person, level in ((developer, 30), (reporter, 20)):
        make.api.post(f"{scene.project.url}/members", scene.owner, user_id=person.id, access_level=level)
    url = f"{scene.project.url}/terraform/state/web"
    make.api.request("POST", url, scene.owner, json={"version": 4, "serial": 3})
    address = f"{scene.path}/-/terraform"
    page = scene.browser(developer).get(address).text
    assert "web" in page and "Delete this state" not in page
    assert scene.browser(reporter).get(address).status_code in (403, 404)
