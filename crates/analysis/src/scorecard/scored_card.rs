//! Scores of all trees of a scorecard, and the exit code for them.

use assize_rubric::{
    CaseTally, DistinctCases, MissingPolicy, NodeStatus, ScorecardNodeId, ScorecardScores, UnitInterval,
    at_least, format_rate,
};
use assize_store::{ScorecardInfo, VerdictCounts};

use super::{ScorecardRun, ScorecardTree, ScorecardTreeError};
use crate::exit::{ExitStatus, RunEnding, exit_of_run};

/// The scored trees of a scorecard.
pub struct ScoredCard<'a> {
    /// Description of the scorecard.
    pub info: &'a ScorecardInfo,
    /// Its trees.
    pub trees: Vec<ScorecardTree>,
    tallies: Vec<CaseTally>,
    distinct: Vec<DistinctCases>,
    /// What to do with cases without a result.
    pub policy: MissingPolicy,
    /// The smallest share of the weight that results must cover, 0 to 1.
    pub min_coverage: Option<UnitInterval>,
}

impl<'a> ScoredCard<'a> {
    /// Scores a scorecard. `tally` returns the cases of a part by its index; `set` names another weight set.
    ///
    /// # Errors
    /// If there is no such weight set, or the tree can't be built.
    pub fn new(
        info: &'a ScorecardInfo,
        set: Option<&str>,
        tally: impl Fn(usize) -> CaseTally,
        policy: MissingPolicy,
    ) -> Result<Self, ScorecardTreeError> {
        let trees = ScorecardTree::build_all(info, set)?;
        let tallies = (0..info.nodes.len()).map(tally).collect();

        Ok(Self { info, trees, tallies, distinct: Vec::new(), policy, min_coverage: None })
    }

    /// Scores a stored run. `set` names a weight set to use in place of the run's own.
    ///
    /// # Errors
    /// If there is no such weight set, or the stored tree is damaged.
    pub fn of_run(
        run: &'a ScorecardRun,
        set: Option<&str>,
        policy: MissingPolicy,
        min_coverage: Option<UnitInterval>,
    ) -> Result<Self, ScorecardTreeError> {
        let scored = Self::new(&run.info, set, |place| run.tally(place), policy)?;
        Ok(scored.with_distinct_cases(run.distinct_cases()).with_min_coverage(min_coverage))
    }

    /// Sets the distinct cases at or below each part, by index.
    #[must_use]
    pub fn with_distinct_cases(self, distinct: Vec<DistinctCases>) -> Self {
        Self { distinct, ..self }
    }

    /// Sets the smallest share of the weight that results must cover.
    #[must_use]
    pub fn with_min_coverage(self, min_coverage: Option<UnitInterval>) -> Self {
        Self { min_coverage, ..self }
    }

    /// Returns messages about trees whose results cover too little of the weight.
    pub fn coverage_gaps(&self) -> Vec<String> {
        self.scores().filter_map(|(_, scores)| self.coverage_gap(&scores)).collect()
    }

    fn coverage_gap(&self, scores: &ScorecardScores<'_>) -> Option<String> {
        let (least, found) = (self.min_coverage?.get(), scores.root().tested_share);
        let top = scores.card().node(scores.card().root()).map_or("", |node| &node.code);

        (!at_least(found, least)).then(|| {
            format!(
                "{top}: incomplete, because results cover {} of the weight (`--min-coverage` requires {})",
                format_rate((found * 1000.0).floor() / 1000.0),
                format_rate(least)
            )
        })
    }

    /// Scores of each tree.
    pub fn scores(&self) -> impl Iterator<Item = (&ScorecardTree, ScorecardScores<'_>)> {
        let tally = |place: usize| self.tallies.get(place).copied().unwrap_or(CaseTally::NOT_APPLICABLE);

        self.trees.iter().map(move |tree| {
            let distinct = |id: ScorecardNodeId| self.distinct.get(*tree.places.get(id.index())?).copied();
            (tree, tree.scores(tally, self.policy).with_distinct_cases(self.policy, distinct))
        })
    }

    /// The exit code for the trees, and its reason.
    pub fn exit(&self) -> (ExitStatus, String) {
        let (mut exits, mut reasons) = (Vec::new(), Vec::new());
        for (tree, scores) in self.scores() {
            let status = scores.root().status;
            exits.push(match status {
                NodeStatus::Pass => ExitStatus::Passed,
                NodeStatus::Fail | NodeStatus::Blocked => ExitStatus::Failed,
                NodeStatus::Incomplete | NodeStatus::NotApplicable => ExitStatus::Incomplete,
            });

            let code = tree.card.node(tree.card.root()).map(|node| node.code.to_string());
            reasons.push(format!("{}: {status}", code.unwrap_or_default()));

            if let Some(gap) = self.coverage_gap(&scores) {
                exits.push(ExitStatus::Incomplete);
                reasons.push(gap);
            }
        }

        (ExitStatus::strongest(exits), reasons.join(", "))
    }

    /// The exit code of a run that ended like this, and its reason.
    pub fn exit_of(&self, ending: RunEnding) -> (ExitStatus, String) {
        let (card, reason) = self.exit();
        let (run, why) = exit_of_run(VerdictCounts::default(), ending);

        match run {
            ExitStatus::Passed => (card, reason),
            _ => (ExitStatus::strongest([card, run]), format!("{why}; {reason}")),
        }
    }
}
