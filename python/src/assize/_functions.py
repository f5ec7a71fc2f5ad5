"""The functions of the package: the methods of a grader that all calls with the same options share."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Optional, Union

import assize_native

from ._grader import shared_grader

if TYPE_CHECKING:
    from assize_native import Results, StoredRun
    from typing_extensions import Unpack

    from ._grader import JudgeLike, ResultStream
    from ._types import GraderOptions, OnUngraded, Reward, RubricLike, SampleLike


def grade(
    samples: Iterable[SampleLike],
    rubric: RubricLike,
    *,
    judge: JudgeLike = None,
    reward: Reward = "score",
    on_ungraded: OnUngraded = None,
    deadline: Optional[float] = None,
    **options: Unpack[GraderOptions],
) -> Results:
    """Grades samples by a rubric; returns a result for each, in their order.

    `options` are those of `Grader`. Calls with the same judge and options share one grader.
    """
    grader = shared_grader(judge, **options)
    return grader.grade(samples, rubric, reward=reward, on_ungraded=on_ungraded, deadline=deadline)


async def agrade(
    samples: Iterable[SampleLike],
    rubric: RubricLike,
    *,
    judge: JudgeLike = None,
    reward: Reward = "score",
    on_ungraded: OnUngraded = None,
    deadline: Optional[float] = None,
    **options: Unpack[GraderOptions],
) -> Results:
    """As `grade`, on an event loop: one awaitable for the whole batch."""
    grader = shared_grader(judge, **options)
    return await grader.agrade(samples, rubric, reward=reward, on_ungraded=on_ungraded, deadline=deadline)


def stream(
    samples: Iterable[SampleLike],
    rubric: RubricLike,
    *,
    judge: JudgeLike = None,
    reward: Reward = "score",
    on_ungraded: OnUngraded = None,
    deadline: Optional[float] = None,
    **options: Unpack[GraderOptions],
) -> ResultStream:
    """As `grade`, but each result comes when it is finished, by `for` or by `async for`."""
    grader = shared_grader(judge, **options)
    return grader.stream(samples, rubric, reward=reward, on_ungraded=on_ungraded, deadline=deadline)


def load_run(
    run: Union[str, os.PathLike[str]] = "last", *, folder: Union[str, os.PathLike[str], None] = None
) -> StoredRun:
    """Reads a stored run: a folder, an id in `.assize/runs` of `folder`, `"last"`, or `"last~N"`."""
    return assize_native.load_run(os.fspath(run), os.fspath(folder) if folder is not None else os.getcwd())
