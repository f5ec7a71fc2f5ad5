//! A target that looks up recorded answers by the case's id.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use assize_files::FileRoots;
use assize_llm::wire::{error_words, named_error};
use assize_llm::{BoxFuture, UnambiguousJson};
use assize_rubric::{Cost, IdentityWriter, Usd};
use serde_json::Value;

use crate::recording::{ID_KEYS, RecordingError, list_recording_files, recorded_id};
use crate::turns::recorded_turn;
use crate::{
    Target, TargetAnswer, TargetDescription, TargetError, TargetErrorKind, TargetInput, TargetKind,
    given_answer, reply,
};

const ANSWER_KEYS: [&str; 5] = ["output_messages", "output", "answer", "response", "text"];
/// Maximum length of a line, in bytes.
const MAX_LINE: u64 = 64 << 20;

/// Answers recorded as lines of JSON.
///
/// A line names its case (`case_id`, `test_id`, `eval_id` or `id`) and its answer (`output`, `output_messages`,
/// `answer`, `response` or `text`), and may name the trial (`trial` or `attempt`, from 1), the target (`target`
/// or `source_target`), and `token_usage`, `cost_usd`, `duration_ms`. The rows of a stored run are such lines.
///
/// A conversation is recorded as a line for each turn with its number (`turn`, from 1), as one line with a list
/// of all answers (`turns`), or as one line whose answer is the messages of the whole conversation.
#[derive(Debug, Clone)]
pub struct ReplayTarget {
    name: String,
    path: PathBuf,
    answers: RecordedAnswers,
    digest: blake3::Hash,
}

/// Answers by case, trial and turn. Trial 0 matches every trial, turn 0 is the whole case.
type RecordedAnswers = HashMap<(String, u32, u32), RecordedAnswer>;

#[derive(Debug, Clone)]
struct RecordedAnswer {
    line: usize,
    answer: Result<TargetAnswer, TargetError>,
}

impl ReplayTarget {
    /// Reads the recording: a file, a folder of files, or the result rows of a run folder. With a `source`,
    /// only lines of that target count. No file may lead outside of `roots`, if there are any.
    pub fn load(
        name: impl Into<String>,
        path: impl Into<PathBuf>,
        source: Option<&str>,
        roots: Option<&FileRoots>,
    ) -> Result<Self, RecordingError> {
        let path = path.into();
        let rows = path.join("results.jsonl");
        let found = list_recording_files(if rows.is_file() { &rows } else { &path }, roots)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(source.unwrap_or_default().as_bytes());

        let mut answers = RecordedAnswers::new();
        for file in found {
            read_recording(&file, source, &mut answers, &mut hasher)?;
        }

        if answers.is_empty() {
            let message = match source {
                Some(source) => format!("holds no answer of the target `{source}`"),
                None => "holds no recorded answer".to_owned(),
            };
            return Err(RecordingError::File { path, message });
        }

        Ok(Self { name: name.into(), path, answers, digest: hasher.finalize() })
    }

    fn find(&self, input: &TargetInput) -> Result<TargetAnswer, TargetError> {
        let at = |turn| {
            let recording_of = |trial| self.answers.get(&(input.case_id.clone(), trial, turn));
            recording_of(input.attempt).or_else(|| recording_of(0)).map(|recorded| &recorded.answer)
        };
        let number = input.turn.as_ref().map_or(0, |turn| turn.number);
        if let Some(answer) = at(number) {
            return answer.clone();
        }
        if let (Some(turn), Some(whole)) = (&input.turn, at(0)) {
            return recorded_turn(whole.as_ref().map_err(Clone::clone)?, turn.number, turn.of);
        }

        let trial = if input.attempt > 1 { format!(", trial {}", input.attempt) } else { String::new() };
        let turn = if number > 0 { format!(", turn {number}") } else { String::new() };
        let which = format!("{trial}{turn}");
        let message =
            format!("`{}` holds no answer for the case `{}`{which}", self.path.display(), input.case_id);

        Err(TargetError::without_attempt(TargetErrorKind::NotRecorded, message))
    }
}

