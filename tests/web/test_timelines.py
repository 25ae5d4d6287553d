"""The timeline on the page of an incident."""

from collections.abc import Callable

from tests.client import Make, User
from tests.factories import add_members, make_project
from tests.web.browser import Browser


def test_the_page_of_an_incident(
    browser: Browser, open_browser: Callable[[], Browser], make: Make, person: User
) -> None:
    """Developers add, change and delete events; reporters read them."""
    reporter = make.user(password="correct horse battery")
    project = make_project(make, person)
    add_members(make, project, {reporter: 20})
    issues = f"/{project.path}/-/issues"
    browser.signed_in_as(person)
    browser.submit(f"{issues}/new", issues, **{"issue[title]": "Outage", "issue[issue_type]": "incident"})
    page = browser.get(f"{issues}/1").text
    assert ("Incident" in page, "No events yet." in page) == (True, True)
    add = f"{issues}/1/timeline"
    form = {"event[note]": "It is *down*", "event[occurred_at]": "2026-01-31T10:00", "event[tags][]": "End time"}
    answer = browser.submit(f"{issues}/1", add, **form)
    assert answer.status_code == 302, answer.text
    page = browser.get(f"{issues}/1").text
    assert ("<em>down</em>" in page, "2026-01-31 10:00 UTC" in page) == (True, True)
    assert browser.submit(f"{issues}/1", add, **{**form, "event[occurred_at]": "x"}).status_code == 422
    event = f"{add}/{page.partition('/timeline/')[2].partition(chr(34))[0]}"
    browser.submit(f"{issues}/1", event, does="put", **{"event[note]": "Up again", "event[tags][]": "End time"})
    page = browser.get(f"{issues}/1").text
    assert ("Up again" in page, "<em>down" in page) == (True, False)
    assert page.count('value="End time" checked') == 1
    other = open_browser().signed_in_as(reporter)
    page = other.get(f"{issues}/1").text
    assert ("Up again" in page, "Add timeline event" in page) == (True, False)
    refused = other.post(event, data={"_method": "delete", "authenticity_token": other.token()})
    assert refused.status_code == 403
    browser.submit(f"{issues}/1", event, does="delete")
    assert "No events yet." in browser.get(f"{issues}/1").text


def test_severity_on_the_form_and_in_lists(browser: Browser, make: Make, person: User) -> None:
    project = make_project(make, person)
    issues = f"/{project.path}/-/issues"
    browser.signed_in_as(person)
    form = {"issue[title]": "Outage", "issue[issue_type]": "incident", "issue[severity]": "critical"}
    browser.submit(f"{issues}/new", issues, **form)
    browser.submit(f"{issues}/new", issues, **{**form, "issue[title]": "Question", "issue[issue_type]": "issue"})
    page = browser.get(issues).text
    assert (page.count("Incident</span>"), page.count(">Critical</span>")) == (1, 1)
    assert "Severity: Critical" in browser.get(f"{issues}/1").text
    edited = {**form, "issue[severity]": "low"}
    browser.submit(f"{issues}/1/edit", f"{issues}/1", does="put", **edited)
    assert make.api.get(f"{project.url}/issues/1", person).json()["severity"] == "LOW"
    assert "changed the severity to" in browser.get(f"{issues}/1").text
