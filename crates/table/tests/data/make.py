"""Writes the Parquet files of the tests: `pip install pyarrow polars`, then `python make.py` in this folder."""

import datetime as dt
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

moment = dt.datetime(2026, 5, 1, 12, 30)
table = pa.table(
    {
        "id": ["007", "b"],
        "answer": ['two\nlines, "quoted"', None],
        "n": pa.array([9007199254740993, 7], pa.int64()),
        "score": [0.25, 3.0],
        "small": pa.array([0.1, 2], pa.float32()),
        "ok": [True, False],
        "day": [moment.date(), dt.date(1969, 12, 31)],
        "at": pa.array([moment, None], pa.timestamp("ms")),
        "utc": pa.array([moment.replace(microsecond=500), None], pa.timestamp("us", "UTC")),
        "nano": pa.array([int(moment.replace(tzinfo=dt.timezone.utc).timestamp()) * 10**9 + 1, None], pa.timestamp("ns")),
        "time": pa.array([moment.time(), None], pa.time64("us")),
        "price": pa.array([Decimal("-0.05"), Decimal("12")], pa.decimal128(20, 2)),
        "tags": [["a", "b"], []],
        "meta": pa.array([{"k": 1, "l": [1.5, None]}, None], pa.struct([("k", pa.int32()), ("l", pa.list_(pa.float64()))])),
        "raw": pa.array([b"text", None], pa.binary()),
    }
)
plain = {"store_schema": False, "write_statistics": False}
pq.write_table(table, "types-snappy.parquet", **plain)
pq.write_table(table, "types-zstd-v2.parquet", compression="zstd", data_page_version="2.0", **plain)
pq.write_table(table, "types-gzip.parquet", compression="gzip", row_group_size=1, **plain)
pq.write_table(table, "types-none.parquet", compression="none", use_dictionary=False, **plain)
pq.write_table(pa.table({"a": ["x"]}), "brotli.parquet", compression="brotli", **plain)
pq.write_table(pa.table({"a": pa.array([b"x", b"\xff"], pa.binary())}), "binary.parquet", **plain)
# Three texts of 200 MiB of one letter, and eleven million rows of one number.
big = pa.table({"a": ["a" * (200 << 20)] * 3})
pq.write_table(big, "bomb.parquet", compression="zstd", use_dictionary=False, row_group_size=1, **plain)
pq.write_table(pa.table({"a": pa.array([1] * 11_000_000, pa.int32())}), "long.parquet", row_group_size=11_000_000, **plain)
pl.DataFrame({"id": ["a", "b"], "answer": ["x", "ü"], "scores": [[1.0, None], []]}).write_parquet("polars.parquet")

# Of the tests of the command line.
answers = {"id": ["007", "b"], "Model Output": ['apples\nand "pears"', "pears, only"], "question": ["Which?", None], "tags": [["x", "y"], []]}
pq.write_table(pa.table(answers), "answers.parquet", **plain)
pq.write_table(pa.table({"id": ["a", "a"], "answer": ["x", "y"]}), "twice.parquet", **plain)
pq.write_table(pa.table({"id": ["a", "b", "c"], "answer": ["x", None, ""]}), "nulls.parquet", **plain)
scores = {"case": [f"c{n}" for n in range(12)], "scores": [[n % 2, 1, n % 3 == 0] for n in range(12)]}
pq.write_table(pa.table({**scores, "scores": pa.array([[float(s) for s in row] for row in scores["scores"]])}), "labels.parquet", **plain)
pq.write_table(pa.table({"answer": ["say apples", "say pears"], "__expected": ["contains: apples"] * 2}), "tests.parquet", **plain)
pq.write_table(pa.table({"criterion": ["Names apples", "Names pears"], "weight": [1, 2]}), "criteria.parquet", **plain)
