//! Logs of Inspect: `.eval` (a zip archive with one part per sample) and `.json`.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io::Read as _;
use std::path::Path;

use assize_files::{MAX_EXPANSION, max_expanded};
use assize_limits::{ARCHIVE_BYTES, json_memory};
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::archive::RecordArchive;
use crate::error::read_object;
use crate::text::{
    any_of, content_text, document, first_line, parts_without_text, plain_text, question, read_bytes,
    read_frame, read_members, texts,
};
use crate::{Record, RecordError, RecordFile, RecordFormat, RecordProblem};

/// Prefix of a reference to a text in the attachments of its sample.
const ATTACHMENT: &str = "attachment://";

#[derive(Deserialize)]
struct InspectLog {
    #[serde(default)]
    status: String,
    eval: InspectTask,
    #[serde(default)]
    invalidated: bool,
}

#[derive(Deserialize)]
struct InspectSamples<'b> {
    #[serde(borrow)]
    samples: Option<Vec<&'b RawValue>>,
}

#[derive(Deserialize)]
struct InspectTask {
    #[serde(default)]
    task: String,
    #[serde(default)]
    model: String,
    #[serde(default)]
    dataset: InspectDataset,
    #[serde(default)]
    config: InspectConfig,
}

#[derive(Deserialize, Default)]
struct InspectDataset {
    samples: Option<u64>,
    sample_ids: Option<Vec<Value>>,
}

#[derive(Deserialize, Default)]
struct InspectConfig {
    epochs: Option<u64>,
}

#[derive(Deserialize)]
struct InspectSample {
    id: Value,
    #[serde(default = "first_epoch")]
    epoch: u64,
    input: Value,
    choices: Option<Vec<String>>,
    #[serde(default)]
    target: Value,
    #[serde(default)]
    messages: Vec<Value>,
    output: Option<InspectOutput>,
    scores: Option<Map<String, Value>>,
    error: Option<InspectError>,
    limit: Option<Value>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
    #[serde(default)]
    attachments: HashMap<String, String>,
}

#[derive(Deserialize)]
struct InspectOutput {
    model: Option<String>,
    #[serde(default)]
    choices: Vec<InspectChoice>,
    #[serde(default)]
    completion: String,
}

#[derive(Deserialize)]
struct InspectChoice {
    message: Value,
}

#[derive(Deserialize)]
struct InspectError {
    message: String,
}

const fn first_epoch() -> u64 {
    1
}

/// The members of samples and headers that are kept.
const KEPT: [&str; 15] = [
    "status", "eval", "invalidated", "id", "epoch", "input", "choices", "target", "messages", "output",
    "scores", "error", "limit", "metadata", "attachments",
];

/// Texts that references repeat. A log of some kilobytes may name one attachment, or one result of a tool, a million times.
struct RepeatedTexts {
    left: u64,
    limit: u64,
    is_exceeded: bool,
}

impl RepeatedTexts {
    /// The limit for a file of this size.
    fn of_file(length: u64) -> Self {
        let limit = max_expanded(length, ARCHIVE_BYTES);
        Self { left: limit, limit, is_exceeded: false }
    }

    /// Another copy of a text; an empty one beyond the limit.
    fn copy(&mut self, text: &str) -> String {
        let Some(left) = self.left.checked_sub(text.len() as u64) else {
            self.is_exceeded = true;
            return String::new();
        };
        self.left = left;
        text.to_owned()
    }
}

/// Reads a log of either form.
pub(crate) fn read_log(path: &Path) -> Result<RecordFile, RecordError> {
    let mut magic = [0; 2];
    let mut file = assize_files::open_file(path)?;
    let mut repeated = RepeatedTexts::of_file(file.metadata()?.len());
    let is_archive = file.read(&mut magic)? == 2 && &magic == b"PK";

    let mut problems = Vec::new();
    let (log, samples) = if is_archive {
        read_archive(path, &mut problems)?
    } else {
        let bytes = read_bytes(path)?;
        let text = document(&bytes, 2, &mut problems)?;
        let list = read_frame::<InspectSamples<'_>>(&text)?.samples.unwrap_or_default();
        (read_frame(&text)?, read_members(&text, &list, &mut problems))
    };

    let file = records(&log, samples, problems, &mut repeated);
    if repeated.is_exceeded {
        return Err(RecordError::Archive(format!(
            "attachments and results of tools are repeated beyond {} MiB, and beyond {MAX_EXPANSION} times the file",
            repeated.limit >> 20
        )));
    }
    Ok(file)
}

