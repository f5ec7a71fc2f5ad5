//! Detects the format of a file of records from its content.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _};
use std::path::Path;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::archive::RecordArchive;
use crate::{MAX_RECORD_BYTES, RecordError};

/// Format of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordFormat {
    /// A log of Inspect: `.eval` or `.json`.
    Inspect,
    /// Results of promptfoo: JSON or JSON lines.
    Promptfoo,
    /// A log or a dataset of OpenAI's evals: JSON lines.
    OpenAiEvals,
    /// A dataset of DeepEval (goldens and test cases, in JSON or JSON lines), or one of its test runs.
    DeepEval,
    /// The `evals.json` of an agent skill.
    SkillEvals,
}

impl RecordFormat {
    /// All formats.
    pub const ALL: [Self; 5] =
        [Self::Inspect, Self::Promptfoo, Self::OpenAiEvals, Self::DeepEval, Self::SkillEvals];

    /// Returns the name for flags and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inspect => "inspect",
            Self::Promptfoo => "promptfoo-results",
            Self::OpenAiEvals => "openai-evals",
            Self::DeepEval => "deepeval",
            Self::SkillEvals => "skill-evals",
        }
    }

    /// Returns a description with an article, such as "a log of Inspect".
    pub const fn description(self) -> &'static str {
        match self {
            Self::Inspect => "a log of Inspect",
            Self::Promptfoo => "results of promptfoo",
            Self::OpenAiEvals => "a log or data set of OpenAI's evals",
            Self::DeepEval => "a data set of DeepEval",
            Self::SkillEvals => "the evals of an agent skill",
        }
    }
}

/// Detects the format of a file. Returns `None` if it contains no records of another tool.
///
/// # Errors
/// For tables (Parquet, spreadsheets), which contain no records; for results of promptfoo that are not JSON;
/// and if the file can't be opened.
pub fn detect_records(path: &Path) -> Result<Option<RecordFormat>, RecordError> {
    let mut file = assize_files::open_file(path)?;
    let mut beginning = Vec::new();
    (&mut file).take(DETECTION_BYTES).read_to_end(&mut beginning)?;
    let magic = &beginning[..beginning.len().min(4)];
    match magic {
        b"PK\x03\x04" | b"PK\x05\x06" => return detect_archive(file).map(Some),
        b"PAR1" => {
            return Err(RecordError::OtherKind {
                what: "a Parquet file",
                help: "give the file the ending .parquet; it can be graded as a table of answers",
            });
        }
        _ => {}
    }
    if let Some(what) = other_results(&String::from_utf8_lossy(&beginning)) {
        return Err(RecordError::OtherKind {
            what,
            help: "write the same results as JSON: `promptfoo export eval latest -o results.json` (or the id of an \
            evaluation in the place of `latest`)",
        });
    }

    file.seek(io::SeekFrom::Start(0))?;
    let mut shape = DocumentShape::default();
    let mut reader = BufReader::new(file.take(MAX_RECORD_BYTES));
    if magic.starts_with(b"\xef\xbb\xbf") {
        reader.read_exact(&mut [0; 3])?;
    }

    // If the document is cut off, the keys that were seen until then may be enough.
    let _ = ShapeSeed { shape: &mut shape, level: KeyLevel::Top }
        .deserialize(&mut serde_json::Deserializer::from_reader(reader));
    Ok(shape.format())
}

/// Number of bytes at the beginning of a file that are searched for results in other formats than JSON.
const DETECTION_BYTES: u64 = 64 * 1024;

