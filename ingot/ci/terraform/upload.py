"""Bodies with states, checked while and after they are read."""

import base64
import binascii
import hashlib
from functools import partial
from typing import NamedTuple

import msgspec

from ingot.accounts.instance.all_settings import all_settings
from ingot.ci.terraform import policy, queries, service
from ingot.core.access.rules import require
from ingot.core.api.request_fields import BadRequest, read_body
from ingot.core.api.routes import BodyContext
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.projects.projects.queries import find_project

MAX_STATE_BYTES = 100 * 2**20
"""Largest state, regardless of the setting: it is encrypted in memory."""


LOCKED = "423 Locked - The state is locked"


class _StateDocument(msgspec.Struct):
    """The part of a state that the server reads."""

    serial: int


class ReceivedState(NamedTuple):
    """The content of a request, which may be empty."""

    content: bytes
    serial: int


async def receive_state(context: BodyContext) -> ReceivedState:
    """Read a state after the permission and the lock were checked; raise BadRequest if it is too large or damaged."""
    context.charge.anonymous = False
    try:
        limit = await context.read(partial(_checked_limit, context=context))
    except service.StateLocked as error:
        raise BadRequest(423, LOCKED) from error
    pieces = []
    async for piece in read_body(context.receive, context.headers, limit):
        await context.charge.add(len(piece))
        pieces.append(piece)
    content = b"".join(pieces)
    if not content:
        return ReceivedState(b"", 0)
    _require_digest(context.headers, content)
    try:
        serial = msgspec.json.decode(content, type=_StateDocument).serial
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise BadRequest(400, '400 (Bad request) the body is not a state with a number as "serial"') from error
    if not 0 <= serial < 2**53:
        raise Invalid(serial=["is invalid"])
    return ReceivedState(content, serial)


def _checked_limit(db: Connection, context: BodyContext) -> int:
    """Return the largest size in bytes; raise Denied, NotFound or StateLocked."""
    access, project = find_project(db, context.actor, context.path["id"])
    require(policy.may_change_states(context.actor, access, project))
    service.require_valid_name(context.path["name"])
    service.require_lock(queries.state_or_none(db, project.id, context.path["name"]), context.params.lock_id)
    limit = all_settings(db).max_terraform_state_size_bytes
    return min(limit, MAX_STATE_BYTES) if limit > 0 else MAX_STATE_BYTES


def _require_digest(headers: dict[bytes, bytes], content: bytes) -> None:
    sent = headers.get(b"content-md5")
    if sent is None:
        return
    try:
        expected = base64.b64decode(sent.strip(), validate=True)
    except binascii.Error:
        expected = b""
    if expected != hashlib.md5(content, usedforsecurity=False).digest():
        raise BadRequest(400, "400 (Bad request) the body does not match Content-MD5")
