"""Tests of imported groups, compared through the API."""

from ingot.accounts.users.actors import active_actor
from ingot.core.db.connection import Connection
from ingot.core.names import NAMESPACES
from ingot.import_export.records import (
    BadgeRecord,
    GroupRecord,
    HookRecord,
    LabelRecord,
    MemberRecord,
    MilestoneRecord,
    VariableRecord,
)
from ingot.import_export.tables import imported_sources
from ingot.import_export.target.groups import GroupTarget, StoredGroup
from ingot.import_export.users import Importer, UserMapping
from ingot.projects.namespaces.queries import namespace_by_id
from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_group
from tests.transfers.target.harness import ALICE, BOB, CREATED, contents


def test_group(instance: Instance, make: Make) -> None:
    """A group is imported with its subgroup, members, labels, milestones, variables, badges and webhooks."""
    parent = make_group(make)
    database = instance.app.database
    columns = {"source_type": "gitlab", "source_host": "source.example", "source_key": "1"}
    import_id = database.write(
        lambda db: db.insert(imported_sources, group_id=parent.id, created_at=CREATED, updated_at=CREATED, **columns)
    )

    def store(record: GroupRecord) -> StoredGroup:
        def write(db: Connection) -> StoredGroup:
            db.lock(NAMESPACES)
            actor = active_actor(db, make.root.id)
            assert actor is not None
            users = UserMapping(f"group-{parent.id}.example", parent.id, Importer(make.root.id, admin=True), {})
            place = namespace_by_id(db, parent.id)
            return GroupTarget(import_id, actor, place, "team", users).store(db, record)

        return database.write(write)

    top = GroupRecord(
        key="1",
        full_path="company/team",
        name="The team",
        description="About it",
        members=[MemberRecord(user=ALICE, access_level=30), MemberRecord(user=BOB, access_level=50)],
        labels=[LabelRecord(key="1", title="shared", color="#112233")],
        milestones=[MilestoneRecord(key="1", iid=5, title="First", state="closed")],
        variables=[VariableRecord(name="A", value="b")],
        badges=[BadgeRecord(key="1", link_url="https://a.example", image_url="https://a.example/b.svg")],
        hooks=[HookRecord(key="1", url="https://a.example/hook", events=["push_events"])],
    )
    below = GroupRecord(key="2", full_path="company/team/below", name="Below", visibility="public")
    stored = store(top)
    assert [each.partition(" was")[0] for each in stored.problems] == ["The webhook https://a.example/hook"]
    assert "instead of public" in store(below).problems[0]

    def get(path: str) -> list[dict[str, object]]:
        answer = make.api.get(f"/groups/{stored.group_id}{path}", make.root)
        assert answer.status_code == 200, answer.text
        shown: list[dict[str, object]] = answer.json()
        return shown

    shown = make.api.get(f"/groups/{stored.group_id}", make.root).json()
    assert (shown["full_path"], shown["name"], shown["description"]) == (f"{parent.path}/team", "The team", "About it")
    assert {each["name"]: each["access_level"] for each in get("/members")}.items() >= {
        "Alice Source": 30,
        "Bob Source": 50,
    }.items()
    assert [(each["name"], each["color"]) for each in get("/labels")] == [("shared", "#112233")]
    assert [(each["title"], each["iid"], each["state"]) for each in get("/milestones")] == [("First", 5, "closed")]
    assert [(each["key"], each["value"]) for each in get("/variables")] == [("A", "b")]
    assert len(get("/badges")) == len(get("/hooks")) == 1
    assert [each["full_path"] for each in get("/subgroups")] == [f"{parent.path}/team/below"]
    rows = contents(instance)
    assert store(top) == (stored.group_id, [])
    assert store(below).problems == []
    assert contents(instance) == rows
