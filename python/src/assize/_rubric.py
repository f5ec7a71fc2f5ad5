"""Rubrics in the forms in which Python code has them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Optional, Tuple

from ._errors import UsageError

if TYPE_CHECKING:
    from ._types import RubricLike

_ENDINGS = (".yaml", ".yml", ".json")


def rubric_text(rubric: RubricLike) -> Tuple[str, Optional[str]]:
    """Returns the path of a rubric, and its text unless it is that of a file."""
    if isinstance(rubric, os.PathLike):
        return os.fspath(rubric), None
    if isinstance(rubric, str):
        # The text of a rubric has a colon or a line break; a path has neither, but an ending.
        is_path = rubric.lower().endswith(_ENDINGS) and "\n" not in rubric and ": " not in rubric
        return (rubric, None) if is_path else ("rubric.yaml", rubric)
    if not rubric:
        raise UsageError("the rubric is empty; expected a list of criteria, a dictionary, YAML text or a path")

    import json

    try:
        content = dict(rubric) if hasattr(rubric, "keys") else list(rubric)
        return "rubric.json", json.dumps(content, ensure_ascii=False, default=_plain)
    except TypeError as error:
        raise UsageError(f"the rubric has a value that is no JSON: {error}") from error


def _plain(value: object) -> object:
    """Returns mappings and sequences of other kinds as those that JSON knows."""
    if hasattr(value, "keys") and hasattr(value, "__getitem__"):
        return dict(value)
    if isinstance(value, (tuple, set, frozenset)) or hasattr(value, "__iter__"):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
