"""GitHub source, reading a server that responds as GitHub's documentation says."""

from collections.abc import Iterator
from typing import Any

import pytest

from ingot.import_export.source import ProjectSource
from ingot.import_export.sources.github import items
from ingot.import_export.sources.github.reviews import HunkLine, last_line
from ingot.import_export.sources.opening import open_group, open_source
from tests.transfers.sources import forge_server
from tests.transfers.sources.forge_server import ForgeServer
from tests.transfers.sources.reading import GUARD, by_iid, counts, records

API = "/api/v3"
REPO = f"{API}/repos/octo/rocket"
TIME = "2024-03-01T10:00:00Z"
ADA = {"id": 7, "login": "ada", "type": "User"}
BOT = {"id": 8, "login": "renovate[bot]", "type": "Bot"}
HUNK = "@@ -1,3 +1,4 @@\n one\n-two\n+deux\n+deux et demi"


def issue(number: int, **more: Any) -> dict[str, Any]:
    """Return an issue as in GitHub's lists."""
    return {
        "id": 1000 + number,
        "number": number,
        "title": f"Issue {number}",
        "body": "Text",
        "state": "open",
        "user": ADA,
        "labels": [],
        "milestone": None,
        "assignees": [],
        "comments": 0,
        "locked": False,
        "created_at": TIME,
        "updated_at": TIME,
        "closed_at": None,
        "reactions": {"total_count": 0},
        **more,
    }


def entry(event: str, number: int, **more: Any) -> dict[str, Any]:
    """Return an entry of a timeline."""
    return {"event": event, "id": number, "actor": ADA, "created_at": TIME, **more}


def reaction(number: int, content: str) -> dict[str, Any]:
    """Return a reaction."""
    return {"id": number, "user": ADA, "content": content, "created_at": TIME}


@pytest.fixture
def forge() -> Iterator[ForgeServer]:
    """Run a server with one repository."""
    with forge_server.serving() as server:
        server.documents = {
            REPO: {
                "id": 55,
                "name": "rocket",
                "full_name": "octo/rocket",
                "clone_url": "https://elsewhere.example.com/octo/rocket.git",
                "private": True,
                "description": "Flies",
                "default_branch": "main",
                "pushed_at": TIME,
                "topics": ["space"],
            },
            f"{API}/repositories/55": {},
            f"{API}/users/ada": {**ADA, "name": "Ada Lovelace", "email": "ada@example.com"},
            f"{REPO}/milestones": [{"number": 3, "title": "1.0", "state": "closed", "due_on": "2024-05-01T07:00:00Z"}],
            f"{REPO}/labels": [{"id": 1, "name": "bug", "color": "d73a4a"}],
            f"{REPO}/pulls": [],
            f"{REPO}/issues": [],
        }
        server.documents[f"{API}/repositories/55"] = server.documents[REPO]
        yield server


@pytest.fixture
def source(forge: ForgeServer) -> Iterator[ProjectSource]:
    """Open the repository."""
    opened = open_source("github", forge.url, "ghp_secret", "octo/rocket", guard=GUARD)
    yield opened
    opened.close()


def test_issues_keep_numbers_comments_events_and_reactions(forge: ForgeServer, source: ProjectSource) -> None:
    label, milestone = {"name": "bug"}, {"number": 3, "title": "1.0"}
    closed = {"state": "closed", "closed_at": TIME, "labels": [label], "milestone": milestone, "assignees": [ADA]}
    forge.documents |= {
        f"{REPO}/issues": [issue(2, reactions={"total_count": 2}, **closed), issue(5, user=BOT), issue(9, user=None)],
        f"{REPO}/issues/2/timeline": [
            entry("labeled", 11, label=label),
            entry("milestoned", 12, milestone={"title": "1.0"}),
            {"event": "committed", "sha": "a" * 40},
            {**entry("commented", 13, body="A comment", user=ADA), "reactions": {"total_count": 1}},
            entry("renamed", 14, rename={"from": "Old", "to": "New"}),
            {"event": "cross-referenced", "actor": ADA, "created_at": TIME, "source": {"issue": {"number": 4}}},
            entry("closed", 15),
        ],
        f"{REPO}/issues/5/timeline": [],
        f"{REPO}/issues/2/reactions": [reaction(21, "+1"), reaction(22, "hooray")],
        f"{REPO}/issues/comments/13/reactions": [reaction(23, "heart")],
    }
    found = by_iid(records(source, "issues"))
    assert sorted(found) == [2, 5, 9]
    second = found[2]
    assert (second.state, second.labels, second.milestone, second.key) == ("closed", ["bug"], "3", "1002")
    assert (second.author.name, second.author.email) == ("Ada Lovelace", "ada@example.com")
    assert second.closed_by.username == "ada"
    assert [award.name for award in second.awards] == ["thumbsup", "tada"]
    notes = [discussion.notes[0] for discussion in second.discussions]
    assert [note.body for note in notes if not note.system] == ["A comment"]
    assert [award.name for note in notes for award in note.awards] == ["heart"]
    assert [note.body for note in notes if note.system] == [
        'added ~"bug" label',
        'changed milestone to %"1.0"',
        "changed title from **Old** to **New**",
        "mentioned in issue #4",
        "closed",
    ]
    assert [(event.action, event.label) for event in second.label_events] == [("add", "bug")]
    assert [event.milestone for event in second.milestone_events] == ["3"]
    assert [event.state for event in second.state_events] == ["closed"]
    assert found[5].author.bot and found[9].author.username == "ghost"
    assert len({note.key for note in notes}) == len(notes)


