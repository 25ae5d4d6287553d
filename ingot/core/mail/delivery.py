"""Mail leaves as a job: by SMTP, or into a folder where no server is configured."""

import smtplib
import ssl
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid, parseaddr
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import to_datetime
from ingot.core.jobs.queue import enqueue
from ingot.settings import Settings

MAIL_JOB = "mail"
TIMEOUT_SECONDS = 20
EXTERNAL_URL_PLACEHOLDER = "{{here}}"
"""Stands for the external URL in a mail's text; no request can make a link lead elsewhere."""


class QueuedMail(msgspec.Struct, frozen=True):
    """A mail to one person; its text is sealed in the queue, since it may hold a link that signs somebody in."""

    to: str
    subject: str
    sealed_text: bytes
    key: str
    sealed_html: bytes | None = None
    """The same for those who read mail in colours."""
    sender: str = ""
    """In whose name it comes, from our own address."""
    headers: dict[str, str] = {}


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
) -> None:
    """Send a mail once the caller's transaction commits; one that waits already under the same ``key`` is the one."""
    sealed = db.vault.seal(text), key or make_msgid(domain="ingot"), db.vault.seal(html) if html is not None else None
    enqueue(
        db,
        MAIL_JOB,
        QueuedMail(to, _single_header_line(subject), *sealed, _single_header_line(sender), headers or {}),
        unique_key=key or None,
    )


def _single_header_line(text: str) -> str:
    """What people wrote, as far as a header takes it: nothing in it begins another one."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


class MailSender:
    """Delivers letters."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def deliver(self, database: Database, payload: object) -> None:
        """Send one letter; the same one twice has the same message id."""
        letter = msgspec.convert(payload, QueuedMail)
        message = EmailMessage()
        message["From"] = self._from(letter.sender)
        message["To"] = letter.to
        message["Subject"] = letter.subject
        message["Message-ID"] = letter.headers.get("Message-ID", letter.key)
        for name, value in letter.headers.items():
            if name != "Message-ID":
                message[name] = value
        message["Date"] = format_datetime(to_datetime(database.clock()))
        message.set_content(
            database.vault.unseal(letter.sealed_text).replace(EXTERNAL_URL_PLACEHOLDER, self._settings.base_url)
        )
        if letter.sealed_html is not None:
            html = database.vault.unseal(letter.sealed_html).replace(EXTERNAL_URL_PLACEHOLDER, self._settings.base_url)
            message.add_alternative(html, subtype="html")
        if self._settings.smtp_url:
            self._send(message)
        else:
            self._keep(message, letter.key)

    def _from(self, sender: str) -> Address | str:
        address = parseaddr(self._settings.mail_from)[1]
        if not sender or not address:
            return self._settings.mail_from
        # Signs that have a meaning in this header stay out of it: programs differ in what they make of quoted ones.
        name = " ".join("".join(" " if sign in '<>@",:;()[]\\' else sign for sign in sender).split())
        return Address(name, addr_spec=address)

    def _send(self, message: EmailMessage) -> None:
        url = urlsplit(self._settings.smtp_url)
        host, port = url.hostname or "localhost", url.port or (465 if url.scheme == "smtps" else 25)
        if url.scheme == "smtps":
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                host, port, timeout=TIMEOUT_SECONDS, context=ssl.create_default_context()
            )
        else:
            server = smtplib.SMTP(host, port, timeout=TIMEOUT_SECONDS)
        with server:
            if url.scheme != "smtps" and server.has_extn("starttls"):
                server.starttls(context=ssl.create_default_context())
            if url.username:
                server.login(unquote(url.username), unquote(url.password or ""))
            server.send_message(message)

    def _keep(self, message: EmailMessage, key: str) -> None:
        folder: Path = self._settings.data / "mail"
        folder.mkdir(mode=0o700, exist_ok=True)
        name = "".join(sign for sign in key if sign.isalnum())[:80]
        letter = folder / f"{name}.eml"
        letter.touch(mode=0o600)
        letter.write_bytes(bytes(message))
