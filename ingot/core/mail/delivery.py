"""Delivery of queued mail by SMTP, or to a folder if no server is configured."""

import smtplib
import ssl
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from ingot.core.db.database import Database
from ingot.core.db.times import to_datetime
from ingot.core.mail.plain_headers import mail_policy
from ingot.core.mail.ports import MailFrame, MailFrames
from ingot.core.mail.queue import EXTERNAL_URL_PLACEHOLDER, QueuedMail
from ingot.core.settings import Settings

TIMEOUT_SECONDS = 20


class UnencryptedMailServer(Exception):
    """A mail server without encryption, to which the configured password must not be sent."""

    def __init__(self) -> None:
        super().__init__(
            "The mail server does not offer STARTTLS, so that the credentials in smtp_url would be sent unencrypted. "
            "Use smtps://, or remove them."
        )


class MailSender:
    """The job handler that delivers queued mail."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def deliver(self, database: Database, payload: object) -> None:
        """Send a mail; a retry uses the same message id."""
        mail = msgspec.convert(payload, QueuedMail)
        message = EmailMessage(mail_policy())
        message["From"] = self._from(mail.sender, mail.sender_address)
        message["To"] = mail.to
        message["Subject"] = mail.subject
        message["Message-ID"] = mail.headers.get("Message-ID", mail.key)
        for name, value in mail.headers.items():
            if name != "Message-ID":
                message[name] = value
        message["Date"] = format_datetime(to_datetime(database.clock()))
        frame = database.read(lambda db: db.ports[MailFrames].current(db))
        text = database.vault.unseal(mail.sealed_text).replace(EXTERNAL_URL_PLACEHOLDER, self._settings.base_url)
        message.set_content(_framed_text(text, frame))
        if mail.sealed_html is not None:
            html = database.vault.unseal(mail.sealed_html).replace(EXTERNAL_URL_PLACEHOLDER, self._settings.base_url)
            message.add_alternative(_framed_html(html, frame), subtype="html")
        if self._settings.smtp_url:
            self._send(message)
        else:
            self._write_to_folder(message, mail.key)

    def _from(self, sender: str, sender_address: str) -> Address | str:
        address = sender_address or parseaddr(self._settings.mail_from)[1]
        if not sender or not address:
            return self._settings.mail_from
        # Remove special characters of this header, because mail programs differ in how they parse quoted ones.
        name = " ".join("".join(" " if character in '<>@",:;()[]\\' else character for character in sender).split())
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
            encrypted = url.scheme == "smtps"
            server.ehlo_or_helo_if_needed()  # The extensions of the server are unknown before this.
            if not encrypted and server.has_extn("starttls"):
                server.starttls(context=ssl.create_default_context())
                encrypted = True
            if url.username:
                if not encrypted:
                    raise UnencryptedMailServer
                server.login(unquote(url.username), unquote(url.password or ""))
            server.send_message(message)

    def _write_to_folder(self, message: EmailMessage, key: str) -> None:
        folder: Path = self._settings.data / "mail"
        folder.mkdir(mode=0o700, exist_ok=True)
        name = "".join(character for character in key if character.isalnum())[:80]
        file = folder / f"{name}.eml"
        file.touch(mode=0o600)
        file.write_bytes(bytes(message))


def _framed_text(text: str, frame: MailFrame) -> str:
    header = f"{frame.header}\n\n" if frame.header else ""
    return f"{header}{text}" + (f"\n{frame.footer}\n" if frame.footer else "")


def _framed_html(html: str, frame: MailFrame) -> str:
    """Add the texts at the start and the end of the body."""
    if frame.header:
        html = html.replace("<body>", f"<body><p>{escape(frame.header)}</p>", 1)
    if frame.footer:
        start, end, rest = html.rpartition("</body>")
        html = f"{start}<p>{escape(frame.footer)}</p>{end}{rest}"
    return html
