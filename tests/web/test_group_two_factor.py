"""Groups that require two-factor authentication of their members."""

from typing import Any

import pytest

from ingot.accounts.two_factor.queries import is_second_factor_due
from ingot.accounts.users.queries import find_user
from ingot.projects.namespaces import two_factor
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, add_members, day, make_group, make_project, share
from tests.web.browser import Browser
from tests.web.test_two_factor import HERE, enable_two_factor

REQUIRED: dict[str, Any] = {"require_two_factor_authentication": True, "two_factor_grace_period": 0}


@pytest.fixture
def tree(make: Make) -> tuple[Group, Group, Group]:
    """Return a group, a subgroup and a subgroup of that."""
    owner = make.user()
    top = make_group(make, owner)
    middle = make_group(make, owner, parent=top)
    return top, middle, make_group(make, owner, parent=middle)


def is_due(instance: Instance, person: User) -> bool:
    return instance.app.database.read(lambda db: is_second_factor_due(db, find_user(db, person.id)))


def edit(make: Make, group: Group, **attributes: Any) -> None:
    assert make.api.put(f"/groups/{group.id}", make.root, **attributes).status_code == 200


@pytest.mark.parametrize("level", range(3))
def test_members_of_the_whole_hierarchy_are_concerned(
    level: int, tree: tuple[Group, Group, Group], instance: Instance, make: Make, person: User
) -> None:
    add_members(make, tree[level], {person: 10})
    assert not is_due(instance, person)
    edit(make, tree[1], **REQUIRED)
    assert is_due(instance, person)
    edit(make, tree[1], require_two_factor_authentication=False)
    assert not is_due(instance, person)


def test_others_are_not_concerned(instance: Instance, make: Make, person: User) -> None:
    """Neither members of other groups, of invited groups and of a project alone, nor those who left."""
    group = make_group(make, make.user(), **REQUIRED)
    sibling, invited = (
        make_group(make, make.user(), members={person: 50}),
        make_group(make, make.user(), members={person: 30}),
    )
    share(make, group, invited, 30)
    add_members(make, make_project(make, group=group), {person: 30})
    make_group(make, person, parent=sibling)
    assert not is_due(instance, person)

    add_members(make, group, {person: 10})
    assert is_due(instance, person)
    assert make.api.delete(f"/groups/{group.id}/members/{person.id}", make.root).status_code == 200
    assert not is_due(instance, person)


def test_a_membership_that_has_expired_requires_nothing(instance: Instance, make: Make, person: User) -> None:
    group = make_group(make, make.user(), **REQUIRED)
    add_members(make, group, {person: 10}, expires_at="2050-01-02")
    with day(instance, "2050-01-01"):
        assert is_due(instance, person)
    with day(instance, "2050-01-02"):
        assert not is_due(instance, person)


def test_a_transferred_group_has_the_requirement_of_its_parent(instance: Instance, make: Make, person: User) -> None:
    required, moved = make_group(make, make.user(), **REQUIRED), make_group(make, make.user(), members={person: 10})
    assert make.api.post(f"/groups/{moved.id}/transfer", make.root, group_id=required.id).status_code == 201
    assert is_due(instance, person)
    assert make.api.post(f"/groups/{moved.id}/transfer", make.root).status_code == 201
    assert not is_due(instance, person)


def test_the_grace_period(instance: Instance, make: Make, person: User) -> None:
    """It starts with the requirement or the membership; other changes of the group do not extend it."""
    late = make.user()
    with day(instance, "2050-01-01"):
        group = make_group(make, make.user(), members={person: 10}, require_two_factor_authentication=True)
    with day(instance, "2050-01-02"):
        edit(make, group, description="new", **{**REQUIRED, "two_factor_grace_period": 36})
        add_members(make, group, {late: 10})
        assert not is_due(instance, person)
    with day(instance, "2050-01-03"):
        assert is_due(instance, person)
        assert not is_due(instance, late)
        edit(make, group, require_two_factor_authentication=False)
        edit(make, group, require_two_factor_authentication=True)
        assert not is_due(instance, person)
    with day(instance, "2050-01-05"):
        assert is_due(instance, person)
        assert is_due(instance, late)


def test_pages_lead_to_the_setup(browser: Browser, api: Api, make: Make, person: User) -> None:
    group = make_group(
        make, make.user(), members={person: 10}, name="Group (secret)", require_two_factor_authentication=True
    )
    browser.signed_in_as(person)
    noticed = browser.get("/profile/account")
    assert (noticed.status_code, "Two-factor authentication is required" in noticed.text) == (200, True)
    shown = browser.get(HERE).text
    assert "Group (secret)" in shown
    assert "to continue" not in shown

    edit(make, group, two_factor_grace_period=0)
    assert browser.get("/profile/account").headers["location"] == HERE
    assert "to continue" in browser.get(HERE).text
    assert browser.get("/api/v4/user").status_code == 401, "The session does not open the API."
    assert api.get("/user", person).status_code == 200, "Tokens are a credential of their own."
    enable_two_factor(browser)
    opened = browser.get("/profile/account")
    assert (opened.status_code, "is required" in opened.text) == (200, False)


