"""GitLab source, reading another instance over HTTP."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import pytest

from ingot.import_export.records import KINDS
from ingot.import_export.source import ProjectSource, SourceError
from ingot.import_export.sources.client import SourceClient
from ingot.import_export.sources.gitlab import items
from ingot.import_export.sources.gitlab.commit_notes import CommitNoteReader
from ingot.import_export.sources.gitlab.users import GitLabUsers
from ingot.import_export.sources.opening import open_group, open_source
from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.transfers.sources.reading import GUARD, by_iid, counts, records


@pytest.fixture
def project(make: Make) -> Project:
    """Return a project with a commit."""
    return filled_project(make)


@pytest.fixture
def source(instance: Instance, make: Make, project: Project) -> Iterator[ProjectSource]:
    """Open the project as an administrator."""
    opened = open_source("gitlab", instance.url, make.root.token, str(project.id), guard=GUARD)
    yield opened
    opened.close()


def post(make: Make, path: str, user: User | None = None, **sent: Any) -> Any:
    """Create an object and return it."""
    made = make.api.post(path, user or make.root, **sent)
    assert made.status_code == 201, made.text
    return made.json()


def test_issues_have_their_numbers_discussions_reactions_and_events(
    make: Make, project: Project, source: ProjectSource
) -> None:
    ada, url = make.user(name="Ada Lovelace"), f"{project.url}/issues"
    make.api.post(f"{project.url}/members", make.root, user_id=ada.id, access_level=30)
    post(make, f"{project.url}/labels", name="bug", color="#ff0000")
    milestone = post(make, f"{project.url}/milestones", title="1.0")
    post(make, url, ada, title="Rust", labels="bug", milestone_id=milestone["id"], assignee_ids=[ada.id])
    deleted = post(make, url, title="Deleted")
    assert make.api.delete(f"{url}/{deleted['iid']}", make.root).status_code == 200
    post(make, url, title="Second", confidential=True, due_date="2027-01-02")
    note = post(make, f"{url}/1/notes", ada, body="First comment")
    begun = post(make, f"{url}/1/discussions", body="A thread")
    post(make, f"{url}/1/discussions/{begun['id']}/notes", ada, body="A reply")
    post(make, f"{url}/1/award_emoji", ada, name="rocket")
    post(make, f"{url}/1/notes/{note['id']}/award_emoji", name="heart")
    make.api.post(f"{url}/1/time_estimate", make.root, duration="1h")
    post(make, f"{url}/1/links", target_project_id=project.id, target_issue_iid=3, link_type="is_blocked_by")
    make.api.put(f"{url}/1", make.root, state_event="close", remove_labels=["bug"])

    found = by_iid(records(source, "issues"))
    assert sorted(found) == [1, 3]
    first = found[1]
    assert (first.title, first.state, first.author.username, first.author.name) == (
        "Rust",
        "closed",
        ada.username,
        "Ada Lovelace",
    )
    assert (first.author.email, first.milestone, first.time_estimate) == (ada.email, str(milestone["id"]), 3600)
    assert [user.username for user in first.assignees] == [ada.username]
    texts = {note.body: note for discussion in first.discussions for note in discussion.notes if not note.system}
    assert list(texts) == ["First comment", "A thread", "A reply"]
    assert [award.name for award in texts["First comment"].awards] == ["heart"]
    threads = [discussion for discussion in first.discussions if not discussion.individual_note]
    assert [note.body for note in threads[0].notes] == ["A thread", "A reply"]
    assert [(award.name, award.user.username) for award in first.awards] == [("rocket", ada.username)]
    assert [(event.action, event.label) for event in first.label_events] == [("add", "bug"), ("remove", "bug")]
    assert [event.state for event in first.state_events] == ["closed"]
    assert [event.milestone for event in first.milestone_events] == [str(milestone["id"])]
    assert first.closed_by.username == "root" and first.closed_at
    assert (found[3].confidential, found[3].due_date) == (True, "2027-01-02")
    links = records(source, "issue_links")
    assert [(link.source_iid, link.target_iid, link.link_type) for link in links] == [(3, 1, "blocks")]


def test_tasks_have_their_parents(make: Make, project: Project, source: ProjectSource) -> None:
    url = f"{project.url}/issues"
    parent = post(make, url, title="Parent")
    for title, attributes in (("Task", {"parent_id": parent["id"]}), ("Alone", {})):
        post(make, url, title=title, issue_type="task", **attributes)
    links = records(source, "issue_links")
    assert [(link.source_iid, link.target_iid, link.link_type) for link in links] == [(1, 2, "parent")]


def test_merge_requests_have_positions_versions_and_approvals(
    make: Make, project: Project, source: ProjectSource
) -> None:
    made = make_merge_request(make, project, branch="topic", description="Closes #1")
    url = f"{project.url}/merge_requests/{made['iid']}"
    head = commit(make, project, "topic", {"more.txt": "more\n"})
    refs = make.api.get(url, make.root).json()["diff_refs"]
    position = {**refs, "position_type": "text", "old_path": "more.txt", "new_path": "more.txt", "new_line": 1}
    begun = post(make, f"{url}/discussions", body="```suggestion\nless\n```", position=position)
    make.api.put(f"{url}/discussions/{begun['id']}", make.root, resolved=True)
    reviewer = make.user()
    make.api.post(f"{project.url}/members", make.root, user_id=reviewer.id, access_level=40)
    make.api.put(url, make.root, reviewer_ids=[reviewer.id])
    post(make, f"{url}/approve", reviewer)
    (found,) = records(source, "merge_requests")
    assert (found.iid, found.source_branch, found.head_sha) == (made["iid"], "topic", head)
    assert (found.base_sha, found.start_sha) == (refs["base_sha"], refs["start_sha"])
    assert len(found.versions) == 2 and found.versions[1].head_sha == head
    assert [user.username for user in found.reviewers] == [reviewer.username]
    assert [each.user.username for each in found.approvals] == [reviewer.username]
    (note,) = [note for each in found.discussions for note in each.notes if note.position is not None]
    assert (note.position.new_path, note.position.new_line, note.position.old_line) == ("more.txt", 1, None)
    assert note.resolved and note.resolved_by.username == "root"
    assert [(each.from_content, each.to_content) for each in note.suggestions] == [("more\n", "less\n")]


def test_the_other_kinds_are_read_and_counted(make: Make, project: Project, source: ProjectSource) -> None:
    url = project.url
    post(make, f"{url}/labels", name="bug", color="#ff0000", priority=3)
    milestone = post(make, f"{url}/milestones", title="1.0", due_date="2027-02-03")
    board = post(make, f"{url}/boards", name="Team")
    label = make.api.get(f"{url}/labels", make.root).json()[0]
    post(make, f"{url}/boards/{board['id']}/lists", label_id=label["id"])
    links = {"links": [{"name": "Package", "url": "https://example.com/p.tar"}]}
    post(make, f"{url}/releases", tag_name="v1", ref="master", description="New", milestones=["1.0"], assets=links)
    post(make, f"{url}/snippets", title="Script", file_name="a.sh", content="echo\n", visibility="private")
    post(make, f"{url}/protected_branches", name="stable", push_access_level=0, merge_access_level=30)
    post(make, f"{url}/protected_tags", name="v*", create_access_level=40)
    deployers = [{"access_level": 40}, {"user_id": make.root.id}]
    post(make, f"{url}/protected_environments", name="production", deploy_access_levels=deployers)
    post(make, f"{url}/hooks", url="https://example.com/hook", push_events=False, issues_events=True, token="secret")
    post(make, f"{url}/variables", key="DEPLOY", value="yes", protected=True)
    post(make, f"{url}/badges", link_url="https://example.com", image_url="https://example.com/a.svg")
    inputs = [{"name": "depth", "value": [1, "two"]}]
    post(make, f"{url}/pipeline_schedules", description="Nightly", ref="master", cron="0 1 * * *", inputs=inputs)
    head = make.api.get(f"{url}/repository/commits/master", make.root).json()["id"]
    post(make, f"{url}/statuses/{head}", state="success", name="external", target_url="https://ci.example.com/1")
    comments = f"{url}/repository/commits/{head}"
    on_line = {"note": "On a line", "path": "README", "line": 1, "line_type": "new"}
    assert make.api.request("POST", f"{comments}/comments", make.root, json=on_line).status_code == 201
    begun = post(make, f"{comments}/discussions", body="A thread")
    post(make, f"{comments}/discussions/{begun['id']}/notes", body="A reply")
    make.api.put(url, make.root, topics=["forge"], description="About", merge_method="ff")

    found = {kind: records(source, kind) for kind in KINDS}
    (settings,) = found["settings"]
    assert settings.topics == ["forge"] and settings.attributes["merge_method"] == "ff"
    assert settings.attributes["description"] == "About"
    assert [(label.title, label.color, label.priority) for label in found["labels"]] == [("bug", "#ff0000", 3)]
    assert [(each.title, each.due_date, each.iid) for each in found["milestones"]] == [("1.0", "2027-02-03", 1)]
    named = {board.name: board for board in found["boards"]}
    assert [each.label for each in named["Team"].lists] == ["bug"]
    (release,) = found["releases"]
    assert (release.tag, release.milestones, release.links[0].url) == (
        "v1",
        [str(milestone["id"])],
        "https://example.com/p.tar",
    )
    assert [(each.file_name, each.content) for each in found["snippets"]] == [("a.sh", "echo\n")]
    stable = {each.name: each for each in found["protected_branches"]}["stable"]
    assert (stable.push_level, stable.merge_level) == (0, 30)
    assert [(each.name, each.create_level) for each in found["protected_tags"]] == [("v*", 40)]
    rules = [(each.name, each.access_levels, each.others) for each in found["protected_environments"]]
    assert rules == [("production", (40,), True)]
    assert [(each.url, each.events) for each in found["hooks"]] == [("https://example.com/hook", ["issues_events"])]
    assert [(each.name, each.value, each.protected) for each in found["variables"]] == [("DEPLOY", "yes", True)]
    assert len(found["badges"]) == 1
    schedules = [(each.ref, each.cron, each.inputs) for each in found["schedules"]]
    assert schedules == [("master", "0 1 * * *", {"depth": [1, "two"]})]
    assert [(each.sha, each.name, each.state) for each in found["statuses"]] == [(head, "external", "success")]
    _check_commit_notes(found["commit_notes"], head)
    assert "root" in [member.user.username for member in found["members"]]
    # External statuses, links and comments on commits are in no list that can be counted.
    counted = [kind for kind in KINDS if kind not in ("issue_links", "commit_notes")]
    assert counts(source) == {kind: len(found[kind]) for kind in counted} | {"statuses": 0}


def _check_commit_notes(found: Sequence[Any], head: str) -> None:
    comments = {each.body: each for each in found}
    assert {each.sha for each in found} == {head}
    assert (comments["On a line"].path, comments["On a line"].new_line) == ("README", 1)
    assert comments["A reply"].discussion == comments["A thread"].discussion != comments["On a line"].discussion


def test_comments_on_commits_are_found_by_title(instance: Instance, make: Make, project: Project) -> None:
    """GitLab's activity names the title of a commit that has a comment, but not its id."""

    class NamelessClient(SourceClient):
        def page(self, target: str, shape: type[Any]) -> tuple[list[Any], str | None]:
            entries, following = super().page(target, shape)
            for each in entries:
                each.note.commit_id = None
                each.target_title = each.target_title or title
            return entries, following

    head = make.api.get(f"{project.url}/repository/commits/master", make.root).json()
    title = head["title"]
    post(make, f"{project.url}/repository/commits/{head['id']}/comments", note="A comment")
    headers = {"Authorization": f"Bearer {make.root.token}"}
    with closing(NamelessClient(GUARD, instance.url, headers)) as client:
        reader = CommitNoteReader(client, GitLabUsers(client), f"/api/v4/projects/{project.id}")
        found: list[Any] = [record for batch in reader.batches(None, None) for record in batch.records]
    assert ("A comment", head["id"]) in [(each.body, each.sha) for each in found]


