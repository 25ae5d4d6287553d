"""``ingot demo``: fictional users and their work of a year on five projects."""

import re
from datetime import UTC, datetime
from pathlib import Path

from tests.server.process import Server, ingot


def _options(server: Server) -> list[str]:
    return ["--data", str(server.data)] + (["--database-url", server.database_url] if server.database_url else [])


def _check_year(server: Server) -> None:
    """Five projects have a year of work: issues, merged branches, pipelines and board lists."""
    projects = server.call("GET", "/groups/harbour-works/projects").json()
    assert len(projects) == 5
    lighthouse = "/projects/harbour-works%2Flighthouse"
    commits = server.call("GET", f"{lighthouse}/repository/commits?per_page=100").json()
    today = datetime.now(UTC)
    ages = [(today - datetime.fromisoformat(commit["committed_date"])).days for commit in commits]
    assert max(ages) > 300
    assert min(ages) < 2
    assert ages == sorted(ages)
    states = [issue["state"] for issue in server.call("GET", f"{lighthouse}/issues").json()]
    assert (states.count("opened"), states.count("closed")) == (2, 6)
    pipelines = {pipeline["status"] for pipeline in server.call("GET", f"{lighthouse}/pipelines?per_page=100").json()}
    assert {"success", "failed"} <= pipelines
    (board,) = server.call("GET", f"{lighthouse}/boards").json()
    assert [entry["label"]["name"] for entry in board["lists"]] == ["doing", "review"]


def test_the_demo_fills_an_instance_once(server: Server) -> None:
    first = ingot("demo", *_options(server))
    assert first.returncode == 0, first.stderr
    tokens = dict(re.findall(r"(\S+) +token (\S+)", first.stdout))
    assert len(tokens) == 8
    for username, token in tokens.items():
        me = server.call("GET", "/user", token).json()
        assert me["username"] == username
        assert len(server.call("GET", "/user/keys", token).json()) == 1
        assert len(server.call("GET", "/user/emails", token).json()) >= 1
        assert server.call("GET", f"/namespaces/{username}", token).json()["kind"] == "user"
    marlene = server.call("GET", "/users?username=marlene.okafor").json()[0]
    assert server.call("GET", f"/users/{marlene['id']}/status").json()["message"] == "Reviewing until noon"
    assert len(server.call("GET", f"/users/{marlene['id']}/followers").json()) == 4
    assert len(server.call("GET", "/broadcast_messages").json()) == 1

    issues = server.call("GET", "/projects/harbour-works%2Ftidewatch/issues?sort=asc").json()
    assert [issue["state"] for issue in issues] == ["closed"] + ["opened"] * 3 + ["closed", "opened", "closed"]
    assert (issues[0]["labels"], issues[0]["assignee"]["username"]) == (["bug", "urgent"], "teun.dijkgraaf")
    assert (issues[0]["time_stats"]["total_time_spent"], issues[0]["user_notes_count"]) == (5400, 2)
    offered = server.call("GET", "/projects/harbour-works%2Ftidewatch/merge_requests?sort=asc").json()
    assert [request["state"] for request in offered] == ["opened", "merged", "opened"]
    conflicting = server.call("GET", "/projects/harbour-works%2Ftidewatch/merge_requests/3").json()
    assert conflicting["merge_status"] == "cannot_be_merged"
    threads = server.call("GET", "/projects/harbour-works%2Ftidewatch/merge_requests/1/discussions").json()
    assert any("suggestion" in note["body"] and note["position"] for thread in threads for note in thread["notes"])
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
