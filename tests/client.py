"""HTTP client for tests: checks every response against the OpenAPI document."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx
import jsonschema_rs

from ingot.core.db.database import Database
from ingot.server.api_document import api_document
from tests.http_transport import StdlibTransport

TIMEOUT = httpx.Timeout(60).as_dict()
USER_AGENT = "client of the tests"
DOCUMENT = "urn:openapi"


@dataclass(frozen=True)
class User:
    """User with a token."""

    id: int
    username: str
    email: str
    token: str
    password: str = ""

    def with_token(self, token: str) -> "User":
        """Return the same user with another token."""
        return User(self.id, self.username, self.email, token, self.password)


class OpenApiValidator:
    """OpenAPI document against which responses are validated."""

    def __init__(self) -> None:
        self._document = api_document()
        self._operations: dict[tuple[str, int], list[tuple[re.Pattern[str], dict[str, Any]]]] = {}
        # Literal paths come before those with parameters, as in the router.
        for path in sorted(self._document["paths"], key=lambda path: path.count("{")):
            pattern = re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
            for method, operation in self._document["paths"][path].items():
                self._operations.setdefault((method, path.count("/")), []).append((pattern, operation))
        self._registry = jsonschema_rs.Registry([(DOCUMENT, self._document)])
        self._validators: dict[int, jsonschema_rs.Draft202012Validator] = {}

    def check(self, method: str, path: str, answer: httpx.Response) -> None:
        """Fail if status or body of a response does not match the document."""
        operation = self._operation(method, path)
        if answer.status_code in (404, 405) and not operation:
            return
        assert operation, f"{method} {path} is not in the document"
        responses = operation["responses"]
        status = str(answer.status_code)
        described = responses.get(status) or responses.get(f"{status[0]}XX")
        assert described, f"{method} {path} answered {status}, which the document does not know: {answer.text}"
        if "$ref" in described:
            described = self._document["components"]["responses"]["Error"]
        documented = described.get("content", {})
        media_type = answer.headers.get("content-type", "").partition(";")[0]
        if "application/json" in documented and answer.is_success:
            assert media_type in documented, f"{method} {path} answered with {media_type or 'no content type'}"
            assert answer.content or method == "HEAD" or media_type == "text/plain"
        content = documented.get("application/json")
        if content and answer.content and answer.headers.get("content-type", "").startswith("application/json"):
            self._compare(content["schema"], answer.json())

    def _operation(self, method: str, path: str) -> dict[str, Any] | None:
        method = "get" if method == "HEAD" else method.lower()
        path = path.removesuffix("/")
        found = self._operations.get((method, path.count("/")), [])
        return next((operation for pattern, operation in found if pattern.fullmatch(path)), None)

    def _compare(self, schema: dict[str, Any], body: Any) -> None:
        validator = self._validators.get(id(schema))
        if validator is None:
            absolute = json.loads(json.dumps(schema).replace('"$ref": "#', f'"$ref": "{DOCUMENT}#'))
            validator = jsonschema_rs.Draft202012Validator(absolute, registry=self._registry)
            self._validators[id(schema)] = validator
        validator.validate(body)


class Api:
    """Calls below ``/api/v4``; parameters of reads go into the query, all others into a JSON body."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._transport = StdlibTransport(url, timeout=60)
        self._contract = OpenApiValidator()

    def __enter__(self) -> "Api":
        return self

    def __exit__(self, *_: object) -> None:
        self._transport.close()

    def request(self, method: str, path: str, as_user: User | None = None, **options: Any) -> httpx.Response:
        """Send a request and validate the response."""
        headers = {**({"PRIVATE-TOKEN": as_user.token} if as_user else {}), **options.pop("headers", {})}
        answer = self._send(httpx.Request(method, f"{self.url}/api/v4{path}", headers=headers, **options))
        if method != "OPTIONS":
            self._contract.check(method, re.sub("/+", "/", path.split("?")[0]), answer)
        return answer

    def _send(self, request: httpx.Request) -> httpx.Response:
        """Send without cookies and redirects, for less than half of the work."""
        request.headers.setdefault("Accept", "*/*")
        request.headers.setdefault("Accept-Encoding", "gzip")
        request.headers.setdefault("User-Agent", USER_AGENT)
        request.extensions.setdefault("timeout", TIMEOUT)
        answer = self._transport.handle_request(request)
        answer.request = request
        answer.read()
        return answer

    def get(self, path: str, /, as_user: User | None = None, **params: Any) -> httpx.Response:
        """Send a GET request."""
        return self.request("GET", path, as_user, **({"params": params} if params else {}))

    def post(self, path: str, /, as_user: User | None = None, **params: Any) -> httpx.Response:
        """Send a POST request."""
        return self.request("POST", path, as_user, json=params)

    def put(self, path: str, /, as_user: User | None = None, **params: Any) -> httpx.Response:
        """Send a PUT request."""
        return self.request("PUT", path, as_user, json=params)

    def delete(self, path: str, /, as_user: User | None = None, **params: Any) -> httpx.Response:
        """Send a DELETE request."""
        return self.request("DELETE", path, as_user, **({"params": params} if params else {}))


@dataclass
class Make:
    """Factory of users and tokens; names are unique within a test process."""

    api: Api
    root: User
    database: Database
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def name(self, stem: str = "person") -> str:
        """Return an unused name."""
        return f"{stem}-{next(self.numbers)}"

    def user(self, **attributes: Any) -> User:
        """Create a user with a token of full scope."""
        username = attributes.pop("username", None) or self.name()
        email = attributes.pop("email", f"{username}@example.org")
        sent = {"username": username, "email": email, "name": username, **attributes}
        if "password" not in sent:
            sent["force_random_password"] = True
        made = self.api.post("/users", self.root, **sent)
        assert made.status_code == 201, made.text
        user_id = made.json()["id"]
        return User(user_id, username, email, self.token(user_id), sent.get("password", ""))

    def token(self, user_id: int, *scopes: str, **attributes: Any) -> str:
        """Create a personal access token."""
        sent = {"name": "token", "scopes": list(scopes) or ["api"], **attributes}
        made = self.api.post(f"/users/{user_id}/personal_access_tokens", self.root, **sent)
        assert made.status_code == 201, made.text
        token: str = made.json()["token"]
        return token
