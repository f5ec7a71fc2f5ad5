//! The decisions on benchmarks of a run, read without what only an explanation needs.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::sync::Arc;

use serde::Deserialize;

use crate::folder::{JUDGEMENTS_FILE, RESULTS_FILE};
use crate::reader::Rows;
use crate::{BenchmarkRow, CaseKey, RunFolder, StoreError, VoteRow};

/// One decision on a benchmark, or one vote of several on it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct BenchmarkDecision {
    /// Name of the suite.
    suite: Arc<str>,
    /// Id of the case.
    pub case_id: Arc<str>,
    /// Name of the target.
    target: Option<Arc<str>>,
    /// Number of the repeat.
    repeat: u32,
    /// Code of the benchmark.
    #[serde(rename = "grader")]
    pub code: String,
    /// The reason.
    pub reason: String,
    /// Who decided.
    pub judge: JudgeName,
    /// Calls made, failed ones included.
    pub attempts: u32,
    /// Calls that were answered from the cache instead of being made.
    #[serde(default)]
    pub cached_calls: u32,
    /// What was decided; `None` in a row about something else.
    #[serde(default, rename = "grader_result")]
    pub result: Option<BenchmarkResult>,
    /// Whose vote it is, of several.
    #[serde(default)]
    pub vote: Option<VoteRow>,
}

/// A judge, as the user named it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct JudgeName {
    /// The name.
    pub name: String,
}

/// What was decided about a benchmark.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct BenchmarkResult {
    /// Its score, 0 to 1.
    #[serde(default)]
    pub score: Option<f64>,
    /// Why there is none.
    #[serde(default)]
    pub error: Option<String>,
    /// What became of it.
    #[serde(default)]
    pub benchmark: Option<BenchmarkRow>,
}

impl BenchmarkDecision {
    fn is_of(&self, key: &CaseKey) -> bool {
        self.case_id == key.case_id
            && self.repeat == key.repeat
            && self.suite == key.suite
            && self.target == key.target
    }

    fn key(&self) -> CaseKey {
        CaseKey {
            suite: self.suite.clone(),
            case_id: self.case_id.clone(),
            target: self.target.clone(),
            repeat: self.repeat,
        }
    }
}

impl RunFolder {
    /// The cases that have a result. A result row is as long as its case has benchmarks, and of it only the
    /// beginning is wanted, so it is not held as a line.
    fn finished(&self) -> Result<HashSet<CaseKey>, StoreError> {
        let path = self.file(RESULTS_FILE);
        let mut file = File::open(&path).map_err(StoreError::io("read", &path))?;
        let mut last = [0];
        let whole =
            file.seek(SeekFrom::End(-1)).is_ok() && file.read_exact(&mut last).is_ok() && last == *b"\n";
        if !whole {
            // A torn last row is known by its line.
            return Rows::open(path)?.collect();
        }
        file.rewind().map_err(StoreError::io("read", &path))?;
        let rows = serde_json::Deserializer::from_reader(BufReader::with_capacity(64 * 1024, file));
        rows.into_iter::<CaseKey>()
            .map(|row| {
                row.map_err(|error| StoreError::Damaged {
                    path: path.clone(),
                    line: error.line(),
                    message: error.to_string(),
                })
            })
            .collect()
    }

    /// Shows `see` every decision on a benchmark of a finished case, in the order of the file. What was decided about
    /// a case that never got its result row is left out; of a case that was judged twice, the later rows count.
    ///
    /// # Errors
    /// When the run can't be read.
    pub fn benchmark_decisions(&self, mut see: impl FnMut(BenchmarkDecision)) -> Result<(), StoreError> {
        let finished = self.finished()?;
        let rows: Rows<BenchmarkDecision> = Rows::open(self.file(JUDGEMENTS_FILE))?;
        let mut last: Option<CaseKey> = None;
        for row in rows {
            let row = row?;
            // The rows of a case stand together.
            if !last.as_ref().is_some_and(|last| row.is_of(last)) {
                last = Some(row.key());
            }
            if last.as_ref().is_some_and(|last| finished.contains(last)) {
                see(row);
            }
        }
        Ok(())
    }
}
