"""Subscribers that end bots with their tokens, projects and groups."""

from ingot.accounts.tokens.events import TokenRevoked, TokenRotated
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.access_tokens.queries import bot_or_none, bots_of_source, has_no_token
from ingot.projects.access_tokens.service import end_bot, prolong_membership
from ingot.projects.members.events import MemberRemoved
from ingot.projects.namespaces.events import NamespaceDeleting
from ingot.projects.projects.events import ProjectDeleted

subscriptions = Subscriptions()


@subscriptions.on(TokenRevoked)
def end_bot_of_token(db: Connection, event: TokenRevoked) -> None:
    """End the bot of a revoked token."""
    bot = bot_or_none(db, event.user_id)
    if bot is not None and has_no_token(db, event.user_id):
        end_bot(db, bot)


@subscriptions.on(TokenRotated)
def prolong_bot_of_token(db: Connection, event: TokenRotated) -> None:
    """Let the membership of a bot end with the token that replaced another one."""
    bot = bot_or_none(db, event.user_id)
    if bot is not None:
        prolong_membership(db, bot, event.expires_at)


@subscriptions.on(MemberRemoved)
def end_bot_of_member(db: Connection, event: MemberRemoved) -> None:
    """End a bot that was removed from its project or group; its token would have no access, but stay valid."""
    bot = bot_or_none(db, event.user_id)
    if bot is None or bot.ended_at is not None:
        return
    if event.source_id == (bot.project_id if event.source_kind == "project" else bot.group_id):
        end_bot(db, bot)


@subscriptions.on(ProjectDeleted)
def end_bots_of_project(db: Connection, event: ProjectDeleted) -> None:
    """End the bots of a deleted project."""
    for bot in bots_of_source(db, "project", event.project_id):
        end_bot(db, bot)


@subscriptions.on(NamespaceDeleting)
def end_bots_of_group(db: Connection, event: NamespaceDeleting) -> None:
    """End the bots of a deleted group."""
    for bot in bots_of_source(db, "group", event.namespace_id):
        end_bot(db, bot)
