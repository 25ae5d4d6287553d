"""Control of a server for tests: everything that its control endpoints do."""

import asyncio
import secrets
from datetime import UTC, datetime
from typing import Any

from ingot.core.cache import REGISTRY
from ingot.core.errors import Invalid
from ingot.core.settings import local_host, url_host
from ingot.server.single_process import SingleProcess
from ingot.server.test_control.clock import ControlledClock
from ingot.server.test_control.faults import FaultPlan
from ingot.server.test_control.gate import RequestGate
from ingot.server.test_control.hook_receiver import HookReceiver
from ingot.server.test_control.in_process_api import InProcessApi
from ingot.server.test_control.randomness import StableSecrets
from ingot.server.test_control.request_log import RequestLog
from ingot.server.test_control.seed_description import SeedDescription
from ingot.server.test_control.seeder import Seeder
from ingot.server.test_control.snapshots import EMPTY, DataSnapshots

_RECEIVERS = "/-/testing/hooks/receive/"


class TestControl:
    """State of the test server besides that of the instance, and the operations on both."""

    def __init__(self, process: SingleProcess, clock: ControlledClock, stable_secrets: StableSecrets | None) -> None:
        settings = process.settings
        self.process = process
        self.gate = RequestGate()
        self.faults = FaultPlan()
        self.requests = RequestLog()
        self.hooks = HookReceiver()
        self._clock = clock
        self._stable_secrets = stable_secrets
        self._snapshots = DataSnapshots(settings.data, settings.data / "snapshots")
        self._snapshots.take(EMPTY)
        # A part of the URL is secret, because deliveries cannot carry the header of the other calls.
        self._receivers = f"{_RECEIVERS}{secrets.token_hex(8)}"
        host = f"{url_host(local_host(settings.host))}:{settings.port}"
        self.receiver_url = f"http://{host}{self._receivers}"
        """Beginning of the URLs of the built-in receiver of webhooks; a name follows."""
        self._api = InProcessApi(process, host, settings.root_token)
        if stable_secrets is not None:
            stable_secrets.mark_start()

    def receiver_of(self, path: str) -> str | None:
        """Return the name in the path of a delivery, or None for other paths."""
        return path.removeprefix(f"{self._receivers}/") if path.startswith(f"{self._receivers}/") else None

    async def reset(self, snapshot: str) -> None:
        """Return to the state of the start or of a snapshot, the state in memory included."""
        async with self.gate.closed(self._end_waits), self.process.halted():
            await asyncio.to_thread(self._snapshots.restore, snapshot)
            for cache in REGISTRY.caches():
                cache.clear()
            self.faults.clear()
            self.requests.restart()
            self.hooks.restart()
            self._clock.reset()
            if self._stable_secrets is not None:
                self._stable_secrets.restart()

    def _end_waits(self) -> None:
        """Let the requests that only wait end at once."""
        self.process.app.end_polls()
        self.faults.end_pauses()

    async def take_snapshot(self, name: str) -> None:
        """Store the current state under a name."""
        async with self.gate.closed(self.process.app.end_polls), self.process.halted():
            await asyncio.to_thread(self._snapshots.take, name)

    async def seed(self, description: SeedDescription) -> dict[str, list[dict[str, Any]]]:
        """Create the described data."""
        async with self.gate.passage():
            return await Seeder(self._api, self.receiver_url).create(description)

    def clock_state(self) -> dict[str, Any]:
        """Return the time of the instance, and whether it is frozen."""
        return {"now": self._clock(), "frozen": self._clock.is_frozen}

    async def change_clock(self, new_time: str | None, advance: float, frozen: bool | None) -> dict[str, Any]:
        """Change the time; jobs are paused meanwhile, so that none sees two times."""
        time = _parsed_time(new_time) if new_time is not None else None

        def change() -> None:
            with self.process.jobs.paused():
                if frozen is True:  # First, or the clock would run on from the new time until it is frozen.
                    self._clock.freeze()
                if time is not None:
                    self._clock.set(time)
                if advance:
                    self._clock.advance(advance)
                if frozen is False:
                    self._clock.resume()

        await asyncio.to_thread(change)  # A running job may call this server.
        return self.clock_state()

    async def run_jobs(self) -> None:
        """Run everything that is due now."""
        await asyncio.to_thread(self.process.jobs.run_due)


def _parsed_time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise Invalid("The time must look like 2030-01-31T12:00:00Z") from error
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
