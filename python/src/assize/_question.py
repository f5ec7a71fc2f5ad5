"""Questions to judges that are written in Python, and their answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Optional, Tuple, Union

if TYPE_CHECKING:
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

NativeDecision = Tuple[str, Optional[int], str, Sequence[str]]


def question(task: JudgeTask) -> Question:
    """The question of a task of the engine."""
    criteria = tuple(
        Criterion(id, text, tuple(ScoreBand(*band) for band in bands), may_not_apply)
        for id, text, bands, may_not_apply in task.criteria
    )
    return Question(
        question=task.question,
        answer=task.answer,
        reference=task.reference,
        expected_outcome=task.expected_outcome,
        tool_calls=task.tool_calls,
        criteria=criteria,
        sample_id=task.sample_id,
    )


def decisions(criteria: Sequence[Criterion], returned: Any) -> list[NativeDecision]:
    """What a judge returned, as decisions for the engine, in the order of the criteria."""
    if isinstance(returned, Mapping):
        unknown = set(returned) - {criterion.id for criterion in criteria}
        if unknown:
            raise ValueError(f"decided on criteria that the rubric does not have: {', '.join(sorted(map(str, unknown)))}")
        return [_native(returned.get(criterion.id)) for criterion in criteria]
    if isinstance(returned, (str, bytes)) or not isinstance(returned, Sequence):
        raise TypeError(f"returned {type(returned).__name__}; expected a mapping or a sequence of decisions")
    return [_native(decision) for decision in returned]


def _native(decision: Any) -> NativeDecision:
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
