"""The job that writes mails about a push: outside of its transaction, since commits and lines are read for them."""

from functools import partial

import msgspec
from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.mail.delivery import send_mail
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.diffs.diffs import Diff, DiffLimits, diff_between
from ingot.git.history.commits import NO_OID
from ingot.git.maintenance.store import RepositoryStore
from ingot.integrations.services.emails import PushMailText, push_mail_text
from ingot.integrations.webhooks.payload_completion import PayloadCompletion
from ingot.integrations.webhooks.payloads.parts import Payload
from ingot.log import log_failure
from ingot.projects.services.recipients import parse_recipients
from ingot.projects.services.tables import Service, services

MAIL_PUSHES = "mail pushes"
DIFF_LIMITS = DiffLimits(listed=1000, files=100, patch_bytes=32 * 1024, lines=2000, bytes=64 * 1024)
_SERVICE = select(services).where(services.c.id == bindparam("service"), services.c.active)


class PushedRef(msgspec.Struct, frozen=True):
    """A branch or tag that changed: what is known of it, and what is still to be read."""

    payload: str
    unfinished: str


class MailPushes(msgspec.Struct, frozen=True):
    """A push of which mails are written."""

    service_id: int
    repository_key: str
    pushed: list[PushedRef]


class PushMailJob:
    """The handler of these jobs; run twice, it writes twice."""

    def __init__(self, finisher: PayloadCompletion, store: RepositoryStore) -> None:
        self._finisher = finisher
        self._store = store

    def run(self, database: Database, payload: object) -> None:
        """Write about each branch and tag to everybody who wants it; nothing, where nobody does any more."""
        wanted = msgspec.convert(payload, MailPushes)
        service = database.read(lambda db: db.first(Service, _SERVICE, service=wanted.service_id))
        if service is None:
            return
        known = msgspec.json.decode(service.properties)
        letters = [
            self._mail_text(each, wanted.repository_key, with_diff=not known.get("disable_diffs"))
            for each in wanted.pushed
        ]
        database.write(partial(_queue_mails, letters=letters, recipients=parse_recipients(known.get("recipients", ""))))

    def _mail_text(self, pushed: PushedRef, repository_key: str, *, with_diff: bool) -> PushMailText:
        told: Payload = msgspec.json.decode(self._finisher.finish(pushed.payload, pushed.unfinished))
        return push_mail_text(told, self._diff(told, repository_key) if with_diff else None)

    def _diff(self, payload: Payload, repository_key: str) -> Diff | None:
        if payload["object_kind"] != "push" or NO_OID in (payload["before"], payload["after"]):
            return None
        try:
            return diff_between(self._store.open(repository_key), payload["before"], payload["after"], DIFF_LIMITS)
        except (GitError, MissingRepository) as error:  # The mail is sent without the diff.
            log_failure("diff of a push not read", error)
            return None


def _queue_mails(db: Connection, letters: list[PushMailText], recipients: list[str]) -> None:
    for letter in letters:
        for to in recipients:
            send_mail(db, to, letter.subject, letter.text)
