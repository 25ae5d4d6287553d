"""The job that writes mails about a push: outside of its transaction, since commits and lines are read for them."""

from functools import partial

import msgspec
from sqlalchemy import bindparam, select

from ingot.announcements.letters import Letter, letter_about
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.git.commits import NO_OID
from ingot.git.diffs import Diff, Limits, diff_between
from ingot.git.faults import GitFailed, MissingRepository
from ingot.git.store import Store
from ingot.hooks.finishing import Finisher
from ingot.hooks.payloads.parts import Payload
from ingot.mail.post import send_mail
from ingot.services.recipients import recipients_of
from ingot.services.tables import Service, services

MAIL_PUSHES = "mail pushes"
LIMITS = Limits(listed=1000, files=100, patch_bytes=32 * 1024, lines=2000, bytes=64 * 1024)
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


class PushMail:
    """The handler of these jobs; run twice, it writes twice."""

    def __init__(self, finisher: Finisher, store: Store) -> None:
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
            self._letter(each, wanted.repository_key, with_diff=not known.get("disable_diffs"))
            for each in wanted.pushed
        ]
        database.write(partial(_send, letters=letters, recipients=recipients_of(known.get("recipients", ""))))

    def _letter(self, pushed: PushedRef, repository_key: str, *, with_diff: bool) -> Letter:
        told: Payload = msgspec.json.decode(self._finisher.finish(pushed.payload, pushed.unfinished))
        return letter_about(told, self._diff(told, repository_key) if with_diff else None)

    def _diff(self, told: Payload, repository_key: str) -> Diff | None:
        if told["object_kind"] != "push" or NO_OID in (told["before"], told["after"]):
            return None
        try:
            return diff_between(self._store.open(repository_key), told["before"], told["after"], LIMITS)
        except (GitFailed, MissingRepository):
            return None  # What is known is told all the same.


def _send(db: Connection, letters: list[Letter], recipients: list[str]) -> None:
    for letter in letters:
        for to in recipients:
            send_mail(db, to, letter.subject, letter.text)