fn read_archive(
    path: &Path,
    problems: &mut Vec<RecordProblem>,
) -> Result<(InspectLog, Vec<InspectSample>), RecordError> {
    let mut archive = RecordArchive::open(assize_files::open_file(path)?)?;
    // The header is written last. If a run is still going on or was killed, there is only a start.
    let (header, name) = match archive.part("header.json")? {
        Some(bytes) => (Some(bytes), "header.json"),
        None => (archive.part("_journal/start.json")?, "_journal/start.json"),
    };
    let Some(header) = header else {
        return Err(RecordError::Archive("it is a zip archive, but not a log of Inspect".to_owned()));
    };
    let problem = |name: &str, why| RecordProblem { part: Some(name.to_owned()), line: 1, why };
    let log = read_part(&mut archive, &header)?.map_err(|why| RecordError::Invalid(problem(name, why)))?;

    let names: Vec<String> = archive
        .names()
        .filter(|name| {
            name.starts_with("samples/")
                && Path::new(name).extension().is_some_and(|extension| extension == "json")
        })
        .collect();
    let mut samples = Vec::with_capacity(names.len());
    for name in names {
        let read = match archive.part(&name) {
            Ok(None) => continue,
            Ok(Some(bytes)) => read_part(&mut archive, &bytes)?,
            Err(RecordError::DamagedPart { why, .. }) => Err(why),
            Err(other) => return Err(other),
        };
        match read {
            Ok(sample) => samples.push(sample),
            Err(why) => problems.push(problem(&name, why)),
        }
    }

    Ok((log, samples))
}

/// Reads a part of an archive. The inner error is the reason why this part can't be read.
fn read_part<R, T: DeserializeOwned>(
    archive: &mut RecordArchive<R>,
    bytes: &[u8],
) -> Result<Result<T, String>, RecordError> {
    // In a part of an archive there is no list to recover records from, so a truncated part is an error.
    let text = match document(bytes, usize::MAX, &mut Vec::new()) {
        Ok(text) => text,
        Err(RecordError::Invalid(problem)) => return Ok(Err(problem.why)),
        Err(other) => return Ok(Err(other.to_string())),
    };
    // Most of a log are events, which are not kept.
    if let Ok(KeptMemory(memory)) = serde_json::from_slice(&text) {
        archive.count_values(memory)?;
    }
    Ok(read_object(&text).map_err(|(_, why)| why))
}

/// What the members of an object that are kept take in memory.
struct KeptMemory(usize);

impl<'de> Deserialize<'de> for KeptMemory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeptVisitor;

        impl<'de> Visitor<'de> for KeptVisitor {
            type Value = KeptMemory;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<KeptMemory, A::Error> {
                let mut memory = 0;
                while let Some(key) = members.next_key::<String>()? {
                    let value = members.next_value::<&RawValue>()?;
                    if KEPT.contains(&key.as_str()) {
                        memory += json_memory(value.get().as_bytes());
                    }
                }
                Ok(KeptMemory(memory))
            }
        }

        deserializer.deserialize_map(KeptVisitor)
    }
}

