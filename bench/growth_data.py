"""Two instances alike except for their size: issues, members, projects and commits, written directly."""

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import bindparam, select

from bench.git_history import import_stream
from bench.namespace_data import insert_project
from bench.repositories import create_project
from ingot.accounts.tokens.service import create_token
from ingot.accounts.users.params import CreateUser
from ingot.accounts.users.service import create_user
from ingot.collaboration.iids.tables import internal_ids
from ingot.collaboration.issues.tables import issue_assignees, issue_counts, issues
from ingot.collaboration.labels.tables import label_links, labels
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import Timestamp
from ingot.core.names import NAMESPACES
from ingot.core.settings import Settings
from ingot.git.maintenance.housekeeping import run_housekeeping
from ingot.projects.namespaces.tables import memberships, namespaces
from ingot.projects.projects.service import add_to_open_issues_count
from ingot.projects.projects.tables import projects
from ingot.server.app import open_database

DEVELOPER_TOKEN = "token-of-a-developer"
GUEST_TOKEN = "token-of-a-guest"
COMMON_WORD = "harbour"
"""Word in every second issue."""
BLAMED_FILE = "blamed.txt"
LABELS = 20
_NAMESPACE_OF_PROJECT = select(projects.c.namespace_id).where(projects.c.id == bindparam("project"))
_OWN_NAMESPACE = select(namespaces.c.id, namespaces.c.full_path).where(namespaces.c.owner_id == bindparam("owner"))
_WORDS = ("crash", "button", "slow", "page", "colour", "upload", "search", "branch", "merge", "label", "mail", "token")
_BATCH = 5_000
_LINES = 100


class GrowthSize(NamedTuple):
    """Number of rows of each kind."""

    issues: int
    members: int
    projects: int
    commits: int


SMALL = GrowthSize(100, 10, 10, 100)
LARGE = GrowthSize(100_000, 10_000, 10_000, 10_000)


class GrowthData(NamedTuple):
    """The filled project."""

    project_id: int
    full_path: str
    size: GrowthSize
    repository: Path
    developer_id: int


def fill_growth(settings: Settings, port: int, size: GrowthSize) -> GrowthData:
    """Fill a new project of root, and projects beside it."""
    place = create_project(settings, port, "grown")
    import_stream(place.path, _history(size.commits))
    run_housekeeping(place.path)
    database = open_database(settings)
    database.write(lambda db: db.update(projects, place.id, empty=False, generation=1))
    people = _add_people(database, size.members)
    database.write(partial(_add_members, project_id=place.id, people=people))
    marks = database.write(partial(_add_labels, project_id=place.id))
    for first in range(0, size.issues, _BATCH):
        last = min(first + _BATCH, size.issues)
        database.write(partial(_add_issues, project_id=place.id, first=first, last=last, marks=marks, people=people))
    database.write(partial(_add_totals, project_id=place.id, count=size.issues))
    for first in range(0, size.projects, _BATCH):
        database.write(partial(_add_projects, first=first, last=min(first + _BATCH, size.projects), people=people))
    database.close()
    return GrowthData(place.id, "root/grown", size, place.path, people[0])


def _history(commits: int) -> Iterator[bytes]:
    """Every tenth commit changes one line of the file that is blamed."""
    dice = random.Random(1)
    lines = [b"line %d, first" % number for number in range(_LINES)]
    for number in range(1, commits + 1):
        message = b"Change %d\n" % number
        yield b"commit refs/heads/master\ncommitter Ada Writer <ada@example.org> %d +0000" % (1_400_000_000 + number)
        yield b"\ndata %d\n" % len(message) + message
        name, content = f"folder/file-{number % 50}.txt".encode(), b"Change %d\n" % number * (5 + number % 40)
        if number % 10 == 1:
            lines[dice.randrange(_LINES)] = b"line of change %d" % number
            name, content = BLAMED_FILE.encode(), b"\n".join(lines) + b"\n"
        yield b"M 100644 inline %s\ndata %d\n" % (name, len(content)) + content + b"\n"
    yield b"done\n"


