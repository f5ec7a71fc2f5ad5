//! A scored scorecard, for people, for programs, and as an exit code.

use std::path::Path;

use assize_analysis::CardTree;
use assize_report::{CardPage, card_markdown, card_scores};
use assize_rubric::{CardScores, CaseTally, MissingPolicy, NodeId, Standing};
use assize_store::CardInfo;
use serde::Serialize;
use serde::ser::{SerializeSeq as _, Serializer};
use serde_json::{Value, json};

use crate::args::MissingChoice;
use crate::context::Context;
use crate::exit::{Ending, Exit, of_run};
use crate::output;

/// A scored scorecard as programs read it.
#[derive(Serialize)]
pub(super) struct Printed<'a, R> {
    pub(super) name: &'a str,
    pub(super) weight_set: Option<&'a str>,
    pub(super) treat_missing: &'static str,
    pub(super) nodes: Nodes<'a>,
    pub(super) review: R,
}

/// Every part of a scored scorecard, made when it is written: of a large tree one is there at a time.
pub(super) struct Nodes<'a>(&'a Scored<'a>);

impl Serialize for Nodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let count = self.0.trees.iter().map(|tree| tree.places.len()).sum();
        let mut list = serializer.serialize_seq(Some(count))?;
        self.0.each_node(|node| list.serialize_element(node))?;
        list.end()
    }
}

/// The trees of a scorecard with the cases of their benchmarks.
pub(super) struct Scored<'a> {
    pub(super) info: &'a CardInfo,
    pub(super) trees: Vec<CardTree>,
    tallies: Vec<CaseTally>,
    policy: MissingPolicy,
}

impl<'a> Scored<'a> {
    /// `tally` gives the cases of a part by its place; `set` names another weight set.
    pub(super) fn new(
        info: &'a CardInfo,
        set: Option<&str>,
        tally: impl Fn(usize) -> CaseTally,
        policy: MissingPolicy,
    ) -> Result<Self, String> {
        let trees = CardTree::all(info, set).map_err(|error| error.to_string())?;
        let tallies = (0..info.nodes.len()).map(tally).collect();
        Ok(Self { info, trees, tallies, policy })
    }

    /// The scores of each tree.
    pub(super) fn scores(&self) -> impl Iterator<Item = (&CardTree, CardScores<'_>)> {
        let tally = |place: usize| self.tallies.get(place).copied().unwrap_or(CaseTally::NOT_APPLICABLE);
        self.trees.iter().map(move |tree| (tree, tree.scores(tally, self.policy)))
    }

    /// The whole, as programs read it; `review` is what a person should look at.
    pub(super) fn printed<R>(&'a self, set: Option<&'a str>, review: R) -> Printed<'a, R> {
        Printed {
            name: &self.info.name,
            weight_set: set,
            treat_missing: self.policy.name(),
            nodes: Nodes(self),
            review,
        }
    }

    /// The trees as text.
    pub(super) fn text(&self, context: &Context) -> String {
        let blocks: Vec<String> =
            self.scores().map(|(_, scores)| card_scores(&scores, context.stdout)).collect();
        blocks.join("\n")
    }

    /// Calls `see` with every part, as programs read it, and ends with the first that it can't take.
    fn each_node<E>(&self, mut see: impl FnMut(&Value) -> Result<(), E>) -> Result<(), E> {
        for (tree, scores) in self.scores() {
            let contributions = scores.contributions();
            for id in tree.card.ids() {
                let mut value = node(&scores, id);
                let contribution = contributions.get(id.index()).copied().flatten();
                value["contribution"] = contribution.map_or(
                    Value::Null,
                    |found| json!({ "share": found.share, "given": found.given, "gain": found.gain }),
                );
                if let Some(part) = tree.places.get(id.index()).and_then(|at| self.info.nodes.get(*at)) {
                    value["kind"] = part.kind.name().into();
                    value["label"] = part.label.clone().into();
                    value["evaluator_type"] = part.evaluator.clone().into();
                    value["criticality"] = part.criticality.map(assize_rubric::Criticality::name).into();
                    value["hard_gate"] = part.hard_gate.into();
                }
                see(&value)?;
            }
        }
        Ok(())
    }

    /// The exit that the trees call for, and why.
    pub(super) fn exit(&self) -> (Exit, String) {
        let (mut exits, mut reasons) = (Vec::new(), Vec::new());
        for (tree, scores) in self.scores() {
            let standing = scores.root().standing;
            exits.push(match standing {
                Standing::Pass => Exit::Passed,
                Standing::Fail | Standing::Blocked => Exit::Failed,
                Standing::Incomplete | Standing::NotApplicable => Exit::Incomplete,
            });
            let code = tree.card.node(tree.card.root()).map(|node| node.code.to_string());
            reasons.push(format!("{}: {standing}", code.unwrap_or_default()));
        }
        (Exit::strongest(exits), reasons.join(", "))
    }

    /// The same together with how the run ended.
    pub(super) fn exit_of(&self, ending: Ending) -> (Exit, String) {
        let (card, reason) = self.exit();
        let (run, why) = of_run(assize_store::Counts::default(), ending);
        match run {
            Exit::Passed => (card, reason),
            _ => (Exit::strongest([card, run]), format!("{why}; {reason}")),
        }
    }

    /// Writes the Markdown report.
    pub(super) fn write_markdown(&self, path: &Path, page: &CardPage<'_>) -> Result<(), String> {
        let scores: Vec<(&CardTree, CardScores<'_>)> = self.scores().collect();
        std::fs::write(path, card_markdown(&scores, page))
            .map_err(|error| format!("can't write `{}`: {error}", path.display()))?;
        output::say(&format!("report: {}\n", path.display()));
        Ok(())
    }
}

fn node(scores: &CardScores<'_>, id: NodeId) -> Value {
    let card = scores.card();
    let name = |id: NodeId| card.node(id).map(|node| node.code.to_string());
    let Some((node, found)) = card.node(id).zip(scores.node(id)) else { return Value::Null };
    let blockers: Vec<String> = scores.blockers(id).into_iter().filter_map(name).collect();
    json!({
        "code": node.code,
        "parent": card.parent(id).and_then(name),
        "standing": found.standing,
        "score": found.score(),
        "score_low": found.bounds.map(|(low, _)| low),
        "score_high": found.bounds.map(|(_, high)| high),
        "threshold": node.line,
        "gate_failed": found.gate_failed,
        "blocked_by": blockers,
        "failure_rate_upper": assize_report::green_gate_bound(scores, id),
        "weight": node.weight,
        "weight_below": found.weight,
        "weight_covered": found.covered_weight,
        "coverage": found.coverage,
        "cases": found.scored,
        "missing": found.missing,
    })
}

/// What `--treat-missing` asks for.
pub(super) const fn policy(choice: MissingChoice) -> MissingPolicy {
    match choice {
        MissingChoice::Incomplete => MissingPolicy::Incomplete,
        MissingChoice::Zero => MissingPolicy::Zero,
        MissingChoice::Skip => MissingPolicy::Skip,
    }
}
