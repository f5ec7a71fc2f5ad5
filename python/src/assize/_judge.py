"""Judges written in Python."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Optional, overload

from ._errors import UsageError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from assize_native import JudgeTask

    from ._question import JudgeFunction, Judgements, NativeDecision, Question


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

    def __call__(self, question: Question) -> Judgements | Awaitable[Judgements]:
        return self.function(question)

    def __repr__(self) -> str:
        return f"Judge({self.name!r}, version={self.version!r})"

    def _decide(self, task: JudgeTask) -> list[NativeDecision]:
        """Decides on a task of the engine. What it raises makes the criteria ungraded."""
        from ._question import decisions, question

        asked = question(task)
        returned = self.function(asked)
        if hasattr(returned, "__await__"):
            returned = _run(returned)
        return decisions(asked.criteria, returned)


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
) -> Judge | Callable[[JudgeFunction], Judge]:
    """Makes a function a judge: it gets a `Question` and returns a decision for each criterion.

    Change `version` whenever the decisions can change: it is part of `judge_config_hash`. At most `max_concurrency` calls run
    at once, on threads of their own. A coroutine function runs on an event loop that all judges share.

    What it raises, and what is no decision, makes the criteria ungraded; it never becomes a score.
    """

    def make(function: JudgeFunction) -> Judge:
        own = name if name is not None else getattr(function, "__name__", type(function).__name__)
        return Judge(function, own, version, max_concurrency)

    return make if function is None else make(function)


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
