"""Commands of chats, which run with the rights of the linked account."""

import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import bindparam, select

from ingot.ci.job_records.policy import may_read_jobs
from ingot.ci.job_records.queries import find_job, jobs_of_pipeline, options_of
from ingot.ci.job_records.tables import CiJob, ci_jobs
from ingot.ci.pipelines.deploy_permission import may_run_job
from ingot.ci.pipelines.service import play_job
from ingot.collaboration.issues import policy, queries
from ingot.collaboration.issues.params import CreateIssue, ListIssues
from ingot.collaboration.issues.quick_actions.execute import create_issue
from ingot.collaboration.issues.views import IssueView, found_issue_view
from ingot.collaboration.planning.scope import ProjectScope
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.api.routes import Call
from ingot.core.api.views import View
from ingot.core.db.paging import Page
from ingot.core.errors import Invalid, NotFound
from ingot.integrations.messages import chat_link, escape_text, shorten
from ingot.pipelines.queries import find_pipeline
from ingot.projects.environments.queries import environment_by_name_or_none, last_deployment_or_none
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project

MAX_RESULTS = 5
MAX_TITLE_LENGTH = 255
NOT_ALLOWED = "You are not allowed to do this."
NOT_FOUND = "Nothing was found."
_GREEN, _RED = "#38ae67", "#d22852"
_DEPLOYED_BY = select(ci_jobs.c.id).where(ci_jobs.c.deployment_id == bindparam("deployment"))


class CommandReply(View):
    """Message that the chat shows, to everyone in the channel or only to the user who typed the command."""

    response_type: Literal["ephemeral", "in_channel"]
    text: str = ""
    attachments: list[dict[str, Any]] = msgspec.field(default_factory=list)
    username: str | msgspec.UnsetType = msgspec.UNSET
    """Name under which Mattermost shows the message."""


class ChatContext(NamedTuple):
    """The project of a command, and the user who typed it."""

    call: Call
    actor: Actor
    access: Access
    project: Project


def private_reply(text: str) -> CommandReply:
    """Return a message for the user who typed the command."""
    return CommandReply(response_type="ephemeral", text=text)


def execute_command(call: Call, actor: Actor, project_id: int, command: str, text: str) -> CommandReply:
    """Execute a command; return the list of commands if there is no such one."""
    try:
        access, project = find_project(call.db, actor, project_id)
    except NotFound:
        return private_reply(NOT_ALLOWED)
    context = ChatContext(call, actor, access, project)
    for pattern, run in _COMMANDS:
        match = pattern.fullmatch(text.strip())
        if match is not None:
            return run(context, *match.groups())
    heading = "Available commands" if text.strip() in ("", "help") else "Unknown command, these are available"
    return private_reply("\n".join([f"{heading}:", *(f"- {escape_text(f'{command} {usage}')}" for usage in _USAGES)]))


def _show_issue(context: ChatContext, iid: str) -> CommandReply:
    call, actor, access, project = context
    if not policy.may_read_issues(actor, access, project):
        return private_reply(NOT_ALLOWED)
    lookup = queries.issue_or_none(call.db, actor, access, project, int(iid))
    if lookup is None:
        return private_reply(NOT_FOUND)
    view = found_issue_view(call.db, actor, lookup, call.origin.base)
    audience: Literal["ephemeral", "in_channel"] = "ephemeral" if view.confidential else "in_channel"
    return CommandReply(response_type=audience, attachments=[_issue_attachment(view, "Issue")])


def _new_issue(context: ChatContext, title: str, description: str | None) -> CommandReply:
    call, actor, access, project = context
    if not policy.may_create_issue(actor, access, ProjectScope(access, project)):
        return private_reply(NOT_ALLOWED)
    if len(title) > MAX_TITLE_LENGTH:
        return private_reply(f"The title is longer than {MAX_TITLE_LENGTH} characters.")
    params = CreateIssue(title=title, description=(description or "").strip())
    issue = create_issue(call.db, actor, access, project, params, call.origin.user_agent, call.origin.ip)
    lookup = queries.issue_or_none(call.db, actor, access, project, issue.iid)
    if lookup is None:
        raise RuntimeError("A new issue is hidden from its author")
    view = found_issue_view(call.db, actor, lookup, call.origin.base)
    audience: Literal["ephemeral", "in_channel"] = "ephemeral" if view.confidential else "in_channel"
    return CommandReply(response_type=audience, attachments=[_issue_attachment(view, "New issue")])


