"""Execution of quick actions on issues, in the transaction that stores their text."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET

from ingot.collaboration.issues import policy, service
from ingot.collaboration.issues.params import CreateIssue, EditIssue
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.queries import issue_by_id
from ingot.collaboration.issues.quick_actions.definitions import ISSUE_COMMANDS, IssueCommandContext
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.issues.timeline.policy import INCIDENT
from ingot.collaboration.quick_actions.command_context import CommandResult
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.markup.quick_actions import Command, extract_commands
from ingot.projects.projects.tables import Project


def execute_commands(db: Connection, actor: Actor, lookup: IssueLookup, commands: Sequence[Command]) -> CommandResult:
    """Execute the quick actions of a note; ignore those that its author may not use."""
    context = IssueCommandContext(
        db,
        actor,
        lookup.project,
        service.subject_of(lookup.issue),
        may_edit=policy.may_edit_issue(actor, lookup.access, lookup),
        may_triage=policy.may_triage(actor, lookup.access, lookup.project),
        assignees=lookup.assignees,
        lookup=lookup,
    )
    ISSUE_COMMANDS.execute(context, commands)
    if context.pending_edits:
        service.edit_issue(db, actor, lookup, EditIssue(**context.pending_edits))
    return context.apply_effects(service.subject_of(issue_by_id(db, lookup.issue.id)))


def create_issue(
    db: Connection, actor: Actor, access: Access, project: Project, params: CreateIssue, user_agent: str, ip: str
) -> Issue:
    """Create an issue and execute the quick actions in its description."""
    if not params.description or "/" not in params.description:
        return service.create_issue(db, actor, access, project, params, user_agent, ip)
    text, commands = extract_commands(params.description, ISSUE_COMMANDS.names)
    triages = policy.may_triage(actor, access, project)
    context = IssueCommandContext(db, actor, project, None, may_edit=True, may_triage=triages)
    ISSUE_COMMANDS.execute(context, commands)
    if params.issue_type != INCIDENT:
        context.pending_edits.pop("severity", None)
    added = context.pending_edits.pop("add_labels", [])
    if added:
        context.pending_edits["labels"] = [*((params.labels if params.labels is not UNSET else None) or []), *added]
    params = msgspec.structs.replace(params, description=text, **context.pending_edits)
    issue = service.create_issue(db, actor, access, project, params, user_agent, ip)
    context.apply_effects(service.subject_of(issue))
    return issue_by_id(db, issue.id)
