"""Request of a slash command, as Slack and Mattermost send it."""

from typing import Annotated

from msgspec import Meta

from ingot.core.api.params import Params

_Name = Annotated[str, Meta(max_length=255)]


class TriggerCommand(Params):
    """A command that a user of a chat typed."""

    token: str
    team_id: _Name = ""
    team_domain: _Name = ""
    user_id: _Name = ""
    user_name: _Name = ""
    command: _Name = ""
    text: Annotated[str, Meta(max_length=1_000_000)] = ""
