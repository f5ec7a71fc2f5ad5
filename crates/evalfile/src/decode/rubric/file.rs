//! Decoder of rubric files, which are used to grade answers without a suite.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Severity, SourceId, SourceMap, Span};
use assize_document::{MapReader, TreeNode, codes, finish_diagnostics};
use assize_model::{EvalFileFormat, PanelSpec, RubricGrader, TextVariable, ThresholdOverrides};
use assize_rubric::{EvidencePolicy, JudgingMode, TruncationMode};
use assize_table::is_table;
use serde_json::Value;

use super::list::{DecodedRubric, rubric_from_list};
use crate::LoadOptions;
use crate::decode::DecodeContext;
use crate::decode::common::{DecodedThresholds, decode_thresholds};
use crate::decode::file::{read_source, read_tree};
use crate::decode::grader::{PanelUse, decode_evidence, decode_judging, decode_panel, decode_truncate};
use crate::decode::interpolate::interpolate_rubric;
use crate::decode::vars::fill_rubric;

/// A rubric file, loaded and checked.
#[derive(Debug, Clone)]
pub struct LoadedRubric {
    /// Value of `name`, else the file name without its extension.
    pub name: String,
    /// Description of the rubric.
    pub description: Option<String>,
    /// Format of the criteria. It decides the default of `required` and of the borderline threshold.
    pub format: EvalFileFormat,
    /// Decoded rubric; `None` when there are errors.
    pub rubric: Option<Arc<RubricGrader>>,
    /// Values of `threshold` and `borderline`.
    pub thresholds: ThresholdOverrides,
    /// Variables of the environment whose values are part of its texts.
    pub variables: Vec<TextVariable>,
    /// Text of the file, for rendering diagnostics.
    pub sources: SourceMap,
    /// All diagnostics, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl LoadedRubric {
    /// Returns true if the file cannot be used.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Content of a rubric file.
#[derive(Default)]
struct RubricFileContent {
    name: Option<String>,
    description: Option<String>,
    rubric: Option<DecodedRubric>,
    judging: Option<JudgingMode>,
    evidence: Option<EvidencePolicy>,
    truncate: Option<TruncationMode>,
    judge: Option<String>,
    panel: PanelSpec,
    thresholds: ThresholdOverrides,
}

/// Loads a rubric file: YAML or JSON, either a list of criteria, or a map with such a list under `rubrics` or
/// `criteria` and, optionally, `name`, `description`, `threshold`, `borderline`, `judging`, `evidence`,
/// `truncate`, `judge` and `panel`. Criteria may be spelled as in either format.
pub fn load_rubric(path: &Path, options: &LoadOptions) -> LoadedRubric {
    let mut cx = DecodeContext::new(Arc::clone(&options.environment), Vec::new(), Vec::new());
    let real = options.working_folder.join(path);
    let root = read_rubric_tree(&mut cx, &real, path);
    finish_rubric(cx, root, path)
}

/// Loads a rubric file like [`load_rubric`], and replaces `{{ name }}` in its criteria with the values of
/// `vars`. A name that is not in `vars` is a warning. Values are inserted unchanged: a `${{ NAME }}` in a
/// value is not replaced.
pub fn load_rubric_with(path: &Path, options: &LoadOptions, vars: &BTreeMap<String, Value>) -> LoadedRubric {
    let mut cx = DecodeContext::new(Arc::clone(&options.environment), Vec::new(), Vec::new());
    let real = options.working_folder.join(path);
    let root = read_rubric_tree(&mut cx, &real, path).map(|root| filled(&mut cx, root, vars));
    finish_rubric(cx, root, path)
}

/// Decodes the text of a rubric file, which need not exist. `path` names it in diagnostics, and its extension
/// determines the syntax. Environment variables are not substituted.
pub fn read_rubric(path: &Path, text: &str) -> LoadedRubric {
    let mut cx = DecodeContext::new(Arc::new(|_| None), Vec::new(), Vec::new());
    let source = cx.sources.add(path, text);
    let root = read_tree(&mut cx, source);
    finish_rubric(cx, root, path)
}

/// Decodes the text of a rubric file like [`read_rubric`], and replaces `{{ name }}` in its texts with the
/// values of `vars`. A name that is not in `vars` is a warning.
pub fn read_rubric_with(path: &Path, text: &str, vars: &BTreeMap<String, Value>) -> LoadedRubric {
    let mut cx = DecodeContext::new(Arc::new(|_| None), Vec::new(), Vec::new());
    let source = cx.sources.add(path, text);
    let root = read_tree(&mut cx, source).map(|root| filled(&mut cx, root, vars));
    finish_rubric(cx, root, path)
}

/// Decodes the text of a rubric file as if it were the file at `path`, like [`load_rubric`]. Used for a text
/// that is not saved yet.
pub fn read_rubric_file(path: &Path, text: &str, options: &LoadOptions) -> LoadedRubric {
    let mut cx = DecodeContext::new(Arc::clone(&options.environment), Vec::new(), Vec::new());
    let source = cx.sources.add(path, text);
    let root = read_checked_tree(&mut cx, source);
    finish_rubric(cx, root, path)
}

/// Decodes the text of a rubric file like [`read_rubric_file`], with `vars` as in [`load_rubric_with`].
pub fn read_rubric_file_with(
    path: &Path,
    text: &str,
    options: &LoadOptions,
    vars: &BTreeMap<String, Value>,
) -> LoadedRubric {
    let mut cx = DecodeContext::new(Arc::clone(&options.environment), Vec::new(), Vec::new());
    let source = cx.sources.add(path, text);
    let root = read_checked_tree(&mut cx, source).map(|root| filled(&mut cx, root, vars));
    finish_rubric(cx, root, path)
}

/// Returns the tree with the values of `vars` inserted into its criteria.
fn filled(cx: &mut DecodeContext, mut root: TreeNode, vars: &BTreeMap<String, Value>) -> TreeNode {
    fill_rubric(cx, &mut root, vars);
    root
}

fn finish_rubric(mut cx: DecodeContext, root: Option<TreeNode>, path: &Path) -> LoadedRubric {
    let decoded = match root {
        Some(root) => {
            // The key of the list decides: the spelling of a text must not decide whether its criterion is a gate.
            cx.format = if root.get("rubrics").is_some() { EvalFileFormat::One } else { EvalFileFormat::Two };
            decode_rubric_file(&mut cx, &root)
        }
        None => RubricFileContent::default(),
    };

    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let sound = cx.problems.error_count() == 0;
    let variables = cx.reach.environment.in_texts();
    let DecodeContext { sources, problems, format, .. } = cx;
    let diagnostics = finish_diagnostics(problems, &sources);
    let RubricFileContent {
        name,
        description,
        rubric,
        judging,
        evidence,
        truncate,
        judge,
        panel,
        thresholds,
    } = decoded;
    let rubric = rubric.filter(|_| sound).map(|DecodedRubric { rubric, places, marks }| {
        Arc::new(RubricGrader {
            rubric,
            places,
            marks,
            instructions: None,
            judging,
            evidence,
            truncate,
            judge,
            panel,
        })
    });

    LoadedRubric {
        name: name.unwrap_or(stem),
        description,
        format,
        rubric,
        thresholds,
        variables,
        sources,
        diagnostics,
    }
}

fn read_rubric_tree(cx: &mut DecodeContext, real: &Path, shown: &Path) -> Option<TreeNode> {
    // Show the path as the user wrote it, if it leads to the same file.
    let same = |path: &Path| path.canonicalize().ok();
    let path = if same(shown) == same(real) { shown } else { real };
    if let Some(table) = answers_for_rubric(cx, path) {
        return cx.problems.reject(table);
    }

    let source = read_source(cx, path, None)?;
    read_checked_tree(cx, source)
}

/// Returns the diagnostic for a file of answers that was given as the rubric.
fn answers_for_rubric(cx: &mut DecodeContext, path: &Path) -> Option<Diagnostic> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let holds_answers = is_table(path) || matches!(ending.as_str(), "jsonl" | "ndjson");
    if !holds_answers || !path.is_file() {
        return None;
    }

