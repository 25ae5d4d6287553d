"""Page with the settings of a site."""

from collections.abc import Iterator

import pytest

from tests.client import Make
from tests.conftest import Instance
from tests.factories import add_members
from tests.sites.site import site_project
from tests.web.browser import Browser


@pytest.fixture
def browser(instance: Instance, make: Make) -> Iterator[Browser]:
    """Yield a browser that is signed in as the administrator."""
    with Browser(instance.url) as browser:
        yield browser.signed_in_as(make.root)


def test_the_page_shows_and_changes_the_site(make: Make, instance: Instance, browser: Browser) -> None:
    site = site_project(make, instance)
    address = f"/{site.project.path}/-/pages"
    assert "No site" in browser.get(address).text
    site.deploy()
    shown = browser.get(address).text
    assert f'href="http://{site.host}/{site.name}/"' in shown
    fields = {"site[pages_access_level]": "private", "site[pages_unique_domain_enabled]": "1"}
    assert browser.submit(address, address, does="put", fields=fields).status_code == 302
    changed = make.api.get(f"{site.project.url}/pages", make.root).json()
    assert changed["is_unique_domain_enabled"] is True
    assert make.api.get(site.project.url, make.root).json()["pages_access_level"] == "private"
    disable = {"site[pages_access_level]": "disabled"}
    assert browser.submit(address, address, does="put", fields=disable).status_code == 302
    assert browser.get(address).status_code == 200
    enable = {"site[pages_access_level]": "enabled"}
    assert browser.submit(address, address, does="put", fields=enable).status_code == 302


def test_deployments_are_deleted_and_restored(make: Make, instance: Instance, browser: Browser) -> None:
    site = site_project(make, instance)
    site.deploy()
    address = f"/{site.project.path}/-/pages"
    (deployment,) = make.api.get(f"{site.project.url}/pages/deployments", make.root).json()
    one = f"{address}/deployments/{deployment['id']}"
    assert "2 files" in browser.get(address).text
    assert browser.submit(address, one, does="delete").status_code == 302
    assert site.get("/", sec_fetch_mode="cors").status_code == 404
    assert browser.submit(address, f"{one}/restore").status_code == 302
    assert site.get("/").status_code == 200
    assert browser.submit(address, address, does="delete").status_code == 302
    assert site.get("/", sec_fetch_mode="cors").status_code == 404


def test_domains_are_added_and_deleted(make: Make, instance: Instance, browser: Browser) -> None:
    site = site_project(make, instance)
    address = f"/{site.project.path}/-/pages"
    domain = f"{site.name}.example.org"
    fields = {"domain[domain]": domain}
    assert browser.submit(address, f"{address}/domains", fields=fields).status_code == 302
    shown = browser.get(address).text
    assert f"_gitlab-pages-verification-code.{domain} TXT" in shown
    assert "auto_ssl_enabled" not in shown
    assert browser.submit(address, f"{address}/domains", fields=fields).status_code == 422
    broken = {"domain[certificate]": "no certificate", "domain[key]": "no key"}
    assert browser.submit(address, f"{address}/domains/{domain}", does="put", fields=broken).status_code == 422
    assert browser.submit(address, f"{address}/domains/{domain}", does="delete").status_code == 302
    assert domain not in browser.get(address).text


def test_only_maintainers_see_the_page(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    developer = make.user(password="correct horse battery")
    add_members(make, site.project, {developer: 30})
    with Browser(instance.url) as other:
        other.signed_in_as(developer)
        assert other.get(f"/{site.project.path}/-/pages").status_code == 404
