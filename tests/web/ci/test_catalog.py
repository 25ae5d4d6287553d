"""Pages of the CI/CD catalog."""

from tests.ci.catalog.test_catalog import component_project, publish
from tests.client import Make
from tests.factories import make_project
from tests.web.browser import Browser
from tests.web.ci.scene import CiScene


def test_visitors_find_a_component(browser: Browser, make: Make) -> None:
    project = component_project(make, name="Catalog tools", path=make.name("tools"))
    publish(make, project, "1.0.0")
    publish(make, project, "2.0.0-rc1")
    hidden = component_project(make, visibility="private", name="Catalog secrets", path=make.name("secrets"))
    publish(make, hidden, "1.0.0")
    page = browser.get("/explore/catalog?search=catalog").text
    assert f"/explore/catalog/{project.path}" in page and "Catalog secrets" not in page
    assert "No components found" in browser.get("/explore/catalog?search=no-such-component").text
    shown = browser.get(f"/explore/catalog/{project.path}").text
    assert f"- component: $CI_SERVER_FQDN/{project.path}/deploy@1.0.0" in shown
    assert "<code>target</code>" in shown and "staging, production" in shown
    assert f"/{project.path}/blob/" in shown and "/CHANGES.md" in shown
    newer = browser.get(f"/explore/catalog/{project.path}?version=2.0.0-rc1").text
    assert "deploy@2.0.0-rc1" in newer
    for missing in (f"{project.path}?version=3", hidden.path, make_project(make).path, "no/such"):
        assert browser.get(f"/explore/catalog/{missing}").status_code == 404, missing


def test_owners_add_and_remove_a_project(scene: CiScene) -> None:
    browser, settings = scene.browser(), f"{scene.path}/-/edit"
    address = f"{scene.path}/-/settings/catalog"
    assert "Add to the catalog" in browser.get(settings).text
    assert browser.submit(settings, address, does="post").status_code == 302
    assert "Remove from the catalog" in browser.get(settings).text
    assert browser.submit(settings, address, does="delete").status_code == 302
    assert "Add to the catalog" in browser.get(settings).text
