"""Mail leaves as a job: by SMTP, or into a folder where no server is configured."""

import smtplib
import ssl
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.db.times import moment
from ingot.jobs.queue import enqueue
from ingot.settings import Settings

KIND = "mail"
TIMEOUT_SECONDS = 20
HERE = "{{here}}"
"""Stands for the external URL in a mail's text; no request can make a link lead elsewhere."""


class Letter(msgspec.Struct, frozen=True):
    """A mail to one person; its text is sealed in the queue, since it may hold a link that signs somebody in."""

    to: str
    subject: str
    sealed_text: bytes
    key: str


def send_mail(db: Connection, to: str, subject: str, text: str) -> None:
    """Send a mail once the caller's transaction commits."""
    enqueue(db, KIND, Letter(to, subject, db.vault.seal(text), make_msgid(domain="ingot")))


class Post:
    """Delivers letters."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def deliver(self, database: Database, payload: object) -> None:
        """Send one letter; the same one twice has the same message id."""
        letter = msgspec.convert(payload, Letter)
        message = EmailMessage()
        message["From"] = self._settings.mail_from
        message["To"] = letter.to
        message["Subject"] = letter.subject
        message["Message-ID"] = letter.key
        message["Date"] = format_datetime(moment(database.clock()))
        message.set_content(database.vault.unseal(letter.sealed_text).replace(HERE, self._settings.base_url))
        if self._settings.smtp_url:
            self._send(message)
        else:
            self._keep(message, letter.key)

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
