"""How SSH packets are made and sent here: as asyncssh does it, with less to do for each of them.

A clone is thousands of packets, and what the library does for each costs more than to encrypt it. It has no settings
for any of this, so that some of its methods are replaced, connection by connection. Where a release of it no longer has
what is named here, its own ways stay.
"""

import asyncio
import os
from collections.abc import Callable
from time import monotonic
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

QUICK_CIPHERS = ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com"]
"""What the interpreter's cryptography does in one call for a whole packet; others take several times as long."""
CIPHERS = [*QUICK_CIPHERS, "aes128-ctr", "aes256-ctr"]
_IGNORE, _KEXINIT, _CHANNEL_DATA = 2, 20, 94
_BURST = 256 * 1024
_BLOCK = 16
_LEAST_PADDING = 4
_SPEAKS_FIRST = b"SSH-2.0-OpenSSH_"

OF_CONNECTION = (
    *("send_packet", "_send", "_send_kexinit", "_send_encryption", "_send_seq", "_enc_algs", "_client_version"),
    *("_packet_handlers", "_auth_complete", "_kex_complete"),
    *("_rekey_bytes", "_rekey_bytes_sent", "_rekey_seconds", "_rekey_time"),
)
OF_CHANNEL = ("_flush_send_buf", "_pause_resume_writing", "_log_packet", "_send_window", "_send_buf_len", "_send_chan")
OF_CIPHER = ("_key", "_iv", "_update_iv")


def quicken_connection(connection: Any) -> bool:
    """Send what one turn of the loop has to send together, and without detours; whether that could be had."""
    if not _has(connection, OF_CONNECTION):
        return False
    _Sending(connection)
    _choose_ciphers_late(connection)
    return True


def quicken_channel(channel: Any) -> bool:
    """Send no small packets while more room is being announced in the same turn; whether that could be had.

    OpenSSH announces room for every few kilobytes that it has passed on, and each time a packet of that size would go.
    """
    if not _has(channel, OF_CHANNEL):
        return False
    flush: Callable[[], None] = channel._flush_send_buf
    loop = asyncio.get_running_loop()
    waiting = False

    def flush_bursts() -> None:
        nonlocal waiting
        if not 0 < channel._send_window < min(_BURST, channel._send_buf_len):
            flush()
            return
        channel._pause_resume_writing()
        if not waiting:
            waiting = True
            loop.call_soon(flush_now)

    def flush_now() -> None:
        nonlocal waiting
        waiting = False
        if channel._send_chan is not None:  # It may have been closed since.
            flush()

    channel._flush_send_buf = flush_bursts
    channel._log_packet = _say_nothing
    return True


def _has(thing: Any, names: tuple[str, ...]) -> bool:
    return all(hasattr(thing, name) for name in names)


def _say_nothing(*_: object) -> None:
    """Write no line for a packet, as nobody reads them: composing it takes as long as to encrypt the packet."""


class _Sending:
    """Takes the place of how one connection sends."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._send_packet: Callable[..., None] = connection.send_packet
        self._send: Callable[[bytes], None] = connection._send
        self._loop = asyncio.get_running_loop()
        self._waiting: list[bytes] = []
        self._sealed_with: tuple[object, AESGCM] | None = None
        connection.send_packet = self.send_packet
        connection._send = self.gather

    def send_packet(self, kind: int, *parts: bytes, handler: object = None) -> None:
        """Send a packet; not the empty one before each other, which guards a way of encrypting that is not offered."""
        if kind == _IGNORE:
            return
        if kind == _CHANNEL_DATA and self._flows():
            self._send_data(b"".join(parts))
        else:
            self._send_packet(kind, *parts, handler=handler)

    def gather(self, piece: bytes) -> None:
        """Keep what is to be sent until this turn of the loop is over."""
        if not self._waiting:
            self._loop.call_soon(self._flush)
        self._waiting.append(piece)

    def _flush(self) -> None:
        pieces = b"".join(self._waiting)
        self._waiting.clear()
        self._send(pieces)

    def _flows(self) -> bool:
        """Whether a packet of content may go as it is: keys are settled, known to us, and not worn out."""
        its = self._connection
        if not (its._auth_complete and its._kex_complete and type(its._send_encryption).__name__ == "GCMEncryption"):
            return False
        worn = its._rekey_bytes_sent >= its._rekey_bytes
        old = its._rekey_seconds and monotonic() >= its._rekey_time
        return not (worn or old) and _has(its._send_encryption._cipher, OF_CIPHER)

    def _send_data(self, content: bytes) -> None:
        its = self._connection
        cipher = its._send_encryption._cipher
        if self._sealed_with is None or self._sealed_with[0] is not cipher:
            self._sealed_with = cipher, AESGCM(cipher._key)
        length = 2 + len(content)
        padding = -length % _BLOCK
        if padding < _LEAST_PADDING:
            padding += _BLOCK
        length += padding
        header = length.to_bytes(4, "big")
        plain = b"".join((bytes((padding, _CHANNEL_DATA)), content, os.urandom(padding)))
        self.gather(header)
        self.gather(self._sealed_with[1].encrypt(cipher._iv, plain, header))
        cipher._update_iv()
        its._send_seq = (its._send_seq + 1) & 0xFFFFFFFF
        its._rekey_bytes_sent += length


def _choose_ciphers_late(connection: Any) -> None:
    """Offer slow ciphers only to who knows no quick one.

    The client's order counts, and until version 10 OpenSSH names slow ones first. It sends its list without waiting for
    ours, so ours may wait for that. Others may wait for ours, and get it at once.
    """
    send_kexinit: Callable[[], None] = connection._send_kexinit
    handlers = connection._packet_handlers
    waiting = False

    def send_or_wait() -> None:
        nonlocal waiting
        connection._send_kexinit = send_kexinit
        if connection._client_version.startswith(_SPEAKS_FIRST):
            waiting = True
        else:
            send_kexinit()

    def answer(its: Any, kind: int, number: int, packet: Any) -> Any:
        nonlocal waiting
        if waiting:
            waiting = False
            known = _ciphers_of(packet)
            if quick := [name for name in map(str.encode, QUICK_CIPHERS) if name in known]:
                connection._enc_algs = quick
            send_kexinit()
        return handlers[_KEXINIT](its, kind, number, packet)

    connection._send_kexinit = send_or_wait
    connection._packet_handlers = {**handlers, _KEXINIT: answer}


def _ciphers_of(packet: Any) -> set[bytes]:
    """Which ciphers a client's list names for both directions: its third and fourth names, behind a random number."""
    rest: bytes = packet.get_full_payload()[1 + 16 :]
    lists = []
    for _ in range(4):
        end = 4 + int.from_bytes(rest[:4], "big")
        lists.append(set(rest[4:end].split(b",")))
        rest = rest[end:]
    return lists[2] & lists[3]
