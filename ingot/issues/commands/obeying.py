"""Obeying commands on issues: everything that one text commands happens in the transaction that keeps the text."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.commands.desk import Obeyed
from ingot.db.connection import Connection
from ingot.issues import policy, service
from ingot.issues.commands.known import ISSUES, IssueDesk
from ingot.issues.params import CreateIssue, EditIssue
from ingot.issues.policy import Found
from ingot.issues.queries import issue_by_id
from ingot.issues.tables import Issue
from ingot.markup.commands import Command, commands_in
from ingot.projects.tables import Project


def obey_commands(db: Connection, actor: Actor, found: Found, commands: Sequence[Command]) -> Obeyed:
    """Do to an issue what a note commands; what its writer may not do is passed over."""
    desk = IssueDesk(
        db,
        actor,
        found.project,
        service.subject_of(found.issue),
        edits=policy.may_edit_issue(actor, found.here, found),
        triages=policy.may_triage(actor, found.here, found.project),
        assignees=found.assignees,
        found=found,
    )
    ISSUES.obey(desk, commands)
    if desk.wishes:
        service.edit_issue(db, actor, found, EditIssue(**desk.wishes))
    return desk.act(service.subject_of(issue_by_id(db, found.issue.id)))


def create_issue(
    db: Connection, actor: Actor, here: Access, project: Project, wanted: CreateIssue, user_agent: str, ip: str
) -> Issue:
    """Write a new issue, and do what its description commands."""
    if not wanted.description or "/" not in wanted.description:
        return service.create_issue(db, actor, here, project, wanted, user_agent, ip)
    text, commands = commands_in(wanted.description, ISSUES.names)
    triages = policy.may_triage(actor, here, project)
    desk = IssueDesk(db, actor, project, None, edits=True, triages=triages)
    ISSUES.obey(desk, commands)
    more = desk.wishes.pop("add_labels", [])
    if more:
        desk.wishes["labels"] = [*((wanted.labels if wanted.labels is not UNSET else None) or []), *more]
    wanted = msgspec.structs.replace(wanted, description=text, **desk.wishes)
    issue = service.create_issue(db, actor, here, project, wanted, user_agent, ip)
    desk.act(service.subject_of(issue))
    return issue_by_id(db, issue.id)
