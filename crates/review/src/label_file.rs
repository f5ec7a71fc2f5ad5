//! Label files: one per reviewer, append-only.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use assize_rubric::{Label, LabelOutcome, LabelSplit, NO_FAILURE, SamplingMethod, SeenHash};
use serde_json::Value;

use crate::{ReviewAnswer, ReviewDecision, ReviewItem, ReviewQuestion};

/// Error of reading or writing labels.
#[derive(Debug, thiserror::Error)]
pub enum ReviewerLabelError {
    /// The file can't be read or written.
    #[error("{path}: {error}", path = path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The I/O error.
        error: io::Error,
    },
    /// A line is not a valid label.
    #[error("{path}:{line}: {message}", path = path.display())]
    Line {
        /// Path of the file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// Description of the error.
        message: String,
    },
}

/// Metadata added to the labels of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewLabelMetadata {
    /// Name of the reviewer.
    pub who: String,
    /// Sampling of the labelled cases.
    pub sampled: SamplingMethod,
    /// Permitted use of the labels, if the reviewer set it.
    pub split: Option<LabelSplit>,
    /// True if the reviewer decides the items on which others disagree.
    pub adjudicates: bool,
}

/// Labels of one reviewer.
#[derive(Debug, Clone)]
pub struct ReviewerLabelFile {
    path: PathBuf,
    /// Labels so far, by their target.
    known: HashMap<ReviewLabelTarget, Vec<LabelMark>>,
    /// Number of lines, including blank ones.
    lines: usize,
}

/// Part of a label that determines whether it answers an item, and how.
#[derive(Debug, Clone)]
struct LabelMark {
    version: Option<String>,
    seen: Option<SeenHash>,
    sampled: Option<SamplingMethod>,
    adjudicates: bool,
    /// Line in the file, from 1.
    line: usize,
    decision: ReviewDecision,
}

impl LabelMark {
    fn new(label: &Label, answer: ReviewAnswer, after_judge: bool, line: usize) -> Self {
        let note = label.note.clone();
        let decision = ReviewDecision { answer, severity: label.severity, note, after_judge };
        Self {
            line,
            decision,
            version: label.version.clone(),
            seen: label.seen,
            sampled: label.sampled,
            adjudicates: label.adjudicates,
        }
    }
}

/// Target of a label: case, suite, system, trial, criterion. Missing parts are empty.
type ReviewLabelTarget = (String, String, String, u32, String);

/// Placeholder for the criterion of a label that names a failure; codes of benchmarks are never empty.
const FAILURE_LABEL: &str = "";

/// Returns the label file of a reviewer in a folder. Two names never share a file.
pub fn label_file_path(folder: &Path, who: &str) -> PathBuf {
    let mut name = String::new();
    for c in who.chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '@') && !name.is_empty() {
            name.push(c);
        } else {
            let _ = write!(name, "_{:x}", u32::from(c));
        }
    }

    folder.join(format!("review-{name}.jsonl"))
}

impl ReviewerLabelFile {
    /// Reads the labels of a reviewer. A missing file counts as empty.
    ///
    /// # Errors
    /// If the file can't be read, or a line is not a valid label.
    pub fn open(path: PathBuf) -> Result<Self, ReviewerLabelError> {
        let text = match assize_files::read_text(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(ReviewerLabelError::File { path, error }),
        };

        let mut known: HashMap<ReviewLabelTarget, Vec<LabelMark>> = HashMap::new();
        let lines = text.lines().count();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let found =
                serde_json::from_str::<Value>(line).map_err(|error| error.to_string()).and_then(parse_label);
            let ParsedLabel { label, primary, after_judge } = found.map_err(|message| {
                ReviewerLabelError::Line { path: path.clone(), line: index + 1, message }
            })?;
            let answer = label_answer(&label, primary);
            let mark = LabelMark::new(&label, answer, after_judge, index + 1);
            known.entry(label_target(&label, primary)).or_default().push(mark);
        }

        Ok(Self { path, known, lines })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if the reviewer has answered this question for exactly this answer.
    ///
    /// In a random sample, only labels from random samples count: skipping items that were labelled by choice
    /// would bias the sample. For an adjudicator, only labels given as adjudicator count.
    pub fn has_label(&self, item: &ReviewItem, given: &ReviewLabelMetadata) -> bool {
        self.answers(item, given).next().is_some()
    }

    /// Returns the last decision among those that [`has_label`](Self::has_label) looks for, with its line in
    /// the file.
    pub fn latest(&self, item: &ReviewItem, given: &ReviewLabelMetadata) -> Option<(usize, ReviewDecision)> {
        self.answers(item, given).last().map(|mark| (mark.line, mark.decision.clone()))
    }

