"""One valid call of every tool of @zereight/mcp-gitlab that does not need a paid tier."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.ci.runner_client import RunnerClient

Tool = Callable[..., Coroutine[Any, Any, Any]]
CI = """
unit: {script: make, artifacts: {paths: [out.txt]}}
other: {script: make}
manual: {script: make, when: manual, allow_failure: true}
manual-too: {script: make, when: manual, allow_failure: true}
deploy: {script: make, when: manual, allow_failure: true, environment: production}
"""
EXCEPTIONS = {
    "search_code": "code search beyond one project needs a paid feature (advanced search)",
    "search_group_code": "code search beyond one project needs a paid feature (advanced search)",
    "get_merge_request_conflicts": "its endpoint is not documented by GitLab",
    "approve_deployment": "approvals of deployments are a paid feature",
    "create_release_evidence": "evidence of releases is a paid feature",
    "list_group_iterations": "iterations are a paid feature",
    "get_milestone_burndown_events": "burndown charts are a paid feature",
    "get_group_milestone_burndown_events": "burndown charts are a paid feature",
    "list_group_wiki_pages": "wikis of groups are a paid feature",
    "get_group_wiki_page": "wikis of groups are a paid feature",
    "create_group_wiki_page": "wikis of groups are a paid feature",
    "update_group_wiki_page": "wikis of groups are a paid feature",
    "delete_group_wiki_page": "wikis of groups are a paid feature",
    "list_project_vulnerabilities": "vulnerabilities are a paid feature",
    "get_vulnerability": "vulnerabilities are a paid feature",
    "dismiss_vulnerability": "vulnerabilities are a paid feature",
    "confirm_vulnerability": "vulnerabilities are a paid feature",
    "orbit_query": "Orbit is a paid service",
    "orbit_get_schema": "Orbit is a paid service",
    "orbit_get_status": "Orbit is a paid service",
    "orbit_list_tools": "Orbit is a paid service",
}
"""Tools that are not called, and why."""
_PROXY = "there is no dependency proxy for images, although GitLab has it for free"
UNSUPPORTED = {
    "get_dependency_proxy_settings": _PROXY,
    "update_dependency_proxy_settings": _PROXY,
    "list_dependency_proxy_blobs": _PROXY,
    "purge_dependency_proxy_cache": _PROXY,
}
"""Tools of free features that do not work yet, and why."""


async def repositories(call: Tool, project: str, group: str, base: str, push_signed_tag: Callable[[], str]) -> None:
    """Files, branches, commits, tags, releases and searches."""
    await call("create_group", name="Agents", path=f"agents-{group}", parent_id=int(group))
    await call("create_repository", name=f"New {project}", namespace_id=int(group), initialize_with_readme=True)
    await call("search_repositories", search="New")
    await call("get_file_contents", project_id=project, file_path="README.md")
    await call(
        "create_or_update_file",
        project_id=project,
        file_path="src/a.py",
        content="a = 1\n",
        commit_message="Add a",
        branch="main",
    )
    files = [{"file_path": "src/b.py", "content": "b = 1\n"}, {"file_path": ".gitlab-ci.yml", "content": CI}]
    await call("push_files", project_id=project, branch="main", files=files, commit_message="Add b")
    await call("create_branch", project_id=project, branch="topic", ref="main")
    await call("create_branch", project_id=project, branch="spare", ref="main")
    files = [{"file_path": "src/c.py", "content": "c = 1\n"}]
    await call("push_files", project_id=project, branch="topic", files=files, commit_message="Add c")
    await call("get_branch", project_id=project, branch_name="topic")
    await call("list_branches", project_id=project)
    await call("delete_branch", project_id=project, branch_name="spare")
    await call("protect_branch", project_id=project, branch_name="stable-*")
    await call("list_protected_branches", project_id=project)
    await call("get_protected_branch", project_id=project, branch_name="stable-*")
    await call("unprotect_branch", project_id=project, branch_name="stable-*")
    await call("update_default_branch", project_id=project, default_branch="main")
    await call("get_branch_diffs", project_id=project, **{"from": "main", "to": "topic"})
    await call("get_repository_tree", project_id=project)
    commits = await call("list_commits", project_id=project)
    sha = commits[0]["id"]
    await call("get_commit", project_id=project, sha=sha)
    await call("get_commit_diff", project_id=project, sha=sha)
    await call("get_file_blame", project_id=project, file_path="src/a.py", ref="main")
    await call("create_commit_status", project_id=project, sha=sha, state="success", name="lint")
    await call("list_commit_statuses", project_id=project, sha=sha)
    await call("search_project_code", project_id=project, search="main")
    signed = await asyncio.to_thread(push_signed_tag)
    await call("get_tag_signature", project_id=project, tag_name=signed)
    await call("create_tag", project_id=project, tag_name="v1", ref="main", message="One")
    await call("list_tags", project_id=project)
    await call("get_tag", project_id=project, tag_name="v1")
    link = {"name": "file", "url": f"{base}/-/liveness", "direct_asset_path": "/file"}
    await call("create_release", project_id=project, tag_name="v1", name="One", assets={"links": [link]})
    await call("list_releases", project_id=project)
    await call("get_release", project_id=project, tag_name="v1")
    await call("update_release", project_id=project, tag_name="v1", description="First")
    await call("download_release_asset", project_id=project, tag_name="v1", direct_asset_path="file")
    await call("delete_release", project_id=project, tag_name="v1")
    await call("delete_tag", project_id=project, tag_name="v1")


async def projects(call: Tool, project: str, group: str, folder: Path, deliver: Callable[[int], int]) -> None:
    """Projects, groups, members, labels, milestones, wikis, variables, webhooks, events and users."""
    for tool in ("list_namespaces", "list_projects", "list_events", "whoami", "health_check", "list_todos"):
        await call(tool)
    await call("discover_tools", category="issues")
    await call("get_namespace", namespace_id=group)
    await call("verify_namespace", path="free-path")
    await call("get_project", project_id=project)
    await call("update_project", project_id=project, description="Changed")
    await call("list_project_members", project_id=project)
    await call("list_group_members", group_id=group)
    await call("list_group_projects", group_id=group)
    await call("get_project_events", project_id=project)
    await call("get_users", usernames=["root"])
    await call("get_user", user_id="1")
    await call("fork_repository", project_id=project, namespace="root")
    label = str((await call("create_label", project_id=project, name="bug", color="#ff0000"))["id"])
    await call("list_labels", project_id=project)
    await call("get_label", project_id=project, label_id=label)
    await call("update_label", project_id=project, label_id=label, color="#00ff00")
    await call("delete_label", project_id=project, label_id=label)
    for prefix, parent in (("", {"project_id": project}), ("group_", {"group_id": group})):
        made = await call(f"create_{prefix}milestone", title=f"M {prefix}", **parent)
        one = {**parent, "milestone_id": str(made["id"])}
        await call(f"list_{prefix}milestones", **parent)
        for tool in (f"get_{prefix}milestone", f"get_{prefix}milestone_issue", f"get_{prefix}milestone_merge_requests"):
            await call(tool, **one)
        await call(f"edit_{prefix}milestone", title=f"N {prefix}", **one)
        if not prefix:
            await call("promote_milestone", **one)
            one["milestone_id"] = str((await call("create_milestone", title="Last", **parent))["id"])
        await call(f"delete_{prefix}milestone", **one)
    await call("create_wiki_page", project_id=project, title="Home", content="Hello")
    await call("list_wiki_pages", project_id=project)
    await call("get_wiki_page", project_id=project, slug="Home")
    await call("update_wiki_page", project_id=project, slug="Home", content="Changed")
    await call("delete_wiki_page", project_id=project, slug="Home")
    for kind, parent in (("project", {"project_id": project}), ("group", {"group_id": group})):
        await call(f"create_{kind}_variable", key="KEY", value="value", **parent)
        await call(f"list_{kind}_variables", **parent)
        await call(f"get_{kind}_variable", key="KEY", **parent)
        await call(f"update_{kind}_variable", key="KEY", value="other", **parent)
        await call(f"delete_{kind}_variable", key="KEY", **parent)
    hook = (await call("create_webhook", project_id=project, url="http://127.0.0.1:9/hook", push_events=True))["id"]
    await call("list_webhooks", project_id=project)
    await call("update_webhook", project_id=project, hook_id=hook, url="http://127.0.0.1:9/other")
    event = await asyncio.to_thread(deliver, hook)
    await call("list_webhook_events", project_id=project, hook_id=hook)
    if "Webhook event" in (await call("get_webhook_event", project_id=project, hook_id=hook, event_id=event)).get(
        "error", ""
    ):
        raise RuntimeError("get_webhook_event does not find the delivery")
    await call("delete_webhook", project_id=project, hook_id=hook)
    (folder / "note.txt").write_text("attached")
    uploaded = await call("upload_markdown", project_id=project, file_path="note.txt")
    secret, name = uploaded["url"].split("/")[-2:]
    await call("download_attachment", project_id=project, secret=secret, filename=name, local_path="got")


async def issues(call: Tool, project: str, add_todo: Callable[[], int]) -> None:
    """Issues, their notes, links and reactions, and to-do items."""
    await call("create_issue", project_id=project, title="One", description="first line", assignee_ids=[1])
    await call("create_issue", project_id=project, title="Two")
    one = {"project_id": project, "issue_iid": "1"}
    await call("list_issues", project_id=project)
    await call("my_issues", project_id=project)
    await call("get_issue", **one)
    await call("update_issue", **one, title="First")
    patch = "<<<<<<< SEARCH\nfirst line\n=======\nsecond line\n>>>>>>> REPLACE"
    await call("update_issue_description_patch", **one, patch_type="search_replace", patch=patch)
    note = await call("create_issue_note", **one, body="A note")
    discussion = next(
        each for each in (await call("list_issue_discussions", **one))["items"] if each["notes"][0]["id"] == note["id"]
    )
    of_note = {**one, "note_id": str(note["id"])}
    await call("update_issue_note", **of_note, discussion_id=discussion["id"], body="Changed")
    await call("create_note", project_id=project, noteable_type="issue", noteable_iid="1", body="Another")
    await _reactions(call, "issue", one, of_note)
    await call("create_issue_link", **one, target_project_id=project, target_issue_iid="2")
    link_id = str((await call("list_issue_links", **one))[0]["issue_link_id"])
    await call("get_issue_link", **one, issue_link_id=link_id)
    await call("delete_issue_link", **one, issue_link_id=link_id)
    await call("mark_todo_done", id=add_todo())
    await call("mark_all_todos_done")
    await call("delete_issue", project_id=project, issue_iid="2")


async def work_items(call: Tool, project: str) -> None:
    """Work items, which the tools reach by GraphQL."""
    await call("list_work_item_statuses", project_id=project)
    await call("list_custom_field_definitions", project_id=project)
    await call("create_label", project_id=project, name="later", color="#ff0000")
    milestone = await call("create_milestone", project_id=project, title="Work")
    sent = {"labels": ["later"], "assignee_usernames": ["root"], "milestone_id": str(milestone["id"])}
    made = await call(
        "create_work_item", project_id=project, title="Plan", description="All", due_date="2030-01-31", **sent
    )
    task = await call("create_work_item", project_id=project, title="Part", type="task", parent_iid=int(made["iid"]))
    other = await call("create_work_item", project_id=project, title="Next", type="issue", confidential=True)
    one = {"project_id": project, "iid": int(made["iid"])}
    changed = {"title": "Plans", "description": "Most", "remove_labels": ["later"], "state_event": "close"}
    link = {"iid": int(other["iid"]), "link_type": "BLOCKED_BY"}
    await call("update_work_item", **one, **changed, linked_items_to_add=[link])
    shown = await call("get_work_item", **one)
    found = [shown[name] for name in ("title", "state", "description", "assignees", "dueDate")]
    if found != ["Plans", "CLOSED", "Most", ["root"], "2030-01-31"] or "labels" in shown:
        raise RuntimeError(f"get_work_item shows {shown}")
    if (shown["children"][0]["iid"], shown["linkedItems"][0]["iid"], shown.get("blocked")) != (
        task["iid"],
        other["iid"],
        True,
    ):
        raise RuntimeError(f"get_work_item shows {shown}")
    await call("update_work_item", **one, linked_items_to_remove=[{"iid": int(other["iid"])}])
    await call("list_work_items", project_id=project, types=["issue", "task"], state="opened", search="Next")
    await call("convert_work_item_type", project_id=project, iid=int(other["iid"]), new_type="task")
    note = await call("create_work_item_note", **one, body="A note")
    await call("create_work_item_note", **one, body="A reply", discussion_id=note["discussion"]["id"])
    await call("list_work_item_notes", **one)
    await call("list_work_item_notes", **one, sort="CREATED_DESC")
    for name, place in (("work_item", one), ("work_item_note", {**one, "note_id": note["id"]})):
        await call(f"create_{name}_emoji_reaction", **place, name="rocket")
        await call(f"list_{name}_emoji_reactions", **place)
        await call(f"delete_{name}_emoji_reaction", **place, name="rocket")
    incident = await call("create_work_item", project_id=project, title="Outage", type="incident")
    event = {"note": "All *servers* down", "occurred_at": "2026-01-31T10:00:00Z", "tag_names": ["Start time"]}
    await call("create_timeline_event", project_id=project, incident_iid=int(incident["iid"]), **event)
    (found,) = await call("get_timeline_events", project_id=project, incident_iid=int(incident["iid"]))
    if (found["note"], found["tags"]) != (event["note"], event["tag_names"]):
        raise RuntimeError(f"get_timeline_events shows {found}")
    target = await call("create_repository", name=f"Target {project}")
    await call("move_work_item", **one, target_project_id=str(target["id"]))


async def _reactions(call: Tool, kind: str, one: dict[str, Any], of_note: dict[str, Any]) -> None:
    for name, place in ((kind, one), (f"{kind}_note", of_note)):
        made = await call(f"create_{name}_emoji_reaction", **place, name="rocket")
        await call(f"list_{name}_emoji_reactions", **place)
        await call(f"delete_{name}_emoji_reaction", **place, award_id=str(made["id"]))


async def merge_requests(call: Tool, project: str, group: str) -> None:
    """Merge requests, threads, draft notes, approvals and merging."""
    made = await call(
        "create_merge_request", project_id=project, title="C", source_branch="topic", target_branch="main"
    )
    one = {"project_id": project, "merge_request_iid": str(made["iid"])}
    await call("list_merge_requests", project_id=project)
    await call("list_group_merge_requests", group_id=group)
    for tool in (
        *("get_merge_request", "get_merge_request_diffs", "list_merge_request_changed_files"),
        *("list_merge_request_diffs", "get_merge_request_approval_state"),
        *("list_merge_request_pipelines", "mr_discussions", "get_merge_request_notes"),
        *("approve_merge_request", "unapprove_merge_request"),
    ):
        await call(tool, **one)
    version = (await call("list_merge_request_versions", **one))[0]
    await call("get_merge_request_version", **one, version_id=str(version["id"]))
    await call("get_merge_request_file_diff", **one, file_paths=["src/c.py"])
    await call("update_merge_request", **one, description="Changed")
    thread = await call("create_merge_request_thread", **one, body="Why?")
    of_thread = {**one, "discussion_id": thread["id"]}
    await call("get_merge_request_discussion", **of_thread)
    reply = await call("create_merge_request_discussion_note", **of_thread, body="Because")
    await call("update_merge_request_discussion_note", **of_thread, note_id=str(reply["id"]), body="So")
    await call("resolve_merge_request_thread", **of_thread, resolved=True)
    await call("delete_merge_request_discussion_note", **of_thread, note_id=str(reply["id"]))
    note = await call("create_merge_request_note", **one, body="Note")
    of_note = {**one, "note_id": str(note["id"])}
    await call("get_merge_request_note", **of_note)
    await call("update_merge_request_note", **of_note, body="Changed")
    await _reactions(call, "merge_request", one, of_note)
    await call("delete_merge_request_note", **of_note)
    drafts = [str((await call("create_draft_note", **one, body=f"Draft {number}"))["id"]) for number in range(3)]
    await call("list_draft_notes", **one)
    await call("get_draft_note", **one, draft_note_id=drafts[0])
    await call("update_draft_note", **one, draft_note_id=drafts[0], body="Changed")
    await call("delete_draft_note", **one, draft_note_id=drafts[0])
    await call("publish_draft_note", **one, draft_note_id=drafts[1])
    await call("bulk_publish_draft_notes", **one)
    await call("merge_merge_request", **one)


async def pipelines(call: Tool, project: str, runner: RunnerClient, folder: Path) -> None:
    """Pipelines, jobs, schedules, triggers, environments and deployments."""
    await call("validate_ci_lint", project_id=project, content=CI)
    await call("validate_project_ci_lint", project_id=project)
    variables = [{"key": "A", "value": "1"}]
    await call("create_pipeline", project_id=project, ref="main", variables=variables)
    made = (await call("list_pipelines", project_id=project))[0]
    one = {"project_id": project, "pipeline_id": str(made["id"])}
    for tool in (
        *("get_pipeline", "get_pipeline_variables", "get_pipeline_test_report", "get_pipeline_test_report_summary"),
        *("list_pipeline_jobs", "list_pipeline_trigger_jobs"),
    ):
        await call(tool, **one)
    jobs = {job["name"]: str(job["id"]) for job in await call("list_pipeline_jobs", **one)}
    _run(runner)
    unit = {"project_id": project, "job_id": jobs["unit"]}
    for tool in ("get_pipeline_job", "get_pipeline_job_output", "wait_for_job"):
        await call(tool, **unit)
    await call("download_job_artifacts", **unit, local_path="got")
    await call("get_job_artifact_file", **unit, artifact_path="out.txt")
    await call("list_job_artifacts", **unit)
    await call("play_pipeline_job", project_id=project, job_id=jobs["manual"])
    await call("cancel_pipeline_job", project_id=project, job_id=jobs["manual"])
    playing = asyncio.create_task(
        call("play_pipeline_jobs", project_id=project, job_ids=[jobs["manual-too"]], poll_interval_seconds=1)
    )
    while not playing.done():
        await asyncio.to_thread(_run, runner)
    await call("retry_pipeline_job", project_id=project, job_id=jobs["manual-too"])
    await call("erase_pipeline_job", **unit)
    await call("update_pipeline_metadata", **one, name="Renamed")
    await call("cancel_pipeline", **one)
    await call("retry_pipeline", **one)
    await call("cancel_pipeline", **one)
    await call("wait_for_pipeline", **one)
    await call("delete_pipeline", **one)
    await _schedules(call, project)
    await _catalog(call)
    await _deployments(call, project)


def _run(runner: RunnerClient) -> None:
    while (job := runner.take()) is not None:
        job.trace(b"made\n")
        if job.name == "unit":
            job.upload({"out.txt": b"result"})
        job.finish()


async def _catalog(call: Tool) -> None:
    """Look for the component that the test has published."""
    found = (await call("list_ci_catalog_resources", search="Published", sort="NAME_ASC", scope="ALL"))["data"]
    (resource,) = found["ciCatalogResources"]["nodes"]
    shown = await call("get_ci_catalog_resource", id=resource["id"], include_readme=True, component_name="deploy")
    (version,) = shown["data"]["ciCatalogResource"]["versions"]["nodes"]
    assert [each["name"] for each in version["components"]["nodes"]] == ["deploy"]


async def _schedules(call: Tool, project: str) -> None:
    await call("create_pipeline_schedule", project_id=project, description="Nightly", ref="main", cron="0 1 * * *")
    made = (await call("list_pipeline_schedules", project_id=project))[0]
    one = {"project_id": project, "pipeline_schedule_id": str(made["id"])}
    for tool in ("get_pipeline_schedule", "list_pipeline_schedule_pipelines", "take_ownership_pipeline_schedule"):
        await call(tool, **one)
    await call("update_pipeline_schedule", **one, description="Daily")
    await call("create_pipeline_schedule_variable", **one, key="K", value="1")
    await call("get_pipeline_schedule_variable", **one, key="K")
    await call("update_pipeline_schedule_variable", **one, key="K", value="2")
    await call("delete_pipeline_schedule_variable", **one, key="K")
    await call("play_pipeline_schedule", **one)
    await call("delete_pipeline_schedule", **one)
    trigger = await call("create_pipeline_trigger", project_id=project, description="From outside")
    one = {"project_id": project, "trigger_id": str(trigger["id"])}
    await call("list_pipeline_triggers", project_id=project)
    await call("get_pipeline_trigger", **one)
    await call("update_pipeline_trigger", **one, description="Changed")
    await call("trigger_pipeline", project_id=project, token=trigger["token"], ref="main")
    await call("delete_pipeline_trigger", **one)


async def _deployments(call: Tool, project: str) -> None:
    sha = (await call("list_commits", project_id=project))[0]["id"]
    sent = {"environment": "production", "sha": sha, "ref": "main", "tag": False, "status": "running"}
    made = await call("create_deployment", project_id=project, **sent)
    one = {"project_id": project, "deployment_id": str(made["id"])}
    await call("list_deployments", project_id=project)
    await call("get_deployment", **one)
    await call("list_deployment_merge_requests", **one)
    await call("update_deployment", **one, status="failed")
    await call("delete_deployment", **one)
    environment = (await call("list_environments", project_id=project, name="production"))[0]
    place = {"project_id": project, "environment_id": str(environment["id"])}
    await call("get_environment", **place)
    await call("update_environment", **place, tier="production")
    await call("stop_environment", **place)
    await call("stop_stale_environments", project_id=project, before=_week_ago())
    await call("delete_environment", **place)
    await call("delete_review_app_environments", project_id=project, before="2999-01-01T00:00:00Z")


def _week_ago() -> str:
    return (datetime.now(UTC) - timedelta(days=8)).isoformat()
