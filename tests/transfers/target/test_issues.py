"""Tests of imported issues with labels, milestones, notes, award emoji, events and links, compared through the API."""

from typing import Any

import msgspec

from ingot.import_export.records import LabelRecord, MilestoneRecord
from ingot.import_export.work_item_records import (
    AwardRecord,
    DiscussionRecord,
    IssueLinkRecord,
    IssueRecord,
    LabelEventRecord,
    MilestoneEventRecord,
    StateEventRecord,
    TimelogRecord,
)
from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.graphql.conftest import timelogs_of
from tests.statements import recorded_statements
from tests.transfers.target.harness import (
    ALICE,
    BOB,
    CREATED,
    SOURCE_URL,
    UPDATED,
    ImportedProject,
    comment,
    contents,
    emitted,
    issue,
    note,
)

BUG = LabelRecord(key="l1", title="bug", color="#ff0000", description="A defect", priority=3)
FIRST = MilestoneRecord(
    key="m1",
    iid=4,
    title="First",
    description="Begin",
    state="closed",
    start_date="2020-01-01",
    due_date="2020-02-01",
    created_at=CREATED,
    updated_at=UPDATED,
)


def full_issue(iid: int = 7, **fields: Any) -> IssueRecord:
    """Return an issue with everything that an issue can have."""
    given: dict[str, Any] = {
        "description": f"See #3, !2 and {SOURCE_URL}/-/issues/3 by @bob",
        "state": "closed",
        "labels": ["bug", "new, label"],
        "milestone": "m1",
        "assignees": [BOB, ALICE],
        "closed_at": UPDATED,
        "closed_by": BOB,
        "confidential": True,
        "due_date": "2022-03-04",
        "discussion_locked": True,
        "time_estimate": 3600,
        "subscribers": [BOB],
        "awards": [
            AwardRecord(key="a1", name="thumbsup", user=BOB, created_at=CREATED),
            AwardRecord(key="a2", name="no-such-emoji", user=BOB, created_at=CREATED),
        ],
        "discussions": [
            comment("n1", "Hello @alice"),
            comment("n2", "changed the description", system=True),
            comment("n3", "Only for members", internal=True),
            DiscussionRecord(
                key="d4",
                notes=[
                    note(
                        "n4", "A question", awards=[AwardRecord(key="a3", name="tada", user=ALICE, created_at=CREATED)]
                    ),
                    note("n5", "An answer", created_at=UPDATED, updated_at=UPDATED),
                ],
            ),
        ],
        "label_events": [LabelEventRecord(key="e1", user=BOB, action="add", label="bug", created_at=CREATED)],
        "state_events": [StateEventRecord(key="e2", user=BOB, state="closed", created_at=UPDATED)],
        "milestone_events": [
            MilestoneEventRecord(key="e3", user=BOB, action="add", milestone="m1", created_at=CREATED)
        ],
        "timelogs": [TimelogRecord(key="t1", user=BOB, seconds=60, spent_at=CREATED)],
    }
    return issue(iid, **given | fields)


