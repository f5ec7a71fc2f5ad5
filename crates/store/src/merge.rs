//! Merges the rows of several run folders into one, in the order of the plan. The bytes of rows stay the
//! same.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::num::NonZeroU64;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use tempfile::TempDir;

use crate::folder::{INPUTS_FILE, JUDGEMENTS_FILE, QUESTIONS_FILE, RESULTS_FILE};
use crate::question_key::QuestionKey;
use crate::reader::{CaseRecords, JsonlRows};
use crate::row_counts::ExpectedRows;
use crate::row_places::{PlaceSpool, RowPlace};
use crate::{CaseKey, CaseRecord, CaseRows, RecordPosition, RunFolder, RunWriter, StoreError};

/// Number of bytes of rows that are collected before they are written.
const BATCH_BYTES: usize = 1 << 20;

/// Maximum number of runs whose files are open at once. If there are more, their rows are first concatenated
/// in a temporary folder.
const MAX_OPEN_RUNS: usize = 32;
/// Row files of a run.
const ROW_FILES: [&str; 4] = [RESULTS_FILE, JUDGEMENTS_FILE, INPUTS_FILE, QUESTIONS_FILE];

/// The located rows of several runs, before they are copied. If there are many positions, they are in a file, so that
/// memory does not grow with their number.
#[derive(Debug)]
pub struct RowMerge {
    sources: Vec<RunFolder>,
    places: PlaceSpool,
}

/// The rows of many runs concatenated in one temporary folder, so that the number of open files does not grow with the
/// number of runs.
struct GatheredRows {
    folder: TempDir,
    /// For each source, the offset of its rows in each of [`ROW_FILES`].
    begins: Vec<[u64; 4]>,
}

impl GatheredRows {
    /// Concatenates the rows in a folder beside the target folder.
    fn gather(sources: &[RunFolder], target: &Path) -> Result<Self, StoreError> {
        let beside = target.parent().unwrap_or(target);
        let folder = TempDir::with_prefix_in(".merging-", beside).map_err(StoreError::io("write", beside))?;
        let mut begins = vec![[0; 4]; sources.len()];
        for (at, name) in ROW_FILES.into_iter().enumerate() {
            let path = folder.path().join(name);
            let mut to = File::create(&path).map_err(StoreError::io("write", &path))?;
            let mut written = 0;
            for (source, begin) in sources.iter().zip(&mut begins) {
                begin[at] = written;
                let from = source.file(name);
                if name == QUESTIONS_FILE && !from.exists() {
                    continue;
                }
                let file = assize_files::open_file(&from).map_err(StoreError::io("read", &from))?;
                let mut rows = whole_rows(file).map_err(StoreError::io("read", &from))?;
                written += std::io::copy(&mut rows, &mut to).map_err(StoreError::io("write", &path))?;
            }
        }

        Ok(Self { folder, begins })
    }

    /// Converts a position in a source to the position in the concatenated files.
    fn place(&self, place: RowPlace) -> RowPlace {
        let [results, judgements, inputs, questions] = self.begins[place.source as usize];
        RowPlace {
            source: 0,
            at: RecordPosition {
                result: place.at.result + results,
                judgements: place.at.judgements + judgements,
            },
            inputs: place.inputs + inputs,
            question: place.question.and_then(|at| at.checked_add(questions)),
            ..place
        }
    }
}

/// The fields of a result that identify its other rows.
#[derive(Deserialize)]
struct ResultHead {
    suite: Arc<str>,
    case_id: Arc<str>,
    target: Option<Arc<str>>,
    #[serde(rename = "repeat")]
    trial: u32,
    #[serde(default)]
    place: Option<u64>,
    #[serde(default)]
    case_hash: Option<String>,
    #[serde(default)]
    graders: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct QuestionHead {
    case_hash: String,
}

impl RowMerge {
    /// Creates a merge of no runs, for the target run in this folder, which need not exist yet.
    pub fn new(target: &Path) -> Self {
        Self { sources: Vec::new(), places: PlaceSpool::new(target) }
    }

