"""Registry of all services: titles, properties, supported events, and the implementation that handles each."""

from typing import Literal, NamedTuple

PropertyKind = Literal[
    "text", "secret", "address", "secret address", "server address", "host address", "flag", "number"
]
"""A server address without a scheme is one of HTTPS; a host address is only a name or an address."""
IntegrationKind = Literal["chat", "request", "mail", "tracker", "wiki", "commands", "none"]
"""Implementation of a service: chat messages, other requests, emails, links to an issue tracker or a wiki, commands
from a chat, or none."""

# Flag of each event, as stored and as shown in responses.
EVENTS = {
    "push": "push_events",
    "tag_push": "tag_push_events",
    "issue": "issues_events",
    "confidential_issue": "confidential_issues_events",
    "merge_request": "merge_requests_events",
    "note": "note_events",
    "confidential_note": "confidential_note_events",
    "job": "job_events",
    "pipeline": "pipeline_events",
    "wiki_page": "wiki_page_events",
    "commit": "commit_events",
}
FLAGS = tuple(EVENTS.values())
CONFIDENTIAL = frozenset({"confidential_issues_events", "confidential_note_events"})
"""Events that are disabled by default."""


class Property(NamedTuple):
    """Setting of a service."""

    name: str
    kind: PropertyKind = "text"
    required: bool = False
    default: bool = False
    """Meaning of a flag that was not set."""

    @property
    def secret(self) -> bool:
        """Whether the value is stored encrypted and never returned."""
        return self.kind.startswith("secret")

    @property
    def address(self) -> bool:
        """Whether the value is a URL."""
        return self.kind.endswith("address")


