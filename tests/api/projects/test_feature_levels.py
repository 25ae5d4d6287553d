"""Access levels of the features of a project: disabled, for members only, and for everyone."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group
from tests.git_history import run

# Level, its endpoint, and the statuses for an anonymous caller, a stranger and a guest of a public project.
LEVELS = [
    ("issues_access_level", "/issues", (401, 403, 200)),
    ("issues_access_level", "/issues/1", (401, 403, 200)),
    ("issues_access_level", "/boards", (401, 403, 200)),
    ("merge_requests_access_level", "/merge_requests", (401, 403, 403)),
    ("merge_requests_access_level", "/merge_requests/1", (401, 403, 403)),
    ("builds_access_level", "/pipelines", (401, 403, 200)),
    ("builds_access_level", "/jobs", (401, 403, 200)),
    ("wiki_access_level", "/wikis", (401, 403, 200)),
    ("snippets_access_level", "/snippets", (401, 403, 200)),
    ("container_registry_access_level", "/registry/repositories", (403, 403, 403)),
    ("releases_access_level", "/releases", (403, 403, 200)),
    ("releases_access_level", "/releases/v1", (403, 403, 200)),
]


@pytest.fixture
def owner(make: Make) -> User:
    """Return the owner of the project."""
    return make.user()


@pytest.fixture
def project(api: Api, make: Make, owner: User) -> Project:
    """Return a public project with an issue, a merge request, a release, a snippet and a milestone."""
    project = filled_project(make, owner, visibility="public")
    make_issue(make, project, owner, title="Plans")
    make_merge_request(make, project)
    assert (
        api.post(f"{project.url}/releases", owner, tag_name="v1", ref="master", description="Notes").status_code == 201
    )
    sent = {"title": "Sketch", "file_name": "a.txt", "content": "text", "visibility": "public"}
    assert api.post(f"{project.url}/snippets", owner, **sent).status_code == 201
    assert api.post(f"{project.url}/milestones", owner, title="Soon").status_code == 201
    return project


@pytest.mark.parametrize(("level", "path", "statuses"), LEVELS)
def test_private_features_are_for_members(
    api: Api, make: Make, project: Project, owner: User, level: str, path: str, statuses: tuple[int, int, int]
) -> None:
    guest, stranger = make.user(), make.user()
    api.post(f"{project.url}/members", owner, user_id=guest.id, access_level=Level.GUEST)
    callers = (None, stranger, guest)
    open_statuses = [api.get(project.url + path, caller).status_code for caller in callers]
    assert set(open_statuses) <= {200, 401}, open_statuses

    stored = api.put(project.url, owner, **{level: "private"})
    assert (stored.status_code, stored.json()[level], stored.json()["visibility"]) == (200, "private", "public")
    assert tuple(api.get(project.url + path, caller).status_code for caller in callers) == statuses
    assert api.get(project.url + path, owner).status_code == 200
    assert api.get(project.url + path, make.root).status_code == 200

    api.put(project.url, owner, **{level: "enabled"})
    assert [api.get(project.url + path, caller).status_code for caller in callers] == open_statuses


def test_lists_across_projects_omit_private_features(api: Api, make: Make, project: Project, owner: User) -> None:
    stranger = make.user()
    lists = [
        "/issues?scope=all",
        "/merge_requests?scope=all",
        "/search?scope=issues&search=Plans",
        "/search?scope=milestones&search=Soon",
        f"/users/{owner.id}/events",
    ]
    before = {path: _of_project(api, stranger, path, project) for path in lists}
    assert all(before.values()), before
    levels = ("issues", "merge_requests", "snippets")
    api.put(project.url, owner, **{f"{name}_access_level": "private" for name in levels})
    for caller, shown in ((stranger, False), (owner, True), (make.root, True)):
        for path in lists:
            rows = _of_project(api, caller, path, project)
            targets = [row for row in rows if "action_name" not in row or row["target_type"]]
            assert bool(targets) is shown, (caller, path, targets)
    assert "open_issues_count" not in api.get(project.url, stranger).json()
    assert api.get(project.url, owner).json()["open_issues_count"] == 1
    for path in ("labels", "milestones"):
        assert api.get(f"{project.url}/{path}", stranger).status_code == 403
        assert api.get(f"{project.url}/{path}", owner).status_code == 200


def _of_project(api: Api, caller: User | None, path: str, project: Project) -> list[dict[str, Any]]:
    answer = api.get(path + ("&" if "?" in path else "?") + "per_page=100", caller)
    assert answer.status_code == 200, answer.text
    return [row for row in answer.json() if row["project_id"] == project.id]


def test_counts_of_group_labels_omit_private_features(api: Api, make: Make) -> None:
    group = make_group(make, visibility="public")
    api.post(f"{group.url}/labels", make.root, name="bug", color="#ff0000")
    project = filled_project(make, group=group, visibility="public")
    make_issue(make, project, make.root, labels="bug")
    stranger = make.user()

    def counted(caller: User) -> int:
        (label,) = api.get(f"{group.url}/labels", caller, with_counts=True).json()
        return int(label["open_issues_count"])

    assert counted(stranger) == 1
    api.put(project.url, make.root, issues_access_level="private")
    assert (counted(stranger), counted(make.root)) == (0, 1)


def test_refs_of_private_merge_requests_are_not_served(
    api: Api, instance: Instance, project: Project, owner: User, tmp_path: Path
) -> None:
    ref = "refs/merge-requests/1/head"

    def listed(user: User | None) -> bool:
        header = b64encode(f"{user.username}:{user.token}".encode()).decode() if user else ""
        options = ["-c", f"http.extraHeader=Authorization: Basic {header}"] if user else []
        return ref in run(tmp_path, *options, "ls-remote", f"{instance.url}/{project.path}.git")

    assert listed(None)
    api.put(project.url, owner, merge_requests_access_level="private")
    assert not listed(None)
    assert listed(owner)


def test_disabled_features_of_operations_are_hidden(api: Api, make: Make, project: Project, owner: User) -> None:
    paths = {
        "releases_access_level": ("/releases", "/releases/v1", "/releases/permalink/latest"),
        "environments_access_level": ("/environments", "/deployments"),
        "feature_flags_access_level": ("/feature_flags", "/feature_flags_user_lists"),
        "infrastructure_access_level": ("/terraform/state",),
    }
    for level, hidden in paths.items():
        for caller in (owner, make.root):
            assert [api.get(project.url + path, caller).status_code for path in hidden] == [200] * len(hidden)
        assert api.put(project.url, owner, **{level: "disabled"}).json()[level] == "disabled"
        for caller in (owner, make.root):
            assert [api.get(project.url + path, caller).status_code for path in hidden] == [403] * len(hidden)
    assert api.post(f"{project.url}/environments", owner, name="live").status_code == 403
    assert api.post(f"{project.url}/feature_flags", owner, name="a").status_code == 403
    assert api.post(f"{project.url}/releases", owner, tag_name="v2", ref="master").status_code == 403
    tag = {"tag_name": "v3", "ref": "master", "release_description": "Notes"}
    assert api.post(f"{project.url}/repository/tags", owner, **tag).status_code == 403
    assert api.get(f"{project.url}/repository/tags/v1", owner).json()["release"] is None
    assert api.get(f"{project.url}/repository/tags/v3", owner).status_code == 404


def test_commits_do_not_reveal_private_pipelines(api: Api, make: Make, project: Project, owner: User) -> None:
    head = api.get(f"{project.url}/repository/commits/master", owner).json()["id"]
    assert api.post(f"{project.url}/statuses/{head}", owner, state="failed", ref="master").status_code == 201
    api.put(project.url, owner, builds_access_level="private")
    commit, statuses = f"{project.url}/repository/commits/{head}", f"{project.url}/repository/commits/{head}/statuses"
    hidden, shown = (api.get(commit, caller).json() for caller in (make.user(), owner))
    assert (hidden["status"], hidden["last_pipeline"]) == (None, None)
    assert (shown["status"], shown["last_pipeline"]["status"]) == ("failed", "failed")
    assert [api.get(statuses, caller).status_code for caller in (make.user(), owner)] == [403, 200]


@pytest.mark.parametrize("level", ["private", "disabled"])
def test_cross_references_do_not_reveal_hidden_merge_requests(
    api: Api, make: Make, project: Project, owner: User, level: str
) -> None:
    stranger = make.user()
    other = filled_project(make, stranger, visibility="public")
    issue = make_issue(make, other, stranger, title="Referenced")
    notes = f"{other.url}/issues/{issue['iid']}/notes"
    text = {"body": f"See {other.path}#{issue['iid']}"}
    assert api.post(f"{project.url}/merge_requests/1/notes", owner, **text).status_code == 201
    assert [note["system"] for note in api.get(notes, stranger).json()] == [True]
    api.put(project.url, owner, merge_requests_access_level=level)
    assert api.get(notes, stranger).json() == []
    assert len(api.get(notes, owner).json()) == (level == "private")