    /// Locates the rows of another run. Every row is read and checked against its checksum.
    ///
    /// # Errors
    /// If the rows can't be read, were changed, or do not have a place in the plan.
    pub fn add(&mut self, folder: &RunFolder) -> Result<(), StoreError> {
        let source = u32::try_from(self.sources.len()).unwrap_or(u32::MAX);
        self.sources.push(folder.clone());

        let counts = folder.row_counts()?;
        let mut questions = HashMap::new();
        if folder.file(QUESTIONS_FILE).exists() {
            let mut rows: JsonlRows<QuestionHead> = JsonlRows::open(folder.file(QUESTIONS_FILE))?
                .expecting(counts.and_then(|counts| counts.expected_questions()));
            while let Some(row) = rows.next() {
                questions.entry(QuestionKey::new(&row?.case_hash)).or_insert(rows.row_start());
            }
        }

        let mut results: JsonlRows<ResultHead> = JsonlRows::open(folder.file(RESULTS_FILE))?
            .expecting(counts.map(|counts| counts.expected_results()));
        let mut judgements =
            KeyedRows::open(folder.file(JUDGEMENTS_FILE), counts.map(|counts| counts.expected_judgements()))?;
        let mut inputs = KeyedRows::open(folder.file(INPUTS_FILE), None)?;

        while let Some(row) = results.next() {
            let row = row?;
            let key =
                CaseKey { suite: row.suite, case_id: row.case_id, target: row.target, trial: row.trial };
            let Some(place) = row.place.filter(|place| *place > 0) else {
                let message = format!("the result of `{}` has no place in the plan", key.case_id);
                return Err(StoreError::damaged(&folder.file(RESULTS_FILE), results.line(), message));
            };

            // A case without graders has no judgements; a search would read past the judgements of the next case.
            let judged = if row.graders.is_empty() { None } else { judgements.find(&key)? };
            let inputs = inputs.find(&key)?.unwrap_or_default();
            let key = row.case_hash.as_deref().map(QuestionKey::new);
            let question = key.and_then(|key| questions.get(&key).map(|at| (key.digest(), *at)));

            let place = RowPlace {
                place,
                source,
                inputs_length: u32::try_from(inputs.end - inputs.start).unwrap_or(0),
                at: RecordPosition {
                    result: results.row_start(),
                    judgements: judged.map_or(judgements.next_start(), |rows| rows.start),
                },
                inputs: inputs.start,
                // Offsets are stored plus 1, so that 0 can mean that there is no row.
                question: question.and_then(|(_, at)| NonZeroU64::new(at + 1)),
            };
            self.places.push(place, question.map(|(digest, _)| digest));
        }

        // Only leftovers may follow; rows that were lost are reported.
        judgements.finish()
    }

    /// Number of results found.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns true if no result was found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the first place of the plan that has two results, with the indexes of their runs.
    ///
    /// # Errors
    /// If the positions can't be read back.
    pub fn find_duplicate(&mut self) -> Result<Option<(u64, [usize; 2])>, StoreError> {
        let mut before: Option<RowPlace> = None;
        for place in self.places.in_order()? {
            let place = place?;
            if let Some(before) = before.filter(|before| before.place == place.place) {
                return Ok(Some((place.place, [before.source as usize, place.source as usize])));
            }
            before = Some(place);
        }

        Ok(None)
    }

    /// Highest place of a result; 0 if there is none.
    pub fn last_place(&self) -> u64 {
        self.places.last_place()
    }

    /// Copies the rows to a run, and calls `see` with each record before it is copied.
    ///
    /// # Errors
    /// If rows can't be read or written.
    pub fn write(self, writer: &mut RunWriter, see: &mut dyn FnMut(&CaseRecord)) -> Result<(), StoreError> {
        let Self { sources, mut places } = self;
        let gathered = match sources.len() {
            0..=MAX_OPEN_RUNS => None,
            _ => Some(GatheredRows::gather(&sources, writer.folder().path())?),
        };
        let sources = match &gathered {
            None => sources,
            Some(gathered) => vec![RunFolder::new(gathered.folder.path())],
        };
        let mut sources =
            sources.into_iter().map(OpenSource::open).collect::<Result<Vec<OpenSource>, StoreError>>()?;
        let mut taken = 0;

        for place in places.in_order()? {
            let place = place?;
            let place = gathered.as_ref().map_or(place, |gathered| gathered.place(place));
            let source = &mut sources[place.source as usize];
            let (record, rows) = source.read(place)?;
            see(&record);
            taken += rows.judgements.len() + rows.result.len();
            writer.append_distinct(&rows);

            if taken >= BATCH_BYTES {
                writer.settle()?;
                taken = 0;
            }
        }

        writer.settle()
    }
}

/// Returns the rows of a file without an incomplete one at its end.
fn whole_rows(mut file: File) -> std::io::Result<std::io::Take<File>> {
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut tail = vec![0; 64 * 1024];
    while end > 0 {
        let length = usize::try_from(end).unwrap_or(usize::MAX).min(tail.len());
        let begin = end - length as u64;
        file.seek(SeekFrom::Start(begin))?;
        file.read_exact(&mut tail[..length])?;
        if let Some(at) = tail[..length].iter().rposition(|byte| *byte == b'\n') {
            end = begin + at as u64 + 1;
            break;
        }
        end = begin;
    }
    file.rewind()?;

    Ok(file.take(end))
}

/// Rows of a file in which the rows of a case are adjacent, in the order in which cases finished.
struct KeyedRows {
    rows: JsonlRows<CaseKey>,
    /// The first row of a later case, which was read already, with its offset.
    ahead: Option<(CaseKey, u64)>,
    /// End offset of the last row read.
    end: u64,
}

impl KeyedRows {
    fn open(path: PathBuf, expected: Option<ExpectedRows>) -> Result<Self, StoreError> {
        Ok(Self { rows: JsonlRows::open(path)?.expecting(expected), ahead: None, end: 0 })
    }

