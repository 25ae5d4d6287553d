"""The caller, as every door knows it once authentication has ended."""

from typing import Literal

import msgspec

AuthMethod = Literal["nobody", "session", "private", "personal", "impersonation", "oauth"]


class Actor(msgspec.Struct, frozen=True):
    """A user who proved who they are, or nobody; built once, never changed."""

    user_id: int = 0
    username: str = ""
    name: str = ""
    admin: bool = False
    external: bool = False
    via: AuthMethod = "nobody"
    scopes: frozenset[str] | None = None
    """What the credential reaches; nothing limits a session or a private token."""
    token_id: int = 0
    sudo_by: int = 0
    """The administrator who acts as this user, if any."""

    @property
    def known(self) -> bool:
        """Whether there is a user at all."""
        return self.user_id != 0

    def has_scope(self, scope: str) -> bool:
        """Whether the credential itself allows ``scope``."""
        return self.scopes is None or scope in self.scopes


# Like people from outside, nobody finds only what is public; pages ask the lists for them too.
ANONYMOUS = Actor(external=True)
