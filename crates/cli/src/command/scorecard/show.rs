//! Scored scorecards, for people and for programs.

use std::path::Path;

use assize_analysis::ScorecardTree;
use assize_engine::ScoredCard;
use assize_report::{ScorecardPage, render_scorecard_markdown, render_scorecard_scores};
use assize_rubric::{ScorecardNodeId, ScorecardScores};
use serde::Serialize;
use serde::ser::{SerializeSeq as _, Serializer};
use serde_json::{Value, json};

use crate::context::CliContext;
use crate::output;

/// Scored scorecard as programs read it.
#[derive(Serialize)]
pub(super) struct PrintedCard<'a, R> {
    pub(super) name: &'a str,
    pub(super) weight_set: Option<&'a str>,
    pub(super) treat_missing: &'static str,
    pub(super) nodes: PrintedNodes<'a>,
    pub(super) review: R,
}

/// Every part of a scored scorecard, made when it is written: of a large tree one is there at a time.
pub(super) struct PrintedNodes<'a>(&'a ScoredCard<'a>);

impl Serialize for PrintedNodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let count = self.0.trees.iter().map(|tree| tree.places.len()).sum();
        let mut list = serializer.serialize_seq(Some(count))?;
        each_node(self.0, |node| list.serialize_element(node))?;
        list.end()
    }
}

/// The whole, as programs read it; `review` is what a person should look at.
pub(super) fn printed<'a, R>(
    scored: &'a ScoredCard<'a>,
    set: Option<&'a str>,
    review: R,
) -> PrintedCard<'a, R> {
    PrintedCard {
        name: &scored.info.name,
        weight_set: set,
        treat_missing: scored.policy.name(),
        nodes: PrintedNodes(scored),
        review,
    }
}

/// The trees as text.
pub(super) fn text(scored: &ScoredCard<'_>, context: &CliContext) -> String {
    let blocks: Vec<String> =
        scored.scores().map(|(_, scores)| render_scorecard_scores(&scores, context.stdout)).collect();

    blocks.join("\n")
}

/// Writes the Markdown report.
pub(super) fn write_markdown(
    scored: &ScoredCard<'_>,
    path: &Path,
    page: &ScorecardPage<'_>,
) -> Result<(), String> {
    let scores: Vec<(&ScorecardTree, ScorecardScores<'_>)> = scored.scores().collect();
    std::fs::write(path, render_scorecard_markdown(&scores, page))
        .map_err(|error| format!("can't write `{}`: {error}", path.display()))?;

    output::print_message(&format!("report: {}\n", path.display()));
    Ok(())
}

/// Calls `see` with every part, as programs read it, and ends with the first that it can't take.
fn each_node<E>(scored: &ScoredCard<'_>, mut see: impl FnMut(&Value) -> Result<(), E>) -> Result<(), E> {
    for (tree, scores) in scored.scores() {
        let contributions = scores.contributions();
        for id in tree.card.ids() {
            let mut value = node(&scores, id);
            let contribution = contributions.get(id.index()).copied().flatten();
            value["contribution"] = contribution.map_or(
                Value::Null,
                |found| json!({ "share": found.share, "given": found.given, "gain": found.gain }),
            );

            if let Some(part) = tree.places.get(id.index()).and_then(|at| scored.info.nodes.get(*at)) {
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

fn node(scores: &ScorecardScores<'_>, id: ScorecardNodeId) -> Value {
    let card = scores.card();
    let name = |id: ScorecardNodeId| card.node(id).map(|node| node.code.to_string());
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
