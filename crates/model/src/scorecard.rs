//! Scorecards: rubrics over benchmarks, with their prompts, cases and labels.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use assize_rubric::{
    Criticality, FailureSeverity, LabelOutcome, PeopleRule, ScorecardAggregation, SeenHash, UnboundLabels,
    UnitInterval, Weight, WeightSetError, failure_limit, find_weight_set,
};
use serde_json::Value;

use super::{EvaluatorType, FilePosition, Grader, Guidelines, ScoringScale, SourceMark};

/// A checked scorecard. Rubrics and benchmarks refer to each other by index; every reference is valid, every
/// node has at most one parent, and there are no cycles.
#[derive(Debug, Clone)]
pub struct Scorecard {
    /// Code of the index or of the only top rubric, else the folder's name.
    pub name: String,
    /// Folder that prompt files are relative to.
    pub root: PathBuf,
    /// Index at the top of the tree, if there is one.
    pub index: Option<ScorecardIndex>,
    /// All rubrics.
    pub rubrics: Vec<ScorecardRubric>,
    /// All benchmarks.
    pub benchmarks: Vec<ScorecardBenchmark>,
    /// Rubrics that no other rubric lists, in the order of the files. Includes rubrics that the index lists.
    pub tops: Vec<usize>,
    /// All prompt files below the folder, and those that benchmarks refer to.
    pub prompts: Vec<JudgePrompt>,
    /// Test cases.
    pub cases: Vec<ScorecardCase>,
    /// Labels of traces.
    pub labels: Vec<ScorecardLabel>,
    /// How labels without a reference to an answer are treated. Set by the caller, never by a file.
    pub unbound_labels: UnboundLabels,
    /// Who decides where labels contradict a judge. Set by the caller, never by a file.
    pub people: PeopleRule,
}

/// Top of a scorecard: components under named sets of weights.
#[derive(Debug, Clone)]
pub struct ScorecardIndex {
    /// Code of the index.
    pub code: Arc<str>,
    /// Display name.
    pub label: Option<String>,
    /// Description.
    pub description: Option<String>,
    /// Aggregation of the components' scores.
    pub aggregation: ScorecardAggregation,
    /// Pass threshold.
    pub threshold: UnitInterval,
    /// True if components may have no case.
    pub optional: bool,
    /// Components: indices into the list of rubrics.
    pub components: Vec<usize>,
    /// Weight sets, each with one weight for each component, in the order of `components`.
    pub weight_sets: Vec<WeightSet>,
    /// Index of the weight set that applies by default.
    pub active: usize,
}

/// A named set of weights, for example for a phase.
#[derive(Debug, Clone)]
pub struct WeightSet {
    /// Name of the set.
    pub name: String,
    /// One weight for each component.
    pub weights: Vec<Weight>,
}

/// A rubric: composite (other rubrics) or leaf (benchmarks).
#[derive(Debug, Clone)]
pub struct ScorecardRubric {
    /// Code, such as `A-REF`.
    pub code: Arc<str>,
    /// Display name.
    pub label: String,
    /// Description.
    pub description: Option<String>,
    /// Weight among its siblings.
    pub weight: Weight,
    /// Aggregation of the scores below.
    pub aggregation: ScorecardAggregation,
    /// Pass threshold.
    pub threshold: UnitInterval,
    /// True if failing it blocks every level above.
    pub hard_gate: bool,
    /// Instructions for judges on all benchmarks below.
    pub guidelines: Option<Guidelines>,
    /// Children.
    pub parts: RubricChildren,
    /// Index of the parent rubric.
    pub parent: Option<usize>,
    /// Position in the file.
    pub place: FilePosition,
    /// Ranges of its numbers.
    pub marks: ScorecardMarks,
}

