"""Job that adds comments and links to mentioned Jira issues and transitions solved ones."""

from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from ingot.collaboration.external_issues import IssueTracker
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.outgoing.errors import RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.integrations.jira import JiraClient, JiraIssue
from ingot.integrations.jobs import PushedRef
from ingot.integrations.service import unseal_properties
from ingot.integrations.tables import Service, services
from ingot.integrations.trackers import tracker_from_service
from ingot.webhooks.payload_completion import PayloadCompletion
from ingot.webhooks.payloads.parts import Payload

NOTIFY_JIRA = "notify_jira"
MAX_ISSUE_KEYS = 20
"""Limit per push or text."""
_SERVICE = select(services).where(services.c.id == bindparam("service"), services.c.active)
_JIRA_MARKUP = str.maketrans({sign: f"\\{sign}" for sign in "[]{}|"})


class JiraMention(msgspec.Struct, frozen=True):
    """A commit, merge request or note that mentions Jira issues."""

    what: str
    """Noun for the comment's text."""
    title: str
    url: str
    who: str
    who_url: str
    project: str
    text: str
    """Text to search for issue keys."""
    commit: str | None = None
    """Commit that solves the issues closed by the text; None if it solves none."""
    commit_url: str = ""
    told: bool = False
    """Mentions have been announced before."""


class NotifyJira(msgspec.Struct, frozen=True):
    """Payload of the job: mentions, and pushes whose commits are yet to be read."""

    service_id: int
    mentions: list[JiraMention] = []
    pushed: list[PushedRef] = []


class JiraNotifier:
    """Idempotent handler of the job."""

    def __init__(self, completion: PayloadCompletion, guard: SsrfGuard, log: Callable[..., None]) -> None:
        self._completion = completion
        self._guard = guard
        self._log = log

    def run(self, database: Database, payload: object) -> None:
        """Update each mentioned issue; blocked requests are dropped, temporary failures are retried."""
        notification = msgspec.convert(payload, NotifyJira)
        service_and_properties = database.read(lambda db: _jira_service(db, notification.service_id))
        if service_and_properties is None:
            return
        service, properties = service_and_properties
        tracker = tracker_from_service(service)
        mentions = [*notification.mentions, *(each for ref in notification.pushed for each in self._commits(ref))]
        jobs = [(key, each) for each in mentions for key in tracker.issues_mentioned_by(each.text)][:MAX_ISSUE_KEYS]
        if not jobs:
            return
        url = properties.get("api_url") or properties["url"]
        jira = JiraClient(self._guard, url, properties["username"], properties["password"])
        named = str(properties.get("jira_issue_transition_id", "")).replace(";", ",").split(",")
        transitions = [transition.strip() for transition in named if transition]
        comments = properties.get("comment_on_event_enabled") is not False
        try:
            for key, mention in jobs:
                _notify_issue(jira, tracker, key, mention, transitions, comments=comments)
        except RequestRefused as blocked:
            self._log("jira request blocked", service=service.id, error=blocked.reason)

    def _commits(self, ref: PushedRef) -> list[JiraMention]:
        push: Payload = msgspec.json.decode(self._completion.finish(ref.payload, ref.unfinished))
        project = push["project"]
        base = project["web_url"].removesuffix(project["path_with_namespace"])
        is_default_branch = push["ref"] == f"refs/heads/{project['default_branch']}"
        return [
            JiraMention(
                what="commit",
                title=commit["title"],
                url=commit["url"],
                who=push["user_name"] or commit["author"]["name"],
                who_url=f"{base}{push['user_username'] or ''}",
                project=project["path_with_namespace"],
                text=commit["message"],
                commit=commit["id"] if is_default_branch else None,
                commit_url=commit["url"],
            )
            for commit in push["commits"]
        ]


def _jira_service(db: Connection, service_id: int) -> tuple[Service, dict[str, Any]] | None:
    """Return the service and its properties, or None if it is inactive or has no credentials (links only)."""
    service = db.first(Service, _SERVICE, service=service_id)
    if service is None:
        return None
    plain, secret = unseal_properties(db, service)
    properties = {**plain, **secret}
    return (service, properties) if properties.get("username") and properties.get("password") else None


def _notify_issue(
    jira: JiraClient, tracker: IssueTracker, key: str, mention: JiraMention, transitions: list[str], *, comments: bool
) -> None:
    issue = jira.issue(key)
    if issue is None:
        return
    if not mention.told:
        text = (
            f"[{_escape_markup(mention.who)}|{mention.who_url}] mentions this issue in "
            f"[a {mention.what} of {_escape_markup(mention.project)}|{mention.url}]:\n'{_escape_markup(mention.title)}'"
        )
        if comments:
            _add_comment_once(jira, key, issue, text)
        jira.link(key, mention.url, f"Mentioned in a {mention.what}: {mention.title}", solved=False)
    if mention.commit is not None and not issue.solved and transitions and key in tracker.closed_by(mention.text):
        _transition_issue(jira, key, issue, mention, transitions)


def _transition_issue(
    jira: JiraClient, key: str, issue: JiraIssue, mention: JiraMention, transitions: list[str]
) -> None:
    """Execute the transitions.

    Comment only if the issue is resolved afterwards, which depends on the server's workflow.
    """
    results = [jira.move(key, transition) for transition in transitions]
    after = jira.issue(key) if any(results) else None
    if after is not None and after.solved:
        _add_comment_once(jira, key, issue, f"Solved with [{mention.commit}|{mention.commit_url}].")
        jira.link(key, mention.commit_url, f"Solved by commit {mention.commit}", solved=True)


def _add_comment_once(jira: JiraClient, key: str, issue: JiraIssue, text: str) -> None:
    """Add a comment unless an equal one exists; skip it if the existing comments are unknown."""
    if issue.comments is not None and not any(text in comment for comment in issue.comments):
        jira.comment(key, text)


def _escape_markup(text: str) -> str:
    """Escape Jira's markup in a text."""
    return text.translate(_JIRA_MARKUP)