fn records(
    log: &InspectLog,
    mut samples: Vec<InspectSample>,
    problems: Vec<RecordProblem>,
    repeated: &mut RepeatedTexts,
) -> RecordFile {
    let mut file = RecordFile::new(RecordFormat::Inspect, Some(log.eval.task.clone()));
    let found = samples.len() as u64;
    let epochs = log.eval.config.epochs.unwrap_or(1).max(1);
    let of_dataset = log.eval.dataset.sample_ids.as_ref().map(|ids| ids.len() as u64);
    let planned = of_dataset.or(log.eval.dataset.samples).map(|samples| samples.saturating_mul(epochs));
    // Problems that have been reported explain missing samples already.
    if let Some(planned) = planned.filter(|planned| *planned > found && problems.is_empty()) {
        let status = if log.status.is_empty() { "started" } else { &log.status };
        file.remarks.push(format!(
            "the log holds {found} of {planned} samples; its run ended with status `{status}`"
        ));
    }
    file.problems = problems;
    if log.invalidated {
        file.remarks.push("Inspect marks this log as invalidated".to_owned());
    }

    samples.sort_by_cached_key(|sample| {
        (sample.id.as_i64().unwrap_or(i64::MAX), plain_text(&sample.id), sample.epoch)
    });
    let several = samples.iter().any(|sample| sample.epoch > 1);
    file.records = samples.into_iter().map(|sample| record(log, sample, several, repeated)).collect();

    let types: BTreeSet<&str> =
        file.records.iter().flat_map(|record| &record.left_out).map(String::as_str).collect();
    if !types.is_empty() {
        let count = file.records.iter().filter(|record| !record.left_out.is_empty()).count();
        let types = types.into_iter().collect::<Vec<_>>().join(", ");
        file.remarks.push(format!(
            "{count} of {found} samples have parts that are not text ({types}): their texts name these, and judges do not see them"
        ));
    }
    file
}

fn record(
    log: &InspectLog,
    mut sample: InspectSample,
    several: bool,
    repeated: &mut RepeatedTexts,
) -> Record {
    let attachments = std::mem::take(&mut sample.attachments);
    for value in [&mut sample.input, &mut sample.target].into_iter().chain(&mut sample.messages) {
        resolve(value, &attachments, repeated);
    }

    let id = plain_text(&sample.id);
    let mut record = Record::new(
        if several { format!("{id}-epoch-{}", sample.epoch) } else { id.clone() },
        "it holds no answer of the model",
    );
    record.left_out =
        parts_without_text(sample.input.as_array().into_iter().flatten().chain(&sample.messages));
    record.output = answer(&sample, &attachments, repeated);
    let earlier_turns = earlier_turns(&sample);
    record.input = question(sample.input);
    if let Some(choices) = sample.choices.filter(|choices| !choices.is_empty()) {
        add_choices(&mut record.input, &choices);
    }
    if earlier_turns.is_some() {
        record.input = earlier_turns;
    }
    record.reference = any_of(&texts(&sample.target));

    if several {
        record.add_metadata("cluster", id);
        record.add_metadata("epoch", sample.epoch);
    }
    record.add_metadata("task", log.eval.task.as_str());
    let model = sample.output.and_then(|output| output.model).filter(|model| !model.is_empty());
    record.add_metadata("model", model.unwrap_or_else(|| log.eval.model.clone()));
    let scores = sample.scores.unwrap_or_default();
    let values =
        scores.iter().map(|(name, score)| (name.clone(), score.get("value").cloned().unwrap_or_default()));
    record.add_metadata("scores", values.collect::<Map<_, _>>());
    let reasons = scores.iter().filter_map(|(name, score)| {
        Some((name.clone(), score.get("explanation").filter(|reason| !reason.is_null())?.clone()))
    });
    record.add_metadata("reasons", reasons.collect::<Map<_, _>>());
    record
        .add_metadata("limit", sample.limit.and_then(|limit| limit.get("type").cloned()).unwrap_or_default());
    for (key, value) in sample.metadata.unwrap_or_default() {
        record.add_metadata(&key, value);
    }

    record
}

