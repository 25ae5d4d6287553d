"""Reproducible tokens and ids: with ``--deterministic``, ``secrets`` and ``random`` draw from seeded generators."""

import random
import secrets

from ingot.core.offload import allow_long_work_in_transactions

_SEED = 20200101


class StableSecrets:
    """Generator that replaces the source of ``secrets`` for the whole process; only for servers of tests.

    No other server can get it: it lasts as long as the process, and ``ingot serve`` installs it only with
    ``--testing``, which serves a new data directory on a loopback address and removes the directory at exit.
    """

    def __init__(self) -> None:
        self._generator = random.Random(_SEED)  # noqa: S311 - Its purpose is to be predictable.
        self._start = self._generator.getstate()

    def install(self) -> None:
        """Use this generator for everything that calls ``secrets``."""
        allow_long_work_in_transactions()
        secrets.token_bytes = self._token_bytes
        secrets.choice = self._generator.choice
        secrets.randbelow = self._number_below
        random.seed(_SEED)

    def mark_start(self) -> None:
        """Let ``restart`` return to this position of the sequence."""
        self._start = self._generator.getstate()

    def restart(self) -> None:
        """Return to the marked position of the sequence."""
        self._generator.setstate(self._start)
        random.seed(_SEED)

    def _number_below(self, exclusive_upper_bound: int) -> int:
        return self._generator.randrange(exclusive_upper_bound)

    def _token_bytes(self, nbytes: int | None = None) -> bytes:
        return self._generator.randbytes(32 if nbytes is None else nbytes)
