//! Calculation of the score of one scorecard node, line by line.

use assize_analysis::{CardRun, CardTree, CaseOfBenchmark};
use assize_rubric::{
    Aggregation, BenchmarkState, CardKind, CardScores, Criticality, NodeId, NodeScore, Standing, at_least,
};
use serde_json::{Value, json};

use crate::Style;
use crate::card_scores::{figure, green_gate_bound, tone_of};
use crate::card_votes::{said, vote_json, votes};
use crate::number::{beside, count, plain, score};
use crate::page::{Page, Piece};
use crate::style::Tone;
use crate::table::{Column, table};

/// Number of cases that are listed before the rest is only counted.
const MAX_CASES: usize = 200;
/// Maximum length of a reason in a line, in characters.
const REASON: usize = 200;

/// Renders the score of a scorecard node: for an index or rubric the nodes below it with their weights, for a
/// benchmark its cases; then its threshold, its blockers, and its contribution to the top score.
pub fn card_node(
    run: &CardRun,
    tree: &CardTree,
    scores: &CardScores<'_>,
    id: NodeId,
    style: Style,
) -> String {
    let mut page = Page::new(style);
    let card = scores.card();
    let (Some(node), Some(found)) = (card.node(id), scores.node(id)) else { return page.finish() };
    let place = tree.places.get(id.index()).copied().unwrap_or_default();
    let part = run.info.nodes.get(place);
    let label = part.and_then(|part| part.label.clone()).unwrap_or_default();
    page.text(
        &[Piece::new(Tone::Strong, &*node.code)],
        &[Piece::plain(if label.is_empty() { "" } else { "  " }), Piece::said(Tone::Plain, &label, 200)],
    );
    let kind = part.map_or("part", |part| part.kind.name());
    let how = match node.kind {
        CardKind::Group { aggregation, hard_gate } => {
            format!("{}{}", rule(aggregation), if hard_gate { ", hard gate" } else { "" })
        }
        CardKind::Benchmark { criticality } => {
            let evaluator = part.and_then(|part| part.evaluator.clone()).unwrap_or_default();
            format!("{}, {evaluator}", criticality.name().replace('_', " "))
        }
    };
    page.text(&[], &[Piece::new(Tone::Dim, format!("{kind}, {how}, passes at {}", plain(node.line.get())))]);
    page.blank();
    match node.kind {
        CardKind::Group { aggregation, .. } => group(&mut page, scores, id, aggregation, found),
        CardKind::Benchmark { .. } => benchmark(&mut page, run, place, found),
    }
    page.blank();
    for line in conclusion(scores, id) {
        page.text(&[], &[Piece::new(tone_of(found.standing), line)]);
    }
    page.finish()
}

const fn rule(aggregation: Aggregation) -> &'static str {
    match aggregation {
        Aggregation::WeightedAverage => "weighted average",
        Aggregation::Minimum => "lowest score below",
        Aggregation::Maximum => "highest score below",
    }
}

fn counts(kind: CardKind) -> bool {
    kind != CardKind::Benchmark { criticality: Criticality::ImprovementSignal }
}

fn group(page: &mut Page, scores: &CardScores<'_>, id: NodeId, aggregation: Aggregation, found: &NodeScore) {
    let card = scores.card();
    let weighted = aggregation == Aggregation::WeightedAverage;
    let columns = [
        Column::left("part"),
        Column::left("standing"),
        Column::right("score"),
        Column::sign(),
        Column::right("weight"),
        Column::sign(),
        Column::right("product"),
        Column::shrinking(""),
    ];
    let (mut rows, mut low_sum, mut high_sum) = (Vec::new(), 0.0, 0.0);
    for child in card.children(id) {
        let (Some(node), Some(below)) = (card.node(child), scores.node(child)) else { continue };
        let weight = node.weight.get();
        let counted = counts(node.kind);
        let product = below.bounds.filter(|_| counted && weighted);
        if let Some((low, high)) = product {
            low_sum += weight * low;
            high_sum += weight * high;
        }
        let note = match (counted, below.bounds) {
            (false, _) => "reported only: does not count",
            (true, None) => "does not apply: its weight is shared out",
            (true, Some((low, high))) if low < high => "results are missing",
            (true, Some(_)) => "",
        };
        rows.push(vec![
            Piece::plain(&*node.code),
            Piece::new(tone_of(below.standing), below.standing.name()),
            Piece::plain(figure(below, node.line.get())),
            Piece::plain(if product.is_some() { "×" } else { "" }),
            Piece::plain(if weighted && counted { plain(weight) } else { String::new() }),
            Piece::plain(if product.is_some() { "=" } else { "" }),
            Piece::plain(product.map(|(low, high)| range(weight * low, weight * high)).unwrap_or_default()),
            Piece::new(Tone::Dim, note),
        ]);
    }
    table(page, 0, &columns, &rows);
    page.blank();
    let Some((low, high)) = found.bounds else {
        page.text(&[], &[Piece::plain("nothing below has a score")]);
        return;
    };
    if !weighted {
        page.text(&[], &[Piece::plain(format!("score = {} = {}", rule(aggregation), range(low, high)))]);
        return;
    }
    page.text(
        &[],
        &[Piece::plain(format!(
            "score = {} / {} = {}",
            range(low_sum, high_sum),
            plain(found.covered_weight),
            range(low, high)
        ))],
    );
    if found.covered_weight < found.weight - assize_rubric::TOLERANCE {
        let text = format!(
            "weights with a score add up to {} of {}; the rest does not apply",
            plain(found.covered_weight),
            plain(found.weight)
        );
        page.text(&[], &[Piece::new(Tone::Dim, text)]);
    }
}