class Integration(NamedTuple):
    """Service that a project can set up."""

    slug: str
    title: str
    properties: tuple[Property, ...]
    events: tuple[str, ...] = ()
    kind: IntegrationKind = "none"
    effect: str = ""
    """What the service does or, without an implementation, why it stays inactive."""

    @property
    def sends_to_addresses(self) -> bool:
        """Whether this server connects to the addresses; those of other trackers are only links."""
        return self.kind in ("chat", "request") or self.slug == "jira"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of the secret properties."""
        return tuple(each.name for each in self.properties if each.secret)


def _required(name: str, kind: PropertyKind = "text") -> Property:
    return Property(name, kind, required=True)


def _optional(name: str, kind: PropertyKind = "text") -> Property:
    return Property(name, kind)


def _flag_on(name: str) -> Property:
    return Property(name, "flag", default=True)


_TOKEN = _required("token", "secret")
_SSL_VERIFICATION = _flag_on("enable_ssl_verification")
_BRANCH_RESTRICTION = _optional("restrict_to_branch")
_LOGIN = (_required("username"), _required("password", "secret"))
_TRACKER = (
    _required("new_issue_url", "address"),
    _required("issues_url", "address"),
    _required("project_url", "address"),
    _optional("description"),
    _optional("title"),
)
_DISCUSSION_EVENTS = ("push", "issue", "confidential_issue", "merge_request", "note", "confidential_note", "tag_push")
_CHAT_EVENTS = (*_DISCUSSION_EVENTS, "pipeline", "wiki_page")
_NOTIFICATION_FILTERS = (
    _flag_on("notify_only_broken_pipelines"),
    _flag_on("notify_only_default_branch"),
    _optional("branches_to_be_notified"),
)
_CHAT = (
    _required("webhook", "secret address"),
    _optional("username"),
    _optional("channel"),
    *_NOTIFICATION_FILTERS,
    *(_optional(f"{event}_channel") for event in _CHAT_EVENTS),
)

_CHAT_EFFECT = "Sends a message to a channel for each selected event."
_BUILD_EFFECT = "Starts a build for each push; the build server reports results as commit statuses."
_MERGE_BUILD_EFFECT = (
    "Starts a build for each push and for new commits of merge requests; the build server reports results as commit "
    "statuses."
)
_TRACKER_EFFECT = "Links mentioned issues to an external issue tracker."
_COMMAND_EFFECT = "Lets users of the chat create, show and search issues and start deployments."
_DISCONTINUED = "The service of this integration no longer exists."
_MOCK = "This integration only served the development of GitLab."

REGISTRY: dict[str, Integration] = {
    each.slug: each
    for each in (
        Integration(
            "asana",
            "Asana",
            (_required("api_key", "secret"), _BRANCH_RESTRICTION),
            ("push",),
            "request",
            "Adds pushed commits as comments to the tasks that their messages name, and completes those that they fix.",
        ),
        Integration(
            "assembla",
            "Assembla",
            (_TOKEN, _optional("subdomain")),
            ("push",),
            "request",
            "Reports pushes to an Assembla space.",
        ),
        Integration(
            "bamboo",
            "Atlassian Bamboo CI",
            (_required("bamboo_url", "address"), _required("build_key"), *_LOGIN, _SSL_VERIFICATION),
            ("push",),
            "request",
            _BUILD_EFFECT,
        ),
        Integration("bugzilla", "Bugzilla", _TRACKER, ("push",), "tracker", _TRACKER_EFFECT),
        Integration(
            "buildkite",
            "Buildkite",
            (_TOKEN, _required("project_url", "address"), _SSL_VERIFICATION),
            ("push", "merge_request", "tag_push"),
            "request",
            f"{_MERGE_BUILD_EFFECT} Pages of commits link to the builds.",
        ),
        Integration(
            "campfire",
            "Campfire",
            (_TOKEN, _optional("subdomain"), _optional("room")),
            ("push",),
            "request",
            "Sends a message to a room for each push.",
        ),
        Integration("custom-issue-tracker", "Custom Issue Tracker", _TRACKER, ("push",), "tracker", _TRACKER_EFFECT),
        Integration(
            "drone-ci",
            "Drone CI",
            (_TOKEN, _required("drone_url", "address"), _SSL_VERIFICATION),
            ("push", "merge_request", "tag_push"),
            "request",
            _MERGE_BUILD_EFFECT,
        ),
        Integration(
            "emails-on-push",
            "Emails on push",
            (
                _required("recipients"),
                _optional("disable_diffs", "flag"),
                _optional("send_from_committer_email", "flag"),
                _optional("branches_to_be_notified"),
            ),
            ("push", "tag_push"),
            "mail",
            "Sends the commits and the diff of each push by email.",
        ),
        Integration(
            "external-wiki",
            "External Wiki",
            (_required("external_wiki_url", "address"),),
            (),
            "wiki",
            "Adds a link to an external wiki to the pages of the project.",
        ),
        Integration("flowdock", "Flowdock", (_TOKEN,), ("push",), "none", _DISCONTINUED),
        Integration(
            "gemnasium", "Gemnasium", (_required("api_key", "secret"), _TOKEN), ("push",), "none", _DISCONTINUED
        ),
        Integration(
            "hipchat",
            "HipChat",
            (
                _TOKEN,
                _optional("room"),
                _optional("color"),
                _optional("notify", "flag"),
                _optional("api_version"),
                _optional("server", "server address"),
                _flag_on("notify_only_broken_pipelines"),
            ),
            (*_DISCUSSION_EVENTS, "pipeline"),
            "request",
            "Sends a message to a room for each selected event.",
        ),
        Integration(
            "irker",
            "Irker (IRC gateway)",
            (
                _required("recipients"),
                _optional("default_irc_uri"),
                _optional("server_host", "host address"),
                _optional("server_port", "number"),
                _optional("colorize_messages", "flag"),
            ),
            ("push",),
            "request",
            "Sends a message to IRC channels for each push, through an Irker gateway.",
        ),
        Integration(
            "jira",
            "JIRA",
            (
                _required("url", "address"),
                _optional("api_url", "address"),
                # Optional because later GitLab versions removed it, and current clients do not send it.
                _optional("project_key"),
                _optional("username"),
                _optional("password", "secret"),
                _optional("jira_issue_transition_id"),
                _flag_on("comment_on_event_enabled"),
            ),
            ("commit", "merge_request"),
            "tracker",
            "Links mentioned Jira issues, and comments on and solves them from commits and merge requests.",
        ),
        Integration(
            "kubernetes",
            "Kubernetes",
            (_required("namespace"), _required("api_url", "address"), _TOKEN, _optional("ca_pem")),
            (),
            "none",
            "This server does not connect to clusters. Deploy with a CI job instead.",
        ),
        Integration("mattermost", "Mattermost notifications", _CHAT, _CHAT_EVENTS, "chat", _CHAT_EFFECT),
        Integration(
            "mattermost-slash-commands",
            "Mattermost slash commands",
            (_TOKEN, _optional("username")),
            (),
            "commands",
            _COMMAND_EFFECT,
        ),
        Integration(
            "microsoft-teams",
            "Microsoft Teams Notification",
            (_required("webhook", "secret address"), *_NOTIFICATION_FILTERS),
            _CHAT_EVENTS,
            "request",
            _CHAT_EFFECT,
        ),
        Integration("mock-ci", "MockCI", (_required("mock_service_url", "address"),), ("push",), "none", _MOCK),
        Integration("mock-deployment", "Mock deployment", (), (), "none", _MOCK),
        Integration("mock-monitoring", "Mock monitoring", (), (), "none", _MOCK),
        Integration(
            "pipelines-email",
            "Pipelines emails",
            (_required("recipients"), _optional("add_pusher", "flag"), *_NOTIFICATION_FILTERS),
            ("pipeline",),
            "mail",
            "Sends the results of pipelines by email.",
        ),
        Integration(
            "pivotaltracker",
            "PivotalTracker",
            (_TOKEN, _BRANCH_RESTRICTION),
            ("push",),
            "request",
            "Reports pushed commits to Pivotal Tracker, which adds them to the stories that their messages name.",
        ),
        Integration(
            "prometheus",
            "Prometheus",
            (_required("api_url", "address"),),
            (),
            "none",
            "This server does not show metrics of environments.",
        ),
        Integration(
            "pushover",
            "Pushover",
            (
                _required("api_key", "secret"),
                _required("user_key", "secret"),
                _required("priority"),
                _optional("device"),
                _optional("sound"),
            ),
            ("push",),
            "request",
            "Sends a notification to devices for each push.",
        ),
        Integration("redmine", "Redmine", _TRACKER, ("push",), "tracker", _TRACKER_EFFECT),
        Integration(
            "slack",
            "Slack notifications",
            (*_CHAT, _optional("new_issue_url")),
            _CHAT_EVENTS,
            "chat",
            _CHAT_EFFECT,
        ),
        Integration("slack-slash-commands", "Slack slash commands", (_TOKEN,), (), "commands", _COMMAND_EFFECT),
        Integration(
            "teamcity",
            "JetBrains TeamCity CI",
            (_required("teamcity_url", "address"), _required("build_type"), *_LOGIN, _SSL_VERIFICATION),
            ("push", "merge_request"),
            "request",
            _MERGE_BUILD_EFFECT,
        ),
    )
}
SLUGS_BY_KIND = {
    kind: tuple(each.slug for each in REGISTRY.values() if each.kind == kind) for kind in ("chat", "mail", "tracker")
}