def _search_issues(context: ChatContext, words: str) -> CommandReply:
    call, actor, access, project = context
    if not policy.may_read_issues(actor, access, project):
        return private_reply(NOT_ALLOWED)
    found = queries.list_project_issues(
        call.db, actor, access, project, ListIssues(search=words), Page(size=MAX_RESULTS)
    ).items
    if not found:
        return private_reply(NOT_FOUND)
    url = f"{call.origin.base}/{project.full_path}/issues"
    attachments = [
        {
            "color": _GREEN if issue.state == "opened" else _RED,
            "fallback": escape_text(f"#{issue.iid} {issue.title}"),
            "text": f"{chat_link(f'#{issue.iid}', f'{url}/{issue.iid}')} · {escape_text(issue.title)} "
            f"({'Open' if issue.state == 'opened' else 'Closed'})",
            "mrkdwn_in": ["text"],
        }
        for issue in found
    ]
    heading = f"The first {MAX_RESULTS} issues:" if len(found) == MAX_RESULTS else f"Issues found: {len(found)}"
    return CommandReply(response_type="ephemeral", text=heading, attachments=attachments)


def _deploy(context: ChatContext, source: str, target: str) -> CommandReply:
    call, actor, access, project = context
    if not may_read_jobs(actor, access, project):
        return private_reply(NOT_ALLOWED)
    job = _deployment_job(context, source.strip(), target.strip())
    if job is None:
        return private_reply("There is no manual job for this deployment.")
    if not may_run_job(call.db, actor, access, project, find_pipeline(call.db, project.id, job.pipeline_id), job):
        return private_reply(NOT_ALLOWED)
    try:
        started = play_job(call.db, actor, job)
    except Invalid:
        return private_reply("The job cannot be started.")
    progress = chat_link("Follow its progress", f"{call.origin.base}/{project.full_path}/-/jobs/{started.id}")
    text = f"Deployment started from {escape_text(source)} to {escape_text(target)}. {progress}."
    return CommandReply(response_type="in_channel", text=text)


def _deployment_job(context: ChatContext, source: str, target: str) -> CiJob | None:
    """Return the manual job that deploys what was last deployed to one environment to another one."""
    db, project = context.call.db, context.project
    environment = environment_by_name_or_none(db, project, source)
    deployment = last_deployment_or_none(db, project, environment) if environment else None
    job_id = db.value(_DEPLOYED_BY, deployment=deployment.id) if deployment else None
    if job_id is None:
        return None
    pipeline_id = find_job(db, project.id, job_id).pipeline_id
    jobs = [
        job
        for job in jobs_of_pipeline(db, pipeline_id)
        if job.status == "manual"
        and job.environment == target
        and (options_of(job).environment or {}).get("action", "start") == "start"
    ]
    return next((job for job in jobs if job.name == target), jobs[0] if jobs else None)


def _issue_attachment(issue: IssueView, what: str) -> dict[str, Any]:
    fields = {
        "Assignee": issue.assignee.name if issue.assignee else "",
        "Milestone": issue.milestone.title if issue.milestone else "",
        "Labels": ", ".join(str(label) for label in issue.labels),
    }
    return {
        "title": escape_text(f"{issue.title} · #{issue.iid}"),
        "title_link": issue.web_url,
        "author_name": escape_text(issue.author.name),
        "fallback": escape_text(f"{what} #{issue.iid}: {issue.title}"),
        "pretext": f"{what} *#{issue.iid}*",
        "text": f"*{'Open' if issue.state == 'opened' else 'Closed'}*\n{escape_text(shorten(issue.description or ''))}",
        "color": _GREEN if issue.state == "opened" else _RED,
        "fields": [
            {"title": name, "value": escape_text(value) or "_None_", "short": True} for name, value in fields.items()
        ],
        "mrkdwn_in": ["pretext", "text", "fields"],
    }


_COMMANDS: tuple[tuple[re.Pattern[str], Callable[..., CommandReply]], ...] = (
    (re.compile(r"issue\s+show\s+#?(\d{1,15})"), _show_issue),
    (re.compile(r"issue\s+(?:new|create)\s+([^\n]+)(?:\n(.*))?", re.DOTALL), _new_issue),
    (re.compile(r"issue\s+search\s+(.+)"), _search_issues),
    (re.compile(r"deploy\s+(\S.*?)\s+to\s+(\S.*)"), _deploy),
)
_USAGES = (
    "issue show <id>",
    "issue new <title> (Shift+Enter) <description>",
    "issue search <words>",
    "deploy <environment> to <environment>",
)
