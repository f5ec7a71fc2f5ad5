//! Matrix files rewritten in the `tests` format, for `convert`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use assize_diagnostic::{DiagnosticCode, Severity, Span};
use serde_json::{Map, Value, json};

use super::nodes::list_node;
use super::pending::PendingCase;
use crate::codes;
use crate::decode::DecodeContext;
use crate::decode::case::{DecodedCase, decode_prepared_case};
use crate::decode::grader::{AssertionContext, decode_assertions};
use crate::decode::suite::SuiteDefaults;
use crate::model::{AnswerSelection, EvalFileFormat, FilePosition, GraderKind};
use crate::tree::{NodeValue, TreeNode};

/// A matrix file rewritten in the `tests` format.
#[derive(Debug, Clone, Default)]
pub struct LoweredSuite {
    /// Keys of the suite, without its cases.
    pub head: Map<String, Value>,
    /// One case for each combination of prompt, test and variables, as a value of `tests`.
    pub cases: Vec<Value>,
    /// Definitions of the providers, in the form of targets files.
    pub targets: Vec<LoweredTarget>,
    /// Parts that the `tests` format can't express or that can't be run here, in the order in which they were
    /// found.
    pub losses: Vec<LoweredLoss>,
    /// Folder of the file. Its references are relative to this folder.
    folder: PathBuf,
    /// For assertions that could not be converted: the number of cases that lack them.
    left_out: HashMap<Span, usize>,
}

/// A provider as a target.
#[derive(Debug, Clone)]
pub struct LoweredTarget {
    /// Name by which the file refers to it.
    pub name: String,
    /// Its entry in a targets file.
    pub entry: Value,
    /// Position of its definition.
    pub place: FilePosition,
    /// Reasons why it can't be run.
    pub problems: Vec<String>,
}

/// A part of a file that could not be converted.
#[derive(Debug, Clone)]
pub struct LoweredLoss {
    /// Position of the part.
    pub place: FilePosition,
    /// Name of the part.
    pub item: String,
    /// What the loss means.
    pub what: String,
    /// Number of cases that lack it.
    pub cases: usize,
}

impl LoweredSuite {
    /// Creates an empty result for a file.
    pub(crate) fn new(path: &Path) -> Self {
        Self { folder: path.parent().unwrap_or(Path::new("")).to_path_buf(), ..Self::default() }
    }

    /// Sets the keys of the suite: name, description, tags, metadata, and the settings of `node`.
    pub(super) fn set_head(
        &mut self,
        name: &str,
        description: Option<&str>,
        tags: &[String],
        metadata: &Map<String, Value>,
        node: &TreeNode,
    ) {
        self.head.insert("name".to_owned(), json!(name));
        if let Some(description) = description {
            self.head.insert("description".to_owned(), json!(description));
        }
        if !tags.is_empty() {
            self.head.insert("tags".to_owned(), json!(tags));
        }
        if !metadata.is_empty() {
            self.head.insert("metadata".to_owned(), Value::Object(metadata.clone()));
        }
        if let Value::Object(settings) = node.to_json() {
            let is_set = |value: &Value| value.as_object().is_none_or(|map| !map.is_empty());
            self.head.extend(settings.into_iter().filter(|(_, value)| is_set(value)));
        }
    }

    /// Sets the targets of all cases.
    pub(super) fn name_targets<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        let names: Vec<&str> = names.collect();
        if !names.is_empty() {
            let execution = self.head.entry("execution").or_insert_with(|| json!({}));
            execution["targets"] = json!(names);
        }
    }

    /// Counts a case that lacks this assertion, because it could not be read. A diagnostic has the reason.
    pub(super) fn leave_out(&mut self, assertion: Span) {
        *self.left_out.entry(assertion).or_default() += 1;
    }

    /// Returns the number of cases that lack the part at a span.
    pub(crate) fn cases_without(&self, span: Span) -> usize {
        let holds =
            |outer: &Span| outer.source == span.source && outer.start <= span.start && span.end <= outer.end;
        self.left_out.iter().find(|(outer, _)| holds(outer)).map_or(0, |(_, count)| *count)
    }

    /// Records a part that could not be converted. The same part in several cases is recorded once, and
    /// counted.
    pub(crate) fn lose(&mut self, place: &FilePosition, item: &str, what: &str) {
        let known = self.losses.iter_mut().find(|loss| loss.place == *place && loss.item == item);
        match known {
            Some(loss) => loss.cases += 1,
            None => self.losses.push(LoweredLoss {
                place: place.clone(),
                item: item.to_owned(),
                what: what.to_owned(),
                cases: 1,
            }),
        }
    }
}

