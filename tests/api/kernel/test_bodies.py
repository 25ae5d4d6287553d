"""Invalid request bodies: too large, too deep, malformed or mislabelled ones get 4xx with bounded work."""

import gzip
import json
from typing import Any

import pytest

from ingot.core.api.routes import BODY_LIMIT
from tests.client import Api, Make

JSON = {"Content-Type": "application/json"}
GZIP = {**JSON, "Content-Encoding": "gzip"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
MULTIPART = {"Content-Type": "multipart/form-data; boundary=x"}
EMPTY_PART = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'
EMPTY_FILE = b'--x\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n\r\n'


def test_a_gzipped_body_is_decompressed(api: Api, make: Make) -> None:
    user = make.user()
    sent = gzip.compress(json.dumps({"message": "packed"}).encode())

    answer = api.request("PUT", "/user/status", user, content=sent, headers=GZIP)

    assert (answer.status_code, answer.json()["message"]) == (200, "packed")


MALFORMED: dict[str, tuple[bytes, dict[str, str], int]] = {
    "a gzip bomb": (gzip.compress(b"0" * (5 * BODY_LIMIT), 1), GZIP, 413),
    "a gzip bomb of spaces around JSON": (gzip.compress(b" " * (5 * BODY_LIMIT) + b"{}", 1), GZIP, 413),
    "more than the limit": (b" " * (BODY_LIMIT + 1), JSON, 413),
    "not gzip": (b"nonsense", GZIP, 400),
    "half a gzip": (gzip.compress(b'{"message": "' + b"x" * 90 + b'"}')[:-20], GZIP, 400),
    "an unknown coding": (b"{}", {**JSON, "Content-Encoding": "br"}, 415),
    "two codings": (b"{}", {**JSON, "Content-Encoding": "gzip, gzip"}, 415),
    "an unknown type": (b"<a/>", {"Content-Type": "application/xml"}, 415),
    "broken JSON": (b'{"message": ', JSON, 400),
    "JSON with a tail": (b"{} {}", JSON, 400),
    "a JSON list": (b"[]", JSON, 400),
    "a JSON text": (b'"message"', JSON, 400),
    "deep JSON": (b'{"message":' + b"[" * 100_000 + b"]" * 100_000 + b"}", JSON, 400),
    "deep JSON objects": (b'{"message":' * 10_000 + b"1" + b"}" * 10_000, JSON, 400),
    "JSON with bad UTF-8": (b'{"message": "\xff\xfe"}', JSON, 400),
    "JSON with half a surrogate": (b'{"message": "\\ud800"}', JSON, 400),
    "JSON in UTF-16": ('{"message": "x"}'.encode("utf-16"), JSON, 400),
    "JSON with a NUL": (b'{"message": "a\\u0000b"}', JSON, 400),
    "JSON that is not a number": (b'{"message": NaN}', JSON, 400),
    "a number of 5,000 digits": (b'{"message": ' + b"9" * 5000 + b"}", JSON, 400),
    "a form with bad UTF-8": (b"message=%ff", FORM, 400),
    "a form with a NUL": (b"message=a%00b", FORM, 400),
    "a form of 100,000 fields": (b"&".join(b"a=1" for _ in range(100_000)), FORM, 400),
    "a form nested too deep": (b"a" + b"[b]" * 1000 + b"=1", FORM, 400),
    "100,000 empty parts": (EMPTY_PART * 100_000 + b"--x--\r\n", MULTIPART, 400),
    "100,000 empty files": (EMPTY_FILE * 100_000 + b"--x--\r\n", MULTIPART, 400),
    "100,000 parts without a head": (b"--x\r\n\r\n\r\n" * 100_000 + b"--x--\r\n", MULTIPART, 400),
    "a part with a head of 1 MB": (b"--x\r\nA: " + b"a" * 2**20 + b"\r\n\r\n\r\n--x--\r\n", MULTIPART, 400),
    "multipart without a boundary": (EMPTY_PART, {"Content-Type": "multipart/form-data"}, 400),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_an_unreadable_body_is_rejected_and_changes_nothing(api: Api, make: Make, what: str) -> None:
    user = make.user()
    content, headers, status = MALFORMED[what]

    refused = api.request("PUT", "/user/status", user, content=content, headers=headers)

    assert refused.status_code == status, refused.text
    assert "message" in refused.json()
    assert api.get("/user/status", user).json()["message"] == ""
    # No token can be read from it, so the caller is anonymous and gets 401.
    assert api.request("PUT", "/user/status", content=content, headers=headers).status_code == 401


def test_a_body_of_a_million_fields_is_read_once_and_ignored(api: Api, make: Make) -> None:
    """JSON with many unknown keys within the byte limit."""
    content = b"{" + b",".join(b'"%d":0' % number for number in range(500_000)) + b"}"

    answer = api.request("PUT", "/user/status", make.user(), content=content, headers=JSON)

    assert answer.status_code == 200


def test_a_chunked_body_is_limited_too(api: Api, make: Make) -> None:
    def chunks(size: int) -> Any:
        yield b'{"message": "chunked", "ignored": "'
        for _ in range(size // 65536):
            yield b"x" * 65536
        yield b'"}'

    user = make.user()
    assert api.request("PUT", "/user/status", user, content=chunks(2**17), headers=JSON).status_code == 200
    assert api.request("PUT", "/user/status", user, content=chunks(BODY_LIMIT * 2), headers=JSON).status_code == 413


@pytest.mark.parametrize("content", [b"", b"null", b"{}", b" {} "])
def test_an_empty_body_has_no_parameters(api: Api, make: Make, content: bytes) -> None:
    assert api.request("PUT", "/user/status", make.user(), content=content, headers=JSON).status_code == 200


def test_bodies_of_reads_are_not_read(api: Api, make: Make) -> None:
    answer = api.request("GET", "/user", make.user(), content=b"{" * 100_000, headers=JSON)

    assert answer.status_code == 200
