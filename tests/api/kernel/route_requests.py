"""Requests to every declared route."""

import re
from typing import Any

import httpx

from ingot.server.registry import all_endpoints
from tests.client import Api, User

# An id without a row, so that allowed calls change nothing.
NO_ROW = "999999999"


def declared_routes() -> list[str]:
    """Return all routes, named as in the table."""
    return sorted(f"{endpoint.method} {endpoint.path}" for endpoint in all_endpoints())


def runner_routes() -> list[str]:
    """Return the routes of runners and applications, which ignore the credentials of users."""
    endpoints = [endpoint for endpoint in all_endpoints() if endpoint.runner_call or endpoint.header_params]
    return [f"{endpoint.method} {endpoint.path}" for endpoint in endpoints]


def request_route(api: Api, route: str, caller: User | None, value: str = NO_ROW, **options: Any) -> httpx.Response:
    """Call a route with the same value for each parameter of its path."""
    method, path = route.split(" ")
    answer = api.request(method, re.sub(r":\w+", value, path), caller, **options)
    # Runners understand this status as an answer.
    assert answer.status_code < 500 or answer.status_code == 501, f"{route} {value}: {answer.text}"
    return answer
