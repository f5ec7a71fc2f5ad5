//! Loading of answers that are graded against a rubric, without a suite.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use assize_rubric::GraderWeighting;
use serde_json::Map;

use crate::decode::{CaseCollector, LoadedRubric, SuiteDefaults, jsonl};
use crate::load::{LoadOptions, LoadedSuite, load_context};
use crate::model::{
    Case, CaseId, CaseMarks, CaseMessage, FilePosition, GivenOutput, Grader, GraderKind, MessageRole,
    OnDependencyFailure, RubricGrader, Suite, SuiteSettings, ThresholdOverrides,
};

/// Loads a JSONL file of answers as cases of a suite whose only grader is the rubric.
///
/// Each line is an object with `answer` (or `output`), and optionally `id`, `question` (or `input`),
/// `reference` (or `expected_output`), `expected_outcome`, `tags` and `metadata`; other keys are kept as
/// metadata. The rubric must be valid; otherwise the result has no suite.
pub fn load_answers(path: &Path, rubric: &LoadedRubric, options: &LoadOptions) -> LoadedSuite {
    let mut cx = load_context(path, options);
    let mut loaded = None;
    if let Some(grader) = &rubric.rubric {
        let (suite, grader) = suite_for_rubric(rubric, grader, path);
        let defaults = SuiteDefaults {
            format: rubric.format,
            graders: vec![Arc::new(grader)],
            input: Vec::new(),
            broken: false,
            files: Vec::new(),
            answers: true,
        };

        let mut collector = CaseCollector::new(defaults);
        if let Some(dataset) = jsonl::check_dataset(&mut cx, path, None, &mut collector) {
            collector.add_dataset(dataset);
        }

        loaded = Some((suite, collector.into_cases()));
    }

    LoadedSuite::new(cx, loaded)
}

/// A given answer with the context that a judge may see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GivenAnswer {
    /// Text of the answer.
    pub text: String,
    /// Question that was asked.
    pub question: Option<String>,
    /// Reference answer.
    pub reference: Option<String>,
    /// Expected outcome, in a sentence.
    pub expected_outcome: Option<String>,
}

/// Returns one answer as the only case, with the id `id`, of a suite whose only grader is the rubric.
/// Environment variables are not substituted in the texts. Returns `None` for a rubric with errors.
pub fn suite_from_answer(rubric: &LoadedRubric, id: &str, answer: &GivenAnswer) -> Option<(Suite, Case)> {
    let decoded = rubric.rubric.as_deref()?;
    let message = |role: MessageRole, text: &Option<String>| -> Vec<CaseMessage> {
        text.iter().map(|text| CaseMessage::text(role, text.clone())).collect()
    };
    let (suite, grader) = suite_for_rubric(rubric, decoded, Path::new(&rubric.name));
    let case = Case {
        id: CaseId::new(id),
        place: grader.place.clone(),
        marks: CaseMarks::default(),
        input: message(MessageRole::User, &answer.question),
        expected_outcome: answer.expected_outcome.clone(),
        expected_output: message(MessageRole::Assistant, &answer.reference),
        output: Some(GivenOutput::Text(answer.text.clone())),
        graders: vec![Arc::new(grader)],
        lines: ThresholdOverrides::default(),
        targets: Vec::new(),
        file_changes: None,
        trials: None,
        tags: Vec::new(),
        metadata: Map::new(),
        conversation_id: None,
        vars: BTreeMap::new(),
        conversation: None,
        depends_on: Vec::new(),
        on_dependency_failure: OnDependencyFailure::default(),
        workspace: None,
        unbuilt: Vec::new(),
    };

    Some((suite, case))
}

/// Returns a suite for the rubric, and the rubric as its grader. `path` is the file of the cases.
fn suite_for_rubric(rubric: &LoadedRubric, decoded: &RubricGrader, path: &Path) -> (Suite, Grader) {
    let grader = Grader {
        name: rubric.name.clone(),
        type_name: "rubrics".to_owned(),
        standing: GraderWeighting::default(),
        place: decoded.places.first().cloned().unwrap_or_else(|| FilePosition::new(path, 1, 1)),
        kind: GraderKind::Rubric(decoded.clone()),
    };

    let suite = Suite {
        format: rubric.format,
        name: rubric.name.clone(),
        path: path.to_path_buf(),
        description: rubric.description.clone(),
        tags: Vec::new(),
        metadata: Map::new(),
        graders: Vec::new(),
        settings: SuiteSettings { lines: rubric.lines, ..SuiteSettings::default() },
        workspace: None,
        preprocessors: None,
        unbuilt: Vec::new(),
    };
    (suite, grader)
}