def test_repository_wiki_and_files(instance: Instance, make: Make, project: Project, source: ProjectSource) -> None:
    location = source.repository()
    assert location is not None and location.url == f"{instance.url}/{project.path}.git"
    assert (location.username, location.merge_request_refs) == ("oauth2", "refs/merge-requests/*/head")
    assert source.wiki() is None
    post(make, f"{project.url}/wikis", title="Home", content="Hello")
    wiki = source.wiki()
    assert wiki is not None and wiki.url == f"{instance.url}/{project.path}.wiki.git"
    sent = make.api.request("POST", f"{project.url}/uploads", make.root, files={"file": ("a b.txt", b"content")})
    link = sent.json()["url"]
    before = source.request_count()
    assert source.open_file("https://example.com/a.png") is None
    assert source.open_file("/other/project" + link) is None
    assert source.open_file("/uploads/" + "0" * 32 + "/..%2F..%2Fissues") is None
    assert source.request_count() == before
    for form in (link, f"{instance.url}/{project.path}{link}", f"/-/project/{project.id}{link}"):
        opened = source.open_file(form)
        assert opened is not None
        with opened as file:
            assert file.read() == b"content"
    assert source.open_file("/uploads/" + "0" * 32 + "/none.txt") is None


@pytest.mark.parametrize("size", [10, 100])
def test_pages_are_complete_and_a_cursor_continues(
    make: Make, project: Project, source: ProjectSource, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items, "PAGE_SIZE", size)
    monkeypatch.setattr(items, "BATCH_SIZE", 8)
    for number in range(25):
        # Half of them share one creation time, so that the cursor must tell them apart.
        sent: dict[str, Any] = {"created_at": "2020-01-01T00:00:00Z"} if number % 2 else {}
        post(make, f"{project.url}/issues", title=f"Issue {number}", **sent)
    batches = list(source.batches("issues", None, None))
    iids: list[list[int]] = [[record.iid for record in batch.records] for batch in batches]  # type: ignore[union-attr] # Issues.
    everything = [iid for batch in iids for iid in batch]
    assert sorted(everything) == list(range(1, 26))
    for index, batch in enumerate(batches):
        after = [record.iid for record in records(source, "issues", batch.cursor)]
        assert after == [iid for later in iids[index + 1 :] for iid in later]


