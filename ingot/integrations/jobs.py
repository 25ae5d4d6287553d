"""Job that creates emails about a push; outside of the push's transaction, since it reads commits and diffs."""

from functools import partial
from urllib.parse import urlsplit

import msgspec
from sqlalchemy import bindparam, select

from ingot.accounts.users.queries import user_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.log import log_failure
from ingot.core.mail.queue import send_mail
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.diffs.diffs import Diff, DiffLimits, diff_between
from ingot.git.history.commits import NO_OID
from ingot.git.maintenance.store import RepositoryStore
from ingot.integrations.emails import PushMailText, push_mail_text
from ingot.integrations.recipients import parse_recipients
from ingot.integrations.tables import Service, services
from ingot.webhooks.payload_completion import PayloadCompletion
from ingot.webhooks.payloads.parts import Payload

MAIL_PUSHES = "mail_pushes"
DIFF_LIMITS = DiffLimits(listed=1000, files=100, patch_bytes=32 * 1024, lines=2000, bytes=64 * 1024)
_SERVICE = select(services).where(services.c.id == bindparam("service"), services.c.active)


class PushedRef(msgspec.Struct, frozen=True):
    """A changed branch or tag: its payload and the parts yet to be read."""

    payload: str
    unfinished: str


class MailPushes(msgspec.Struct, frozen=True):
    """Payload of the job."""

    service_id: int
    repository_key: str
    pushed: list[PushedRef]
    pusher_id: int | None = None


class PushMailJob:
    """Handler of the job; a retry may send emails again."""

    def __init__(self, completion: PayloadCompletion, store: RepositoryStore, base_url: str) -> None:
        self._completion = completion
        self._store = store
        self._host = urlsplit(base_url).hostname or ""

    def run(self, database: Database, payload: object) -> None:
        """Create an email per branch or tag for each recipient; do nothing if the service has become inactive."""
        push = msgspec.convert(payload, MailPushes)
        service = database.read(lambda db: db.first(Service, _SERVICE, service=push.service_id))
        if service is None:
            return
        properties = msgspec.json.decode(service.properties)
        mails = [
            self._mail_text(each, push.repository_key, with_diff=not properties.get("disable_diffs"))
            for each in push.pushed
        ]
        recipients = parse_recipients(properties.get("recipients", ""))
        pusher_id = push.pusher_id if properties.get("send_from_committer_email") else None
        database.write(partial(self._queue_mails, mails=mails, recipients=recipients, pusher_id=pusher_id))

    def _mail_text(self, pushed: PushedRef, repository_key: str, *, with_diff: bool) -> PushMailText:
        payload: Payload = msgspec.json.decode(self._completion.finish(pushed.payload, pushed.unfinished))
        return push_mail_text(payload, self._diff(payload, repository_key) if with_diff else None)

    def _diff(self, payload: Payload, repository_key: str) -> Diff | None:
        if payload["object_kind"] != "push" or NO_OID in (payload["before"], payload["after"]):
            return None
        try:
            return diff_between(self._store.open(repository_key), payload["before"], payload["after"], DIFF_LIMITS)
        except (GitError, MissingRepository) as error:  # The email is sent without the diff.
            log_failure("diff of a push not read", error)
            return None

    def _queue_mails(
        self, db: Connection, mails: list[PushMailText], recipients: list[str], pusher_id: int | None
    ) -> None:
        pusher = user_or_none(db, pusher_id) if pusher_id else None
        name, address = "", ""
        if pusher is not None and pusher.confirmed_at is not None and is_sender_domain(pusher.email, self._host):
            name, address = pusher.name, pusher.email
        for mail in mails:
            for recipient in recipients:
                send_mail(db, recipient, mail.subject, mail.text, sender=name, sender_address=address)


def is_sender_domain(address: str, host: str) -> bool:
    """Check whether an address belongs to the domain of the instance or one above it, except a top-level one.

    Mail servers would refuse the instance as the sender for other domains.
    """
    domain = address.rpartition("@")[2].lower()
    return "." in domain and (host == domain or host.endswith(f".{domain}"))
