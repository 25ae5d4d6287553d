"""Assignment of placeholder users to real users, in the rows that have no foreign key or a count."""

from sqlalchemy import select

from ingot.import_export.tables import source_users
from ingot.import_export.users import assign
from ingot.import_export.work_item_records import AwardRecord, DiscussionRecord
from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.transfers.target.harness import BOB, CREATED, ImportedProject, emitted, issue, merge_request, note


def test_votes_and_resolved_discussions_follow(instance: Instance, make: Make) -> None:
    """A vote that both users gave counts once; a placeholder is announced to no system hook."""
    made = make.api.post("/hooks", make.root, url="https://example.org/system")
    assert made.status_code == 201, made.text
    real = make.user()
    imported = ImportedProject(instance, make, make_project(make, visibility="public"))
    before = emitted(instance)
    vote = AwardRecord(key="1", name="thumbsup", user=BOB, created_at=CREATED)
    imported.store("issues", issue(1, awards=[vote]))
    resolved = {"resolvable": True, "resolved": True, "resolved_by": BOB, "resolved_at": CREATED}
    discussion = DiscussionRecord(key="d", notes=[note("n", "Done", **resolved)])
    imported.store("merge_requests", merge_request(2, discussions=[discussion]))
    hidden = emitted(instance)["hook_events"] - before["hook_events"]
    given = make.api.post(f"{imported.project.url}/issues/1/award_emoji", real, name="thumbsup")
    assert given.status_code == 201, given.text
    assert imported.get("/issues/1")["upvotes"] == 2
    key = f"source-{imported.project.id}.example"
    statement = select(source_users.c.user_id).where(
        source_users.c.source_host == key, source_users.c.source_key == BOB.key
    )
    placeholder = instance.app.database.read(lambda db: db.value(statement))
    instance.app.database.write(lambda db: assign(db, placeholder, real.id))
    assert imported.get("/issues/1")["upvotes"] == 1
    (shown,) = [each for each in imported.get("/merge_requests/2/notes") if not each["system"]]
    assert (shown["resolved"], shown["resolved_by"]["username"]) == (True, real.username)
    make.api.delete(f"/hooks/{made.json()['id']}", make.root)
    assert hidden == 0
