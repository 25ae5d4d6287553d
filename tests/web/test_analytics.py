"""Charts of a project: value stream, contributors and languages, each with its table."""

from collections.abc import Callable

from sqlalchemy import bindparam, update

from ingot.collaboration.merge_requests.tables import merge_requests
from ingot.collaboration.notes.tables import notes
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.projects.projects.tables import language_days
from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

_MERGE_REQUEST = update(merge_requests).where(merge_requests.c.id == bindparam("row"))
_NOTE = update(notes).where(notes.c.id == bindparam("row"))


def _merged(api: Api, make: Make, project: Project, owner: User) -> tuple[int, int]:
    """Merge a new merge request and return its id and number."""
    made = make_merge_request(make, project, owner)
    assert api.put(f"{project.url}/merge_requests/{made['iid']}/merge", owner).status_code == 200
    return made["id"], made["iid"]


def test_value_stream_shows_median_times(
    api: Api, make: Make, instance: Instance, open_browser: Callable[[], Browser]
) -> None:
    owner, reviewer, stranger = (make.user(password=PASSWORD) for _ in range(3))
    project = filled_project(make, owner)
    add_members(make, project, {reviewer: Level.DEVELOPER})
    browser, address = open_browser().signed_in_as(owner), f"/{project.path}/-/value_stream_analytics"
    assert "No charts yet" in browser.get(address).text
    ids = []
    for _ in range(3):
        request_id, iid = _merged(api, make, project, owner)
        url = f"{project.url}/merge_requests/{iid}/notes"
        comments = [api.post(url, author, body="Look").json()["id"] for author in (owner, reviewer)]
        ids.append((request_id, *comments))

    def set_times(db: Connection) -> None:
        for days, (request_id, own, review) in zip((2, 3, 9), ids, strict=True):
            start = add_duration(db.now, days=-days)
            db.run(_MERGE_REQUEST.values(created_at=start, merged_at=db.now), row=request_id)
            db.run(_NOTE.values(created_at=add_duration(start, minutes=1)), row=own)
            db.run(_NOTE.values(created_at=add_duration(start, hours=days)), row=review)

    instance.app.database.write(set_times)
    page = browser.get(address).text
    assert "<p>Median: 3 d</p>" in page, "The time to merge."
    assert "<p>Median: 3 h</p>" in page, "The author's own comment is no review."
    assert page.count("<rect") == 2, "A bar of each chart, for this week."
    assert "<td>3</td><td>3 h</td><td>3 d</td>" in page
    for chosen, rows in (("26w", 26), ("12m", 12), ("24m", 24), ("<script>", 12)):
        shown = browser.get(f"{address}?range={chosen}").text
        assert shown.count('<th scope="row">') == rows
        assert "<td>3</td><td>3 h</td><td>3 d</td>" in shown
    assert " Analyze</a>" in browser.get(f"/{project.path}").text
    assert open_browser().signed_in_as(stranger).get(address).status_code == 404
    assert open_browser().get(address).status_code == 404


def test_languages_are_recorded_and_shown_over_time(
    api: Api, make: Make, instance: Instance, open_browser: Callable[[], Browser]
) -> None:
    owner = make.user(password=PASSWORD)
    project = filled_project(make, owner)
    browser, address = open_browser().signed_in_as(owner), f"/{project.path}/-/graphs/master/charts"
    assert "No charts yet" in browser.get(address).text
    commit(make, project, "master", {"a.py": "x = 1\n" * 30, "b.rb": "x = 1\n" * 10}, owner)
    assert "<td>75.0 %</td><td>25.0 %</td>" in browser.get(address).text, "Without a row, it shows those of now."
    for _ in range(2):
        assert api.post(f"{project.url}/housekeeping", owner).status_code == 201
        instance.work()
    statement = language_days.select().where(language_days.c.project_id == project.id)
    assert [row[3] for row in instance.app.database.read(lambda db: db.rows(statement))] == [
        '{"Python":75.0,"Ruby":25.0}'
    ]

    def move_to_last_year(db: Connection) -> None:
        long_ago = add_duration(db.now, days=-200)[:10]
        shares = '{"Ruby":60.0,"Go":40.0}'
        db.insert(language_days, project_id=project.id, day=long_ago, shares=shares)
        db.insert(language_days, project_id=project.id, day="2001-01-01", shares=shares)

    instance.app.database.write(move_to_last_year)
    page = browser.get(f"{address}?range=12m").text
    assert "<td>0.0 %</td><td>60.0 %</td>" in page, "Go is no language of today."
    assert "<td>75.0 %</td><td>25.0 %</td>" in page
    api.post(f"{project.url}/housekeeping", owner)
    instance.work()
    days = [row[2] for row in instance.app.database.read(lambda db: db.rows(statement))]
    assert len(days) == 2, "The housekeeping deletes what no chart shows."
    assert "2001-01-01" not in days


def test_contributors_have_a_table_of_commits(make: Make, open_browser: Callable[[], Browser]) -> None:
    owner = make.user(password=PASSWORD)
    project = filled_project(make, owner)
    page = open_browser().signed_in_as(owner).get(f"/{project.path}/-/graphs/master").text
    assert page.count('<th scope="row">') == 52
    assert "<td>1</td>" in page
    assert 'aria-current="page">Contributor analytics</a>' in page
