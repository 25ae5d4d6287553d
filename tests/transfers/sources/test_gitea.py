"""Gitea source, reading a server that responds as Gitea's API description says."""

from collections.abc import Iterator
from typing import Any

import pytest

from ingot.import_export.source import NamedFile, ProjectSource
from ingot.import_export.sources.opening import open_group, open_source
from tests.transfers.sources import forge_server
from tests.transfers.sources.forge_server import ForgeServer
from tests.transfers.sources.reading import GUARD, by_iid, counts, records

REPO = "/api/v1/repos/team/rocket"
TIME = "2024-03-01T10:00:00Z"
LATER = "2024-03-02T12:00:00+02:00"
UUID = "0f0f0f0f-1111-2222-3333-444444444444"
ADA = {"id": 7, "login": "ada", "full_name": "Ada Lovelace", "email": "ada@example.com"}
BOB = {"id": 8, "login": "bob", "full_name": "", "email": "bob@noreply.example.com"}
LABEL = {"id": 1, "name": "bug", "color": "ee0701", "description": ""}
MILESTONE = {"id": 31, "title": "1.0", "state": "open", "due_on": TIME}


def item(number: int, **more: Any) -> dict[str, Any]:
    """Return an issue or pull request as in Gitea's lists."""
    return {
        "id": 1000 + number,
        "number": number,
        "title": f"Item {number}",
        "body": "Text",
        "state": "open",
        "user": ADA,
        "labels": [],
        "assignees": None,
        "assets": [],
        "comments": 0,
        "created_at": TIME,
        "updated_at": TIME,
        **more,
    }


def event(number: int, kind: str, **more: Any) -> dict[str, Any]:
    """Return an entry of a timeline."""
    return {"id": number, "type": kind, "user": BOB, "body": "", "created_at": LATER, **more}


def comment(number: int, body: str, **more: Any) -> dict[str, Any]:
    """Return a comment."""
    return {"id": number, "body": body, "user": BOB, "created_at": TIME, "updated_at": TIME, **more}


def _listed(path: str, query: dict[str, str], entries: list[Any]) -> list[Any]:
    """Return the pull requests of the list of issues: those that the tests number 4 and 6."""
    pulls = path.endswith("/issues") and query.get("type") == "pulls"
    return [entry for entry in entries if entry["number"] in (4, 6)] if pulls else entries


@pytest.fixture
def forge() -> Iterator[ForgeServer]:
    """Run a server with one repository."""
    with forge_server.serving("limit") as server:
        server.listed = _listed
        server.documents = {
            REPO: {
                "id": 5,
                "name": "rocket",
                "full_name": "team/rocket",
                "owner": {"id": 2, "login": "team"},
                "html_url": "https://git.example.com/team/rocket",
                "default_branch": "main",
                "internal": True,
                "topics": ["space"],
            },
            f"{REPO}/issues": [],
            f"{REPO}/pulls": [],
            f"{REPO}/labels": [LABEL],
            "/api/v1/orgs/team/labels": [{"id": 2, "name": "shared", "color": "00ff00"}],
            f"{REPO}/milestones": [{**MILESTONE, "id": 44, "title": "2.0", "state": "closed"}, MILESTONE],
        }
        yield server


@pytest.fixture
def source(forge: ForgeServer) -> Iterator[ProjectSource]:
    """Open the repository."""
    opened = open_source("gitea", forge.url, "secret-token", "team/rocket", guard=GUARD)
    yield opened
    opened.close()


