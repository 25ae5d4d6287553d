"""Expressions of ``rules:if`` and ``only:variables``.

Grammar: ``or := and ("||" and)*``, ``and := comparison ("&&" comparison)*``,
``comparison := value (("==" | "!=" | "=~" | "!~") value)?``, ``value := "(" or ")" | $variable | string | /regex/ | null``.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from ingot.ci.config.patterns import is_pattern, pattern_matcher

Variables = Mapping[str, str]
Value = str | None
Evaluator = Callable[[Variables], Value | bool]
MAX_LENGTH = 10_000
MAX_DEPTH = 50
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<operator>==|!=|=~|!~|&&|\|\||\(|\))
    |\$(?P<variable>\w+) | \$\{(?P<braced>\w+)\} | %(?P<percent>\w+)%
    |"(?P<double>[^"]*)" | '(?P<single>[^']*)'
    |(?P<pattern>/(?:[^/\\\n]|\\.)+/[ismU]*)
    |(?P<null>null)\b
    )""",
    re.VERBOSE,
)


class InvalidExpression(Exception):
    """The text is not an expression."""


@lru_cache(maxsize=2048)
def parse_expression(text: str) -> Callable[[Variables], bool]:
    """Parse an expression into a function of the variables; raise InvalidExpression."""
    if len(text) > MAX_LENGTH:
        raise InvalidExpression
    parser = _Parser(_tokens(text))
    evaluate = parser.disjunction(0)
    if parser.tokens:
        raise InvalidExpression
    return lambda variables: _truth(evaluate(variables))


def _tokens(text: str) -> list[tuple[str, str]]:
    """Return kinds and texts of the tokens in reverse order."""
    tokens, end = [], 0
    text = text.rstrip()
    while end < len(text):
        token = _TOKEN.match(text, end)
        if token is None or token.lastgroup is None:
            raise InvalidExpression
        tokens.append((token.lastgroup, token[token.lastgroup]))
        end = token.end()
    return tokens[::-1]


def _truth(value: Value | bool) -> bool:
    """Unset and empty values count as false."""
    return bool(value)


class _Parser:
    """Recursive descent over the reversed tokens."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens

    def _accept(self, *operators: str) -> str | None:
        if self.tokens and self.tokens[-1][0] == "operator" and self.tokens[-1][1] in operators:
            return self.tokens.pop()[1]
        return None

    def disjunction(self, depth: int) -> Evaluator:
        parts = [self._conjunction(depth)]
        while self._accept("||"):
            parts.append(self._conjunction(depth))
        return parts[0] if len(parts) == 1 else lambda variables: any(_truth(part(variables)) for part in parts)

    def _conjunction(self, depth: int) -> Evaluator:
        parts = [self._comparison(depth)]
        while self._accept("&&"):
            parts.append(self._comparison(depth))
        return parts[0] if len(parts) == 1 else lambda variables: all(_truth(part(variables)) for part in parts)

    def _comparison(self, depth: int) -> Evaluator:
        left = self._value(depth)
        operator = self._accept("==", "!=", "=~", "!~")
        if operator is None:
            return left
        right = self._value(depth)
        if operator in ("==", "!="):
            return lambda variables: (left(variables) == right(variables)) is (operator == "==")
        return lambda variables: _matches(left(variables), right(variables)) is (operator == "=~")

    def _value(self, depth: int) -> Evaluator:
        if depth > MAX_DEPTH or not self.tokens:
            raise InvalidExpression
        if self._accept("("):
            inner = self.disjunction(depth + 1)
            if not self._accept(")"):
                raise InvalidExpression
            return inner
        kind, text = self.tokens.pop()
        if kind in ("variable", "braced", "percent"):
            return lambda variables: variables.get(text)
        if kind == "null":
            return lambda _: None
        if kind == "operator" or (kind == "pattern" and pattern_matcher(text) is None):
            raise InvalidExpression
        return lambda _: text


def _matches(value: Value | bool, pattern: Value | bool) -> bool:
    if not isinstance(value, str) or not isinstance(pattern, str):
        return False
    if not is_pattern(pattern):  # A string or variable without slashes is searched for as text.
        return pattern in value
    matcher = pattern_matcher(pattern)
    return matcher is not None and matcher(value)
