//! A scorecard: rubrics over benchmarks, with the prompts, cases and labels that belong to them.

use std::path::PathBuf;
use std::sync::Arc;

use assize_rubric::{Aggregation, Criticality, LabelOutcome, Normalisation, Severity, Unit, Weight};
use serde_json::Value;

use super::{Grader, Mark, Place};

/// A checked scorecard. Rubrics and benchmarks refer to each other by their places in these lists;
/// every reference holds, every node has one parent at most, and there are no circles.
#[derive(Debug, Clone)]
pub struct Scorecard {
    /// The code of the index or of the only top rubric, else the folder's name.
    pub name: String,
    /// The folder that prompt files are relative to.
    pub root: PathBuf,
    /// The number on top of everything, if there is one.
    pub index: Option<CardIndex>,
    /// All rubrics.
    pub rubrics: Vec<CardRubric>,
    /// All benchmarks.
    pub benchmarks: Vec<CardBenchmark>,
    /// Rubrics that no other rubric lists, in the order of the files. Those of the index are among them.
    pub tops: Vec<usize>,
    /// All prompt files below the folder, and those that benchmarks name.
    pub prompts: Vec<JudgePrompt>,
    /// Test cases.
    pub cases: Vec<CardCase>,
    /// What people said about traces.
    pub labels: Vec<CardLabel>,
}

/// The index: components under named sets of weights.
#[derive(Debug, Clone)]
pub struct CardIndex {
    /// Its code.
    pub code: Arc<str>,
    /// Its name for people.
    pub label: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// How the components' scores become one.
    pub aggregation: Aggregation,
    /// The score it must reach.
    pub threshold: Unit,
    /// Its components: places in the list of rubrics.
    pub components: Vec<usize>,
    /// The sets of weights, each with one weight for each component, in the order of `components`.
    pub weight_sets: Vec<WeightSet>,
    /// Which set counts unless another is asked for.
    pub active: usize,
}

/// A named set of weights, such as those of a phase.
#[derive(Debug, Clone)]
pub struct WeightSet {
    /// Its name.
    pub name: String,
    /// One weight for each component.
    pub weights: Vec<Weight>,
}

/// A rubric: composite (other rubrics) or leaf (benchmarks).
#[derive(Debug, Clone)]
pub struct CardRubric {
    /// Its code, such as `A-REF`.
    pub code: Arc<str>,
    /// Its name for people.
    pub label: String,
    /// What it evaluates.
    pub description: Option<String>,
    /// Its weight among its siblings.
    pub weight: Weight,
    /// How the scores below become one.
    pub aggregation: Aggregation,
    /// The score it must reach.
    pub threshold: Unit,
    /// Whether failing it blocks every level above.
    pub hard_gate: bool,
    /// What a judge is told about all benchmarks below.
    pub guidelines: Option<Guidelines>,
    /// What it is made of.
    pub parts: CardParts,
    /// The rubric that lists it.
    pub parent: Option<usize>,
    /// Where it stands.
    pub place: Place,
    /// Where its numbers stand.
    pub marks: CardMarks,
}

/// Where the parts of a rubric or benchmark are written. What is not written has no mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardMarks {
    /// `code`: the value.
    pub code: Mark,
    /// `weight`: key and value.
    pub weight: Option<Mark>,
    /// `threshold` or `passing_threshold`: key and value.
    pub threshold: Option<Mark>,
    /// `criticality` or `hard_gate`: key and value.
    pub gate: Option<Mark>,
}

/// What a rubric is made of: places in the lists of the scorecard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CardParts {
    /// A leaf rubric.
    Benchmarks(Vec<usize>),
    /// A composite rubric.
    Rubrics(Vec<usize>),
}

/// Guidance for judges, shown with every benchmark below a rubric.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guidelines {
    /// What to look at.
    pub focus_areas: Vec<String>,
    /// What is not to be held against an answer.
    pub acceptable_deviations: Vec<String>,
    /// What must hold.
    pub critical_requirements: Vec<String>,
    /// What evidence to give.
    pub evidence_requirements: Option<String>,
    /// Anything else.
    pub special_instructions: Option<String>,
}

/// A benchmark: one way to fail, scored over cases.
#[derive(Debug, Clone)]
pub struct CardBenchmark {
    /// Its code, such as `A-REF1`.
    pub code: Arc<str>,
    /// Its name for people.
    pub label: Option<String>,
    /// What is measured, and how.
    pub concept: String,
    /// Its weight in its rubric.
    pub weight: Weight,
    /// The score it must reach.
    pub threshold: Unit,
    /// What missing the threshold means for the levels above.
    pub criticality: Criticality,
    /// Its own scale, if it is not scored 0 to 1.
    pub scale: Option<ScoringScale>,
    /// Who judges it.
    pub evaluator: EvaluatorType,
    /// Its prompt: a place in the list of prompts.
    pub prompt: Option<usize>,
    /// Checks that need no judge.
    pub checks: Vec<Arc<Grader>>,
    /// Whether all checks and the judge must pass.
    pub all_must_pass: bool,
    /// When it applies and what is a failure.
    pub inclusion: String,
    /// When it does not apply.
    pub exclusion: Option<String>,
    /// Examples of the failure.
    pub examples: Vec<String>,
    /// It applies to cases with one of these tags; if empty, tags say nothing about it.
    pub tags: Vec<String>,
    /// The rubric that lists it.
    pub parent: usize,
    /// Where it stands.
    pub place: Place,
    /// Where its numbers stand.
    pub marks: CardMarks,
}

