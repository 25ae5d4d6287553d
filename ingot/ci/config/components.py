"""Addresses of components: reusable configurations in the folder ``templates/`` of projects on this server."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from ingot.ci.config.errors import ConfigError

LATEST = "~latest"
_PARTIAL_VERSION = re.compile(r"v?(\d{1,9})(?:\.(\d{1,9}))?")
_RELEASE = re.compile(r"v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})")


class ComponentAddress(NamedTuple):
    """Parts of an address such as ``git.example.com/tools/deploy/container@1.2``."""

    host: str
    project: str
    name: str
    version: str

    @property
    def files(self) -> tuple[str, str]:
        """Return the paths at which the component's file may be."""
        return f"templates/{self.name}.yml", f"templates/{self.name}/template.yml"


def parse_component_address(text: str) -> ComponentAddress:
    """Split an address; raise ConfigError if a part is missing."""
    path, _, version = text.rpartition("@")
    host, _, rest = path.partition("/")
    project, _, name = rest.rpartition("/")
    if not (host and "/" in project and name and version):
        raise ConfigError(f"Component `{text}` should have the form `HOST/GROUP/PROJECT/NAME@VERSION`!")
    return ComponentAddress(host, project, name, version)


def version_range(version: str) -> tuple[int, ...] | None:
    """Return the numbers that a release must begin with for ``~latest``, ``1`` or ``1.2``; None for other versions."""
    if version == LATEST:
        return ()
    partial = _PARTIAL_VERSION.fullmatch(version)
    return None if partial is None else tuple(int(part) for part in partial.groups() if part is not None)


def matching_release(version: str, tags: Iterable[str]) -> str | None:
    """Return the newest tag for ``~latest``, ``1`` or ``1.2``; None for other versions and without such a tag.

    Only tags that are semantic versions without a suffix count.
    """
    wanted = version_range(version)
    if wanted is None:
        return None
    releases = (
        (tuple(map(int, match.groups())), tag) for tag in tags if (match := _RELEASE.fullmatch(tag)) is not None
    )
    matching = [(numbers, tag) for numbers, tag in releases if numbers[: len(wanted)] == wanted]
    return max(matching)[1] if matching else None
