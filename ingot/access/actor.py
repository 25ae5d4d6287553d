"""The caller, as every door knows it once authentication has ended."""

from typing import Literal

import msgspec

Via = Literal["nobody", "session", "private", "personal", "impersonation", "oauth"]


class Actor(msgspec.Struct, frozen=True):
    """A user who proved who they are, or nobody; built once, never changed."""

    user_id: int = 0
    username: str = ""
    name: str = ""
    admin: bool = False
    external: bool = False
    via: Via = "nobody"
    scopes: frozenset[str] | None = None
    """What the credential reaches; nothing limits a session or a private token."""
    token_id: int = 0
    sudo_by: int = 0
    """The administrator who acts as this user, if any."""

    @property
    def known(self) -> bool:
        """Whether there is a user at all."""
        return self.user_id != 0

    def reaches(self, scope: str) -> bool:
        """Whether the credential itself allows ``scope``."""
        return self.scopes is None or scope in self.scopes


# Like people from outside, nobody finds only what is public; pages ask the lists for them too.
NOBODY = Actor(external=True)
