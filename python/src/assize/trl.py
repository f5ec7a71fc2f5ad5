"""Rewards for TRL: `GRPOTrainer(reward_funcs=trl_reward("rubric.yaml", judge=...))`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, List, Optional

from ._errors import UsageError
from ._grader import shared_grader

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._grader import Grader, JudgeLike
    from ._types import GraderOptions, OnUngraded, Reward, RubricLike

__all__ = ["trl_reward"]

RewardFunction = Callable[..., Awaitable[List[Optional[float]]]]


def trl_reward(
    rubric: RubricLike,
    *,
    judge: JudgeLike = None,
    grader: Optional[Grader] = None,
    reward: Reward = "score",
    on_ungraded: OnUngraded = None,
    deadline: Optional[float] = None,
    reference: Optional[str] = None,
    expected_outcome: Optional[str] = None,
    name: str = "assize",
    **options: Unpack[GraderOptions],
) -> RewardFunction:
    """Returns a reward function of TRL. It is a coroutine function, so it runs beside the other ones.

    `reference` and `expected_outcome` name columns of the data set. The reward of a completion that could not be graded is None:
    TRL leaves it out of the mean of its group. `on_ungraded` may be a number, `"low"`, `"high"` or `"error"` instead.

    `name` is that of the reward in the trainer's log. The other options are those of `Grader`.
    """
    if on_ungraded == "drop":
        raise UsageError('on_ungraded is "drop", but TRL needs a reward for each completion; None leaves one out')

    async def rubric_reward(
        prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> List[Optional[float]]:
        shared = grader if grader is not None else shared_grader(judge, **options)
        references = _column(columns, reference, len(completions))
        outcomes = _column(columns, expected_outcome, len(completions))
        samples = [
            _sample(*parts) for parts in zip(prompts, completions, references, outcomes)
        ]
        results = await shared.agrade(
            samples, rubric, reward=reward, on_ungraded=on_ungraded, deadline=deadline
        )

        log = columns.get("log_metric")
        if log is not None and len(results) > 0:
            lacking = sum(result.reward is None or result.reward_assumed for result in results)
            log(f"{name}/ungraded", lacking / len(results))
            log(f"{name}/cost_usd", sum(result.known_cost_usd for result in results))
        return results.rewards

    rubric_reward.__name__ = name
    return rubric_reward


def _column(columns: Mapping[str, Any], name: Optional[str], count: int) -> Sequence[Any]:
    if name is None:
        return [None] * count
    if name not in columns:
        known = sorted(key for key, value in columns.items() if isinstance(value, list))
        raise UsageError(f"the data set has no column {name!r}; it has {', '.join(known) or 'none'}")
    column: Sequence[Any] = columns[name]
    return column


def _sample(prompt: Any, completion: Any, reference: Any, outcome: Any) -> dict[str, Any]:
    # In a conversation, prompt and completion are lists of messages.
    answer = {"output": completion} if isinstance(completion, str) else {"messages": completion}
    return {"input": prompt, "reference": reference, "expected_outcome": outcome, **answer}
