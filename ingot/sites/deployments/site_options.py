"""Options of the site that a job publishes, with the values of variables."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ingot.ci.config.durations import parse_duration
from ingot.ci.config.plan import SiteSpec, is_site_folder
from ingot.ci.config.variables import expand_text
from ingot.core.errors import Invalid

_UNUSABLE = re.compile(r"[^a-z0-9.]")
MAX_PREFIX_LENGTH = 63


class SiteOptions(NamedTuple):
    """Folder, path prefix and lifetime of a deployment."""

    root_directory: str
    path_prefix: str
    expire_in: int | None


def site_options(spec: SiteSpec, variables: Mapping[str, str], default_expiry: int) -> SiteOptions:
    """Return the options of a site; parallel deployments expire by default. Raise Invalid for unusable ones."""
    root = expand_text(spec.publish, variables)
    if not is_site_folder(root):
        raise Invalid("pages:publish must be a folder of the artifacts")
    root = root.removeprefix("./").strip("/")
    prefix = path_prefix_of(expand_text(spec.path_prefix, variables))
    return SiteOptions(
        root, prefix, _expiry(expand_text(spec.expire_in or "", variables), default_expiry if prefix else None)
    )


def path_prefix_of(text: str) -> str:
    """Return a text as a path prefix: lowercase, other characters as dashes, at most 63 bytes."""
    return _UNUSABLE.sub("-", text.lower())[:MAX_PREFIX_LENGTH].strip("-.")


def _expiry(text: str, default: int | None) -> int | None:
    if not text.strip():
        return default or None
    if text.strip().lower() == "never":
        return None
    seconds = parse_duration(text)
    if not seconds:
        raise Invalid("pages:expire_in is not a duration")
    return seconds