fn read_recording(
    file: &Path,
    source: Option<&str>,
    answers: &mut RecordedAnswers,
    hasher: &mut blake3::Hasher,
) -> Result<(), RecordingError> {
    let unreadable = |cause| RecordingError::Unreadable { path: file.to_owned(), cause };
    let mut reader = BufReader::new(assize_files::open_file(file).map_err(unreadable)?);
    let mut line = 0;
    let mut text = Vec::new();
    loop {
        text.clear();
        line += 1;

        let wrong = |message: String| RecordingError::Line { path: file.to_owned(), line, message };
        let read = std::io::Read::take(&mut reader, MAX_LINE + 1)
            .read_until(b'\n', &mut text)
            .map_err(unreadable)?;
        if read == 0 {
            return Ok(());
        }
        if read as u64 > MAX_LINE {
            return Err(wrong(format!("the line is longer than {} MiB", MAX_LINE >> 20)));
        }

        hasher.update(&text);

        if text.trim_ascii().is_empty() {
            continue;
        }

        let UnambiguousJson(value) = serde_json::from_slice(&text)
            .map_err(|error| wrong(format!("not JSON with one value per key: {error}")))?;
        let target = ["target", "source_target"].iter().find_map(|key| value.get(key)?.as_str());
        if source.is_some() && target != source {
            continue;
        }

        let id = recorded_id(&value).map_err(wrong)?;
        let Some(id) = id else {
            return Err(wrong(format!("the line names no case; expected one of {}", ID_KEYS.join(", "))));
        };
        let trial = ["repeat", "attempt"].iter().find_map(|key| value.get(key)?.as_u64()).unwrap_or(0);
        let trial = u32::try_from(trial).map_err(|_| wrong(format!("trial {trial} is too large")))?;
        for (turn, answer) in answers_of_line(&value).map_err(wrong)? {
            let recorded = RecordedAnswer { line, answer };
            if let Some(earlier) = answers.insert((id.clone(), trial, turn), recorded) {
                let which = if turn > 0 { format!("turn {turn} of the case") } else { "the case".to_owned() };
                return Err(wrong(format!(
                    "{which} `{id}` is already recorded in line {}; `source: NAME` chooses the answers of one target",
                    earlier.line
                )));
            }
        }
    }
}

/// Result of a recorded attempt.
type RecordedResult = Result<TargetAnswer, TargetError>;

/// Reads the answers of a line, each with the number of its turn; 0 for an answer to the whole case.
fn answers_of_line(line: &Value) -> Result<Vec<(u32, RecordedResult)>, String> {
    let turn = |entry: &Value, usual: usize| {
        let number = match entry.get("turn").filter(|number| !number.is_null()) {
            None => Some(usual as u64),
            Some(number) => number.as_u64().filter(|number| *number > 0),
        };
        number.and_then(|number| u32::try_from(number).ok()).ok_or_else(|| {
            format!("`turn` is {}, not a number from 1", entry.get("turn").unwrap_or(&Value::Null))
        })
    };

    let Some(turns) = line.get("turns").and_then(Value::as_array).filter(|turns| !turns.is_empty()) else {
        return Ok(vec![(turn(line, 0)?, answer_of_line(line)?)]);
    };
    let each = turns.iter().enumerate().map(|(index, entry)| {
        let answer = match entry {
            Value::String(text) => Ok(TargetAnswer { text: text.clone(), ..TargetAnswer::default() }),
            entry => answer_of_line(entry).map_err(|problem| format!("turn {}: {problem}", index + 1))?,
        };
        Ok((turn(entry, index + 1)?, answer))
    });
    let each = each.collect::<Result<Vec<_>, String>>()?;

    // A failure of the whole line applies to all turns, unless a turn reports a failure itself.
    Ok(match recorded_failure(line) {
        Some(error) if each.iter().all(|(_, answer)| answer.is_ok()) => {
            each.into_iter().map(|(turn, _)| (turn, Err(error.clone()))).collect()
        }
        _ => each,
    })
}

/// Reads the failure of a line. `None` for a failure after the answer, such as a judge's, because the answer is still
/// valid.
fn recorded_failure(line: &Value) -> Option<TargetError> {
    let error = line.as_object().and_then(named_error)?;
    let has_answer =
        ANSWER_KEYS.iter().chain(&["turns"]).any(|key| line.get(key).is_some_and(|value| !value.is_null()));
    let came_later =
        has_answer && matches!(error.get("stage").and_then(Value::as_str), Some("grade" | "teardown"));
    let message = format!("the recorded attempt failed: {}", error_words(error));

    (!came_later).then(|| TargetError::without_attempt(TargetErrorKind::Failed, message))
}

