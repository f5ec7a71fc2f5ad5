//! Detection of the format of a file, and hints for a file in neither format.

use assize_diagnostic::Diagnostic;
use assize_document::{NodeValue, TreeNode, codes, wrong_type};
use assize_model::EvalFileFormat;

use super::DecodeContext;
use super::common::old_spelling;

/// Keys of the list of cases, each with the format it implies.
const CASE_LIST_KEYS: [(&str, EvalFileFormat); 4] = [
    ("tests", EvalFileFormat::Two),
    ("evalcases", EvalFileFormat::One),
    ("eval_cases", EvalFileFormat::Two),
    ("cases", EvalFileFormat::Two),
];

/// Returns the keys of lists of cases.
pub(crate) fn case_list_keys() -> [&'static str; 4] {
    CASE_LIST_KEYS.map(|(key, _)| key)
}

/// Returns true if an item of a list is a criterion rather than a case.
fn is_criterion(item: &TreeNode) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| item.get(key).is_some());
    let is_text = matches!(item.data, NodeValue::Str(_));

    is_text
        || (has(&["outcome", "expected_outcome", "criterion"])
            && !has(&["input", "input_messages", "output"]))
}

/// Beginning of the title of the diagnostic for a rubric that was given instead of an eval file.
const RUBRIC_TITLE: &str = "this is a rubric";

/// Returns true if the diagnostics say that the file is a rubric, valid or not, instead of an eval file.
pub fn is_rubric_in_place_of_suite(diagnostics: &[Diagnostic]) -> bool {
    let says_so =
        |found: &Diagnostic| found.code == codes::NOT_AN_EVAL_FILE && found.title.starts_with(RUBRIC_TITLE);
    diagnostics.iter().any(says_so)
}

/// Returns the format of an eval file and the key of its cases. Returns `None` after adding a diagnostic.
pub(crate) fn detect_format(
    cx: &mut DecodeContext,
    root: &TreeNode,
) -> Option<(EvalFileFormat, &'static str)> {
    let Some(entries) = root.as_map() else {
        return cx.problems.reject(match root.as_seq() {
            Some(items) if items.iter().any(is_criterion) => {
                not_an_eval_file(root, RUBRIC_TITLE, "it is a list of criteria")
                    .with_help("to grade answers by it, run `assize grade RUBRIC --answers FILE`")
            }
            Some(_) => not_an_eval_file(root, "this is a list", "a list of cases alone is not an eval file")
                .with_help(
                    "put the list under `tests:`, or refer to this file from an eval file: `tests: FILE`",
                ),
            None => wrong_type(root, "an eval file", "a map")
                .with_help("an eval file has its cases under `tests:`"),
        });
    };

    let given: Vec<_> = entries
        .iter()
        .filter_map(|entry| {
            CASE_LIST_KEYS.iter().find(|(key, _)| *key == entry.key).map(|list| (entry, *list))
        })
        .collect();

    let Some((first, (key, format))) = given.first().copied() else {
        let complaint = describe_other_file(root);
        return cx.problems.reject(complaint);
    };
    if let Some((extra, (extra_key, _))) = given.get(1) {
        return Diagnostic::error(
            codes::BOTH_FORMATS,
            format!("the file has both `{key}` and `{extra_key}`"),
        )
        .at(extra.key_span, "a second list of cases")
        .with_secondary(first.key_span, "the first list of cases")
        .with_note("`evalcases` and `tests` belong to different formats with different defaults")
        .with_help("keep one list; move the cases of the other into it or into a file of their own")
        .reject_in(&mut cx.problems);
    }

    if !matches!(key, "tests" | "evalcases") {
        old_spelling(cx, first, "tests");
    }

    Some((format, key))
}

/// Returns true if a map holds cases.
pub(crate) fn has_cases(root: &TreeNode) -> bool {
    CASE_LIST_KEYS.iter().any(|(key, _)| root.get(key).is_some())
}

