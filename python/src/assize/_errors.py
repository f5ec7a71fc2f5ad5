"""The errors of the library. All of them are `AssizeError`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assize_native import Result


class AssizeError(Exception):
    """Base of the errors of the library. What failed was not graded; it never counts as a score."""


class UsageError(AssizeError, ValueError):
    """Wrong arguments: a sample without an answer, an option out of its range."""


class InvalidFileError(AssizeError, ValueError):
    """A rubric, a configuration or an eval file with problems. The message names each with its line."""


class JudgeError(AssizeError):
    """A judge that can't be used: an unknown name, a missing key."""


class BudgetError(AssizeError):
    """A budget that can't be kept, such as one in money for a model without a known price."""


class UnreadableError(AssizeError, OSError):
    """A file or a stored run that can't be read."""


class StorageError(AssizeError, OSError):
    """A reply cache or a file that can't be written."""


class ForkError(AssizeError, RuntimeError):
    """A grader that is used in a forked child of the process that made it."""


class InternalError(AssizeError, RuntimeError):
    """A failure of the library itself."""


class UngradedError(AssizeError):
    """Samples without a reward, where `on_ungraded="error"` asked for an error.

    `results` has the results of all samples, those that were graded too.
    """

    def __init__(self, message: str, results: list[Result] | None = None) -> None:
        super().__init__(message)
        self.results: list[Result] = results or []
