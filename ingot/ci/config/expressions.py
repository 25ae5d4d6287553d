"""Expressions of ``rules:if`` and ``only:variables``.

Grammar::

    or         := and ("||" and)*
    and        := comparison ("&&" comparison)*
    comparison := value (("==" | "!=" | "=~" | "!~") value)?
    value      := "(" or ")" | $variable | string | /pattern/ | null

As in GitLab, ``&&`` and ``||`` return one of their operands, and of all values only null counts as false for them; the
result of the whole expression is false if it is null or empty.
"""

import re
from collections.abc import Callable, Mapping, Sequence
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
    |\$(?P<variable>\w+)
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
    return lambda variables: bool(evaluate(variables))


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


def _chain(parts: Sequence[Evaluator], *, stop_at: bool) -> Evaluator:
    """Return the evaluator of operands joined by ``||`` (``stop_at`` true) or by ``&&``."""
    if len(parts) == 1:
        return parts[0]

    def evaluate(variables: Variables) -> Value | bool:
        value: Value | bool = None
        for part in parts:
            value = part(variables)
            if (value is not None and value is not False) is stop_at:
                break
        return value

    return evaluate


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
        return _chain(parts, stop_at=True)

    def _conjunction(self, depth: int) -> Evaluator:
        parts = [self._comparison(depth)]
        while self._accept("&&"):
            parts.append(self._comparison(depth))
        return _chain(parts, stop_at=False)

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
        if kind == "variable":
            return lambda variables: variables.get(text)
        if kind == "null":
            return lambda _: None
        if kind == "operator" or (kind == "pattern" and pattern_matcher(text) is None):
            raise InvalidExpression
        return lambda _: text


def _matches(value: Value | bool, pattern: Value | bool) -> bool:
    """Search for a pattern; null counts as an empty text, and a pattern without slashes has to contain the value."""
    if not isinstance(pattern, str) or isinstance(value, bool):
        return False
    matcher = pattern_matcher(pattern) if is_pattern(pattern) else None
    return (value or "") in pattern if matcher is None else matcher(value or "")
