//! Hashes of the texts that a reviewer sees when labelling a benchmark on a case. Labels are bound to these hashes.

use assize_rubric::{Identify, IdentityWriter, Label, SeenHash, SubjectHash};
use serde_json::Value;

use super::{Scorecard, ScorecardBenchmark, ScorecardCase, ScorecardRubric};

/// Number of hexadecimal digits of the version of a question: enough to notice a change.
const VERSION_DIGITS: usize = 12;

/// The question of a benchmark, as reviewers see it.
struct BenchmarkQuestion<'s> {
    scorecard: &'s Scorecard,
    benchmark: &'s ScorecardBenchmark,
}

impl Identify for BenchmarkQuestion<'_> {
    fn identify(&self, identity: &mut IdentityWriter) {
        let ScorecardBenchmark {
            label, concept, scale, inclusion, exclusion, examples, prompt, parent, ..
        } = self.benchmark;
        identity.field(label);
        identity.field(concept);
        identity.field(scale);
        identity.field(inclusion);
        identity.field(exclusion);
        identity.field(examples);

        let prompt = prompt.and_then(|at| self.scorecard.prompts.get(at)).map(|prompt| &prompt.text);
        identity.field(&prompt);

        for rubric in self.scorecard.ancestors(*parent) {
            identity.field(&rubric.guidelines);
        }
    }
}

impl Scorecard {
    /// Returns the rubrics above a benchmark, the nearest first.
    fn ancestors(&self, parent: usize) -> impl Iterator<Item = &ScorecardRubric> {
        std::iter::successors(self.rubrics.get(parent), |rubric| self.rubrics.get(rubric.parent?))
    }

    /// Returns the version of a benchmark's question. It changes with the question's words, scale, guidelines
    /// or prompt.
    pub fn question_version(&self, benchmark: usize) -> String {
        let mut version = self
            .benchmarks
            .get(benchmark)
            .map(|benchmark| BenchmarkQuestion { scorecard: self, benchmark })
            .map_or_else(String::new, |question| {
                SubjectHash::new(&question, &Vec::<Value>::new()).to_string()
            });
        version.truncate(VERSION_DIGITS);
        version
    }

    /// Returns the hash of a benchmark's question and a case's inputs; `None` if there is no such benchmark.
    pub fn label_subject(&self, benchmark: usize, case: &ScorecardCase) -> Option<SubjectHash> {
        let benchmark = self.benchmarks.get(benchmark)?;
        let ScorecardCase { source_narrative, ground_truth, .. } = case;
        Some(SubjectHash::new(
            &BenchmarkQuestion { scorecard: self, benchmark },
            &(source_narrative, ground_truth),
        ))
    }

    /// Returns the hash of the texts that a reviewer sees of a case whose answer is in the scorecard's files.
    pub fn seen_in_files(&self, benchmark: usize, case: &ScorecardCase) -> Option<SeenHash> {
        let answer = case.candidate_output.as_ref().map(value_text).unwrap_or_default();
        Some(SeenHash::new(self.label_subject(benchmark, case)?, None, &answer))
    }

    /// Iterates over the labels in their stored form. Labels that name no benchmark are skipped.
    pub fn stored_labels(&self) -> impl Iterator<Item = Label> {
        self.labels.iter().filter_map(|label| {
            Some(Label {
                system: label.system.clone(),
                who: label.reviewer.clone(),
                at: label.at.clone(),
                note: label.note.clone(),
                severity: label.severity,
                version: label.version.clone(),
                seen: label.seen,
                adjudicates: label.adjudicates,
                ..Label::new(
                    label.trace_id.clone(),
                    self.benchmarks.get(label.benchmark?)?.code.to_string(),
                    label.outcome,
                )
            })
        })
    }
}

/// Returns the text of a string, and any other value as JSON.
pub fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()),
    }
}
