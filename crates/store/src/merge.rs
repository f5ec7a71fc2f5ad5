//! Rows of several run folders as the rows of one, in the order of the plan. Rows keep their bytes.

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

/// Bytes of rows that are taken before they are written.
const BATCH_BYTES: usize = 1 << 20;

/// Runs whose files are open at once, at most. Those of more are put one after the other into a folder of their own.
const MOST_OPEN: usize = 32;
/// Files of a run with rows.
const ROW_FILES: [&str; 4] = [RESULTS_FILE, JUDGEMENTS_FILE, INPUTS_FILE, QUESTIONS_FILE];

/// Rows of several runs, found and not yet copied. The positions of many are in a file, so that memory does not grow with their
/// number.
#[derive(Debug)]
pub struct RowMerge {
    sources: Vec<RunFolder>,
    places: PlaceSpool,
}

/// The rows of many runs in one folder, so that few files are open however many runs there are. It goes with the merge.
struct GatheredRows {
    folder: TempDir,
    /// Bytes before those of each source, of each of [`ROW_FILES`].
    begins: Vec<[u64; 4]>,
}

impl GatheredRows {
    /// Gathers the rows beside the folder that they will be merged to.
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

    /// The position of rows of a source among all.
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

/// The fields of a result by which its rows are found.
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
    /// Merge of no runs yet, whose rows will go to a run in this folder. The folder need not be there.
    pub fn new(target: &Path) -> Self {
        Self { sources: Vec::new(), places: PlaceSpool::new(target) }
    }

    /// Finds the rows of another run. Every row is read and held against its checksum.
    ///
    /// # Errors
    /// If the rows can't be read, were changed, or do not say their place in the plan.
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
                return Err(StoreError::Damaged {
                    path: folder.file(RESULTS_FILE),
                    line: results.line(),
                    message: format!("the result of `{}` has no place in the plan", key.case_id),
                });
            };

            // A case without graders has no judgements; looking for them would read past those of the next case.
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
                // Offsets count from 1, so that none is no number.
                question: question.and_then(|(_, at)| NonZeroU64::new(at + 1)),
            };
            self.places.push(place, question.map(|(digest, _)| digest));
        }

        // What follows is leftovers, or rows that were lost.
        judgements.finish()
    }

    /// Number of results found.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// True if no result was found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first place of the plan that two results have, with the indexes of their runs.
    ///
    /// # Errors
    /// If positions can't be read again.
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

    /// Copies the rows to a run, and shows `see` each record before it is copied.
    ///
    /// # Errors
    /// If rows can't be read or written.
    pub fn write(self, writer: &mut RunWriter, see: &mut dyn FnMut(&CaseRecord)) -> Result<(), StoreError> {
        let Self { sources, mut places } = self;
        let gathered = match sources.len() {
            0..=MOST_OPEN => None,
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

/// The rows of a file, without one at its end that was not written to the end.
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

/// Rows of which those of one case stand together, in the order in which cases finished.
struct KeyedRows {
    rows: JsonlRows<CaseKey>,
    /// Row that was read and belongs to a later case, with its offset.
    ahead: Option<(CaseKey, u64)>,
    /// Offset behind the last row that was read.
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

    /// Offset of the row that is looked at next.
    fn next_start(&self) -> u64 {
        self.ahead.as_ref().map_or(self.rows.position(), |(_, start)| *start)
    }

    fn finish(mut self) -> Result<(), StoreError> {
        self.rows.find_map(Result::err).map_or(Ok(()), Err)
    }
}

/// Run whose rows are copied.
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

    /// Reads the record of a case, and its rows as they are.
    fn read(&mut self, place: RowPlace) -> Result<(CaseRecord, CaseRows), StoreError> {
        let record = self.records.read_at(place.at)?.ok_or_else(|| StoreError::Damaged {
            path: self.folder.file(RESULTS_FILE),
            line: 0,
            message: format!("the result at byte {} was removed meanwhile", place.at.result),
        })?;
        let extent = self.records.last_extent();

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

/// Reader of parts of a file, mostly one after the other.
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
        // Within the bytes that are read already this moves nothing on the disk.
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
