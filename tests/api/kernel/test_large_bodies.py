"""Large bodies: parsed with bounded work, off the event loop, with limited concurrency."""

import gzip
import random
import socket
import threading
from urllib.parse import urlencode

import httpx
import pytest

from ingot.core.api.request_fields import BadRequest, parse_query
from ingot.core.http import transfer_rate
from tests.client import Api, Make
from tests.conftest import Instance

SPECIAL_CHARACTERS = "\n\r\t =+%&;Aa_é€😀\x00"


def test_large_and_small_forms_are_parsed_alike() -> None:
    """Two parsers, one result."""
    dice = random.Random(1)
    for _ in range(300):
        text = "".join(dice.choice(SPECIAL_CHARACTERS) for _ in range(dice.randrange(80)))
        small = urlencode([("a", text), ("b[c]", text), ("empty", "")]).encode()
        large = small + b"&padding=" + b"x" * 70_000
        assert parse_query(large) == {**parse_query(small), "padding": "x" * 70_000}


@pytest.mark.parametrize("tail", [b"%", b"%4", b"%zz", b"%ff", b"&x=1" * 2000])
def test_a_malformed_large_form_is_rejected(tail: bytes) -> None:
    """None of its fields is used."""
    with pytest.raises(BadRequest):
        parse_query(b"a=" + b"x" * 70_000 + tail)


def test_an_expanding_body_is_answered(api: Api, make: Make) -> None:
    """Attack: ten kilobytes that decode to ten megabytes, from an anonymous caller."""
    body = gzip.compress(b"branch=" + b"%41" * 3_400_000)
    headers = {"content-type": "application/x-www-form-urlencoded", "content-encoding": "gzip"}
    answer = api.request("POST", "/projects/1/repository/branches", content=body, headers=headers)
    assert answer.status_code == 401


@pytest.mark.parametrize("drips", [False, True])
def test_stalled_uploads_are_disconnected(
    instance: Instance, api: Api, make: Make, monkeypatch: pytest.MonkeyPatch, drips: bool
) -> None:
    """Attack: announce a large body, send nothing or a byte at a time, and hold the reserved capacity."""
    monkeypatch.setattr(transfer_rate, "WINDOW_SECONDS", 0.2)
    head = (
        f"POST /api/v4/projects HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: {make.root.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {2**20}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", httpx.URL(instance.url).port), timeout=60) as connection:
        connection.sendall(head.encode())
        done = threading.Event()

        def drip() -> None:
            while drips and not done.wait(0.05):
                try:
                    connection.sendall(b" ")
                except OSError:
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        assert connection.recv(4096).startswith(b"HTTP/1.1 408 ")
        done.set()
        dripping.join()
    assert api.get("/version", make.root).status_code == 200
