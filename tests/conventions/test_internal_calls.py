"""Pages call endpoints that exist, at a path that exists, with parameters that the endpoint takes."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from ingot.core.access.rules import anyone
from ingot.core.api.internal_client import EndpointIndex, Target
from ingot.core.api.route_table import imported_table
from ingot.core.api.routes import Call, Endpoint, Routes
from ingot.server.registry import all_endpoints

WEB = Path(__file__).parents[2] / "ingot" / "web"
METHODS = ("ask", "find", "may")
PAGING = {"page", "per_page"}
# Path parameters added by the receiver of a call.
ADDED = ({"id"}, {"id", "issue_iid"}, {"id", "merge_request_iid"})


class InternalCall(NamedTuple):
    """A call of an endpoint in the source of a page."""

    where: str
    receiver: str
    endpoints: list[Endpoint]
    node: ast.Call


def internal_calls() -> Iterator[InternalCall]:
    """Yield the calls whose endpoint is named by its module, such as ``visit.ask(issues_api.get_issue, …)``."""
    served: dict[Any, list[Endpoint]] = {}
    for endpoint in all_endpoints():
        served.setdefault(endpoint.handler, []).append(endpoint)
    for file in sorted(WEB.rglob("*.py")):
        name = ".".join(file.relative_to(WEB.parents[1]).with_suffix("").parts)
        for node in ast.walk(ast.parse(file.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS):
                continue
            handler = ast.unparse(node.args[0]) if node.args else ""
            if "client" in ast.unparse(node.func.value):
                continue  # The client itself takes the path as a mapping.
            if re.fullmatch(r"\w+_api(\.\w+)+", handler):
                first, *rest = handler.split(".")
                value = getattr(importlib.import_module(name), first)
                for part in rest:
                    value = getattr(value, part)
                yield InternalCall(
                    f"{file.name}:{node.lineno}", ast.unparse(node.func.value), served.get(value, []), node
                )


CALLS = list(internal_calls())


def parameters(endpoint: Endpoint) -> set[str]:
    """Return the names of the parameters in an endpoint's path."""
    return set(re.findall(r":(\w+)", endpoint.path))


def test_pages_call_endpoints() -> None:
    assert len(CALLS) > 200
    assert [call.where for call in CALLS if not call.endpoints] == []


def test_pages_pass_the_parameters_of_the_path() -> None:
    wrong = []
    for call in CALLS:
        given = {keyword.arg for keyword in call.node.keywords}
        if None in given:
            continue  # The contents of ``**named`` are checked when the page is tested.
        own = call.receiver.endswith("visit")
        fits = [given] if own else [given | added for added in ADDED]
        if not any(parameters(endpoint) in fits for endpoint in call.endpoints):
            wrong.append(call.where)
    assert wrong == []


def test_pages_send_accepted_parameters() -> None:
    wrong = []
    for call in CALLS:
        sent = call.node.args[1] if len(call.node.args) > 1 else None
        if not isinstance(sent, ast.Dict):
            continue
        names = {str(key.value) for key in sent.keys if isinstance(key, ast.Constant)}
        taken = set(PAGING)
        for endpoint in call.endpoints:
            taken |= (
                {each.encode_name for each in msgspec.structs.fields(endpoint.params)} if endpoint.params else set()
            )
        wrong += [f"{call.where} {name}" for name in sorted(names - taken)]
    assert wrong == []


def test_an_ambiguous_or_unknown_path_is_rejected() -> None:
    def serve(call: Call) -> None:
        """Do nothing."""

    routes = Routes("things")
    for path in ("/projects/:id/things", "/groups/:id/things", "/things/:key"):
        routes.get(path, may=anyone, returns=None)(serve)
    index = EndpointIndex(imported_table(routes.endpoints))
    assert index.find(serve, Target({"id": "1"}, "groups")).path == "/groups/:id/things"
    assert index.find(serve, Target({"key": "a"})).path == "/things/:key"
    for target in (Target({"id": "1"}), Target({"other": "1"}), Target({"id": "1"}, "things")):
        with pytest.raises(LookupError):
            index.find(serve, target)
