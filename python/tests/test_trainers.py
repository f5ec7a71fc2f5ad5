# mypy: ignore-errors
"""Rewards for trainers: the functions as the trainers call them, and the trainers themselves where they are installed."""

from __future__ import annotations

import asyncio
import inspect
import json
from pathlib import Path
from typing import Any

import assize
import assize.trl
import assize.verl
import pytest
from conftest import ModelServer

RUBRIC = ["Says that refunds take 5 days"]
QUESTION = [{"role": "user", "content": "How long?"}]


def test_trl_gets_a_reward_for_each_completion() -> None:
    reward = assize.trl.trl_reward(RUBRIC, judge="offline", reference="solution", name="refunds")
    assert inspect.iscoroutinefunction(reward) and reward.__name__ == "refunds"

    metrics: dict[str, float] = {}
    for completions in (
        ["Refunds take 5 days.", "No idea."],
        [[{"role": "assistant", "content": text}] for text in ("Refunds take 5 days.", "No idea.")],
    ):
        rewards = asyncio.run(
            reward(
                prompts=[QUESTION, QUESTION],
                completions=completions,
                completion_ids=[[1], [2]],
                solution=["5 days", "5 days"],
                trainer_state=None,
                log_extra=None,
                log_metric=metrics.__setitem__,
            )
        )
        assert rewards == [1.0, 0.0]
    assert metrics == {"refunds/ungraded": 0.0, "refunds/cost_usd": 0.0}

    with pytest.raises(assize.UsageError, match="no column 'answer'; it has solution"):
        wrong = assize.trl.trl_reward(RUBRIC, judge="offline", reference="answer")
        asyncio.run(wrong(prompts=["q"], completions=["a"], solution=["x"]))
    with pytest.raises(assize.UsageError, match="drop"):
        assize.trl.trl_reward(RUBRIC, on_ungraded="drop")


def test_trl_gets_none_where_the_judge_fails(model: ModelServer) -> None:
    model.answer = lambda prompt: 400 if "unlucky" in prompt else {"evidence": [], "reason": "r", "outcome": "met"}
    reward = assize.trl.trl_reward(RUBRIC, judge="openai:judge-1", cache="off")
    metrics: dict[str, float] = {}
    rewards = reward(prompts=["q", "q"], completions=["lucky", "unlucky"], log_metric=metrics.__setitem__)
    assert asyncio.run(rewards) == [1.0, None]
    assert metrics["assize/ungraded"] == 0.5


def test_verl_gets_numbers_or_an_error(model: ModelServer) -> None:
    arguments: dict[str, Any] = {
        "data_source": "refunds",
        "solution_str": "Refunds take 5 days.",
        "ground_truth": "5 days",
        "extra_info": {"question": "How long?", "index": 3},
        "reward_router_address": None,
        "reward_model_tokenizer": None,
    }
    options: dict[str, Any] = {"rubric": RUBRIC, "judge": "openai:judge-1", "cache": "off"}
    graded = assize.verl.compute_score(**arguments, **options)
    assert graded == asyncio.run(assize.verl.acompute_score(**arguments, **options))
    assert graded == {"score": 1.0, "assize_low": 1.0, "assize_high": 1.0, "assize_graded": 1.0, "assize_cost_usd": 0.0}
    assert "How long?" in model.prompts[0] and "5 days" in model.prompts[0]

    model.answer = lambda prompt: 400
    with pytest.raises(assize.UngradedError, match="no reward"):
        assize.verl.compute_score(**arguments, **options)
    assumed = assize.verl.compute_score(**arguments, **options, on_ungraded="low")
    assert (assumed["score"], assumed["assize_graded"], assumed["assize_high"]) == (0.0, 0.0, 1.0)
    assert assumed.keys() == graded.keys()
    with pytest.raises(assize.UsageError, match="there is no rubric"):
        assize.verl.compute_score(**arguments, judge="offline")
    with pytest.raises(assize.UsageError, match="on_ungraded"):
        assize.verl.compute_score(**arguments, **options, on_ungraded=None)


def test_trl_trains_with_it(folder: Path, model: ModelServer) -> None:
    trl = pytest.importorskip("trl")
    torch = pytest.importorskip("torch")
    datasets = pytest.importorskip("datasets")
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    # One completion of each group is not graded; its advantage has to be 0.
    calls = {"count": 0}

    def answer(prompt: str) -> Any:
        calls["count"] += 1
        return 400 if calls["count"] % 4 == 0 else {"evidence": [], "reason": "r", "outcome": ("met", "unmet")[calls["count"] % 2]}

    model.answer = answer
    words = ["<pad>", "<eos>", "<unk>", *"how long do refunds take 5 days no idea it takes".split()]
    tokens = Tokenizer(models.WordLevel({word: index for index, word in enumerate(dict.fromkeys(words))}, unk_token="<unk>"))
    tokens.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=tokens, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", padding_side="left"
    )
    torch.manual_seed(1)
    config = Qwen2Config(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, eos_token_id=1, pad_token_id=0, bos_token_id=None, max_position_embeddings=64,
    )  # fmt: skip
    arguments = trl.GRPOConfig(
        output_dir=str(folder / "out"), max_steps=2, per_device_train_batch_size=4, num_generations=4,
        max_completion_length=6, logging_steps=1, report_to=[], use_cpu=True, bf16=False, save_strategy="no",
        disable_tqdm=True,
    )  # fmt: skip
    trainer = trl.GRPOTrainer(
        model=Qwen2ForCausalLM(config),
        processing_class=tokenizer,
        reward_funcs=assize.trl.trl_reward(RUBRIC, judge="openai:judge-1", cache="off", reference="solution"),
        args=arguments,
        train_dataset=datasets.Dataset.from_list([{"prompt": "how long do refunds take", "solution": "5 days"}] * 4),
    )
    trainer.train()

    logs = [entry for entry in trainer.state.log_history if "rewards/assize/mean" in entry]
    assert len(logs) == 2
    assert all(entry["assize/ungraded"] == 0.25 for entry in logs), logs
    # The mean is that of the graded completions: two of three are unmet or met, none is a 0 that stands for a failure.
    assert all(entry["rewards/assize/mean"] in (pytest.approx(1 / 3), pytest.approx(2 / 3)) for entry in logs), logs
    assert "how long do refunds take" in model.prompts[0]


