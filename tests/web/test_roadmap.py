"""Roadmap of milestones, and the burndown chart of one."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
from sqlalchemy import bindparam, update

from ingot.collaboration.issues.tables import issues
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration, day_of
from tests.api.issues.factories import make_issue
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, Project, make_group, make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

_ISSUE = update(issues).where(issues.c.id == bindparam("row"))


class Plan(NamedTuple):
    """Private group with a project, its owner and a guest."""

    owner: User
    guest: User
    group: Group
    project: Project


@pytest.fixture(scope="module")
def plan(make: Make) -> Plan:
    """Return a group of its own."""
    owner, guest = make.user(password=PASSWORD), make.user(password=PASSWORD)
    group = make_group(make, owner, members={guest: Level.GUEST})
    return Plan(owner, guest, group, make_project(make, owner, group=group))


def test_roadmap_shows_milestones_of_project_and_groups(
    api: Api, make: Make, open_browser: Callable[[], Browser], plan: Plan
) -> None:
    url = f"{plan.project.url}/milestones"
    first = api.post(url, plan.owner, title="First", start_date="2026-01-10", due_date="2026-02-20").json()
    api.post(url, plan.owner, title="Only due", due_date="2026-03-31")
    api.post(url, plan.owner, title="<b>Undated</b>")
    closed = api.post(f"{plan.group.url}/milestones", plan.owner, title="Closed", due_date="2026-01-31").json()
    api.put(f"{plan.group.url}/milestones/{closed['id']}", plan.owner, state_event="close")
    make_issue(make, plan.project, plan.owner, milestone_id=first["id"])
    done = make_issue(make, plan.project, plan.owner, milestone_id=first["id"])
    api.put(f"{plan.project.url}/issues/{done['iid']}", plan.owner, state_event="close")
    browser = open_browser().signed_in_as(plan.owner)
    for base in (f"/{plan.project.path}", f"/groups/{plan.group.path}"):
        page = browser.get(f"{base}/-/roadmap").text
        assert page.index(">First</a>") < page.index(">Only due</a>") < page.index("&lt;b&gt;Undated")
        assert "50 %: 1 of 2 issues closed" in page
        assert ">2026-01</text>" in page
        assert ">Closed</a>" not in page
        assert ">Closed</a>" in browser.get(f"{base}/-/roadmap?state=all").text
        assert f'href="{base}/-/roadmap"' in browser.get(f"{base}/-/milestones").text
        assert open_browser().get(f"{base}/-/roadmap").status_code == 404


def test_burndown_counts_visible_open_issues_by_day(
    api: Api, make: Make, instance: Instance, open_browser: Callable[[], Browser], plan: Plan
) -> None:
    today = instance.app.database.clock()
    days = [day_of(add_duration(today, days=offset)) for offset in (-3, -2, -1, 0, 1)]
    made = {
        source: api.post(
            f"{source.url}/milestones", plan.owner, title=title, start_date=days[0], due_date=days[4]
        ).json()
        for source, title in ((plan.project, "Sprint"), (plan.group, "Quarter"))
    }
    pages = {
        plan.project: f"/{plan.project.path}/-/milestones/{made[plan.project]['iid']}",
        plan.group: f"/groups/{plan.group.path}/-/milestones/{made[plan.group]['iid']}",
    }
    for source, milestone in made.items():
        page = pages[source]
        owner, guest = (open_browser().signed_in_as(person) for person in (plan.owner, plan.guest))
        assert "Burndown" not in owner.get(page).text
        rows = [
            make_issue(make, plan.project, plan.owner, milestone_id=milestone["id"], confidential=hidden)
            for hidden in (False, False, True)
        ]
        api.put(f"{plan.project.url}/issues/{rows[1]['iid']}", plan.owner, state_event="close")

        def set_times(db: Connection, rows: list[dict[str, int]] = rows) -> None:
            db.run(_ISSUE.values(created_at=add_duration(today, days=-9)), row=rows[0]["id"])
            times = {"created_at": add_duration(today, days=-2), "closed_at": add_duration(today, days=-1)}
            db.run(_ISSUE.values(**times), row=rows[1]["id"])
            db.run(_ISSUE.values(created_at=today), row=rows[2]["id"])

        instance.app.database.write(set_times)
        for browser, counts in ((owner, (1, 2, 1, 2)), (guest, (1, 2, 1, 1))):
            shown = browser.get(page).text
            table = [f'<th scope="row">{day}</th><td>{count}</td>' for day, count in zip(days, counts, strict=False)]
            positions = [shown.index(row) for row in table]
            assert positions == sorted(positions, reverse=True)
            assert f'<th scope="row">{days[4]}</th>' not in shown, "Tomorrow is not known yet."
            assert '<line class="ideal"' in shown
