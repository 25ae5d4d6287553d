"""Requests in all forms, errors and limits."""

from typing import Any

import pytest
from graphql import get_introspection_query

from tests.client import Make
from tests.factories import make_project
from tests.graphql.conftest import Graphql

VERSION = "{ metadata { version enterprise kas { enabled } } }"


def test_a_query_is_accepted_in_every_form(graphql: Graphql, make: Make) -> None:
    named = 'query A { echo(text: "a") } query B($text: String!) { echo(text: $text) }'
    body = {"query": named, "operationName": "B", "variables": {"text": "b"}}
    assert graphql.send(body, make.root).json() == {"data": {"echo": "b"}}
    assert graphql.send({**body, "variables": '{"text": "c"}'}, make.root).json() == {"data": {"echo": "c"}}
    batch = graphql.send([body, {"query": VERSION}], make.root).json()
    assert isinstance(batch, list), batch
    assert batch[0] == {"data": {"echo": "b"}}
    assert batch[1]["data"]["metadata"]["version"]
    got = graphql.get(make.root, query=named, operationName="B", variables='{"text": "d"}')
    assert got.json() == {"data": {"echo": "d"}}
    assert got.headers["content-type"].startswith("application/json")


def test_errors_have_the_form_of_graphql(graphql: Graphql, make: Make) -> None:
    unknown = graphql.answer("{ currentUser { nonsense } }", make.root)
    assert "nonsense" in unknown["errors"][0]["message"]
    assert unknown["errors"][0]["locations"] == [{"line": 1, "column": 17}]
    assert "data" not in unknown
    assert "Syntax Error" in graphql.answer("{ currentUser ", make.root)["errors"][0]["message"]
    malformed: list[Any] = [{}, {"query": 1}, {"query": "{ a }", "variables": 3}, [], "text"]
    for sent in malformed:
        refused = graphql.send(sent, make.root)
        assert refused.status_code == 400
        assert refused.json()["errors"][0]["message"]
    bad_token = graphql.send({"query": VERSION}, make.root.with_token("wrong"))
    assert (bad_token.status_code, bad_token.json()) == (401, {"errors": [{"message": "401 Unauthorized"}]})


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ('{ project(fullPath: "a") ' + "{ forkedFrom " * 25 + "{ id }" + " }" * 25 + " }", "exceeds max depth of 20"),
        (
            "{ projects { nodes { " + " ".join(f"a{n}: name" for n in range(200)) + " } } }",
            "exceeds max complexity of 300",
        ),
        ("{ projects { nodes { issues { nodes { notes { nodes { id } } } } } } }", "give `first` to the inner"),
        ("{ " + "a" * 10_001 + " }", "exceeds the maximum of 10000"),
        ("{ " + "{ a " * 3_000 + "} " * 3_000, ""),
        (
            "{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }",
            "introspection",
        ),
    ],
)
def test_expensive_queries_are_refused_before_execution(graphql: Graphql, make: Make, query: str, message: str) -> None:
    answer = graphql.answer(query, make.root)
    assert "data" not in answer
    assert message.lower() in answer["errors"][0]["message"].lower()


def test_texts_with_nul_are_refused(graphql: Graphql, make: Make) -> None:
    """PostgreSQL cannot store or compare them."""
    user = make.user()
    refused = {"errors": [{"message": "Texts cannot contain the character NUL"}]}
    literal = '{ project(fullPath: "a\\u0000b") { id } }'
    assert graphql.answer(literal, user) == refused
    query = "query($path: ID!) { project(fullPath: $path) { id } }"
    assert graphql.answer(query, user, path="a\0b") == refused
    nested = "mutation($input: TimelogCreateInput!) { timelogCreate(input: $input) { errors } }"
    sent = {"issuableId": "gid://gitlab/Issue/1", "timeSpent": "1h", "summary": "a\0b"}
    assert graphql.answer(nested, user, input=sent) == refused


def test_fragments_cannot_multiply_the_work(graphql: Graphql, make: Make) -> None:
    """Each fragment uses the next one twice, so that the query would have a million fields."""
    fragments = "".join(
        f"fragment f{n} on Project {{ a: forkedFrom {{ ...f{n + 1} }} b: forkedFrom {{ ...f{n + 1} }} }} "
        for n in range(18)
    )
    query = f'{{ project(fullPath: "a") {{ ...f0 }} }} {fragments} fragment f18 on Project {{ id }}'
    assert "complexity" in graphql.answer(query, make.root)["errors"][0]["message"]


def _limited(answer: Any, message: str) -> bool:
    return "data" not in answer and message in answer["errors"][0]["message"]


