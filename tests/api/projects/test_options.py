"""Options of projects: storage, validation and effects."""

from typing import Any

from ingot.core.access.levels import Level
from ingot.core.api.declared_fields import fixed_values
from ingot.projects.projects.options import INTERNAL, ProjectCiOptions, ProjectOptions
from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_group, make_project

FIXED = fixed_values(ProjectOptions) | fixed_values(ProjectCiOptions)
CHANGED: dict[str, Any] = {
    **{
        name: not default
        for struct in (ProjectOptions, ProjectCiOptions)
        for name, default in zip(struct.__struct_fields__, struct.__struct_defaults__, strict=True)
        # A mirror needs a URL.
        if isinstance(default, bool) and name not in ("mirror", *INTERNAL, *FIXED)
    },
    **{name: "disabled" for name in ProjectOptions.__struct_fields__ if name.endswith("_access_level")},
    "suggestion_commit_message": "Apply %{files_count}",
    "merge_commit_template": "%{title}",
    "squash_commit_template": "Squash %{title}",
    "merge_request_title_regex": "^[A-Z]",
    "allow_merge_on_skipped_pipeline": True,
    "ci_pipeline_variables_minimum_override_role": "owner",
    "ci_id_token_sub_claim_components": ["project_path"],
    "ci_delete_pipelines_in_seconds": 86400,
}
REFUSED = {
    "autoclose_referenced_issues": "maybe",
    "merge_commit_template": "x" * 501,
    "suggestion_commit_message": "x" * 256,
    "releases_access_level": "public",
    "auto_devops_deploy_strategy": "often",
    "max_artifacts_size": -1,
    "ci_delete_pipelines_in_seconds": "soon",
    "emails_enabled": {"a": 1},
}


