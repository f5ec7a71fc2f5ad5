"""Judges written in Python."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import assize
import pytest

BANDS = {
    "id": "depth",
    "outcome": "Depth",
    "score_ranges": [
        {"score_range": [0, 4], "outcome": "shallow"},
        {"score_range": [5, 10], "outcome": "deep"},
    ],
}


def test_a_function_decides_on_each_criterion() -> None:
    @assize.judge(version="7")
    def house(question: assize.Question) -> dict[str, Any]:
        assert (question.question, question.reference, question.sample_id) == ("How long?", "5 days", "0")
        words, depth = question.criteria
        assert words.text == "Says 5" and depth.bands[1] == assize.ScoreBand(5, 10, "deep")
        return {words.id: assize.Judgement("5" in question.answer, "there is a 5", ["5 days"]), depth.id: 8}

    sample = {"input": "How long?", "output": "It takes 5 days.", "reference": "5 days"}
    result = assize.grade([sample], [{"id": "five", "outcome": "Says 5"}, BANDS], judge=house)[0]

    assert result.components == {"five": 1.0, "depth": 0.8}
    first, second = result.decisions
    assert (first.outcome, first.reason, first.judge) == ("met", "there is a 5", "house")
    assert [(quote.quote, quote.verified) for quote in first.evidence] == [("5 days", True)]
    assert (second.outcome, second.points) == ("scored", 8.0)


def test_a_coroutine_function_decides_too() -> None:
    @assize.judge(name="late")
    async def judge(question: assize.Question) -> list[bool]:
        await asyncio.sleep(0)
        return [True] * len(question.criteria)

    async def main() -> list[float | None]:
        return (await assize.agrade(["a"] * 20, ["x", "y"], judge=judge)).rewards

    assert asyncio.run(main()) == [1.0] * 20
    assert assize.grade(["a"], ["x"], judge=judge).rewards == [1.0]


@pytest.mark.parametrize(
    ("returned", "kind", "message"),
    [
        (None, "transport", "expected a mapping or a sequence"),
        ("met", "transport", "expected a mapping or a sequence"),
        ([], "malformed", "0 decisions on 1 criteria"),
        ([11], "transport", "decided 11"),
        ([7], "malformed", "decided `scored 7`; expected met or unmet"),
        (["not_applicable"], "malformed", "expected met or unmet"),
        ([None], "refusal", "did not decide"),
        ({"other": True}, "transport", "criteria that the rubric does not have: other"),
        (ValueError("out of ideas"), "transport", "ValueError: out of ideas"),
    ],
)
def test_what_is_no_decision_is_ungraded(returned: Any, kind: str, message: str) -> None:
    @assize.judge
    def broken(question: assize.Question) -> Any:
        if isinstance(returned, Exception):
            raise returned
        return returned

    result = assize.grade(["a"], ["x"], judge=broken)[0]
    assert (result.status, result.reward, result.decisions[0].ungraded) == ("ungraded", None, kind)
    assert result.error is not None and message in result.error


def test_required_evidence_is_looked_for_in_the_answer() -> None:
    @assize.judge
    def liar(question: assize.Question) -> list[assize.Judgement]:
        return [assize.Judgement(True, "trust me", ["words that nobody wrote"])]

    checked = assize.grade(["an answer"], {"criteria": ["x"]}, judge=liar)[0]
    assert [quote.verified for quote in checked.decisions[0].evidence] == [False]
    required = assize.grade(["an answer"], {"criteria": ["x"], "evidence": "required"}, judge=liar)[0]
    assert (required.reward, required.decisions[0].ungraded) == (None, "evidence")


def test_so_many_calls_run_at_once_and_no_more() -> None:
    lock, full, state = threading.Lock(), threading.Barrier(3), {"now": 0, "most": 0}

    @assize.judge(max_concurrency=3)
    def slow(question: assize.Question) -> list[bool]:
        with lock:
            state["now"] += 1
            state["most"] = max(state["most"], state["now"])
        full.wait(30)
        with lock:
            state["now"] -= 1
        return [True]

    assert assize.grade(["a"] * 9, ["x"], judge=slow).rewards == [1.0] * 9
    assert state["most"] == 3


def test_a_function_votes_in_a_panel_and_a_name_without_a_comma_is_needed() -> None:
    @assize.judge
    def yes(question: assize.Question) -> list[bool]:
        return [True]

    @assize.judge
    def no(question: assize.Question) -> list[bool]:
        return [False]

    result = assize.grade(["a"], ["Says hello"], judge=[yes, no, "offline"])[0]
    assert (result.reward, result.decisions[0].outcome) == (0.0, "unmet")
    with pytest.raises(assize.UsageError, match="comma"):
        assize.judge(name="a,b")(lambda question: [True])
