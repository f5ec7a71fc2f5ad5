//! The scorecard of a run, scored with the current labels.

use assize_analysis::{ScorecardTree, compare_scorecards, missing_policy};
use assize_engine::{EngineError, LabelOptions, LabelledRun, ScoredCard, labelled_run};
use assize_report::{
    closing_lines, format_plain, format_rate, format_score, grouped, nodes_in_order, scorecard_decision,
};
use assize_rubric::{
    Criticality, NodeStatus, ScoreContribution, ScorecardNodeId, ScorecardNodeKind, ScorecardScores,
};
use assize_store::ScorecardInfo;
use axum::extract::{Path, State};
use axum::response::Response;

use super::run_header::{earlier_run, run_header};
use crate::page_reply::{Library, PageError, blocking, compare_url, open_run, path_part, render, run_url};
use crate::pages::{GainText, NodeText, ScorecardViewPage, TreeText};
use crate::picture::score_bar;
use crate::text::{ResultMark, sentence, visible};

/// Maximum number of parts of a tree that are shown.
const MAX_NODES: usize = 2_000;
/// Maximum number of gains that are shown.
const MAX_GAINS: usize = 10;
/// Deepest level with its own indent.
const MAX_DEPTH: usize = 8;

pub(crate) async fn page(State(library): Library, Path(slug): Path<String>) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let info = library.info(&run.folder)?;
        if info.scorecard.is_none() {
            return Err(PageError::missing("The run is not one of a scorecard."));
        }

        let header = run_header(&run, &info, "scorecard");
        let LabelledRun { run: labelled, warning, .. } =
            labelled_run(&run.folder, &LabelOptions::default(), &library.process)?;
        let settings = &info.settings;
        let scored = ScoredCard::of_stored(&labelled, settings).map_err(EngineError::from)?;
        let scores: Vec<_> = scored.scores().collect();
        let trees = scores.iter().map(|(tree, scores)| tree_text(&run.slug, &labelled.info, tree, scores));
        let trees: Vec<TreeText> = trees.collect();
        let earlier = earlier_run(&library, &run.slug, &info);
        let compared = match earlier.as_ref().and_then(|earlier| library.folder(&earlier.slug)) {
            Some(folder) => {
                let base = labelled_run(&folder, &LabelOptions::default(), &library.process)?;
                Some(
                    compare_scorecards(&base.run, &labelled, missing_policy(settings))
                        .map_err(EngineError::from)?,
                )
            }
            None => None,
        };
        let named = earlier.as_ref().map(|earlier| earlier.slug.as_str()).zip(compared.as_ref());
        let decision = scorecard_decision(&labelled, &info, &scores, named);

        Ok(render(&ScorecardViewPage {
            header,
            name: visible(&labelled.info.name),
            warning: warning.as_deref().map(visible),
            trees,
            decision: decision
                .into_iter()
                .map(|part| (part.title, part.lines.iter().map(|line| sentence(line)).collect()))
                .collect(),
            compare_url: earlier.map_or_else(String::new, |earlier| compare_url(&earlier.slug, &run.slug)),
            waits: !labelled.review_rows().is_empty(),
        }))
    })
    .await
}

fn tree_text(
    slug: &str,
    info: &ScorecardInfo,
    tree: &ScorecardTree,
    scores: &ScorecardScores<'_>,
) -> TreeText {
    let order = nodes_in_order(scores);
    let contributions = scores.contributions();
    let nodes: Vec<NodeText> = order
        .iter()
        .take(MAX_NODES)
        .filter_map(|(id, depth)| node_text(slug, info, tree, scores, &contributions, *id, *depth))
        .collect();

    let label = |id: ScorecardNodeId| node_label(info, tree, id);
    let gains = scores.gains();
    let gains = gains.iter().take(MAX_GAINS).map(|gain| GainText {
        url: part_url(slug, &node_code(scores, gain.node)),
        code: node_code(scores, gain.node),
        label: if gain.unblocks {
            format!("{} – the only gate that blocks the top", label(gain.node))
        } else {
            label(gain.node)
        },
        gain: format_score(gain.gain),
        picture: score_bar(Some((gain.gain, gain.gain)), None),
    });
    let root = scores.card().root();

    TreeText {
        code: node_code(scores, root),
        mark: status_mark(scores.root().status),
        score: bounds_text(scores.root().bounds),
        picture: score_bar(scores.root().bounds, scores.card().node(root).map(|node| node.line.get())),
        sentences: closing_lines(scores).iter().map(|line| visible(line)).collect(),
        more: order.len() - nodes.len(),
        nodes,
        gains: gains.collect(),
    }
}