def test_issue(instance: Instance, make: Make) -> None:
    """An imported issue is shown as if it had been written here; repeating the import writes nothing."""
    person = make.user()
    imported = ImportedProject(instance, make, make_project(make), users={"bob": person})
    before = emitted(instance)
    assert imported.store("labels", BUG)[:3] == (1, 0, 0)
    imported.store("milestones", FIRST)
    stored = imported.store("issues", full_issue(), issue(3))
    assert stored[:3] == (2, 0, 0)
    assert stored.problems == ["The award emoji 'no-such-emoji' is not known here and was omitted."]

    shown = imported.get("/issues/7")
    milestone = shown.pop("milestone")
    assert {name: milestone[name] for name in ("iid", "title", "state", "start_date", "due_date", "created_at")} == {
        "iid": 4,
        "title": "First",
        "state": "closed",
        "start_date": "2020-01-01",
        "due_date": "2020-02-01",
        "created_at": CREATED,
    }
    base = instance.settings.base_url
    expected = {
        "title": "Issue 7",
        "description": f"See #3, !2 and {base}/{imported.project.path}/-/issues/3 by @{person.username}",
        "state": "closed",
        "created_at": CREATED,
        "updated_at": UPDATED,
        "closed_at": UPDATED,
        "labels": ["bug", "new; label"],
        "confidential": True,
        "due_date": "2022-03-04",
        "discussion_locked": True,
        "user_notes_count": 3,
        "upvotes": 1,
        "downvotes": 0,
    }
    assert {name: shown[name] for name in expected} == expected
    assert shown["author"]["name"] == "Alice Source"
    assert shown["closed_by"]["username"] == person.username
    assert {user["username"] for user in shown["assignees"]} == {person.username, shown["author"]["username"]}
    assert shown["time_stats"]["time_estimate"] == 3600
    assert shown["time_stats"]["total_time_spent"] == 60
    (entry,) = timelogs_of(instance.url, make.root, imported.project.path)
    assert (entry["timeSpent"], entry["spentAt"], entry["issue"]) == (60, CREATED, {"iid": "7"})
    assert entry["user"]["username"] == person.username
    notes = imported.get("/issues/7/notes", sort="asc")
    assert [
        (each["body"], each["system"], each["internal"], each["created_at"], each["updated_at"]) for each in notes
    ] == [
        ("Hello @alice", False, False, CREATED, CREATED),
        ("changed the description", True, False, CREATED, CREATED),
        ("Only for members", False, True, CREATED, CREATED),
        ("A question", False, False, CREATED, CREATED),
        ("An answer", False, False, UPDATED, UPDATED),
    ]
    assert {each["author"]["username"] for each in notes} == {person.username}
    discussions = imported.get("/issues/7/discussions")
    assert [(each["individual_note"], len(each["notes"])) for each in discussions] == [
        (True, 1),
        (True, 1),
        (True, 1),
        (False, 2),
    ]
    awards = imported.get("/issues/7/award_emoji")
    assert [(each["name"], each["user"]["id"], each["created_at"]) for each in awards] == [
        ("thumbsup", person.id, CREATED)
    ]
    assert [each["name"] for each in imported.get(f"/issues/7/notes/{notes[3]['id']}/award_emoji")] == ["tada"]
    assert [each["label"]["name"] for each in imported.get("/issues/7/resource_label_events")] == ["bug"]
    assert [each["state"] for each in imported.get("/issues/7/resource_state_events")] == ["closed"]
    assert [each["milestone"]["title"] for each in imported.get("/issues/7/resource_milestone_events")] == ["First"]
    names = {each["name"] for each in imported.get("/issues/7/participants")}
    assert "Alice Source" in names
    labels = {each["name"]: each for each in imported.get("/labels", with_counts=True)}
    assert labels["bug"]["priority"] == 3
    assert (labels["bug"]["color"], labels["bug"]["closed_issues_count"]) == ("#ff0000", 1)
    statistics = imported.get("/issues_statistics", scope="all")["statistics"]["counts"]
    assert statistics == {"all": 2, "closed": 1, "opened": 1}
    assert imported.get("")["open_issues_count"] == 1
    made = make.api.post(f"{imported.project.url}/issues", make.root, title="Next")
    assert made.json()["iid"] == 8
    make.api.delete(f"{imported.project.url}/issues/8", make.root)
    assert [each["iid"] for each in imported.get("/issues", search="Issue 7")] == [7]
    page = make.api.get(f"{imported.project.url}/issues/7/discussions", person)
    assert page.status_code == 404  # Confidential, and Bob is no member.

    after = emitted(instance)
    assert {name: after[name] - before[name] for name in ("todos", "hook_events")} == {"todos": 0, "hook_events": 0}
    assert instance.mails() == instance.mails()

    rows = contents(instance)
    with recorded_statements(instance.app.database) as statements:
        assert imported.store("issues", full_issue(), issue(3))[:3] == (0, 0, 2)
        assert imported.store("labels", BUG)[:3] == (0, 0, 1)
        assert imported.store("milestones", FIRST)[:3] == (0, 0, 1)
    assert [each for each in statements if not each.lstrip().upper().startswith("SELECT")] == []
    assert contents(instance) == rows