fn range(low: f64, high: f64) -> String {
    if low == high { plain(low) } else { format!("{} to {}", plain(low), plain(high)) }
}

fn benchmark(page: &mut Page, run: &CardRun, place: usize, found: &NodeScore) {
    let Some(part) = run.parts.get(place) else { return };
    let mut cases: Vec<(&str, &CaseOfBenchmark)> = part.cases.iter().collect();
    // Lowest scores first.
    cases.sort_by(|(_, a), (_, b)| {
        let rank = |case: &CaseOfBenchmark| case.score.map_or(2.0, assize_rubric::Unit::get);
        rank(a).total_cmp(&rank(b))
    });
    let columns = [
        Column::left("case"),
        Column::right("score"),
        Column::left("state"),
        Column::left("by"),
        Column::shrinking("reason"),
    ];
    let rows: Vec<Vec<Piece>> = cases
        .iter()
        .take(MAX_CASES)
        .map(|(id, case)| {
            vec![
                Piece::name(Tone::Plain, id),
                Piece::plain(case.score.map(|value| plain(value.get())).unwrap_or_default()),
                Piece::plain(said(case.finding.state, case.finding.pass)),
                Piece::plain(match case.finding.decided_by {
                    Some(assize_rubric::DecidedBy::Checks) => "checks",
                    Some(assize_rubric::DecidedBy::Judge) => "judge",
                    Some(assize_rubric::DecidedBy::Person) => "person",
                    None => "",
                }),
                Piece::said(Tone::Dim, &case.reason, REASON),
            ]
        })
        .collect();
    table(page, 0, &columns, &rows);
    let more = cases.len().saturating_sub(MAX_CASES);
    if more > 0 {
        page.text(&[], &[Piece::new(Tone::Dim, format!("and {} more", count(more as u64, "case", "cases")))]);
    }
    page.blank();
    votes(page, &cases);
    let total: f64 = cases.iter().filter_map(|(_, case)| case.score).map(assize_rubric::Unit::get).sum();
    let missing = found.missing as f64;
    match found.bounds {
        None => page.text(&[], &[Piece::plain("no case applies, so there is no score")]),
        Some((low, high)) => page.text(
            &[],
            &[Piece::plain(format!(
                "score = {} / {} = {}",
                range(total, total + missing),
                count(found.scored + found.missing, "case", "cases"),
                range(low, high)
            ))],
        ),
    }
    let states = [
        (BenchmarkState::NotApplicable, "does not apply"),
        (BenchmarkState::Uncertain, "uncertain, scored 0"),
        (BenchmarkState::Waiting, "waiting for a person"),
        (BenchmarkState::ReviewersDiffer, "reviewers differ"),
        (BenchmarkState::JudgesDiffer, "judges differ"),
    ];
    let mut told: Vec<String> = states
        .iter()
        .map(|(state, words)| (part.count(*state), words))
        .filter(|(number, _)| *number > 0)
        .map(|(number, words)| format!("{number} {words}"))
        .collect();
    let unfinished = part.planned.saturating_sub(part.cases.len() as u64);
    if unfinished > 0 {
        told.push(format!("{unfinished} not run"));
    }
    let broken = part.count(BenchmarkState::Missing);
    if broken > 0 {
        told.push(format!("{broken} could not be judged"));
    }
    if !told.is_empty() {
        page.text(&[], &[Piece::new(Tone::Dim, told.join(", "))]);
    }
}

