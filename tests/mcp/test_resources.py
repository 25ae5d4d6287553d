"""Resources, prompts, lists of allowed tools, and limits of routes."""

from typing import Any

import pytest

from ingot.accounts.instance import limits
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import changed_settings, make_project
from tests.mcp.client import Agent
from tests.roles import UsersByRole, project_with


def _read(agent: Agent, uri: Any) -> dict[str, Any]:
    return agent.ask("resources/read", uri=uri)


def test_resources_are_read_with_the_rights_of_the_user(instance: Instance, make: Make) -> None:
    roles = UsersByRole(make)
    project = project_with(make, roles, initialize_with_readme=True)
    make.api.post(f"{project.url}/issues", roles.owner, title="Broken")
    owner, stranger = Agent(instance, roles.owner), Agent(instance, roles.stranger)
    listed = owner.ask("resources/list")["result"]["resources"]
    base = f"ingot://projects/{project.path.replace('/', '%2F')}"
    assert [each["uri"] for each in listed] == [base] and listed[0]["name"] == project.path
    assert stranger.ask("resources/list")["result"]["resources"] == []
    templates = owner.ask("resources/templates/list")["result"]["resourceTemplates"]
    assert len(templates) == 6 and all(each["uriTemplate"].startswith("ingot://projects/{id}") for each in templates)
    uri: Any
    for uri, text in (
        (base, project.path),
        (f"{base}/issues/1", "Broken"),
        (f"{base}/files/master/README.md", project.name),
    ):
        (content,) = _read(owner, uri)["result"]["contents"]
        assert content["uri"] == uri and text in content["text"]
        assert _read(stranger, uri)["error"]["code"] == -32002
    unknown: list[Any] = [f"{base}/issues/7", f"{base}/nonsense", "https://a.example/", "", 7, None]
    for uri in (*unknown, "ingot://projects/" + "a" * 9_000):
        assert _read(owner, uri)["error"]["code"] == -32002, uri


def test_prompts_begin_tasks(instance: Instance, make: Make) -> None:
    agent = Agent(instance, make.root)
    prompts = {each["name"]: each for each in agent.ask("prompts/list")["result"]["prompts"]}
    assert prompts.keys() == {"work_on_issue", "review_merge_request", "explain_failed_pipeline"}
    assert [each["name"] for each in prompts["work_on_issue"]["arguments"]] == ["id", "issue_iid"]
    given = {"id": "a/{b}", "issue_iid": "7"}
    (message,) = agent.ask("prompts/get", name="work_on_issue", arguments=given)["result"]["messages"]
    assert message["role"] == "user" and "issue 7 of the project a/{b}." in message["content"]["text"]
    for name, arguments in (("nonsense", given), ("work_on_issue", {}), ("work_on_issue", []), (None, given)):
        assert agent.ask("prompts/get", name=name, arguments=arguments)["error"]["code"] == -32602


def _limited(make: Make, user: User, tools: Any) -> User:
    made = make.api.post(
        f"/users/{user.id}/personal_access_tokens", make.root, name="agent", scopes=["api"], mcp_tools=tools
    )
    assert made.status_code == 201, made.text
    assert made.json()["mcp_tools"] == tools
    return user.with_token(made.json()["token"])


def test_a_token_has_a_list_of_tools(instance: Instance, make: Make) -> None:
    user = make.user()
    project = make_project(make, user)
    limited = _limited(make, user, ["get_issue", "list_issues"])
    agent = Agent(instance, limited)
    assert agent.tools().keys() == {"get_issue", "list_issues"}
    refused = agent.ask("tools/call", name="create_issue", arguments={"id": project.path, "title": "No"})
    assert refused["error"]["code"] == -32602
    assert agent.get("list_issues", id=project.path)["items"] == []
    assert agent.ask("resources/list")["result"]["resources"] == []
    assert [each["name"] for each in agent.ask("prompts/list")["result"]["prompts"]] == ["work_on_issue"]
    rotated = make.api.post("/personal_access_tokens/self/rotate", limited).json()
    assert rotated["mcp_tools"] == ["get_issue", "list_issues"]
    assert Agent(instance, user.with_token(rotated["token"])).tools().keys() == {"get_issue", "list_issues"}
    assert Agent(instance, _limited(make, user, [])).tools() == {}
    assert "mcp_tools" not in make.api.get("/personal_access_tokens/self", user.with_token(make.token(user.id))).json()
    for tools in (["A b"], ["x" * 65], ["a"] * 101):
        sent = {"name": "agent", "scopes": ["api"], "mcp_tools": tools}
        assert make.api.post(f"/users/{user.id}/personal_access_tokens", make.root, **sent).status_code == 400
    sent = {"name": "bot", "scopes": ["api"], "mcp_tools": ["list_issues"]}
    bot = make.api.post(f"{project.url}/access_tokens", user, **sent).json()
    assert Agent(instance, user.with_token(bot["token"])).tools().keys() == {"list_issues"}


def test_reads_of_tools_count_for_the_limits_of_routes(
    instance: Instance, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RELOAD_SECONDS", -1.0)
    user = make.user()
    project = make_project(make, user)
    agent = Agent(instance, user)
    with changed_settings(make, project_api_limit=2):
        for _ in range(2):
            agent.get("get_project", id=project.path)
        refused = agent.call("get_project", id=project.path)
        assert refused["isError"] and "too many" in refused["content"][0]["text"].lower()
        assert _read(agent, f"ingot://projects/{project.id}")["error"]["code"] == -32002
        assert agent.get("list_issues", id=project.path)["items"] == []