def test_changed_issue(instance: Instance, make: Make) -> None:
    """A changed record updates its rows; notes that were deleted at the source are deleted, those written here stay."""
    imported = ImportedProject(instance, make, make_project(make))
    imported.store("milestones", FIRST)
    imported.store("issues", full_issue())
    made = make.api.post(f"{imported.project.url}/issues/7/notes", make.root, body="Written here")
    assert made.status_code == 201, made.text
    first = imported.get("/issues/7/notes", sort="asc")[0]
    changed = full_issue(
        title="Renamed",
        state="opened",
        confidential=False,
        labels=["bug"],
        assignees=[],
        milestone=None,
        awards=[],
        closed_at=None,
        discussions=[
            DiscussionRecord(
                key="d-n1", notes=[note("n1", "Edited", updated_at=UPDATED), note("n6", "A reply", created_at=UPDATED)]
            )
        ],
    )
    assert imported.store("issues", changed)[:3] == (0, 1, 0)
    shown = imported.get("/issues/7")
    expected = {
        "title": "Renamed",
        "state": "opened",
        "confidential": False,
        "labels": ["bug"],
        "assignees": [],
        "milestone": None,
        "upvotes": 0,
        "closed_at": None,
        "closed_by": None,
        "user_notes_count": 3,
    }
    assert {name: shown[name] for name in expected} == expected
    discussion = next(each for each in imported.get("/issues/7/discussions") if len(each["notes"]) == 2)
    assert discussion["notes"][0]["body"] in ("Edited", "A question")
    edited = next(each for each in imported.get("/issues/7/notes") if each["id"] == first["id"])
    assert (edited["body"], edited["updated_at"], edited["type"]) == ("Edited", UPDATED, "DiscussionNote")
    bodies = sorted(each["body"] for each in imported.get("/issues/7/notes") if not each["system"])
    assert bodies == ["A reply", "Edited", "Written here"]
    counts = imported.get("/issues_statistics", scope="all")["statistics"]["counts"]
    assert counts == {"all": 1, "closed": 0, "opened": 1}
    assert imported.get("/labels", with_counts=True)[0]["open_issues_count"] == 1


