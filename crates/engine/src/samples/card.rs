//! Scorecards for grading samples. Each sample is a case.

use std::sync::Arc;

use assize_analysis::{BenchmarkCase, ScorecardRun, ScorecardTree};
use assize_model::{
    Case, EvaluatorType, FilePosition, Grader, GraderKind, Scorecard, ScorecardCase, ScorecardCases,
};
use assize_rubric::{BenchmarkState, MissingPolicy, NodeScore};
use assize_run::describe_scorecard;
use assize_store::{CaseRecord, ScorecardInfo, ScorecardNodeInfo};

use super::sample::GradingSample;
use crate::error::EngineError;

/// A scorecard that can be applied to samples.
#[derive(Debug)]
pub(super) struct SampleCard {
    cases: ScorecardCases<Arc<Scorecard>>,
    pub(super) info: ScorecardInfo,
    tree: ScorecardTree,
}

impl SampleCard {
    /// The scorecard without its own cases. A given weight set overrides the one that its index names.
    ///
    /// # Errors
    /// If it has no single top, since a sample has one score, or no such weight set.
    pub(super) fn new(scorecard: Arc<Scorecard>, weights: Option<&str>) -> Result<Self, EngineError> {
        let set = weights.map(|name| scorecard.weight_set(name)).transpose();
        let set = set.map_err(|error| EngineError::usage(error.to_string()))?;
        let info = describe_scorecard(&scorecard, set, |_| false);
        let mut trees = ScorecardTree::build_all(&info, None)
            .map_err(|error| EngineError::invalid_file(error.to_string()))?;
        let (Some(mut tree), true) = (trees.pop(), trees.is_empty()) else {
            let tops = info.nodes.iter().filter(|node| node.parent.is_none()).map(|node| node.code.as_str());
            let tops: Vec<&str> = tops.collect();
            return Err(EngineError::invalid_file(format!(
                "the scorecard has {} top rubrics ({}), and a sample gets one score: put an index above them",
                tops.len(),
                tops.join(", ")
            )));
        };

        // A sample belongs to some of the components; only a run should have cases of all of them.
        tree.needs_components = false;
        Ok(Self { cases: ScorecardCases::new(scorecard), info, tree })
    }

    /// A case to which every benchmark applies, for checking the judges.
    pub(super) fn widest_case(&self) -> Case {
        let tags =
            self.cases.scorecard().benchmarks.iter().flat_map(|benchmark| benchmark.tags.iter().cloned());
        let mut sample = GradingSample::empty();
        sample.tags = tags.collect();

        self.case_of(&sample)
    }

    /// Graders for the benchmarks that apply to a sample: benchmarks without tags, and benchmarks with one of its tags.
    pub(super) fn graders(&self, sample: &GradingSample) -> Vec<Arc<Grader>> {
        self.case_of(sample).graders
    }

    fn case_of(&self, sample: &GradingSample) -> Case {
        self.cases.build(&ScorecardCase {
            id: sample.id.as_str().into(),
            tags: sample.tags.clone(),
            benchmarks: None,
            ground_truth: sample.reference.clone().map(Into::into),
            source_narrative: None,
            candidate_output: Some(sample.answer().into()),
            place: FilePosition::new(&self.cases.scorecard().root, 1, 1),
        })
    }

    /// Whether people must decide a part of it.
    pub(super) fn needs_people(&self) -> bool {
        let is_manual = |grader: &Arc<Grader>| matches!(&grader.kind, GraderKind::Benchmark(found) if found.evaluator == EvaluatorType::ManualSme);
        self.widest_case().graders.iter().any(is_manual)
    }
}

/// Scorecard of one sample.
pub struct ScoredSample {
    card: Arc<SampleCard>,
    run: ScorecardRun,
}

/// A part of a scorecard with its score.
pub struct ScoredPart<'a> {
    /// The part.
    pub part: &'a ScorecardNodeInfo,
    /// Code of its parent part; `None` at the top.
    pub parent: Option<&'a str>,
    /// Score and status.
    pub score: NodeScore,
    /// Codes of the hard gates that failed at or below it.
    pub blocked_by: Vec<&'a str>,
    /// Decision on a benchmark; `None` for other parts, and for a benchmark that does not apply.
    pub decision: Option<&'a BenchmarkCase>,
}

impl ScoredSample {
    pub(super) fn new(card: Arc<SampleCard>, record: &CaseRecord) -> Self {
        let run = ScorecardRun::of_case(card.info.clone(), record.clone());

        Self { card, run }
    }

    /// Returns the parts; the top comes first, and each part comes before those below it.
    pub fn parts(&self) -> Vec<ScoredPart<'_>> {
        let SampleCard { info, tree, .. } = &*self.card;
        let scores = tree.scores(|place| self.run.tally(place), MissingPolicy::Incomplete);
        let code = |id| tree.card.node(id).map_or("", |node| &*node.code);

        let parts = tree.card.ids().filter_map(|id| {
            let place = *tree.places.get(id.index())?;
            let decided = self.run.parts.get(place).and_then(|part| part.cases.values().next());
            Some(ScoredPart {
                part: info.nodes.get(place)?,
                parent: tree.card.parent(id).map(code),
                score: *scores.node(id)?,
                blocked_by: scores.blockers(id).into_iter().map(code).collect(),
                decision: decided.filter(|case| case.finding.state != BenchmarkState::NotApplicable),
            })
        });
        parts.collect()
    }
}
