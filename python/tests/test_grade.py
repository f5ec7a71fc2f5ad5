"""Grading in one call: samples, rubrics, rewards, errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import assize
import pytest
from conftest import MET, UNMET, ModelServer

RUBRIC = ["Says that refunds take 5 days"]


def test_each_sample_has_a_result_in_the_order_of_the_samples() -> None:
    results = assize.grade(["Refunds take 5 days.", "No idea."], RUBRIC, judge="offline")

    assert results.rewards == [1.0, 0.0]
    assert [result.id for result in results] == ["0", "1"]
    assert (len(results), results[-1].index, [result.index for result in results[:1]]) == (2, 1, [0])
    assert results.summary["graded"] == 2
    first = results[0]
    assert (first.status, first.verdict, first.components) == ("graded", "pass", {"rubric-1": 1.0})
    decision = first.decisions[0]
    assert (decision.outcome, decision.judge, decision.ungraded) == ("met", "offline", None)
    assert decision.evidence[0].verified and decision.evidence[0].quote in "Refunds take 5 days."
    with pytest.raises(IndexError):
        results[2]


def test_the_judge_sees_the_parts_of_a_sample(model: ModelServer) -> None:
    sample = {
        "id": "a",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "How long?"}]},
            {"role": "assistant", "content": "Five days."},
        ],
        "reference": {"days": 5},
        "expected_outcome": "names a duration",
        "vars": {"unit": "days"},
        "group": "q1",
    }
    result = assize.grade([sample], ["Counts in {{ unit }}"], judge="openai:judge-1", cache="off")[0]

    assert (result.id, result.group, result.reward) == ("a", "q1", 1.0)
    assert (result.judge_calls, result.input_tokens, result.output_tokens) == (1, 100, 10)
    for text in ("How long?", "Five days.", '"days": 5', "names a duration", "Counts in days"):
        assert text in model.prompts[0], text


def test_a_conversation_is_shown_up_to_its_last_answer(model: ModelServer) -> None:
    turns = [{"role": "user", "content": "First?"}, {"role": "assistant", "content": "One."}, {"role": "user", "content": "Second?"}]
    whole = {"messages": [*turns, {"role": "assistant", "content": "Two."}]}
    assize.grade([whole], RUBRIC, judge="openai:judge-1", cache="off")

    assert "[user]\nFirst?\n\n[assistant]\nOne.\n\n[user]\nSecond?" in model.prompts[0]
    with pytest.raises(assize.UsageError, match="ends with a message of the role `user`"):
        assize.grade([{"messages": turns}], RUBRIC, judge="openai:judge-1", cache="off")


def test_types_know_the_options_and_the_words_of_results() -> None:
    with pytest.raises(TypeError):
        assize.grade(["x"], RUBRIC, buget_usd=1.0)  # type: ignore[call-arg]
    result = assize.grade(["Refunds take 5 days."], RUBRIC, judge="offline")[0]
    status: Literal["graded", "partial", "ungraded"] = result.status
    verdict: Literal["pass", "borderline", "fail", "incomplete"] = result.verdict
    assert (status, verdict, result.decisions[0].outcome) == ("graded", "pass", "met")


def test_a_name_without_a_value_is_never_graded(tmp_path: Path) -> None:
    file = tmp_path / "rubric.yaml"
    file.write_text("criteria: ['Counts in {{ unit }}']\n")
    for rubric in (["Counts in {{ unit }}"], file):
        with pytest.raises(assize.AssizeError, match="unit"):
            assize.grade(["Five days."], rubric)
        named = {"output": "It counts in days.", "vars": {"unit": "days"}}
        assert assize.grade([named], rubric)[0].reward == 1.0


@pytest.mark.parametrize(
    "rubric",
    [
        RUBRIC,
        {"criteria": RUBRIC, "threshold": 0.5},
        "criteria:\n  - Says that refunds take 5 days\n",
        tuple(RUBRIC),
    ],
)
def test_a_rubric_is_what_a_rubric_file_says(rubric: assize.RubricLike) -> None:
    assert assize.grade(["Refunds take 5 days."], rubric, judge="offline").rewards == [1.0]


def test_a_rubric_may_be_a_file(folder: Path) -> None:
    path = folder / "refunds.yaml"
    path.write_text("- Says that refunds take 5 days\n")
    for rubric in (path, "refunds.yaml"):
        assert assize.grade(["Refunds take 5 days."], rubric, judge="offline", folder=folder).rewards == [1.0]
    with pytest.raises(assize.UsageError, match=r"can't read the rubric `nowhere.yaml`"):
        assize.grade(["x"], "nowhere.yaml", judge="offline", folder=folder)


def test_problems_name_the_place_and_the_remedy() -> None:
    for sample, message in [
        ({"outptu": "x"}, r"samples\[1\]/outptu: unknown key; did you mean `output`"),
        ({"input": "x"}, r"samples\[1\]: no answer"),
        ({"output": "x", "messages": []}, "given twice"),
        ({"output": object()}, r"samples\[1\]/output: .*JSON"),
        ({"messages": [{"role": "robot", "content": ""}, {"role": "assistant", "content": "x"}]}, "/messages/0/role"),
        (3, "expected a text or a dictionary, found int"),
    ]:
        with pytest.raises(assize.UsageError, match=message):
            assize.grade(["fine", sample], RUBRIC, judge="offline")  # type: ignore[list-item]

    with pytest.raises(assize.InvalidFileError, match="did you mean `threshold`"):
        assize.grade(["x"], {"criteria": RUBRIC, "treshold": 1}, judge="offline")
    with pytest.raises(assize.InvalidFileError, match="city"):
        assize.grade(["x"], ["Names {{ city }}"], judge="offline")
    for options in ({"judging": "twice"}, {"threshold": 2}, {"cache": "maybe"}, {"max_concurrency": 0}, {"deadline": 0}):
        with pytest.raises(assize.UsageError, match=next(iter(options))):
            assize.grade(["x"], RUBRIC, judge="offline", **options)
    with pytest.raises(assize.UsageError, match="expected a list of samples"):
        assize.grade("x", RUBRIC, judge="offline")


def test_a_judge_without_a_key_is_found_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(assize.JudgeError, match="OPENAI_API_KEY"):
        assize.Grader("openai:judge-2")


def test_what_a_judge_fails_at_is_no_score(model: ModelServer) -> None:
    rubric = [
        {"id": "good", "outcome": "good", "weight": 3, "required": False},
        {"id": "open", "outcome": "open", "weight": 1, "required": False},
        {"id": "bad", "outcome": "bad", "weight": -2, "required": False},
    ]
    model.answer = lambda prompt: 400 if "\nopen\n" in prompt or "\nbad\n" in prompt else MET
    grader = assize.Grader("openai:judge-1", cache="off")

    result = grader.grade(["x"], rubric)[0]
    assert (result.status, result.reward, result.verdict) == ("partial", None, "incomplete")
    assert result.components == {"good": 1.0, "open": None, "bad": None}
    assert [decision.ungraded for decision in result.decisions] == [None, "transport", "transport"]
    assert result.error is not None and result.error.startswith("open: ")
    low, high = result.low, result.high
    assert low is not None and high is not None and low < high

    # The lowest score is the one with the good thing missing and the fault present.
    for policy, reward in (("low", low), ("high", high), (0.25, 0.25)):
        assumed = grader.grade(["x"], rubric, on_ungraded=policy)[0]  # type: ignore[arg-type]
        assert (assumed.reward, assumed.reward_assumed, assumed.status) == (reward, True, "partial")
    dropped = grader.grade(["x"], rubric, on_ungraded="drop")
    assert (len(dropped), dropped.summary["dropped"], dropped.summary["partial"]) == (0, 1, 1)
    with pytest.raises(assize.UngradedError, match=r"1 of 1 samples have no reward\n  samples\[0\]: open: ") as raised:
        grader.grade(["x"], rubric, on_ungraded="error")
    assert raised.value.results[0].components["good"] == 1.0
    with pytest.raises(assize.UsageError, match="on_ungraded"):
        grader.grade(["x"], rubric, on_ungraded="zero")  # type: ignore[arg-type]


def test_rewards_are_scores_gates_or_verdicts(model: ModelServer) -> None:
    rubric = {
        "threshold": 0.9,
        "criteria": [{"outcome": "must", "required": True}, {"outcome": "may", "weight": 3, "required": False}],
    }
    model.answer = lambda prompt: UNMET if "\nmust\n" in prompt else MET
    grader = assize.Grader("openai:judge-1", cache="off")
    rewards = {kind: grader.grade(["x"], rubric, reward=kind).rewards[0] for kind in ("score", "gated", "pass")}
    assert rewards == {"score": 0.75, "gated": 0.0, "pass": 0.0}
    assert grader.grade(["x"], rubric)[0].gates_failed == ["rubric-1"]


def test_one_limiter_and_one_budget_for_all_batches_of_a_grader(model: ModelServer) -> None:
    grader = assize.Grader("openai:judge-1", cache="off", max_concurrency=2, budget_calls=6)
    rewards = [grader.grade(["a", "b"], ["x", "y"]).rewards for _ in range(2)]

    assert rewards[0] == [1.0, 1.0]
    assert len(model.prompts) == 6
    assert model.most_in_flight <= 2
    second = grader.grade(["c"], ["x"])[0]
    assert (second.status, second.reward) == ("ungraded", None)
    assert second.error is not None and "budget" in second.error


def test_replies_are_cached_for_the_next_process_too(model: ModelServer, folder: Path) -> None:
    with assize.Grader("openai:judge-1", folder=folder) as grader:
        assert grader.grade(["a"], ["x"])[0].judge_calls_cached == 0
    again = assize.Grader("openai:judge-1", cache="only", folder=folder).grade(["a"], ["x"])[0]
    assert (again.reward, again.judge_calls_cached, len(model.prompts)) == (1.0, 1, 1)


def test_a_deadline_keeps_what_is_decided(model: ModelServer) -> None:
    model.answer = lambda prompt: None if "\nslow\n" in prompt else MET
    result = assize.grade(["x"], ["quick", "slow"], judge="openai:judge-1", cache="off", deadline=2.0)[0]
    assert (result.status, result.reward) == ("partial", None)
    assert [decision.ungraded for decision in result.decisions] == [None, "cancelled"]
    assert result.error is not None and "the deadline of 2 s passed" in result.error


def test_a_result_is_a_dictionary_of_json_values() -> None:
    result = assize.grade(["Refunds take 5 days."], RUBRIC, judge="offline")[0]
    row = result.to_dict()
    assert json.loads(json.dumps(row)) == row
    assert (row["status"], row["reward"], row["decisions"][0]["outcome"]) == ("graded", 1.0, "met")


def test_a_changed_judge_changes_the_hash_of_the_configuration() -> None:
    def hash_of(rubric: list[str]) -> str:
        return assize.grade(["x"], rubric, judge="offline")[0].judge_config_hash

    assert hash_of(["a"]) == hash_of(["a"]) != hash_of(["b"])
