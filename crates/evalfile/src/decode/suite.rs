//! Decoder of the top level of an eval file, without its cases.

use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SpannedValue};
use assize_document::{MapEntry, MapReader, TreeNode, codes, string};
use assize_model::{ContainerSpec, EvalFileFormat, FilePreprocessor, Grader, Suite, UnsupportedFeature};
use assize_rubric::{CaseMessage, MessageBlock};
use serde_json::Map;

use super::common::{
    check_id, decode_free_map, decode_tags, empty, find_own_spelling, old_spelling, refuse_foreign_keys,
};
use super::grader::AssertionContext;
use super::preprocessors::decode_preprocessors;
use super::targets::decode_defined_targets;
use super::workspace::decode_workspace;
use super::{AnswerFormat, DecodeContext, execution, graders, messages};

/// Defaults of a suite for each of its cases.
#[derive(Debug)]
pub struct SuiteDefaults {
    /// Graders of the suite, with unique names.
    pub(crate) graders: Vec<Arc<Grader>>,
    /// Messages that precede a case's own.
    pub(crate) input: Vec<CaseMessage>,
    /// Attachments of cases that have none of their own.
    pub(crate) files: Vec<MessageBlock>,
    /// Converters for files in answers.
    pub(crate) preprocessors: Arc<[FilePreprocessor]>,
    /// Container in which program graders run.
    pub(crate) container: Option<Arc<ContainerSpec>>,
    /// True if one of the fields above had errors. A part that a case seems to lack may have been defined
    /// there.
    pub(crate) broken: bool,
    /// Layout of a dataset of bare answers; `None` if its lines are cases.
    pub(crate) answers: Option<AnswerFormat>,
}

/// Advice for criteria that should apply to all cases.
const CRITERIA_HELP: &str = "write criteria for all cases as a grader: `assertions: [{type: rubrics, criteria: [...]}]`; \
     the `criteria` of a case describe its expected outcome";

/// Keys of newer versions and of other tools, with the equivalent in this format.
const FOREIGN_KEYS: &[(&str, &str)] = &[
    (
        "judge",
        "name the judge with `--judge` on the command line, with `judge:` in the configuration file, or in the `execution` of \
         the suite",
    ),
    ("criteria", CRITERIA_HELP),
    ("rubrics", CRITERIA_HELP),
    ("rubric", CRITERIA_HELP),
    ("asserts", "write the graders as `assertions`"),
    (
        "prompt",
        "write the prompt as `input`; a promptfoo configuration has `prompts: [...]` and `providers: [...]`",
    ),
    (
        "provider",
        "name the target under `execution`; a promptfoo configuration has `prompts: [...]` and `providers: [...]`",
    ),
    ("providers", "name targets under `execution: {targets: [...]}` and define them in the targets file"),
    ("prompts", "write the prompt as `input` of the suite or of each case, with `vars` for what differs"),
    ("scenarios", "write each scenario as a case of `tests`"),
    ("default_test", "put shared graders into `assertions` and shared messages into `input`"),
    ("defaultTest", "put shared graders into `assertions` and shared messages into `input`"),
    ("evaluate_options", "put run settings under `execution` (`workers`, `budget_usd`, `threshold`)"),
    ("derived_metrics", "not supported; compute it from the results"),
    ("output_path", "name the run folder on the command line: `--run-dir DIR`"),
    ("nunjucks_filters", "`vars` are inserted as they are, without filters"),
    ("environment", "write `workspace` for the folder to work in"),
    ("extensions", "write `hooks` under `workspace`"),
    ("env", "set variables in the `.env` file and use them as `${{ NAME }}`"),
    ("timeout_seconds", "set the time limit on the target, in the targets file"),
];

