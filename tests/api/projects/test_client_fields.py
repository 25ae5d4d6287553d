"""Fields and behaviour that today's clients expect, and that have no test of their own elsewhere."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_group, make_project


def test_fields_of_issues_and_merge_requests(api: Api, instance: Instance, make: Make) -> None:
    """Merge requests are counted only for callers who may see them."""
    owner, guest, other = make.user(), make.user(), make.user()
    project = filled_project(make, owner, members={guest: Level.GUEST, other: Level.DEVELOPER})
    tasks = "- [x] one\n- [ ] two\n\n`[x]`"
    issue = api.post(f"{project.url}/issues", owner, title="First", description=tasks).json()
    url = f"{instance.url}/api/v4{project.url}"
    assert issue["_links"]["self"] == f"{url}/issues/{issue['iid']}"
    assert issue["_links"]["project"] == url
    assert issue["task_completion_status"] == {"count": 2, "completed_count": 1}
    assert issue["merge_requests_count"] == 0

    made = make_merge_request(make, project, other, description=f"Closes #{issue['iid']}\n\n* [ ] do")
    for caller, count in ((owner, 1), (guest, 0), (make.root, 1)):
        (listed,) = api.get(f"{project.url}/issues", caller).json()
        assert listed["merge_requests_count"] == count
    shown = api.get(f"{project.url}/merge_requests/{made['iid']}", owner).json()
    assert shown["task_completion_status"] == {"count": 1, "completed_count": 0}
    assert shown["first_contribution"] is False, "The author is a developer."

    for url, subject in ((f"{project.url}/issues", issue), (f"{project.url}/merge_requests", made)):
        edited = api.put(f"{url}/{subject['iid']}", owner, description="- [x] a\n- [x] b\n- [ ] c").json()
        assert edited["task_completion_status"] == {"count": 3, "completed_count": 2}
        edited = api.put(f"{url}/{subject['iid']}", owner, description="").json()
        assert edited["task_completion_status"] == {"count": 0, "completed_count": 0}


def test_trailers_of_commits_and_html_of_releases(api: Api, make: Make) -> None:
    owner = make.user()
    project = filled_project(make, owner)
    message = "Title\n\nText: this.\nMore text.\n\nSigned-off-by: A <a@b>\nReviewed-by: B\nReviewed-by: C\n"
    oid = commit(make, project, "master", {"x": "x"}, owner, message=message)
    shown = api.get(f"{project.url}/repository/commits/{oid}", owner).json()
    assert shown["trailers"] == {"Signed-off-by": "A <a@b>", "Reviewed-by": "C"}
    assert shown["extended_trailers"]["Reviewed-by"] == ["B", "C"]
    oid = commit(make, project, "master", {"y": "y"}, owner, message=message.replace("\n", "\r\n"))
    assert api.get(f"{project.url}/repository/commits/{oid}", owner).json()["trailers"] == shown["trailers"]
    release = {"tag_name": "v1", "ref": "master", "description": "**bold**"}
    assert "description_html" not in api.post(f"{project.url}/releases", owner, **release).json()
    one = api.get(f"{project.url}/releases/v1", owner, include_html_description=True).json()
    assert one["description_html"].strip() == ('<p data-sourcepos="1:1-1:8" dir="auto"><strong>bold</strong></p>')
    (listed,) = api.get(f"{project.url}/releases", owner, include_html_description=True).json()
    assert listed["description_html"] == one["description_html"]


def test_details_of_users_are_for_administrators(api: Api, make: Make) -> None:
    user = make.user(note="Known", job_title="Chef")
    changed = api.put(f"/users/{user.id}", make.root, pronouns="they", private_profile=True).json()
    expected = {"note": "Known", "job_title": "Chef", "pronouns": "they", "private_profile": True}
    assert changed | expected == changed
    assert changed["namespace_id"] == api.get(f"/namespaces/{user.username}", user).json()["id"]
    # Everybody sees those that profiles show; nobody else sees more of a private profile than the name.
    own = api.get("/user", user).json()
    assert (own["job_title"], own["pronouns"], own["discord"]) == ("Chef", "they", None)
    assert not {*expected, "namespace_id"} & set(api.get(f"/users/{user.id}", user).json()) - own.keys()
    assert "job_title" not in api.get(f"/users/{user.id}", make.user()).json()
    assert api.put(f"/users/{user.id}", make.root, private_profile=False).status_code == 200
    assert api.get(f"/users/{user.id}", make.user()).json()["pronouns"] == "they"
    refused = api.put(f"/users/{user.id}", make.root, theme_id=0)
    assert (refused.status_code, list(refused.json()["message"])) == (400, ["theme_id"])


def test_events_of_hooks(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    sent = {"url": "https://example.org", "push_events": True}
    refused = api.post(f"{project.url}/hooks", owner, **sent, deployment_events=True, emoji_events=True)
    assert (refused.status_code, set(refused.json()["message"])) == (400, {"deployment_events", "emoji_events"})
    hook = api.post(f"{project.url}/hooks", owner, **sent, deployment_events=False).json()
    assert (hook["deployment_events"], hook["feature_flag_events"]) == (False, False)


def test_several_topics_must_all_match(api: Api, make: Make) -> None:
    one, two = make.name("topic"), make.name("topic")
    both = make_project(make, topics=[one, two])
    make_project(make, topics=[one])
    assert [each["id"] for each in api.get("/projects", make.root, topic=f"{one}, {two.upper()}").json()] == [both.id]
    assert len(api.get("/projects", make.root, topic=one).json()) == 2


def test_restricted_variables(api: Api, make: Make) -> None:
    owner, developer = make.user(), make.user()
    project = filled_project(make, owner, members={developer: Level.DEVELOPER}, restrict_user_defined_variables=True)
    commit(make, project, "work", {".gitlab-ci.yml": "test: {script: 'true'}"}, owner, start="master")
    sent = {"ref": "work", "variables": [{"key": "A", "value": "b"}]}
    refused = api.post(f"{project.url}/pipeline", developer, **sent)
    assert (refused.status_code, refused.json()) == (
        400,
        {"message": {"base": ["Insufficient permissions to set pipeline variables"]}},
    )
    assert api.post(f"{project.url}/pipeline", developer, ref="work").status_code == 201
    assert api.post(f"{project.url}/pipeline", owner, **sent).status_code == 201


ROLES = {"no_one_allowed": (), "developer": (30, 40, 50), "maintainer": (40, 50), "owner": (50,)}


@pytest.mark.parametrize(("role", "allowed"), ROLES.items())
def test_role_that_may_give_variables(api: Api, make: Make, role: str, allowed: tuple[int, ...]) -> None:
    owner, master, developer = make.user(), make.user(), make.user()
    members = {master: Level.MASTER, developer: Level.DEVELOPER}
    project = filled_project(make, owner, members=members)
    script = {".gitlab-ci.yml": "test: {script: 'true', when: manual}"}
    commit(make, project, "work", script, owner, start="master")
    edited = api.put(project.url, owner, ci_pipeline_variables_minimum_override_role=role).json()
    assert edited["ci_pipeline_variables_minimum_override_role"] == role
    assert edited["restrict_user_defined_variables"] is (role != "developer")
    for level, user in ((30, developer), (40, master), (50, owner)):
        status = 201 if level in allowed else 400
        variables = [{"key": "A", "value": "b"}]
        assert api.post(f"{project.url}/pipeline", user, ref="work", variables=variables).status_code == status
        trigger = api.post(f"{project.url}/triggers", master, description="x").json()["token"] if level == 40 else ""
        if trigger:
            started: dict[str, Any] = {"token": trigger, "ref": "work"}
            assert api.post(f"{project.url}/trigger/pipeline", **started).status_code == 201
            started["variables"] = {"A": "b"}
            assert api.post(f"{project.url}/trigger/pipeline", **started).status_code == status
        pipeline = api.post(f"{project.url}/pipeline", user, ref="work").json()
        (job,) = api.get(f"{project.url}/pipelines/{pipeline['id']}/jobs", user).json()
        played = api.post(f"{project.url}/jobs/{job['id']}/play", user, job_variables_attributes=variables)
        assert played.status_code == (200 if level in allowed else 400)
        timing = {"description": "daily", "ref": "work", "cron": "0 4 * * *"}
        schedule = api.post(f"{project.url}/pipeline_schedules", user, **timing).json()
        added = api.post(f"{project.url}/pipeline_schedules/{schedule['id']}/variables", user, key="A", value="b")
        assert added.status_code == (201 if level in allowed else 403)


def test_restrictions_of_variables_agree(api: Api, make: Make) -> None:
    owner, master = make.user(), make.user()
    project = make_project(make, owner, members={master: Level.MASTER})
    flag, role = "restrict_user_defined_variables", "ci_pipeline_variables_minimum_override_role"
    for sent, shown in (
        ({flag: True}, (True, "maintainer")),
        ({flag: False}, (False, "developer")),
        ({flag: True, role: "developer"}, (False, "developer")),
        ({flag: False, role: "maintainer"}, (True, "maintainer")),
        ({role: "no_one_allowed"}, (True, "no_one_allowed")),
        ({flag: True}, (True, "no_one_allowed")),
        ({role: "owner"}, (True, "owner")),
    ):
        edited = api.put(project.url, owner, **sent).json()
        assert (edited[flag], edited[role]) == shown, sent
    assert api.put(project.url, master, **{flag: False}).status_code == 403
    assert api.put(project.url, master, **{flag: True, "description": "x"}).status_code == 200
    assert api.put(project.url, owner, **{role: "guest"}).status_code == 400


def test_scheduled_variables_need_the_role(api: Api, make: Make) -> None:
    owner, developer = make.user(), make.user()
    project = filled_project(make, owner, members={developer: Level.DEVELOPER})
    commit(make, project, "work", {".gitlab-ci.yml": "test: {script: 'true'}"}, owner, start="master")
    timing = {"description": "daily", "ref": "work", "cron": "0 4 * * *"}
    schedule = api.post(f"{project.url}/pipeline_schedules", developer, **timing).json()
    url = f"{project.url}/pipeline_schedules/{schedule['id']}"
    assert api.post(f"{url}/variables", developer, key="A", value="b").status_code == 201
    api.put(project.url, owner, ci_pipeline_variables_minimum_override_role="maintainer")
    assert api.post(f"{url}/play", developer).status_code == 201
    (failed, *_) = api.get(f"{url}/pipelines", developer).json()
    shown = api.get(f"{project.url}/pipelines/{failed['id']}", developer).json()
    assert (shown["status"], shown["yaml_errors"]) == ("failed", "Insufficient permissions to set pipeline variables")
    assert api.get(f"{project.url}/pipelines/{failed['id']}/variables", owner).json() == []


def test_invalid_subjects_of_id_tokens(api: Api, make: Make) -> None:
    project = make_project(make)
    name = "ci_id_token_sub_claim_components"
    for value in ([], ["ref"], ["project_path", "sha"], "x"):
        assert list(api.put(project.url, make.root, **{name: value}).json()["message"]) == [name], value
    assert api.put(project.url, make.root, **{name: ["project_path"]}).json()[name] == ["project_path"]


def test_options_of_groups(api: Api, make: Make) -> None:
    owner, master, member = make.user(), make.user(), make.user()
    group = make_group(make, owner, members={master: Level.MASTER, member: Level.GUEST})
    changes = {"default_branch_protection": 0, "mentions_disabled": True, "two_factor_grace_period": 24}
    changes |= {"require_two_factor_authentication": True}
    edited = api.put(group.url, owner, subgroup_creation_level="maintainer", **changes).json()
    assert edited | changes == edited
    below = {"path": "below", "name": "below", "parent_id": group.id}
    assert api.post("/groups", master, **below).status_code == 201
    api.put(group.url, owner, subgroup_creation_level="owner")
    assert api.post("/groups", master, **{**below, "path": "b2", "name": "b2"}).status_code == 403
    project = make_project(make, owner, group=group)
    assert api.get(f"{project.url}/protected_branches", owner).json() == []
    api.put(group.url, owner, default_branch_protection=1)
    (rule,) = api.get(f"{make_project(make, owner, group=group).url}/protected_branches", owner).json()
    assert rule["push_access_levels"][0]["access_level"] == Level.DEVELOPER
    api.post(f"{project.url}/issues", owner, title="Hello", description=f"@{group.path}")
    assert api.get("/todos", master).json() == []
    refused = api.put(group.url, owner, subgroup_creation_level="guest", two_factor_grace_period=-1)
    assert set(refused.json()["message"]) == {"subgroup_creation_level", "two_factor_grace_period"}


def test_application_settings_of_today(api: Api, make: Make) -> None:
    try:
        changed = api.put("/application/settings", make.root, default_branch_name="trunk")
        assert changed.status_code == 200
        assert changed.json() == api.get("/application/settings", make.root).json()
        made = api.post("/projects", make.root, name=make.name("trunk")).json()
        assert made["default_branch"] == "trunk"
        refused = api.put("/application/settings", make.root, ci_max_includes="x", email_confirmation_setting="x")
        assert set(refused.json()["message"]) == {"ci_max_includes", "email_confirmation_setting"}
    finally:
        api.put("/application/settings", make.root, default_branch_name=None)