/// Ranges of the parts of a rubric or benchmark. Absent parts have no mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScorecardMarks {
    /// Value of `code`.
    pub code: SourceMark,
    /// Key and value of `weight`.
    pub weight: Option<SourceMark>,
    /// Key and value of `threshold` or `passing_threshold`.
    pub threshold: Option<SourceMark>,
    /// Key and value of `criticality` or `hard_gate`.
    pub gate: Option<SourceMark>,
}

/// Children of a rubric: indices into the lists of the scorecard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RubricChildren {
    /// Children of a leaf rubric.
    Benchmarks(Vec<usize>),
    /// Children of a composite rubric.
    Rubrics(Vec<usize>),
}

/// A benchmark: one kind of failure, scored over many cases.
#[derive(Debug, Clone)]
pub struct ScorecardBenchmark {
    /// Code, such as `A-REF1`.
    pub code: Arc<str>,
    /// Display name.
    pub label: Option<String>,
    /// Description of the measurement.
    pub concept: String,
    /// Weight in its rubric.
    pub weight: Weight,
    /// Pass threshold.
    pub threshold: UnitInterval,
    /// What missing the threshold means for the levels above.
    pub criticality: Criticality,
    /// Scoring scale, if it is not 0 to 1.
    pub scale: Option<ScoringScale>,
    /// Kind of evaluator.
    pub evaluator: EvaluatorType,
    /// Index of its prompt in the list of prompts.
    pub prompt: Option<usize>,
    /// Checks that need no judge.
    pub checks: Vec<Arc<Grader>>,
    /// True if all checks and the judge must pass.
    pub all_must_pass: bool,
    /// Number of reviewers who must decide before their labels count, if the file sets it.
    pub raters: Option<NonZeroU32>,
    /// Conditions of applicability and of failure.
    pub inclusion: String,
    /// Conditions under which it does not apply.
    pub exclusion: Option<String>,
    /// Examples of the failure.
    pub examples: Vec<String>,
    /// Tags of the cases it applies to; if empty, tags have no effect on applicability.
    pub tags: Vec<String>,
    /// Index of the parent rubric.
    pub parent: usize,
    /// Position in the file.
    pub place: FilePosition,
    /// Ranges of its numbers.
    pub marks: ScorecardMarks,
}

/// A prompt file.
#[derive(Debug, Clone)]
pub struct JudgePrompt {
    /// Path relative to the scorecard's folder, with `/`.
    pub path: String,
    /// Whole text, sent as written.
    pub text: Arc<str>,
    /// Behaviour that the prompt asks about.
    pub behaviour: Option<String>,
    /// Fail conditions: one of these is enough to fail.
    pub fail_conditions: Vec<String>,
    /// Pass conditions: all of these are needed to pass.
    pub pass_conditions: Vec<String>,
    /// Ranges of the first lines of `fail_conditions`.
    pub fail_marks: Vec<SourceMark>,
    /// Ranges of the first lines of `pass_conditions`.
    pub pass_marks: Vec<SourceMark>,
    /// Whether the prompt marks where the inputs go. Otherwise they are appended.
    pub has_inputs: bool,
}

/// A test case.
#[derive(Debug, Clone)]
pub struct ScorecardCase {
    /// Id of the case.
    pub id: Arc<str>,
    /// Tags of the case.
    pub tags: Vec<String>,
    /// Benchmarks that the case lists, if it does: indices into the list of benchmarks, ascending.
    pub benchmarks: Option<Vec<usize>>,
    /// Known correct result.
    pub ground_truth: Option<Value>,
    /// Source material of the answer.
    pub source_narrative: Option<Value>,
    /// Output to judge.
    pub candidate_output: Option<Value>,
    /// Position in the file.
    pub place: FilePosition,
}

