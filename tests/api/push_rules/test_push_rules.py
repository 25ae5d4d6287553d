"""Push rules of projects and groups, for git clients and for commits by the API."""

import subprocess
from pathlib import Path

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.roles import UsersByRole, project_with


def test_maintainers_manage_push_rules(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    where = f"{project.url}/push_rule"
    for role, status in (("owner", 200), ("master", 200), ("developer", 403), ("stranger", 404), ("nobody", 401)):
        caller = roles[role]
        made = api.post(where, caller, deny_delete_tag=True)
        assert made.status_code == (201 if status == 200 else status), role
        assert api.get(where, caller).status_code == status
        assert api.put(where, caller, max_file_size=3).status_code == status
        assert api.delete(where, caller).status_code == (204 if status == 200 else status)
    assert api.get(where, roles.owner).json() is None
    assert api.put(where, roles.owner, max_file_size=3).status_code == 404
    assert api.delete(where, roles.owner).status_code == 404
    assert api.post(where, roles.owner, commit_message_regex="(").status_code == 400
    assert api.post(where, roles.owner, max_file_size=-1).status_code == 400
    made = api.post(where, roles.owner, commit_message_regex="^[A-Z]", max_file_size=3)
    assert (made.json()["project_id"], made.json()["commit_message_regex"]) == (project.id, "^[A-Z]")
    assert api.post(where, roles.owner, max_file_size=3).status_code == 400
    assert "push_rule" not in api.get(project.url, roles.owner).json()


def test_groups_pass_their_push_rule_on(api: Api, make: Make) -> None:
    owner, stranger = make.user(), make.user()
    group = make_group(make, owner)
    where = f"{group.url}/push_rule"
    assert api.get(where, owner).status_code == 404
    assert api.post(where, owner, branch_name_regex="^x-").status_code == 201
    assert api.put(where, owner, prevent_secrets=True).json()["branch_name_regex"] == "^x-"
    assert api.put(where, stranger, prevent_secrets=False).status_code == 404
    created = api.post("/projects", owner, name="fresh", namespace_id=group.id).json()
    rule = api.get(f"/projects/{created['id']}/push_rule", owner).json()
    assert (rule["branch_name_regex"], rule["prevent_secrets"]) == ("^x-", True)
    assert api.delete(where, owner).status_code == 204
    assert "push_rule" not in api.get(group.url, owner).json()


REFUSED = (
    ({"commit_message_regex": "^[A-Z]+-[0-9]+"}, "f", "No number", "does not follow the pattern"),
    ({"commit_message_negative_regex": "secret"}, "f", "the secret", "contains the forbidden pattern"),
    ({"author_email_regex": "@corp.example$"}, "f", "x", "does not follow the pattern"),
    ({"file_name_regex": "\\.exe$"}, "a/b.exe", "x", "was prohibited by the pattern"),
    ({"prevent_secrets": True}, "home/id_rsa", "x", "usually contain secrets"),
    ({"reject_non_dco_commits": True}, "f", "x", "must contain a DCO signoff"),
)


def test_commits_of_the_api_follow_push_rules(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    sent = {"branch": "master", "commit_message": "First"}
    assert api.post(f"{project.url}/repository/files/first", owner, content="x", **sent).status_code == 201
    where = f"{project.url}/push_rule"
    for rule, path, message, refusal in REFUSED:
        assert api.post(where, owner, **rule).status_code == 201
        action = {"action": "create", "file_path": path, "content": "x"}
        answer = api.post(
            f"{project.url}/repository/commits", owner, branch="master", commit_message=message, actions=[action]
        )
        assert answer.status_code == 403 and refusal in answer.text, (rule, answer.text)
        assert api.delete(where, owner).status_code == 204
    api.post(f"{project.url}/repository/tags", owner, tag_name="v1", ref="master")
    api.post(where, owner, deny_delete_tag=True, branch_name_regex="^feature/", reject_unsigned_commits=True)
    assert api.delete(f"{project.url}/repository/tags/v1", owner).status_code == 403
    branches = f"{project.url}/repository/branches"
    assert api.post(branches, owner, branch="other", ref="master").status_code == 403
    assert api.post(branches, owner, branch="feature/a", ref="master").status_code == 201


def test_git_pushes_follow_push_rules(api: Api, make: Make, instance: Instance, tmp_path: Path) -> None:
    owner = make.user()
    project = make_project(make, owner)
    remote = instance.url.replace("://", f"://x:{owner.token}@") + f"/{project.path}.git"
    names = ["-c", "user.name=Someone", "-c", "user.email=someone@elsewhere.example"]

    def git(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *names, *args], cwd=tmp_path, capture_output=True, text=True, check=False)

    git("init", "-q", "-b", "master")
    (tmp_path / "large").write_bytes(b"x" * (2**20 + 1))
    git("add", ".")
    assert git("commit", "-q", "-m", "Add a large file").returncode == 0
    where = f"{project.url}/push_rule"
    for rule, refusal in (
        ({"max_file_size": 1}, "larger than the allowed size of 1 MB"),
        ({"commit_committer_check": True}, "You cannot push commits for"),
        ({"commit_committer_name_check": True}, "is inconsistent with your account name"),
        ({"member_check": True}, "is not a member of team"),
        ({"reject_unsigned_commits": True}, "must be signed"),
    ):
        assert api.post(where, owner, **rule).status_code == 201
        pushed = git("push", remote, "HEAD:refs/heads/master")
        assert pushed.returncode != 0 and refusal in pushed.stderr, (rule, pushed.stderr)
        assert api.delete(where, owner).status_code == 204
    assert git("push", remote, "HEAD:refs/heads/master").returncode == 0
