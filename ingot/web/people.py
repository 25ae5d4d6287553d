"""People as elements of pages."""

from typing import Protocol

from markupsafe import Markup, escape

from ingot.web.avatars import AvatarOwner, avatar_element, avatar_image
from ingot.web.display_zone import translate_label
from ingot.web.page_routes import Visit


class ProfileOwner(AvatarOwner, Protocol):
    """User as the API shows them."""

    @property
    def username(self) -> str:
        """Return the name in the address of the profile."""


def person_element(person: ProfileOwner | None) -> Markup:
    """Return the avatar and the name of a user, as a link to their profile; None stands for a deleted user."""
    if not person:
        return Markup(f'<span class="hint">{escape(translate_label("Deleted user"))}</span>')  # noqa: S704 - The text is escaped.
    avatar, name = avatar_element(person, 20), escape(person.name)
    # Only users who are a bot have the attribute in references.
    badge = (
        f' <span class="badge">{escape(translate_label("bot"))}</span>' if getattr(person, "bot", None) is True else ""
    )
    return Markup(f'<a class="person" href="/{escape(person.username)}">{avatar} {name}</a>{badge}')  # noqa: S704 - All values are escaped.


def own_avatar(visit: Visit) -> Markup:
    """Return the avatar of the signed-in user, whose record has no URL."""
    user = visit.viewer.signed_in
    url = f"/uploads/-/system/user/avatar/{user.id}/{user.avatar_file}" if user.avatar_id else ""
    return avatar_image(user.name, url, 24)
