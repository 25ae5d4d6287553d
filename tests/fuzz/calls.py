"""Calls of endpoints, whose paths name objects that earlier responses contained."""

import random
import re
from collections import defaultdict, deque
from typing import Any, NamedTuple

from tests.fuzz.numbers import NumberPlace, number_places, with_number
from tests.fuzz.values import ValueGenerator

_PARAMETER = re.compile(r"\{(\w+)\}")
_IDENTIFIERS = ("id", "iid", "name", "key", "slug", "path", "username", "sha", "tag_name", "file_path")
_GUESSES = ("1", "2", "master", "README.md", "x%2Fy", "0", "é")
_MAX_OBJECTS = 200
_WEIGHTS = {"get": 10, "post": 8, "put": 6, "patch": 6, "delete": 1, "head": 2}
# Writes that would revoke the caller's token or change its user, and settings that make most later calls fail.
_EXCLUDED = re.compile(
    r"/(personal_access_tokens|users/(1|root)(/|$)|user(/personal_access_tokens|$)|application/settings)"
)


class FuzzCall(NamedTuple):
    """A call to be sent."""

    method: str
    template: str
    path: str
    query: dict[str, Any]
    body: dict[str, Any] | None


class CallGenerator:
    """Random calls of a document; ``learn`` adds the objects of responses to those that later calls name."""

    def __init__(self, document: dict[str, Any], chance: random.Random) -> None:
        self._chance = chance
        self._values = ValueGenerator(chance, document["components"]["schemas"], self._id_for)
        self._objects: dict[str, deque[tuple[str, dict[str, Any]]]] = defaultdict(lambda: deque(maxlen=_MAX_OBJECTS))
        self._operations = [
            (method, path, operation)
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
        ]
        self._weights = [_WEIGHTS.get(method, 1) for method, _, _ in self._operations]
        self._by_name = {(method, path): operation for method, path, operation in self._operations}
        self._number_places = list(number_places(document))
        chance.shuffle(self._number_places)

    def next(self) -> FuzzCall:
        """Return a random call; while some remain, every second one has a number that no row can have."""
        while True:
            has_number = self._number_places and self._chance.random() < 0.5
            call = self._call_with_number(self._number_places.pop()) if has_number else self._random_call()
            if call.method == "GET" or not _EXCLUDED.match(call.path):
                return call

    def _random_call(self) -> FuzzCall:
        return self._call(*self._chance.choices(self._operations, self._weights)[0])

    def _call_with_number(self, place: NumberPlace) -> FuzzCall:
        call = self._call(place.method, place.template, self._by_name[place.method, place.template])
        if place.source == "path":
            names, values = place.template.split("/"), call.path.split("/")
            values[names.index(f"{{{place.keys[0]}}}")] = str(place.number)
            return call._replace(path="/".join(values))
        if place.source == "query":
            return call._replace(query={**call.query, place.keys[0]: place.number})
        return call._replace(body=with_number(call.body or {}, place.keys, place.number))

    def _call(self, method: str, template: str, operation: dict[str, Any]) -> FuzzCall:
        query = {
            each["name"]: self._values.of(each["name"], each.get("schema", {}))
            for each in operation.get("parameters", ())
            if each["in"] == "query" and (each.get("required") or self._chance.random() < 0.2)
        }
        content = operation.get("requestBody", {}).get("content", {})
        body = self._values.fields(content["application/json"]["schema"]) if "application/json" in content else None
        return FuzzCall(method.upper(), template, self._fill(template), query, body)

    def learn(self, call: FuzzCall, answer: Any) -> None:
        """Remember the objects of a response."""
        for each in answer if isinstance(answer, list) else [answer]:
            if isinstance(each, dict):
                self._objects[call.template].append((call.path, each))

    def _fill(self, template: str) -> str:
        """Replace the parameters of a path from the last to the first by objects found in the same place."""
        found = list(_PARAMETER.finditer(template))
        if not found:
            return template
        last = found[-1]
        collection = template[: last.start()].rstrip("/")
        rest = template[last.end() :]
        known = self._objects.get(collection)
        if known and self._chance.random() < 0.97:
            parent, item = self._chance.choice(known)
            return f"{parent}/{_identifier(last[1], item)}{rest}"
        return f"{self._fill(collection)}/{self._chance.choice(_GUESSES)}{rest}"

    def _id_for(self, name: str) -> int:
        collection = {
            "user_id": "/users",
            "assignee_id": "/users",
            "assignee_ids": "/users",
            "author_id": "/users",
            "group_id": "/groups",
            "namespace_id": "/groups",
            "project_id": "/projects",
            "target_project_id": "/projects",
            "access_level": "",
            "group_access": "",
        }.get(name)
        if collection == "":
            return self._chance.choice((10, 20, 30, 40, 50))
        known = self._objects.get(collection or "")
        if known:
            return int(self._chance.choice(known)[1].get("id", 1))
        return self._chance.choice((1, 1, 2, 3, 20))


def _identifier(parameter: str, item: dict[str, Any]) -> Any:
    names = ("iid", *_IDENTIFIERS) if parameter.endswith("iid") else (parameter, *_IDENTIFIERS)
    value = next((item[name] for name in names if item.get(name) not in (None, "")), 1)
    return str(value).replace("%", "%25").replace("/", "%2F").replace("?", "%3F").replace("#", "%23")