    fn answers<'l>(
        &'l self,
        item: &'l ReviewItem,
        given: &'l ReviewLabelMetadata,
    ) -> impl Iterator<Item = &'l LabelMark> {
        let primary = matches!(item.question, ReviewQuestion::Primary(_));
        let marks = self.known.get(&label_target(&blank_label(item), primary));
        marks.into_iter().flatten().filter(|mark| {
            mark.version.as_deref() == Some(item.version.as_str())
                && is_seen(item, mark.seen)
                && (given.sampled == SamplingMethod::Chosen || mark.sampled == Some(given.sampled))
                && (mark.adjudicates || !given.adjudicates)
        })
    }

    /// Returns true if the reviewer has only labelled another version of the item: another question or
    /// another answer.
    pub fn has_stale_label(&self, item: &ReviewItem) -> bool {
        let primary = matches!(item.question, ReviewQuestion::Primary(_));
        let marks = self.known.get(&label_target(&blank_label(item), primary));
        marks.is_some_and(|marks| !marks.iter().any(|mark| is_seen(item, mark.seen)))
    }

    /// Appends a decision as one line and syncs the file to disk.
    ///
    /// # Errors
    /// If it can't be written; the decision is not recorded then.
    pub fn append_decision(
        &mut self,
        item: &ReviewItem,
        decision: &ReviewDecision,
        given: &ReviewLabelMetadata,
        at: &str,
    ) -> Result<(), ReviewerLabelError> {
        let mut label = blank_label(item);
        let primary = matches!(decision.answer, ReviewAnswer::Primary(_));

        match &decision.answer {
            ReviewAnswer::Outcome(outcome) => label.label = *outcome,
            ReviewAnswer::Primary(code) => {
                label.criterion.clone_from(code);
                label.seen = failure_hash(item, code);
                label.label = if code == NO_FAILURE { LabelOutcome::Met } else { LabelOutcome::Unmet };
            }
        }

        label.who = Some(given.who.clone());
        label.at = Some(at.to_owned());
        label.note.clone_from(&decision.note);
        label.severity = decision.severity;
        // An item that the reviewer named, although it was not drawn, counts as chosen.
        label.sampled = Some(match (given.sampled, item.drawn) {
            (SamplingMethod::Weighted, None) => SamplingMethod::Chosen,
            (sampled, _) => sampled,
        });
        label.drawn = item.drawn.filter(|_| given.sampled == SamplingMethod::Weighted);
        label.split = given.split;
        label.adjudicates = given.adjudicates;

        let mut value = serde_json::to_value(&label).unwrap_or_default();
        if let Value::Object(object) = &mut value {
            if primary {
                object.insert("x-primary".to_owned(), Value::Bool(true));
            }
            if decision.after_judge {
                object.insert("x-after-judge".to_owned(), Value::Bool(true));
            }
        }

        self.append_line(&format!("{value}\n"))
            .map_err(|error| ReviewerLabelError::File { path: self.path.clone(), error })?;
        self.lines += 1;
        let mark = LabelMark::new(&label, decision.answer.clone(), decision.after_judge, self.lines);
        self.known.entry(label_target(&label, primary)).or_default().push(mark);

        Ok(())
    }

    /// Removes the last label of the file, if it is the reviewer's latest one of the item and was given beside the
    /// judge's decision. Returns false, and removes nothing, if it is not.
    ///
    /// # Errors
    /// If the file can't be read or written.
    pub fn remove_last(
        &mut self,
        item: &ReviewItem,
        given: &ReviewLabelMetadata,
    ) -> Result<bool, ReviewerLabelError> {
        let latest = self.latest(item, given);
        if !latest.is_some_and(|(line, decision)| line == self.lines && decision.after_judge) {
            return Ok(false);
        }

        self.remove_line().map_err(|error| ReviewerLabelError::File { path: self.path.clone(), error })?;
        self.lines -= 1;
        self.known.retain(|_, marks| {
            marks.retain(|mark| mark.line <= self.lines);
            !marks.is_empty()
        });
        Ok(true)
    }

    fn remove_line(&self) -> io::Result<()> {
        let mut file = OpenOptions::new().read(true).write(true).open(&self.path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let text = bytes.trim_ascii_end();
        let Some(end) = text.iter().rposition(|byte| *byte == b'\n') else {
            // A file without labels is an error to those who read it.
            return fs::remove_file(&self.path);
        };
        file.set_len(end as u64 + 1)?;

        file.sync_data()
    }

    fn append_line(&self, line: &str) -> io::Result<()> {
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }

        let mut file = OpenOptions::new().create(true).read(true).append(true).open(&self.path)?;
        // An editor may have left the last line without a newline.
        let mut last = [b'\n'];
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }

        let text = if last == *b"\n" { line.to_owned() } else { format!("\n{line}") };
        file.write_all(text.as_bytes())?;

        file.sync_data()
    }
}

/// A parsed label.
struct ParsedLabel {
    label: Label,
    /// True if it names the first failure of a trace.
    primary: bool,
    after_judge: bool,
}

fn parse_label(mut value: Value) -> Result<ParsedLabel, String> {
    let Value::Object(object) = &mut value else { return Err("not a JSON object".to_owned()) };
    let is_set = |key: &str| object.get(key) == Some(&Value::Bool(true));
    let (primary, after_judge) = (is_set("x-primary"), is_set("x-after-judge"));
    object.retain(|key, _| !key.starts_with("x-"));
    let label = serde_json::from_value(value).map_err(|error| error.to_string())?;
    Ok(ParsedLabel { label, primary, after_judge })
}

