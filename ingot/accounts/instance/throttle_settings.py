"""Settings of the rate limits of all calls, pages, packages and Git LFS (throttles.py)."""

from typing import Annotated

from msgspec import Meta

from ingot.accounts.instance.settings import InstanceSettings
from ingot.core.api.audience import Affected

_Line = Annotated[str, Meta(max_length=10_000)]
_Positive = Annotated[int, Meta(ge=1, le=2**31 - 1), Affected.REQUESTS]


class ThrottleSettings(InstanceSettings, frozen=True):
    """Rate limits of kinds of requests; docs/attributes.md lists their effects."""

    protected_paths: Annotated[
        tuple[str, ...],
        Meta(description="Beginnings of the paths that `throttle_protected_paths_enabled` protects."),
        Affected.EVERYONE,
    ] = ("/users/password", "/users/sign_in", "/users/confirmation", "/users", "/profile/password")
    protected_paths_for_get_request: Annotated[
        tuple[str, ...],
        Meta(description="Beginnings of paths whose GET requests `throttle_protected_paths_enabled` limits, too."),
        Affected.EVERYONE,
    ] = ()
    rate_limiting_response_text: (
        Annotated[
            _Line,
            Meta(description='Message of responses to requests beyond a rate limit; empty means "Retry later".'),
            Affected.EVERYONE,
        ]
        | None
    ) = None
    throttle_authenticated_files_api_enabled: Annotated[
        bool, Meta(description="API calls for files of repositories are limited for each user."), Affected.REQUESTS
    ] = False
    throttle_authenticated_files_api_period_in_seconds: Annotated[
        _Positive, Meta(description="Length of the period in seconds.")
    ] = 15
    throttle_authenticated_files_api_requests_per_period: Annotated[
        _Positive, Meta(description="Largest number in a period.")
    ] = 500
    throttle_authenticated_git_lfs_enabled: Annotated[
        bool, Meta(description="Requests of Git LFS are limited for each user."), Affected.REQUESTS
    ] = False
    throttle_authenticated_git_lfs_period_in_seconds: Annotated[
        _Positive, Meta(description="Length of the period in seconds.")
    ] = 60
    throttle_authenticated_git_lfs_requests_per_period: Annotated[
        _Positive, Meta(description="Largest number in a period.")
    ] = 1000
    throttle_authenticated_packages_api_enabled: Annotated[
        bool, Meta(description="API calls for packages are limited for each user."), Affected.REQUESTS
    ] = False
    throttle_authenticated_packages_api_period_in_seconds: Annotated[
        _Positive, Meta(description="Length of the period in seconds.")
    ] = 15
    throttle_authenticated_packages_api_requests_per_period: Annotated[
        _Positive, Meta(description="Largest number in a period.")
    ] = 1000
    throttle_authenticated_web_enabled: Annotated[
        bool, Meta(description="Requests for pages are limited for each user."), Affected.REQUESTS
    ] = False
    throttle_authenticated_web_period_in_seconds: Annotated[
        _Positive, Meta(description="Length of the period in seconds.")
    ] = 3600
    throttle_authenticated_web_requests_per_period: Annotated[
        _Positive, Meta(description="Largest number in a period.")
    ] = 7200
    throttle_protected_paths_enabled: Annotated[
        bool,
        Meta(description="POST requests to `protected_paths` are limited for each user or address."),
        Affected.REQUESTS,
    ] = False
    throttle_protected_paths_period_in_seconds: Annotated[
        _Positive, Meta(description="Length of the period in seconds.")
    ] = 60
    throttle_protected_paths_requests_per_period: Annotated[
        _Positive, Meta(description="Largest number in a period.")
    ] = 10
    throttle_unauthenticated_api_enabled: Annotated[
        bool, Meta(description="API calls without a user are limited for each address."), Affected.SIGNED_OUT
    ] = False
    throttle_unauthenticated_api_period_in_seconds: Annotated[
        _Positive, Meta(description="Length of the period in seconds."), Affected.SIGNED_OUT
    ] = 3600
    throttle_unauthenticated_api_requests_per_period: Annotated[
        _Positive, Meta(description="Largest number in a period."), Affected.SIGNED_OUT
    ] = 3600
    throttle_unauthenticated_files_api_enabled: Annotated[
        bool,
        Meta(description="API calls for files of repositories without a user are limited for each address."),
        Affected.SIGNED_OUT,
    ] = False
    throttle_unauthenticated_files_api_period_in_seconds: Annotated[
        _Positive, Meta(description="Length of the period in seconds."), Affected.SIGNED_OUT
    ] = 15
    throttle_unauthenticated_files_api_requests_per_period: Annotated[
        _Positive, Meta(description="Largest number in a period."), Affected.SIGNED_OUT
    ] = 125
    throttle_unauthenticated_git_http_enabled: Annotated[
        bool,
        Meta(description="Git requests over HTTP without a user are limited for each address."),
        Affected.SIGNED_OUT,
    ] = False
    throttle_unauthenticated_git_http_period_in_seconds: Annotated[
        _Positive, Meta(description="Length of the period in seconds."), Affected.SIGNED_OUT
    ] = 3600
    throttle_unauthenticated_git_http_requests_per_period: Annotated[
        _Positive, Meta(description="Largest number in a period."), Affected.SIGNED_OUT
    ] = 3600
    throttle_unauthenticated_packages_api_enabled: Annotated[
        bool,
        Meta(description="API calls for packages without a user are limited for each address."),
        Affected.SIGNED_OUT,
    ] = False
    throttle_unauthenticated_packages_api_period_in_seconds: Annotated[
        _Positive, Meta(description="Length of the period in seconds."), Affected.SIGNED_OUT
    ] = 15
    throttle_unauthenticated_packages_api_requests_per_period: Annotated[
        _Positive, Meta(description="Largest number in a period."), Affected.SIGNED_OUT
    ] = 800
    throttle_unauthenticated_web_enabled: Annotated[
        bool, Meta(description="Requests for pages without a user are limited for each address."), Affected.SIGNED_OUT
    ] = False
    throttle_unauthenticated_web_period_in_seconds: Annotated[
        _Positive, Meta(description="Length of the period in seconds."), Affected.SIGNED_OUT
    ] = 3600
    throttle_unauthenticated_web_requests_per_period: Annotated[
        _Positive, Meta(description="Largest number in a period."), Affected.SIGNED_OUT
    ] = 3600
