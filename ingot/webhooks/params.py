"""Request parameters of webhooks."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType

from ingot.core.api.params import Params

Flag = bool | UnsetType
ShortText = Annotated[str, Meta(max_length=255)]


class CustomHeader(Params):
    """A header sent with every request of a webhook."""

    key: Annotated[str, Meta(max_length=255)]
    value: Annotated[str, Meta(max_length=2048)]


class UrlVariable(Params):
    """Value of a variable in a webhook's URL."""

    key: Annotated[str, Meta(max_length=255)]
    value: Annotated[str, Meta(max_length=2048)]


class SetHookValue(Params):
    """Value of a variable or header."""

    value: Annotated[str, Meta(max_length=2048)]


class WriteHook(Params):
    """A webhook or changes of one; events that this server does not send cannot be chosen."""

    fixed_values: ClassVar[Mapping[str, Any]] = dict.fromkeys(
        (
            "deployment_events",
            "feature_flag_events",
            "emoji_events",
            "resource_access_token_events",
            "resource_deploy_token_events",
            "vulnerability_events",
        ),
        False,
    )
    url: str
    token: str | UnsetType | None = UNSET
    signing_token: str | UnsetType | None = UNSET
    custom_headers: list[CustomHeader] | UnsetType | None = UNSET
    url_variables: list[UrlVariable] | UnsetType | None = UNSET
    name: ShortText | UnsetType | None = UNSET
    description: Annotated[str, Meta(max_length=2048)] | UnsetType | None = UNSET
    enable_ssl_verification: Flag = UNSET
    push_events_branch_filter: ShortText | UnsetType | None = UNSET
    branch_filter_strategy: Literal["wildcard", "regex", "all_branches"] | UnsetType = UNSET
    push_events: Flag = UNSET
    tag_push_events: Flag = UNSET
    issues_events: Flag = UNSET
    confidential_issues_events: Flag = UNSET
    merge_requests_events: Flag = UNSET
    note_events: Flag = UNSET
    confidential_note_events: Flag = UNSET
    job_events: Flag = UNSET
    build_events: Flag = UNSET
    pipeline_events: Flag = UNSET
    wiki_events: Flag = UNSET
    wiki_page_events: Flag = UNSET
    releases_events: Flag = UNSET
    repository_update_events: Flag = UNSET
    deployment_events: Flag = UNSET
    feature_flag_events: Flag = UNSET
    emoji_events: Flag = UNSET
    milestone_events: Flag = UNSET
    resource_access_token_events: Flag = UNSET
    resource_deploy_token_events: Flag = UNSET
    vulnerability_events: Flag = UNSET
    member_events: Flag = UNSET
    subgroup_events: Flag = UNSET
    project_events: Flag = UNSET
    custom_webhook_template: Annotated[str, Meta(max_length=4096)] | UnsetType | None = UNSET


class ListHookEvents(Params):
    """Filter of delivery attempts by response status or its family."""

    status: str | None = None
