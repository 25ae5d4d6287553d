"""Pages of packages and container images."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import make_project
from tests.packages.client import PackageClient
from tests.packages.registry_client import RegistryClient
from tests.web.browser import Browser

PASSWORD = "correct horse battery"
SignIn = Callable[[User], Browser]


@pytest.fixture
def sign_in(instance: Instance) -> Iterator[SignIn]:
    """Yield a function that returns the browser of a user."""
    with ExitStack() as browsers:
        yield lambda person: browsers.enter_context(Browser(instance.url)).signed_in_as(person)


def test_packages_are_listed_shown_and_deleted(instance: Instance, make: Make, sign_in: SignIn) -> None:
    owner, reporter = make.user(password=PASSWORD), make.user(password=PASSWORD)
    project = make_project(make, owner, members={reporter: 20})
    browser, visitor = sign_in(owner), sign_in(reporter)
    address = f"/{project.path}/-/packages"
    assert "No packages" in browser.get(address).text
    send = PackageClient(instance)
    for version in ("1.0", "2.0"):
        for name in ("a.txt", "b.txt"):
            send("PUT", f"{project.url}/packages/generic/crane/{version}/{name}", owner, content=b"text")
    send.close()
    page = browser.get(address).text
    assert ("crane" in page, "2.0" in page) == (True, True)
    assert "No packages" in browser.get(f"{address}?type=npm").text
    assert "No packages" in browser.get(f"{address}?search=other").text
    newest = make.api.get(f"{project.url}/packages", owner, package_version="2.0").json()[0]["id"]
    shown = visitor.get(f"{address}/{newest}").text
    for text in ("a.txt", "SHA-256", "4 bytes", "curl --header", "Other versions"):
        assert text in shown, text
    assert "Delete this package" not in shown
    assert visitor.get(f"{address}/0x1").status_code == 404
    one = f"{address}/{newest}"
    (file, _) = make.api.get(f"{project.url}/packages/{newest}/package_files", owner).json()
    assert browser.submit(one, f"{one}/files/{file['id']}", does="delete").status_code == 302
    assert "a.txt</a>" not in browser.get(one).text
    assert browser.submit(one, one, does="delete").status_code == 302
    assert browser.get(one).status_code == 404
    rule = {"package_name_pattern": "crane", "package_type": "generic", "minimum_access_level_for_delete": "admin"}
    make.api.post(f"{project.url}/packages/protection/rules", owner, **rule)
    oldest = f"{address}/{make.api.get(f'{project.url}/packages', owner).json()[0]['id']}"
    assert browser.submit(oldest, oldest, does="delete").status_code in (403, 422)


def test_container_images_are_listed_shown_and_deleted(instance: Instance, make: Make, sign_in: SignIn) -> None:
    owner = make.user(password=PASSWORD)
    project = make_project(make, owner)
    browser = sign_in(owner)
    address = f"/{project.path}/-/container_registry"
    page = browser.get(address).text
    assert ("No container images" in page, f"/{project.path}" in page) == (True, True)
    client = RegistryClient(instance, owner.username, owner.token)
    client.push_image(f"{project.path}/web", "1.0", b"layer")
    client.close()
    assert "1 tag" in browser.get(address).text
    (repository,) = make.api.get(f"{project.url}/registry/repositories", owner).json()
    one = f"{address}/{repository['id']}"
    shown = browser.get(one).text
    for text in ("<strong>1.0</strong>", "sha256:", "docker pull"):
        assert text in shown, text
    assert browser.submit(one, f"{one}/tags/1.0", does="delete").status_code == 302
    assert "No tags" in browser.get(one).text
    assert browser.submit(one, one, does="delete").status_code == 302
    assert browser.get(one).status_code == 404


def test_disabled_registries_have_no_pages(make: Make, sign_in: SignIn) -> None:
    owner = make.user(password=PASSWORD)
    project = make_project(make, owner)
    browser = sign_in(owner)
    assert f"/{project.path}/-/packages" in browser.get(f"/{project.path}").text
    make.api.put(project.url, owner, packages_enabled=False)
    assert f"/{project.path}/-/container_registry" in browser.get(f"/{project.path}").text
    make.api.put(project.url, owner, container_registry_enabled=False)
    home = browser.get(f"/{project.path}").text
    assert ("/-/packages" in home, "/-/container_registry" in home) == (False, False)
    assert browser.get(f"/{project.path}/-/packages").status_code in (403, 404)
