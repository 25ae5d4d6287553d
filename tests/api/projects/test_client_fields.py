"""Fields and behaviour that today's clients expect, and that have no test of their own elsewhere."""

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
    changed = api.put(f"/users/{user.id}", make.root, pronouns="they", theme_id=3, private_profile=True).json()
    expected = {"note": "Known", "job_title": "Chef", "pronouns": "they", "theme_id": 3, "private_profile": True}
    assert changed | expected == changed
    assert changed["namespace_id"] == api.get(f"/namespaces/{user.username}", user).json()["id"]
    assert not {*expected, "namespace_id"} & set(api.get(f"/users/{user.id}", user).json())
    refused = api.put(f"/users/{user.id}", make.root, theme_id=0)
    assert (refused.status_code, list(refused.json()["message"])) == (400, ["theme_id"])


def test_events_of_hooks(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    hook = api.post(f"{project.url}/hooks", owner, url="https://example.org", deployment_events=True).json()
    assert (hook["deployment_events"], hook["feature_flag_events"]) == (True, False)


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


def test_options_of_groups(api: Api, make: Make) -> None:
    owner, master, member = make.user(), make.user(), make.user()
    group = make_group(make, owner, members={master: Level.MASTER, member: Level.GUEST})
    changes = {"default_branch_protection": 0, "mentions_disabled": True, "two_factor_grace_period": 24}
    changes |= {"require_two_factor_authentication": True, "auto_devops_enabled": True}
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
    sent = {
        "terms": "Be kind",
        "raw_blob_request_limit": 7,
        "valid_runner_registrars": ["group"],
        "gitpod_enabled": True,
    }
    before = api.get("/application/settings", make.root).json()
    changed = api.put("/application/settings", make.root, default_branch_name="trunk", **sent)
    try:
        assert changed.status_code == 200
        assert changed.json() | sent == changed.json() == api.get("/application/settings", make.root).json()
        made = api.post("/projects", make.root, name=make.name("trunk")).json()
        assert made["default_branch"] == "trunk"
        refused = api.put(
            "/application/settings", make.root, raw_blob_request_limit="x", email_confirmation_setting="x"
        )
        assert set(refused.json()["message"]) == {"raw_blob_request_limit", "email_confirmation_setting"}
    finally:
        reset = {name: before[name] for name in sent if before[name] is not None}
        api.put("/application/settings", make.root, default_branch_name=None, terms=None, **reset)
