"""Messages between a process and its rendering processes, each preceded by its length."""

import socket

import msgspec

from ingot.core.markup.links import Link, LinkContext
from ingot.core.markup.references import Reference

READY = b"+"
"""Sent once by a rendering process when it has started."""
_LENGTH_BYTES = 4


class CodeBlock(msgspec.Struct, frozen=True, array_like=True):
    """Code, and the name of the lexer that highlights it."""

    lexer: str
    code: str


class HighlightTask(msgspec.Struct, tag="highlight"):
    """Code blocks to highlight."""

    cpu_seconds: float
    blocks: list[CodeBlock]
    all_classes: bool


class MarkdownTask(msgspec.Struct, tag="markdown"):
    """Markdown text to render."""

    cpu_seconds: float
    text: str
    link_context: LinkContext
    resolves_references: bool
    """Whether the process asks for the links of references with ``FoundReferences``."""
    highlights: bool


class RestructuredTextTask(msgspec.Struct, tag="rst"):
    """File in reStructuredText to render."""

    cpu_seconds: float
    text: str
    link_context: LinkContext


class FoundReferences(msgspec.Struct, tag="references"):
    """References of the text, in order; the answer is ``ResolvedLinks``."""

    references: list[Reference]


class ResolvedLinks(msgspec.Struct):
    """Links of the references, in their order."""

    links: list[Link | None]


class RenderedBlocks(msgspec.Struct, tag="blocks"):
    """HTML of each code block, or of the whole text."""

    html: list[str]


class RenderingFailed(msgspec.Struct, tag="failed"):
    """Result of a task that raised an exception, such as a bug of a lexer."""

    error: str
    """Type of the exception."""


RenderTask = HighlightTask | MarkdownTask | RestructuredTextTask
RenderReply = FoundReferences | RenderedBlocks | RenderingFailed
_tasks: msgspec.msgpack.Decoder[RenderTask] = msgspec.msgpack.Decoder(RenderTask)
_replies: msgspec.msgpack.Decoder[RenderReply] = msgspec.msgpack.Decoder(RenderReply)
_links = msgspec.msgpack.Decoder(ResolvedLinks)


def send_message(connection: socket.socket, message: msgspec.Struct) -> None:
    """Send a message."""
    body = msgspec.msgpack.encode(message)
    connection.sendall(len(body).to_bytes(_LENGTH_BYTES) + body)


def receive_task(connection: socket.socket) -> RenderTask:
    """Receive a task; like the other functions, raise ``EOFError`` if the other process has ended."""
    return _tasks.decode(_receive_message(connection))


def receive_reply(connection: socket.socket) -> RenderReply:
    """Receive the reply to a task."""
    return _replies.decode(_receive_message(connection))


def receive_links(connection: socket.socket) -> ResolvedLinks:
    """Receive the links of references."""
    return _links.decode(_receive_message(connection))


def _receive_message(connection: socket.socket) -> bytes:
    return _receive_bytes(connection, int.from_bytes(_receive_bytes(connection, _LENGTH_BYTES)))


def _receive_bytes(connection: socket.socket, count: int) -> bytes:
    received = bytearray()
    while len(received) < count:
        piece = connection.recv(min(count - len(received), 1 << 20))
        if not piece:
            raise EOFError
        received += piece
    return bytes(received)