/// Returns the format of a dataset's line, from keys that only one of the formats has. `settings` is the
/// settings file of the dataset.
pub(crate) fn detect_line_format(settings: Option<&TreeNode>, line: Option<&TreeNode>) -> EvalFileFormat {
    let has = |node: &TreeNode, keys: &[&str]| keys.iter().any(|key| node.get(key).is_some());
    if let Some(settings) = settings {
        let evaluators = settings.get("execution").is_some_and(|inner| inner.get("evaluators").is_some());
        if has(settings, &["dataset", "evaluator"]) || evaluators {
            return EvalFileFormat::One;
        }
        if has(settings, &["assertions", "assert", "input", "input_files", "name", "tags"]) {
            return EvalFileFormat::Two;
        }
    }

    let one = &["expected_outcome", "input_messages", "expected_messages", "rubrics", "evaluators"];
    let two = &["criteria", "assertions", "assert", "turns", "vars", "input_files"];
    match line {
        Some(line) if has(line, one) && !has(line, two) => EvalFileFormat::One,
        _ => EvalFileFormat::Two,
    }
}

/// Returns true if a line of a dataset is a row of results rather than a case.
pub(crate) fn looks_like_result(line: &TreeNode) -> bool {
    line.get("id").is_none()
        && ["test_id", "eval_id", "case_id"].iter().any(|key| line.get(key).is_some())
        && ["score", "verdict", "assertions", "timestamp"].iter().any(|key| line.get(key).is_some())
}

fn not_an_eval_file(root: &TreeNode, title: &str, label: &str) -> Diagnostic {
    let at =
        root.as_map().and_then(<[_]>::first).map_or(root.use_span().start_point(), |entry| entry.key_span);
    Diagnostic::error(codes::NOT_AN_EVAL_FILE, format!("{title}, not an eval file")).at(at, label)
}

/// Returns the diagnostic for a map without cases. It says which type of file the map resembles, and which
/// command takes that type.
fn describe_other_file(root: &TreeNode) -> Diagnostic {
    let has = |key: &str| root.get(key).is_some();
    let complain =
        |title: &str, label: &str, help: &str| not_an_eval_file(root, title, label).with_help(help);
    if has("skill_name") && has("evals") {
        return complain(
            "this is an Agent Skills evals file",
            "it has `skill_name` and `evals`",
            "write each entry of `evals` as a case of `tests`: `prompt` becomes `input`, `files` becomes `input_files`, `assertions` stay",
        );
    }

    if has("prompts") || has("providers") || has("scenarios") {
        return complain(
            "this is a promptfoo configuration",
            "it has `prompts` or `providers`, and no tests",
            "add `prompts`, `providers` and `tests`; attacks (`redteam`) are not generated here",
        );
    }

    if has("targets") {
        return complain(
            "this is a targets file",
            "it has `targets` and no cases",
            "put it at `.assize/targets.yaml`; eval files name its targets under `execution: {target: NAME}`",
        );
    }

    if has("rubrics") || has("criteria") || has("rubric") {
        return complain(
            RUBRIC_TITLE,
            "it has criteria and no cases",
            "to grade answers by it, run `assize grade RUBRIC --answers FILE.jsonl`; in an eval file it goes under `assertions` of a case",
        );
    }

    if has("assertions") || has("assert") {
        return complain(
            "this is a template of graders",
            "it has graders and no cases",
            "use it in an eval file with `assertions: [{include: NAME}]`",
        );
    }

    if ["template", "repos", "hooks", "docker"].iter().any(|key| has(key)) {
        return complain(
            "this is a workspace file",
            "it describes a folder and has no cases",
            "use it in an eval file with `workspace: PATH`",
        );
    }

    if has("dataset") || has("evaluator") || has("execution") {
        return complain(
            "this is a file of settings",
            "it has settings and no cases",
            "add cases under `tests`; if these settings belong to a dataset, load the `.jsonl` file of the same name",
        );
    }

    let near = root.as_map().unwrap_or_default().iter().find_map(|entry| {
        assize_diagnostic::did_you_mean(&entry.key, CASE_LIST_KEYS.map(|(key, _)| key))
            .map(|near| (entry, near))
    });
    if let Some((entry, near)) = near {
        return Diagnostic::error(codes::NOT_AN_EVAL_FILE, "the file has no list of cases")
            .at(entry.key_span, "not the key of a list of cases")
            .with_help(format!("did you mean `{near}`?"))
            .with_suggestion("rename the key", entry.key_span, near);
    }

    let at =
        root.as_map().and_then(<[_]>::first).map_or(root.use_span().start_point(), |entry| entry.key_span);
    Diagnostic::error(codes::NOT_AN_EVAL_FILE, "the file has no list of cases")
        .at(at, "neither `tests` nor `evalcases` in this file")
        .with_help("write the cases under `tests:`, each with `id`, `input` and `criteria` or `assertions`")
}
