//! Resuming a run: every row is checked, and the rows of cases that are not kept are removed.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, BufWriter, Write};

use assize_rubric::{CaseDecision, is_complete};

use crate::checksum::{RowCheck, check_row, named_sum};
use crate::disk::{self, DiskFile};
use crate::folder::{INPUTS_FILE, JUDGEMENTS_FILE, QUESTIONS_FILE, RESULTS_FILE};
use crate::question_key::QuestionKey;
use crate::reader::JsonlRows;
use crate::row_counts::{ExpectedRows, RowTallies, RowTally};
use crate::{
    CaseKey, CaseRecord, InputsRow, QuestionRow, RunFolder, RunInfo, RunWriter, StoreError, criterion_rows,
};

impl RunFolder {
    /// Continues the run in this folder. `keep` is called with every finished case and the hash of its inputs, and
    /// decides whether its rows are kept. A torn last row is always removed. `run.json` becomes `info`.
    ///
    /// The bytes of kept rows do not change. If the process ends while the files are replaced, the run can still be
    /// resumed.
    pub fn resume(
        &self,
        info: &RunInfo,
        keep: &mut dyn FnMut(&CaseRecord, &str) -> bool,
    ) -> Result<RunWriter, StoreError> {
        // The old files stay open, and therefore locked, until the new ones are locked too.
        let before = self.open_rows()?;
        self.check_replaced()?;

        let mut stored = HashSet::new();
        let questions = self.filter(QUESTIONS_FILE, |line| {
            check_row(line) != RowCheck::Changed
                && serde_json::from_slice(line)
                    .is_ok_and(|row: QuestionRow| stored.insert(QuestionKey::new(&row.case_hash)))
        })?;

        let is_lost = self.row_counts()?.and_then(|counts| counts.questions) > Some(stored.len() as u64);
        let kept = self.whole_cases(&mut |record, inputs| {
            let hash = record.result.case_hash.as_ref();
            let has_question = !is_lost || hash.is_some_and(|hash| stored.contains(&QuestionKey::new(hash)));
            has_question && keep(record, inputs)
        })?;

        // Results are filtered first: judgements without a result are leftovers that readers skip, but a
        // result without its judgements would be damage.
        let is_kept =
            |line: &[u8]| serde_json::from_slice(line).is_ok_and(|key: CaseKey| kept.contains(&key));
        let results = self.filter(RESULTS_FILE, is_kept)?;
        self.filter(INPUTS_FILE, is_kept)?;
        let judgements = self.filter(JUDGEMENTS_FILE, is_kept)?;

        let rows = self.open_rows()?;
        drop(before);
        self.write_info(info)?;

        Ok(RunWriter::new(self.clone(), rows, RowTallies { results, judgements, questions }, stored))
    }

    /// Returns an error if a finished run still has the same number of rows, but with other content. Lost or damaged
    /// rows can be judged again, but nothing shows which rows were replaced.
    fn check_replaced(&self) -> Result<(), StoreError> {
        let Some(counts) = self.row_counts()? else { return Ok(()) };
        let expected = [
            (RESULTS_FILE, Some(counts.expected_results())),
            (JUDGEMENTS_FILE, Some(counts.expected_judgements())),
            (QUESTIONS_FILE, counts.expected_questions()),
        ];

        for (name, expected) in expected {
            let Some(ExpectedRows { count, sum: Some(sum) }) = expected else { continue };
            let path = self.file(name);
            let file = assize_files::open_file(&path).map_err(StoreError::io("read", &path))?;
            let mut file = BufReader::new(file);
            let (mut found, mut line) = (RowTally::default(), Vec::new());
            while file.read_until(b'\n', &mut line).map_err(StoreError::io("read", &path))? > 0 {
                if named_sum(&line).is_some() {
                    found.add(&line);
                }
                line.clear();
            }

            if found.count == count && found.sum != sum {
                return Err(StoreError::RowsReplaced { path });
            }
        }

        Ok(())
    }

    /// Returns the keys of the complete cases that `keep` selects by their record and inputs hash. Changes nothing.
    pub fn whole_cases(
        &self,
        keep: &mut dyn FnMut(&CaseRecord, &str) -> bool,
    ) -> Result<HashSet<CaseKey>, StoreError> {
        let mut inputs: JsonlRows<InputsRow> = JsonlRows::open(self.file(INPUTS_FILE))?;
        let mut kept = HashSet::new();
        for record in self.remaining_cases()? {
            let record = record?;
            let key = record.result.key();

            // Both files are in the order in which cases finished; inputs whose result was lost are skipped.
            let row =
                inputs.by_ref().find(|row| row.as_ref().map_or(true, |row| row.key == key)).transpose()?;

            // A result is only kept with all the decisions it depends on.
            if is_whole(&record) && row.is_some_and(|row| keep(&record, &row.inputs)) {
                kept.insert(key);
            }
        }

        Ok(kept)
    }

    /// Replaces a row file by the kept rows, byte for byte. Returns their tally.
    fn filter(&self, name: &str, mut stays: impl FnMut(&[u8]) -> bool) -> Result<RowTally, StoreError> {
        let (path, draft) = (self.file(name), self.file(&format!("{name}.new")));
        let old = assize_files::open_file(&path).map_err(StoreError::io("read", &path))?;
        let new = DiskFile::create(&draft).map_err(StoreError::io("write", &draft))?;
        let (mut old, mut new) = (BufReader::new(old), BufWriter::new(new));
        let mut line = Vec::new();
        let mut kept = RowTally::default();
        loop {
            line.clear();
            old.read_until(b'\n', &mut line).map_err(StoreError::io("read", &path))?;

            if line.last() != Some(&b'\n') {
                break;
            }

            // An unreadable row was reported elsewhere; here it belongs to no case.
            if stays(&line) {
                new.write_all(&line).map_err(StoreError::io("write", &draft))?;
                kept.add(&line);
            }
        }

        let new = new.into_inner().map_err(std::io::IntoInnerError::into_error);
        new.and_then(|file| file.sync()).map_err(StoreError::io("write", &draft))?;

        disk::replace(&draft, &path).map_err(StoreError::io("write", &path))?;
        Ok(kept)
    }
}

/// Returns true if all decisions that the result depends on are there.
fn is_whole(record: &CaseRecord) -> bool {
    let mut by_grader: HashMap<&str, Vec<&CaseDecision>> = HashMap::new();
    for decided in &record.decisions {
        by_grader.entry(&decided.grader).or_default().push(decided);
    }

    record.result.graders.iter().all(|grader| {
        let rows = by_grader.remove(grader.name.as_str()).unwrap_or_default();
        is_complete(&rows) && criterion_rows(&rows).len() == grader.criteria.len()
    })
}
