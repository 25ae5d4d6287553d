"""Issues: a project with a hundred thousand issues and a million notes: read, list, filter, search, write."""

import random
import statistics
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx
from sqlalchemy import Select, func, insert, literal, select, true

from bench.load import get, post, requests_per_second
from bench.repositories import Measurement
from bench.user_data import TOKEN
from ingot.collaboration.iids.tables import internal_ids
from ingot.collaboration.issues.tables import issue_assignees, issue_counts, issues
from ingot.collaboration.labels.tables import label_links, label_priorities, labels
from ingot.collaboration.milestones.tables import milestones
from ingot.collaboration.notes.tables import notes
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.settings import Settings
from ingot.projects.projects.service import add_to_open_issues_count
from ingot.server.app import open_database

ISSUES = 100_000
LABELS = 500
MILESTONES = 50
NOTES_EACH = 10
RARE = "zanzibar"
HITS = 1_000
_WORDS = ("crash", "button", "slow", "page", "colour", "upload", "search", "branch", "merge", "label", "mail", "token")


def fill_issues(settings: Settings, port: int) -> int:
    """Fill a new project and return its id."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v4", headers={"PRIVATE-TOKEN": TOKEN}) as client:
        project_id: int = client.post("/projects", json={"name": "tracker"}).json()["id"]
    database = open_database(settings)
    marks = database.write(partial(_add_labels_and_milestones, project_id=project_id))
    dice = random.Random(5)
    for first in range(0, ISSUES, 5_000):
        database.write(partial(_add_issues, project_id=project_id, first=first, marks=marks, dice=dice))
    database.write(_add_notes)
    database.write(partial(_add_totals, project_id=project_id))
    database.close()
    return project_id


def _add_labels_and_milestones(db: Connection, project_id: int) -> tuple[list[int], list[int]]:
    times = {"created_at": db.now, "updated_at": db.now}
    made = []
    for number in range(LABELS):
        title = f"label-{number}"
        row = {"title": title, "title_key": title, "color": "#428BCA", "description": None}
        made.append(db.insert(labels, project_id=project_id, group_id=None, **row, **times))
    planned = []
    for number in range(1, MILESTONES + 1):
        title = f"milestone-{number}"
        row = {"title": title, "title_key": title, "description": None, "description_key": "", "state": "active"}
        row["due_date"] = f"20{30 + number}-01-01" if number % 2 else None
        planned.append(db.insert(milestones, project_id=project_id, group_id=None, iid=number, **row, **times))
    for priority, place in enumerate((2, 7, 30, 31, 32)):
        db.insert(label_priorities, project_id=project_id, label_id=made[place], priority=priority)
    return made, planned


def _add_issues(
    db: Connection, project_id: int, first: int, marks: tuple[list[int], list[int]], dice: random.Random
) -> None:
    made, planned = marks
    for iid in range(first + 1, first + 5_001):
        at = Timestamp(f"20{10 + iid // 10_000:02}-{1 + iid // 900 % 12:02}-{1 + iid // 33 % 28:02}T12:00:00.000Z")
        title = f"The {dice.choice(_WORDS)} of {dice.choice(_WORDS)} number {iid}"
        text = " ".join(dice.choices(_WORDS, k=40)) + (f" {RARE}" if iid % (ISSUES // HITS) == 0 else "")
        state, confidential = _state_of(iid)
        issue_id = db.insert(
            issues,
            project_id=project_id,
            iid=iid,
            author_id=1,
            title=title,
            title_key=title.casefold(),
            description=text,
            description_key=text.casefold(),
            state=state,
            confidential=confidential,
            milestone_id=planned[iid % len(planned)] if iid % 2 else None,
            user_notes_count=NOTES_EACH,
            upvotes=0,
            downvotes=0,
            time_estimate=0,
            total_time_spent=0,
            discussion_locked=False,
            created_at=at,
            updated_at=at,
        )
        # A few labels are on very many issues, most are on some.
        for label_id in {made[iid % 4], made[4 + dice.randrange(16)], made[20 + dice.randrange(LABELS - 20)]}:
            about = {"project_id": project_id, "state": state, "confidential": confidential}
            db.insert(label_links, label_id=label_id, subject_kind="issue", subject_id=issue_id, **about)
        if iid % 4 == 0:
            db.insert(issue_assignees, issue_id=issue_id, user_id=1)


def _add_notes(db: Connection) -> None:
    """Add all notes by one statement: a million single inserts would take minutes."""
    first: Select[Any] = select(literal(0).label("number"))
    numbers = first.cte(recursive=True)
    numbers = numbers.union_all(select(numbers.c.number + 1).where(numbers.c.number < NOTES_EACH - 1))
    written = {
        "project_id": issues.c.project_id,
        "author_id": literal(1),
        "subject_kind": literal("issue"),
        "subject_id": issues.c.id,
        "discussion_id": func.printf("%036x%04x", issues.c.id, numbers.c.number),
        "body": func.printf("What somebody said of it, number %d", numbers.c.number),
        "system": literal(False),
        "internal": literal(False),
        "created_at": issues.c.created_at,
        "updated_at": issues.c.created_at,
    }
    db.run(insert(notes).from_select(list(written), select(*written.values()).join_from(issues, numbers, true())))


def _state_of(iid: int) -> tuple[str, bool]:
    return "closed" if iid % 3 == 0 else "opened", iid % 50 == 0


def _add_totals(db: Connection, project_id: int) -> None:
    rows = [_state_of(iid) for iid in range(1, ISSUES + 1)]
    for state, confidential in sorted(set(rows)):
        count = rows.count((state, confidential))
        db.insert(issue_counts, project_id=project_id, state=state, confidential=confidential, count=count)
    add_to_open_issues_count(db, project_id, sum(state == "opened" for state, _ in rows))
    db.insert(internal_ids, scope="project", scope_id=project_id, kind="issue", last=ISSUES)


def measure_issues(port: int, project_id: int, seconds: float, rounds: int) -> Iterator[Measurement]:
    """Measure reads against F1, writes against F1 with a row, and filters, searches and late pages in milliseconds."""
    dice = random.Random(2)
    base = f"/api/v4/projects/{project_id}/issues"
    some = [dice.randint(1, ISSUES) for _ in range(64)]
    nothing, row = [get("/api/v4/bench")], [post("/api/v4/bench")]
    text = " ".join(_WORDS)
    shares = {
        "one issue / F1": (0.25, [get(f"{base}/{iid}", TOKEN) for iid in some], nothing),
        "page of 20 issues / F1": (0.10, [get(base, TOKEN)], nothing),
        "page of all there are / F1": (0.10, [get("/api/v4/issues?scope=all", TOKEN)], nothing),
        "page of one's own / F1": (0.10, [get("/api/v4/issues", TOKEN)], nothing),
        f"{NOTES_EACH} notes of an issue / F1": (0.10, [get(f"{base}/{iid}/notes", TOKEN) for iid in some], nothing),
        "create an issue / F1 and a row": (0.20, [post(base, TOKEN, title="A new one", description=text)], row),
    }
    for name, (least, requests, constant) in shares.items():
        share = statistics.median(
            requests_per_second(port, requests, seconds) / requests_per_second(port, constant, seconds)
            for _ in range(rounds)
        )
        yield Measurement(name, share, f">= {least:.2f}", share >= least)
    moments = {
        "two labels, state, milestone": ("labels=label-1,label-5&state=opened&milestone=milestone-2", 15),
        f"search with {HITS} hits": (f"search={RARE}", 25),
        "opened ones, page 1,000": ("state=opened&page=1000", 50),
        "opened ones by priority": ("state=opened&order_by=priority&sort=asc", 15),
    }
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"PRIVATE-TOKEN": TOKEN}) as client:
        for name, (query, most) in moments.items():
            took = _milliseconds(client, f"{base}?{query}", rounds)
            yield Measurement(f"{name}, ms", took, f"<= {most}", took <= most)
        first, last = _pages_by_key(client, base)
    pages = [
        requests_per_second(port, [get(path, TOKEN)], seconds / 2) for _ in range(rounds) for path in (first, last)
    ]
    share = statistics.median(pages[1::2]) / statistics.median(pages[::2])
    yield Measurement("keyset page 1,000 / page 1", share, ">= 0.90", share >= 0.90)


def _pages_by_key(client: httpx.Client, base: str) -> tuple[str, str]:
    """Return the cursors of the first and the thousandth keyset page, among similar issues: new ones are shorter."""
    oldest = client.get(f"{base}?per_page=1&sort=asc").json()[0]["id"]
    by_key = f"{base}?pagination=keyset&order_by=id&id_before="
    return f"{by_key}{oldest + ISSUES}", f"{by_key}{oldest + ISSUES - 999 * 20}"


def _milliseconds(client: httpx.Client, path: str, rounds: int) -> float:
    """Return the median of several warm calls."""
    times = []
    for number in range(4 * rounds):
        started = time.perf_counter()
        client.get(path).raise_for_status()
        if number >= rounds:
            times.append(1000 * (time.perf_counter() - started))
    return statistics.median(times)
