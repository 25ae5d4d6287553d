"""Labels and explanations of the settings of integrations, as their forms show them."""

from typing import NamedTuple

from ingot.integrations.branches import BRANCH_CHOICES
from ingot.integrations.registry import Integration, Property


class IntegrationField(NamedTuple):
    """Field of the form of an integration."""

    setting: Property
    label: str
    hint: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    """Values and labels, if the setting has one of a few values."""


# The hint of a channel is that of ``channel``.
LABELS: dict[str, tuple[str, str]] = {
    "add_pusher": ("Also send to the user who pushed", ""),
    "api_key": ("API key", ""),
    "api_url": ("Address of the API", "Empty: the web address."),
    "api_version": ("API version", "v1 or v2. Empty: v2."),
    "bamboo_url": ("Bamboo address", "For example https://bamboo.example.com"),
    "branches_to_be_notified": ("Branches", ""),
    "build_key": ("Build plan key", "Key of the plan in Bamboo, such as PROJ-PLAN."),
    "build_type": ("Build configuration", "ID of the build configuration in TeamCity."),
    "ca_pem": ("CA certificate", ""),
    "channel": ("Channel", "Empty: the channel of the webhook. Separate several with commas."),
    "color": ("Color", "yellow, red, green, purple, gray or random. Empty: yellow."),
    "colorize_messages": ("Colored messages", ""),
    "comment_on_event_enabled": ("Comment on mentioned issues", ""),
    "confidential_issue_channel": ("Channel for confidential issues", ""),
    "confidential_note_channel": ("Channel for confidential comments", ""),
    "default_irc_uri": ("Default IRC server", "Server of channels without one, such as irc://irc.example.com:6697"),
    "description": ("Description", ""),
    "device": ("Device", "Empty: all devices of the user."),
    "disable_diffs": ("Leave out the diff", ""),
    "drone_url": ("Drone address", "For example https://drone.example.com"),
    "enable_ssl_verification": ("Verify the certificate of the server", ""),
    "external_wiki_url": ("Wiki address", ""),
    "issue_channel": ("Channel for issues", ""),
    "issues_url": ("Address of an issue", "With :id in place of the number."),
    "jira_issue_transition_id": ("Transition IDs", "Run when a commit closes an issue; several run in sequence."),
    "merge_request_channel": ("Channel for merge requests", ""),
    "mock_service_url": ("Address", ""),
    "namespace": ("Namespace", ""),
    "new_issue_url": ("Address of a new issue", ""),
    "note_channel": ("Channel for comments", ""),
    "notify": ("Notify the people in the room", ""),
    "notify_only_broken_pipelines": ("Pipelines: failures only", ""),
    "notify_only_default_branch": ("Pipelines: default branch only", ""),
    "password": ("Password or API token", ""),
    "pipeline_channel": ("Channel for pipelines", ""),
    "priority": ("Priority", "-2 (lowest) to 1 (high)."),
    "project_key": ("Project key", ""),
    "project_url": ("Address of the project", ""),
    "push_channel": ("Channel for pushes", ""),
    "recipients": ("Recipients", "Email addresses, separated by spaces or commas."),
    "restrict_to_branch": ("Only these branches", "Separated by commas. Empty: all branches."),
    "room": ("Room", ""),
    "send_from_committer_email": (
        "Send in the name of the user who pushed",
        "If the address belongs to the instance's domain.",
    ),
    "server": ("Server", "Empty: https://api.hipchat.com"),
    "server_host": ("Irker host", "Empty: localhost, if outgoing requests to the local network are allowed."),
    "server_port": ("Irker port", "Empty: 6659."),
    "sound": ("Sound", "Empty: the user's own choice."),
    "subdomain": ("Subdomain", ""),
    "tag_push_channel": ("Channel for tags", ""),
    "teamcity_url": ("TeamCity address", "For example https://teamcity.example.com"),
    "title": ("Title", ""),
    "token": ("Token", ""),
    "url": ("Web address", "For example https://example.atlassian.net"),
    "user_key": ("User key", ""),
    "username": ("User name", ""),
    "webhook": ("Webhook address", "Created in the chat under incoming webhooks."),
    "wiki_page_channel": ("Channel for wiki pages", ""),
}
"""Label and explanation of each setting."""
OVERRIDES: dict[tuple[str, str], tuple[str, str]] = {
    ("irker", "recipients"): ("Channels", "Such as irc://irc.example.com/channel, separated by spaces."),
    ("buildkite", "project_url"): ("Pipeline address", "For example https://buildkite.com/example/pipeline"),
    ("slack", "username"): ("Sender", "Name that the chat shows. Empty: that of the webhook."),
    ("mattermost", "username"): ("Sender", "Name that the chat shows. Empty: that of the webhook."),
}
"""Those of settings that mean something else in one integration."""
TITLES = {
    "custom-issue-tracker": "Custom issue tracker",
    "external-wiki": "External wiki",
    "jira": "Jira",
    "microsoft-teams": "Microsoft Teams notifications",
    "pivotaltracker": "Pivotal Tracker",
}
"""Titles on pages that differ from those of the API."""
_BRANCH_LABELS = {"all": "All branches", "default": "Default branch only"}
_BRANCHES = tuple((choice, _BRANCH_LABELS[choice]) for choice in BRANCH_CHOICES)


def integration_fields(integration: Integration) -> list[IntegrationField]:
    """Return the fields of an integration in the order of its settings."""
    return [_field(integration.slug, each) for each in integration.properties]


def integration_title(integration: Integration) -> str:
    """Return the title of an integration for pages."""
    return TITLES.get(integration.slug, integration.title)


def _field(slug: str, setting: Property) -> IntegrationField:
    label, hint = OVERRIDES.get((slug, setting.name)) or LABELS[setting.name]
    return IntegrationField(setting, label, hint, _BRANCHES if setting.name == "branches_to_be_notified" else ())
