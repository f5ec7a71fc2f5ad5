"""Judges written in Python."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Optional, Tuple, Union, overload

from ._errors import UsageError

if TYPE_CHECKING:
    import asyncio

    from assize_native import JudgeTask


@dataclass(frozen=True)
class ScoreBand:
    """Scores from `low` to `high`, and what they mean."""

    low: int
    high: int
    text: str


@dataclass(frozen=True)
class Criterion:
    """A criterion that a judge decides on."""

    id: str
    """Unique in its rubric."""
    text: str
    bands: Tuple[ScoreBand, ...] = ()
    """Meaning of the scores from 0 to 10; empty for a criterion that is met or unmet."""
    may_not_apply: bool = False
    """True if the decision may be `not_applicable`."""


@dataclass(frozen=True)
class Question:
    """What a judge is asked: an answer, with its question, and the criteria to decide on."""

    question: str
    answer: str
    """The answer to be judged. Untrusted text: never run it, and never let it instruct anybody."""
    reference: Optional[str]
    expected_outcome: Optional[str]
    tool_calls: Optional[str]
    criteria: Tuple[Criterion, ...]
    sample_id: str


Outcome = Union[bool, int, None, Literal["not_applicable"]]
"""True or False for met or unmet, 0 to 10 for a criterion with bands, None where the judge can't tell."""


@dataclass(frozen=True)
class Judgement:
    """A decision on a criterion with its reason, and quotes from the answer."""

    outcome: Outcome
    reason: str = ""
    evidence: Sequence[str] = ()


Judgements = Union[Mapping[str, Union[Outcome, Judgement]], Sequence[Union[Outcome, Judgement]]]
"""Decisions by the ids of their criteria, or in the order of the criteria."""

JudgeFunction = Callable[[Question], Union[Judgements, Awaitable[Judgements]]]

_NativeDecision = Tuple[str, Optional[int], str, Sequence[str]]


class Judge:
    """A judge that is a Python function. Made by `judge`."""

    def __init__(self, function: JudgeFunction, name: str, version: str, max_concurrency: int) -> None:
        if not name or "," in name:
            raise UsageError(f"the name of a judge is {name!r}; expected a text without a comma")
        if max_concurrency < 1:
            raise UsageError(f"max_concurrency is {max_concurrency}; expected at least 1")
        self.function = function
        self.name = name
        self.version = version
        self.max_concurrency = max_concurrency

    def __call__(self, question: Question) -> Union[Judgements, Awaitable[Judgements]]:
        return self.function(question)

    def __repr__(self) -> str:
        return f"Judge({self.name!r}, version={self.version!r})"

    def _decide(self, task: JudgeTask) -> list[_NativeDecision]:
        """Decides on a task of the engine. What it raises makes the criteria ungraded."""
        criteria = tuple(
            Criterion(id, text, tuple(ScoreBand(*band) for band in bands), may_not_apply)
            for id, text, bands, may_not_apply in task.criteria
        )
        returned = self.function(
            Question(
                task.question,
                task.answer,
                task.reference,
                task.expected_outcome,
                task.tool_calls,
                criteria,
                task.sample_id,
            )
        )
        if inspect.isawaitable(returned):
            returned = _run(returned)
        return _decisions(criteria, returned)


@overload
def judge(function: JudgeFunction, /) -> Judge: ...


@overload
def judge(
    *, name: Optional[str] = None, version: str = "1", max_concurrency: int = 8
) -> Callable[[JudgeFunction], Judge]: ...


def judge(
    function: Optional[JudgeFunction] = None,
    /,
    *,
    name: Optional[str] = None,
    version: str = "1",
    max_concurrency: int = 8,
) -> Union[Judge, Callable[[JudgeFunction], Judge]]:
    """Makes a function a judge: it gets a `Question` and returns a decision for each criterion.

    Change `version` whenever the decisions can change: it is part of `judge_config_hash`. At most `max_concurrency` calls run
    at once, on threads of their own. A coroutine function runs on an event loop that all judges share.

    What it raises, and what is no decision, makes the criteria ungraded; it never becomes a score.
    """

    def make(function: JudgeFunction) -> Judge:
        own = name if name is not None else getattr(function, "__name__", type(function).__name__)
        return Judge(function, own, version, max_concurrency)

    return make if function is None else make(function)


def _decisions(criteria: Sequence[Criterion], returned: Any) -> list[_NativeDecision]:
    if isinstance(returned, Mapping):
        unknown = set(returned) - {criterion.id for criterion in criteria}
        if unknown:
            raise ValueError(f"decided on criteria that the rubric does not have: {', '.join(sorted(map(str, unknown)))}")
        return [_native(returned.get(criterion.id)) for criterion in criteria]
    if isinstance(returned, (str, bytes)) or not isinstance(returned, Sequence):
        raise TypeError(f"returned {type(returned).__name__}; expected a mapping or a sequence of decisions")
    return [_native(decision) for decision in returned]


def _native(decision: Any) -> _NativeDecision:
    made = decision if isinstance(decision, Judgement) else Judgement(decision)
    outcome, reason, evidence = made.outcome, made.reason, list(made.evidence)
    if outcome is None:
        return ("ungraded", None, reason or "the judge did not decide", evidence)
    if isinstance(outcome, bool):
        return ("met" if outcome else "unmet", None, reason, evidence)
    if outcome == "not_applicable":
        return ("not_applicable", None, reason, evidence)
    if isinstance(outcome, int) and 0 <= outcome <= 10:
        return ("scored", outcome, reason, evidence)
    raise ValueError(f"decided {outcome!r}; expected True, False, 0 to 10, None or 'not_applicable'")


_loop: Optional[asyncio.AbstractEventLoop] = None
_loop_process = 0
_loop_lock = threading.Lock()


def _run(awaitable: Awaitable[Any]) -> Any:
    """Waits for an awaitable, on the event loop of the judges."""
    import asyncio
    import os

    global _loop, _loop_process
    with _loop_lock:
        if _loop is None or _loop_process != os.getpid():
            _loop, _loop_process = asyncio.new_event_loop(), os.getpid()
            threading.Thread(target=_loop.run_forever, name="assize-judges", daemon=True).start()
        loop = _loop

    async def wait() -> Any:
        return await awaitable

    return asyncio.run_coroutine_threadsafe(wait(), loop).result()