def test_issues_have_comments_attachments_reactions_and_times(forge: ForgeServer, source: ProjectSource) -> None:
    attachment = {"id": 1, "name": "a.png", "uuid": UUID, "browser_download_url": f"{forge.url}/attachments/{UUID}"}
    forge.documents |= {
        f"{REPO}/issues": [
            item(
                2, state="closed", closed_at=TIME, labels=[LABEL], milestone=MILESTONE, comments=1, assets=[attachment]
            ),
            item(3, user={"id": -1, "login": "Ghost"}, original_author="", due_date=TIME),
        ],
        f"{REPO}/issues/2/timeline": [
            event(51, "comment", body="Hello"),
            event(52, "label", body="1", label=LABEL),
            event(53, "milestone", milestone=MILESTONE),
            event(54, "change_title", old_title="Old", new_title="New"),
            event(55, "issue_ref", ref_issue={"number": 3}),
            event(56, "close"),
            event(57, "project"),
        ],
        f"{REPO}/issues/2/comments": [comment(51, "Hello", assets=[])],
        f"{REPO}/issues/2/reactions": [{"user": ADA, "content": "+1", "created_at": TIME}],
        f"{REPO}/issues/comments/51/reactions": [{"user": ADA, "content": "heart", "created_at": TIME}],
        f"{REPO}/issues/3/timeline": [],
        f"{REPO}/issues/3/dependencies": [
            {"number": 2, "html_url": "https://git.example.com/team/rocket/issues/2"},
            {"number": 9, "html_url": "https://git.example.com/other/one/issues/9"},
        ],
        f"{REPO}/times": [{"id": 1, "created": TIME, "time": 90, "user_id": 7, "user_name": "ada", "issue": item(2)}],
    }
    found = by_iid(records(source, "issues"))
    second = found[2]
    assert (second.state, second.labels, second.milestone) == ("closed", ["bug"], "31")
    assert (second.author.name, second.author.email, second.closed_by.name) == (
        "Ada Lovelace",
        "ada@example.com",
        "bob",
    )
    assert second.closed_by.email is None
    assert second.description == f"Text\n\n![a.png]({forge.url}/attachments/{UUID})"
    assert (second.total_time_spent, [each.seconds for each in second.timelogs]) == (90, [90])
    assert [award.name for award in second.awards] == ["thumbsup"]
    notes = [discussion.notes[0] for discussion in second.discussions]
    assert [(note.body, [award.name for award in note.awards]) for note in notes if not note.system] == [
        ("Hello", ["heart"])
    ]
    assert [note.body for note in notes if note.system] == [
        'added ~"bug" label',
        'changed milestone to %"1.0"',
        "changed title from **Old** to **New**",
        "mentioned in issue #3",
        "closed",
    ]
    assert [(each.action, each.label) for each in second.label_events] == [("add", "bug")]
    assert [each.milestone for each in second.milestone_events] == ["31"]
    assert [each.state for each in second.state_events] == ["closed"]
    assert (found[3].author.username, found[3].due_date) == ("ghost", "2024-03-01")
    (link,) = records(source, "issue_links")
    assert (link.source_iid, link.target_iid, link.link_type) == (2, 3, "blocks")


def test_pull_requests_have_reviews_with_positions(forge: ForgeServer, source: ProjectSource) -> None:
    branches = {
        "head": {"ref": "topic", "sha": "c" * 40, "repo_id": 5, "repo": forge.documents[REPO]},
        "base": {"ref": "main", "sha": "b" * 40, "repo_id": 5, "repo": forge.documents[REPO]},
        "merge_base": "a" * 40,
    }
    merged = {"state": "closed", "merged": True, "merged_at": TIME, "merged_by": ADA, "merge_commit_sha": "d" * 40}
    on_line = {"path": "README", "position": 3, "diff_hunk": "@@ -1,3 +1,4 @@\n one\n-two\n+deux\n three"}
    forge.documents |= {
        f"{REPO}/pulls": [item(4, **branches, **merged), item(6, **branches, updated_at=LATER, comments=1)],
        f"{REPO}/issues": [item(4), item(5), item(6)],
        f"{REPO}/branches": [{"name": "main", "commit": {"id": "b" * 40}}],
        f"{REPO}/commits/{'b' * 40}/statuses": [
            {"id": 1, "status": "warning", "context": "lint", "creator": ADA, "created_at": TIME, "updated_at": TIME}
        ],
        f"{REPO}/issues/4/timeline": [event(61, "merge_pull")],
        f"{REPO}/issues/4/assets": [
            {"id": 1, "name": "a.txt", "uuid": UUID, "browser_download_url": f"{forge.url}/attachments/{UUID}"}
        ],
        f"{REPO}/issues/6/timeline": [event(62, "comment", body="See #4 and #5")],
        f"{REPO}/issues/6/comments": [comment(62, "See #4, team/rocket#6, `#4` and #5")],
        # Some lists without entries are null.
        f"{REPO}/issues/6/reactions": None,
        f"{REPO}/pulls/4/reviews": [
            {"id": 1, "state": "APPROVED", "user": BOB, "body": "Fine", "submitted_at": TIME, "comments_count": 1},
            {"id": 2, "state": "COMMENT", "user": ADA, "body": "", "submitted_at": TIME, "comments_count": 1},
            {"id": 3, "state": "PENDING", "user": ADA, "body": "Draft"},
        ],
        f"{REPO}/pulls/4/reviews/1/comments": [comment(71, "Why?", **on_line)],
        f"{REPO}/pulls/4/reviews/2/comments": [comment(72, "Because", resolver=ADA, **on_line)],
    }
    found = by_iid(records(source, "merge_requests"))
    first = found[4]
    assert (first.state, first.source_branch, first.source_project) == ("merged", "topic", None)
    assert (first.head_sha, first.base_sha, first.start_sha) == ("c" * 40, "a" * 40, "b" * 40)
    assert (first.merged_by.username, first.merge_commit_sha) == ("ada", "d" * 40)
    assert [approval.user.username for approval in first.approvals] == ["bob"]
    (thread,) = [each for each in first.discussions if len(each.notes) == 2]
    position = thread.notes[0].position
    assert (position.old_line, position.new_line, position.head_sha) == (3, 3, "c" * 40)
    assert all(note.resolved and note.resolved_by.username == "ada" for note in thread.notes)
    texts = [note.body for each in first.discussions for note in each.notes if note.position is None]
    assert texts == ["Fine", "approved this merge request", "merged"]
    assert first.description == f"Text\n\n[a.txt]({forge.url}/attachments/{UUID})"
    (written,) = [note.body for each in found[6].discussions for note in each.notes if not note.system]
    assert written == "See !4, !6, `#4` and #5"
    (status,) = records(source, "statuses")
    assert (status.name, status.state, status.allow_failure, status.ref) == ("lint", "failed", True, "main")
    assert records(source, "statuses", cursor="b" * 40) == []
    forge.documents[f"{REPO}/pulls"].reverse()
    changed = records(source, "merge_requests", since="2024-03-02T09:00:00Z")
    assert [each.iid for each in changed] == [6]


