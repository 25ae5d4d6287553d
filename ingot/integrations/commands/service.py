"""Links between accounts and chat users: requested in the chat, confirmed by the user on a page."""

import base64
import binascii

import msgspec
from cryptography.exceptions import InvalidTag
from sqlalchemy import bindparam, delete, select

from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.errors import NotFound
from ingot.integrations.commands.params import TriggerCommand
from ingot.integrations.commands.tables import ChatName, chat_names
from ingot.integrations.tables import Service, services

REQUEST_SECONDS = 600
USE_SECONDS = 3600
"""Accuracy of the time of the last use, so that not each command writes it."""
_LINK = select(chat_names).where(
    chat_names.c.service_id == bindparam("service"),
    chat_names.c.team_id == bindparam("team"),
    chat_names.c.chat_id == bindparam("chat"),
)
_OF_USER = select(chat_names).where(chat_names.c.user_id == bindparam("user")).order_by(chat_names.c.id)
_DELETE = delete(chat_names).where(chat_names.c.id == bindparam("link"), chat_names.c.user_id == bindparam("user"))
_SERVICE = select(services).where(services.c.id == bindparam("service"), services.c.active)


class LinkRequest(msgspec.Struct, frozen=True):
    """Request of a chat user to be linked to an account; the sealed form is part of a URL."""

    service_id: int
    team_id: str
    team_domain: str
    chat_id: str
    chat_name: str
    expires_at: Timestamp


def used_chat_name_or_none(db: Connection, service: Service, params: TriggerCommand) -> ChatName | None:
    """Return the link of the chat user who typed a command, and note its use."""
    link = db.first(ChatName, _LINK, service=service.id, team=params.team_id, chat=params.user_id)
    if link is not None and (
        link.last_used_at is None or add_duration(link.last_used_at, seconds=USE_SECONDS) < db.now
    ):
        db.update(chat_names, link.id, last_used_at=db.now)
    return link


def link_token(db: Connection, service: Service, params: TriggerCommand) -> str:
    """Return a token with which a user can link their account to the chat user."""
    request = LinkRequest(
        service.id,
        params.team_id,
        params.team_domain,
        params.user_id,
        params.user_name,
        add_duration(db.now, seconds=REQUEST_SECONDS),
    )
    sealed = db.vault.seal(msgspec.json.encode(request).decode())
    return base64.urlsafe_b64encode(sealed).decode()


def find_link_request(db: Connection, token: str) -> LinkRequest:
    """Return the request of a token; raise NotFound if it is invalid or expired, or the service is inactive."""
    try:
        opened = db.vault.unseal(base64.urlsafe_b64decode(token))
        request = msgspec.json.decode(opened, type=LinkRequest)
    except (binascii.Error, ValueError, InvalidTag) as error:
        raise NotFound("Chat name") from error
    if request.expires_at < db.now or db.first(Service, _SERVICE, service=request.service_id) is None:
        raise NotFound("Chat name")
    return request


def link_chat_name(db: Connection, user_id: int, token: str) -> None:
    """Link an account to the chat user of a token, who may have been linked to another one before."""
    request = find_link_request(db, token)
    link = db.first(ChatName, _LINK, service=request.service_id, team=request.team_id, chat=request.chat_id)
    names = {"user_id": user_id, "team_domain": request.team_domain, "chat_name": request.chat_name}
    if link is not None:
        db.update(chat_names, link.id, **names)
        return
    columns = {"service_id": request.service_id, "team_id": request.team_id, "chat_id": request.chat_id}
    db.insert(chat_names, **names, **columns, created_at=db.now)


def list_chat_names(db: Connection, user_id: int) -> list[ChatName]:
    """List the chat users to which an account is linked."""
    return db.all(ChatName, _OF_USER, user=user_id)


def unlink_chat_name(db: Connection, user_id: int, link_id: int) -> None:
    """Remove a link of an account, if it exists."""
    db.run(_DELETE, link=link_id, user=user_id)
