"""Values of YAML files, and files that are refused before they are expanded."""

from typing import Any

import pytest

from ingot.ci.config.errors import ConfigError
from ingot.ci.config.yaml_loader import MAX_BYTES, Budget, YamlReference, load_documents


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: yes", {"a": True}),
        ("on: off", {True: False}),
        ("a: 010", {"a": 8}),
        ("a: 1_000", {"a": 1000}),
        ("a: 1.50", {"a": 1.5}),
        ("a: ~\nb:", {"a": None, "b": None}),
        ("a: 2024-01-01", {"a": "2024-01-01"}),
        ("a: '1'\nb: \"yes\"", {"a": "1", "b": "yes"}),
        ("a: !!str 1\nb: !!int '7'", {"a": "1", "b": 7}),
        ("a: 1\na: 2", {"a": 2}),
        ("1: x", {1: "x"}),
        (":test:\n  :script: ':x'", {"test": {"script": ":x"}}),
        ("':a': 1\n:a b: 2", {":a": 1, ":a b": 2}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("a: &x [1, 2]\nb: *x", {"a": [1, 2], "b": [1, 2]}),
        ("a: !reference [.b, script]", {"a": YamlReference((".b", "script"))}),
        ("\ufeffa: 1", {"a": 1}),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert load_documents(text) == [value]


@pytest.mark.parametrize(
    ("text", "merged"),
    [
        ("{<<: *b, x: own}", {"x": "own", "y": 1}),
        ("{x: own, <<: *b}", {"x": "base", "y": 1}),
        ("{<<: [*b, *c]}", {"x": "base", "y": 1, "z": 2}),
        ("{'<<': 1}", {"<<": 1}),
    ],
)
def test_merge_keys(text: str, merged: dict[str, Any]) -> None:
    """As in GitLab's parser, a merge replaces the keys above it; of a list, the first mapping has precedence."""
    base = ".b: &b {x: base, y: 1}\n.c: &c {x: other, z: 2}\n"
    assert load_documents(f"{base}job: {text}")[0]["job"] == merged


def test_documents_and_bytes() -> None:
    assert load_documents(b"spec: {}\n---\na: 1\n") == [{"spec": {}}, {"a": 1}]
    assert load_documents("") == []
    assert load_documents("# nothing\n") == []


def _bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("a: [", "Invalid configuration format: ", id="syntax"),
        pytest.param("a: *b", "found undefined alias b at line 1 column 4", id="unknown alias"),
        pytest.param("a: &a [*a]", "the alias a contains itself", id="alias to itself"),
        pytest.param("a: &a {b: {<<: *a}}", "the alias a contains itself", id="merge of itself"),
        pytest.param(_bomb(9), "too big", id="bomb of lists"),
        pytest.param(_bomb(9).replace("[", "{k: [").replace("]", "]}"), "too big", id="bomb of mappings"),
        pytest.param(
            "a0: &a0 {k: v}\n"
            + "\n".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 9)),
            "too big",
            id="bomb of merges",
        ),
        pytest.param("a: " + "[" * 900_000, "nested too deeply", id="deep flow"),
        pytest.param("- " * 900_000 + "x", "nested too deeply", id="deep block"),
        pytest.param("{a: " * 400_000, "nested too deeply", id="deep mappings"),
        pytest.param("a: x\n" * (MAX_BYTES // 5 + 1), "larger than 2 MiB", id="large file"),
        pytest.param(b"x" * 10_000_000, "larger than 2 MiB", id="10 MB"),
        pytest.param("a: 1\n---\nb: 1\n---\nc: 1", "more than two YAML documents", id="documents"),
        pytest.param("a: !ruby/object:Gem {}", "Tried to load unspecified class: object:Gem", id="object tag"),
        pytest.param("a: !reference x", "!reference config should be an array of strings", id="reference to a scalar"),
        pytest.param("a: !reference []", "!reference config should be an array of strings", id="empty reference"),
        pytest.param("? [a]\n: b", "found a key that is not a scalar", id="list as key"),
        pytest.param("a: {<<: 1}", "expected a mapping or list of mappings for merging", id="merge of a number"),
        pytest.param("a: !!int x", "x is not a valid value", id="wrong number"),
        pytest.param(b"\xff\xfe\xfa", "Invalid configuration format", id="encoding"),
        pytest.param('"a\\0": x', "found a NUL character at line 1 column 1", id="escaped NUL"),
        pytest.param("a: \x00", "Invalid configuration format", id="control character"),
    ],
)
def test_refused_files(text: str | bytes, problem: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load_documents(text)
    assert problem in raised.value.messages[0]


@pytest.mark.parametrize("text", ["[" + "a, " * 1001 + "]", "\n".join(f"k{n}: [a, b]" for n in range(201)), _bomb(4)])
def test_number_of_values(text: str) -> None:
    """Several files share one budget, and a file is refused while it is read."""
    budget = Budget(1000)
    load_documents("a: 1", budget)
    with pytest.raises(ConfigError, match="too many values"):
        load_documents(text, budget)


def test_long_numbers_remain_text() -> None:
    """The conversion of a number in base 60, or of one with a million digits, would take minutes."""
    for number in ("1" + ":1" * 500_000, "1" * 1_000_000, "0x" + "f" * 1_000_000):
        assert load_documents(f"a: {number}") == [{"a": number}]


def test_unknown_tags_have_no_effect() -> None:
    text = """
base: &base {a: 1}
merged:
  !!merge <<: *base
plain: !foo yes
quoted: !foo 'yes'
list: !foo [1]
map: !foo {a: b}
python: !!python/name:os.system x
binary: !!binary aGk=
"""
    assert load_documents(text) == [
        {
            "base": {"a": 1},
            "merged": {"a": 1},
            "plain": True,
            "quoted": "yes",
            "list": [1],
            "map": {"a": "b"},
            "python": "x",
            "binary": "hi",
        }
    ]