def test_resources_counts_and_files(forge: ForgeServer, source: ProjectSource) -> None:
    asset = f"{forge.url}/team/rocket/releases/download/v1/a.zip"
    forge.documents |= {
        f"{REPO}/issues": [item(number) for number in range(1, 61)],
        f"{REPO}/releases": [
            {
                "id": 1,
                "tag_name": "v1",
                "body": "New",
                "author": ADA,
                "assets": [{"id": 5, "name": "a.zip", "browser_download_url": asset}],
            },
            {"id": 2, "tag_name": "v2", "draft": True},
        ],
        f"{REPO}/branch_protections": [{"rule_name": "main", "enable_push": False}],
        f"{REPO}/collaborators": [ADA],
        f"{REPO}/collaborators/ada/permission": {"permission": "admin"},
        f"{REPO}/hooks": [{"id": 1, "config": {"url": "https://example.com/h"}, "events": ["push", "issues", "fork"]}],
        f"{REPO}/keys": [{"id": 1, "title": "CI", "key": "ssh-ed25519 AAAA", "read_only": True}],
        f"{REPO}/actions/variables": [{"name": "MODE", "data": "fast"}],
    }
    found = counts(source)
    assert (found["issues"], found["merge_requests"], found["labels"]) == (60, 0, 2)
    assert len(records(source, "issues")) == 60
    (settings,) = records(source, "settings")
    assert (settings.attributes["visibility"], settings.topics) == ("internal", ["space"])
    assert [(each.title, each.of_group) for each in records(source, "labels")] == [("bug", False), ("shared", True)]
    assert [(each.iid, each.title, each.state) for each in records(source, "milestones")] == [
        (1, "1.0", "active"),
        (2, "2.0", "closed"),
    ]
    assert [(each.user.username, each.access_level) for each in records(source, "members")] == [("ada", 40)]
    assert [(each.name, each.push_level) for each in records(source, "protected_branches")] == [("main", 0)]
    assert [each.events for each in records(source, "hooks")] == [["issues_events", "push_events"]]
    assert [each.can_push for each in records(source, "deploy_keys")] == [False]
    assert [(each.name, each.value) for each in records(source, "variables")] == [("MODE", "fast")]
    (release,) = records(source, "releases")
    forge.files = {"/team/rocket/releases/download/v1/a.zip": b"zip", f"/attachments/{UUID}": b"png"}
    for link, content in (
        (release.links[0].file, b"zip"),
        (f"https://git.example.com/attachments/{UUID}", b"png"),
        (f"/attachments/{UUID}", b"png"),
    ):
        opened = source.open_file(link)
        assert opened is not None
        with opened as file:
            assert file.read() == content
    forge.disposition = 'inline; filename="shot.png"'
    opened = source.open_file(f"/attachments/{UUID}")
    assert opened is not None
    with opened as file:
        assert isinstance(file, NamedFile) and file.file_name == "shot.png"
    assert source.open_file(f"https://example.com/attachments/{UUID}") is None
    assert source.open_file("/user/settings") is None
    location = source.repository()
    assert location is not None and location.url == f"{forge.url}/team/rocket.git"
    assert source.wiki() is None
    forge.documents |= {"/api/v1/orgs/team": {"id": 2}, "/api/v1/orgs/team/repos": [forge.documents[REPO]]}
    group = open_group("gitea", forge.url, "secret-token", "team", guard=GUARD)
    assert list(group.project_keys()) == [("team/rocket", "team/rocket")]
    group.close()
    assert {headers["authorization"] for _, headers in forge.requests} == {"token secret-token"}
