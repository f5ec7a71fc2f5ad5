"""Rubric evaluation: grade the output of language models against criteria.

The package has the program `assize` (`find_assize_bin`, `python -m assize`). With `assize-native`, which
`pip install 'assize[library]'` installs, it is a library too. Nothing is imported before it is used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assize_native import Decision, Evidence, Job, Result, Results, StoredRun

    from ._errors import (
        AssizeError,
        BudgetError,
        ForkError,
        InternalError,
        InvalidFileError,
        JudgeError,
        StorageError,
        UngradedError,
        UnreadableError,
        UsageError,
    )
    from ._find_assize import find_assize_bin
    from ._functions import agrade, grade, load_run, stream
    from ._grader import Grader, ResultStream
    from ._judge import Judge, judge
    from ._question import Criterion, Judgement, Question, ScoreBand
    from ._types import GraderOptions, OnUngraded, Reward, RubricLike, Sample, SampleLike

__all__ = [
    "AssizeError",
    "BudgetError",
    "Criterion",
    "Decision",
    "Evidence",
    "ForkError",
    "Grader",
    "GraderOptions",
    "InternalError",
    "InvalidFileError",
    "Judge",
    "JudgeError",
    "Judgement",
    "OnUngraded",
    "Question",
    "Result",
    "ResultStream",
    "Results",
    "Reward",
    "RubricLike",
    "Sample",
    "SampleLike",
    "ScoreBand",
    "StorageError",
    "StoredRun",
    "UngradedError",
    "UnreadableError",
    "UsageError",
    "agrade",
    "find_assize_bin",
    "grade",
    "judge",
    "load_run",
    "stream",
]

_PLACES = {
    "assize_native": ("Decision", "Evidence", "Result", "Results", "StoredRun"),
    "assize._errors": (
        "AssizeError",
        "BudgetError",
        "ForkError",
        "InternalError",
        "InvalidFileError",
        "JudgeError",
        "StorageError",
        "UngradedError",
        "UnreadableError",
        "UsageError",
    ),
    "assize._find_assize": ("find_assize_bin",),
    "assize._functions": ("agrade", "grade", "load_run", "stream"),
    "assize._grader": ("Grader", "ResultStream"),
    "assize._judge": ("Judge", "judge"),
    "assize._question": ("Criterion", "Judgement", "Question", "ScoreBand"),
    "assize._types": ("GraderOptions", "OnUngraded", "Reward", "RubricLike", "Sample", "SampleLike"),
}


def __getattr__(name: str) -> object:
    place = next((module for module, names in _PLACES.items() if name in names), None)
    if place is None:
        raise AttributeError(f"module 'assize' has no attribute {name!r}")

    import importlib

    try:
        value = getattr(importlib.import_module(place), name)
    except ModuleNotFoundError as error:
        if error.name != "assize_native":
            raise
        message = f"assize.{name} needs the library: pip install 'assize[library]'"
        raise ImportError(message, name="assize_native") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
