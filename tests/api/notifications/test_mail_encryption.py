"""Encryption of the connection to the mail server: a password is never sent without it."""

import io
import socketserver
import ssl
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Thread

import pytest

from ingot.core.jobs.admin import delete_job, list_jobs
from ingot.core.log import Log
from ingot.core.mail.queue import send_mail
from ingot.server.jobs import job_worker
from tests.certificates import certificate_for
from tests.conftest import Instance

SECRET = "smtp-secret"
RECIPIENT = "reader@example.org"


class SmtpServer(socketserver.ThreadingTCPServer):
    """A mail server that records what it receives before and after encryption, and accepts every password."""

    daemon_threads = True

    def __init__(self, tls: ssl.SSLContext | None, *, extensions: bool) -> None:
        super().__init__(("127.0.0.1", 0), _SmtpHandler)
        self.tls = tls
        self.extensions = extensions
        self.plain: list[str] = []
        self.encrypted: list[str] = []

    def url(self, login: str, host: str) -> str:
        """Return the URL of the server for a login, which ends with an @, or none."""
        return f"smtp://{login}{host}:{self.server_address[1]}"


class _SmtpHandler(socketserver.BaseRequestHandler):
    server: SmtpServer

    def handle(self) -> None:
        received, lines = self.server.plain, self.request.makefile("rb")
        self._answer("220 hello")
        while line := lines.readline().decode().strip():
            command = line.split(maxsplit=1)[0].upper()
            # Versions of smtplib differ in the case of some commands: "mail FROM:<…>", "MAIL from:<…>".
            keyword = line.partition(":")[0].upper() if command in ("MAIL", "RCPT") else command
            received.append(keyword + line[len(keyword) :])
            if command == "EHLO" and self.server.extensions:
                offer = "250-STARTTLS\r\n" if self.server.tls and received is self.server.plain else ""
                self._answer(f"250-hello\r\n{offer}250 AUTH PLAIN LOGIN")
            elif command == "EHLO":
                self._answer("502 not implemented")
            elif command == "STARTTLS":
                self._answer("220 go ahead")
                try:
                    self.request = self.server.tls.wrap_socket(self.request, server_side=True)  # type: ignore[union-attr] # Else not offered.
                except OSError:
                    return
                received, lines = self.server.encrypted, self.request.makefile("rb")
            elif command == "DATA":
                self._answer("354 go ahead")
                while lines.readline().strip() != b".":
                    pass
                self._answer("250 ok")
            elif command == "QUIT":
                self._answer("221 bye")
                return
            else:
                self._answer("235 ok" if command == "AUTH" else "250 ok")

    def _answer(self, text: str) -> None:
        self.request.sendall(f"{text}\r\n".encode())

    def finish(self) -> None:
        """Close the connection, which encryption has detached from the server's own socket."""
        self.request.close()


Serve = Callable[..., SmtpServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Return a function that starts a mail server."""
    started: list[SmtpServer] = []

    def start(tls: ssl.SSLContext | None = None, *, extensions: bool = True) -> SmtpServer:
        started.append(SmtpServer(tls, extensions=extensions))
        Thread(target=started[-1].serve_forever, args=(0.02,), daemon=True).start()
        return started[-1]

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[ssl.SSLContext, str]:
    """Return the context of a server named localhost, and the file with its certificate."""
    file = certificate_for(tmp_path, "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context, file


def _send(instance: Instance, url: str) -> str | None:
    """Send one mail through a server; return why it could not be sent."""
    instance.work()
    instance.app.database.write(lambda db: send_mail(db, RECIPIENT, "Hello", "A text"))
    log = io.StringIO()
    worker = job_worker(replace(instance.settings, smtp_url=url), instance.app.database, Log("json", log))
    while worker.run_once():
        pass
    assert SECRET not in log.getvalue()
    waiting, _ = instance.app.database.read(lambda db: list_jobs(db, "waiting", 100))
    failed = [job for job in waiting if job.kind == "mail"]
    for job in failed:
        instance.app.database.write(partial(delete_job, job_id=job.id))
    return failed[0].last_error if failed else None


@pytest.mark.parametrize("extensions", [True, False])
def test_no_password_without_encryption(instance: Instance, serve: Serve, extensions: bool) -> None:
    server = serve(extensions=extensions)
    error = _send(instance, server.url(f"user:{SECRET}@", "127.0.0.1")) or ""
    assert "does not offer STARTTLS" in error
    assert SECRET not in error
    assert not [line for line in server.plain if line.startswith(("AUTH", "MAIL"))]
    assert _send(instance, server.url("", "127.0.0.1")) is None, "Without a password, mail is sent as before."
    assert f"RCPT TO:<{RECIPIENT}>" in server.plain


def test_a_password_is_sent_encrypted(
    instance: Instance, serve: Serve, certificate: tuple[ssl.SSLContext, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    context, file = certificate
    monkeypatch.setenv("SSL_CERT_FILE", file)
    server = serve(context)
    for login in (f"user:{SECRET}@", ""):
        assert _send(instance, server.url(login, "localhost")) is None
    assert {line.split()[0] for line in server.plain} == {"EHLO", "STARTTLS"}
    assert [line.split()[0] for line in server.encrypted].count("AUTH") == 1
    assert server.encrypted.count(f"RCPT TO:<{RECIPIENT}>") == 2


@pytest.mark.parametrize("trusted", [True, False])
def test_a_false_certificate_gets_no_password(
    instance: Instance,
    serve: Serve,
    certificate: tuple[ssl.SSLContext, str],
    monkeypatch: pytest.MonkeyPatch,
    trusted: bool,
) -> None:
    """The certificate is of another host, or of no authority that the machine trusts."""
    context, file = certificate
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", file)
    server = serve(context)
    error = _send(instance, server.url(f"user:{SECRET}@", "127.0.0.1" if trusted else "localhost")) or ""
    assert "certificate" in error.lower()
    assert SECRET not in error
    assert server.encrypted == []
