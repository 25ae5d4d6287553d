"""Hostile arguments of tools: each is refused with a result or an error of the protocol, never with a failure."""

from typing import Any

import pytest

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.mcp.client import Agent

VALUES: list[Any] = [
    10**30,
    -1,
    None,
    "x\0y",
    "../..",
    "%2e%2e%2f",
    "x" * 100_000,
    [None],
    {"a": {"b": []}},
    "1?sudo=root",
]


def _complete(schema: dict[str, Any], project: str) -> dict[str, Any]:
    """Return valid arguments for those that a tool requires."""
    return {name: project if name == "id" else "1" for name in schema["required"]}


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:20])
def test_hostile_arguments_of_tools_are_refused(instance: Instance, make: Make, value: Any) -> None:
    """A repository path may be strange, so that some calls succeed."""
    agent = Agent(instance, make.root)
    project = make_project(make, initialize_with_readme=True).path
    for name, tool in agent.tools().items():
        schema = tool["inputSchema"]
        for argument in schema["properties"]:
            arguments = {**_complete(schema, project), argument: value}
            call = {"name": name, "arguments": arguments}
            answer = agent.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
            assert answer.status_code in (200, 400), (name, arguments, answer.text[:500])
    read = agent.ask("resources/read", uri="ingot://projects/x%00y")
    assert read["error"]["code"] == -32002