def test_pull_requests_have_reviews_with_positions(forge: ForgeServer, source: ProjectSource) -> None:
    base = {"ref": "main", "sha": "b" * 40, "repo": {"id": 55, "full_name": "octo/rocket"}}
    head = {"ref": "topic", "sha": "c" * 40, "repo": {"id": 99, "full_name": "ada/rocket"}}
    forge.documents |= {
        f"{REPO}/issues": [issue(1), issue(4, pull_request={"url": "…"}, state="closed", closed_at=TIME)],
        f"{REPO}/pulls/4": {
            "number": 4,
            "head": head,
            "base": base,
            "merged": True,
            "merged_at": TIME,
            "merged_by": ADA,
            "merge_commit_sha": "d" * 40,
            "review_comments": 2,
        },
        f"{REPO}/issues/4/timeline": [
            {"event": "reviewed", "id": 31, "user": ADA, "state": "approved", "body": "Fine", "submitted_at": TIME},
            {"event": "reviewed", "id": 32, "user": BOT, "state": "approved", "body": "", "submitted_at": TIME},
            {"event": "reviewed", "id": 33, "user": BOT, "state": "dismissed", "body": "", "submitted_at": TIME},
            entry("merged", 34, commit_id="d" * 40),
        ],
        f"{REPO}/pulls/4/comments": [
            {
                "id": 41,
                "body": "Why?",
                "path": "README",
                "user": ADA,
                "diff_hunk": HUNK,
                "side": "RIGHT",
                "original_commit_id": "c" * 40,
                "created_at": TIME,
                "updated_at": TIME,
                "reactions": {"total_count": 1},
            },
            {
                "id": 42,
                "body": "Because",
                "path": "README",
                "user": None,
                "in_reply_to_id": 41,
                "diff_hunk": HUNK,
                "original_commit_id": "c" * 40,
                "created_at": TIME,
                "updated_at": TIME,
            },
        ],
        f"{REPO}/pulls/comments/41/reactions": [reaction(51, "rocket")],
    }
    (found,) = records(source, "merge_requests")
    assert (found.iid, found.state, found.source_project, found.head_sha) == (4, "merged", "ada/rocket", "c" * 40)
    assert (found.merged_by.username, found.merge_commit_sha) == ("ada", "d" * 40)
    assert [approval.user.username for approval in found.approvals] == ["ada"]
    (thread,) = [each for each in found.discussions if len(each.notes) == 2]
    position = thread.notes[0].position
    assert (position.new_path, position.old_line, position.new_line) == ("README", None, 3)
    assert (position.head_sha, position.start_sha) == ("c" * 40, "b" * 40)
    assert [award.name for award in thread.notes[0].awards] == ["rocket"]
    texts = [note.body for each in found.discussions for note in each.notes if note.system]
    assert texts == ["approved this merge request", "approved this merge request", "merged"]


def test_the_line_of_a_comment_follows_from_its_hunk() -> None:
    assert last_line("@@ -1,3 +1,4 @@\n one\n-two") == HunkLine(2, None)
    assert last_line("@@ -10,3 +20,4 @@ def\n one\n-two\n three") == HunkLine(12, 21)
    assert last_line("@@ -0,0 +1 @@\n+new\n\\ No newline at end of file") == HunkLine(None, 1)
    assert last_line("") is None


