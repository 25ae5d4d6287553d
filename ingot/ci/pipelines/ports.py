"""Facts about the instance that pipelines need and that ``server/ports/ci.py`` provides."""

from dataclasses import dataclass
from pathlib import Path

from ingot.core.outgoing.guard import SsrfGuard


@dataclass(frozen=True, slots=True)
class CiEnvironment:
    """Address, version and limits of the instance, the guard of requests to other servers, and the data directory."""

    base_url: str
    version: str
    guard: SsrfGuard
    data: Path
    max_needs: int