def _add_people(database: Database, count: int) -> list[int]:
    def add(db: Connection, first: int, last: int) -> list[int]:
        db.lock(NAMESPACES)
        made_ids = []
        for number in range(first, last):
            name = f"sailor-{number}"
            params = CreateUser(email=f"{name}@example.org", name=name, username=name, force_random_password=True)
            made_ids.append(create_user(db, params, None).id)
        return made_ids

    people: list[int] = []
    for first in range(0, count, 1_000):
        people += database.write(partial(add, first=first, last=min(first + 1_000, count)))
    return people


def _add_members(db: Connection, project_id: int, people: list[int]) -> None:
    namespace_id = db.value(_NAMESPACE_OF_PROJECT, project=project_id)
    for number, user_id in enumerate(people):
        level = {0: 30, 1: 10}.get(number, (20, 30, 40)[number % 3])
        db.insert(
            memberships,
            source_kind="project",
            source_id=project_id,
            namespace_id=namespace_id,
            user_id=user_id,
            access_level=level,
            notification_level=3,
            created_at=db.now,
        )
    create_token(db, people[0], "personal", "Bench", ["api"], secret=DEVELOPER_TOKEN)
    create_token(db, people[1], "personal", "Bench", ["api"], secret=GUEST_TOKEN)


def _add_labels(db: Connection, project_id: int) -> list[int]:
    times = {"created_at": db.now, "updated_at": db.now}
    made_ids = []
    for number in range(LABELS):
        title = f"label-{number}"
        row = {"title": title, "title_key": title, "color": "#428BCA", "description": None}
        made_ids.append(db.insert(labels, project_id=project_id, group_id=None, **row, **times))
    return made_ids


def _kind_of(iid: int) -> tuple[str, bool]:
    return "closed" if iid % 3 == 0 else "opened", iid % 50 == 0


def _add_issues(db: Connection, project_id: int, first: int, last: int, marks: list[int], people: list[int]) -> None:
    dice = random.Random(first)
    for iid in range(first + 1, last + 1):
        at = Timestamp(f"20{10 + iid // 10_000:02}-{1 + iid // 900 % 12:02}-{1 + iid // 33 % 28:02}T12:00:00.000Z")
        title = f"The {dice.choice(_WORDS)} of {dice.choice(_WORDS)} number {iid}"
        text = " ".join(dice.choices(_WORDS, k=40)) + (f" {COMMON_WORD}" if iid % 2 == 0 else "")
        state, confidential = _kind_of(iid)
        issue_id = db.insert(
            issues,
            project_id=project_id,
            iid=iid,
            author_id=people[iid % len(people)],
            title=title,
            title_key=title.casefold(),
            description=text,
            description_key=text.casefold(),
            state=state,
            confidential=confidential,
            user_notes_count=0,
            upvotes=0,
            downvotes=0,
            time_estimate=0,
            total_time_spent=0,
            discussion_locked=False,
            created_at=at,
            updated_at=at,
        )
        # The first label is on every second issue, the second on every fourth, the others on fewer.
        chosen = {marks[0]} if iid % 2 == 0 else set()
        chosen |= {marks[1]} if iid % 4 == 0 else set()
        chosen.add(marks[2 + dice.randrange(LABELS - 2)])
        for label_id in chosen:
            about = {"project_id": project_id, "state": state, "confidential": confidential}
            db.insert(label_links, label_id=label_id, subject_kind="issue", subject_id=issue_id, **about)
        if iid % 4 == 0:
            db.insert(issue_assignees, issue_id=issue_id, user_id=people[0])


def _add_totals(db: Connection, project_id: int, count: int) -> None:
    rows = [_kind_of(iid) for iid in range(1, count + 1)]
    for state, confidential in sorted(set(rows)):
        number = rows.count((state, confidential))
        db.insert(issue_counts, project_id=project_id, state=state, confidential=confidential, count=number)
    add_to_open_issues_count(db, project_id, sum(state == "opened" for state, _ in rows))
    db.insert(internal_ids, scope="project", scope_id=project_id, kind="issue", last=count)


def _add_projects(db: Connection, first: int, last: int, people: list[int]) -> None:
    """Add public projects in the personal namespaces of the people."""
    token = db.vault.seal("runners token")
    for number in range(first, last):
        user_id = people[number % len(people)]
        namespace_id, full_path = db.rows(_OWN_NAMESPACE, owner=user_id)[0]
        insert_project(db, number, namespace_id, full_path, "public", token)