/// Who judges a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EvaluatorType {
    /// A program.
    Code,
    /// A model.
    LlmJudge,
    /// A program first, then a model.
    Hybrid,
    /// A person.
    ManualSme,
}

assize_rubric::named_variants!(EvaluatorType {
    Code = "code", LlmJudge = "llm_judge", Hybrid = "hybrid", ManualSme = "manual_sme",
});

impl EvaluatorType {
    /// Whether it asks a model with a prompt file.
    pub const fn needs_prompt(self) -> bool {
        matches!(self, Self::LlmJudge | Self::Hybrid)
    }
}

/// A scale other than 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoringScale {
    /// The lowest raw score.
    pub min: f64,
    /// The highest raw score.
    pub max: f64,
    /// What single scores mean, lowest first.
    pub descriptions: Vec<(f64, String)>,
    /// How a raw score becomes one from 0 to 1.
    pub formula: Normalisation,
}

/// A prompt file.
#[derive(Debug, Clone)]
pub struct JudgePrompt {
    /// Its path from the scorecard's folder, with `/`.
    pub path: String,
    /// The whole text, sent as written.
    pub text: Arc<str>,
    /// The behaviour it asks about.
    pub behaviour: Option<String>,
    /// One of these is enough to fail.
    pub fail_conditions: Vec<String>,
    /// All of these are needed to pass.
    pub pass_conditions: Vec<String>,
    /// Where each of `fail_conditions` begins: its first line.
    pub fail_marks: Vec<Mark>,
    /// Where each of `pass_conditions` begins: its first line.
    pub pass_marks: Vec<Mark>,
    /// Whether it says where the inputs stand. Otherwise they are added at its end.
    pub has_inputs: bool,
}

/// A test case.
#[derive(Debug, Clone)]
pub struct CardCase {
    /// Its id.
    pub id: Arc<str>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The benchmarks it is for, if it says so: places in the list of benchmarks, rising.
    pub benchmarks: Option<Vec<usize>>,
    /// What is known to be right.
    pub ground_truth: Option<Value>,
    /// What the answer was made from.
    pub source_narrative: Option<Value>,
    /// What is judged.
    pub candidate_output: Option<Value>,
    /// Where it stands.
    pub place: Place,
}

/// What a person said about a trace.
#[derive(Debug, Clone)]
pub struct CardLabel {
    /// The case.
    pub trace_id: String,
    /// The benchmark: a place in the list. `None` stands for `NONE_OF_THE_ABOVE`.
    pub benchmark: Option<usize>,
    /// What was decided.
    pub outcome: LabelOutcome,
    /// How bad the failure is.
    pub severity: Option<Severity>,
    /// Why.
    pub note: Option<String>,
    /// Who said it.
    pub reviewer: Option<String>,
    /// When, as written.
    pub at: Option<String>,
    /// Of which version of the benchmark, as written.
    pub version: Option<String>,
    /// Where it stands.
    pub place: Place,
}

/// What a benchmark came to on a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CardResult {
    /// The case: a place in the list.
    pub case: usize,
    /// The benchmark: a place in the list.
    pub benchmark: usize,
    /// What was decided.
    pub outcome: CardOutcome,
}

/// What was decided on a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CardOutcome {
    /// A score, brought to 0 to 1.
    Scored(Unit),
    /// The judge was not certain: a fail that a person should look at.
    Uncertain,
    /// The benchmark does not apply.
    NotApplicable,
}

/// Whether a benchmark applies to a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Applies {
    /// The case lists it, or shares a tag with it.
    Yes,
    /// The case lists others, or shares no tag.
    No,
    /// Neither says anything: the judge answers by the criteria of the benchmark.
    AskJudge,
}

impl Scorecard {
    /// Whether a benchmark applies to a case: by the list of the case, else by the tags of the
    /// benchmark, else the judge is asked.
    pub fn applies(&self, benchmark: usize, case: &CardCase) -> Applies {
        let said = |yes| if yes { Applies::Yes } else { Applies::No };
        if let Some(listed) = &case.benchmarks {
            return said(listed.binary_search(&benchmark).is_ok());
        }
        match self.benchmarks.get(benchmark) {
            Some(CardBenchmark { tags, .. }) if !tags.is_empty() => {
                said(tags.iter().any(|tag| case.tags.contains(tag)))
            }
            _ => Applies::AskJudge,
        }
    }
}
