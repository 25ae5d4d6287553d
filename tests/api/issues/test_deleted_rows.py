"""Deletion of everything that refers to a deleted issue or merge request; only its own row remains, as a mark."""

from functools import partial
from typing import Any

from sqlalchemy import Select, func, select

from ingot.collaboration.issues.timeline.tables import timeline_events
from ingot.core.db.connection import Connection
from ingot.core.db.schema import metadata
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History


def _value(db: Connection, statement: Select[Any]) -> int:
    return int(db.value(statement))


def _rows(instance: Instance, kind: str, table_name: str, row_id: int) -> set[str]:
    """Return the tables with rows that refer to an issue or merge request."""
    found = set()
    for table in metadata.tables.values():
        conditions = [
            table.c[column.name] == row_id
            for column in table.columns
            if any(key.column.table.name == table_name for key in column.foreign_keys)
        ]
        for of_kind, number in (("subject_kind", "subject_id"), ("target_kind", "target_id")):
            if {of_kind, number} <= set(table.c.keys()):
                conditions.append((table.c[of_kind] == kind) & (table.c[number] == row_id))
        for condition in conditions:
            count = select(func.count()).select_from(table).where(condition)
            if instance.app.database.read(partial(_value, statement=count)):
                found.add(table.name)
    return found


def test_nothing_of_a_deleted_issue_remains(instance: Instance, api: Api, make: Make) -> None:
    owner, other = make.user(), make.user()
    project = make_project(make, owner, members={other: 30})
    history = History()
    tip = history.commit(files={"a": "a\n"})
    history.commit("feature", files={"b": "b\n"}, parents=(tip,))
    history.fill(instance, project)
    issues = f"{project.url}/issues"
    milestone = api.post(f"{project.url}/milestones", owner, title="1.0").json()["id"]
    made = api.post(
        issues,
        owner,
        title="Deleted",
        issue_type="incident",
        description=f"@{other.username}\n\n- [ ] item",
        labels="bug",
        assignee_ids=[other.id],
        milestone_id=milestone,
    ).json()
    at = f"{issues}/{made['iid']}"
    second = api.post(issues, owner, title="Other").json()
    for path, sent in (
        ("notes", {"body": f"A note for @{other.username}"}),
        ("award_emoji", {"name": "thumbsup"}),
        ("subscribe", {}),
        ("todo", {}),
        ("add_spent_time", {"duration": "1h"}),
        ("time_estimate", {"duration": "2h"}),
        ("links", {"target_project_id": project.id, "target_issue_iid": second["iid"]}),
    ):
        answer = api.post(f"{at}/{path}", other, **sent)
        assert answer.status_code in (200, 201, 304), (path, answer.text)
    task = api.post(issues, owner, title="Task", issue_type="task", parent_id=made["id"])
    assert task.status_code == 201, task.text
    merge = {
        "title": "M",
        "source_branch": "feature",
        "target_branch": "master",
        "description": f"Closes #{made['iid']}",
    }
    assert api.post(f"{project.url}/merge_requests", owner, **merge).status_code == 201
    assert api.put(at, owner, state_event="close").status_code == 200
    note = api.get(f"{at}/notes", owner).json()[-1]["id"]
    api.post(f"{at}/notes/{note}/award_emoji", owner, name="tada")
    now = instance.app.database.clock()
    event = {"issue_id": made["id"], "note": "Down", "tags": "[]"}
    times = dict.fromkeys(("occurred_at", "created_at", "updated_at"), now)
    instance.app.database.write(lambda db: db.insert(timeline_events, **event, **times))
    before = _rows(instance, "issue", "issues", made["id"])
    assert before >= {
        "timeline_events",
        "issue_assignees",
        "issue_links",
        "label_links",
        "notes",
        "todos",
        "timelogs",
        "events",
    }, before

    assert api.delete(at, owner).status_code == 200
    assert _rows(instance, "issue", "issues", made["id"]) == set()


def test_nothing_of_a_deleted_merge_request_remains(instance: Instance, api: Api, make: Make) -> None:
    owner, other = make.user(), make.user()
    project = make_project(make, owner, members={other: 30})
    history = History()
    tip = history.commit(files={"a": "a\n"})
    history.commit("feature", files={"b": "b\n"}, parents=(tip,))
    history.fill(instance, project)
    issue = api.post(f"{project.url}/issues", owner, title="Closed").json()["iid"]
    made = api.post(
        f"{project.url}/merge_requests",
        owner,
        title="Deleted",
        description=f"Closes #{issue}",
        source_branch="feature",
        target_branch="master",
        assignee_ids=[other.id],
        reviewer_ids=[other.id],
        labels="bug",
    ).json()
    at = f"{project.url}/merge_requests/{made['iid']}"
    for path, sent in (("notes", {"body": "A note"}), ("approve", {}), ("award_emoji", {"name": "tada"}), ("todo", {})):
        answer = api.post(f"{at}/{path}", other, **sent)
        assert answer.status_code in (200, 201, 304), (path, answer.text)
    before = _rows(instance, "merge_request", "merge_requests", made["id"])
    assert before >= {"merge_request_assignees", "merge_request_reviewers", "merge_request_approvals", "events"}, before

    assert api.delete(at, owner).status_code == 200
    instance.work()
    # The job that removes the refs of a deleted merge request reads its versions.
    assert _rows(instance, "merge_request", "merge_requests", made["id"]) == {
        "merge_request_commits",
        "merge_request_versions",
    }
