"""``ingot demo``: sample users and a year of activity in five projects."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingot.core.db.times import Timestamp
from ingot.maintenance.demo.clock import DemoClock
from tests.server.process import Server, ingot


def _options(server: Server) -> list[str]:
    return ["--data", str(server.data)] + (["--database-url", server.database_url] if server.database_url else [])


def _check_year(server: Server) -> None:
    """Five projects have a year of work: commits, issues, merged branches, pipelines and board lists."""
    projects = server.call("GET", "/groups/harbour-works/projects").json()
    assert len(projects) == 5
    today = datetime.now(UTC)
    for project in projects:
        here = f"/projects/{project['id']}"
        commits = server.call("GET", f"{here}/repository/commits?per_page=100").json()
        ages = [(today - datetime.fromisoformat(commit["committed_date"])).days for commit in commits]
        assert ages == sorted(ages)
        assert max(ages) > 330, project["path"]
        issues = server.call("GET", f"{here}/issues?per_page=100").json()
        months = {issue["created_at"][:7] for issue in issues}
        assert len(months) > 4, project["path"]
        (board,) = server.call("GET", f"{here}/boards").json()
        assert [entry["label"]["name"] for entry in board["lists"]] == ["doing", "review"]
        pipelines = server.call("GET", f"{here}/pipelines?per_page=100").json()
        assert {"success", "failed"} == {pipeline["status"] for pipeline in pipelines}
        assert all(each["source"] == "push" for each in pipelines)
    states = [issue["state"] for issue in server.call("GET", "/projects/harbour-works%2Flighthouse/issues").json()]
    assert (states.count("opened"), states.count("closed")) == (2, 6)


def _check_signatures(server: Server, merge_request: int) -> None:
    """Signed commits are on the main branch and in a merge request, by registered and other keys."""
    here = "/projects/harbour-works%2Ftidewatch"
    main, proposed = "repository/commits?per_page=100", f"merge_requests/{merge_request}/commits"
    found = {}
    for path in (main, proposed):
        commits = server.call("GET", f"{here}/{path}").json()
        answers = [server.call("GET", f"{here}/repository/commits/{commit['id']}/signature") for commit in commits]
        assert all(answer.status_code in (200, 404) for answer in answers)
        found[path] = [answer.json()["verification_status"] for answer in answers if answer.status_code == 200]
    assert found == {main: ["verified", "verified"], proposed: ["unknown_key", "verified"]}


def _check_jobs(server: Server) -> None:
    """Jobs have logs, coverage and deployments, at the times of their pipelines."""
    here = "/projects/harbour-works%2Ftidewatch"
    (failed, *_) = server.call("GET", f"{here}/jobs?scope=failed").json()
    assert failed["name"] == "unit tests"
    assert "1 failed" in server.call("GET", f"{here}/jobs/{failed['id']}/trace").text
    jobs = server.call("GET", f"{here}/jobs?per_page=100").json()
    assert {job["coverage"] for job in jobs if job["name"] == "unit tests" and job["status"] == "success"} == {91.0}
    assert all(job["created_at"] <= job["started_at"] < job["finished_at"] for job in jobs if job["finished_at"])
    deployments = server.call("GET", f"{here}/deployments?environment=staging").json()
    assert deployments[0]["status"] == "success"


def test_the_demo_fills_an_instance_once(server: Server) -> None:
    first = ingot("demo", *_options(server))
    assert first.returncode == 0, first.stderr
    tokens = dict(re.findall(r"(\S+) +token (\S+)", first.stdout))
    assert len(tokens) == 8
    for username, token in tokens.items():
        me = server.call("GET", "/user", token).json()
        assert me["username"] == username
        signs = username in ("marlene.okafor", "suvi.rantala")
        assert len(server.call("GET", "/user/keys", token).json()) == (2 if signs else 1)
        assert len(server.call("GET", "/user/emails", token).json()) >= 1
        assert server.call("GET", f"/namespaces/{username}", token).json()["kind"] == "user"
    marlene = server.call("GET", "/users?username=marlene.okafor").json()[0]
    assert server.call("GET", f"/users/{marlene['id']}/status").json()["message"] == "Reviewing until noon"
    assert len(server.call("GET", f"/users/{marlene['id']}/followers").json()) == 4
    assert len(server.call("GET", "/broadcast_messages").json()) == 1

    here = "/projects/harbour-works%2Ftidewatch"
    issues = server.call("GET", f"{here}/issues?sort=asc").json()[-7:]
    assert [issue["state"] for issue in issues] == ["closed"] + ["opened"] * 3 + ["closed", "opened", "closed"]
    assert (issues[0]["labels"], issues[0]["assignee"]["username"]) == (["bug", "urgent"], "teun.dijkgraaf")
    assert (issues[0]["time_stats"]["total_time_spent"], issues[0]["user_notes_count"]) == (5400, 2)
    offered = server.call("GET", f"{here}/merge_requests?sort=asc").json()[-3:]
    assert [request["state"] for request in offered] == ["opened", "merged", "opened"]
    conflicting = server.call("GET", f"{here}/merge_requests/{offered[2]['iid']}").json()
    assert conflicting["merge_status"] == "cannot_be_merged"
    threads = server.call("GET", f"{here}/merge_requests/{offered[0]['iid']}/discussions").json()
    assert any("suggestion" in note["body"] and note["position"] for thread in threads for note in thread["notes"])
    _check_signatures(server, offered[0]["iid"])
    _check_jobs(server)
    _check_year(server)
    readme = "/projects/harbour-works%2Ftidewatch/repository/files/README.md/raw?ref=master"
    assert server.call("GET", readme).text.startswith("# Tidewatch")

    people = server.call("GET", "/users").json()
    second = ingot("demo", *_options(server))
    assert second.returncode == 0
    assert "token" not in second.stdout
    assert server.call("GET", "/users").json() == people
    assert len(server.call("GET", "/broadcast_messages").json()) == 1


def test_the_demo_refuses_an_instance_with_users(server: Server) -> None:
    for number in range(6):
        user = {"username": f"real-{number}", "name": "Real", "email": f"real-{number}@example.org"}
        assert server.call("POST", "/users", json={**user, "force_random_password": True}).status_code == 201
    refused = ingot("demo", *_options(server))
    assert refused.returncode == 1
    assert refused.stderr.startswith("ingot: the instance has 7 other users") and refused.stderr.count("\n") == 1
    assert len(server.call("GET", "/users").json()) == 8
    assert ingot("demo", *_options(server), "--force").returncode == 0
    assert len(server.call("GET", "/users").json()) == 16


def test_the_demo_works_before_the_first_start(data_folder: Path, empty_database: str) -> None:
    server = Server(data_folder, empty_database)
    filled = ingot("demo", *_options(server))
    assert filled.returncode == 0, filled.stderr
    assert "Sign in as root" in filled.stdout


@pytest.mark.parametrize("hour", range(24))
def test_the_last_day_of_the_demo_has_ended_at_any_hour(hour: int) -> None:
    now = Timestamp(f"2026-11-17T{hour:02}:00:00.000Z")
    clock = DemoClock(now)
    clock.set(0, 16)
    started = clock()
    clock.tick()
    assert started < clock() < now
