"""Cases of eval files as items of pytest. The cases of a file are run together, by the program, when the first of them is due."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

import assize_native
import pytest

from ._find_assize import find_assize_bin

if TYPE_CHECKING:
    from pathlib import Path

    from assize_native import Decision, Result

_INVALID = 2
"""Exit code of `assize eval` when nothing was run."""

_runs = pytest.StashKey[Dict["EvalFile", "FileRun"]]()


class FileRun:
    """A run of cases of a file: its results by case id, or the message of what prevented it."""

    def __init__(self, results: Dict[str, List[Result]], folder: str, problem: Optional[str]) -> None:
        self.results = results
        self.folder = folder
        self.problem = problem


class EvalFile(pytest.File):
    """An eval file."""

    def collect(self) -> Iterator[EvalCase]:
        """The cases, by reading the file. Nothing is run."""
        try:
            cases = assize_native.eval_cases(str(self.path), str(self.config.invocation_params.dir))
        except Exception as error:
            raise self.CollectError(str(error)) from None
        for _, case_id, line in cases:
            yield EvalCase.from_parent(self, name=case_id, line=line)


class EvalCase(pytest.Item):
    """A case of an eval file."""

    def __init__(self, *, line: int, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.line = line
        self._results: List[Result] = []

    def setup(self) -> None:
        """Has the case run, if it was not run with an earlier one."""
        run = _run_of(self)
        self._results = run.results.get(self.name, [])
        if not self._results:
            problem = run.problem or f"the run {run.folder} has no result of this case"
            pytest.fail(problem, pytrace=False)
        for result in self._results:
            self.user_properties.append(("assize_verdict", result.verdict))
            self.user_properties.append(("assize_score", result.score))
            self.user_properties.append(("assize_run", run.folder))
        if all(result.verdict == "incomplete" for result in self._results):
            # What fails in the setup is an error, and not a failure.
            pytest.fail(describe(self._results), pytrace=False)

    def runtest(self) -> None:
        """Fails unless every result of the case passed."""
        text = describe(self._results)
        if any(result.verdict != "pass" for result in self._results):
            pytest.fail(text, pytrace=False)
        self.add_report_section("call", "criteria", text)

    def reportinfo(self) -> Tuple[Path, Optional[int], str]:
        """Place of the case in its file."""
        return self.path, self.line - 1, self.name


def describe(results: List[Result]) -> str:
    """The verdict of a case, and each criterion with its reason."""
    lines: List[str] = []
    for result in results:
        target = f" with {result.target}" if result.target else ""
        repeat = f", repeat {result.repeat}" if len(results) > 1 and result.repeat else ""
        score = "unknown" if result.score is None else f"{result.score:.2f}"
        lines.append(f"{result.verdict}{target}{repeat}, score {score}")
        lines.extend(_decision(decision) for decision in result.decisions)
        if result.error:
            lines.append(f"  {result.error}")
        for grader in result.to_dict().get("graders", []):
            if not grader["criteria"]:
                lines.append(f"  {_mark(grader['verdict'])} {grader['name']} ({grader['type']})")
    return "\n".join(lines)


def _decision(decision: Decision) -> str:
    points = f" {decision.points:g}/10" if decision.points is not None else ""
    return f"  {_mark(decision.outcome)} {decision.criterion}{points}: {decision.reason}"


def _mark(word: Optional[str]) -> str:
    marks = {"met": "+", "pass": "+", "unmet": "-", "fail": "-", "borderline": "-", "not_applicable": "o"}
    return marks.get(word or "", "?" if word in (None, "ungraded", "incomplete") else "=")


def _run_of(case: EvalCase) -> FileRun:
    file = case.parent
    assert isinstance(file, EvalFile)
    runs = case.session.stash.setdefault(_runs, {})
    known = runs.get(file)
    if known is not None and (case.name in known.results or known.problem is not None):
        return known

    if hasattr(case.config, "workerinput"):
        # A worker of pytest-xdist does not know which cases it will get. The reply cache is shared.
        ids = [case.name]
    else:
        ids = [item.name for item in case.session.items if isinstance(item, EvalCase) and item.parent is file]
    run = runs[file] = _run(case.config, file.path, ids)
    return run


def _run(config: pytest.Config, path: Path, ids: List[str]) -> FileRun:
    command = [find_assize_bin(), "eval", str(path), "--json"]
    for case_id in ids:
        command += ["--filter", _escaped(case_id)]
    for judge in config.getoption("assize_judge") or []:
        command += ["--judge", judge]
    command += shlex.split(config.getoption("assize_args"))

    folder = config.invocation_params.dir
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    if done.returncode == _INVALID or not done.stdout:
        return FileRun({}, "", done.stderr.strip() or f"`assize eval` ended with exit code {done.returncode}")
    run_folder = json.loads(done.stdout)["run_dir"]
    run = assize_native.load_run(run_folder, str(folder))

    results: Dict[str, List[Result]] = {}
    for result in run.results:
        results.setdefault(result.id, []).append(result)
    return FileRun(results, run_folder, None)


def _escaped(case_id: str) -> str:
    """A pattern that matches this id only."""
    return re.sub(r"[*?\[\]{}\\]", lambda match: f"[{match.group()}]", case_id)
