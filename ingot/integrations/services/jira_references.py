"""The job that tells Jira where its issues are mentioned, and which of them are solved."""

from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.outgoing.guard import OutgoingRequestBlocked, SsrfGuard
from ingot.integrations.services.jira import JiraClient, JiraIssue
from ingot.integrations.services.jobs import PushedRef
from ingot.integrations.webhooks.payload_completion import PayloadCompletion
from ingot.integrations.webhooks.payloads.parts import Payload
from ingot.projects.services.service import unseal_properties
from ingot.projects.services.tables import Service, services
from ingot.projects.services.trackers import IssueTracker, tracker_from_service

NOTIFY_JIRA = "tell jira"
MAX_ISSUE_KEYS = 20
"""Of one push or text; who mentions more does not mean each."""
_SERVICE = select(services).where(services.c.id == bindparam("service"), services.c.active)
_JIRA_MARKUP = str.maketrans({sign: f"\\{sign}" for sign in "[]{}|"})


class JiraMention(msgspec.Struct, frozen=True):
    """Something of ours in which issues are mentioned."""

    what: str
    """As it is called in a sentence."""
    title: str
    url: str
    who: str
    who_url: str
    project: str
    text: str
    """What is read for issues."""
    commit: str | None = None
    """The commit by which the issues are solved that the text closes; nothing where it solves none."""
    commit_url: str = ""
    told: bool = False
    """Whether it was told before that they are mentioned."""


class NotifyJira(msgspec.Struct, frozen=True):
    """What Jira may be told: what is known already, and pushes whose commits are still to be read."""

    service_id: int
    mentions: list[JiraMention] = []
    pushed: list[PushedRef] = []


class JiraNotifier:
    """The handler of these jobs; run twice, it says nothing twice."""

    def __init__(self, finisher: PayloadCompletion, guard: SsrfGuard, log: Callable[..., None]) -> None:
        self._finisher = finisher
        self._guard = guard
        self._log = log

    def run(self, database: Database, payload: object) -> None:
        """Tell Jira of each issue; what the guard refuses is given up, what cannot be reached is tried again."""
        wanted = msgspec.convert(payload, NotifyJira)
        found = database.read(lambda db: _jira_service(db, wanted.service_id))
        if found is None:
            return
        service, properties = found
        tracker = tracker_from_service(service)
        mentions = [*wanted.mentions, *(each for ref in wanted.pushed for each in self._commits(ref))]
        jobs = [(key, each) for each in mentions for key in tracker.issues_mentioned_by(each.text)][:MAX_ISSUE_KEYS]
        if not jobs:
            return
        url = properties.get("api_url") or properties["url"]
        jira = JiraClient(self._guard, url, properties["username"], properties["password"])
        steps = [
            each for each in str(properties.get("jira_issue_transition_id", "")).replace(";", ",").split(",") if each
        ]
        try:
            for key, mention in jobs:
                _notify_issue(jira, tracker, key, mention, [step.strip() for step in steps])
        except OutgoingRequestBlocked as refusal:
            self._log("jira was not told", service=service.id, error=refusal.reason)

    def _commits(self, ref: PushedRef) -> list[JiraMention]:
        told: Payload = msgspec.json.decode(self._finisher.finish(ref.payload, ref.unfinished))
        project = told["project"]
        base = project["web_url"].removesuffix(project["path_with_namespace"])
        solves = told["ref"] == f"refs/heads/{project['default_branch']}"
        return [
            JiraMention(
                what="commit",
                title=commit["title"],
                url=commit["url"],
                who=told["user_name"] or commit["author"]["name"],
                who_url=f"{base}{told['user_username'] or ''}",
                project=project["path_with_namespace"],
                text=commit["message"],
                commit=commit["id"] if solves else None,
                commit_url=commit["url"],
            )
            for commit in told["commits"]
        ]


def _jira_service(db: Connection, service_id: int) -> tuple[Service, dict[str, Any]] | None:
    """How Jira is reached; nothing where nobody wants that any more, or only links were wanted."""
    service = db.first(Service, _SERVICE, service=service_id)
    if service is None:
        return None
    plain, secret = unseal_properties(db, service)
    properties = {**plain, **secret}
    return (service, properties) if properties.get("username") and properties.get("password") else None


def _notify_issue(jira: JiraClient, tracker: IssueTracker, key: str, mention: JiraMention, steps: list[str]) -> None:
    there = jira.issue(key)
    if there is None:
        return
    if not mention.told:
        text = (
            f"[{_escape_markup(mention.who)}|{mention.who_url}] mentions this issue in "
            f"[a {mention.what} of {_escape_markup(mention.project)}|{mention.url}]:\n'{_escape_markup(mention.title)}'"
        )
        _add_comment_once(jira, key, there, text)
        jira.link(key, mention.url, f"Mentioned in a {mention.what}: {mention.title}", solved=False)
    if mention.commit is not None and not there.solved and steps and key in tracker.closed_by(mention.text):
        _transition_issue(jira, key, there, mention, steps)


def _transition_issue(jira: JiraClient, key: str, there: JiraIssue, mention: JiraMention, steps: list[str]) -> None:
    """Let an issue go its way; whether it is solved then is up to the ways of that server."""
    moved = [jira.move(key, step) for step in steps]
    after = jira.issue(key) if any(moved) else None
    if after is not None and after.solved:
        _add_comment_once(jira, key, there, f"Solved with [{mention.commit}|{mention.commit_url}].")
        jira.link(key, mention.commit_url, f"Solved by commit {mention.commit}", solved=True)


def _add_comment_once(jira: JiraClient, key: str, there: JiraIssue, text: str) -> None:
    """Say what was not said before; where it cannot be told whether it was, links have to do."""
    if there.comments is not None and not any(text in said for said in there.comments):
        jira.comment(key, text)


def _escape_markup(text: str) -> str:
    """A text in which nothing is markup of theirs."""
    return text.translate(_JIRA_MARKUP)
