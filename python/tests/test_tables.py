"""Results as tables of polars, pandas and pyarrow, by the Arrow PyCapsule interface."""

from __future__ import annotations

import assize
import pytest
from assize_native import Results


@pytest.fixture
def results() -> Results:
    @assize.judge
    def judge(question: assize.Question) -> list[bool | None]:
        return [question.answer != "bad", None if question.answer == "odd" else True]

    rubric: assize.RubricLike = [{"id": "a", "outcome": "x", "required": True}, {"id": "b", "outcome": "y"}]
    return assize.grade(["good", "bad", "odd"], rubric, judge=judge)


def test_polars(results: Results) -> None:
    polars = pytest.importorskip("polars")
    table = polars.DataFrame(results)
    assert table["reward"].to_list() == results.rewards == [1.0, 0.5, None]
    assert table["status"].to_list() == ["graded", "graded", "partial"]
    assert table["gates_failed"].to_list() == [[], ["a"], []]

    decisions = polars.DataFrame(results.decisions())
    assert decisions.select("id", "criterion", "value").rows() == [
        ("0", "a", 1.0),
        ("0", "b", 1.0),
        ("1", "a", 0.0),
        ("1", "b", 1.0),
        ("2", "a", 1.0),
        ("2", "b", None),
    ]


def test_pyarrow(results: Results) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(results)
    assert table.column("reward").to_pylist() == results.rewards
    assert table.schema.field("judge_calls").type == pyarrow.uint64()
    reader = pyarrow.RecordBatchReader.from_stream(results.decisions())
    assert reader.read_all().num_rows == len(results.decisions()) == 6


def test_pandas(results: Results) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    if not hasattr(pandas.DataFrame, "from_arrow"):
        pytest.skip("this pandas has no DataFrame.from_arrow")
    frame = pandas.DataFrame.from_arrow(results)
    assert frame["score"].fillna(-1).tolist() == [1.0, 0.5, -1]


def test_tables_without_rows_and_of_several_batches() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    empty = assize.grade([], ["x"], judge="offline")
    assert pyarrow.table(empty).num_rows == 0
    assert pyarrow.table(empty).schema == pyarrow.table(assize.grade(["a"], ["x"], judge="offline")).schema

    many = assize.grade([str(number) for number in range(9000)], ["x"], judge="offline")
    table = pyarrow.table(many)
    assert table.column("index").to_pylist() == list(range(9000))
    assert table.column("index").num_chunks == 2