def test_unusual_records(instance: Instance, make: Make) -> None:
    """Wrong references, repeated and impossible numbers, huge and strange texts are stored as far as possible."""
    project = make_project(make)
    imported = ImportedProject(instance, make, project)
    taken = make.api.post(f"{project.url}/issues", make.root, title="Taken").json()["iid"]
    stored = imported.store(
        "issues",
        issue(taken, key="twin"),
        issue(9),
        issue(9, key="again"),
        issue(2**62, key="huge"),
        issue(0, key="zero"),
        issue(5, title="\0 ", description="x" * 1_000_010, milestone="gone", key="text"),
        issue(6, title="Ü" * 300, description="ä\0 日本語 🎉", created_at="yesterday", due_date="never", key="odd"),
        issue(11, position=2**62, time_estimate=2**62, key="numbers"),
    )
    assert stored.created == 8
    assert len(stored.problems) == 6
    iids = {each["title"]: each["iid"] for each in imported.get("/issues", per_page=50)}
    assert iids["Untitled 5"] == 5
    assert len(imported.get("/issues/5")["description"]) == 1_000_000
    odd = imported.get("/issues/6")
    assert (odd["title"], odd["description"]) == ("Ü" * 255, "ä 日本語 🎉")
    assert imported.get("/issues/11")["time_stats"]["time_estimate"] == 2**31 - 1
    assert sorted(each["iid"] for each in imported.get("/issues", per_page=50)) == [1, 5, 6, 9, 11, 12, 13, 14, 15]
    links = imported.store(
        "issue_links",
        IssueLinkRecord(key="k1", source_iid=5, target_iid=6),
        IssueLinkRecord(key="k2", source_iid=6, target_iid=5),
        IssueLinkRecord(key="k3", source_iid=5, target_iid=5),
        IssueLinkRecord(key="k4", source_iid=5, target_iid=404),
        IssueLinkRecord(key="k5", source_iid=9, target_iid=5, link_type="blocks"),
        IssueLinkRecord(key="k6", source_iid=11, target_iid=5, link_type="is_blocked_by"),
        IssueLinkRecord(key="k7", source_iid=5, target_iid=12, link_type="duplicates"),
    )
    assert len(links.problems) == 3
    types = {each["iid"]: each["link_type"] for each in imported.get("/issues/5/links")}
    assert types == {6: "relates_to", 9: "is_blocked_by", 11: "blocks", 12: "relates_to"}
    replaced = IssueLinkRecord(key="k8", source_iid=5, target_iid=9, link_type="blocks")
    assert imported.store("issue_links", replaced).problems == []
    types = {each["iid"]: each["link_type"] for each in imported.get("/issues/5/links")}
    assert (types[9], len(types)) == ("blocks", 4)
    assert imported.store("issue_links", IssueLinkRecord(key="k4", source_iid=5, target_iid=404)).unchanged == 1
    make.api.delete(f"{project.url}/issues/9", make.root)
    assert "deleted here" in imported.store("issues", issue(9, title="New")).problems[0]


def test_statement_count(instance: Instance, make: Make) -> None:
    """The number of statements does not depend on the number of records."""
    imported = ImportedProject(instance, make, make_project(make))
    imported.store("issues", full_issue())
    counts = []
    for first, count in ((20, 3), (60, 30)):
        records = [_with_own_notes(full_issue(iid, key=f"k{iid}")) for iid in range(first, first + count)]
        with recorded_statements(instance.app.database) as statements:
            imported.store("issues", *records)
        counts.append(len(statements))
    # PostgreSQL may be probed by other threads meanwhile.
    assert counts[1] < counts[0] + 10


def _with_own_notes(record: IssueRecord) -> IssueRecord:
    discussions = [msgspec.structs.replace(each, key=f"{record.key} {each.key}") for each in record.discussions]
    return msgspec.structs.replace(record, discussions=discussions)


def test_attachments(instance: Instance, make: Make) -> None:
    """Files that texts link to become uploads; those that the source does not have keep their links."""
    secret = "0123456789abcdef" * 2
    link, lost = f"/uploads/{secret}/a%20picture.png", f"/uploads/{secret}/lost.txt"
    absolute = f"{SOURCE_URL}/uploads/{secret}/b.txt"
    imported = ImportedProject(instance, make, make_project(make), files={link: b"image", absolute: b"text"})
    record = issue(
        1, description=f"![a]({link}) [b]({absolute}).", discussions=[comment("n1", f"[c]({lost}) ![a]({link})")]
    )
    stored = imported.store("issues", record)
    assert stored.problems == [f"The file {lost} is not available at the source; its link was left as it is."]
    description = imported.get("/issues/1")["description"]
    path = description.partition("](")[2].partition(")")[0]
    assert path.startswith("/uploads/")
    assert path.endswith("/a_picture.png")
    assert SOURCE_URL not in description
    assert imported.get("/issues/1/notes")[0]["body"] == f"[c]({lost}) ![a]({path})"
    opened = len(imported.source.opened)
    imported.store("issues", record)
    imported.store("issues", issue(2, description=f"Again ![a]({link})"))
    assert len(imported.source.opened) == opened
    assert imported.get("/issues/2")["description"] == f"Again ![a]({path})"
