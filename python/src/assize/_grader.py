"""Grading: batches of samples in, results out."""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

import assize_native

from ._errors import ForkError, UngradedError, UsageError
from ._judge import Judge
from ._rubric import rubric_text

if TYPE_CHECKING:
    import asyncio

    from assize_native import Job, Result, Results
    from typing_extensions import Unpack

    from ._types import CacheUse, GraderOptions, OnUngraded, Reward, RubricLike, SampleLike

    JudgeLike = Union[str, Judge, Sequence[Union[str, Judge]], None]

_POLL_SECONDS = 0.1
"""Time after which a waiting call looks for signals, such as Ctrl-C."""


class Grader:
    """Judges with one limiter, one budget and one reply cache, for any number of batches.

    `judge` is a model such as `"openai:MODEL"`, `"offline"`, a function made by `assize.judge`, or several of them, which are a
    panel. Without one it is that of the configuration file in `folder`, or of the environment.

    The other options are those of `assize grade` with the same names. `budget_usd` and `budget_calls` are for all batches
    together. `cache` is `"on"`, `"off"`, or `"only"`: then no model is asked.
    """

    def __init__(
        self,
        judge: JudgeLike = None,
        *,
        judging: Optional[str] = None,
        judge_repeats: Optional[int] = None,
        judge_temperature: Optional[float] = None,
        threshold: Optional[float] = None,
        max_concurrency: Optional[int] = None,
        requests_per_minute: Optional[int] = None,
        tokens_per_minute: Optional[int] = None,
        request_timeout: Optional[float] = None,
        max_output_tokens: Optional[int] = None,
        budget_usd: Optional[float] = None,
        budget_calls: Optional[int] = None,
        cache: CacheUse = "on",
        samples_at_once: Optional[int] = None,
        folder: Union[str, os.PathLike[str], None] = None,
    ) -> None:
        judges = [judge] if isinstance(judge, (str, Judge)) else list(judge or ())
        functions = [one for one in judges if isinstance(one, Judge)]
        self._native = assize_native.Grader(
            {
                "judges": [one.name if isinstance(one, Judge) else one for one in judges],
                "functions": [(one.name, one.version, one._decide, one.max_concurrency) for one in functions],
                "folder": os.fspath(folder) if folder is not None else os.getcwd(),
                "samples_at_once": samples_at_once,
                "judging": judging,
                "judge_repeats": judge_repeats,
                "judge_temperature": judge_temperature,
                "threshold": threshold,
                "max_concurrency": max_concurrency,
                "requests_per_minute": requests_per_minute,
                "tokens_per_minute": tokens_per_minute,
                "request_timeout": request_timeout,
                "max_output_tokens": max_output_tokens,
                "budget_usd": budget_usd,
                "budget_calls": budget_calls,
                "cache": cache,
            }
        )
        _graders.add(self)
        self._log_warnings()

    @property
    def judges(self) -> List[str]:
        """Names of the judges of a rubric that names none."""
        return self._native.judges()

    def grade(
        self,
        samples: Iterable[SampleLike],
        rubric: RubricLike,
        *,
        reward: Reward = "score",
        on_ungraded: OnUngraded = None,
        deadline: Optional[float] = None,
    ) -> Results:
        """Grades samples by a rubric; returns a result for each, in their order.

        What is not decided `deadline` seconds from now is ungraded. Ctrl-C raises `KeyboardInterrupt` and gives up what is in
        flight.
        """
        job = self._start(samples, rubric, reward, on_ungraded, deadline, None, False)
        try:
            while not job.wait(_POLL_SECONDS):
                pass
        except BaseException:
            job.cancel("the call was interrupted")
            raise
        return self._results(job)

    async def agrade(
        self,
        samples: Iterable[SampleLike],
        rubric: RubricLike,
        *,
        reward: Reward = "score",
        on_ungraded: OnUngraded = None,
        deadline: Optional[float] = None,
    ) -> Results:
        """As `grade`, on an event loop: one awaitable for the whole batch. Cancelling it gives up what is in flight."""
        signal = _LoopSignal()
        job = self._start(samples, rubric, reward, on_ungraded, deadline, signal, False)
        try:
            while not job.done():
                await signal.wait()
        except BaseException:
            job.cancel("the call was cancelled")
            raise
        return self._results(job)

    def stream(
        self,
        samples: Iterable[SampleLike],
        rubric: RubricLike,
        *,
        reward: Reward = "score",
        on_ungraded: OnUngraded = None,
        deadline: Optional[float] = None,
    ) -> ResultStream:
        """Grades samples by a rubric; each result comes when it is finished, by `for` or by `async for`."""
        return ResultStream(self, samples, rubric, reward, on_ungraded, deadline)

    def flush(self) -> None:
        """Waits until every reply of a model is in the cache. The end of the interpreter does the same."""
        self._native.flush()

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: object) -> None:
        self._native.cancel("the grader was closed")
        self._native.flush()
        self._log_warnings()

    def _start(
        self,
        samples: Iterable[SampleLike],
        rubric: RubricLike,
        reward: Reward,
        on_ungraded: OnUngraded,
        deadline: Optional[float],
        notify: Optional[Callable[[], None]],
        notify_each: bool,
    ) -> Job:
        if isinstance(samples, (str, dict)):
            raise UsageError("samples is one sample; expected a list of samples")
        policy: Tuple[Optional[str], Optional[float]] = (None, None)
        if isinstance(on_ungraded, str):
            policy = (on_ungraded, None)
        elif on_ungraded is not None:
            policy = (None, float(on_ungraded))
        try:
            return self._native.start(
                samples, rubric_text(rubric), reward, policy, deadline, notify, notify_each
            )
        finally:
            self._log_warnings()

    def _results(self, job: Job) -> Results:
        self._log_warnings()
        return job.results()

    def _log_warnings(self) -> None:
        warnings = self._native.take_warnings()
        if warnings:
            import logging

            for message in warnings:
                logging.getLogger("assize").warning("%s", message)


