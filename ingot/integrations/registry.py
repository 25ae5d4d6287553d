"""Registry of all services: titles, properties, supported events, and the implementation that handles each."""

from typing import Literal, NamedTuple

PropertyKind = Literal["text", "secret", "address", "secret address", "flag", "number"]
IntegrationKind = Literal["chat", "mail", "tracker", "none"]
"""Implementation of a service: chat messages, emails, links to an issue tracker, or none (settings are only stored)."""

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

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of the secret properties."""
        return tuple(each.name for each in self.properties if each.secret)


def _required(name: str, kind: PropertyKind = "text") -> Property:
    return Property(name, kind, required=True)


def _optional(name: str, kind: PropertyKind = "text") -> Property:
    return Property(name, kind)


_TOKEN = _required("token", "secret")
_SSL_VERIFICATION = _optional("enable_ssl_verification", "flag")
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
    _optional("notify_only_broken_pipelines", "flag"),
    _optional("notify_only_default_branch", "flag"),
    _optional("branches_to_be_notified"),
)
_CHAT = (
    _required("webhook", "secret address"),
    _optional("username"),
    _optional("channel"),
    *_NOTIFICATION_FILTERS,
    *(_optional(f"{event}_channel") for event in _CHAT_EVENTS),
)

REGISTRY: dict[str, Integration] = {
    each.slug: each
    for each in (
        Integration("asana", "Asana", (_required("api_key", "secret"), _BRANCH_RESTRICTION), ("push",)),
        Integration("assembla", "Assembla", (_TOKEN, _optional("subdomain")), ("push",)),
        Integration(
            "bamboo",
            "Atlassian Bamboo CI",
            (_required("bamboo_url", "address"), _required("build_key"), *_LOGIN),
            ("push",),
        ),
        Integration("bugzilla", "Bugzilla", _TRACKER, ("push",), "tracker"),
        Integration(
            "buildkite", "Buildkite", (_TOKEN, _required("project_url", "address"), _SSL_VERIFICATION), ("push",)
        ),
        Integration("campfire", "Campfire", (_TOKEN, _optional("subdomain"), _optional("room")), ("push",)),
        Integration("custom-issue-tracker", "Custom Issue Tracker", _TRACKER, ("push",), "tracker"),
        Integration(
            "drone-ci",
            "Drone CI",
            (_TOKEN, _required("drone_url", "address"), _SSL_VERIFICATION),
            ("push", "merge_request", "tag_push"),
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
        ),
        Integration("external-wiki", "External Wiki", (_required("external_wiki_url", "address"),)),
        Integration("flowdock", "Flowdock", (_TOKEN,), ("push",)),
        Integration("gemnasium", "Gemnasium", (_required("api_key", "secret"), _TOKEN), ("push",)),
        Integration(
            "hipchat",
            "HipChat",
            (
                _TOKEN,
                _optional("room"),
                _optional("color"),
                _optional("notify", "flag"),
                _optional("api_version"),
                _optional("server"),
            ),
            (*_DISCUSSION_EVENTS, "pipeline"),
        ),
        Integration(
            "irker",
            "Irker (IRC gateway)",
            (
                _required("recipients"),
                _optional("default_irc_uri"),
                _optional("server_host"),
                _optional("server_port", "number"),
                _optional("colorize_messages", "flag"),
            ),
            ("push",),
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
                _optional("comment_on_event_enabled", "flag"),
            ),
            ("commit", "merge_request"),
            "tracker",
        ),
        Integration(
            "kubernetes",
            "Kubernetes",
            (_required("namespace"), _required("api_url", "address"), _TOKEN, _optional("ca_pem")),
        ),
        Integration("mattermost", "Mattermost notifications", _CHAT, _CHAT_EVENTS, "chat"),
        Integration("mattermost-slash-commands", "Mattermost slash commands", (_TOKEN, _optional("username"))),
        Integration(
            "microsoft-teams",
            "Microsoft Teams Notification",
            (_required("webhook", "secret address"), *_NOTIFICATION_FILTERS),
            _CHAT_EVENTS,
        ),
        Integration("mock-ci", "MockCI", (_required("mock_service_url", "address"),), ("push",)),
        Integration("mock-deployment", "Mock deployment", ()),
        Integration("mock-monitoring", "Mock monitoring", ()),
        Integration(
            "pipelines-email",
            "Pipelines emails",
            (
                _required("recipients"),
                _optional("add_pusher", "flag"),
                _optional("notify_only_broken_pipelines", "flag"),
                _optional("notify_only_default_branch", "flag"),
                _optional("branches_to_be_notified"),
            ),
            ("pipeline",),
        ),
        Integration("pivotaltracker", "PivotalTracker", (_TOKEN, _BRANCH_RESTRICTION), ("push",)),
        Integration("prometheus", "Prometheus", (_required("api_url", "address"),)),
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
        ),
        Integration("redmine", "Redmine", _TRACKER, ("push",), "tracker"),
        Integration("slack", "Slack notifications", (*_CHAT, _optional("new_issue_url")), _CHAT_EVENTS, "chat"),
        Integration("slack-slash-commands", "Slack slash commands", (_TOKEN,)),
        Integration(
            "teamcity",
            "JetBrains TeamCity CI",
            (_required("teamcity_url", "address"), _required("build_type"), *_LOGIN),
            ("push",),
        ),
    )
}
SLUGS_BY_KIND = {
    kind: tuple(each.slug for each in REGISTRY.values() if each.kind == kind) for kind in ("chat", "mail", "tracker")
}
