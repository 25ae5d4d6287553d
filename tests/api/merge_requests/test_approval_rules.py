"""Approval rules of projects and merge requests, and merges that wait for approvals."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.factories import Project, add_members, changed_settings, make_group
from tests.roles import UsersByRole, project_with

Sample = tuple[User, User, User, Project]


@pytest.fixture
def sample(make: Make) -> Sample:
    """Return a private project, its owner, and two developers."""
    owner, first, second = make.user(), make.user(), make.user()
    project = filled_project(make, owner, visibility="private")
    add_members(make, project, {first: Level.DEVELOPER, second: Level.DEVELOPER})
    return owner, first, second, project


def _status(api: Api, url: str, caller: User) -> str:
    status: str = api.get(url, caller).json()["detailed_merge_status"]
    return status


def test_maintainers_manage_the_rules_of_a_project(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    where, settings = f"{project.url}/approval_rules", f"{project.url}/approvals"
    assert api.get(where, roles.owner).json() == []
    for role, status in (("owner", 200), ("master", 200), ("developer", 403), ("stranger", 404), ("nobody", 401)):
        caller = roles[role]
        made = api.post(where, caller, name=role, approvals_required=1, user_ids=[roles.developer.id])
        assert made.status_code == (201 if status == 200 else status), role
        rule = made.json()["id"] if status == 200 else 1
        readable = 200 if role == "developer" else status
        assert api.get(where, caller).status_code == readable
        assert api.put(f"{where}/{rule}", caller).status_code == status
        assert api.get(settings, caller).status_code == readable
        assert api.post(settings, caller, reset_approvals_on_push=True).status_code == (
            201 if status == 200 else status
        )
        assert api.delete(f"{where}/{rule}", caller).status_code == (204 if status == 200 else status)
    assert api.get(settings, roles.owner).json()["reset_approvals_on_push"] is True
    assert api.get(f"{where}/999999", roles.owner).status_code == 404
    assert api.post(where, roles.owner, name="", approvals_required=1).status_code == 400
    assert api.post(where, roles.owner, name="x", approvals_required=-1).status_code == 400
    assert api.post(where, roles.owner, name="x", approvals_required=1).status_code == 201
    assert api.post(where, roles.owner, name="x", approvals_required=1).status_code == 400
    assert api.post(where, roles.owner, name="y", rule_type="any_approver", approvals_required=1).status_code == 201
    assert api.post(where, roles.owner, name="z", rule_type="any_approver", approvals_required=1).status_code == 400
    rule = api.get(where, roles.developer).json()[0]["id"]
    assert api.get(f"{where}/{rule}", roles.developer).status_code == 200
    assert api.get(where, roles.guest).status_code == 403
    assert "has_approval_rules" not in api.get(project.url, roles.owner).json()


def test_a_merge_waits_for_the_approvals_of_the_rule(api: Api, make: Make, sample: Sample) -> None:
    owner, first, second, project = sample
    rule = {
        "name": "Security",
        "approvals_required": 1,
        "user_ids": [second.id, 999_999],
        "usernames": [owner.username],
    }
    made = api.post(f"{project.url}/approval_rules", owner, **rule).json()
    assert {user["id"] for user in made["users"]} == {owner.id, second.id}
    url = f"{project.url}/merge_requests/{make_merge_request(make, project, first)['iid']}"
    assert _status(api, url, owner) == "not_approved"
    listed = api.get(f"{project.url}/merge_requests", owner).json()
    assert listed[0]["detailed_merge_status"] == "not_approved"
    refused = api.put(f"{url}/merge", owner)
    assert refused.status_code == 405 and "approved first" in refused.text
    # The author's approval is refused, that of others does not count for this rule.
    assert api.post(f"{url}/approve", first).status_code == 401
    third = make.user()
    add_members(make, project, {third: Level.DEVELOPER})
    shown = api.post(f"{url}/approve", third).json()
    assert (shown["approved"], shown["approvals_left"], shown["approvals_required"]) == (False, 1, 1)
    assert [left["name"] for left in shown["approval_rules_left"]] == ["Security"]
    assert _status(api, url, owner) == "not_approved"
    assert api.post(f"{url}/approve", second).json()["approved"] is True
    state = api.get(f"{url}/approval_state", owner).json()
    assert [user["id"] for user in state["rules"][0]["approved_by"]] == [second.id]
    assert (state["rules"][0]["approved"], state["approval_rules_overwritten"]) == (True, False)
    assert api.post(f"{url}/unapprove", second).json()["approvals_left"] == 1
    assert _status(api, url, owner) == "not_approved"
    api.post(f"{url}/approve", second)
    assert api.put(f"{url}/merge", owner).json()["state"] == "merged"


def test_members_of_a_group_approve_and_hidden_groups_stay_hidden(api: Api, make: Make, sample: Sample) -> None:
    owner, first, second, project = sample
    group = make_group(make, owner, visibility="private", members={second: Level.DEVELOPER})
    where = f"{project.url}/approval_rules"
    rule = api.post(where, owner, name="Team", approvals_required=1, group_ids=[group.id]).json()
    assert {user["id"] for user in rule["eligible_approvers"]} == {owner.id, second.id}
    url = f"{project.url}/merge_requests/{make_merge_request(make, project, first)['iid']}"
    hidden = api.get(f"{url}/approval_rules", first).json()[0]
    assert (hidden["groups"], hidden["eligible_approvers"], hidden["contains_hidden_groups"]) == ([], [], True)
    assert api.post(where, first, name="Other", approvals_required=1, group_ids=[group.id]).status_code == 403
    # A maintainer who does not see the group cannot remove it by accident.
    maintainer = make.user()
    add_members(make, project, {maintainer: Level.MASTER})
    assert api.put(f"{where}/{rule['id']}", maintainer, group_ids=[]).json()["contains_hidden_groups"] is True
    assert api.post(f"{url}/approve", second).json()["approved"] is True
    assert api.put(f"{url}/merge", owner).status_code == 200


def test_rules_apply_to_protected_branches(api: Api, make: Make, sample: Sample) -> None:
    owner, first, _, project = sample
    protected = api.get(f"{project.url}/protected_branches/master", owner).json()["id"]
    where = f"{project.url}/approval_rules"
    rule = api.post(where, owner, name="M", approvals_required=1, protected_branch_ids=[protected]).json()
    assert [branch["name"] for branch in rule["protected_branches"]] == ["master"]
    commit(make, project, "other", {"other": "x"}, owner, start="master")
    into_master = make_merge_request(make, project, first)
    into_other = make_merge_request(make, project, first, target_branch="other")
    for change, statuses in (
        ({}, ("not_approved", "mergeable")),
        ({"protected_branch_ids": []}, ("not_approved", "not_approved")),
        ({"applies_to_all_protected_branches": True}, ("not_approved", "mergeable")),
    ):
        assert api.put(f"{where}/{rule['id']}", owner, **change).status_code == 200
        found = [
            _status(api, f"{project.url}/merge_requests/{made['iid']}", owner) for made in (into_master, into_other)
        ]
        assert tuple(found) == statuses, change


def test_merge_requests_overwrite_rules_unless_the_project_forbids_it(api: Api, make: Make, sample: Sample) -> None:
    owner, first, second, project = sample
    base = {"approvals_required": 2}
    source = api.post(f"{project.url}/approval_rules", owner, name="Two", user_ids=[second.id], **base).json()
    url = f"{project.url}/merge_requests/{make_merge_request(make, project, first)['iid']}"
    rules = f"{url}/approval_rules"
    sent: dict[str, Any] = {"name": "One", "approvals_required": 1, "approval_project_rule_id": source["id"]}
    own = api.post(rules, first, **sent).json()
    assert (own["name"], [user["id"] for user in own["users"]]) == ("Two", [second.id])
    assert api.get(f"{rules}/{own['id']}", first).json()["approvals_required"] == 1
    assert api.get(f"{url}/approval_state", first).json()["approval_rules_overwritten"] is True
    assert api.post(f"{url}/approve", second).json()["approved"] is True
    assert api.put(f"{rules}/{own['id']}", first, approvals_required=3).json()["approvals_required"] == 3
    assert _status(api, url, owner) == "not_approved"
    assert api.get(f"{rules}/{source['id']}", first).status_code == 404
    api.post(f"{project.url}/approvals", owner, disable_overriding_approvers_per_merge_request=True)
    assert api.put(f"{rules}/{own['id']}", first, approvals_required=0).status_code == 403
    assert api.get(f"{url}/approvals", first).json()["approvals_required"] == 2
    api.post(f"{project.url}/approvals", owner, disable_overriding_approvers_per_merge_request=False)
    assert api.delete(f"{rules}/{own['id']}", first).status_code == 204
    assert api.post(f"{url}/approvals", first, approvals_required=4).json()["approvals_required"] == 4
    assert api.post(f"{url}/approvals", first, approvals_required=0).json()["approvals_left"] == 0


def test_settings_of_approvals(api: Api, make: Make, sample: Sample) -> None:
    owner, first, second, project = sample
    assert api.put(project.url, owner, approvals_before_merge=1).json()["approvals_before_merge"] == 1
    assert api.post(f"{project.url}/approvals", owner, reset_approvals_on_push=True).status_code == 201
    made = make_merge_request(make, project, first)
    url = f"{project.url}/merge_requests/{made['iid']}"
    assert api.post(f"{url}/approve", second).json()["approved"] is True
    assert _status(api, url, owner) == "mergeable"
    commit(make, project, made["source_branch"], {"more": "x"}, first)
    assert (_status(api, url, owner), api.get(f"{url}/approvals", owner).json()["approved_by"]) == ("not_approved", [])
    api.post(f"{project.url}/approvals", owner, merge_requests_author_approval=True)
    assert api.post(f"{url}/approve", first).json()["approved"] is True
    assert api.put(f"{url}/merge", owner).json()["state"] == "merged"


def test_committers_cannot_approve_if_the_project_excludes_them(api: Api, make: Make, sample: Sample) -> None:
    owner, first, second, project = sample
    merge_request = make_merge_request(make, project, owner)
    commit(make, project, merge_request["source_branch"], {"by-first": "x"}, first)
    url = f"{project.url}/merge_requests/{merge_request['iid']}"
    settings = f"{project.url}/approvals"
    sent = {"merge_requests_disable_committers_approval": True}
    assert api.post(settings, owner, **sent).json()["merge_requests_disable_committers_approval"] is True

    assert api.get(f"{url}/approvals", first).json()["user_can_approve"] is False
    assert api.post(f"{url}/approve", first).status_code == 401
    assert api.post(f"{url}/notes", first, body="/approve").status_code in (202, 400)
    assert api.post(f"{url}/approve", second).status_code == 201
    commit(make, project, merge_request["source_branch"], {"by-second": "x"}, second)
    assert api.get(f"{url}/approvals", owner).json()["approved_by"] == []
    api.post(settings, owner, merge_requests_disable_committers_approval=False)
    assert api.post(f"{url}/approve", first).status_code == 201


def test_settings_of_the_instance_restrict_approvals(api: Api, make: Make, sample: Sample) -> None:
    owner, first, second, project = sample
    settings = f"{project.url}/approvals"
    api.post(settings, owner, merge_requests_author_approval=True, approvals_before_merge=1)
    made = make_merge_request(make, project, first)
    commit(make, project, made["source_branch"], {"by-second": "x"}, second)
    url = f"{project.url}/merge_requests/{made['iid']}"
    rule = {"name": "Own", "approvals_required": 1}

    with changed_settings(make, prevent_merge_requests_author_approval=True):
        assert api.get(settings, owner).json()["merge_requests_author_approval"] is False
        assert api.post(f"{url}/approve", first).status_code == 401
    with changed_settings(make, prevent_merge_requests_committers_approval=True):
        assert api.get(settings, owner).json()["merge_requests_disable_committers_approval"] is True
        assert api.post(f"{url}/approve", second).status_code == 401
    with changed_settings(make, disable_overriding_approvers_per_merge_request=True):
        assert api.get(settings, owner).json()["disable_overriding_approvers_per_merge_request"] is True
        assert api.post(f"{url}/approval_rules", first, **rule).status_code == 403
    assert api.post(f"{url}/approval_rules", first, **rule).status_code == 201
    for user in (first, second):
        assert api.post(f"{url}/approve", user).status_code == 201
    with changed_settings(make, prevent_merge_requests_author_approval=True):
        assert api.get(f"{url}/approval_state", owner).json()["rules"][0]["approved_by"][0]["id"] == second.id


def test_authors_are_excluded_where_no_approvals_are_required(api: Api, make: Make, sample: Sample) -> None:
    owner, first, _, project = sample
    url = f"{project.url}/merge_requests/{make_merge_request(make, project, first)['iid']}"
    settings, name = f"{project.url}/approvals", "merge_requests_author_approval"

    def is_refused() -> bool:
        assert api.get(f"{url}/approvals", first).json()["user_can_approve"] is False
        api.post(f"{url}/notes", first, body="/approve")
        assert api.get(f"{url}/approvals", owner).json()["approved_by"] == []
        return api.post(f"{url}/approve", first).status_code == 401

    assert api.get(settings, owner).json()[name] is False
    with changed_settings(make, prevent_merge_requests_author_approval=True):
        assert is_refused()
    api.post(settings, owner, **{name: False})
    assert is_refused()
    api.post(settings, owner, **{name: True})
    assert api.post(f"{url}/approve", first).status_code == 201


def test_passwords_before_approvals(api: Api, make: Make, sample: Sample) -> None:
    owner, first, second, project = sample
    made = make_merge_request(make, project, first)
    url = f"{project.url}/merge_requests/{made['iid']}"
    assert api.post(f"{project.url}/approvals", owner, require_password_to_approve=True).status_code == 201
    assert api.get(f"{url}/approvals", second).json()["require_password_to_approve"] is True
    assert api.post(f"{url}/approve", second).status_code == 401
    assert api.post(f"{url}/approve", second, approval_password="wrong").status_code == 401
    api.post(f"{url}/notes", second, body="/approve")
    assert api.get(f"{url}/approvals", second).json()["approved_by"] == []
    api.put(f"/users/{second.id}", make.root, password="a new long password")
    assert api.post(f"{url}/approve", second, approval_password="a new long password").status_code == 201
    assert api.post(f"{url}/unapprove", second).status_code == 201


def test_code_owners_cannot_be_removed(api: Api, sample: Sample) -> None:
    owner, *_, project = sample
    refused = api.post(f"{project.url}/approvals", owner, selective_code_owner_removals=True)
    assert (refused.status_code, list(refused.json()["message"])) == (400, ["selective_code_owner_removals"])
    assert api.post(f"{project.url}/approvals", owner, selective_code_owner_removals=False).status_code == 201
