"""Regular expressions for names of branches, matched in a time that grows with the name and never explodes.

What Python's own engine would take for some patterns, which masters write and every push asks, has no bound. So this
one knows what automata know: no references back, nothing that looks ahead or behind.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

MAX_STEPS = 400
"""Of the program that a pattern becomes: each sign of a name asks each of them at most once."""
_MAX_DEPTH = 50
_DIGITS = frozenset("0123456789")
_WORD = _DIGITS | frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_SPACE = frozenset(" \t\n\r\f\v")
_CLASSES = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}

Test = Callable[[str], bool]
"""Whether a sign fits."""


class PatternError(ValueError):
    """What is no pattern, or too large a one."""


class _Step(NamedTuple):
    """Where it goes on from here: to the next step for a sign that fits, and to others for nothing."""

    fits: Test | None = None
    others: tuple[int, ...] = ()
    at: str = ""
    """``^`` and ``$``: only at the beginning, only at the end."""


class BranchPattern:
    """A program that tells whether a text holds what it is made for."""

    def __init__(self, steps: list[_Step]) -> None:
        self._steps = steps

    def matches(self, text: str) -> bool:
        """Whether there is a match anywhere in the text."""
        last, access = len(self._steps), set[int]()
        for place in range(len(text) + 1):
            access = self._reached({0} | access, first=place == 0, end=place == len(text))
            if last in access:
                return True
            if place < len(text):
                access = {step + 1 for step in access if self._fits(step, text[place])}
        return False

    def _fits(self, step: int, sign: str) -> bool:
        fits = self._steps[step].fits
        return fits is not None and fits(sign)

    def _reached(self, begin: set[int], *, first: bool, end: bool) -> set[int]:
        """All steps to which these lead without another sign."""
        reached: set[int] = set()
        waiting = list(begin)
        while waiting:
            number = waiting.pop()
            if number in reached:
                continue
            reached.add(number)
            if number < len(self._steps):
                step = self._steps[number]
                if not step.at or (first if step.at == "^" else end):
                    waiting += step.others
        return reached


@lru_cache(256)
def compile_pattern(text: str) -> BranchPattern:
    """The program of a pattern; raises ``PatternError`` where it is none."""
    return BranchPattern(_Parser(text).parse())


class _Parser:
    """Reads a pattern from its beginning to its end; each part becomes steps whose numbers count from their own."""

    def __init__(self, text: str) -> None:
        self._folds = text.startswith("(?i)")
        self._text = text.removeprefix("(?i)")
        self._place = 0
        self._depth = 0

    def parse(self) -> list[_Step]:
        steps = self._choice()
        if self._place < len(self._text):
            raise PatternError("there is a ) too many")
        return steps

    def _peek(self) -> str:
        return self._text[self._place : self._place + 1]

    def _take(self) -> str:
        sign = self._peek()
        if not sign:
            raise PatternError("it ends too early")
        self._place += 1
        return sign

    def _choice(self) -> list[_Step]:
        steps = self._row()
        while self._peek() == "|":
            self._take()
            other = self._row()
            # One goes on to the first or behind it to the other; the first jumps over the other at its end.
            fork, jump = _Step(others=(1, len(steps) + 2)), _Step(others=(len(other) + 1,))
            steps = _bounded([fork, *_moved(steps, 1), _shifted(jump, len(steps) + 1), *_moved(other, len(steps) + 2)])
        return steps

    def _row(self) -> list[_Step]:
        steps: list[_Step] = []
        while self._peek() not in ("", "|", ")"):
            steps = _bounded([*steps, *_moved(self._repeated(), len(steps))])
        return steps

    def _repeated(self) -> list[_Step]:
        steps = self._single()
        times = 0
        while self._peek() and (count := self._count()) is not None:
            steps = _times(steps, *count)
            if self._peek() == "?":  # As little as it can: whether it fits is the same.
                self._take()
            times += 1
            if times > 1:
                raise PatternError("something is repeated twice")
        return steps

    def _count(self) -> tuple[int, int | None] | None:
        sign = self._peek()
        if sign in "*+?":
            self._take()
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        if sign != "{":
            return None
        inside, closed, _ = self._text[self._place + 1 :].partition("}")
        least, comma, most = inside.partition(",")
        if not closed or not least.isdecimal() or (most and not most.isdecimal()) or len(inside) > 9:
            return None  # A brace that stands for itself.
        self._place += len(inside) + 2
        bounds = int(least), (int(most) if most else None) if comma else int(least)
        if bounds[1] is not None and bounds[1] < bounds[0]:
            raise PatternError("it repeats from more to less")
        return bounds

    def _single(self) -> list[_Step]:
        sign = self._take()
        if sign == "(":
            return self._group()
        if sign in "*+?":
            raise PatternError("there is nothing to repeat")
        if sign in "^$":
            return [_Step(others=(1,), at=sign)]
        if sign == ".":
            return [_Step(lambda each: each != "\n")]
        if sign == "[":
            return [_Step(self._set())]
        if sign == "\\":
            return [self._escaped()]
        return [_Step(self._one(sign))]

    def _group(self) -> list[_Step]:
        if self._peek() == "?":
            if not self._text.startswith("?:", self._place):
                raise PatternError("it looks ahead or behind, or has flags inside")
            self._place += 2
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise PatternError("it is nested too deep")
        steps = self._choice()
        if self._peek() != ")":
            raise PatternError("a ) is missing")
        self._take()
        self._depth -= 1
        return steps

    def _escaped(self) -> _Step:
        sign = self._take()
        if sign in "Az":
            return _Step(others=(1,), at="^" if sign == "A" else "$")
        return _Step(self._meant(sign))

    def _meant(self, sign: str) -> Test:
        if sign.lower() in _CLASSES:
            return _among(_CLASSES[sign.lower()], inverted=sign.isupper())
        if sign in _CONTROL:
            return self._one(_CONTROL[sign])
        if sign.isalnum():
            raise PatternError(f"\\{sign} means nothing")
        return self._one(sign)

    def _one(self, sign: str) -> Test:
        wanted = {sign, sign.lower(), sign.upper()} if self._folds else {sign}
        return lambda each: each in wanted

    def _set(self) -> Test:
        inverted = self._peek() == "^"
        if inverted:
            self._take()
        tests: list[Test] = []
        while self._peek() != "]" or not tests:
            tests.append(self._member())
        self._take()
        return lambda each: any(test(each) for test in tests) != inverted

    def _member(self) -> Test:
        sign = self._take()
        if sign == "[" and self._peek() == ":":
            raise PatternError("it names a class of signs")
        if sign == "\\":
            sign = self._take()
            if sign.lower() in _CLASSES or sign in _CONTROL:
                return self._meant(sign)
        if self._text.startswith("-", self._place) and self._text[self._place + 1 : self._place + 2] not in ("", "]"):
            self._take()
            last = self._take()
            last = self._take() if last == "\\" else last
            if last < sign:
                raise PatternError("a range goes backwards")
            return self._between(sign, last)
        return self._one(sign)

    def _between(self, first: str, last: str) -> Test:
        if self._folds:
            return lambda each: first <= each.lower() <= last or first <= each.upper() <= last
        return lambda each: first <= each <= last


def _among(signs: frozenset[str], *, inverted: bool) -> Test:
    return lambda each: (each in signs) != inverted


def _times(steps: list[_Step], least: int, most: int | None) -> list[_Step]:
    """The same steps so often: those that must be, and then those that may be, or one that leads back."""
    size = len(steps)
    if max(size, 1) * max(least, most or 0) > MAX_STEPS:
        raise PatternError("it is too large")
    whole: list[_Step] = []
    for _ in range(least):
        whole += _moved(steps, len(whole))
    if most is None:
        start = len(whole)
        whole += [_Step(others=(start + 1, start + size + 2)), *_moved(steps, start + 1), _Step(others=(start,))]
        return _bounded(whole)
    end = len(whole) + (most - least) * (size + 1)
    for _ in range(most - least):
        start = len(whole)
        whole += [_Step(others=(start + 1, end)), *_moved(steps, start + 1)]
    return _bounded(whole)


def _moved(steps: list[_Step], by: int) -> list[_Step]:
    return [_shifted(step, by) for step in steps]


def _shifted(step: _Step, by: int) -> _Step:
    return step._replace(others=tuple(number + by for number in step.others)) if step.others else step


def _bounded(steps: list[_Step]) -> list[_Step]:
    if len(steps) > MAX_STEPS:
        raise PatternError("it is too large")
    return steps
