"""The protocol, its tools, and the rights of an agent."""

from typing import Any

import pytest

from ingot.mcp.messages import PROTOCOL_VERSIONS
from ingot.mcp.tools import TOOLS
from tests.ci.pipelines.files import commit_files
from tests.ci.runner_client import project_runner
from tests.client import Make
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.mcp.client import Agent
from tests.roles import UsersByRole, project_with


@pytest.fixture
def agent(instance: Instance, make: Make) -> Agent:
    """Return an agent of the administrator."""
    return Agent(instance, make.root)


def test_versions_are_negotiated(agent: Agent) -> None:
    for requested, agreed in ((PROTOCOL_VERSIONS[1], PROTOCOL_VERSIONS[1]), ("1999-01-01", PROTOCOL_VERSIONS[0])):
        params = {"protocolVersion": requested, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
        result = agent.ask("initialize", **params)["result"]
        assert result["protocolVersion"] == agreed and result["serverInfo"]["name"] == "ingot"
    assert agent.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status_code == 202
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert agent.post(ping, {"MCP-Protocol-Version": PROTOCOL_VERSIONS[0]}).json()["result"] == {}
    assert agent.post(ping, {"MCP-Protocol-Version": "1999-01-01"}).status_code == 400
    oldest = {"MCP-Protocol-Version": PROTOCOL_VERSIONS[-1]}
    for headers in ({}, oldest):
        assert [each["result"] for each in agent.post([ping, ping], headers).json()] == [{}, {}]
    for version in PROTOCOL_VERSIONS[:-1]:
        assert agent.post([ping, ping], {"MCP-Protocol-Version": version}).status_code == 400


def test_malformed_messages_are_refused(agent: Agent) -> None:
    for content in (
        b"",
        b"{",
        b"1",
        b"[]",
        b'{"method": 1}',
        b'{"id": 1, "method": "ping", "params": []}',
        b"[" * 99_999,
    ):
        assert agent.post(content).status_code == 400, content[:40]
    for version in ({}, {"jsonrpc": "1.0"}, {"jsonrpc": 2.0}):
        answer = agent.post({"id": 7, "method": "ping", **version}).json()
        assert (answer["jsonrpc"], answer["id"], answer["error"]["code"]) == ("2.0", 7, -32600)
    null = agent.post({"jsonrpc": "2.0", "id": None, "method": "ping"})
    assert (null.status_code, null.json()["id"], null.json()["error"]["code"]) == (200, None, -32600)
    for listing in ("tools", "resources", "resources/templates", "prompts"):
        for cursor in ("next", "", 1):
            assert agent.ask(f"{listing}/list", cursor=cursor)["error"]["code"] == -32602, listing
        assert "result" in agent.ask(f"{listing}/list", cursor=None)
    assert agent.post([{"id": 1, "method": "ping"}] * 21).status_code == 400
    assert agent.post(b"", method="GET").status_code == 405
    assert agent.post(b"", method="DELETE").status_code == 405
    assert agent.ask("completion/complete")["error"]["code"] == -32601
    assert agent.ask("tools/call", name="unknown")["error"]["code"] == -32602
    assert agent.ask("tools/call", name="get_issue", arguments=[])["error"]["code"] == -32602


def test_a_token_is_required(instance: Instance, make: Make) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    anonymous = Agent(instance, None).post(ping)
    assert anonymous.status_code == 401 and anonymous.headers["www-authenticate"].startswith("Bearer")
    assert Agent(instance, make.root.with_token("wrong")).post(ping).status_code == 401
    user = make.user()
    limited = user.with_token(make.token(user.id, "read_repository"))
    assert Agent(instance, limited).post(ping).status_code == 403
    assert Agent(instance, None).post(ping, {"PRIVATE-TOKEN": make.root.token}).status_code == 200


def test_pages_of_other_sites_are_refused(instance: Instance, agent: Agent) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for origin in (instance.url, "http://localhost:6274", "http://127.0.0.1:6274", "http://[::1]"):
        assert agent.post(ping, {"Origin": origin}).status_code == 200, origin
    for origin in ("http://evil.example", "null", "http://localhost.evil.example", f"{instance.url}.evil.example", ""):
        assert agent.post(ping, {"Origin": origin}).status_code == 403, origin
        preflight = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        assert agent.post(b"", preflight, method="OPTIONS").status_code == 403, origin


def test_the_read_only_mode_fails_closed(agent: Agent) -> None:
    every, url = agent.tools().keys(), agent.url
    for query, reads_only in (
        *(("read_only", True), ("read_only=", True), ("read_only=1", True), ("read_only=yes please", True)),
        *(("read_only=false", False), ("read_only=0", False), ("readonly", False)),
    ):
        agent.url = f"{url}?{query}"
        assert agent.tools().keys() == (every - _write_tools() if reads_only else every), query


def test_lists_of_tools_name_existing_ones(make: Make) -> None:
    sent = {"name": "agent", "scopes": ["mcp"]}
    path = f"/users/{make.user().id}/personal_access_tokens"
    refused = make.api.post(path, make.root, **sent, mcp_tools=["get_issue", "bogus"])
    assert refused.status_code == 400 and "bogus" in refused.text and "get_issue" not in refused.text
    assert make.api.post(path, make.root, **sent, mcp_tools=["get_issue"]).status_code == 201


def test_tools_are_described(agent: Agent) -> None:
    tools = agent.tools()
    assert list(tools) == list(TOOLS)
    for tool in tools.values():
        schema = tool["inputSchema"]
        assert tool["description"] and schema["type"] == "object"
        assert set(schema["required"]) <= schema["properties"].keys()
    issue = tools["create_issue"]["inputSchema"]
    assert issue["required"] == ["id", "title"] and issue["properties"]["confidential"] == {"type": "boolean"}
    assert tools["get_issue"]["annotations"]["readOnlyHint"] is True
    assert tools["create_issue"]["annotations"]["readOnlyHint"] is False


def test_an_agent_works_on_a_project(agent: Agent, make: Make) -> None:
    project = make_project(make, initialize_with_readme=True)
    issue = agent.get("create_issue", id=project.path, title="Crane is stuck", labels="bug")
    assert issue["title"] == "Crane is stuck" and issue["author"] == "root" and "time_stats" not in issue
    assert agent.get("get_issue", id=str(project.id), issue_iid=issue["iid"])["labels"] == ["bug"]
    assert agent.get("update_issue", id=project.path, issue_iid=1, state_event="close")["state"] == "closed"
    assert agent.get("create_issue_note", id=project.path, issue_iid=1, body="Fixed")["body"] == "Fixed"
    bodies = [note["body"] for note in agent.get("get_issue_notes", id=project.path, issue_iid=1)["items"]]
    assert "Fixed" in bodies
    listed = agent.get("list_issues", id=project.path, state="closed")
    assert [each["iid"] for each in listed["items"]] == [1] and "next_page" not in listed
    actions = [{"action": "create", "file_path": "docs/a b.txt", "content": "hello\n"}]
    sent = {"branch": "topic", "start_branch": "master", "commit_message": "Say hello", "actions": actions}
    commit = agent.get("create_commit", id=project.path, **sent)
    assert commit["title"] == "Say hello"
    text = agent.call("get_file", id=project.path, file_path="docs/a b.txt", ref="topic")
    assert text == {"content": [{"type": "text", "text": "hello\n"}], "isError": False}
    tree = agent.get("list_tree", id=project.path, ref="topic", recursive=True, per_page=2)
    assert len(tree["items"]) == 2
    assert agent.get("create_branch", id=project.path, branch="other", ref="master")["name"] == "other"
    assert agent.get("list_commits", id=project.path, ref_name="topic")["items"][0]["id"] == commit["id"]
    made = agent.get(
        "create_merge_request", id=project.path, title="Hello", source_branch="topic", target_branch="master"
    )
    path = {"id": project.path, "merge_request_iid": made["iid"]}
    assert agent.get("get_merge_request", **path)["sha"] == commit["id"]
    assert [each["id"] for each in agent.get("get_merge_request_commits", **path)["items"]] == [commit["id"]]
    (diff,) = agent.get("get_merge_request_diffs", **path)["items"]
    assert diff["new_path"] == "docs/a b.txt" and "+hello" in diff["diff"]
    assert agent.get("get_merge_request_pipelines", **path)["items"] == []
    assert agent.get("create_merge_request_note", **path, body="Looks good")["body"] == "Looks good"
    assert agent.get("get_merge_request_notes", **path)["items"][0]["body"] == "Looks good"
    assert agent.get("list_merge_requests", id=project.path, state="opened")["items"][0]["iid"] == made["iid"]
    assert agent.get("merge_merge_request", **path)["state"] == "merged"
    found = agent.get("search_project", id=project.path, scope="issues", search="Crane")["items"]
    assert [each["iid"] for each in found] == [1]
    assert agent.get("search", scope="projects", search=project.name)["items"][0]["id"] == project.id
    assert agent.get("get_project", id=project.path)["default_branch"] == "master"
    make_project(make)
    assert agent.get("list_projects", per_page=1)["next_page"] == 2
    assert agent.get("get_mcp_server_version")["version"]


def test_tools_are_those_that_gitlab_documents(agent: Agent, make: Make) -> None:
    """Names, required parameters and types, without those of paid features."""
    required = {
        "get_mcp_server_version": [],
        "create_issue": ["id", "title"],
        "get_issue": ["id", "issue_iid"],
        "create_merge_request": ["id", "title", "source_branch", "target_branch"],
        "get_merge_request": ["id", "merge_request_iid"],
        "get_merge_request_commits": ["id", "merge_request_iid"],
        "get_merge_request_diffs": ["id", "merge_request_iid"],
        "get_merge_request_pipelines": ["id", "merge_request_iid"],
        "get_pipeline_jobs": ["id", "pipeline_id"],
        "search": ["scope", "search"],
        "search_labels": ["full_path", "is_project"],
        "create_workitem_note": ["body"],
        "get_workitem_notes": [],
    }
    tools = agent.tools()
    for name, names in required.items():
        schema = tools[name]["inputSchema"]
        assert sorted(schema["required"]) == sorted(names), name
        for parameter, described in schema["properties"].items():
            if parameter.endswith("_iid") or parameter == "pipeline_id":
                assert described["type"] == "integer", (name, parameter)
    assert {"project_id", "group_id", "scope", "search", "state"} <= tools["search"]["inputSchema"]["properties"].keys()


def test_arguments_as_gitlab_documents_them(agent: Agent, instance: Instance, make: Make) -> None:
    group = make_group(make)
    project = make_project(make, namespace_id=group.id, initialize_with_readme=True)
    encoded = project.path.replace("/", "%2F")
    assert agent.get("create_issue", id=encoded, title="Crane is stuck")["iid"] == 1
    assert agent.get("get_issue", id=encoded, issue_iid="1")["title"] == "Crane is stuck"
    for place in ({"project_id": encoded}, {"project_id": str(project.id)}, {"group_id": group.path}):
        found = agent.get("search", scope="issues", search="Crane", **place)["items"]
        assert [each["iid"] for each in found] == [1], place
    assert agent.get("search", scope="blobs", search="project", project_id=project.path)["items"]
    assert agent.call("search", scope="blobs", search="project")["isError"]
    make.api.post(f"{project.url}/labels", make.root, name="bug", color="#ff0000")
    make.api.post(f"/groups/{group.id}/labels", make.root, name="urgent", color="#ff0000")
    for path, is_project, names in ((project.path, True, {"bug", "urgent"}), (group.path, False, {"urgent"})):
        labels = agent.get("search_labels", full_path=path, is_project=is_project)["items"]
        assert {each["name"] for each in labels} == names
    item = {"project_id": encoded, "work_item_iid": 1}
    url = f"{instance.url}/{project.path}/-/issues/1"
    assert agent.get("create_workitem_note", **item, body="One")["body"] == "One"
    assert agent.get("create_workitem_note", url=url, body="Two", internal=True)["body"] == "Two"
    discussion = make.api.get(f"{project.url}/issues/1/discussions", make.root).json()[0]["id"]
    reply = {"discussion_id": f"gid://gitlab/Discussion/{discussion}", "body": "Three"}
    assert agent.get("create_workitem_note", **item, **reply)["body"] == "Three"
    notes = agent.get("get_workitem_notes", url=url, first=2)
    assert len(notes["items"]) == 2 and len(agent.get("get_workitem_notes", **item, after=str(notes["next_page"]))) == 1
    assert len(agent.get("get_workitem_notes", **item)["items"]) == 3
    for wrong in ({}, {"project_id": "a"}, {"url": "https://elsewhere.example/a/b/-/issues/1"}, {"url": "x"}):
        assert agent.call("get_workitem_notes", **wrong)["isError"]


def test_long_texts_are_read_in_parts(agent: Agent, make: Make) -> None:
    project = make_project(make, default_branch="main")
    text = "".join(f"line {number}\n" for number in range(9_000))
    commit_files(make, project, {"long.txt": text})
    path = {"id": project.path, "file_path": "long.txt", "ref": "main"}
    parts, offset = "", 0
    while offset < len(text):
        head, _, part = agent.call("get_file", **path, offset=offset)["content"][0]["text"].partition("\n")
        assert head == f"[bytes {offset} to {offset + len(part)} of {len(text)}]"
        parts, offset = parts + part, offset + len(part)
    assert parts == text
    assert agent.call("get_file", **path, offset=10**9)["content"][0]["text"].endswith(f" of {len(text)}]\n")
    for wrong in (-1, "x", True, 1.5):
        assert agent.call("get_file", **path, offset=wrong)["isError"]


def test_an_agent_reads_the_end_of_a_log(agent: Agent, make: Make) -> None:
    project = make_project(make, default_branch="main")
    commit_files(make, project, {".gitlab-ci.yml": "unit: {script: make}"})
    job = project_runner(make, project.id).must_take()
    job.trace(b"first line\n" + b"x" * 60_000 + b"\nlast line\n")
    job.finish("failed", failure_reason="script_failure")
    (pipeline,) = agent.get("list_pipelines", id=project.path)["items"]
    (listed,) = agent.get("get_pipeline_jobs", id=project.path, pipeline_id=pipeline["id"])["items"]
    assert listed["name"] == "unit" and listed["failure_reason"] == "script_failure"
    text = agent.call("get_job_log", id=project.path, job_id=job.id)["content"][0]["text"]
    assert text.endswith("last line\n") and "first line" not in text and text.startswith("[bytes ")
    begin = agent.call("get_job_log", id=project.path, job_id=job.id, offset=0)["content"][0]["text"]
    assert "first line" in begin and "last line" not in begin


def test_errors_of_tools_are_results(agent: Agent, make: Make) -> None:
    project = make_project(make)
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("get_issue", {"id": project.path, "issue_iid": 7}, "404"),
        ("get_issue", {"id": "no/such", "issue_iid": 7}, "404 Project Not Found"),
        ("get_issue", {"id": project.path}, "Missing arguments: issue_iid"),
        ("get_issue", {"id": project.path, "issue_iid": 1, "sudo": "root"}, "Unknown arguments: sudo"),
        ("create_issue", {"id": project.path, "title": ""}, "title"),
        ("list_issues", {"id": project.path, "state": "nonsense"}, "state"),
        ("get_file", {"id": project.path, "file_path": "a", "ref": "b"}, "404"),
        ("get_issue", {"id": {"a": 1}, "issue_iid": [1]}, "404"),
    ]
    for tool, arguments, text in cases:
        result = agent.call(tool, **arguments)
        assert result["isError"] and text in result["content"][0]["text"], (tool, result)


def _write_tools() -> set[str]:
    return {tool.name for tool in TOOLS.values() if not tool.reads_only}


def test_rights_are_those_of_the_token(instance: Instance, make: Make) -> None:
    roles = UsersByRole(make)
    project: Project = project_with(make, roles, initialize_with_readme=True)
    assert Agent(instance, roles.guest).get("create_issue", id=project.path, title="One")["iid"] == 1
    for person, text in ((roles.guest, "403"), (roles.stranger, "404")):
        result = Agent(instance, person).call("list_tree", id=project.path)
        assert result["isError"] and text in result["content"][0]["text"]
    reader = Agent(instance, roles.owner.with_token(make.token(roles.owner.id, "read_api")))
    for agent in (reader, Agent(instance, roles.owner, read_only=True)):
        assert not agent.tools().keys() & _write_tools()
        assert agent.get("get_issue", id=project.path, issue_iid=1)["title"] == "One"
        refused = agent.ask("tools/call", name="create_issue", arguments={"id": project.path, "title": "Two"})
        assert refused["error"]["code"] == -32602
    assert make.api.get(f"{project.url}/issues/2", roles.owner).status_code == 404
