"""Avatars as elements of pages."""

from typing import Protocol

from markupsafe import Markup, escape

from ingot.web.formats import hue, initials


class AvatarOwner(Protocol):
    """User, group or project."""

    @property
    def name(self) -> str:
        """Return the name, whose initials stand for a missing image."""

    @property
    def avatar_url(self) -> str | None:
        """Return the URL of the image."""


def avatar_element(owner: AvatarOwner, size: int = 24, kind: str = "") -> Markup:
    """Return the avatar of a user, group or project; ``kind`` is a further class.

    A template macro takes three times as long, and lists have one in each row.
    """
    return avatar_image(owner.name, owner.avatar_url, size, kind)


def avatar_image(name: str, url: str | None, size: int, kind: str = "") -> Markup:
    """Return an image or, without a URL, the initials of a name."""
    further = f" {escape(kind)}" if kind else ""
    if url:
        source = f'src="{escape(url)}" alt="" width="{size}" height="{size}" loading="lazy"'
        return Markup(f'<img class="avatar{further}" {source}>')  # noqa: S704 - All values are escaped.
    classes = f"avatar hue-{hue(name)}{further}"
    return Markup(f'<span class="{classes}" data-size="{size}" aria-hidden="true">{escape(initials(name))}</span>')  # noqa: S704 - All values are escaped.
