"""Configuration of changelogs, a YAML file in the repository."""

import stat
from typing import Any

import msgspec

from ingot.core.errors import Invalid
from ingot.git.core.repository import Repository
from ingot.git.trees.blobs import read_blob
from ingot.git.trees.entries import entry_or_none
from ingot.repositories.changelogs.versions import TAG_REGEX

MAX_BYTES = 64 * 1024
DEFAULT_TEMPLATE = """\
{% if categories %}
{% each categories %}
### {{ title }} ({% if single_change %}1 change{% else %}{{ count }} changes{% end %})

{% each entries %}
- [{{ title }}]({{ commit.reference }})\\
{% if author.reference %} by {{ author.reference }}{% end %}\\
{% if merge_request %} ([merge request]({{ merge_request.reference }})){% end %}

{% end %}

{% end %}
{% else %}
No changes.
{% end %}
"""


class ChangelogConfig(msgspec.Struct, frozen=True):
    """Configuration; unknown fields are ignored."""

    date_format: str = "%Y-%m-%d"
    template: str = DEFAULT_TEMPLATE
    categories: dict[str, str] = {}
    tag_regex: str = TAG_REGEX


def read_text_or_none(repository: Repository, commit: str, path: str, max_bytes: int) -> str | None:
    """Return the text of a file; raise Invalid if it is too large or not UTF-8."""
    entry = entry_or_none(repository, commit, path.encode())
    if entry is None or not stat.S_ISREG(entry.mode):
        return None
    blob = read_blob(repository, entry.oid)
    if blob.body is None or blob.size > max_bytes:
        raise Invalid(f"The file {path} is too large")
    try:
        return blob.body.decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"The file {path} is not a text") from error


def read_config(repository: Repository, commit: str, path: str) -> ChangelogConfig:
    """Return the configuration at a commit, or the default one; raise Invalid if it is not valid."""
    text = read_text_or_none(repository, commit, path, MAX_BYTES)
    if text is None:
        return ChangelogConfig()
    import yaml  # Few processes write changelogs.

    try:
        document: Any = yaml.safe_load(text)
        return msgspec.convert(document or {}, ChangelogConfig)
    except (yaml.YAMLError, msgspec.ValidationError, RecursionError, ValueError) as error:
        raise Invalid(f"The changelog configuration {path} is not valid") from error
