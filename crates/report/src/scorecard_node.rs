//! Calculation of the score of one scorecard node, line by line.

use assize_analysis::{BenchmarkCase, ScorecardRun, ScorecardTree};
use assize_rubric::{
    BenchmarkState, Criticality, DecidedBy, NodeScore, ScorecardAggregation, ScorecardNodeId,
    ScorecardNodeKind, ScorecardScores, at_least,
};

use crate::ReportStyle;
use crate::number::{format_beside, format_count, format_plain, format_rate, format_score};
use crate::page::{ReportPage, ReportPiece};
use crate::scorecard_scores::{format_node_score, green_gate_bound, status_tone};
use crate::scorecard_votes::{benchmark_decision_text, render_votes};
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Maximum number of cases listed; the rest is counted.
const MAX_CASES: usize = 200;
/// Maximum length of a reason in a line, in characters.
const MAX_REASON: usize = 200;

/// Renders the score of a scorecard node: for an index or rubric the nodes below it with their weights, for a
/// benchmark its cases; then its threshold, its blockers, and its contribution to the top score.
pub fn render_scorecard_node(
    run: &ScorecardRun,
    tree: &ScorecardTree,
    scores: &ScorecardScores<'_>,
    id: ScorecardNodeId,
    style: ReportStyle,
) -> String {
    let mut page = ReportPage::new(style);
    let card = scores.card();
    let (Some(node), Some(found)) = (card.node(id), scores.node(id)) else { return page.finish() };
    let place = tree.places.get(id.index()).copied().unwrap_or_default();
    let part = run.info.nodes.get(place);
    let label = part.and_then(|part| part.label.clone()).unwrap_or_default();
    page.add_text(
        &[ReportPiece::new(ReportTone::Strong, &*node.code)],
        &[
            ReportPiece::plain(if label.is_empty() { "" } else { "  " }),
            ReportPiece::untrusted(ReportTone::Plain, &label, 200),
        ],
    );

    let kind = part.map_or("part", |part| part.kind.name());
    let how = match node.kind {
        ScorecardNodeKind::Group { aggregation, hard_gate } => {
            format!("{}{}", aggregation_text(aggregation), if hard_gate { ", hard gate" } else { "" })
        }
        ScorecardNodeKind::Benchmark { criticality } => {
            let evaluator = part.and_then(|part| part.evaluator.clone()).unwrap_or_default();
            format!("{}, {evaluator}", criticality.name().replace('_', " "))
        }
    };

    page.add_paragraph(ReportPiece::new(
        ReportTone::Dim,
        format!("{kind}, {how}, threshold {}", format_plain(node.line.get())),
    ));

    page.add_blank();

    match node.kind {
        ScorecardNodeKind::Group { aggregation, .. } => {
            render_group(&mut page, scores, id, aggregation, found);
        }
        ScorecardNodeKind::Benchmark { .. } => render_benchmark(&mut page, run, place, found),
    }

    page.add_blank();

    for line in node_conclusions(scores, id) {
        page.add_paragraph(ReportPiece::new(status_tone(found.status), line));
    }

    page.finish()
}

const fn aggregation_text(aggregation: ScorecardAggregation) -> &'static str {
    match aggregation {
        ScorecardAggregation::WeightedAverage => "weighted average",
        ScorecardAggregation::Minimum => "lowest score below",
        ScorecardAggregation::Maximum => "highest score below",
    }
}

