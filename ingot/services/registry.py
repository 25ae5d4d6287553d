"""Every service there is, as data: what it is called, what it takes, of what it can be told, and what we do with it."""

from typing import Literal, NamedTuple

PropertyKind = Literal["text", "secret", "address", "secret address", "flag", "number"]
Duty = Literal["chat", "mail", "tracker", "none"]
"""What is done with a service: it is told in a chat, by mail, links lead to it, or it is only kept."""

# What each event is called where it is stored and shown.
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
"""Only told where somebody asks for it."""


class Property(NamedTuple):
    """Something that a service has to know."""

    name: str
    kind: PropertyKind = "text"
    required: bool = False

    @property
    def secret(self) -> bool:
        """Whether it is sealed, and never shown again."""
        return self.kind.startswith("secret")

    @property
    def address(self) -> bool:
        """Whether it is a web address."""
        return self.kind.endswith("address")


class Integration(NamedTuple):
    """A service that projects can be connected to."""

    slug: str
    title: str
    properties: tuple[Property, ...]
    events: tuple[str, ...] = ()
    duty: Duty = "none"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What is never shown."""
        return tuple(each.name for each in self.properties if each.secret)


def _must(name: str, kind: PropertyKind = "text") -> Property:
    return Property(name, kind, required=True)


def _may(name: str, kind: PropertyKind = "text") -> Property:
    return Property(name, kind)


_TOKEN = _must("token", "secret")
_VERIFIED = _may("enable_ssl_verification", "flag")
_RESTRICTED = _may("restrict_to_branch")
_LOGIN = (_must("username"), _must("password", "secret"))
_TRACKER = (
    _must("new_issue_url", "address"),
    _must("issues_url", "address"),
    _must("project_url", "address"),
    _may("description"),
    _may("title"),
)
_TALK = ("push", "issue", "confidential_issue", "merge_request", "note", "confidential_note", "tag_push")
_CHAT_EVENTS = (*_TALK, "pipeline", "wiki_page")
_WHEN = (
    _may("notify_only_broken_pipelines", "flag"),
    _may("notify_only_default_branch", "flag"),
    _may("branches_to_be_notified"),
)
_CHAT = (
    _must("webhook", "secret address"),
    _may("username"),
    _may("channel"),
    *_WHEN,
    *(_may(f"{event}_channel") for event in _CHAT_EVENTS),
)

REGISTRY: dict[str, Integration] = {
    each.slug: each
    for each in (
        Integration("asana", "Asana", (_must("api_key", "secret"), _RESTRICTED), ("push",)),
        Integration("assembla", "Assembla", (_TOKEN, _may("subdomain")), ("push",)),
        Integration(
            "bamboo", "Atlassian Bamboo CI", (_must("bamboo_url", "address"), _must("build_key"), *_LOGIN), ("push",)
        ),
        Integration("bugzilla", "Bugzilla", _TRACKER, ("push",), "tracker"),
        Integration("buildkite", "Buildkite", (_TOKEN, _must("project_url", "address"), _VERIFIED), ("push",)),
        Integration("campfire", "Campfire", (_TOKEN, _may("subdomain"), _may("room")), ("push",)),
        Integration("custom-issue-tracker", "Custom Issue Tracker", _TRACKER, ("push",), "tracker"),
        Integration(
            "drone-ci",
            "Drone CI",
            (_TOKEN, _must("drone_url", "address"), _VERIFIED),
            ("push", "merge_request", "tag_push"),
        ),
        Integration(
            "emails-on-push",
            "Emails on push",
            (
                _must("recipients"),
                _may("disable_diffs", "flag"),
                _may("send_from_committer_email", "flag"),
                _may("branches_to_be_notified"),
            ),
            ("push", "tag_push"),
            "mail",
        ),
        Integration("external-wiki", "External Wiki", (_must("external_wiki_url", "address"),)),
        Integration("flowdock", "Flowdock", (_TOKEN,), ("push",)),
        Integration("gemnasium", "Gemnasium", (_must("api_key", "secret"), _TOKEN), ("push",)),
        Integration(
            "hipchat",
            "HipChat",
            (_TOKEN, _may("room"), _may("color"), _may("notify", "flag"), _may("api_version"), _may("server")),
            (*_TALK, "pipeline"),
        ),
        Integration(
            "irker",
            "Irker (IRC gateway)",
            (
                _must("recipients"),
                _may("default_irc_uri"),
                _may("server_host"),
                _may("server_port", "number"),
                _may("colorize_messages", "flag"),
            ),
            ("push",),
        ),
        Integration(
            "jira",
            "JIRA",
            (
                _must("url", "address"),
                _may("api_url", "address"),
                # Later versions take none, and today's clients send none.
                _may("project_key"),
                _may("username"),
                _may("password", "secret"),
                _may("jira_issue_transition_id"),
            ),
            ("commit", "merge_request"),
            "tracker",
        ),
        Integration(
            "kubernetes", "Kubernetes", (_must("namespace"), _must("api_url", "address"), _TOKEN, _may("ca_pem"))
        ),
        Integration("mattermost", "Mattermost notifications", _CHAT, _CHAT_EVENTS, "chat"),
        Integration("mattermost-slash-commands", "Mattermost slash commands", (_TOKEN, _may("username"))),
        Integration(
            "microsoft-teams",
            "Microsoft Teams Notification",
            (_must("webhook", "secret address"), *_WHEN),
            _CHAT_EVENTS,
        ),
        Integration("mock-ci", "MockCI", (_must("mock_service_url", "address"),), ("push",)),
        Integration("mock-deployment", "Mock deployment", ()),
        Integration("mock-monitoring", "Mock monitoring", ()),
        Integration(
            "pipelines-email",
            "Pipelines emails",
            (
                _must("recipients"),
                _may("add_pusher", "flag"),
                _may("notify_only_broken_pipelines", "flag"),
                _may("notify_only_default_branch", "flag"),
                _may("branches_to_be_notified"),
            ),
            ("pipeline",),
        ),
        Integration("pivotaltracker", "PivotalTracker", (_TOKEN, _RESTRICTED), ("push",)),
        Integration("prometheus", "Prometheus", (_must("api_url", "address"),)),
        Integration(
            "pushover",
            "Pushover",
            (
                _must("api_key", "secret"),
                _must("user_key", "secret"),
                _must("priority"),
                _may("device"),
                _may("sound"),
            ),
            ("push",),
        ),
        Integration("redmine", "Redmine", _TRACKER, ("push",), "tracker"),
        Integration("slack", "Slack notifications", (*_CHAT, _may("new_issue_url")), _CHAT_EVENTS, "chat"),
        Integration("slack-slash-commands", "Slack slash commands", (_TOKEN,)),
        Integration(
            "teamcity",
            "JetBrains TeamCity CI",
            (_must("teamcity_url", "address"), _must("build_type"), *_LOGIN),
            ("push",),
        ),
    )
}
SLUGS_BY_DUTY = {
    duty: tuple(each.slug for each in REGISTRY.values() if each.duty == duty) for duty in ("chat", "mail", "tracker")
}
