//! Subjects of labels: what a person who labels a benchmark on a case is shown, as hashes.

use assize_rubric::{Identify, IdentityWriter, Label, SeenHash, SubjectHash};
use serde_json::Value;

use super::{Scorecard, ScorecardBenchmark, ScorecardCase, ScorecardRubric};

/// Digits of the version of a question: enough to see that it changed.
const VERSION_DIGITS: usize = 12;

/// Question of a benchmark as a person is asked it.
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
    /// Rubrics above a benchmark, the nearest first.
    fn ancestors(&self, parent: usize) -> impl Iterator<Item = &ScorecardRubric> {
        std::iter::successors(self.rubrics.get(parent), |rubric| self.rubrics.get(rubric.parent?))
    }

    /// Version of the question of a benchmark: the same as long as its words, scale, guidelines and prompt are.
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

    /// Hash of the question of a benchmark and of the inputs of a case; `None` for a benchmark that is not there.
    pub fn label_subject(&self, benchmark: usize, case: &ScorecardCase) -> Option<SubjectHash> {
        let benchmark = self.benchmarks.get(benchmark)?;
        let ScorecardCase { source_narrative, ground_truth, .. } = case;
        Some(SubjectHash::new(
            &BenchmarkQuestion { scorecard: self, benchmark },
            &(source_narrative, ground_truth),
        ))
    }

    /// Hash of what a person sees of a case whose answer stands in the files.
    pub fn seen_in_files(&self, benchmark: usize, case: &ScorecardCase) -> Option<SeenHash> {
        let answer = case.candidate_output.as_ref().map(value_text).unwrap_or_default();
        Some(SeenHash::new(self.label_subject(benchmark, case)?, None, &answer))
    }

    /// Labels in the form in which they are stored, those that name no benchmark left out.
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

/// Returns a text as it is, any other value as JSON.
pub fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()),
    }
}
