"""SMTP server on loopback for tests of mail, and a worker that sends to it."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, Envelope

from ingot.core.log import Log
from ingot.server.jobs import job_worker
from ingot.server.supervisor import open_socket
from tests.conftest import Instance


class Mailbox:
    """Received mails in order, each with its envelope recipient."""

    def __init__(self, instance: Instance, port: int) -> None:
        self._instance = instance
        self._port = port
        self.arrived: list[tuple[str, EmailMessage]] = []

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Envelope) -> str:  # noqa: N802 - The server's name for it.
        """Store a mail."""
        message = message_from_bytes(envelope.original_content or b"", policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.arrived += [(address, message) for address in envelope.rcpt_tos]
        return "250 OK"

    def receive(self) -> list[tuple[str, EmailMessage]]:
        """Run the queued jobs and return the mails received since the last call."""
        settings = replace(self._instance.settings, smtp_url=f"smtp://127.0.0.1:{self._port}")
        worker = job_worker(settings, self._instance.app.database, Log("json", self._instance.log))
        while worker.run_once():
            pass
        came, self.arrived = self.arrived, []
        return came

    def to(self, address: str) -> list[EmailMessage]:
        """Run the queued jobs and return the mails for one address."""
        return [message for to, message in self.receive() if to == address]


@contextmanager
def mailbox(instance: Instance) -> Iterator[Mailbox]:
    """Run a server that accepts every mail; earlier queued mail goes elsewhere."""
    instance.work()
    listener = open_socket("127.0.0.1", 0)
    box = Mailbox(instance, listener.getsockname()[1])
    loop = asyncio.new_event_loop()
    serving = loop.run_until_complete(
        loop.create_server(lambda: SMTP(box, enable_SMTPUTF8=True, loop=loop), sock=listener)
    )
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield box
    loop.call_soon_threadsafe(serving.close)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


def text_of(message: EmailMessage, kind: str = "plain") -> str:
    """Return the body of a mail, as plain text or HTML."""
    part = message.get_body((kind,))
    assert part is not None
    content: str = part.get_content()
    return content
