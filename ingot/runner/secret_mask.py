"""Masking of secrets in the output of a job."""

import re
from collections.abc import Iterable

_MASK = b"[MASKED]"
_MAX_TOKEN_LENGTH = 255
_TOKEN_CHARACTERS = rb"[0-9A-Za-z_.=-]"


class SecretMask:
    """Filter that replaces secrets, also those that arrive in several pieces."""

    def __init__(self, secrets: Iterable[str], token_prefixes: Iterable[str] = ()) -> None:
        self._token_prefixes = tuple(token_prefixes)
        self._held = b""
        self._mask_values({secret.encode() for secret in secrets if secret})

    def add(self, secrets: Iterable[str]) -> None:
        """Replace further secrets from now on."""
        self._mask_values({*self._secrets, *(secret.encode() for secret in secrets if secret)})

    def _mask_values(self, values: Iterable[bytes]) -> None:
        # The longest first: a secret may contain another one.
        self._secrets = sorted(values, key=len, reverse=True)
        beginnings = [prefix.encode() for prefix in self._token_prefixes if prefix]
        prefixes = [re.escape(beginning) for beginning in beginnings]
        parts = [re.escape(secret) for secret in self._secrets]
        if prefixes:
            parts.append(rb"(?:" + rb"|".join(prefixes) + rb")" + _TOKEN_CHARACTERS + b"{1,%d}" % _MAX_TOKEN_LENGTH)
        self._pattern = re.compile(rb"|".join(parts)) if parts else None
        self._open_token = (
            re.compile(
                rb"(?:" + rb"|".join(prefixes) + rb")" + _TOKEN_CHARACTERS + b"{0,%d}" % _MAX_TOKEN_LENGTH + rb"\Z"
            )
            if prefixes
            else None
        )
        self._beginnings = [*self._secrets, *beginnings]
        self._longest = max((len(secret) for secret in self._beginnings), default=0)
        self._first_bytes = frozenset(secret[0] for secret in self._beginnings)

    def feed(self, data: bytes) -> bytes:
        """Return the output that is certain; hold back an end that may be the beginning of a secret."""
        if self._pattern is None:
            return data
        buffer = self._held + data
        hold = self._hold_position(buffer, 0)
        pieces: list[bytes] = []
        position = 0
        for match in self._pattern.finditer(buffer):
            if match.start() >= hold:
                break
            pieces += (buffer[position : match.start()], _MASK)
            position = match.end()
            hold = max(hold, self._hold_position(buffer, position)) if position > hold else hold
        hold = max(hold, position)
        pieces.append(buffer[position:hold])
        self._held = buffer[hold:]
        return b"".join(pieces)

    def flush(self) -> bytes:
        """Return the rest."""
        rest, self._held = self._held, b""
        return rest if self._pattern is None else self._pattern.sub(_MASK, rest)

    def _hold_position(self, buffer: bytes, start: int) -> int:
        """Return where the first end begins that may continue to a secret."""
        first = max(start, len(buffer) - self._longest + 1)
        candidates = (index for index in range(first, len(buffer)) if buffer[index] in self._first_bytes)
        hold = next((index for index in candidates if self._may_continue(buffer[index:])), len(buffer))
        if self._open_token is not None:
            match = self._open_token.search(buffer, max(start, len(buffer) - _MAX_TOKEN_LENGTH - self._longest))
            if match is not None:
                hold = min(hold, match.start())
        return hold

    def _may_continue(self, end: bytes) -> bool:
        return any(len(secret) > len(end) and secret.startswith(end) for secret in self._beginnings)