def test_a_second_run_without_changes_reads_nothing(make: Make, project: Project, source: ProjectSource) -> None:
    for number in range(3):
        post(make, f"{project.url}/issues", title=f"Issue {number}")
    records(source, "issues")
    before = source.request_count()
    since = "2100-01-01T00:00:00Z"
    assert [kind for kind in ("issues", "merge_requests", "issue_links") if records(source, kind, since=since)] == []
    assert source.request_count() - before == 3
    for kind in KINDS:
        records(source, kind, since=since)
    assert source.request_count() < 60


def test_missing_permissions_are_reported(instance: Instance, make: Make) -> None:
    project = make_project(make, visibility="public")
    visitor = make.user()
    source = open_source("gitlab", instance.url, visitor.token, project.path, guard=GUARD)
    omitted = " ".join(source.inventory().omitted)
    assert "Webhooks: " in omitted and "Variables: " in omitted and "Deploy keys: " in omitted
    assert records(source, "hooks") == [] and records(source, "issues") == []
    source.close()
    anonymous = open_source("gitlab", instance.url, "", project.path, guard=GUARD)
    assert records(anonymous, "hooks") == [] and len(records(anonymous, "settings")) == 1
    anonymous.close()
    refused = open_source("gitlab", instance.url, "glpat-wrong-token", project.path, guard=GUARD)
    with pytest.raises(SourceError, match="refused the token") as error:
        refused.inventory()
    assert "glpat-wrong-token" not in str(error.value)
    refused.close()


def test_groups_are_read_with_subgroups_and_projects(instance: Instance, make: Make) -> None:
    group = make_group(make)
    below = make_group(make, parent=group)
    post(make, f"{group.url}/labels", name="shared", color="#00ff00")
    project = make_project(make, group=below)
    source = open_group("gitlab", instance.url, make.root.token, group.path, guard=GUARD)
    root, subgroup = source.groups()
    assert (root.full_path, subgroup.full_path) == (group.path, below.path)
    assert [label.title for label in root.labels] == ["shared"] and root.labels[0].of_group
    assert [member.user.username for member in root.members] == ["root"]
    assert list(source.project_keys()) == [(str(project.id), project.path)]
    source.close()