def test_members_can_leave_instead(browser: Browser, make: Make, person: User) -> None:
    group = make_group(make, make.user(), members={person: 10}, **REQUIRED)
    browser.signed_in_as(person)
    left = browser.submit(HERE, f"{HERE}/groups/{group.id}/leave")
    assert (left.status_code, left.headers["location"]) == (302, HERE)
    assert browser.get("/profile/account").status_code == 200
    assert make.api.get(f"/groups/{group.id}/members/{person.id}", make.root).status_code == 404

    token = {"authenticity_token": browser.token()}
    for other in (make_group(make, make.user()).id, 10**12, "x"):
        assert browser.post(f"{HERE}/groups/{other}/leave", data=token).status_code == 422


def test_the_last_owner_can_end_the_requirement(browser: Browser, make: Make, person: User) -> None:
    """The last owner cannot leave the group, and may have become its owner by another user."""
    author = make.user()
    group = make_group(make, author, members={person: 50}, **REQUIRED)
    assert make.api.delete(f"/groups/{group.id}/members/{author.id}", author).status_code == 200
    browser.signed_in_as(person)
    refused = browser.submit(HERE, f"{HERE}/groups/{group.id}/leave")
    assert (refused.status_code, "at least one owner" in refused.text) == (422, True)
    ended = browser.submit(HERE, f"{HERE}/groups/{group.id}/stop_requiring")
    assert (ended.status_code, ended.headers["location"]) == (302, HERE)
    assert browser.get("/profile/account").status_code == 200
    assert not make.api.get(f"/groups/{group.id}", person).json()["require_two_factor_authentication"]


def test_only_owners_can_end_the_requirement(browser: Browser, make: Make, person: User) -> None:
    """The last owner of a subgroup can leave it, because the owners of its parent are its owners, too."""
    author = make.user()
    parent = make_group(make, author, members={person: 40}, **REQUIRED)
    group = make_group(make, author, parent=parent, members={person: 50})
    assert make.api.delete(f"/groups/{group.id}/members/{author.id}", author).status_code == 200
    browser.signed_in_as(person)
    assert "stop_requiring" not in browser.get(HERE).text
    token = {"authenticity_token": browser.form(HERE, f"{HERE}/groups/{group.id}/leave").fields["authenticity_token"]}
    assert browser.post(f"{HERE}/groups/{parent.id}/stop_requiring", data=token).status_code == 422
    assert make.api.get(f"/groups/{parent.id}", author).json()["require_two_factor_authentication"]
    for each in (group, parent):
        assert browser.submit(HERE, f"{HERE}/groups/{each.id}/leave").status_code == 302
    assert browser.get("/profile/account").status_code == 200


def test_the_page_lists_a_limited_number_of_groups(
    browser: Browser, make: Make, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(two_factor, "MAX_REQUIREMENTS", 2)
    for hours in (30, 10, 20):
        required: dict[str, Any] = {**REQUIRED, "two_factor_grace_period": hours}
        make_group(make, make.user(), members={person: 10}, name=f"Hours {hours}", **required)
    browser.signed_in_as(person)
    page = browser.get(HERE).text
    assert [f"Hours {hours}" in page for hours in (10, 20, 30)] == [True, True, False]


def test_settings_of_a_group(browser: Browser, make: Make, person: User) -> None:
    group = make_group(make, person)
    browser.signed_in_as(person)
    page = f"/groups/{group.path}/-/edit"
    token = browser.token()

    def save(hours: str) -> int:
        typed = {"name": group.name, "visibility": "private", "project_creation_level": "maintainer"}
        typed |= {"require_two_factor_authentication": "1", "two_factor_grace_period": hours}
        fields = {"authenticity_token": token, "_method": "put", "part": "general"}
        return browser.post(
            page, data=fields | {f"general[{name}]": value for name, value in typed.items()}
        ).status_code

    assert save("12") == 302
    shown = make.api.get(f"/groups/{group.id}", person).json()
    assert (shown["require_two_factor_authentication"], shown["two_factor_grace_period"]) == (True, 12)
    for invalid in ("-1", "x", str(2**31)):
        assert save(invalid) == 422, invalid
        assert make.api.put(f"/groups/{group.id}", person, two_factor_grace_period=invalid).status_code == 400, invalid
    assert make.api.get(f"/groups/{group.id}", person).json()["two_factor_grace_period"] == 12
