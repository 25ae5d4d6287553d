"""python-gitlab's managers for branches, tags, their protection, and releases."""

from collections.abc import Iterator
from typing import Any

import pytest
from gitlab import Gitlab
from gitlab.exceptions import GitlabCreateError, GitlabGetError

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History


@pytest.fixture
def project(instance: Instance, make: Make) -> Iterator[Any]:
    """Yield a project with a branch and a tag."""
    made = make_project(make)
    history = History()
    first = history.commit(files={"README.md": "hello\n"})
    history.tag("v1.0", first, "One")
    history.fill(instance, made)
    with Gitlab(instance.url, private_token=make.root.token) as client:
        yield client.projects.get(made.id)


def test_branches(project: Any) -> None:
    branch = project.branches.create({"branch": "my.branch/name", "ref": "master"})
    assert branch.commit["id"] == project.branches.get("master").commit["id"]
    assert [each.name for each in project.branches.list(get_all=True)] == ["master", "my.branch/name"]
    with pytest.raises(GitlabCreateError) as twice:
        project.branches.create({"branch": "my.branch/name", "ref": "master"})
    assert twice.value.response_code == 400
    project.branches.get("my.branch/name").delete()
    with pytest.raises(GitlabGetError):
        project.branches.get("my.branch/name")
    project.branches.create({"branch": "other", "ref": "master"})
    project.delete_merged_branches()


def test_tags(project: Any) -> None:
    tag = project.tags.create({"tag_name": "rel/2.0", "ref": "master", "message": "Two"})
    assert (tag.message, tag.commit["id"]) == ("Two", project.branches.get("master").commit["id"])
    assert [each.name for each in project.tags.list(get_all=True)] == ["v1.0", "rel/2.0"]
    assert [each.name for each in project.tags.list(order_by="name", sort="asc", get_all=True)] == ["rel/2.0", "v1.0"]
    assert [each.name for each in project.tags.list(search="rel", get_all=True)] == ["rel/2.0"]
    project.tags.get("rel/2.0").delete()
    with pytest.raises(GitlabGetError) as gone:
        project.tags.get("rel/2.0")
    assert gone.value.response_code == 404


def test_protected_branches(project: Any) -> None:
    sent = {"name": "*-stable", "merge_access_level": 30, "push_access_level": 40, "allow_force_push": True}
    rule = project.protectedbranches.create(sent)
    assert (rule.merge_access_levels[0]["access_level"], rule.allow_force_push) == (30, True)
    assert sorted(each.name for each in project.protectedbranches.list(get_all=True)) == ["*-stable", "master"]
    rule = project.protectedbranches.get("*-stable")
    rule.allow_force_push = False
    rule.save()
    assert project.protectedbranches.get("*-stable").allow_force_push is False
    with pytest.raises(GitlabCreateError) as twice:
        project.protectedbranches.create({"name": "*-stable"})
    assert twice.value.response_code == 409
    rule.delete()
    with pytest.raises(GitlabGetError):
        project.protectedbranches.get("*-stable")


def test_protected_tags(project: Any) -> None:
    rule = project.protectedtags.create({"name": "v*", "create_access_level": 40})
    assert rule.create_access_levels[0]["access_level"] == 40
    assert [each.name for each in project.protectedtags.list(get_all=True)] == ["v*"]
    assert project.tags.get("v1.0").protected is True
    project.protectedtags.get("v*").delete()
    assert project.protectedtags.list(get_all=True) == []


def test_releases(project: Any) -> None:
    link = {"name": "linux", "url": "https://example.org/linux", "link_type": "package", "direct_asset_path": "/linux"}
    sent = {"tag_name": "release/1", "ref": "master", "name": "One", "description": "n", "assets": {"links": [link]}}
    release = project.releases.create(sent)
    assert (release.tag_name, release.assets["count"]) == ("release/1", 5)
    assert release.assets["links"][0]["direct_asset_url"].endswith("/downloads/linux")
    release = project.releases.get("release/1")
    release.description = "changed"
    release.save()
    assert project.releases.get("release/1").description == "changed"
    assert [each.name for each in project.releases.list(get_all=True)] == ["One"]

    other = release.links.create({"name": "book", "url": "https://example.org/book"})
    assert [each.name for each in release.links.list(get_all=True)] == ["book", "linux"]
    other.name = "runbook"
    other.save()
    assert release.links.get(other.id).name == "runbook"
    other.delete()
    assert len(release.links.list(get_all=True)) == 1

    project.releases.delete("release/1")
    with pytest.raises(GitlabGetError) as gone:
        project.releases.get("release/1")
    assert gone.value.response_code == 404
    assert project.tags.get("release/1").release is None


def test_protected_environments(project: Any) -> None:
    allowed = [{"access_level": 40}]
    rule = project.protected_environments.create({"name": "production", "deploy_access_levels": allowed})
    assert rule.deploy_access_levels[0]["access_level_description"] == "Maintainers"
    assert [each.name for each in project.protected_environments.list(get_all=True)] == ["production"]
    with pytest.raises(GitlabCreateError) as twice:
        project.protected_environments.create({"name": "production", "deploy_access_levels": allowed})
    assert twice.value.response_code == 409
    project.protected_environments.get("production").delete()
    assert project.protected_environments.list(get_all=True) == []
