"""Settings of rate limits of single routes (rate_limits.py), of outgoing requests and of sizes."""

import re
from ipaddress import ip_network
from typing import Annotated

from msgspec import Meta

from ingot.accounts.instance.throttle_settings import ThrottleSettings
from ingot.core.api.audience import Affected

_Number = Annotated[int, Meta(ge=-1, le=2**53)]
_Limit = Annotated[int, Meta(ge=0, le=2**31 - 1), Affected.REQUESTS]
_Positive = Annotated[int, Meta(ge=1, le=2**31 - 1), Affected.REQUESTS]


class LimitSettings(ThrottleSettings, frozen=True):
    """Limits; docs/attributes.md lists their effects."""

    allow_local_requests_from_system_hooks: Annotated[
        bool,
        Meta(description="System hooks may reach local and private addresses."),
        Affected.SYSTEM_HOOKS,
    ] = False
    allow_local_requests_from_web_hooks_and_services: Annotated[
        bool,
        Meta(description="Webhooks, integrations, mirrors and imports may reach local and private addresses."),
        Affected.OUTGOING_REQUESTS,
    ] = False
    autocomplete_users_limit: Annotated[
        _Limit, Meta(description="Suggestions of users per minute for each user; 0 means no limit.")
    ] = 0
    bulk_import_max_download_file_size: Annotated[
        Annotated[int, Meta(ge=0, le=10_240)],
        Meta(
            description="Largest file, except for those of Git LFS, that an import from another server downloads, in "
            "megabytes; 0 means 10,240, the upper limit."
        ),
        Affected.IMPORTS,
    ] = 1024
    ci_max_includes: Annotated[
        Annotated[int, Meta(ge=0, le=1000)],
        Meta(description="Largest number of files that a CI configuration includes."),
        Affected.PIPELINES,
    ] = 150
    ci_max_total_yaml_size_bytes: Annotated[
        Annotated[int, Meta(ge=1, le=314_572_800)],
        Meta(description="Largest size of all files of a CI configuration together, in bytes."),
        Affected.PIPELINES,
    ] = 314_572_800
    deny_all_requests_except_allowed: Annotated[
        bool,
        Meta(description="Only `outbound_local_requests_whitelist` and the startup setting's networks may be reached."),
        Affected.OUTGOING_REQUESTS,
    ] = False
    diff_max_files: Annotated[
        int,
        Meta(ge=1, le=1000, description="Files of a diff that are shown with their changes; the others are listed."),
        Affected.DIFFS,
    ] = 1000
    diff_max_lines: Annotated[
        int,
        Meta(ge=1, le=50_000, description="Lines of a diff that are shown; files beyond them are listed."),
        Affected.DIFFS,
    ] = 50_000
    diff_max_patch_bytes: Annotated[
        int, Meta(ge=1, le=204_800, description="Largest change of a file that a diff shows, in bytes."), Affected.DIFFS
    ] = 204_800
    dns_rebinding_protection_enabled: Annotated[
        bool,
        Meta(
            description="Outgoing connections go to the address that was checked; otherwise the name is resolved again "
            "after the check."
        ),
        Affected.OUTGOING_REQUESTS,
    ] = True
    generic_packages_max_file_size: Annotated[
        _Number, Meta(description="Largest file of a generic package, in bytes."), Affected.PACKAGES
    ] = 5_368_709_120
    gitlab_shell_operation_limit: Annotated[
        _Limit,
        Meta(
            description="Git commands over SSH per minute for each user or key, command and project; 0 means no limit."
        ),
    ] = 0
    group_api_limit: Annotated[
        _Limit, Meta(description="Reads of one group per minute for a user or address; 0 means no limit.")
    ] = 0
    group_download_export_limit: Annotated[
        _Limit, Meta(description="Downloads of the export of one group per minute for each user; 0 means no limit.")
    ] = 0
    group_export_limit: Annotated[
        _Limit, Meta(description="Exports of groups per minute for each user; 0 means no limit.")
    ] = 0
    group_import_limit: Annotated[
        _Limit, Meta(description="Imports of group archives per minute for each user; 0 means no limit.")
    ] = 0
    group_invited_groups_api_limit: Annotated[
        _Limit,
        Meta(description="Lists of the groups invited to a group per minute for a user or address; 0 means no limit."),
    ] = 0
    group_projects_api_limit: Annotated[
        _Limit,
        Meta(description="Lists of the projects of a group per minute for a user or address; 0 means no limit."),
    ] = 0
    group_shared_groups_api_limit: Annotated[
        _Limit,
        Meta(description="Lists of groups shared with a group per minute for a user or address; 0 means no limit."),
    ] = 0
    groups_api_limit: Annotated[
        _Limit, Meta(description="Lists of groups per minute for a user or address; 0 means no limit.")
    ] = 0
    issues_create_limit: Annotated[
        _Limit, Meta(description="New issues per minute for each user; 0 means no limit.")
    ] = 0
    maven_max_file_size: Annotated[
        _Number, Meta(description="Largest file of a Maven package, in bytes."), Affected.PACKAGES
    ] = 3_221_225_472
    max_artifacts_content_include_size: Annotated[
        Annotated[int, Meta(ge=1, le=5_242_880)],
        Meta(description="Largest file of artifacts that a CI configuration includes, in bytes."),
        Affected.PIPELINES,
    ] = 2_097_152
    max_decompressed_archive_size: Annotated[
        Annotated[int, Meta(ge=0, le=25600)],
        Meta(description="Largest size of an imported archive after unpacking, in megabytes; 0 means 25,600."),
        Affected.IMPORTS,
    ] = 25_600
    max_export_size: Annotated[
        _Limit, Meta(description="Largest archive of an export, in megabytes; 0 means no limit."), Affected.EXPORTS
    ] = 0
    max_import_remote_file_size: Annotated[
        Annotated[int, Meta(ge=0, le=10_240)],
        Meta(
            description="Largest archive that an import downloads, in megabytes; 0 means 10,240, the upper limit.",
        ),
        Affected.IMPORTS,
    ] = 1024
    max_import_size: Annotated[
        _Limit,
        Meta(description="Largest uploaded archive of an import, in megabytes; 0 means 10,240, the upper limit."),
        Affected.IMPORTS,
    ] = 0
    max_terraform_state_size_bytes: Annotated[
        Annotated[int, Meta(ge=0, le=104_857_600)],
        Meta(description="Largest version of a Terraform state, in bytes; 0 means 104,857,600, the upper limit."),
        Affected.PIPELINES,
    ] = 0
    max_yaml_depth: Annotated[
        Annotated[int, Meta(ge=1, le=100)],
        Meta(description="Deepest nesting of values in a CI configuration."),
        Affected.PIPELINES,
    ] = 100
    max_yaml_size_bytes: Annotated[
        Annotated[int, Meta(ge=1, le=2_097_152)],
        Meta(description="Largest file of a CI configuration, in bytes."),
        Affected.PIPELINES,
    ] = 2_097_152
    members_delete_limit: Annotated[
        _Limit,
        Meta(description="Removals of members of one group or project per minute for each user; 0 means no limit."),
    ] = 0
    notes_create_limit: Annotated[
        _Limit, Meta(description="New comments per minute for each user; 0 means no limit.")
    ] = 0
    notes_create_limit_allowlist: Annotated[
        tuple[str, ...],
        Meta(description="Names of users whom `notes_create_limit` does not limit; at most 100."),
        Affected.LISTED_USERS,
    ] = ()
    npm_max_file_size: Annotated[_Number, Meta(description="Largest npm package, in bytes."), Affected.PACKAGES] = (
        524_288_000
    )
    outbound_local_requests_whitelist: Annotated[
        tuple[str, ...],
        Meta(description="Addresses, networks and hosts, also with a port, that requests may reach; at most 1,000."),
        Affected.OUTGOING_REQUESTS,
    ] = ()
    project_api_limit: Annotated[
        _Limit, Meta(description="Reads of one project per minute for a user or address; 0 means no limit.")
    ] = 0
    project_download_export_limit: Annotated[
        _Limit, Meta(description="Downloads of the export of one project per minute for each user; 0 means no limit.")
    ] = 0
    project_export_limit: Annotated[
        _Limit, Meta(description="Exports of projects per minute for each user; 0 means no limit.")
    ] = 0
    project_import_limit: Annotated[
        _Limit, Meta(description="Imports of project archives per minute for each user; 0 means no limit.")
    ] = 0
    project_invited_groups_api_limit: Annotated[
        _Limit,
        Meta(
            description="Lists of the groups invited to a project per minute for a user or address; 0 means no limit."
        ),
    ] = 0
    project_jobs_api_rate_limit: Annotated[
        _Limit,
        Meta(description="Lists of the jobs of a project per minute for a user or address; 0 means no limit."),
    ] = 0
    projects_api_limit: Annotated[
        _Limit, Meta(description="Lists of projects in ten minutes for each user or address; 0 means no limit.")
    ] = 0
    projects_api_rate_limit_unauthenticated: Annotated[
        _Limit,
        Meta(description="Lists of projects in ten minutes for each address without a user; 0 means no limit."),
        Affected.SIGNED_OUT,
    ] = 0
    pypi_max_file_size: Annotated[
        _Number, Meta(description="Largest file of a Python package, in bytes."), Affected.PACKAGES
    ] = 3_221_225_472
    raw_blob_request_limit: Annotated[
        _Limit,
        Meta(description="Requests per minute for each raw file at `/-/raw/`, not by the API; 0 means no limit."),
    ] = 0
    receive_max_input_size: (
        Annotated[
            _Positive,
            Meta(description="Largest push in megabytes; the startup setting `max_push_mb` is the upper limit."),
            Affected.PUSHES,
        ]
        | None
    ) = None
    search_rate_limit: Annotated[_Limit, Meta(description="Searches per minute for each user; 0 means no limit.")] = 0
    search_rate_limit_allowlist: Annotated[
        tuple[str, ...],
        Meta(description="Names of users whom `search_rate_limit` does not limit; at most 100."),
        Affected.LISTED_USERS,
    ] = ()
    search_rate_limit_unauthenticated: Annotated[
        _Limit,
        Meta(description="Searches per minute for each address without a user; 0 means no limit."),
        Affected.SIGNED_OUT,
    ] = 0
    silent_mode_enabled: Annotated[
        bool,
        Meta(
            description="No mail, webhook, integration, mirror or upload of an export leaves the server; pages say so."
        ),
        Affected.EVERYONE,
    ] = False
    snippet_size_limit: Annotated[
        _Positive,
        Meta(
            description="Largest file of a snippet, in bytes, for all users; snippets are rows of the database with a "
            "search index, so that more than 1,048,576 means 1,048,576."
        ),
        Affected.SNIPPETS,
    ] = 1_048_576
    user_contributed_projects_api_limit: Annotated[
        _Limit,
        Meta(description="Lists of projects to which a user contributed, per minute and caller; 0 means no limit."),
    ] = 0
    user_projects_api_limit: Annotated[
        _Limit,
        Meta(description="Lists of the projects of a user per minute for a user or address; 0 means no limit."),
    ] = 0
    user_starred_projects_api_limit: Annotated[
        _Limit,
        Meta(description="Lists of projects that a user has starred, per minute and caller; 0 means no limit."),
    ] = 0
    users_api_limit_followers: Annotated[
        _Limit, Meta(description="Lists of followers per minute for a user or address; 0 means no limit.")
    ] = 0
    users_api_limit_following: Annotated[
        _Limit, Meta(description="Lists of followed users per minute for a user or address; 0 means no limit.")
    ] = 0
    users_api_limit_gpg_key: Annotated[
        _Limit, Meta(description="Reads of a GPG key of a user per minute for a user or address; 0 means no limit.")
    ] = 0
    users_api_limit_gpg_keys: Annotated[
        _Limit,
        Meta(description="Lists of the GPG keys of a user per minute for a user or address; 0 means no limit."),
    ] = 0
    users_api_limit_ssh_key: Annotated[
        _Limit, Meta(description="Reads of an SSH key of a user per minute for a user or address; 0 means no limit.")
    ] = 0
    users_api_limit_ssh_keys: Annotated[
        _Limit,
        Meta(description="Lists of the SSH keys of a user per minute for a user or address; 0 means no limit."),
    ] = 0
    users_api_limit_status: Annotated[
        _Limit, Meta(description="Reads of the status of a user per minute for a user or address; 0 means no limit.")
    ] = 0
    users_get_by_id_limit: Annotated[
        _Limit,
        Meta(description="Reads of a user in ten minutes for each user who is no administrator; 0 means no limit."),
    ] = 0
    users_get_by_id_limit_allowlist: Annotated[
        tuple[str, ...],
        Meta(description="Names of users whom `users_get_by_id_limit` does not limit; at most 100."),
        Affected.LISTED_USERS,
    ] = ()
    wiki_page_max_content_bytes: Annotated[
        _Positive,
        Meta(description="Largest wiki page in bytes; a page has at most 1,000,000 characters whatever the value is."),
        Affected.WIKIS,
    ] = 4_000_000


