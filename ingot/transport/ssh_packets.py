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

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

QUICK_CIPHERS = ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com"]
"""What the interpreter's cryptography does in one call for a whole packet; others take several times as long."""
CIPHERS = [*QUICK_CIPHERS, "aes128-ctr", "aes256-ctr"]
_IGNORE, _KEXINIT, _WINDOW_ADJUST, _CHANNEL_DATA = 2, 20, 93, 94
_BURST = 256 * 1024
_BURST_SECONDS = 0.005
_REST_SECONDS = 0.002
_BLOCK = 16
_LEAST_PADDING = 4
_BEFORE_CONTENT = 1 + 1 + 4 + 4
"""How much padding there is, the packet's kind, the channel and the content's length."""
_ANNOUNCEMENT_PADDING = 6
_ANNOUNCEMENT_HEADER = (1 + 1 + 4 + 4 + _ANNOUNCEMENT_PADDING).to_bytes(4, "big")
_ANNOUNCEMENT = 4 + 16 + 16
"""A packet that announces room: its length, then as much as one block, then the tag."""
_OPEN = ("open", "eof_pending", "eof")
_SPEAKS_FIRST = b"SSH-2.0-OpenSSH_"

OF_CONNECTION = (
    *("send_packet", "_send", "_send_kexinit", "_send_encryption", "_send_seq", "_enc_algs", "_client_version"),
    *("_packet_handlers", "_auth_complete", "_kex_complete", "_transport", "_channels"),
    *("_rekey_bytes", "_rekey_bytes_sent", "_rekey_seconds", "_rekey_time"),
    *("_recv_data", "_recv_handler", "_recv_pkthdr", "_recv_encryption", "_recv_seq", "_inpbuf", "_decompressor"),
)
OF_CHANNEL = (
    *("_flush_send_buf", "_pause_resume_writing", "_log_packet", "_send_chan", "_recv_state"),
    *("_send_window", "_send_pktsize", "_send_buf", "_send_buf_len"),
)
OF_CIPHER = ("_key", "_iv")


def quicken_connection(connection: Any) -> bool:
    """Send what one turn of the loop has to send together, and without detours; whether that could be had."""
    if not _has(connection, OF_CONNECTION):
        return False
    _Sending(connection)
    _Receiving(connection)
    _choose_ciphers_late(connection)
    return True


