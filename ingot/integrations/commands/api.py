"""Endpoints of slash commands, which chats call with the token of the service."""

import hmac

from msgspec import structs

from ingot.accounts.users.actors import active_actor
from ingot.core.access.actor import Actor
from ingot.core.access.rules import anyone
from ingot.core.api.routes import Call, Routes
from ingot.core.errors import NotFound
from ingot.integrations.commands.execute import NOT_ALLOWED, CommandReply, execute_command, private_reply
from ingot.integrations.commands.params import TriggerCommand
from ingot.integrations.commands.service import link_token, used_chat_name_or_none
from ingot.integrations.messages import chat_link
from ingot.integrations.queries import active_service_or_none
from ingot.integrations.service import unseal_properties
from ingot.integrations.tables import Service
from ingot.projects.projects.queries import find_project

routes = Routes("services")


def _declare_trigger(chat: str, path: str) -> None:
    def trigger_command(call: Call, params: TriggerCommand) -> CommandReply:
        return _trigger(call, f"{chat.lower()}-slash-commands", params)

    place = path.split("/")[3]
    trigger_command.__name__ = f"trigger_{chat.lower()}_command_by_{place}"
    trigger_command.__doc__ = f"Execute a slash command of {chat}."
    routes.post(path, may=anyone, open=True, returns=CommandReply, status=200)(trigger_command)


_declare_trigger("Slack", "/projects/:id/services/slack_slash_commands/trigger")
_declare_trigger("Slack", "/projects/:id/integrations/slack_slash_commands/trigger")
_declare_trigger("Mattermost", "/projects/:id/services/mattermost_slash_commands/trigger")
_declare_trigger("Mattermost", "/projects/:id/integrations/mattermost_slash_commands/trigger")


def _trigger(call: Call, slug: str, params: TriggerCommand) -> CommandReply:
    """Execute a command for the linked account, or ask the chat user to link one.

    A wrong token is answered like a missing project, so that it reveals none.
    """
    try:
        _, project = find_project(call.db, Actor(admin=True), call.path["id"])
    except NotFound as error:
        raise NotFound("Service") from error
    service = active_service_or_none(call.db, project.id, slug)
    plain, secret = unseal_properties(call.db, service) if service else ({}, {})
    token = secret.get("token")
    if service is None or not token or not hmac.compare_digest(token.encode(), params.token.encode()):
        raise NotFound("Service")
    reply = _reply(call, service, project.id, params)
    return structs.replace(reply, username=plain["username"]) if plain.get("username") else reply


def _reply(call: Call, service: Service, project_id: int, params: TriggerCommand) -> CommandReply:
    link = used_chat_name_or_none(call.db, service, params)
    if link is not None:
        actor = active_actor(call.db, link.user_id)
        if actor is None:
            return private_reply(NOT_ALLOWED)
        return execute_command(call, actor, project_id, params.command, params.text)
    if not params.user_id or not params.team_id:
        return private_reply("The chat did not say who you are.")
    url = f"{call.origin.base}/profile/chat_names/new?token={link_token(call.db, service, params)}"
    return private_reply(f"{chat_link('Connect your account', url)} first, then repeat the command.")
