//! `assize scorecard list`.

use assize_engine::{ExitStatus, LabelOptions};
use assize_model::{EvaluatorType, InventoryRow, Scorecard, ScorecardPart};
use assize_report::{ScorecardLine, format_scorecard_totals, render_scorecard_tree};
use assize_rubric::ScorecardAggregation;
use serde_json::{Value, json};

use super::load::{load_valid_briefly, weight_set};
use crate::args::ListArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(super) fn list(args: &ListArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let scorecard = load_valid_briefly(&args.path, &LabelOptions::default(), &args.root, context)?.scorecard;
    let set = weight_set(&scorecard, args.weights.as_deref())?;
    let rows = scorecard.inventory(set);
    let leaves = || rows.iter().filter(|row| row.evaluator.is_some());
    let evaluators = EvaluatorType::ALL
        .map(|kind| (kind.name(), leaves().filter(|row| row.evaluator == Some(kind)).count() as u64));
    let gates = rows.iter().filter(|row| row.hard_gate).count() as u64;
    let uncovered = leaves().filter(|row| row.cases + row.cases_to_ask == 0).count() as u64;
    if args.json {
        let nodes: Vec<Value> = rows.iter().map(node).collect();
        output::print_json(&json!({
            "name": scorecard.name,
            "weight_set": set_name(&scorecard, set),
            "rubrics": scorecard.rubrics.len(),
            "benchmarks": scorecard.benchmarks.len(),
            "evaluators": evaluators.iter().map(|(name, count)| ((*name).to_owned(), json!(count))).collect::<serde_json::Map<_, _>>(),
            "hard_gates": gates,
            "prompts": scorecard.prompts.len(),
            "cases": scorecard.cases.len(),
            "labels": scorecard.labels.len(),
            "benchmarks_without_cases": uncovered,
            "nodes": nodes,
        }));

        return Ok(ExitStatus::Passed);
    }

    let lines: Vec<ScorecardLine> = rows.iter().map(line).collect();
    output::print(&render_scorecard_tree(&lines, context.stdout));

    let cases = scorecard.cases.len() as u64;
    let totals =
        format_scorecard_totals(scorecard.rubrics.len() as u64, &evaluators, gates, cases, uncovered);
    output::print_text(&format!("\n{totals}"), context);

    if let Some(name) = set_name(&scorecard, set) {
        output::print(&format!("weights of the index: {name}\n"));
    }

    Ok(ExitStatus::Passed)
}

fn set_name(scorecard: &Scorecard, set: Option<usize>) -> Option<&str> {
    let index = scorecard.index.as_ref()?;
    index.weight_sets.get(set.unwrap_or(index.active)).map(|set| set.name.as_str())
}

fn rule(aggregation: ScorecardAggregation) -> &'static str {
    match aggregation {
        ScorecardAggregation::WeightedAverage => "weighted average",
        ScorecardAggregation::Minimum => "minimum",
        ScorecardAggregation::Maximum => "maximum",
    }
}

fn line(row: &InventoryRow) -> ScorecardLine {
    let rule = match (row.criticality, row.aggregation) {
        (Some(criticality), _) => criticality.name().replace('_', " "),
        (None, Some(aggregation)) if row.hard_gate => format!("{}, hard gate", rule(aggregation)),
        (None, aggregation) => aggregation.map(rule).unwrap_or_default().to_owned(),
    };
    ScorecardLine {
        depth: row.depth,
        code: row.code.to_string(),
        label: row.label.clone().unwrap_or_default(),
        weight: row.weight.map(assize_rubric::Weight::get),
        threshold: row.threshold.get(),
        rule,
        hard_gate: row.hard_gate,
        evaluator: row.evaluator.map(EvaluatorType::name).unwrap_or_default().to_owned(),
        benchmarks: row.benchmarks as u64,
        cases: row.cases as u64,
        cases_to_ask: row.cases_to_ask as u64,
    }
}

fn node(row: &InventoryRow) -> Value {
    json!({
        "depth": row.depth,
        "kind": match row.part {
            ScorecardPart::Index => "index",
            ScorecardPart::Rubric(_) => "rubric",
            ScorecardPart::Benchmark(_) => "benchmark",
        },
        "code": row.code,
        "label": row.label,
        "weight": row.weight,
        "threshold": row.threshold,
        "aggregation_method": row.aggregation,
        "criticality": row.criticality,
        "hard_gate": row.hard_gate,
        "evaluator_type": row.evaluator.map(EvaluatorType::name),
        "benchmarks": row.benchmarks,
        "cases": row.cases,
        "cases_to_ask": row.cases_to_ask,
    })
}