    let source = cx.sources.add(path, "");
    Some(
        Diagnostic::error(codes::NOT_A_RUBRIC, format!("a .{ending} file is not a rubric"))
            .at(Span::new(source, 0, 0), "a rubric is a YAML or JSON file with a list of criteria")
            .with_help(format!(
                "name the rubric first and the answers with --answers: `assize grade RUBRIC.yaml \
                 --answers {}`",
                path.display()
            )),
    )
}

fn read_checked_tree(cx: &mut DecodeContext, source: SourceId) -> Option<TreeNode> {
    let errors = cx.problems.error_count();
    let root = read_tree(cx, source).filter(|root| !root.is_null());
    if root.is_none() && cx.problems.error_count() == errors {
        Diagnostic::error(codes::EMPTY_FILE, "the file is empty")
            .at(Span::new(source, 0, 0), "no criteria here")
            .with_help("write a list of criteria, each line beginning with `- `")
            .add_to(&mut cx.problems);
    }

    let mut root = root?;
    interpolate_rubric(cx, &mut root);

    Some(root)
}

fn decode_rubric_file(cx: &mut DecodeContext, root: &TreeNode) -> RubricFileContent {
    if root.as_seq().is_some() {
        return RubricFileContent {
            rubric: rubric_from_list(cx, root, "the rubric"),
            ..RubricFileContent::default()
        };
    }

    if let Some(key) =
        ["tests", "evalcases", "eval_cases", "scenarios"].iter().find(|key| root.get(key).is_some())
    {
        Diagnostic::error(codes::NOT_A_RUBRIC, "this is an eval file, not a rubric")
            .at(
                root.as_map()
                    .and_then(|map| map.iter().find(|entry| entry.key == *key))
                    .map_or(root.use_span(), |e| e.key_span),
                "a list of cases",
            )
            .with_help("run it with `assize eval`, or name a file with a list of criteria")
            .add_to(&mut cx.problems);
        return RubricFileContent::default();
    }

    if root.as_map().is_none() {
        Diagnostic::error(codes::NOT_A_RUBRIC, "a rubric file is a list of criteria or a map with one")
            .at(root.use_span().start_point(), format!("found {}", root.type_name()))
            .with_help("begin each criterion with `- `")
            .add_to(&mut cx.problems);
        return RubricFileContent::default();
    }

    let Some(mut object) = MapReader::new(root, "a rubric file", &mut cx.problems) else {
        return RubricFileContent::default();
    };
    object.entry("$schema");

    let name = object.name("name", &mut cx.problems);
    let description = object.string("description", &mut cx.problems);
    let rubric = if let Some(entry) = object.first_of(&["criteria", "rubrics"], &mut cx.problems) {
        rubric_from_list(cx, &entry.value, &entry.key)
    } else {
        Diagnostic::error(codes::NOT_A_RUBRIC, "this file has no list of criteria")
            .at(object.head(), "neither `criteria` nor `rubrics`")
            .with_help("write `criteria:` and the criteria below it, each line beginning with `- `")
            .reject_in(&mut cx.problems)
    };

    let mut found = DecodedThresholds::default();
    decode_thresholds(cx, &mut object, &mut found);

    let judging = decode_judging(cx, &mut object);
    let judge = object.text("judge", &mut cx.problems).map(|judge| judge.value);
    let panel = decode_panel(cx, &mut object, PanelUse::Rubrics { judge: judge.as_deref(), judging });
    let decoded = RubricFileContent {
        name: name.map(|name| name.value),
        description: description.map(|text| text.value),
        rubric,
        judging,
        evidence: decode_evidence(cx, &mut object),
        truncate: decode_truncate(cx, &mut object),
        judge,
        panel,
        thresholds: found.finish(cx),
    };

    object.finish(&mut cx.problems);
    decoded
}