fn label_answer(label: &Label, primary: bool) -> ReviewAnswer {
    if primary { ReviewAnswer::Primary(label.criterion.clone()) } else { ReviewAnswer::Outcome(label.label) }
}

fn blank_label(item: &ReviewItem) -> Label {
    Label {
        suite: item.suite.clone(),
        system: item.system.clone(),
        trial: item.trial,
        version: Some(item.version.clone()),
        seen: item.seen,
        ..Label::new(item.case.clone(), item.criterion.clone(), LabelOutcome::Unsure)
    }
}

/// Returns the hash for a label that names a failure: the hash of the failure's own question, if it has one.
fn failure_hash(item: &ReviewItem, code: &str) -> Option<SeenHash> {
    let ReviewQuestion::Primary(choices) = &item.question else { return item.seen };
    choices.iter().find(|choice| choice.code == code).map_or(item.seen, |choice| choice.seen)
}

/// Returns true if a label of this item can carry the hash.
fn is_seen(item: &ReviewItem, seen: Option<SeenHash>) -> bool {
    match &item.question {
        ReviewQuestion::Verdict(_) => seen == item.seen,
        ReviewQuestion::Primary(choices) => {
            seen == item.seen || choices.iter().any(|choice| choice.seen == seen)
        }
    }
}

fn label_target(label: &Label, primary: bool) -> ReviewLabelTarget {
    (
        label.case.clone(),
        label.suite.clone().unwrap_or_default(),
        label.system.clone().unwrap_or_default(),
        label.trial.unwrap_or_default(),
        if primary { FAILURE_LABEL.to_owned() } else { label.criterion.clone() },
    )
}

#[cfg(test)]
mod tests {
    use assize_rubric::FailureSeverity;

    use super::*;
    use crate::session::tests::items;

    fn decision(answer: ReviewAnswer) -> ReviewDecision {
        ReviewDecision { answer, severity: Some(FailureSeverity::High), note: None, after_judge: false }
    }

    fn given(sampled: SamplingMethod) -> ReviewLabelMetadata {
        ReviewLabelMetadata { who: "ann".to_owned(), sampled, split: None, adjudicates: false }
    }

    #[test]
    fn lines_are_added_and_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = label_file_path(&folder.path().join("labels"), "ann");
        let mut all = items(2);
        let mut labels = ReviewerLabelFile::open(path.clone()).expect("nothing there");
        assert!(!labels.has_label(&all[0], &given(SamplingMethod::Chosen)));
        labels
            .append_decision(
                &all[0],
                &decision(ReviewAnswer::Outcome(LabelOutcome::Unmet)),
                &given(SamplingMethod::Chosen),
                "t1",
            )
            .expect("written");
        // An editor removed the last line break.
        let text = fs::read_to_string(&path).expect("there");
        fs::write(&path, text.trim_end()).expect("written");
        let amended =
            ReviewDecision { after_judge: true, ..decision(ReviewAnswer::Outcome(LabelOutcome::Met)) };
        labels.append_decision(&all[0], &amended, &given(SamplingMethod::Chosen), "t2").expect("written");
        let text = fs::read_to_string(&path).expect("there");
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.lines().nth(1).is_some_and(|line| line.contains("\"x-after-judge\":true")), "{text}");
        let again = ReviewerLabelFile::open(path).expect("sound");
        assert!(again.has_label(&all[0], &given(SamplingMethod::Chosen)));
        assert!(!again.has_label(&all[0], &given(SamplingMethod::Random)), "what was picked is no sample");
        assert!(!again.has_label(&all[1], &given(SamplingMethod::Chosen)));
        all[0].seen = "00112233445566778899aabbccddeeff".parse().ok();
        assert!(!again.has_label(&all[0], &given(SamplingMethod::Chosen)), "another answer is not labelled");
        assert!(again.has_stale_label(&all[0]));
        all[0].seen = None;
        all[0].version = "v2".to_owned();
        assert!(
            !again.has_label(&all[0], &given(SamplingMethod::Chosen)),
            "another question is not answered"
        );
    }

    #[test]
    fn a_damaged_line_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("review-ann.jsonl");
        fs::write(&path, "\n{\"case\":\"c\"}\n").expect("written");
        let error = ReviewerLabelFile::open(path).expect_err("no label").to_string();
        assert!(error.contains("review-ann.jsonl:2: missing field"), "{error}");
    }

    #[test]
    fn names_stay_in_the_folder_and_apart() {
        let folder = Path::new("labels");
        let names = ["ann", "Ann", "../../etc/x", "an n", "an_20n", "ärztin"];
        let files: Vec<PathBuf> = names.iter().map(|name| label_file_path(folder, name)).collect();
        for (at, file) in files.iter().enumerate() {
            assert_eq!(file.parent(), Some(folder), "{file:?}");
            assert!(!files[..at].contains(file), "{file:?}");
        }
    }
}
