"""Merging when the pipeline succeeds, after the user who scheduled it has lost the permission to merge."""

import pytest

from ingot.core.access.levels import Level
from ingot.core.db.times import add_duration, day_of
from tests.api.merge_requests.factories import filled_project
from tests.api.merging.merge_calls import tip, url
from tests.api.merging.test_auto_merge import report, waiting
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members, make_group, share

REASON = "The user who scheduled the merge may no longer merge it."


def _member(project: Project, user: User) -> str:
    return f"/projects/{project.id}/members/{user.id}"


def _protect(api: Api, project: Project, owner: User, level: int) -> None:
    api.delete(f"/projects/{project.id}/protected_branches/master", owner)
    sent = {"name": "master", "push_access_level": level, "merge_access_level": level}
    assert api.post(f"/projects/{project.id}/protected_branches", owner, **sent).status_code == 201


def _revoke(how: str, api: Api, make: Make, owner: User, project: Project, user: User) -> None:
    member = _member(project, user)
    if how == "removed":
        assert api.delete(member, owner).is_success
    elif how == "demoted":
        assert api.put(member, owner, access_level=Level.DEVELOPER).is_success
    elif how == "expired":
        yesterday = day_of(add_duration(make.database.clock(), days=-1))
        assert api.put(member, owner, access_level=Level.MASTER, expires_at=yesterday).is_success
    elif how == "deleted":
        assert api.delete(f"/users/{user.id}", make.root).is_success
    elif how == "branch protected":
        _protect(api, project, owner, 0)
    else:
        assert api.post(f"/users/{user.id}/{how}", make.root).is_success


@pytest.mark.parametrize("visibility", ["private", "public"])
@pytest.mark.parametrize(
    "how", ["removed", "demoted", "expired", "deleted", "block", "ban", "deactivate", "branch protected"]
)
def test_nothing_is_merged(api: Api, make: Make, instance: Instance, how: str, visibility: str) -> None:
    owner, user = make.user(), make.user()
    project = filled_project(make, owner, visibility=visibility)
    add_members(make, project, {user: Level.MASTER})
    merge_request = waiting(api, make, project, user, owner)
    before = tip(api, project, owner)["id"]

    _revoke(how, api, make, owner, project, user)
    report(api, project, merge_request, owner, "success")
    instance.work()

    shown = api.get(url(project, merge_request), owner).json()
    assert (shown["state"], shown["merge_when_pipeline_succeeds"]) == ("opened", False)
    assert shown["merge_error"] == REASON
    assert tip(api, project, owner)["id"] == before
    (note,) = api.get(f"{url(project, merge_request)}/notes", owner).json()
    text = "aborted the automatic merge because the user who scheduled the merge may no longer merge it"
    assert (note["body"], note["system"]) == (text, True)
    assert note["author"]["id"] == user.id or how == "deleted"


def test_a_share_that_ended(api: Api, make: Make, instance: Instance) -> None:
    owner, user = make.user(), make.user()
    project, group = filled_project(make, owner), make_group(make, owner)
    add_members(make, group, {user: Level.MASTER})
    share(make, project, group, Level.MASTER)
    merge_request = waiting(api, make, project, user, owner)
    assert api.delete(f"/projects/{project.id}/share/{group.id}", owner).status_code == 204
    report(api, project, merge_request, owner, "success")
    instance.work()
    assert api.get(url(project, merge_request), owner).json()["merge_error"] == REASON


def test_a_lost_administrator(api: Api, make: Make, instance: Instance) -> None:
    owner, admin = make.user(), make.user(admin=True)
    project = filled_project(make, owner)
    merge_request = waiting(api, make, project, admin, owner)
    assert api.put(f"/users/{admin.id}", make.root, admin=False).status_code == 200
    report(api, project, merge_request, owner, "success")
    instance.work()
    assert api.get(url(project, merge_request), owner).json()["merge_error"] == REASON


def test_a_permission_that_remains(api: Api, make: Make, instance: Instance) -> None:
    """A changed level or password does not matter as long as the user may merge."""
    owner, user = make.user(), make.user()
    project = filled_project(make, owner)
    add_members(make, project, {user: Level.MASTER})
    merge_request = waiting(api, make, project, user, owner)
    _protect(api, project, owner, Level.DEVELOPER)
    api.put(_member(project, user), owner, access_level=Level.DEVELOPER)
    report(api, project, merge_request, owner, "success")
    instance.work()
    shown = api.get(url(project, merge_request), owner).json()
    assert (shown["state"], shown["merged_by"]["id"]) == ("merged", user.id)
