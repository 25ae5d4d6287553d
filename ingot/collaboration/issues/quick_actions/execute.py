"""Obeying commands on issues: everything that one text commands happens in the transaction that keeps the text."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET

from ingot.collaboration.issues import policy, service
from ingot.collaboration.issues.params import CreateIssue, EditIssue
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.queries import issue_by_id
from ingot.collaboration.issues.quick_actions.definitions import ISSUE_COMMANDS, IssueCommandContext
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.quick_actions.command_context import CommandResult
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.markup.quick_actions import Command, extract_commands
from ingot.projects.projects.tables import Project


def execute_commands(db: Connection, actor: Actor, lookup: IssueLookup, commands: Sequence[Command]) -> CommandResult:
    """Do to an issue what a note commands; what its writer may not do is passed over."""
    desk = IssueCommandContext(
        db,
        actor,
        lookup.project,
        service.subject_of(lookup.issue),
        may_edit=policy.may_edit_issue(actor, lookup.here, lookup),
        may_triage=policy.may_triage(actor, lookup.here, lookup.project),
        assignees=lookup.assignees,
        found=lookup,
    )
    ISSUE_COMMANDS.execute(desk, commands)
    if desk.pending_edits:
        service.edit_issue(db, actor, lookup, EditIssue(**desk.pending_edits))
    return desk.apply_effects(service.subject_of(issue_by_id(db, lookup.issue.id)))


def create_issue(
    db: Connection, actor: Actor, access: Access, project: Project, params: CreateIssue, user_agent: str, ip: str
) -> Issue:
    """Write a new issue, and do what its description commands."""
    if not params.description or "/" not in params.description:
        return service.create_issue(db, actor, access, project, params, user_agent, ip)
    text, commands = extract_commands(params.description, ISSUE_COMMANDS.names)
    triages = policy.may_triage(actor, access, project)
    desk = IssueCommandContext(db, actor, project, None, may_edit=True, may_triage=triages)
    ISSUE_COMMANDS.execute(desk, commands)
    more = desk.pending_edits.pop("add_labels", [])
    if more:
        desk.pending_edits["labels"] = [*((params.labels if params.labels is not UNSET else None) or []), *more]
    params = msgspec.structs.replace(params, description=text, **desk.pending_edits)
    issue = service.create_issue(db, actor, access, project, params, user_agent, ip)
    desk.apply_effects(service.subject_of(issue))
    return issue_by_id(db, issue.id)
