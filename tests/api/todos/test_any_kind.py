"""What serves every kind of subject serves one that another room describes, too."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ingot.access.levels import Level
from ingot.db.connection import Connection
from ingot.events.bus import emit
from ingot.involvement.events import KindsAsked, SubjectChanged
from ingot.issues.kind import ISSUES
from ingot.subjects import Subject
from ingot.todos.service import add_todo
from tests.api.issues.writing import write_issue
from tests.client import Api, Make
from tests.conftest import House
from tests.mailing import mailbox, text_of
from tests.making import make_project

# Rows of issues stand in for those of a room that is not there.
MERGE_REQUESTS = replace(
    ISSUES, kind="merge_request", shown="MergeRequest", path="merge_requests", sign="!", noun="merge request"
)


@pytest.fixture
def described(house: House, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A room that answers the port."""

    def describe(db: Connection, event: KindsAsked) -> None:
        event.found.append(MERGE_REQUESTS)

    known = house.app.database.subscribers
    monkeypatch.setattr(house.app.database, "subscribers", {**known, KindsAsked: [*known[KindsAsked], describe]})
    yield


@pytest.mark.usefixtures("described")
def test_merge_requests(api: Api, house: House, make: Make) -> None:
    """Given to somebody, merged by somebody: a todo, an event and a mail, as for an issue."""
    author, person, guest = make.user(), make.user(), make.user()
    members = {person: Level.DEVELOPER, guest: Level.GUEST}
    project = make_project(make, author, members=members)
    row = write_issue(make, project, author, title="change", description=f"@{guest.username}")
    subject = Subject("merge_request", project.id, row["id"], row["iid"], author_id=author.id, title="change")
    with mailbox(house) as box:
        opened = SubjectChanged(subject, author.id, "opened", said=f"@{guest.username}", assigned=(person.id,))
        house.app.database.write(lambda db: emit(db, opened))
        came = dict(box.receive())
        house.app.database.write(lambda db: emit(db, SubjectChanged(subject, person.id, "merged")))
        assert {address for address, _ in box.receive()} == {author.email, guest.email}

    assert set(came) == {person.email, guest.email}
    assert came[person.email]["Message-ID"].startswith("<merge_request_")
    assert f"/merge_requests/{row['iid']}" in text_of(came[person.email])
    (done,) = api.get("/todos", person, state="done").json()
    assert (done["target_type"], done["action_name"]) == ("MergeRequest", "assigned")
    assert done["target_url"].endswith(f"{project.path}/merge_requests/{row['iid']}")
    assert len(api.get("/todos", guest, type="MergeRequest").json()) == 1
    events = api.get(f"/projects/{project.id}/events", author, target_type="merge_request").json()
    assert [event["action_name"] for event in events] == ["accepted", "opened"]
    assert (events[0]["target_type"], events[0]["target_iid"]) == ("MergeRequest", row["iid"])


def test_a_kind_that_nobody_describes_shows_nowhere(api: Api, house: House, make: Make) -> None:
    """What no room vouches for is seen by nobody, and stops no list."""
    author, person = make.user(), make.user()
    project = make_project(make, author, members={person: Level.DEVELOPER})
    subject = Subject("merge_request", project.id, 1, 1, author_id=author.id, title="hidden")

    house.app.database.write(lambda db: emit(db, SubjectChanged(subject, author.id, "opened", said=person.username)))
    house.app.database.write(lambda db: add_todo(db, person.id, author.id, subject, "assigned"))

    assert api.get("/todos", person).json() == []
    assert api.get(f"/projects/{project.id}/events", author, target_type="merge_request").json() == []