def test_options_are_stored_checked_and_reset(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    before = api.get(project.url, owner).json()
    assert set(CHANGED) <= {*ProjectOptions.__struct_fields__, *ProjectCiOptions.__struct_fields__} - {*INTERNAL}

    for name, value in CHANGED.items():
        assert before[name] != value
        answer = api.put(project.url, owner, **{name: value})
        assert (answer.status_code, answer.json()[name]) == (200, value), name
    shown = api.get(project.url, owner).json()
    assert shown | CHANGED == shown
    assert shown["emails_disabled"] is True
    (listed,) = api.get(f"/users/{owner.username}/projects", owner).json()
    assert {name: listed[name] for name in CHANGED if name in listed}.items() <= CHANGED.items()

    for name, value in REFUSED.items():
        answer = api.put(project.url, owner, **{name: value})
        assert (answer.status_code, list(answer.json()["message"])) == (400, [name])
    assert api.get(project.url, owner).json() == shown
    reset = {name: before[name] for name in CHANGED if before[name] is not None}
    texts = {name: "" for name in CHANGED if before[name] is None and isinstance(CHANGED[name], str)}
    answer = api.put(project.url, owner, **reset, **texts)
    assert {name: answer.json()[name] for name in (*reset, *texts)} == {name: before[name] for name in (*reset, *texts)}
    assert api.put(project.url, owner, emails_disabled=True).json()["emails_enabled"] is False
    made = api.post("/projects", owner, name=make.name("new"), merge_commit_template="%{title}", packages_enabled=False)
    assert (made.json()["merge_commit_template"], made.json()["packages_enabled"]) == ("%{title}", False)


def test_private_levels_stay_when_the_visibility_changes(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner, visibility="private")

    stored = api.put(project.url, owner, issues_access_level="private")
    assert (stored.json()["issues_access_level"], stored.json()["issues_enabled"]) == ("private", True)
    opened = api.put(project.url, owner, visibility="public").json()
    assert (opened["visibility"], opened["issues_access_level"]) == ("public", "private")
    assert api.put(project.url, owner, issues_enabled=False).json()["issues_access_level"] == "disabled"
    assert api.put(project.url, owner, issues_enabled=True).json()["issues_access_level"] == "enabled"


def test_links_and_permissions_in_lists(api: Api, instance: Instance, make: Make) -> None:
    """Reporters by a share of a group may create merge requests, too."""
    owner, guest, member = make.user(), make.user(), make.user()
    team = make_group(make, members={member: Level.DEVELOPER})
    project = make_project(make, owner, members={guest: Level.GUEST}, visibility="private")
    api.post(f"{project.url}/share", make.root, group_id=team.id, group_access=Level.REPORTER)
    url = f"{instance.url}/api/v4{project.url}"
    shown = api.get(project.url, owner).json()
    links = {"repo_branches": "/repository/branches", "labels": "/labels", "events": "/events", "members": "/members"}
    links |= {"self": "", "issues": "/issues", "merge_requests": "/merge_requests"}
    assert shown["_links"] == {name: url + path for name, path in links.items()}
    for caller, allowed in ((owner, True), (guest, False), (member, True), (make.root, True)):
        assert api.get(project.url, caller).json()["can_create_merge_request_in"] is allowed
        (listed,) = api.get("/projects", caller, search=project.name).json()
        assert listed["can_create_merge_request_in"] is allowed
    assert "issues" not in api.put(project.url, owner, issues_enabled=False).json()["_links"]


def test_forks_can_be_disabled(api: Api, make: Make) -> None:
    owner, stranger, guest = make.user(), make.user(), make.user()
    project = make_project(make, owner, visibility="public", members={guest: Level.GUEST})
    for level, statuses in (("disabled", (403, 403)), ("private", (403, 201)), ("enabled", (201,))):
        api.put(project.url, owner, forking_access_level=level)
        for caller, status in zip((stranger, guest), statuses, strict=False):
            assert api.post(f"{project.url}/fork", caller).status_code == status


def test_merge_messages_follow_the_templates(api: Api, make: Make) -> None:
    owner = make.user()
    project = filled_project(make, owner)
    api.post(f"{project.url}/issues", owner, title="First")
    template = "%{title} (%{reference})\n\n%{issues}\n\n%{description}\n\n%{unknown} of %{source_branch}"
    api.put(project.url, owner, merge_commit_template=template, squash_commit_template="S %{local_reference}")
    made = make_merge_request(make, project, owner, branch="one", title="Close #1")
    # A single commit is not squashed.
    commit(make, project, "one", {"more": "x"}, owner)

    merged = api.put(f"{project.url}/merge_requests/{made['iid']}/merge", owner, squash=True).json()

    commits = f"{project.url}/repository/commits"
    message = api.get(f"{commits}/{merged['merge_commit_sha']}", owner).json()["message"]
    assert message == f"Close #1 ({project.path}!1)\n\nCloses #1\n\n%{{unknown}} of one"
    assert api.get(f"{commits}/{merged['squash_commit_sha']}", owner).json()["message"] == "S !1"


def test_a_template_without_text_for_a_merge_request_is_not_used(api: Api, make: Make) -> None:
    owner = make.user()
    project = filled_project(make, owner)
    api.put(project.url, owner, merge_commit_template="%{description}", squash_commit_template="%{description}")
    made = make_merge_request(make, project, owner, branch="one", title="Change")
    commit(make, project, "one", {"more": "x"}, owner)

    merged = api.put(f"{project.url}/merge_requests/{made['iid']}/merge", owner, squash=True).json()

    commits = f"{project.url}/repository/commits"
    message = api.get(f"{commits}/{merged['merge_commit_sha']}", owner).json()["message"]
    assert message.startswith("Merge branch 'one' into 'master'\n\nChange")
    assert api.get(f"{commits}/{merged['squash_commit_sha']}", owner).json()["message"] == "Change"


def test_templates_contain_commits_and_approvers(api: Api, instance: Instance, make: Make) -> None:
    owner, reviewer = make.user(name="Olga Owner"), make.user(name="Rita Reviewer")
    project = filled_project(make, owner, members={reviewer: Level.DEVELOPER})
    merge_template = "%{first_multiline_commit}\n\n%{url}\n%{merge_request_author}\n%{merged_by}\n\n%{co_authored_by}"
    squash_template = "%{first_commit}\n%{first_multiline_commit_description}\n\n%{all_commits}"
    trailers = "\n\n%{approved_by}\n%{reviewed_by}"
    sent = {"merge_commit_template": merge_template + trailers, "squash_commit_template": squash_template}
    assert api.put(project.url, owner, **sent).status_code == 200
    made = make_merge_request(make, project, owner, branch="one", title="Title", reviewer_ids=[reviewer.id])
    path = f"{project.url}/merge_requests/{made['iid']}"
    commit(make, project, "one", {"more": "x"}, reviewer, message="Second\n\nWith a body")
    assert api.post(f"{path}/approve", reviewer).status_code == 201

    merged = api.put(f"{path}/merge", owner, squash=True).json()

    url = f"{instance.settings.base_url}/{project.path}/-/merge_requests/1"
    by_owner, by_reviewer = f"Olga Owner <{owner.email}>", f"Rita Reviewer <{reviewer.email}>"
    commits = f"{project.url}/repository/commits"
    lines = api.get(f"{commits}/{merged['merge_commit_sha']}", owner).json()["message"].splitlines()
    assert lines[:5] == ["Second", "", "With a body", "", url]
    assert lines[5:] == [
        *(by_owner, by_owner, "", f"Co-authored-by: {by_reviewer}", ""),
        *(f"Approved-by: {by_reviewer}", f"Reviewed-by: {by_reviewer}"),
    ]
    squashed = api.get(f"{commits}/{merged['squash_commit_sha']}", owner).json()["message"]
    assert squashed == "Change\nWith a body\n\n* Second\n\nWith a body\n\n* Change"


def test_issues_are_not_closed_if_disabled(api: Api, make: Make) -> None:
    owner = make.user()
    project = filled_project(make, owner, autoclose_referenced_issues=False)
    issue = api.post(f"{project.url}/issues", owner, title="First").json()
    made = make_merge_request(make, project, owner, description="Closes #1")
    merged = api.put(f"{project.url}/merge_requests/{made['iid']}/merge", owner).json()
    message = api.get(f"{project.url}/repository/commits/{merged['merge_commit_sha']}", owner).json()["message"]
    assert "Closes" not in message
    commit(make, project, "master", {"x": "x"}, owner, message="Fixes #1")
    assert api.get(f"{project.url}/issues/{issue['iid']}", owner).json()["state"] == "opened"
    api.put(project.url, owner, autoclose_referenced_issues=True)
    commit(make, project, "master", {"y": "y"}, owner, message="Fixes #1")
    assert api.get(f"{project.url}/issues/{issue['iid']}", owner).json()["state"] == "closed"


def test_skipped_pipelines_count_unless_excluded(api: Api, make: Make) -> None:
    owner = make.user()
    project = filled_project(make, owner, only_allow_merge_if_pipeline_succeeds=True)
    files = {".gitlab-ci.yml": "test: {script: 'true'}"}
    commit(make, project, "skipped", files, owner, start="master", message="Begin [ci skip]")
    sent = {"source_branch": "skipped", "target_branch": "master", "title": "Without tests"}
    made = api.post(f"{project.url}/merge_requests", owner, **sent).json()
    url = f"{project.url}/merge_requests/{made['iid']}"
    for setting, detailed in ((False, "ci_must_pass"), (True, "mergeable")):
        api.put(project.url, owner, allow_merge_on_skipped_pipeline=setting)
        assert api.get(url, owner).json()["detailed_merge_status"] == detailed
    assert api.put(f"{url}/merge", owner).status_code == 200


def test_pushes_resolve_outdated_discussions(api: Api, make: Make) -> None:
    owner = make.user()
    project = filled_project(make, owner, resolve_outdated_diff_discussions=True)
    commit(make, project, "edit", {"README": "one\ntwo changed\nthree\n"}, owner, start="master", action="update")
    sent = {"source_branch": "edit", "target_branch": "master", "title": "Edit"}
    made = api.post(f"{project.url}/merge_requests", owner, **sent).json()
    url = f"{project.url}/merge_requests/{made['iid']}"
    refs = api.get(url, owner).json()["diff_refs"]
    position = {**refs, "position_type": "text", "old_path": "README", "new_path": "README", "new_line": 2}
    noted = api.post(f"{url}/discussions", owner, body="Why?", position=position)
    assert noted.status_code == 201, noted.text
    discussion = f"{url}/discussions/{noted.json()['id']}"

    commit(make, project, "edit", {"README": "one\ntwo changed\nthree\nfour\n"}, owner, action="update")
    assert api.get(discussion, owner).json()["notes"][0]["resolved"] is False
    commit(make, project, "edit", {"README": "one\nelse\nthree\n"}, owner, action="update")
    note = api.get(discussion, owner).json()["notes"][0]
    assert (note["resolved"], note["resolved_by"]["id"]) == (True, owner.id)


def test_mail_can_be_disabled(api: Api, instance: Instance, make: Make) -> None:
    author, member = make.user(), make.user()
    group = make_group(make, members={author: Level.DEVELOPER, member: Level.DEVELOPER})
    project = make_project(make, group=group)

    def mails_of_an_assignment() -> int:
        before = len(instance.mails())
        api.post(f"{project.url}/issues", author, title="For you", assignee_ids=[member.id])
        return len(instance.mails()) - before

    assert mails_of_an_assignment() == 1
    api.put(project.url, make.root, emails_enabled=False)
    assert mails_of_an_assignment() == 0
    api.put(project.url, make.root, emails_enabled=True)
    api.put(group.url, make.root, emails_enabled=False)
    assert mails_of_an_assignment() == 0
    api.put(group.url, make.root, emails_enabled=True)
    assert mails_of_an_assignment() == 1