/// Address of a part of the scorecard of a run.
pub(super) fn part_url(slug: &str, code: &str) -> String {
    format!("{}/scorecard/{}", run_url(slug), path_part(code))
}

pub(super) fn node_text(
    slug: &str,
    info: &ScorecardInfo,
    tree: &ScorecardTree,
    scores: &ScorecardScores<'_>,
    contributions: &[Option<ScoreContribution>],
    id: ScorecardNodeId,
    depth: usize,
) -> Option<NodeText> {
    let (node, found) = scores.card().node(id).zip(scores.node(id))?;
    let part = contributions.get(id.index()).copied().flatten();
    let is_gate = match node.kind {
        ScorecardNodeKind::Group { hard_gate, .. } => hard_gate,
        ScorecardNodeKind::Benchmark { criticality } => criticality == Criticality::HardGate,
    };
    let codes = |ids: Vec<ScorecardNodeId>| -> Vec<String> {
        ids.into_iter().filter(|other| *other != id).map(|id| node_code(scores, id)).collect()
    };

    Some(NodeText {
        url: part_url(slug, &node_code(scores, id)),
        code: node_code(scores, id),
        label: node_label(info, tree, id),
        depth: depth.min(MAX_DEPTH),
        mark: status_mark(found.status),
        score: bounds_text(found.bounds),
        picture: score_bar(found.bounds, Some(node.line.get())),
        threshold: format_plain(node.line.get()),
        weight: format_plain(node.weight.get()),
        cases: match found.missing {
            0 => grouped(found.scored),
            missing => format!("{} of {}", grouped(found.scored), grouped(found.scored + missing)),
        },
        coverage: found.coverage.map_or_else(String::new, format_rate),
        share: part.map_or_else(String::new, |part| format_rate(part.share)),
        gain: part
            .filter(|part| part.gain > 0.0)
            .map_or_else(String::new, |part| format!("+{}", format_score(part.gain))),
        is_gate,
        blocked_by: codes(scores.blockers(id)),
        untested: codes(scores.untested_gates(id)),
    })
}

pub(super) fn node_code(scores: &ScorecardScores<'_>, id: ScorecardNodeId) -> String {
    scores.card().node(id).map_or_else(String::new, |node| visible(&node.code))
}

/// Label of a part, as the run stores it.
pub(super) fn node_label(info: &ScorecardInfo, tree: &ScorecardTree, id: ScorecardNodeId) -> String {
    let stored = tree.places.get(id.index()).and_then(|place| info.nodes.get(*place));
    stored.and_then(|stored| stored.label.as_deref()).map(visible).unwrap_or_default()
}

pub(super) fn bounds_text(bounds: Option<(f64, f64)>) -> String {
    match bounds {
        Some((low, high)) if low == high => format_score(low),
        Some((low, high)) => format!("{}–{}", format_score(low), format_score(high)),
        None => "none".to_owned(),
    }
}

pub(super) fn status_mark(status: NodeStatus) -> ResultMark {
    let (class, sign) = match status {
        NodeStatus::Pass => ("good", "✓"),
        NodeStatus::Fail | NodeStatus::Blocked => ("bad", "✗"),
        NodeStatus::Incomplete => ("open", "?"),
        NodeStatus::NotApplicable => ("dim", "–"),
    };
    ResultMark::new(class, sign, status.name())
}
