"""Judge plugin for verifiers: `--taskset.task.judges '[{"id": "assize-verifiers", "rubric": "rubric.yaml"}]'`.

verifiers finds a plugin by the name of its top-level module, which is why this one is not in the package `assize`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Optional

from assize import UngradedError, UsageError
from assize._grader import shared_grader
from verifiers.v1.configs.judge import JudgeConfig
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.judge import Judge
from verifiers.v1.task import TaskData
from verifiers.v1.trace import Trace
from verifiers.v1.types import ID, Usage

__all__ = ["AssizeJudge", "AssizeJudgeConfig"]


class AssizeJudgeConfig(JudgeConfig):
    """Settings of the judge in a task's configuration."""

    id: ID = "assize-verifiers"
    rubric: Path
    """A rubric file."""
    judges: list[str] = []
    """Judges such as `openai:MODEL` or `offline`; without one, that of the configuration file. `model` is not used."""
    reward: Literal["score", "gated", "pass"] = "score"
    judging: Optional[str] = None
    """Criteria in one call: `per-criterion`, `batched` or `batched:N`."""
    question_field: str = ""
    """Field of the task with the question; the prompt of the task unless given."""
    answer_field: str = ""
    """Field of the task with a reference answer."""
    budget_usd: Optional[float] = None
    deadline: Optional[float] = None
    """Seconds after which what is not decided is ungraded."""


class AssizeJudge(Judge[Any, AssizeJudgeConfig]):
    """Grades a rollout by a rubric. One that can't be graded raises: the rollout is errored, and not scored."""

    async def score(self, task: TaskData, trace: Trace) -> float:
        config = self.config
        options = {"judging": config.judging, "budget_usd": config.budget_usd}
        grader = shared_grader(config.judges, **{key: value for key, value in options.items() if value is not None})
        sample = {
            "input": str(_field(task, config.question_field)) if config.question_field else task.prompt_text,
            "output": trace.last_reply,
            "reference": _joined(_field(task, config.answer_field)) if config.answer_field else None,
        }
        messages = [message_to_wire(message) for message in trace.messages]
        if any(message.get("role") == "assistant" for message in messages):
            # The environment may have the last word, to which nobody replied.
            while messages[-1].get("role") not in ("assistant", "tool"):
                messages.pop()
            # With the tool calls, which criteria may be about.
            sample = {**{key: sample[key] for key in ("input", "reference")}, "messages": messages}

        results = await grader.agrade([sample], config.rubric, reward=config.reward, deadline=config.deadline)
        result = results[0]
        for criterion, value in result.components.items():
            if value is not None:
                trace.record_metric(f"{self.reward_name}/{criterion}", value)
        trace.info.setdefault("assize", []).append(result.to_dict())
        if result.input_tokens or result.output_tokens:
            usage = Usage(prompt_tokens=result.input_tokens or 0, completion_tokens=result.output_tokens or 0, cost=result.cost_usd)
            trace.extra_usage.append(usage)

        if result.reward is None:
            raise UngradedError(f"the rollout has no reward: {result.error}", [result])
        return result.reward


def _field(task: TaskData, name: str) -> Any:
    value = getattr(task, name, None)
    if value is None:
        raise UsageError(f"the task has no field {name!r}")
    return value


def _joined(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "\n".join(str(item) for item in value)
    return str(value)