/// Returns which kind of promptfoo results a text is, if they are not JSON.
fn other_results(beginning: &str) -> Option<&'static str> {
    let text = beginning.trim_start_matches('\u{feff}').trim_start();
    let is_table = || {
        // The table has columns for each provider and prompt. The one with the output is called `[PROVIDER]
        // PROMPT`.
        text.contains('[')
            && [",Status,Score,", ",Grader Reason,"].iter().all(|columns| text.contains(columns))
    };
    match text {
        _ if text.starts_with("evalId:") && text.contains("\nresults:") => {
            Some("a YAML file of promptfoo's results")
        }
        _ if text.starts_with("<promptfoo>") => Some("an XML file of promptfoo's results"),
        _ if text.starts_with("<!doctype html>") && text.contains("Promptfoo") => {
            Some("a page of promptfoo's results")
        }
        _ if is_table() => Some("a table of promptfoo's results, with a column for each provider,"),
        _ => None,
    }
}

/// The keys that distinguish formats.
#[derive(Debug, Default)]
struct DocumentShape {
    /// Keys of the document, of the first line, or of the first member of a list.
    top: Vec<String>,
    /// Keys of `results` and `spec`.
    inner: Vec<String>,
}

impl DocumentShape {
    fn format(&self) -> Option<RecordFormat> {
        let has = |keys: &[&str]| keys.iter().all(|key| self.top.iter().any(|found| found == key));
        let within = |keys: &[&str]| keys.iter().all(|key| self.inner.iter().any(|found| found == key));

        if has(&["version", "status", "eval"]) {
            Some(RecordFormat::Inspect)
        } else if has(&["results"]) && within(&["version"]) && (within(&["results"]) || within(&["prompts"]))
            || has(&["testCase", "promptIdx"])
        {
            Some(RecordFormat::Promptfoo)
        } else if has(&["spec"]) && within(&["run_id"])
            || has(&["run_id", "event_id", "sample_id"])
            || has(&["input", "ideal"])
        {
            Some(RecordFormat::OpenAiEvals)
        } else if has(&["skill_name", "evals"]) {
            Some(RecordFormat::SkillEvals)
        } else if has(&["input", "actual_output"])
            || has(&["input", "retrieval_context"])
            || has(&["scenario", "turns"])
            || has(&["scenario", "expected_outcome"])
            || has(&["testRunData"])
            || has(&["testCases", "metricsScores"])
            || has(&["testCases", "conversationalTestCases"])
        {
            Some(RecordFormat::DeepEval)
        } else {
            None
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyLevel {
    Top,
    Inner,
}

struct ShapeSeed<'s> {
    shape: &'s mut DocumentShape,
    level: KeyLevel,
}

impl<'de> DeserializeSeed<'de> for ShapeSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ShapeSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object or list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let leads_inside = self.level == KeyLevel::Top && (key == "results" || key == "spec");
            match self.level {
                KeyLevel::Top => self.shape.top.push(key),
                KeyLevel::Inner => self.shape.inner.push(key),
            }
            if self.shape.format().is_some() || self.shape.top.len() + self.shape.inner.len() > MAX_KEYS {
                return Err(A::Error::custom("seen enough"));
            }
            if leads_inside {
                map.next_value_seed(ShapeSeed { shape: &mut *self.shape, level: KeyLevel::Inner })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }

        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if self.level == KeyLevel::Top {
            list.next_element_seed(ShapeSeed { shape: &mut *self.shape, level: KeyLevel::Top })?;
            return Err(A::Error::custom("seen enough"));
        }

        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    // In other files, `results` and `spec` may be anything.
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Maximum number of keys that are examined.
const MAX_KEYS: usize = 200;

/// Returns the format of records in an archive.
fn detect_archive(file: File) -> Result<RecordFormat, RecordError> {
    let parts = RecordArchive::open(file)?;
    let has = |name: &str| parts.names().any(|part| part == name);
    if has("header.json") || has("_journal/start.json") {
        return Ok(RecordFormat::Inspect);
    }
    if has("xl/workbook.xml") || has("xl/workbook.bin") {
        return Err(RecordError::OtherKind { what: "a spreadsheet", help: "give the file the ending .xlsx" });
    }

    Err(RecordError::Archive("it is a zip archive, but not a log of Inspect".to_owned()))
}
