"""Pages of packages and container images."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from html import unescape

import pytest

from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import make_group, make_project
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


def test_packages_of_a_group_are_listed(instance: Instance, make: Make, sign_in: SignIn) -> None:
    owner, stranger = make.user(password=PASSWORD), make.user(password=PASSWORD)
    group = make_group(make, owner)
    subgroup = make_group(make, owner, parent=group)
    project = make_project(make, owner, group=subgroup)
    browser, address = sign_in(owner), f"/groups/{group.path}/-/packages"
    assert f'href="{address}"' in browser.get(f"/groups/{group.path}").text
    assert "Publish generic" in browser.get(address).text
    send = PackageClient(instance)
    send("PUT", f"{project.url}/packages/generic/crane/1.0/a.txt", owner, content=b"text")
    send.close()
    (package,) = make.api.get(f"{group.url}/packages", owner).json()
    link = f'href="/{project.path}/-/packages/{package["id"]}"'
    page = browser.get(f"{address}?type=generic&search=cra").text
    assert (link in page, f'href="/{project.path}"' in page) == (True, True)
    for query in ("type=npm", "search=other"):
        page = browser.get(f"{address}?{query}").text
        assert ("No packages found" in page, link in page) == (True, False), query
    assert sign_in(stranger).get(address).status_code == 404


def test_container_images_of_a_group_are_listed(instance: Instance, make: Make, sign_in: SignIn) -> None:
    owner, member, stranger = (make.user(password=PASSWORD) for _ in range(3))
    group = make_group(make, owner)
    subgroup = make_group(make, owner, parent=group)
    shared = make_project(make, owner, group=group, members={member: 20})
    hidden = make_project(make, owner, group=subgroup)
    browser, address = sign_in(owner), f"/groups/{group.path}/-/container_registries"
    assert f'href="{address}"' in browser.get(f"/groups/{group.path}/-/packages").text
    assert "No container images" in browser.get(address).text
    client = RegistryClient(instance, owner.username, owner.token)
    for project, tag in ((shared, "1.0"), (shared, "2.0"), (hidden, "1.0")):
        client.push_image(f"{project.path}/web", tag, tag.encode())
    client.close()
    listed = make.api.get(f"{group.url}/registry/repositories", owner).json()
    links = {each["project_id"]: f"/-/container_registry/{each['id']}" for each in listed}
    page = unescape(browser.get(address).text)
    for project, tags in ((shared, "2 tags"), (hidden, "1 tag")):
        assert f'href="/{project.path}{links[project.id]}"' in page
        assert f'<a href="/{project.path}">{project.path}</a> · {tags} ·' in page
    seen = sign_in(member).get(address).text
    assert (f"/{shared.path}" in seen, hidden.path in seen) == (True, False)
    assert sign_in(stranger).get(address).status_code == 404


def test_visitors_see_the_packages_of_public_projects(make: Make, browser: Browser) -> None:
    owner = make.user()
    group = make_group(make, owner, visibility="public")
    project = make_project(make, owner, group=group, visibility="public")
    for address in (f"/{project.path}/-/packages", f"/{project.path}/-/container_registry"):
        assert browser.get(address).status_code == 200, address
    assert "No packages" in browser.get(f"/groups/{group.path}/-/packages").text
    assert "No container images" in browser.get(f"/groups/{group.path}/-/container_registries").text


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


def test_the_cleanup_policy_is_changed(make: Make, sign_in: SignIn) -> None:
    owner, reporter = make.user(password=PASSWORD), make.user(password=PASSWORD)
    project = make_project(make, owner, members={reporter: 20})
    browser = sign_in(owner)
    address = f"/{project.path}/-/container_registry"
    assert "Cleanup policy" not in sign_in(reporter).get(address).text
    form = {
        "policy[enabled]": "1",
        "policy[cadence]": "7d",
        "policy[name_regex]": "dev-.*",
        "policy[keep_n]": "5",
        "policy[older_than]": "",
    }
    assert browser.submit(address, address, fields=form, does="put").status_code == 302
    policy = make.api.get(project.url, owner).json()["container_expiration_policy"]
    assert (policy["enabled"], policy["cadence"], policy["keep_n"], policy["older_than"]) == (True, "7d", 5, None)
    page = browser.get(address).text
    assert "Next cleanup" in page and 'value="dev-.*"' in page
    wrong = browser.submit(address, address, fields={**form, "policy[name_regex]": "("}, does="put")
    assert (wrong.status_code, "not a valid regular expression" in wrong.text) == (422, True)