def quicken_channel(channel: Any, connection: Any) -> bool:
    """Send what is written there in large bursts; whether that could be had.

    OpenSSH announces room for every few kilobytes that it has passed on, and each time a packet of that size would go,
    and both processes would wake for it. While the client has most of what it takes at once still to pass on, a burst
    may wait for more room; not for long, as others may announce room only when they have none left.
    """
    sending = connection.send_packet.__self__
    if not (_has(channel, OF_CHANNEL) and isinstance(sending, _Sending)):
        return False
    flush: Callable[[], None] = channel._flush_send_buf
    loop = asyncio.get_running_loop()
    burst = min(_BURST, channel._send_window // 4)
    waiting: asyncio.TimerHandle | None = None

    def flush_bursts() -> None:
        nonlocal waiting
        if not 0 < channel._send_window < min(burst, channel._send_buf_len):
            flush_now()
            return
        channel._pause_resume_writing()
        if waiting is None:
            waiting = loop.call_later(_BURST_SECONDS, flush_now)

    def flush_now() -> None:
        nonlocal waiting
        if waiting is not None:
            waiting.cancel()
            waiting = None
        if channel._send_chan is not None:  # It may have been closed since.
            sending.send_content(channel)
            flush()

    channel._flush_send_buf = flush_bursts
    channel._log_packet = _say_nothing
    channel.set_write_buffer_limits(2 * _BURST, _BURST)
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
        self._loop = asyncio.get_running_loop()
        self._waiting: list[bytes] = []
        self._seal = _Seal()
        connection.send_packet = self.send_packet
        connection._send = self.gather

    def send_packet(self, kind: int, *parts: bytes, handler: object = None) -> None:
        """Send a packet; not the empty one before each other, which guards a way of encrypting that is not offered."""
        if kind != _IGNORE:
            self._send_packet(kind, *parts, handler=handler)

    def gather(self, piece: bytes) -> None:
        """Keep what is to be sent until this turn of the loop is over."""
        if not self._waiting:
            self._loop.call_soon(self._flush)
        self._waiting.append(piece)

    def send_content(self, channel: Any) -> None:
        """Send what was written to a channel, as far as there is room, in packets of the size that the client takes.

        Nothing where the keys are not settled, not known to us or worn out, nor what goes to standard error: that is
        left to the library.
        """
        while channel._send_buf and channel._send_window and self._flows():
            content, kind = channel._send_buf[0]
            if kind is not None:
                return
            size = min(len(content), channel._send_window)
            with memoryview(content) as whole, whole[:size] as sent:
                self._send_pieces(channel._send_chan, sent, channel._send_pktsize)
            if size == len(content):
                del channel._send_buf[0]
            else:
                del content[:size]
            channel._send_buf_len -= size
            channel._send_window -= size

    def _flush(self) -> None:
        pieces, self._waiting = self._waiting, []
        transport = self._connection._transport
        if transport is not None:
            try:
                transport.writelines(pieces)
            except ConnectionError:
                pass  # Who reads next hears of it.

    def _flows(self) -> bool:
        """Whether content may go as it is."""
        its = self._connection
        if not (its._auth_complete and its._kex_complete and _is_gcm(its._send_encryption)):
            return False
        worn = its._rekey_bytes_sent >= its._rekey_bytes
        old = its._rekey_seconds and monotonic() >= its._rekey_time
        return not (worn or old)

    def _send_pieces(self, number: int, content: memoryview, most: int) -> None:
        its, seal = self._connection, self._seal.of(self._connection._send_encryption)
        to = number.to_bytes(4, "big")
        packets = 0
        for start in range(0, len(content), most):
            piece = content[start : start + most]
            length = _BEFORE_CONTENT + len(piece)
            padding = -length % _BLOCK
            if padding < _LEAST_PADDING:
                padding += _BLOCK
            length += padding
            header = length.to_bytes(4, "big")
            begins = b"".join((bytes((padding, _CHANNEL_DATA)), to, len(piece).to_bytes(4, "big")))
            self.gather(header)
            self.gather(seal.encrypt(self._seal.nonce(), b"".join((begins, piece, os.urandom(padding))), header))
            its._rekey_bytes_sent += length
            packets += 1
        its._send_seq = (its._send_seq + packets) & 0xFFFFFFFF


class _Seal:
    """The library's cipher for one direction: its key made ready once, and its nonce, which counts packets."""

    def __init__(self) -> None:
        self._cipher: Any = None
        self._seal: AESGCM | None = None

    def of(self, encryption: Any) -> AESGCM:
        """What seals and opens by this key."""
        if self._seal is None or self._cipher is not encryption._cipher:
            self._cipher = encryption._cipher
            self._seal = AESGCM(self._cipher._key)
        return self._seal

    def nonce(self) -> bytes:
        """The nonce of the packet at hand; the next has the one behind it."""
        now: bytes = self._cipher._iv
        count = (int.from_bytes(now[4:], "big") + 1) & 0xFFFFFFFFFFFFFFFF
        self._cipher._iv = now[:4] + count.to_bytes(8, "big")
        return now


def _is_gcm(encryption: Any) -> bool:
    return type(encryption).__name__ == "GCMEncryption" and _has(encryption._cipher, OF_CIPHER)


class _Receiving:
    """Takes in announcements of room, of which a clone brings thousands; everything else is left to the library."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._receive: Callable[[], None] = connection._recv_data
        self._loop = asyncio.get_running_loop()
        self._seal = _Seal()
        connection._recv_data = self.receive

    def receive(self) -> None:
        """Look through what has arrived."""
        its = self._connection
        begins = its._recv_handler == its._recv_pkthdr and its._auth_complete and not its._decompressor
        taken = begins and _is_gcm(its._recv_encryption) and self._take_announcements()
        if its._inpbuf:
            self._receive()
        elif taken and its._transport is not None:
            self._rest(its._transport)

    def _rest(self, transport: Any) -> None:
        """Let announcements gather for a moment: one look then finds dozens."""
        transport.pause_reading()
        self._loop.call_later(_REST_SECONDS, lambda: transport.is_closing() or transport.resume_reading())

    def _take_announcements(self) -> bool:
        its = self._connection
        arrived: bytes = its._inpbuf
        seal, cipher = self._seal.of(its._recv_encryption), its._recv_encryption._cipher
        at, more_room = 0, set()
        while len(arrived) - at >= _ANNOUNCEMENT and arrived[at : at + 4] == _ANNOUNCEMENT_HEADER:
            end = at + _ANNOUNCEMENT
            try:
                plain = seal.decrypt(cipher._iv, arrived[at + 4 : end], _ANNOUNCEMENT_HEADER)
            except InvalidTag:
                break
            channel = its._channels.get(int.from_bytes(plain[2:6], "big")) if plain[1] == _WINDOW_ADJUST else None
            if channel is None or plain[0] != _ANNOUNCEMENT_PADDING or channel._recv_state not in _OPEN:
                break
            self._seal.nonce()
            its._recv_seq = (its._recv_seq + 1) & 0xFFFFFFFF
            channel._send_window += int.from_bytes(plain[6:10], "big")
            more_room.add(channel)
            at = end
        if at:
            its._inpbuf = arrived[at:]
        for channel in more_room:
            channel._flush_send_buf()
        return bool(more_room)


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
