//! Results as Arrow tables through the PyCapsule interface. Arrow libraries read them without a copy, and
//! Python needs no Arrow library.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::failure::LibraryError;
use crate::result_data::{ResultData, gates_failed, known_cost};

/// Rows per batch. Text offsets have 32 bits, so the texts of a batch may take 2 GiB.
const BATCH_ROWS: usize = 8192;

/// A table that Arrow readers take: `polars.DataFrame(table)`, `pyarrow.table(table)`.
#[pyclass(frozen, module = "assize_native")]
pub(crate) struct ArrowTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl ArrowTable {
    /// The table, through the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.stream(py, requested_schema)
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

impl ArrowTable {
    /// A capsule with a stream of the batches. A requested schema is only a hint, which the interface allows a
    /// producer to ignore.
    pub(crate) fn stream<'py>(
        &self,
        py: Python<'py>,
        _requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let batches: Vec<Result<RecordBatch, ArrowError>> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    fn new<T>(rows: &[T], batch: impl Fn(&[T]) -> Result<RecordBatch, ArrowError>) -> PyResult<Self> {
        let failed = |error: ArrowError| LibraryError::internal(error.to_string());
        // A table without rows still has its columns.
        let schema = batch(&[]).map_err(failed)?.schema();
        let batches = rows.chunks(BATCH_ROWS).map(batch).collect::<Result<_, _>>().map_err(failed)?;
        Ok(Self { schema, batches })
    }
}

/// Columns of a batch, by name.
#[derive(Default)]
struct ColumnSet(Vec<(&'static str, ArrayRef)>);

impl ColumnSet {
    fn add<T, A: Array + FromIterator<T> + 'static>(
        &mut self,
        name: &'static str,
        values: impl Iterator<Item = T>,
    ) {
        self.0.push((name, Arc::new(values.collect::<A>())));
    }

    fn text<T: AsRef<str>>(&mut self, name: &'static str, values: impl Iterator<Item = Option<T>>) {
        self.add::<_, StringArray>(name, values);
    }

    fn texts(&mut self, name: &'static str, values: impl Iterator<Item = Vec<String>>) {
        let mut column = ListBuilder::new(StringBuilder::new());
        values.for_each(|list| column.append_value(list.into_iter().map(Some)));
        self.0.push((name, Arc::new(column.finish())));
    }

    fn float(&mut self, name: &'static str, values: impl Iterator<Item = Option<f64>>) {
        self.add::<_, Float64Array>(name, values);
    }

    fn whole(&mut self, name: &'static str, values: impl Iterator<Item = Option<u64>>) {
        self.add::<_, UInt64Array>(name, values);
    }

    fn flag(&mut self, name: &'static str, values: impl Iterator<Item = bool>) {
        self.add::<_, BooleanArray>(name, values.map(Some));
    }

    fn finish(self) -> Result<RecordBatch, ArrowError> {
        let batch = RecordBatch::try_from_iter_with_nullable(
            self.0.into_iter().map(|(name, column)| (name, column, true)),
        )?;
        let schema = Schema::new(batch.schema().fields().clone());
        batch.with_schema(Arc::new(schema))
    }
}

/// Table with a row for each result.
pub(crate) fn result_table(items: &[Arc<ResultData>]) -> PyResult<ArrowTable> {
    ArrowTable::new(items, |rows| {
        let results = || rows.iter().map(|data| &data.result);
        let cases = || rows.iter().map(|data| data.case.as_ref().map(|case| &case.row));
        let mut columns = ColumnSet::default();
        columns.whole("index", results().map(|result| Some(result.index as u64)));
        columns.text("id", results().map(|result| Some(&result.id)));
        columns.text("group", results().map(|result| result.group.as_ref()));
        columns.text("status", results().map(|result| Some(result.status.name())));
        columns.float("reward", results().map(|result| result.reward));
        columns.flag("reward_assumed", results().map(|result| result.reward_assumed));
        columns.float("score", results().map(|result| result.score));
        columns.float("low", results().map(|result| result.score_low));
        columns.float("high", results().map(|result| result.score_high));
        columns.float("coverage", results().map(|result| result.coverage));
        columns.text("verdict", results().map(|result| Some(result.verdict.name())));
        columns.texts("gates_failed", results().map(gates_failed));
        columns.text("error", results().map(|result| result.error.as_ref()));
        columns.whole("judge_calls", results().map(|result| Some(result.judge_calls)));
        columns.whole("judge_calls_cached", results().map(|result| Some(result.judge_calls_cached)));
        columns.whole("input_tokens", results().map(|result| result.tokens.input));
        columns.whole("output_tokens", results().map(|result| result.tokens.output));
        columns
            .float("cost_usd", results().map(|result| result.cost_usd.map(assize_engine::Usd::as_dollars)));
        columns.float("known_cost_usd", results().map(|result| Some(known_cost(result))));
        columns.whole("duration_ms", results().map(|result| Some(result.duration_ms)));
        columns.text("judge_config_hash", results().map(|result| Some(&result.judge_config_hash)));
        columns.text("suite", cases().map(|row| row.map(|row| &*row.suite)));
        columns.text("target", cases().map(|row| row.and_then(|row| row.target.as_deref())));
        columns.add::<_, UInt32Array>("repeat", cases().map(|row| row.map(|row| row.trial)));
        columns.text("answer", cases().map(|row| row.and_then(|row| row.answer.as_deref())));
        columns.finish()
    })
}

/// Table with a row for each decision.
pub(crate) fn decision_table(items: &[Arc<ResultData>]) -> PyResult<ArrowTable> {
    let rows: Vec<(&ResultData, usize)> =
        items.iter().flat_map(|data| (0..data.result.decisions.len()).map(move |at| (&**data, at))).collect();
    ArrowTable::new(&rows, |rows| {
        let decisions = || rows.iter().map(|(data, at)| &data.result.decisions[*at]);
        let criteria = || decisions().map(|decision| &decision.decision);
        let mut columns = ColumnSet::default();
        columns.whole("index", rows.iter().map(|(data, _)| Some(data.result.index as u64)));
        columns.text("id", rows.iter().map(|(data, _)| Some(&data.result.id)));
        columns.text("grader", rows.iter().map(|(data, at)| data.grader(*at)));
        columns.text("criterion", criteria().map(|row| Some(&*row.id)));
        columns.text("outcome", criteria().map(|row| Some(row.outcome.name())));
        columns.float("value", criteria().map(|row| row.value));
        columns.float("points", criteria().map(assize_store::CriterionRow::score_out_of_ten));
        columns.float("weight", criteria().map(|row| Some(row.weight)));
        columns.text("gate", criteria().map(|row| row.gate.as_deref()));
        columns.text("reason", criteria().map(|row| Some(&row.reason)));
        let quotes = |row: &assize_store::CriterionRow| {
            row.evidence.iter().map(|quote| quote.quote.clone()).collect::<Vec<_>>()
        };
        columns.texts("evidence", criteria().map(quotes));
        columns
            .flag("evidence_verified", criteria().map(|row| row.evidence.iter().all(|quote| quote.verified)));
        columns.text("judge", criteria().map(|row| Some(&*row.judge.name)));
        columns.text("model", criteria().map(|row| row.judge.model.as_deref()));
        let kind = |decision: &assize_engine::DecisionResult| {
            decision.ungraded.as_ref().map(|reason| reason.kind.name())
        };
        columns.text("ungraded", decisions().map(kind));
        columns.finish()
    })
}
