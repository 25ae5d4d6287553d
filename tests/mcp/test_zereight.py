"""The server @zereight/mcp-gitlab, unmodified, calls our API.

Runs where node is installed and INGOT_TEST_ZEREIGHT is the path of the package.
"""

import asyncio
import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from ingot.core.log import Log
from ingot.server.jobs import hook_dispatcher
from tests.ci.catalog.test_catalog import component_project, publish
from tests.ci.runner_client import project_runner
from tests.client import Make
from tests.conftest import Instance
from tests.factories import changed_settings, make_group, make_project
from tests.git_history import run as run_git
from tests.mcp import zereight_scenario as scenario
from tests.x509_signer import x509_program

PACKAGE = os.environ.get("INGOT_TEST_ZEREIGHT", "")
SWITCHES = {"USE_GITLAB_WIKI": "true", "USE_MILESTONE": "true", "USE_PIPELINE": "true", "GITLAB_TOOLSETS": "all"}
TIMEOUT_SECONDS = 400
DEADLINE_SECONDS = 20


def _document(text: str) -> Any:
    """Return the JSON document of a result, which some tools introduce by a sentence."""
    start = min((position for bracket in "[{" if (position := text.find(bracket)) >= 0), default=len(text))
    try:
        return json.loads(text[start:])
    except ValueError:
        return text


@pytest.mark.skipif(not PACKAGE or shutil.which("node") is None, reason="needs node and the package")
def test_every_free_tool_succeeds(instance: Instance, make: Make, tmp_path: Path) -> None:
    group = make_group(make)
    made = make_project(make, namespace_id=group.id, initialize_with_readme=True, default_branch="main")
    project = str(made.id)
    runner = project_runner(make, int(project))
    environment = {
        "PATH": os.environ["PATH"],
        "GITLAB_API_URL": f"{instance.url}/api/v4",
        "GITLAB_PERSONAL_ACCESS_TOKEN": make.root.token,
        **SWITCHES,
    }

    def add_todo() -> int:
        return int(make.api.post(f"/projects/{project}/issues/1/todo", make.root).json()["id"])

    def push_signed_tag() -> str:
        push_to = f"{instance.url.replace('://', f'://x:{make.root.token}@')}/{made.path}.git"
        run_git(tmp_path, "clone", "-q", push_to, "clone")
        config = {
            "user.name": "Ada",
            "user.email": "ada@example.com",
            "gpg.format": "x509",
            "gpg.x509.program": str(x509_program(tmp_path, "ada@example.com")),
            "user.signingkey": "x",
        }
        options = [part for name, value in config.items() for part in ("-c", f"{name}={value}")]
        run_git(tmp_path / "clone", *options, "tag", "-s", "-m", "Signed", "signed")
        run_git(tmp_path / "clone", "push", "-q", push_to, "signed")
        return "signed"

    def deliver(hook_id: int) -> int:
        make.api.post(f"/projects/{project}/hooks/{hook_id}/test/push_events", make.root)
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not (events := make.api.get(f"/projects/{project}/hooks/{hook_id}/events", make.root).json()):
            assert time.monotonic() < deadline
        return int(events[0]["id"])

    assert publish(make, component_project(make, name="Published", path=make.name("published")), "1.0.0").is_success
    review = make.api.post(f"/projects/{project}/environments", make.root, name="review/old").json()["id"]
    make.api.post(f"/projects/{project}/environments/{review}/stop", make.root)

    called: set[str] = set()
    failures: dict[str, str] = {}

    async def run() -> set[str]:
        program = Path(PACKAGE) / "build" / "index.js"
        server = StdioServerParameters(command="node", args=[str(program)], env=environment, cwd=tmp_path)
        async with Client(server) as client:

            async def call(tool: str, **arguments: Any) -> Any:
                called.add(tool)
                try:
                    result = await client.call_tool(tool, arguments)
                except MCPError as error:
                    failures[tool] = str(error)
                    return {}
                text = result.content[0].text if result.content else ""  # type: ignore[union-attr]
                if result.is_error:
                    failures[tool] = text
                return _document(text)

            await _steps(call, failures)
            return {tool.name for tool in (await client.list_tools()).tools}

    async def _steps(call: scenario.Tool, failures: dict[str, str]) -> None:
        steps = (
            scenario.repositories(call, project, str(group.id), instance.url, push_signed_tag),
            scenario.projects(call, project, str(group.id), tmp_path, deliver),
            scenario.issues(call, project, add_todo),
            scenario.work_items(call, project),
            scenario.merge_requests(call, project, str(group.id)),
            scenario.pipelines(call, project, runner, tmp_path),
        )
        for step in steps:
            try:
                await step
            except (KeyError, IndexError, TypeError, StopIteration, RuntimeError) as error:
                failures[repr(step)] = repr(error)

    dispatcher = hook_dispatcher(instance.settings, instance.app.database, Log("json", instance.log))
    dispatcher.start()
    with changed_settings(make, allow_local_requests_from_web_hooks_and_services=True):
        tools = asyncio.run(asyncio.wait_for(run(), TIMEOUT_SECONDS))
    assert dispatcher.stop()
    exceptions = scenario.EXCEPTIONS.keys() | scenario.UNSUPPORTED.keys()
    report: Mapping[str, Any] = {
        "failures": failures,
        "not called": sorted(tools - called - exceptions),
        "unknown exceptions": sorted(exceptions - tools),
    }
    assert not any(report.values()), json.dumps(report, indent=1)
