"""python-gitlab's managers for sites, their domains and secure files, and its requests for what it has no managers."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from gitlab import (
    Gitlab,
    GitlabAuthenticationError,
    GitlabCreateError,
    GitlabGetError,
    GitlabHttpError,
    GitlabUpdateError,
)
from gitlab.v4.objects import Project

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.sites.site import SiteProject, site_project


@pytest.fixture(scope="module")
def client(instance: Instance, make: Make) -> Iterator[Gitlab]:
    """Yield the administrator's client."""
    with Gitlab(instance.url, private_token=make.root.token) as made:
        yield made


@pytest.fixture
def project(client: Gitlab, make: Make) -> Project:
    """Return a new project for each test."""
    return client.projects.get(make_project(make).id)


@pytest.fixture
def site(instance: Instance, make: Make) -> SiteProject:
    """Return a project whose site was deployed."""
    made = site_project(make, instance)
    made.deploy()
    return made


def test_pages(client: Gitlab, site: SiteProject, project: Project) -> None:
    pages = client.projects.get(site.project.id).pages.get()
    assert pages.url == f"http://{site.host}/{site.name}"
    assert [each["root_directory"] for each in pages.deployments] == ["public"]
    manager = client.projects.get(site.project.id).pages
    changed = manager.update(new_data={"pages_unique_domain_enabled": True, "pages_https_only": False})
    assert changed["is_unique_domain_enabled"] is True
    pages.refresh()
    assert pages.url != f"http://{site.host}/{site.name}"
    manager.delete()
    assert manager.get().deployments == []
    assert project.pages.get().deployments == []


def test_domains_of_pages(client: Gitlab, site: SiteProject, make: Make) -> None:
    domains: Any = client.projects.get(site.project.id).pagesdomains
    name = f"{make.name('www')}.example"
    made = domains.create({"domain": name})
    assert made.domain == name
    assert [each.domain for each in domains.list(get_all=True)] == [name]
    assert domains.get(name).domain == name
    assert name in [each.domain for each in client.pagesdomains.list(get_all=True)]
    found = domains.get(name)
    found.certificate, found.key = "no certificate", "no key"
    with pytest.raises(GitlabUpdateError) as refused:
        found.save()
    assert refused.value.response_code == 400
    with pytest.raises(GitlabCreateError):
        domains.create({"domain": name})
    found.delete()
    with pytest.raises(GitlabGetError):
        domains.get(name)


def test_secure_files(client: Gitlab, project: Project) -> None:
    made: Any = project.secure_files.create({"name": "key.jks", "file": b"\x00secret\xff"})
    assert (made.name, made.checksum_algorithm) == ("key.jks", "sha256")
    assert [each.name for each in project.secure_files.list(get_all=True)] == ["key.jks"]
    found = project.secure_files.get(made.id)
    assert found.download() == b"\x00secret\xff"
    parts: list[bytes] = []
    found.download(streamed=True, action=parts.append)
    assert b"".join(parts) == b"\x00secret\xff"
    with pytest.raises(GitlabCreateError):
        project.secure_files.create({"name": "key.jks", "file": b"again"})
    found.delete()
    with pytest.raises(GitlabGetError):
        project.secure_files.get(made.id)


def test_freeze_periods(client: Gitlab, project: Project) -> None:
    path = f"/projects/{project.id}/freeze_periods"
    sent = {"freeze_start": "0 23 * * 5", "freeze_end": "0 8 * * 1", "cron_timezone": "UTC"}
    made: Any = client.http_post(path, post_data=sent)
    assert {name: made[name] for name in sent} == sent
    changed: Any = client.http_put(f"{path}/{made['id']}", post_data={"freeze_end": "0 7 * * 1"})
    assert changed["freeze_end"] == "0 7 * * 1"
    assert client.http_list(path, get_all=True) == [changed] == [client.http_get(f"{path}/{made['id']}")]
    with pytest.raises(GitlabHttpError) as refused:
        client.http_post(path, post_data=sent | {"freeze_start": "never"})
    assert refused.value.response_code == 400
    client.http_delete(f"{path}/{made['id']}")
    assert client.http_list(path, get_all=True) == []


def test_terraform_states(client: Gitlab, project: Project) -> None:
    path = f"/projects/{project.id}/terraform/state/production"
    state = {"version": 4, "serial": 1, "lineage": "a", "outputs": {}, "resources": []}
    lock = {"ID": "11111111-1111-1111-1111-111111111111", "Operation": "Plan", "Who": "ann", "Version": "1.0"}
    client.http_post(f"{path}/lock", post_data=lock)
    with pytest.raises(GitlabHttpError) as locked:
        client.http_post(path, post_data=state)
    assert locked.value.response_code in (409, 423)
    client.http_post(path, query_data={"ID": lock["ID"]}, post_data=state)
    client.http_delete(f"{path}/lock", query_data={"ID": lock["ID"]})
    assert client.http_get(path) == state
    assert client.http_get(f"{path}/versions/1") == state
    client.http_delete(path)


def test_strangers_get_nothing(instance: Instance, make: Make, project: Project) -> None:
    with Gitlab(instance.url, private_token=make.user().token) as stranger, Gitlab(instance.url) as nobody:
        for name in ("pages", "pages/domains", "secure_files", "freeze_periods", "terraform/state/production"):
            path = f"/projects/{project.id}/{name}"
            with pytest.raises(GitlabHttpError) as refused:
                stranger.http_get(path)
            assert refused.value.response_code in (403, 404), path
            assert json.loads(refused.value.response_body or b"null"), path
            with pytest.raises(GitlabAuthenticationError):
                nobody.http_get(path)
        with pytest.raises(GitlabHttpError):
            stranger.http_get("/pages/domains")