/// Decodes the top level of an eval file or of the settings file of a dataset. `list_key` is the key of the
/// cases, which are decoded elsewhere.
pub fn decode_suite(
    cx: &mut DecodeContext,
    node: &TreeNode,
    path: &Path,
    list_key: Option<&'static str>,
) -> Option<(Suite, SuiteDefaults)> {
    let mut object = MapReader::new(node, "an eval file", &mut cx.problems)?;
    let mut missing: Vec<UnsupportedFeature> = Vec::new();

    if let Some(key) = list_key {
        object.entry(key);
    }

    object.entry("$schema");
    let name = decode_suite_name(cx, &mut object);
    let name_place = name.as_ref().map(|name| cx.position(name.span));
    let name = name.map_or_else(|| default_name(path), |name| name.value);
    let description = object.string("description", &mut cx.problems).map(|text| text.value);
    let tags = decode_tags(cx, &mut object);
    let metadata = decode_suite_metadata(cx, &mut object);

    check_default_kind(cx, &mut object);
    // If the file has these keys, cases without graders were probably meant to use them.
    let has_criteria = FOREIGN_KEYS.iter().any(|(key, help)| *help == CRITERIA_HELP && object.has(key));
    refuse_foreign_keys(cx, &mut object, FOREIGN_KEYS);
    let defined_targets = match object.value("targets") {
        Some(node) => decode_defined_targets(cx, node, path),
        None => Vec::new(),
    };

    let mut inner = execution::open_execution(cx, &mut object);
    let settings = execution::decode_settings(cx, &mut object, inner.as_mut());
    let before = cx.problems.error_count();
    let list = execution::find_grader_list(cx, &mut object, inner.as_mut());
    let base = AssertionContext::default();
    let graders = match list {
        Some(entry) => graders::decode_list(cx, entry, base),
        None => Vec::new(),
    };
    let input = object
        .entry("input")
        .and_then(|entry| {
            if entry.value.is_null() {
                cx.problems.add(empty("input", entry.key_span));
                return None;
            }
            messages::decode_input(cx, &entry.value, "input")
        })
        .unwrap_or_default();

    let files =
        object.value("input_files").map(|node| messages::decode_input_files(cx, node)).unwrap_or_default();
    let broken = has_criteria || cx.problems.error_count() > before;
    let workspace = decode_workspace(cx, &mut object, &mut missing);
    let preprocessors = decode_preprocessors(cx, &mut object);
    let container = workspace.as_ref().and_then(|workspace| workspace.docker.clone());

    if let Some(inner) = inner {
        inner.finish(&mut cx.problems);
    }

    object.finish(&mut cx.problems);
    let suite = Suite {
        format: cx.format,
        name,
        name_place,
        path: path.to_path_buf(),
        description,
        tags,
        metadata,
        graders: graders.clone(),
        settings,
        workspace,
        preprocessors: Arc::clone(&preprocessors),
        defined_targets,
        extensions: None,
        unbuilt: missing,
        derived_metrics: Vec::new(),
        unrun_code: Vec::new(),
        variables: Vec::new(),
        has_providers: false,
    };
    let defaults = SuiteDefaults { graders, input, files, preprocessors, container, broken, answers: None };
    Some((suite, defaults))
}

fn decode_suite_name(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<SpannedValue<String>> {
    let entry = find_own_spelling(cx, object, "dataset", "name")?;
    if entry.value.is_null() {
        return None;
    }

    let name = string(&entry.value, &entry.key, &mut cx.problems)?;
    check_id(cx, name, "the name of the suite")
}

/// Returns the file name without its extensions: `a.eval.yaml` becomes `a`.
pub fn default_name(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let short = stem.strip_suffix(".eval").or_else(|| stem.strip_suffix(".EVAL")).unwrap_or(&stem);
    let clean: String = short.chars().filter(|c| !c.is_control()).collect();
    if clean.trim().is_empty() { "suite".to_owned() } else { clean.trim().to_owned() }
}

fn decode_suite_metadata(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
) -> Map<String, serde_json::Value> {
    let mut metadata =
        object.value("metadata").map(|node| decode_free_map(cx, node, "metadata")).unwrap_or_default();
    for key in ["version", "author", "license", "category", "governance", "requires"] {
        let Some(entry) = object.entry(key).filter(|entry| !entry.value.is_null()) else { continue };
        keep_in_metadata(cx, &mut metadata, entry);
    }

    metadata
}

/// Moves a descriptive key into the author's metadata.
pub(crate) fn keep_in_metadata(
    cx: &mut DecodeContext,
    metadata: &mut Map<String, serde_json::Value>,
    entry: &MapEntry,
) {
    if metadata.contains_key(&entry.key) {
        Diagnostic::error(codes::TWO_SPELLINGS, format!("`{}` is given twice", entry.key))
            .at(entry.key_span, "this one is extra")
            .with_note("`metadata` has a key of this name too")
            .with_help("keep one of them")
            .add_to(&mut cx.problems);
    }
    metadata.insert(entry.key.clone(), entry.value.to_json());
}

/// Checks `evaluator`, the kind of grader for cases that have none. The only kind that needs no further
/// settings is a judge with the expected outcome, which is the default anyway.
pub(crate) fn check_default_kind(cx: &mut DecodeContext, object: &mut MapReader<'_>) {
    let Some(entry) = object.entry("evaluator").filter(|entry| !entry.value.is_null()) else { return };
    let Some(SpannedValue { value, span }) = string(&entry.value, "evaluator", &mut cx.problems) else {
        return;
    };
    match value.replace('-', "_").as_str() {
        "llm_judge" | "llm_grader" | "rubric" | "rubrics" => {
            if cx.format == EvalFileFormat::Two {
                old_spelling(cx, entry, "assertions");
            }
        }
        _ => Diagnostic::error(codes::NOT_SUPPORTED, format!("`evaluator: {value}` needs settings"))
            .at(span, "this type of grader needs settings")
            .with_help(
                cx.format
                    .choose("list it under `execution: {evaluators: [...]}`", "list it under `assertions`"),
            )
            .add_to(&mut cx.problems),
    }
}