class ResultStream:
    """Results as they are finished. Leaving the loop early gives up what is in flight."""

    def __init__(
        self,
        grader: Grader,
        samples: Iterable[SampleLike],
        rubric: RubricLike,
        reward: Reward,
        on_ungraded: OnUngraded,
        deadline: Optional[float],
    ) -> None:
        self._grader = grader
        self._signal = _StreamSignal()
        self._on_ungraded = on_ungraded
        self._job = grader._start(samples, rubric, reward, on_ungraded, deadline, self._signal, True)

    def __iter__(self) -> Iterator[Result]:
        try:
            while True:
                self._wait()
                ended = self._job.done()
                yield from map(self._checked, self._job.take())
                if ended:
                    return
        finally:
            self._close()

    async def __aiter__(self) -> AsyncIterator[Result]:
        signal = _LoopSignal()
        self._signal.forward = signal
        try:
            while True:
                ended = self._job.done()
                news = self._job.take()
                for result in news:
                    yield self._checked(result)
                if ended:
                    return
                if not news:
                    await signal.wait()
        finally:
            self._close()

    def cancel(self) -> None:
        """Gives up what is in flight: it is ungraded."""
        self._job.cancel("the stream was cancelled")

    def _wait(self) -> None:
        while not self._job.wait_next(_POLL_SECONDS):
            pass

    def _checked(self, result: Result) -> Result:
        if self._on_ungraded == "error" and result.reward is None:
            raise UngradedError(f"samples[{result.index}] has no reward: {result.error}", [result])
        return result

    def _close(self) -> None:
        if not self._job.done():
            self.cancel()
        self._grader._log_warnings()


class _StreamSignal:
    """Passes news on to the event loop of whoever iterates, if anybody does."""

    def __init__(self) -> None:
        self.forward: Optional[_LoopSignal] = None

    def __call__(self) -> None:
        if self.forward is not None:
            self.forward()


class _LoopSignal:
    """Event of the running loop that any thread sets."""

    def __init__(self) -> None:
        import asyncio

        self._loop: asyncio.AbstractEventLoop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def __call__(self) -> None:
        self._loop.call_soon_threadsafe(self._event.set)

    async def wait(self) -> None:
        """Waits until there is news."""
        await self._event.wait()
        self._event.clear()


_graders: weakref.WeakSet[Grader] = weakref.WeakSet()
_shared: Dict[Tuple[Any, ...], Grader] = {}


def shared_grader(judge: JudgeLike = None, **options: Unpack[GraderOptions]) -> Grader:
    """The grader that all calls with the same options share: one limiter, one budget, one reply cache."""
    judges = judge if isinstance(judge, (str, Judge)) or judge is None else tuple(judge)
    key = (os.fspath(options.get("folder") or os.getcwd()), judges, *sorted(options.items()))
    grader = _shared.get(key)
    if grader is None:
        grader = _shared[key] = Grader(judge, **options)
    return grader


@atexit.register
def _flush_all() -> None:
    """Gives up what nobody waits for, and keeps the replies that were paid for."""
    for grader in list(_graders):
        try:
            grader._native.cancel("the interpreter ends")
            grader._native.flush()
        except ForkError:
            # The graders of the parent are the parent's.
            pass
        except Exception as error:
            import sys

            print(f"assize: {error}", file=sys.stderr)
