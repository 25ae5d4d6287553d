"""Concurrent calls: each goes to another process of the instance, and all start at once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, NamedTuple

import httpx

from tests.client import User


class ConcurrentCall(NamedTuple):
    """Call to make."""

    method: str
    path: str
    caller: User
    params: dict[str, Any] = {}  # noqa: RUF012 - Never changed: a tuple's default.


SERVERS = 3
_MAX_TRIES = 5


class ConcurrentServers:
    """Several servers of one instance; a single server serializes its writes and so has no races."""

    def __init__(self, urls: list[str]) -> None:
        self._urls = urls
        self._clients = [httpx.Client(base_url=f"{url}/api/v4", timeout=60) for url in urls]

    def race(self, *calls: ConcurrentCall) -> list[int]:
        """Make all calls at once and return their statuses, none of which may be a 5xx.

        As a client would, repeat a call that gets 503 because the machine is busy: nothing was written then.
        """
        start = Barrier(len(calls))

        def make(number: int, call: ConcurrentCall) -> int:
            client = self._clients[number % len(self._clients)]
            start.wait(30)
            token = {"PRIVATE-TOKEN": call.caller.token}
            for _ in range(_MAX_TRIES):
                answer = client.request(call.method, call.path, headers=token, json=call.params)
                if answer.status_code != 503:
                    break
            assert answer.status_code < 500, answer.text
            return answer.status_code

        with ThreadPoolExecutor(len(calls)) as pool:
            return list(pool.map(make, range(len(calls)), calls))

    def call(self, server: int, method: str, path: str, caller: User, **params: Any) -> httpx.Response:
        """Make one call on the server with this number; it wraps around."""
        client = self._clients[server % len(self._clients)]
        return client.request(method, path, headers={"PRIVATE-TOKEN": caller.token}, json=params)

    def close(self) -> None:
        """Close the connections."""
        for client in self._clients:
            client.close()