def test_verifiers_scores_a_rollout_with_it(folder: Path) -> None:
    vf = pytest.importorskip("verifiers.v1", exc_type=ImportError)
    from verifiers.v1.utils.loaders import judge_class, load_judge

    (folder / "rubric.yaml").write_text("- {id: days, outcome: Says that refunds take 5 days}\n")
    entry = {"id": "assize-verifiers", "rubric": str(folder / "rubric.yaml"), "judges": ["offline"], "name": "refunds"}

    class Data(vf.TaskData):
        answer: str = "5 days"

    class Config(vf.TaskConfig):
        pass

    class Task(vf.Task[Data, vf.State, Config]):
        pass

    config = Config(judges=[entry])
    task = Task(Data(idx=0, prompt="How long do refunds take?"), config)
    (judge,) = task.plugged_judges()
    assert type(judge) is judge_class("assize-verifiers") and judge.reward_name == "refunds"
    assert type(load_judge(config.judges[0])) is type(judge)

    trace = rollout(vf, task, "Refunds take 5 days.")
    asyncio.run(task.score(trace))
    assert (trace.rewards["refunds"].score, trace.metrics) == (1.0, {"refunds/days": 1.0})
    assert json.loads(json.dumps(trace.info["assize"]))[0]["status"] == "graded"
    trace = rollout(vf, task, "No idea.")
    asyncio.run(task.score(trace))
    assert trace.rewards["refunds"].score == 0.0

    # A rollout that can't be graded is an error of the rollout.
    (folder / "rubric.yaml").write_text("- {id: days, outcome: Says so, score_ranges: 3}\n")
    with pytest.raises(Exception, match="the rubric has errors"):
        asyncio.run(task.score(rollout(vf, task, "No idea.")))


def test_verifiers_gets_an_error_where_the_judge_fails(folder: Path, model: ModelServer) -> None:
    pytest.importorskip("verifiers.v1", exc_type=ImportError)
    import verifiers.v1 as vf

    model.answer = lambda prompt: 400
    (folder / "rubric.yaml").write_text("- Says that refunds take 5 days\n")
    entry = {"id": "assize-verifiers", "rubric": "rubric.yaml", "judges": ["openai:judge-1"]}
    task = vf.Task(vf.TaskData(idx=0, prompt="How long?"), vf.TaskConfig(judges=[entry]))
    trace = rollout(vf, task, "Refunds take 5 days.")
    with pytest.raises(Exception, match="the rollout has no reward"):
        asyncio.run(task.score(trace))


def rollout(vf: Any, task: Any, reply: str) -> Any:
    """A finished rollout with this reply."""
    from verifiers.v1.graph import MessageNode
    from verifiers.v1.trace import AgentInfo, TraceTask
    from verifiers.v1.types import AssistantMessage, UserMessage

    nodes = [
        MessageNode(message=UserMessage(content=task.data.prompt), parent=None, sampled=False),
        MessageNode(message=AssistantMessage(content=reply), parent=0, sampled=True),
    ]
    agent = AgentInfo(config=vf.AgentConfig())
    return vf.Trace(task=TraceTask(type=type(task).__name__, data=task.data), agent=agent, nodes=nodes)


@pytest.mark.parametrize("name", ["compute_score", "acompute_score"])
def test_verl_loads_and_calls_it(name: str, model: ModelServer) -> None:
    """As a reward worker does: by its configuration, for one rollout."""
    manager = pytest.importorskip("verl.experimental.reward_loop.reward_manager.naive", exc_type=ImportError)
    import numpy
    import torch
    from omegaconf import OmegaConf
    from verl import DataProto
    from verl.trainer.ppo.reward import get_custom_reward_fn

    options = {"rubric": RUBRIC, "judge": "openai:judge-1", "cache": "off"}
    function = {"path": "pkg://assize.verl", "name": name, "reward_kwargs": options}
    config = OmegaConf.create({"reward": {"custom_reward_function": function}})

    class Tokenizer:
        def decode(self, ids: Any, skip_special_tokens: bool = True) -> str:
            return "Refunds take 5 days."

    async def reward() -> Any:
        loaded = manager.NaiveRewardManager(config, Tokenizer(), get_custom_reward_fn(config))
        tensors = {
            "prompts": torch.zeros(1, 2, dtype=torch.long),
            "responses": torch.zeros(1, 3, dtype=torch.long),
            "attention_mask": torch.ones(1, 5, dtype=torch.long),
        }
        rows = {
            "data_source": numpy.array(["refunds"], dtype=object),
            "reward_model": numpy.array([{"ground_truth": "5 days"}], dtype=object),
            "extra_info": numpy.array([{"question": "How long?"}], dtype=object),
        }
        return await loaded.run_single(DataProto.from_dict(tensors=tensors, non_tensors=rows))

    graded = asyncio.run(reward())
    assert graded["reward_score"] == 1.0
    assert graded["reward_extra_info"]["assize_graded"] == 1.0
    model.answer = lambda prompt: 400
    with pytest.raises(assize.UngradedError):
        asyncio.run(reward())
