"""Rewards for verl: a module for `reward.custom_reward_function`.

    reward.custom_reward_function.path=pkg://assize.verl
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.rubric=rubric.yaml
    +reward.custom_reward_function.reward_kwargs.judge=openai:MODEL
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Dict, Optional

from ._errors import UngradedError, UsageError
from ._grader import shared_grader

if TYPE_CHECKING:
    from assize_native import Results
    from typing_extensions import Unpack

    from ._grader import JudgeLike
    from ._types import GraderOptions, OnUngraded, Reward, RubricLike

__all__ = ["acompute_score", "compute_score"]


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any = None,
    extra_info: Optional[Mapping[str, Any]] = None,
    *,
    rubric: Optional[RubricLike] = None,
    judge: JudgeLike = None,
    reward: Reward = "score",
    on_ungraded: OnUngraded = "error",
    deadline: Optional[float] = None,
    question: str = "question",
    reward_router_address: Any = None,
    reward_model_tokenizer: Any = None,
    **options: Unpack[GraderOptions],
) -> Dict[str, float]:
    """Grades one answer; returns `score` and figures that verl logs.

    The rubric is the argument, or `extra_info["rubric"]`. `question` names the key of `extra_info` with the question; the
    reference answer is `ground_truth`.

    An answer that could not be graded raises `UngradedError`, unless `on_ungraded` is a number, `"low"` or `"high"`: verl knows
    no missing reward.
    """
    del data_source, reward_router_address, reward_model_tokenizer
    sample, chosen = _request(solution_str, ground_truth, extra_info, rubric, on_ungraded, question)
    grader = shared_grader(judge, **options)
    return _score(
        grader.grade([sample], chosen, reward=reward, on_ungraded=on_ungraded, deadline=deadline)
    )


async def acompute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any = None,
    extra_info: Optional[Mapping[str, Any]] = None,
    *,
    rubric: Optional[RubricLike] = None,
    judge: JudgeLike = None,
    reward: Reward = "score",
    on_ungraded: OnUngraded = "error",
    deadline: Optional[float] = None,
    question: str = "question",
    reward_router_address: Any = None,
    reward_model_tokenizer: Any = None,
    **options: Unpack[GraderOptions],
) -> Dict[str, float]:
    """As `compute_score`, on the event loop of a reward worker: other rollouts of the worker are graded meanwhile."""
    del data_source, reward_router_address, reward_model_tokenizer
    sample, chosen = _request(solution_str, ground_truth, extra_info, rubric, on_ungraded, question)
    grader = shared_grader(judge, **options)
    return _score(
        await grader.agrade([sample], chosen, reward=reward, on_ungraded=on_ungraded, deadline=deadline)
    )


def _request(
    solution: str,
    ground_truth: Any,
    extra_info: Optional[Mapping[str, Any]],
    rubric: Optional[RubricLike],
    on_ungraded: OnUngraded,
    question: str,
) -> tuple[dict[str, Any], RubricLike]:
    if on_ungraded is None or on_ungraded == "drop":
        raise UsageError('on_ungraded is None or "drop", but verl needs a number; expected error, low, high or a number')
    extra = extra_info or {}
    chosen = rubric if rubric is not None else extra.get("rubric")
    if chosen is None:
        raise UsageError("there is no rubric: set `reward_kwargs.rubric`, or `rubric` in `extra_info`")
    reference = _plain(ground_truth)
    sample = {"input": _plain(extra.get(question)), "output": solution, "reference": reference if reference != "" else None}
    return sample, chosen


def _plain(value: Any) -> Any:
    """A value of a data set as one of Python: those of verl may be arrays."""
    return value.tolist() if hasattr(value, "tolist") else value


def _score(results: Results) -> Dict[str, float]:
    result = results[0]
    if result.reward is None:
        # A rubric of which nothing applies has no bounds either.
        raise UngradedError(f"the answer has no reward: {result.error}", [result])
    # Every answer has the same keys, and numbers only: verl makes arrays of them.
    return {
        "score": result.reward,
        "assize_low": result.reward if result.low is None else result.low,
        "assize_high": result.reward if result.high is None else result.high,
        "assize_graded": float(result.status == "graded"),
        "assize_cost_usd": result.known_cost_usd,
    }