fn render_group(
    page: &mut ReportPage,
    scores: &ScorecardScores<'_>,
    id: ScorecardNodeId,
    aggregation: ScorecardAggregation,
    found: &NodeScore,
) {
    let card = scores.card();
    let weighted = aggregation == ScorecardAggregation::WeightedAverage;
    let columns = [
        ReportColumn::left("node"),
        ReportColumn::left("verdict"),
        ReportColumn::right("score"),
        ReportColumn::sign(),
        ReportColumn::right("weight"),
        ReportColumn::sign(),
        ReportColumn::right("product"),
        ReportColumn::shrinking(""),
    ];

    let (mut rows, mut low_sum, mut high_sum) = (Vec::new(), 0.0, 0.0);
    for child in card.children(id) {
        let (Some(node), Some(below)) = (card.node(child), scores.node(child)) else { continue };
        let weight = node.weight.get();
        let counted =
            node.kind != ScorecardNodeKind::Benchmark { criticality: Criticality::ImprovementSignal };
        let product = below.bounds.filter(|_| counted && weighted);
        if let Some((low, high)) = product {
            low_sum += weight * low;
            high_sum += weight * high;
        }

        let note = match (counted, below.bounds) {
            (false, _) => "reported only: not counted",
            (true, None) => "not applicable: its weight goes to the others",
            (true, Some((low, high))) if low < high => "results are missing",
            (true, Some(_)) => "",
        };
        rows.push(vec![
            ReportPiece::plain(&*node.code),
            ReportPiece::new(status_tone(below.status), below.status.name()),
            ReportPiece::plain(format_node_score(below, node.line.get())),
            ReportPiece::plain(if product.is_some() { "×" } else { "" }),
            ReportPiece::plain(if weighted && counted { format_plain(weight) } else { String::new() }),
            ReportPiece::plain(if product.is_some() { "=" } else { "" }),
            ReportPiece::plain(
                product.map(|(low, high)| format_range(weight * low, weight * high)).unwrap_or_default(),
            ),
            ReportPiece::new(ReportTone::Dim, note),
        ]);
    }

    render_table(page, 0, &columns, &rows);
    page.add_blank();

    let Some((low, high)) = found.bounds else {
        page.add_paragraph(ReportPiece::plain("no node below has a score"));
        return;
    };
    if !weighted {
        page.add_paragraph(ReportPiece::plain(format!(
            "score = {} = {}",
            aggregation_text(aggregation),
            format_range(low, high)
        )));
        return;
    }

    page.add_paragraph(ReportPiece::plain(format!(
        "score = {} / {} = {}",
        format_range(low_sum, high_sum),
        format_plain(found.covered_weight),
        format_range(low, high)
    )));

    if found.covered_weight < found.weight - assize_rubric::TOLERANCE {
        let text = format!(
            "weights with a score sum to {} of {}; the rest does not apply",
            format_plain(found.covered_weight),
            format_plain(found.weight)
        );
        page.add_paragraph(ReportPiece::new(ReportTone::Dim, text));
    }
}

fn format_range(low: f64, high: f64) -> String {
    if low == high { format_plain(low) } else { format!("{} to {}", format_plain(low), format_plain(high)) }
}

