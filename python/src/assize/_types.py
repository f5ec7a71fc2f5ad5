"""Types of arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Optional, TypedDict, Union


class Sample(TypedDict, total=False):
    """One answer to be graded. It has `output` or `messages`."""

    id: str
    """Name by which the result is found; the place in the batch unless given."""
    input: str | Sequence[Mapping[str, Any]]
    """The question: a text, or messages with `role` and `content`."""
    output: Any
    """The answer: a text, or a value that is graded as its JSON text."""
    messages: Sequence[Mapping[str, Any]]
    """The whole conversation with its tool calls. The last message of the assistant is the answer."""
    reference: Any
    """An answer known to be good."""
    expected_outcome: str
    """Description of a good answer."""
    vars: Mapping[str, Any]
    """Values of `{{ name }}` in the criteria. They become part of what the judge is asked."""
    group: str
    """Name of the group of samples that answer the same question."""


SampleLike = Union[str, Sample, Mapping[str, Any]]
"""A sample: an answer alone, or a dictionary with the keys of `Sample`."""

RubricLike = Union[str, "PathLike[str]", Sequence[Union[str, Mapping[str, Any]]], Mapping[str, Any]]
"""A rubric: a list of criteria, the content of a rubric file, its YAML text, or its path."""

Reward = Literal["score", "gated", "pass"]
"""The number that is the reward: the score, the score or 0 where a gate failed, 1 for the verdict `pass` and else 0."""

OnUngraded = Union[Literal["drop", "error", "low", "high"], float, None]
"""The reward where it is not known: None, left out, an error, the lowest or highest possible score, or a number."""

CacheUse = Literal["on", "off", "only"]


class GraderOptions(TypedDict, total=False):
    """Options of `Grader`, which the functions of the package take too."""

    judging: Optional[str]
    judge_repeats: Optional[int]
    judge_temperature: Optional[float]
    threshold: Optional[float]
    max_concurrency: Optional[int]
    requests_per_minute: Optional[int]
    tokens_per_minute: Optional[int]
    request_timeout: Optional[float]
    max_output_tokens: Optional[int]
    budget_usd: Optional[float]
    budget_calls: Optional[int]
    cache: CacheUse
    samples_at_once: Optional[int]
    folder: Union[str, "PathLike[str]", None]
