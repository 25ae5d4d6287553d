"""Errors of CI configuration."""


class ConfigError(Exception):
    """Invalid configuration; ``messages`` are shown to the author of the file."""

    def __init__(self, *messages: str) -> None:
        super().__init__("; ".join(messages))
        self.messages = messages