_MAX_ENTRIES = 100
_ALLOW_LISTS = ("notes_create_limit_allowlist", "search_rate_limit_allowlist", "users_get_by_id_limit_allowlist")
_MAX_HOSTS = 1000
_MIN_PAGE_BYTES = 1024
_HOST = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(:[0-9]{1,5})?")
_PATHS = ("protected_paths", "protected_paths_for_get_request")
SEPARATED_LISTS = (*_ALLOW_LISTS, *_PATHS, "outbound_local_requests_whitelist")
"""Lists whose entries may also be sent as one text."""


def limit_errors(settings: LimitSettings) -> dict[str, list[str]]:
    """Return the reasons why lists of limits are invalid, by setting."""
    errors = {}
    for name in (*_ALLOW_LISTS, *_PATHS):
        if len(getattr(settings, name)) > _MAX_ENTRIES:
            errors[name] = [f"must not have more than {_MAX_ENTRIES} entries"]
    for name in _PATHS:
        if not all(path.startswith("/") for path in getattr(settings, name)):
            errors[name] = ["must begin with a slash"]
    if settings.wiki_page_max_content_bytes < _MIN_PAGE_BYTES:
        errors["wiki_page_max_content_bytes"] = [f"must be at least {_MIN_PAGE_BYTES}"]
    hosts = settings.outbound_local_requests_whitelist
    if len(hosts) > _MAX_HOSTS:
        errors["outbound_local_requests_whitelist"] = [f"must not have more than {_MAX_HOSTS} entries"]
    elif not all(_is_address_or_host(host) for host in hosts):
        errors["outbound_local_requests_whitelist"] = ["must be addresses, networks or host names"]
    return errors


def _is_address_or_host(text: str) -> bool:
    try:
        ip_network(text, strict=False)
    except ValueError:
        return len(text) <= 255 and _HOST.fullmatch(text) is not None
    return True