/// Reads the answer of a line. A recorded failure of the target becomes an error, even if there is a text as
/// well.
fn answer_of_line(line: &Value) -> Result<RecordedResult, String> {
    if let Some(error) = recorded_failure(line) {
        return Ok(Err(error));
    }

    let given = || {
        let present = ANSWER_KEYS.iter().filter_map(|key| Some((*key, line.get(key)?)));
        present.filter(|(_, value)| !value.is_null())
    };
    let Some((key, value)) = given().next() else {
        return Err(format!("the line holds no answer; expected one of {}", ANSWER_KEYS.join(", ")));
    };
    let answer = match given_answer(value) {
        Ok(answer) => answer,
        Err(error) => return Ok(Err(error)),
    };

    let says_other =
        |value: &Value| given_answer(value).is_ok_and(|other| other.text.trim() != answer.text.trim());
    if let Some((other, _)) = given().find(|(_, value)| says_other(value)) {
        return Err(format!(
            "`{key}` and `{other}` are two answers, and either could be meant; remove one of them"
        ));
    }

    // The tokens and cost of a stored row belong to the whole case, including judges.
    if line.get("verdict").is_some() {
        let duration = assize_trace::millis(line.get("latency_ms")).unwrap_or(answer.duration);
        return Ok(Ok(TargetAnswer { duration, ..answer }));
    }

    let number = |key: &str| line.get(key).and_then(Value::as_f64);
    Ok(Ok(TargetAnswer {
        tokens: line.get("token_usage").map_or(answer.tokens, reply::read_tokens),
        cost: number("cost_usd").and_then(Usd::from_dollars).map(Cost::from_known).or(answer.cost),
        duration: assize_trace::millis(line.get("duration_ms")).unwrap_or(answer.duration),
        ..answer
    }))
}

impl Target for ReplayTarget {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(async { self.find(input) })
    }

    fn describe(&self) -> TargetDescription {
        TargetDescription::new(&self.name, TargetKind::Recorded)
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        identity.begin("replay target", 1);
        identity.field(&self.name);
        identity.bytes(self.digest.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_recorded_failure_is_one_whatever_stands_beside_it() {
        for line in [
            json!({"answer": "hello", "error": {"stage": "target", "message": "boom"}}),
            json!({"answer": "hello", "error": "boom"}),
            json!({"error": {"stage": "grade", "message": "boom"}}),
        ] {
            let error = answer_of_line(&line).unwrap().unwrap_err();
            assert_eq!((error.kind, error.attempts), (TargetErrorKind::Failed, 0), "{line}");
            assert!(error.message.ends_with("boom"), "{error}");
        }

        let turns = answers_of_line(&json!({"turns": ["hello", "there"], "error": "boom"})).unwrap();
        assert!(turns.iter().all(|(_, answer)| answer.is_err()));

        let judged = json!({"answer": "hello", "error": {"stage": "grade", "message": "the judge was down"}});
        assert_eq!(answer_of_line(&judged).unwrap().unwrap().text, "hello");
    }

    #[test]
    fn the_row_of_a_run_has_the_time_of_its_answer() {
        let row = json!({"answer": "hello", "verdict": "pass", "latency_ms": 12, "duration_ms": 900});
        assert_eq!(answer_of_line(&row).unwrap().unwrap().duration, std::time::Duration::from_millis(12));
    }

    #[test]
    fn two_answers_in_a_line_must_be_the_same() {
        for line in [
            json!({"output": "hello", "answer": "bye"}),
            json!({"output_messages": [{"role": "assistant", "content": "hello"}], "text": "bye"}),
        ] {
            assert!(answer_of_line(&line).is_err(), "{line}");
        }

        let same = json!({"output": [{"role": "assistant", "content": "hello"}], "answer": "hello\n"});
        assert_eq!(answer_of_line(&same).unwrap().unwrap().text, "hello");
    }
}