#[cfg(test)]
mod tests {
    use assize_rubric::Gate;

    use super::*;

    fn load(name: &str, text: &str) -> LoadedRubric {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(name), text).expect("written");
        let options = LoadOptions {
            environment: Arc::new(|name| (name == "LINE").then(|| "0.7".to_owned())),
            ..LoadOptions::new(folder.path())
        };
        load_rubric(Path::new(name), &options)
    }

    fn codes_of(loaded: &LoadedRubric) -> Vec<&'static str> {
        loaded.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect()
    }

    #[test]
    fn both_spellings_and_bare_lists_are_read() {
        let one = load("a.yaml", "rubrics:\n- expected_outcome: a\n- b\n");
        assert_eq!((codes_of(&one), one.format), (vec![], EvalFileFormat::One));
        let rubric = one.rubric.expect("sound");
        assert_eq!(rubric.rubric.criteria()[0].gate, Some(Gate::Met));
        let two = load("a.yaml", "criteria:\n- outcome: a\n");
        assert_eq!(
            (two.format, two.rubric.expect("sound").rubric.criteria()[0].gate),
            (EvalFileFormat::Two, None)
        );
        let bare = load("my rubric.yaml", "- a\n- outcome: b\n");
        assert_eq!((bare.name.as_str(), bare.format), ("my rubric", EvalFileFormat::Two));
        let json = load("a.json", "[\"a\", {\"outcome\": \"b\"}]");
        assert_eq!(json.rubric.expect("sound").rubric.criteria().len(), 2);
    }

    #[test]
    fn the_spelling_of_a_text_decides_about_no_gate() {
        for key in ["outcome", "expected_outcome", "description"] {
            for (list, gate) in [("", None), ("criteria:\n", None), ("rubrics:\n", Some(Gate::Met))] {
                let loaded = load("a.yaml", &format!("{list}- {key}: a\n- {key}: b\n  required: true\n"));
                // A note explains how the key affects the gate, unless the criterion sets `required`.
                let notes = loaded.diagnostics.iter().map(|found| found.notes.join(" ")).collect::<Vec<_>>();
                let is_foreign = (key == "outcome") == gate.is_some();
                let expected = if is_foreign { vec![true, false] } else { Vec::new() };
                let says = |note: &String| note.contains("gate");
                assert_eq!(notes.iter().map(says).collect::<Vec<_>>(), expected, "{list}{key}: {notes:?}");
                let gates: Vec<_> =
                    loaded.rubric.expect("sound").rubric.criteria().iter().map(|one| one.gate).collect();
                assert_eq!(gates, [gate, Some(Gate::Met)], "{list}{key}");
            }
        }
    }

    #[test]
    fn settings_are_read() {
        let loaded = load(
            "a.yaml",
            "name: n\ndescription: d\nthreshold: ${{ LINE }}\nborderline: 0.5\njudging: batched\nevidence: required\njudge: big\ncriteria: [a]\n",
        );
        assert_eq!(codes_of(&loaded), Vec::<&str>::new());
        assert_eq!((loaded.name.as_str(), loaded.description.as_deref()), ("n", Some("d")));
        assert_eq!(loaded.thresholds.pass.map(assize_rubric::UnitInterval::get), Some(0.7));
        let rubric = loaded.rubric.expect("sound");
        assert_eq!(rubric.judging, Some(JudgingMode::Batched(None)));
        assert_eq!(rubric.evidence, Some(EvidencePolicy::Required));
        assert_eq!(rubric.judge.as_deref(), Some("big"));
    }

    #[test]
    fn values_of_a_sample_take_the_place_of_names_and_are_not_read_again() {
        let options = LoadOptions {
            environment: Arc::new(|name| (name == "LINE").then(|| "0.7".to_owned())),
            ..LoadOptions::new("/")
        };
        let text = "threshold: ${{ LINE }}\ncriteria: ['Names {{ city }}', 'Is {{ mood }}']\n";
        let vars = BTreeMap::from([("city".to_owned(), Value::from("${{ LINE }} {{ mood }}"))]);
        let loaded = read_rubric_file_with(Path::new("a.yaml"), text, &options, &vars);

        assert_eq!(codes_of(&loaded), [codes::UNKNOWN_VARIABLE.as_str()]);
        assert_eq!(loaded.thresholds.pass.map(assize_rubric::UnitInterval::get), Some(0.7));
        let rubric = loaded.rubric.expect("sound");
        let texts: Vec<&str> = rubric.rubric.criteria().iter().map(|criterion| &*criterion.text).collect();
        assert_eq!(texts, ["Names ${{ LINE }} {{ mood }}", "Is {{ mood }}"]);
    }

    #[test]
    fn other_files_are_refused() {
        for (text, code) in [
            ("tests: []\n", "E0214"),
            ("just text\n", "E0214"),
            ("name: a\n", "E0214"),
            ("", "E0419"),
            ("criteria: []\n", "E0202"),
            ("criteria: [a]\ntreshold: 0.5\n", "E0103"),
            ("criteria: [a]\nthreshold: 0.5\nborderline: 0.6\n", "E0413"),
            ("criteria: [a\n", "E0001"),
        ] {
            let loaded = load("a.yaml", text);
            assert_eq!(codes_of(&loaded), [code], "{text}");
            assert!(loaded.rubric.is_none() && loaded.has_errors());
        }
        let options = LoadOptions::new("/");
        assert_eq!(codes_of(&load_rubric(Path::new("no/such.yaml"), &options)), ["E0501"]);
    }
}
