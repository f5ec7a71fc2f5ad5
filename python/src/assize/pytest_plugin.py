"""Eval files as tests: `pytest --assize evals` has a test for each case.

Every run of pytest in the environment imports this module, so it imports nothing: the rest is in `_pytest_cases`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Optional

    import pytest

_ENDINGS = (".eval.yaml", ".eval.yml", ".eval.jsonl")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options. All of them begin with `assize`."""
    group = parser.getgroup("assize", "rubric evaluation")
    group.addoption("--assize", action="store_true", help="collect the cases of eval files (*.eval.yaml, *.eval.jsonl)")
    group.addoption("--assize-judge", metavar="JUDGE", action="append", help="judge, as `assize eval --judge`; repeatable")
    group.addoption("--assize-args", metavar="ARGS", default="", help="more options of `assize eval`, as on a command line")
    parser.addini("assize", "collect the cases of eval files", type="bool", default=False)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Optional[pytest.Collector]:
    """Collects an eval file, if that was asked for."""
    if not file_path.name.endswith(_ENDINGS):
        return None
    if not (parent.config.getoption("assize") or parent.config.getini("assize")):
        return None

    from ._pytest_cases import EvalFile

    return EvalFile.from_parent(parent, path=file_path)
