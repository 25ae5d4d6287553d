"""Expressions of ``rules:if``: a table of texts and results."""

import pytest

from ingot.ci.config.evaluation import evaluate
from ingot.ci.config.expressions import InvalidExpression, parse_expression

VARIABLES = {
    "BRANCH": "main",
    "DEFAULT": "main",
    "EMPTY": "",
    "TEXT": "my variable",
    "PATH": "/a/full/path",
    "TAG": "v1.2.3",
    "RE": "/^v[0-9]+/",
    "BROKEN": "/(/",
    "MULTI": "one\ntwo",
}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ('$BRANCH == "main"', True),
        ("$BRANCH == 'main'", True),
        ('"main" == $BRANCH', True),
        ("$BRANCH==$DEFAULT", True),
        ("$BRANCH != $DEFAULT", False),
        ("$BRANCH == $UNSET", False),
        ("$UNSET == $OTHER", True),
        ("$UNSET == null", True),
        ("null == $UNSET", True),
        ("$EMPTY == null", False),
        ('$EMPTY == ""', True),
        ('$UNSET == ""', False),
        ("$EMPTY != null", True),
        ("$BRANCH", True),
        ("$EMPTY", False),
        ("$UNSET", False),
        ('"text"', True),
        ('""', False),
        ("null", False),
        ("$TEXT =~ /var.*e$/", True),
        ("$TEXT =~ /^var/", False),
        ("$TEXT =~ /VAR/", False),
        ("$TEXT =~ /VAR/i", True),
        ("$MULTI =~ /^two$/", False),
        ("$MULTI =~ /^two$/m", True),
        ("$MULTI =~ /one.two/", False),
        ("$MULTI =~ /one.two/s", True),
        ("$TEXT !~ /var/", False),
        ("$TEXT !~ /nope/", True),
        ("$UNSET =~ /x/", False),
        ("$UNSET !~ /x/", True),
        ("$UNSET =~ /^$/", True),
        (r"$PATH =~ /^\/a\/full\/path$/", True),
        ("$TAG =~ $RE", True),
        ("$BRANCH =~ $RE", False),
        ("$TAG !~ $RE", False),
        ("$TAG =~ $UNSET", False),
        ("$TAG !~ $UNSET", True),
        ("$TAG =~ $BROKEN", False),
        ('"Hello World" =~ "/hello world/i"', True),
        ('"test/url" =~ "/test/ur/"', True),
        ('$BRANCH =~ "main"', True),
        ("$BRANCH && $DEFAULT", True),
        ("$BRANCH && $UNSET", False),
        ("$BRANCH && $EMPTY", False),
        ("$UNSET || $BRANCH", True),
        ("$UNSET || $EMPTY", False),
        ("$UNSET && $BRANCH || $BRANCH", True),
        ("$BRANCH || $UNSET && $UNSET", True),
        ("($BRANCH || $UNSET) && $UNSET", False),
        ("$UNSET && ($BRANCH || $BRANCH)", False),
        ('$BRANCH == "x" || $BRANCH == "main" && $TAG', True),
        ('(($BRANCH == "main"))', True),
        ('("string" || "test") == "string"', True),
        ('("string" == ("test" && "string"))', True),
        ("$TAG =~ /^v/ && ($TEXT =~ /my/ || $UNSET)", True),
        ("  $BRANCH  ", True),
        ("$BRANCH\n  && $TAG", True),
    ],
)
def test_results(text: str, result: bool) -> None:
    assert parse_expression(text)(VARIABLES) is result


@pytest.mark.parametrize(
    "text",
    [
        "",
        "==",
        "$",
        "$A ==",
        "== $A",
        "$A = 'x'",
        "$A == 'x",
        "$A 'x'",
        "($A",
        "$A)",
        "()",
        "$A && && $B",
        "$A && ",
        "!$A",
        "${A} == 'x'",
        "%A% == 'x'",
        "true",
        "$A =~ /a(/",
        "$A =~ /a(?=b)/",
        r"$A =~ /(a)\1/",
        "$A =~ /test/ur/",
        "$A =~ /a/x",
        "(" * 1000 + "$A" + ")" * 1000,
        "$A || " * 5000 + "$A",
    ],
)
def test_invalid_expressions(text: str) -> None:
    with pytest.raises(InvalidExpression):
        parse_expression(text)
    assert evaluate(text, VARIABLES) is False


def test_hostile_patterns_take_linear_time() -> None:
    """With a backtracking engine, this would not end."""
    value = "a" * 50_000 + "!"
    for pattern in ("/^(a+)+$/", "/^(a|a)*$/", "/^(a|aa)+$/", "/(.*)*x$/"):
        assert evaluate(f"$A =~ {pattern}", {"A": value}) is False
    assert evaluate("$A =~ $B", {"A": value, "B": "/^(([a-z])+.)+[A-Z]([a-z])+$/"}) is False


def test_large_patterns_are_refused() -> None:
    with pytest.raises(InvalidExpression):
        parse_expression("$A =~ /((a{1000}){1000}){1000}/")