    /// Finds the rows of a case. Rows before them are leftovers of cases without a result.
    fn find(&mut self, key: &CaseKey) -> Result<Option<Range<u64>>, StoreError> {
        let mut found: Option<Range<u64>> = None;
        while let Some((row, start)) = self.take()? {
            if row == *key {
                let first = found.map_or(start, |found| found.start);
                found = Some(first..self.end);
            } else if found.is_some() {
                self.ahead = Some((row, start));
                break;
            }
        }

        Ok(found)
    }

    fn take(&mut self) -> Result<Option<(CaseKey, u64)>, StoreError> {
        if let Some(ahead) = self.ahead.take() {
            self.end = self.rows.position();
            return Ok(Some(ahead));
        }

        let row = self.rows.next().transpose()?;
        self.end = self.rows.position();
        Ok(row.map(|row| (row, self.rows.row_start())))
    }

    /// Offset of the next row to look at.
    fn next_start(&self) -> u64 {
        self.ahead.as_ref().map_or(self.rows.position(), |(_, start)| *start)
    }

    fn finish(mut self) -> Result<(), StoreError> {
        self.rows.find_map(Result::err).map_or(Ok(()), Err)
    }
}

/// A run whose rows are being copied.
struct OpenSource {
    folder: RunFolder,
    records: CaseRecords,
    results: ByteReader,
    judgements: ByteReader,
    inputs: ByteReader,
    questions: Option<ByteReader>,
}

impl OpenSource {
    fn open(folder: RunFolder) -> Result<Self, StoreError> {
        let questions = folder.file(QUESTIONS_FILE);
        Ok(Self {
            records: folder.cases_from(RecordPosition::default())?,
            results: ByteReader::open(folder.file(RESULTS_FILE))?,
            judgements: ByteReader::open(folder.file(JUDGEMENTS_FILE))?,
            inputs: ByteReader::open(folder.file(INPUTS_FILE))?,
            questions: if questions.exists() { Some(ByteReader::open(questions)?) } else { None },
            folder,
        })
    }

    /// Reads the record of a case, and its rows as bytes.
    fn read(&mut self, place: RowPlace) -> Result<(CaseRecord, CaseRows), StoreError> {
        let record = self.records.read_at(place.at)?.ok_or_else(|| {
            let message = format!("the result at byte {} was removed meanwhile", place.at.result);
            StoreError::damaged(&self.folder.file(RESULTS_FILE), 0, message)
        })?;
        let extent = self.records.extent.clone();

        let mut rows = CaseRows {
            result: self.results.read_range(extent.result)?,
            judgements: self.judgements.read_range(extent.judgements)?,
            inputs: self.inputs.read_range(place.inputs..place.inputs + u64::from(place.inputs_length))?,
            question: None,
        };
        if let Some((hash, (reader, at))) =
            record.result.case_hash.as_ref().zip(self.questions.as_mut().zip(place.question))
        {
            rows.question = Some((hash.clone(), reader.read_line(at.get() - 1)?));
        }

        Ok((record, rows))
    }
}

/// Reads parts of a file, which mostly follow each other.
struct ByteReader {
    path: PathBuf,
    file: BufReader<File>,
    position: u64,
}

impl ByteReader {
    fn open(path: PathBuf) -> Result<Self, StoreError> {
        let file = assize_files::open_file(&path).map_err(StoreError::io("read", &path))?;
        Ok(Self { file: BufReader::with_capacity(64 * 1024, file), path, position: 0 })
    }

    fn go_to(&mut self, at: u64) -> Result<(), StoreError> {
        // Within the buffer this does not read from the disk.
        let distance = at.cast_signed().wrapping_sub(self.position.cast_signed());
        let moved = if distance == 0 { Ok(()) } else { self.file.seek_relative(distance) };
        moved.map_err(StoreError::io("read", &self.path))?;
        self.position = at;

        Ok(())
    }

    fn read_range(&mut self, range: Range<u64>) -> Result<Vec<u8>, StoreError> {
        let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or_default()];
        if bytes.is_empty() {
            return Ok(bytes);
        }

        self.go_to(range.start)?;
        self.file.read_exact(&mut bytes).map_err(StoreError::io("read", &self.path))?;
        self.position = range.end;

        Ok(bytes)
    }

    fn read_line(&mut self, at: u64) -> Result<Vec<u8>, StoreError> {
        self.go_to(at)?;
        let mut line = Vec::new();
        let length = self.file.read_until(b'\n', &mut line).map_err(StoreError::io("read", &self.path))?;
        self.position = at + length as u64;

        Ok(line)
    }
}