/// A reviewer's label of a trace.
#[derive(Debug, Clone)]
pub struct ScorecardLabel {
    /// Id of the case.
    pub trace_id: String,
    /// Index of the benchmark; `None` for `NONE_OF_THE_ABOVE` and `NO_FAILURE`.
    pub benchmark: Option<usize>,
    /// Decided outcome.
    pub outcome: LabelOutcome,
    /// Severity of the failure.
    pub severity: Option<FailureSeverity>,
    /// Reason.
    pub note: Option<String>,
    /// Name of the reviewer.
    pub reviewer: Option<String>,
    /// Time, as written.
    pub at: Option<String>,
    /// Version of the benchmark, as written.
    pub version: Option<String>,
    /// Target that gave the answer, if the label names it.
    pub system: Option<String>,
    /// Hash of the texts that the reviewer saw.
    pub seen: Option<SeenHash>,
    /// True if it resolves a disagreement between other reviewers.
    pub adjudicates: bool,
    /// Position in the file.
    pub place: FilePosition,
}

/// Result of a benchmark on a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScorecardResult {
    /// Index of the case.
    pub case: usize,
    /// Index of the benchmark.
    pub benchmark: usize,
    /// Decided outcome.
    pub outcome: ScorecardOutcome,
}

/// Outcome of a benchmark on a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScorecardOutcome {
    /// A score, mapped to 0 to 1.
    Scored(UnitInterval),
    /// The judge was not certain: a fail that a reviewer should look at.
    Uncertain,
    /// The benchmark does not apply.
    NotApplicable,
}

/// Whether a benchmark applies to a case according to tags and lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BenchmarkApplicability {
    /// The case lists it, or shares a tag with it.
    Yes,
    /// The case lists others, or shares no tag.
    No,
    /// Undecided: the judge decides by the criteria of the benchmark.
    AskJudge,
}

impl ScorecardBenchmark {
    /// Returns the score from 0 to 1 that a failed case must stay below.
    pub fn failure_limit(&self) -> UnitInterval {
        failure_limit(self.threshold)
    }
}

impl Scorecard {
    /// Returns the index of a weight set in the index's list.
    ///
    /// # Errors
    /// If there is no set with this name.
    pub fn weight_set(&self, name: &str) -> Result<usize, WeightSetError> {
        let sets = self.index.as_ref().map(|index| index.weight_sets.as_slice()).unwrap_or_default();
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();

        find_weight_set(&names, name)
    }

    /// Returns the labels that have no effect because their benchmark does not apply to their case: the index
    /// of the label, the index of the benchmark, and the case.
    pub fn labels_elsewhere(&self) -> Vec<(usize, usize, &ScorecardCase)> {
        let cases: HashMap<&str, &ScorecardCase> = self.cases.iter().map(|case| (&*case.id, case)).collect();
        let labels = self.labels.iter().enumerate();
        let labels = labels
            .filter_map(|(at, label)| Some((at, label.benchmark?, *cases.get(label.trace_id.as_str())?)));

        labels
            .filter(|(_, benchmark, case)| self.applies(*benchmark, case) == BenchmarkApplicability::No)
            .collect()
    }

    /// Returns the number of labels about cases that the scorecard does not have.
    pub fn labels_of_no_case(&self) -> usize {
        let cases: HashSet<&str> = self.cases.iter().map(|case| &*case.id).collect();
        self.labels.iter().filter(|label| !cases.contains(label.trace_id.as_str())).count()
    }

    /// Returns whether a benchmark applies to a case. The list of the case decides if it has one, else the tags
    /// of the benchmark if it has any, else the judge.
    pub fn applies(&self, benchmark: usize, case: &ScorecardCase) -> BenchmarkApplicability {
        let applies_if = |yes| if yes { BenchmarkApplicability::Yes } else { BenchmarkApplicability::No };
        if let Some(listed) = &case.benchmarks {
            return applies_if(listed.binary_search(&benchmark).is_ok());
        }

        match self.benchmarks.get(benchmark) {
            Some(ScorecardBenchmark { tags, .. }) if !tags.is_empty() => {
                applies_if(tags.iter().any(|tag| case.tags.contains(tag)))
            }
            _ => BenchmarkApplicability::AskJudge,
        }
    }
}
