//! Loading answers to be graded against a rubric, without a suite.

use std::path::Path;
use std::sync::Arc;

use assize_rubric::GraderStanding;

use crate::decode::{Collector, LoadedRubric, SuiteDefaults, jsonl};
use crate::load::{LoadOptions, LoadedSuite, context};
use crate::model::{Grader, GraderKind, Place, Suite, SuiteSettings};

/// Loads a JSONL file of answers as cases of a suite whose only grader is the rubric.
///
/// Each line is an object with `answer` (or `output`), and perhaps `id`, `question` (or `input`),
/// `reference` (or `expected_output`), `expected_outcome`, `tags` and `metadata`; other keys are kept
/// as metadata. The rubric must be sound; without one the result has no suite.
pub fn load_answers(path: &Path, rubric: &LoadedRubric, options: &LoadOptions) -> LoadedSuite {
    let mut cx = context(path, options);
    let mut loaded = None;
    if let Some(grader) = &rubric.rubric {
        let place = grader.places.first().cloned().unwrap_or_else(|| Place::new(path, 1, 1));
        let grader = Grader {
            name: rubric.name.clone(),
            type_name: "rubrics".to_owned(),
            standing: GraderStanding::default(),
            place,
            kind: GraderKind::Rubric((**grader).clone()),
        };
        let suite = Suite {
            format: rubric.format,
            name: rubric.name.clone(),
            path: path.to_path_buf(),
            description: rubric.description.clone(),
            tags: Vec::new(),
            metadata: serde_json::Map::new(),
            graders: Vec::new(),
            settings: SuiteSettings { lines: rubric.lines, ..SuiteSettings::default() },
            workspace: None,
            preprocessors: None,
            unbuilt: Vec::new(),
        };
        let defaults = SuiteDefaults {
            format: rubric.format,
            graders: vec![Arc::new(grader)],
            input: Vec::new(),
            broken: false,
            files: Vec::new(),
            answers: true,
        };
        let mut collector = Collector::new(defaults);
        let defaults = Arc::clone(&collector.defaults);
        if let Some(dataset) = jsonl::check(&mut cx, path, None, &defaults, &mut collector.ids) {
            collector.dataset(dataset);
        }
        loaded = Some((suite, collector.into_cases()));
    }
    LoadedSuite::new(cx, loaded)
}
