"""One awaitable for a batch, results as they come, and giving up."""

from __future__ import annotations

import asyncio
from typing import Any

import assize
import pytest
from conftest import MET, ModelServer


def test_a_batch_is_one_awaitable_and_leaves_the_loop_free(model: ModelServer) -> None:
    # The model answers only once the loop has done something else.
    model.answer = lambda prompt: None

    async def main() -> list[float | None]:
        batch = asyncio.create_task(assize.agrade(["a", "b"], ["x"], judge="openai:judge-1", cache="off"))
        await asyncio.to_thread(model.asked.wait, 30)
        model.release.set()
        return (await batch).rewards

    assert asyncio.run(main()) == [1.0, 1.0]


def test_cancelling_gives_up_what_is_in_flight(model: ModelServer) -> None:
    model.answer = lambda prompt: None

    async def main() -> None:
        batch = asyncio.create_task(assize.agrade(["a"], ["x"], judge="openai:judge-1", cache="off"))
        await asyncio.to_thread(model.asked.wait, 30)
        batch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await batch

    asyncio.run(main())


def test_results_come_when_they_are_finished(model: ModelServer) -> None:
    asked: list[str] = []

    def answer(prompt: str) -> Any:
        asked.append(prompt)
        # Not the first: a server that has not answered yet gets one call at a time.
        return None if asked.index(prompt) == 1 else MET

    model.answer = answer

    async def main() -> list[str]:
        order = []
        samples = [{"id": name, "output": f"answer {name}"} for name in ["a", "b", "c"]]
        async for result in assize.stream(samples, ["x"], judge="openai:judge-1", cache="off"):
            order.append(result.id)
            if len(order) == 2:
                model.release.set()
        return order

    order = asyncio.run(main())
    assert sorted(order) == ["a", "b", "c"]
    assert f"answer {order[2]}" in asked[1]


def test_a_stream_is_an_iterator_too(model: ModelServer) -> None:
    stream = assize.stream([str(number) for number in range(50)], ["x"], judge="openai:judge-1", cache="off")
    assert sorted(result.index for result in stream) == list(range(50))


def test_leaving_a_stream_gives_up_the_rest(model: ModelServer) -> None:
    model.answer = lambda prompt: None if "slow" in prompt else MET
    for result in assize.stream(["first", "slow", "quick"], ["x"], judge="openai:judge-1", cache="off"):
        assert result.index != 1
        if result.index == 2:
            break
    # The interpreter would wait for what is in flight.
    assert assize.grade(["quick"], ["x"], judge="openai:judge-1", cache="off").rewards == [1.0]


def test_an_empty_batch_has_no_results() -> None:
    assert len(assize.grade([], ["x"], judge="offline")) == 0
    assert asyncio.run(assize.agrade([], ["x"], judge="offline")).rewards == []
    assert list(assize.stream([], ["x"], judge="offline")) == []


def test_a_stream_raises_at_a_sample_without_a_reward(model: ModelServer) -> None:
    model.answer = lambda prompt: 400
    with pytest.raises(assize.UngradedError, match=r"samples\[0\]"):
        list(assize.stream(["a"], ["x"], judge="openai:judge-1", cache="off", on_ungraded="error"))
