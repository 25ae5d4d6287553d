"""Tests of imported merge requests with versions, discussions on lines, approvals and closed issues."""

from typing import Any

from ingot.import_export.work_item_records import (
    ApprovalRecord,
    DiscussionRecord,
    PositionRecord,
    StateEventRecord,
    VersionRecord,
)
from tests.api.merge_requests.factories import commit, filled_project
from tests.client import Make
from tests.conftest import Instance
from tests.git_history import repository_of, run
from tests.transfers.target.harness import (
    ALICE,
    BOB,
    CREATED,
    UPDATED,
    ImportedProject,
    comment,
    contents,
    emitted,
    issue,
    merge_request,
    note,
)
from tests.web.browser import Browser


def test_merge_request(instance: Instance, make: Make) -> None:
    """An imported merge request is shown with its versions, changes, discussions and related issues."""
    project = filled_project(make, visibility="public")
    base = make.api.get(f"{project.url}/repository/commits/master", make.root).json()["id"]
    first = commit(make, project, "feature", {"new.txt": "one\ntwo\n"}, start="master", message="Fix #3")
    second = commit(make, project, "feature", {"new.txt": "one\ntwo\nthree\n"}, action="update")
    imported = ImportedProject(instance, make, project)
    position = PositionRecord(
        base_sha=base, start_sha=base, head_sha=second, old_path="new.txt", new_path="new.txt", new_line=2
    )
    lost = PositionRecord(
        base_sha="1" * 40, start_sha="2" * 40, head_sha="3" * 40, old_path="old", new_path="old", old_line=7
    )
    record = merge_request(
        2,
        description="Closes #4",
        head_sha=second,
        base_sha=base,
        start_sha=base,
        draft=True,
        squash=True,
        labels=["review"],
        reviewers=[BOB],
        assignees=[ALICE],
        approvals=[ApprovalRecord(user=BOB, created_at=UPDATED)],
        versions=[
            VersionRecord(key="v1", head_sha=first, base_sha=base, start_sha=base, created_at=CREATED),
            VersionRecord(key="v2", head_sha=second, base_sha=base, start_sha=base, created_at=UPDATED),
            VersionRecord(key="v0", head_sha="4" * 40, base_sha=base, start_sha=base, created_at=CREATED),
        ],
        discussions=[
            DiscussionRecord(
                key="d1",
                notes=[
                    note(
                        "n1",
                        "Why?\n```suggestion\nTWO\n```",
                        resolvable=True,
                        resolved=True,
                        resolved_by=ALICE,
                        resolved_at=UPDATED,
                        position=position,
                    ),
                    note("n2", "Because", position=position, resolvable=True, created_at=UPDATED),
                ],
            ),
            DiscussionRecord(key="d2", notes=[note("n3", "Outdated", resolvable=True, position=lost)]),
            comment("n4", "mentioned in issue #4", system=True),
        ],
    )
    before = emitted(instance)
    imported.store("issues", issue(3), issue(4))
    assert imported.store("merge_requests", record).problems == []
    shown = imported.get("/merge_requests/2")
    expected = {
        "title": "Draft: Merge request 2",
        "draft": True,
        "squash": True,
        "state": "opened",
        "sha": second,
        "created_at": CREATED,
        "updated_at": UPDATED,
        "labels": ["review"],
        "source_project_id": project.id,
        "source_branch": "feature",
        "target_branch": "master",
        "user_notes_count": 3,
        "changes_count": "1",
        "has_conflicts": False,
    }
    assert {name: shown[name] for name in expected} == expected
    assert [each["name"] for each in shown["reviewers"] + shown["assignees"]] == ["Bob Source", "Alice Source"]
    approvals = imported.get("/merge_requests/2/approvals")
    assert [each["user"]["name"] for each in approvals["approved_by"]] == ["Bob Source"]
    versions = imported.get("/merge_requests/2/versions")
    assert [(each["head_commit_sha"], each["base_commit_sha"], each["created_at"]) for each in versions] == [
        (second, base, UPDATED),
        (first, base, CREATED),
    ]
    assert imported.get(f"/merge_requests/2/versions/{versions[1]['id']}")["diffs"][0]["new_path"] == "new.txt"
    assert [each["id"] for each in imported.get("/merge_requests/2/commits")] == [second, first]
    assert [each["new_path"] for each in imported.get("/merge_requests/2/changes")["changes"]] == ["new.txt"]
    assert sorted(each["iid"] for each in imported.get("/merge_requests/2/closes_issues")) == [3, 4]
    assert [each["iid"] for each in imported.get(f"/repository/commits/{first}/merge_requests")] == [2]
    discussions = imported.get("/merge_requests/2/discussions")
    notes = [each for discussion in discussions for each in discussion["notes"]]
    assert [(each["body"][:4], each["type"], each["resolvable"], each.get("resolved")) for each in notes] == [
        ("Why?", "DiffNote", True, True),
        ("Beca", "DiffNote", True, False),
        ("Outd", "DiffNote", True, False),
        ("ment", None, False, None),
    ]
    assert notes[0]["resolved_by"]["name"] == "Alice Source"
    assert notes[0]["position"]["new_line"] == 2
    assert [each["to_content"] for each in notes[0]["suggestions"]] == ["TWO\n"]
    assert run(repository_of(instance, project).path, "rev-parse", "refs/merge-requests/2/head") == second
    refs = run(repository_of(instance, project).path, "for-each-ref", "refs/keep")
    assert first in refs
    for page in ("", "/diffs", "/commits"):
        assert _page_status(instance, f"/{project.path}/-/merge_requests/2{page}") == 200, page
    assert emitted(instance) == before
    rows = contents(instance)
    assert imported.store("merge_requests", record).unchanged == 1
    assert contents(instance) == rows