/// Adds a case, with its variables and other data that are not in its node.
pub(super) fn keep_case(
    cx: &mut DecodeContext,
    node: &TreeNode,
    vars: &Map<String, Value>,
    pending: &PendingCase<'_>,
    read: &DecodedCase,
) {
    let Some(case) = &read.case else { return };
    let Some(mut lowered) = cx.lowered.take() else { return };
    let mut value = lowered_value(cx, &lowered.folder, node);
    if !vars.is_empty() {
        value["vars"] = Value::Object(vars.clone());
    }

    let test = &pending.test;
    let at = |span: Span| cx.position(span);
    if let Some(scoring) = &test.scoring {
        let what =
            "the function that computes the score is not converted: the weighted mean of the graders decides";
        lowered.lose(&at(scoring.span), "`assertScoringFunction`", what);
    }
    if case.rivals.is_some() && case.prompt.is_some() {
        let what = "the answers to several prompts are not compared with each other: each prompt has cases of its own";
        lowered.lose(&at(pending.span), "`select-best` or `max-score`", what);
    }
    for (at, grader) in case.graders.iter().enumerate() {
        if let GraderKind::Selection(AnswerSelection::MaxScore(rule)) = &grader.kind
            && !rule.weights.is_empty()
        {
            value["assertions"][at]["weights"] = json!(rule.weights);
        }
    }
    for feature in &case.unbuilt {
        lowered.lose(
            &feature.place,
            "prompt",
            &format!("{} are sent as the path of the file", feature.feature),
        );
    }
    for code in &case.unrun_code {
        let what = format!("{code} was not run; `convert --allow-code` runs it");
        lowered.lose(&at(pending.span), "code", &what);
    }

    lowered.cases.push(value);
    cx.lowered = Some(lowered);
}

/// Decodes a case again without the graders that have errors, which have been reported. Returns the remaining
/// node and the case.
pub(super) fn decode_readable_graders(
    cx: &mut DecodeContext,
    mut node: TreeNode,
    defaults: &SuiteDefaults,
    vars: &Map<String, Value>,
) -> (TreeNode, DecodedCase) {
    let quiet = cx.problems.fork();
    let known = std::mem::replace(&mut cx.problems, quiet);
    let mut kept = Vec::new();
    for grader in assertions_of(&mut node).map(std::mem::take).unwrap_or_default() {
        let before = cx.problems.error_count();
        let alone = list_node(grader.span, vec![grader.clone()]);
        decode_assertions(cx, &alone, EvalFileFormat::Two, AssertionContext::default());
        if cx.problems.error_count() == before {
            kept.push(grader);
        } else if let Some(lowered) = &mut cx.lowered {
            lowered.leave_out(grader.span);
        }
    }
    if let Some(list) = assertions_of(&mut node) {
        *list = kept;
    }
    let read = decode_prepared_case(cx, &node, defaults, vars.clone().into_iter().collect());
    cx.problems = known;

    (node, read)
}

/// Returns the graders of a case.
fn assertions_of(node: &mut TreeNode) -> Option<&mut Vec<TreeNode>> {
    let NodeValue::Map(entries) = &mut node.data else { return None };
    match &mut entries.iter_mut().find(|entry| entry.key == "assertions")?.value.data {
        NodeValue::Seq(graders) => Some(graders),
        _ => None,
    }
}

/// Returns a node as JSON. References in files of another folder are made relative to the folder of the matrix
/// file.
fn lowered_value(cx: &DecodeContext, folder: &Path, node: &TreeNode) -> Value {
    match &node.data {
        NodeValue::Str(text) => {
            Value::from(reference_from(cx, folder, text, node.use_span()).unwrap_or(text.clone()))
        }
        NodeValue::Seq(items) => items.iter().map(|item| lowered_value(cx, folder, item)).collect(),
        NodeValue::Map(entries) => entries
            .iter()
            .map(|entry| (entry.key.clone(), lowered_value(cx, folder, &entry.value)))
            .collect::<Map<_, _>>()
            .into(),
        _ => node.to_json(),
    }
}

/// Returns a `file://` reference relative to `folder`. `None` if that changes nothing, or if it leads to no
/// file.
fn reference_from(cx: &DecodeContext, folder: &Path, text: &str, span: Span) -> Option<String> {
    let written = text.strip_prefix("file://").filter(|path| !path.contains('\n'))?;
    let home = cx.folder_of(span.source);
    let inner = home
        .strip_prefix(folder)
        .ok()
        .filter(|inner| !inner.as_os_str().is_empty() && *inner != Path::new("."))?;
    let file = written.rsplit_once(':').map_or(written, |(file, _)| file);
    let exists = [written, file].iter().any(|path| home.join(path).exists());

    exists.then(|| format!("file://{}", inner.join(written).display()))
}

/// Warnings about settings that are lost in a conversion, because they work differently in promptfoo.
pub const LOSS_WARNINGS: [DiagnosticCode; 3] =
    [codes::CODE_NOT_RUN, codes::NO_EFFECT, codes::READ_DIFFERENTLY];

/// Adds everything that diagnostics report as unreadable to the losses. Errors do not stop a conversion.
pub(crate) fn finish_losses(cx: &DecodeContext, mut lowered: LoweredSuite) -> LoweredSuite {
    let mut losses = Vec::new();
    for found in cx.problems.iter() {
        let is_error = found.severity == Severity::Error;
        if !is_error && !LOSS_WARNINGS.contains(&found.code) {
            continue;
        }
        let what = match found.help.first().filter(|help| is_error && !help.starts_with("known keys")) {
            Some(help) => format!("{}; {help}", found.primary.text),
            None => found.primary.text.clone(),
        };
        losses.push(LoweredLoss {
            place: cx.position(found.primary.span),
            item: found.title.clone(),
            what,
            cases: lowered.cases_without(found.primary.span),
        });
    }
    losses.append(&mut lowered.losses);

    LoweredSuite { losses, ..lowered }
}