def test_aliases_and_fragments_cannot_multiply_the_introspection(graphql: Graphql, make: Make) -> None:
    """Attack: each alias repeats the description of all types; within fragments, and in the operations of a batch."""
    types = "types { fields { args { name type { name } } } }"
    aliases = " ".join(f"a{number}: {types}" for number in range(90))
    spreads = " ".join(f"b{number}: __schema {{ ...all }}" for number in range(90))
    for query in (
        f"{{ __schema {{ {aliases} }} }}",
        f"{{ {spreads} }} fragment all on __Schema {{ {types} }}",
        f"{{ __schema {{ ...aliases ... on __Schema {{ {types} }} }} }} fragment aliases on __Schema {{ {aliases} }}",
    ):
        assert _limited(graphql.answer(query, make.root), "The introspection requests too many values"), query
    first, second, *_ = graphql.send([{"query": get_introspection_query()}] * 20).json()
    assert first["data"]["__schema"]["types"]
    assert _limited(second, "The introspection requests too many values")


def test_batches_share_their_limits(graphql: Graphql, make: Make) -> None:
    assert graphql.send([{"query": VERSION}] * 21, make.root).status_code == 400
    query = {"query": "{ " + " ".join(f"a{n}: metadata {{ version }}" for n in range(30)) + " }"}
    answers = graphql.send([query] * 20, make.root).json()
    assert "data" in answers[0]
    assert _limited(answers[-1], "exceeds max complexity of 300")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }", "within itself"),
        (
            "{ ...f0 } " + " ".join(f"fragment f{n} on Query{{...f{(n + 1) % 200}}}" for n in range(200)),
            "Validation aborted",
        ),
        ("{ metadata " + "@skip(if: false) " * 500 + "{ version } }", "only be used once"),
        ("{ echo(text: " + "[" * 2_000 + "]" * 2_000 + ") }", "nested too deeply"),
    ],
)
def test_cycles_and_repetitions_are_refused(graphql: Graphql, make: Make, query: str, message: str) -> None:
    assert _limited(graphql.answer(query, make.root), message)


def test_fragments_that_repeat_nothing_are_read_once(graphql: Graphql, make: Make) -> None:
    """Each of sixty fragments uses the next one three times at the same place."""
    fragments = " ".join(f"fragment f{n} on Query {{ {f'...f{n + 1} ' * 3}}}" for n in range(60))
    query = f"{{ ...f0 }} {fragments} fragment f60 on Query {{ metadata {{ version }} }}"
    assert graphql.data(query, make.root)["metadata"]["version"]


def test_huge_variables_are_refused(graphql: Graphql, make: Make) -> None:
    """Attack: variables that are deep, many, or longer than a request may be."""
    query = "query($text: String!) { echo(text: $text) }"
    assert graphql.send({"query": query, "variables": {"text": "x" * 2**21}}, make.root).status_code == 413
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    assert "errors" in graphql.answer(query, make.root, text=deep)
    encoded = {"query": "{ metadata { version } }", "variables": '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"}
    assert graphql.send(encoded, make.root).status_code == 400
    unused = {f"v{number}": number for number in range(50_000)}
    assert graphql.data(query, make.root, text="x", **unused)["echo"] == "x"


def test_scopes_and_sudo_apply_as_in_rest(graphql: Graphql, make: Make) -> None:
    user = make.user()
    project = make_project(make, owner=user)
    query = "{ currentUser { username } }"
    mutation = """mutation($path: ID!) {
        createIssue(input: {projectPath: $path, title: "one"}) { issue { iid } errors } }"""
    reader = user.with_token(make.token(user.id, "read_api"))
    assert graphql.data(query, reader)["currentUser"]["username"] == user.username
    refused = graphql.answer(mutation, reader, path=project.path)
    assert "scope" in refused["errors"][0]["message"]
    assert "data" not in refused
    without = graphql.send({"query": query}, user.with_token(make.token(user.id, "read_user")))
    assert without.status_code == 403
    assert "insufficient_scope" in without.json()["errors"][0]["message"]
    as_other = graphql.send({"query": query}, make.root, SUDO=user.username).json()
    assert as_other["data"]["currentUser"]["username"] == user.username
    assert graphql.data(query)["currentUser"] is None
    anonymous = graphql.answer(mutation, path=project.path)
    assert "permission" in anonymous["errors"][0]["message"]
    by_get = graphql.get(user, query='mutation { createIssue(input: {projectPath: "a", title: "b"}) { errors } }')
    assert "POST" in by_get.json()["errors"][0]["message"]
    assert graphql.data(mutation, user, path=project.path)["createIssue"]["issue"] == {"iid": "1"}


def test_introspection_describes_the_schema(graphql: Graphql) -> None:
    from graphql import build_client_schema

    schema = build_client_schema(graphql.data(get_introspection_query()))
    assert {"Project", "IssueConnection", "CreateNotePayload"} <= set(schema.type_map)
    kind = graphql.data('{ __type(name: "Issue") { name fields { name } } __typename }')
    assert kind["__typename"] == "Query"
    assert "webUrl" in [field["name"] for field in kind["__type"]["fields"]]