/// Lists the consequences of the score.
fn conclusion(scores: &CardScores<'_>, id: NodeId) -> Vec<String> {
    let card = scores.card();
    let (Some(node), Some(found)) = (card.node(id), scores.node(id)) else { return Vec::new() };
    let line = node.line.get();
    let mut lines = Vec::new();
    if let Some((low, high)) = found.bounds {
        let sign = |value| if at_least(value, line) { "reaches" } else { "is below" };
        lines.push(if low == high {
            format!("{} {} {}", beside(low, line), sign(low), plain(line))
        } else {
            format!(
                "at least {}, at most {}; the latter {} {}",
                beside(low, line),
                beside(high, line),
                sign(high),
                plain(line)
            )
        });
    }
    let blockers: Vec<&str> =
        scores.blockers(id).into_iter().filter_map(|id| card.node(id)).map(|node| &*node.code).collect();
    if !blockers.is_empty() {
        lines.push(format!("hard gates that failed below it: {}", blockers.join(", ")));
    }
    if found.open > 0 {
        lines.push(format!("{} without a result", count(found.missing, "case", "cases")));
    }
    if let Some(bound) = green_gate_bound(scores, id) {
        lines.push(format!(
            "no failure in {}: the true failure rate may still be up to {:.1} % (95 %, exact)",
            count(found.scored, "case", "cases"),
            bound * 100.0
        ));
    }
    let gate = if found.gate_failed { "; as a hard gate it blocks every level above" } else { "" };
    lines.push(format!("{}{gate}", found.standing));
    let contribution = scores.contributions().get(id.index()).copied().flatten();
    if let Some(found) = contribution.filter(|_| id != card.root()) {
        let root = card.node(card.root()).map_or("", |node| &node.code);
        lines.push(format!(
            "gives {} to {root} (share {}); at a score of 1 it would give {} more",
            score(found.given),
            plain(found.share),
            score(found.gain)
        ));
    }
    lines
}

/// Converts the calculation of a node's score to JSON.
pub fn card_node_json(run: &CardRun, tree: &CardTree, scores: &CardScores<'_>, id: NodeId) -> Value {
    let card = scores.card();
    let (Some(node), Some(found)) = (card.node(id), scores.node(id)) else { return Value::Null };
    let place = tree.places.get(id.index()).copied().unwrap_or_default();
    let name = |id: NodeId| card.node(id).map(|node| node.code.to_string());
    let parts: Vec<Value> = card
        .children(id)
        .filter_map(|child| {
            let (node, below) = (card.node(child)?, scores.node(child)?);
            Some(json!({
                "code": node.code,
                "weight": node.weight,
                "counts": counts(node.kind),
                "score_low": below.bounds.map(|(low, _)| low),
                "score_high": below.bounds.map(|(_, high)| high),
                "standing": below.standing,
            }))
        })
        .collect();
    let cases: Vec<Value> = run
        .parts
        .get(place)
        .into_iter()
        .flat_map(|part| part.cases.iter())
        .map(|(id, case)| {
            json!({
                "case": id,
                "state": case.finding.state,
                "score": case.score,
                "pass": case.finding.pass,
                "decided_by": case.finding.decided_by,
                "reason": case.reason,
                "votes": case.votes.iter().map(vote_json).collect::<Vec<_>>(),
            })
        })
        .collect();
    let (aggregation, criticality) = match node.kind {
        CardKind::Group { aggregation, .. } => (Some(aggregation), None),
        CardKind::Benchmark { criticality } => (None, Some(criticality)),
    };
    let blockers: Vec<String> = scores.blockers(id).into_iter().filter_map(name).collect();
    json!({
        "code": node.code,
        "label": run.info.nodes.get(place).and_then(|part| part.label.clone()),
        "aggregation_method": aggregation,
        "criticality": criticality,
        "threshold": node.line,
        "standing": found.standing,
        "score": found.score(),
        "score_low": found.bounds.map(|(low, _)| low),
        "score_high": found.bounds.map(|(_, high)| high),
        "weight_below": found.weight,
        "weight_covered": found.covered_weight,
        "coverage": found.coverage,
        "blocked_by": blockers,
        "failure_rate_upper": green_gate_bound(scores, id),
        "parts": parts,
        "cases": cases,
        "passes": found.standing == Standing::Pass,
    })
}