def test_resources_counts_and_files(forge: ForgeServer, source: ProjectSource) -> None:
    asset = f"{forge.url}{REPO}/releases/assets/5"
    forge.documents |= {
        f"{REPO}/issues": [issue(number) for number in range(1, 41)],
        f"{REPO}/pulls": [{"id": number} for number in range(3)],
        f"{REPO}/releases": [
            {
                "id": 1,
                "tag_name": "v1",
                "body": "New",
                "published_at": TIME,
                "assets": [{"id": 5, "name": "a.zip", "url": asset, "browser_download_url": "https://example.com/a"}],
            },
            {"id": 2, "tag_name": "v2", "draft": True},
        ],
        f"{REPO}/branches": [{"name": "main"}],
        f"{REPO}/branches/main/protection": {
            "allow_force_pushes": {"enabled": True},
            "required_pull_request_reviews": {"required_approving_review_count": 1},
        },
        f"{REPO}/collaborators": [{**ADA, "role_name": "maintain"}],
        f"{REPO}/keys": [{"id": 1, "title": "CI", "key": "ssh-ed25519 AAAA", "read_only": False}],
        f"{REPO}/actions/variables": {"total_count": 1, "variables": [{"name": "MODE", "value": "fast"}]},
    }
    found = counts(source)
    assert (found["issues"], found["merge_requests"], found["labels"]) == (37, 3, 1)
    assert any("Hooks" in reason for reason in source.inventory().omitted) and "hooks" not in found
    assert source.inventory().full_path == "octo/rocket"
    (settings,) = records(source, "settings")
    assert (settings.attributes["visibility"], settings.topics) == ("private", ["space"])
    (milestone,) = records(source, "milestones")
    assert (milestone.iid, milestone.state, milestone.due_date) == (3, "closed", "2024-05-01")
    assert [(label.title, label.color) for label in records(source, "labels")] == [("bug", "#d73a4a")]
    assert [(member.user.username, member.access_level) for member in records(source, "members")] == [("ada", 40)]
    (branch,) = records(source, "protected_branches")
    assert (branch.name, branch.push_level, branch.allow_force_push) == ("main", 0, True)
    assert [key.can_push for key in records(source, "deploy_keys")] == [True]
    assert [(each.name, each.value) for each in records(source, "variables")] == [("MODE", "fast")]
    assert records(source, "hooks") == [] and records(source, "boards") == []
    (release,) = records(source, "releases")
    assert release.links[0].file == asset
    forge.files["/download"] = b"zip"
    forge.redirects[f"{REPO}/releases/assets/5"] = "/download"
    opened = source.open_file(asset)
    assert opened is not None
    with opened as file:
        assert file.read() == b"zip"
    location = source.repository()
    assert location is not None and location.url == f"{forge.url}/octo/rocket.git"
    assert location.merge_request_refs == "refs/pull/*/head"
    assert source.open_file("https://example.com/x.png") is None
    # The server would resolve it to another file, which the token may read but the author of the text may not.
    assert source.open_file(f"{forge.url}/o/r/files/1/../../raw/main/secret.txt") is None
    assert source.open_file(f"{forge.url}/o/r/files/1/%2e%2e/%2e%2e/raw/main/secret.txt") is None


def test_a_repository_is_found_by_its_id_and_in_its_organization(forge: ForgeServer) -> None:
    source = open_source("github", forge.url, "ghp_secret", "55", guard=GUARD)
    assert source.inventory().full_path == "octo/rocket"
    source.close()
    forge.documents |= {f"{API}/orgs/octo": {"login": "octo"}, f"{API}/orgs/octo/repos": [forge.documents[REPO]]}
    group = open_group("github", forge.url, "ghp_secret", "octo", guard=GUARD)
    assert list(group.project_keys()) == [("octo/rocket", "octo/rocket")]
    assert [each.full_path for each in group.groups()] == ["octo"]
    group.close()


def test_pages_continue_at_a_cursor(forge: ForgeServer, source: ProjectSource, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items, "PAGE_SIZE", 12)
    monkeypatch.setattr(items, "BATCH_SIZE", 5)
    forge.documents[f"{REPO}/issues"] = [issue(number) for number in range(1, 31)]
    batches = list(source.batches("issues", None, None))
    iids = [[record.iid for record in batch.records] for batch in batches]  # type: ignore[union-attr] # Issues.
    assert [iid for part in iids for iid in part] == list(range(1, 31))
    for index, batch in enumerate(batches):
        after = [record.iid for record in records(source, "issues", batch.cursor)]
        assert after == [iid for part in iids[index + 1 :] for iid in part]