/// Replaces references to attachments by their texts.
fn resolve(value: &mut Value, attachments: &HashMap<String, String>, repeated: &mut RepeatedTexts) {
    match value {
        Value::String(text) => {
            if let Some(found) = text.strip_prefix(ATTACHMENT).and_then(|hash| attachments.get(hash)) {
                *text = repeated.copy(found);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| resolve(item, attachments, repeated)),
        Value::Object(members) => {
            members.values_mut().for_each(|member| resolve(member, attachments, repeated));
        }
        _ => {}
    }
}

/// Adds the choices to the question, in the form in which Inspect shows them to models.
fn add_choices(input: &mut Option<Value>, choices: &[String]) {
    let letters = ('A'..='Z').chain('a'..='z').map(String::from).chain(std::iter::repeat("-".to_owned()));
    let list: Vec<String> =
        letters.zip(choices).map(|(letter, choice)| format!("{letter}) {choice}")).collect();
    let text = match input {
        Some(Value::String(text)) => Some(text),
        Some(Value::Array(messages)) => match messages.last_mut().and_then(|last| last.get_mut("content")) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        },
        _ => None,
    };
    if let Some(text) = text {
        text.push_str("\n\n");
        text.push_str(&list.join("\n"));
    }
}

/// Returns the conversation before the last question, which the answer belongs to, if there are several questions. If
/// the model called tools, the user's later messages only prompt it to continue, and all messages are its answer.
fn earlier_turns(sample: &InspectSample) -> Option<Value> {
    let messages = &sample.messages;
    let first_answer = messages.iter().position(is_answer)?;
    let last_question = messages.iter().rposition(|message| message["role"] == "user")?;
    if last_question < first_answer || messages[first_answer..].iter().any(has_tool_calls) {
        return None;
    }

    let turns = messages[..=last_question].iter();
    Some(
        turns
            .map(|message| json!({"role": message["role"], "content": content_text(&message["content"])}))
            .collect(),
    )
}

fn is_answer(message: &Value) -> bool {
    message["role"] == "assistant" && message["source"] != "input"
}

fn has_tool_calls(message: &Value) -> bool {
    message["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty())
}

/// Returns the answer: the model's text, or all its messages if it called tools.
fn answer(
    sample: &InspectSample,
    attachments: &HashMap<String, String>,
    repeated: &mut RepeatedTexts,
) -> Result<Value, String> {
    if let Some(error) = &sample.error {
        return Err(format!("it ended in an error: {}", first_line(&error.message)));
    }
    let Some(output) =
        sample.output.as_ref().filter(|output| !output.choices.is_empty() || !output.completion.is_empty())
    else {
        return Err("it holds no answer of the model".to_owned());
    };
    let text = if output.completion.is_empty() {
        output.choices.first().map(|choice| content_text(&choice.message["content"])).unwrap_or_default()
    } else {
        output.completion.clone()
    };
    let mut text = Value::String(text);
    resolve(&mut text, attachments, repeated);

    let Some(start) = sample.messages.iter().position(is_answer) else { return Ok(text) };
    let messages = &sample.messages[start..];
    if !messages.iter().any(has_tool_calls) {
        return Ok(text);
    }

    let results = messages.iter().rev().filter(|message| message["role"] == "tool");
    let results: HashMap<&Value, (String, bool)> = results
        .map(|message| {
            let error = message["error"]["message"].as_str();
            let text = error.map_or_else(|| content_text(&message["content"]), str::to_owned);
            (&message["tool_call_id"], (text, error.is_some()))
        })
        .collect();
    let mut list = Vec::new();
    for message in messages.iter().filter(|message| message["role"] != "tool") {
        let mut written = json!({"role": message["role"], "content": content_text(&message["content"])});
        let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice).iter().map(|call| {
            let mut made = json!({"tool": call["function"], "input": call["arguments"]});
            if let Some((result, failed)) = results.get(&call["id"]) {
                made["output"] = json!(repeated.copy(result));
                if *failed {
                    made["failed"] = json!(true);
                }
            }
            made
        });
        let calls: Vec<Value> = calls.collect();
        if !calls.is_empty() {
            written["tool_calls"] = Value::Array(calls);
        }
        list.push(written);
    }

    // If a solver set the answer, or a tool for submitting received it, it is not in any message.
    let is_last = list.last().is_some_and(|last| last["role"] == "assistant" && last["content"] == text);
    if !is_last {
        list.push(json!({"role": "assistant", "content": text}));
    }
    Ok(Value::Array(list))
}
