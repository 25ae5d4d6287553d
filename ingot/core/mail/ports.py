"""Port to the texts that administrators add to all mails."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ingot.core.db.connection import Connection


class MailFrame(NamedTuple):
    """Texts above and below the text of a mail."""

    header: str = ""
    footer: str = ""


@dataclass(frozen=True, slots=True)
class MailFrames:
    """Port to the instance settings."""

    current: Callable[[Connection], MailFrame]