fn render_benchmark(page: &mut ReportPage, run: &ScorecardRun, place: usize, found: &NodeScore) {
    let Some(part) = run.parts.get(place) else { return };
    let mut cases: Vec<(&str, &BenchmarkCase)> = part.cases.iter().collect();

    // Lowest scores first.
    cases.sort_by(|(_, a), (_, b)| {
        let rank = |case: &BenchmarkCase| case.score.map_or(2.0, assize_rubric::UnitInterval::get);
        rank(a).total_cmp(&rank(b))
    });
    let columns = [
        ReportColumn::left("case"),
        ReportColumn::right("score"),
        ReportColumn::left("state"),
        ReportColumn::left("by"),
        ReportColumn::shrinking("reason"),
    ];

    let rows: Vec<Vec<ReportPiece>> = cases
        .iter()
        .take(MAX_CASES)
        .map(|(id, case)| {
            vec![
                ReportPiece::untrusted_name(ReportTone::Plain, id),
                ReportPiece::plain(case.score.map(|value| format_plain(value.get())).unwrap_or_default()),
                ReportPiece::plain(benchmark_decision_text(case.finding.state, case.finding.pass)),
                ReportPiece::plain(case.finding.decided_by.map(DecidedBy::name).unwrap_or_default()),
                ReportPiece::untrusted(ReportTone::Dim, &case.reason, MAX_REASON),
            ]
        })
        .collect();

    render_table(page, 0, &columns, &rows);
    let more = cases.len().saturating_sub(MAX_CASES);
    if more > 0 {
        page.add_paragraph(ReportPiece::new(
            ReportTone::Dim,
            format!("and {} more", format_count(more as u64, "case", "cases")),
        ));
    }

    page.add_blank();
    render_votes(page, &cases);

    let total: f64 =
        cases.iter().filter_map(|(_, case)| case.score).map(assize_rubric::UnitInterval::get).sum();
    let missing = found.missing as f64;
    match found.bounds {
        None => page.add_paragraph(ReportPiece::plain("no case applies, so there is no score")),
        Some((low, high)) => page.add_paragraph(ReportPiece::plain(format!(
            "score = {} / {} = {}",
            format_range(total, total + missing),
            format_count(found.scored + found.missing, "case", "cases"),
            format_range(low, high)
        ))),
    }

    let states = [
        (BenchmarkState::NotApplicable, "does not apply"),
        (BenchmarkState::Uncertain, "uncertain, scored 0"),
        (BenchmarkState::Waiting, "waiting for a person"),
        (BenchmarkState::ReviewersDiffer, "reviewers disagree"),
        (BenchmarkState::Disputed, "disputed by people"),
        (BenchmarkState::JudgesDiffer, "judges disagree"),
    ];

    let mut counts: Vec<String> = states
        .iter()
        .map(|(state, words)| (part.count(*state), words))
        .filter(|(number, _)| *number > 0)
        .map(|(number, words)| format!("{number} {words}"))
        .collect();

    let unfinished = part.planned.saturating_sub(part.cases.len() as u64);
    if unfinished > 0 {
        counts.push(format!("{unfinished} not run"));
    }

    let broken = part.count(BenchmarkState::Missing);
    if broken > 0 {
        counts.push(format!("{broken} ungraded"));
    }
    if !counts.is_empty() {
        page.add_paragraph(ReportPiece::new(ReportTone::Dim, counts.join(", ")));
    }
}

/// Lists the consequences of a node's score: the threshold it reaches, its blockers, its contribution.
pub fn node_conclusions(scores: &ScorecardScores<'_>, id: ScorecardNodeId) -> Vec<String> {
    let card = scores.card();
    let (Some(node), Some(found)) = (card.node(id), scores.node(id)) else { return Vec::new() };
    let line = node.line.get();
    let mut lines = Vec::new();
    if let Some((low, high)) = found.bounds {
        let sign = |value| if at_least(value, line) { "reaches" } else { "is below" };
        lines.push(if low == high {
            format!("{} {} {}", format_beside(low, line), sign(low), format_plain(line))
        } else {
            format!(
                "at least {}, at most {}; the latter {} {}",
                format_beside(low, line),
                format_beside(high, line),
                sign(high),
                format_plain(line)
            )
        });
    }

    let codes = |ids: Vec<ScorecardNodeId>| -> Vec<&str> {
        ids.into_iter().filter_map(|id| card.node(id)).map(|node| &*node.code).collect()
    };
    let blockers = codes(scores.blockers(id));
    if !blockers.is_empty() {
        lines.push(format!("hard gates that failed below it: {}", blockers.join(", ")));
    }
    let untested = codes(scores.untested_gates(id));
    if !untested.is_empty() {
        lines.push(format!("hard gates without a case: {}", untested.join(", ")));
    }
    if found.open > 0 {
        let lacks = if card.children(id).next().is_some() { "all results" } else { "a result" };
        lines.push(format!("{} without {lacks}", format_count(found.missing, "case", "cases")));
    }

    if let Some(bound) = green_gate_bound(scores, id) {
        lines.push(format!(
            "no failure in {}: the failure rate could be up to {} (95% confidence, exact)",
            format_count(found.scored, "case", "cases"),
            format_rate(bound)
        ));
    }

    let gate = if found.gate_failed { "; as a hard gate it blocks every node above" } else { "" };
    lines.push(format!("{}{gate}", found.status));

    let contribution = scores.contributions().get(id.index()).copied().flatten();
    if let Some(found) = contribution.filter(|_| id != card.root()) {
        let root = card.node(card.root()).map_or("", |node| &node.code);
        lines.push(format!(
            "contributes {} to {root} (share {}); a score of 1 would add {}",
            format_score(found.given),
            format_plain(found.share),
            format_score(found.gain)
        ));
    }

    lines
}