def test_pushes_after_the_import(instance: Instance, make: Make) -> None:
    """Imported merge requests follow pushes, are merged and get new numbers like others."""
    project = filled_project(make, visibility="public")
    head = commit(make, project, "feature", {"a.txt": "one\n"}, start="master")
    imported = ImportedProject(instance, make, project)
    base = make.api.get(f"{project.url}/repository/commits/master", make.root).json()["id"]
    position = PositionRecord(
        base_sha=base, start_sha=base, head_sha=head, old_path="a.txt", new_path="a.txt", new_line=1
    )
    discussion = DiscussionRecord(key="d1", notes=[note("n1", resolvable=True, position=position)])
    imported.store("merge_requests", merge_request(5, head_sha=head, discussions=[discussion]))
    pushed = commit(make, project, "feature", {"a.txt": "zero\none\n"}, action="update")
    instance.work()
    shown = imported.get("/merge_requests/5/discussions")[0]["notes"][0]
    assert (shown["position"]["head_sha"], shown["position"]["new_line"]) == (pushed, 2)
    assert len(imported.get("/merge_requests/5/versions")) == 2
    merged = make.api.put(f"{project.url}/merge_requests/5/merge", make.root)
    assert merged.json()["state"] == "merged", merged.text
    commit(make, project, "other", {"b.txt": "b\n"}, start="master")
    made = make.api.post(
        f"{project.url}/merge_requests", make.root, source_branch="other", target_branch="master", title="Next"
    )
    assert made.json()["iid"] == 6


def test_states(instance: Instance, make: Make) -> None:
    """Closed, merged, forked, duplicate and incomplete merge requests are stored; a changed state is updated."""
    project = filled_project(make, visibility="public")
    base = make.api.get(f"{project.url}/repository/commits/master", make.root).json()["id"]
    head = commit(make, project, "feature", {"a.txt": "one\n"}, start="master")
    merge = commit(make, project, "master", {"b.txt": "two\n"}, message="Merge")
    imported = ImportedProject(instance, make, project)
    closed = StateEventRecord(key="e", user=BOB, state="closed", created_at=UPDATED)
    records: list[Any] = [
        merge_request(1, state="merged", head_sha=head, base_sha=base, merge_commit_sha=merge, merged_by=BOB),
        merge_request(2, state="closed", head_sha=head, base_sha=base, state_events=[closed], closed_at=UPDATED),
        merge_request(3, head_sha=head, source_project="someone/fork"),
        merge_request(4, head_sha=head),
        merge_request(5, head_sha=head),
        merge_request(6, state="closed", head_sha="5" * 40, source_branch="gone"),
        merge_request(7, head_sha=None, source_branch="gone"),
    ]
    stored = imported.store("merge_requests", *records)
    assert stored.created == 7
    assert len(stored.problems) == 3
    shown = {each["iid"]: each for each in imported.get("/merge_requests", state="all", scope="all")}
    assert {iid: each["state"] for iid, each in shown.items()} == {
        1: "merged", 2: "closed", 3: "opened", 4: "opened", 5: "opened", 6: "closed", 7: "opened",
    }  # fmt: skip
    assert (shown[1]["merge_commit_sha"], shown[1]["merged_at"]) == (merge, UPDATED)
    assert shown[1]["merged_by"]["name"] == shown[2]["closed_by"]["name"] == "Bob Source"
    assert [shown[iid]["source_project_id"] for iid in (3, 4, 5)] == [None, project.id, None]
    for iid in range(1, 8):
        assert imported.get(f"/merge_requests/{iid}")["iid"] == iid
        for page in ("", "/diffs", "/commits"):
            assert _page_status(instance, f"/{project.path}/-/merge_requests/{iid}{page}") == 200, (iid, page)
    for iid in range(1, 6):
        assert imported.get(f"/merge_requests/{iid}/changes")["changes"], iid
    changed = imported.store("merge_requests", merge_request(4, state="merged", head_sha=head, base_sha=base))
    assert changed[:3] == (0, 1, 0)
    assert imported.get("/merge_requests/4")["state"] == "merged"
    opened = make.api.get(f"{project.url}/merge_requests", make.root, state="opened")
    assert opened.headers["x-total"] == "3"


def _page_status(instance: Instance, path: str) -> int:
    with Browser(instance.url) as browser:
        return browser.get(path).status_code
