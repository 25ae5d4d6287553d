"""Lookup of TXT records (RFC 1035) at the name server of the system or at a configured one.

The standard library resolves addresses only. A query is one message; an answer that does not fit into a datagram is
requested again over TCP. Nothing is cached: users repeat a verification because they have just changed their records.
"""

import secrets
import socket
import struct
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from ingot.core.errors import Unavailable
from ingot.core.settings import Settings

_TIMEOUT_SECONDS = 3.0
_ATTEMPTS = 2
_MAX_DATAGRAM = 4096
_PORT = 53
_HEADER = struct.Struct("!6H")
_RECORD = struct.Struct("!2HLH")
_TXT, _IN = 16, 1
_RECURSION_DESIRED, _TRUNCATED, _RESPONSE = 0x0100, 0x0200, 0x8000
_NO_ERROR, _NO_SUCH_NAME = 0, 3


class MalformedAnswer(Exception):
    """An answer that is no DNS message, or not one to our question."""


def txt_records(settings: Settings, name: str) -> list[str]:
    """Return the TXT records of a name; none if it does not exist. Raise Unavailable if no name server answers."""
    query = _query(name)
    for server in _servers(settings):
        for _ in range(_ATTEMPTS):
            try:
                return list(_records(_ask(server, query), query))
            except (OSError, MalformedAnswer):  # The next attempt or the next server may answer.
                continue
    raise Unavailable("No name server has answered; repeat the verification later")


def _servers(settings: Settings) -> list[tuple[str, int]]:
    given = settings.pages_dns_server.strip()
    if given:
        address = urlsplit(f"//[{given}]" if given.count(":") > 1 and "[" not in given else f"//{given}")
        return [(address.hostname or given, address.port or _PORT)]
    try:
        lines = Path("/etc/resolv.conf").read_text().splitlines()
    except OSError:  # Without the file, the name server is on this machine.
        lines = []
    servers = [words[1] for line in lines if len(words := line.split()) > 1 and words[0] == "nameserver"]
    return [(server, _PORT) for server in servers[:3] or ["127.0.0.1"]]


def _query(name: str) -> bytes:
    labels = b"".join(bytes([len(label)]) + label for label in name.encode("ascii").split(b"."))
    return (
        _HEADER.pack(secrets.randbits(16), _RECURSION_DESIRED, 1, 0, 0, 0)
        + labels
        + b"\0"
        + struct.pack("!2H", _TXT, _IN)
    )


def _ask(server: tuple[str, int], query: bytes) -> bytes:
    family = socket.AF_INET6 if ip_address(server[0]).version == 6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as connection:
        connection.settimeout(_TIMEOUT_SECONDS)
        connection.connect(server)  # Datagrams of other senders are dropped.
        connection.send(query)
        answer = connection.recv(_MAX_DATAGRAM)
    if len(answer) >= _HEADER.size and _HEADER.unpack_from(answer)[1] & _TRUNCATED:
        return _ask_stream(server, query, family)
    return answer


def _ask_stream(server: tuple[str, int], query: bytes, family: int) -> bytes:
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(_TIMEOUT_SECONDS)
        connection.connect(server)
        connection.sendall(struct.pack("!H", len(query)) + query)
        with connection.makefile("rb") as file:
            head = file.read(2)
            if len(head) < 2:
                raise MalformedAnswer
            return file.read(struct.unpack("!H", head)[0])


def _records(answer: bytes, query: bytes) -> Iterator[str]:
    try:
        identifier, flags, questions, answers, _, _ = _HEADER.unpack_from(answer)
        question = query[_HEADER.size :]
        same = answer[_HEADER.size : _HEADER.size + len(question)].lower() == question.lower()
        if identifier != _HEADER.unpack_from(query)[0] or not flags & _RESPONSE or questions != 1 or not same:
            raise MalformedAnswer
        code = flags & 0xF
        if code == _NO_SUCH_NAME:
            return
        if code != _NO_ERROR:
            raise MalformedAnswer
        position = _HEADER.size + len(question)
        for _ in range(answers):
            position = _after_name(answer, position)
            kind, family, _, length = _RECORD.unpack_from(answer, position)
            position += _RECORD.size
            content = answer[position : position + length]
            if len(content) < length:
                raise MalformedAnswer
            if (kind, family) == (_TXT, _IN):
                yield _text(content)
            position += length
    except (struct.error, IndexError):
        raise MalformedAnswer from None


def _after_name(message: bytes, position: int) -> int:
    """Return the position after a name; pointers to other names need not be followed."""
    while True:
        length = message[position]
        if length >= 0xC0:
            return position + 2
        position += 1 + length
        if length == 0:
            return position


def _text(content: bytes) -> str:
    """Return the strings of a record as one text."""
    parts, position = [], 0
    while position < len(content):
        end = position + 1 + content[position]
        parts.append(content[position + 1 : end])
        position = end
    return b"".join(parts).decode(errors="replace")
