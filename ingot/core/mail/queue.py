"""Queue of outgoing mail; a job delivers each."""

from email.utils import make_msgid

import msgspec

from ingot.core.db.connection import Connection
from ingot.core.jobs.queue import enqueue

MAIL_JOB = "mail"
EXTERNAL_URL_PLACEHOLDER = "{{here}}"
"""Replaced by the external URL on delivery, so that a request's Host header cannot change the links in a mail."""


class QueuedMail(msgspec.Struct, frozen=True):
    """A queued mail to one recipient; its text is encrypted because it may contain a sign-in link."""

    to: str
    subject: str
    sealed_text: bytes
    key: str
    sealed_html: bytes | None = None
    """The encrypted HTML alternative."""
    sender: str = ""
    """The display name of the sender."""
    headers: dict[str, str] = {}
    sender_address: str = ""
    """The address of the sender, if it is not the configured one."""


def send_mail(
    db: Connection,
    to: str,
    subject: str,
    text: str,
    *,
    html: str | None = None,
    sender: str = "",
    headers: dict[str, str] | None = None,
    key: str = "",
    sender_address: str = "",
) -> None:
    """Queue a mail that is sent after the transaction commits; none to an address that cannot exist (RFC 2606).

    If a mail with the same ``key`` is already queued, no second one is added.
    """
    if to.endswith(".invalid"):
        return
    sealed = db.vault.seal(text), key or make_msgid(domain="ingot"), db.vault.seal(html) if html is not None else None
    enqueue(
        db,
        MAIL_JOB,
        QueuedMail(
            to, _single_header_line(subject), *sealed, _single_header_line(sender), headers or {}, sender_address
        ),
        unique_key=key or None,
    )


def _single_header_line(text: str) -> str:
    """Return text as a single header line, so that it cannot inject further headers."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())
