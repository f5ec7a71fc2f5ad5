//! `assize scorecard`.

use std::path::Path;

use assize_diagnostic::render;
use assize_report::{CardLine, card_scores, card_totals, card_tree};
use assize_rubric::{Aggregation, CardScores, CaseTally, MissingPolicy, NodeId, Standing, score_card};
use assize_run::card_tallies;
use assize_spec::{CardPart, EvaluatorType, InventoryRow, Scorecard, load_card_results, load_scorecard};
use serde_json::{Value, json};

use super::eval::load_options;
use crate::args::{ListArgs, MissingChoice, ScoreCardArgs, ScorecardArgs, ScorecardCommand};
use crate::context::Context;
use crate::exit::Exit;
use crate::output;

pub(crate) fn execute(args: &ScorecardArgs, context: &Context) -> Result<Exit, String> {
    match &args.command {
        ScorecardCommand::List(args) => list(args, context),
        ScorecardCommand::Score(args) => score(args, context),
    }
}

/// Reads a scorecard that must be sound, saying what is wrong with it.
fn sound(path: &Path, roots: &[std::path::PathBuf], context: &Context) -> Result<Scorecard, String> {
    if !path.exists() {
        return Err(format!("{}: no such file or folder", path.display()));
    }
    let loaded = load_scorecard(path, &load_options(roots, context));
    output::say_diagnostics(&loaded.diagnostics, &loaded.sources, context);
    let (errors, _) = render::tally(&loaded.diagnostics);
    let problems = if errors == 1 { "problem" } else { "problems" };
    loaded.scorecard.ok_or_else(|| format!("the scorecard has {errors} {problems}"))
}

/// The place of a weight set, if one is asked for.
fn weight_set(scorecard: &Scorecard, wanted: Option<&str>) -> Result<Option<usize>, String> {
    let Some(wanted) = wanted else { return Ok(None) };
    let sets = scorecard.index.as_ref().map(|index| index.weight_sets.as_slice()).unwrap_or_default();
    if let Some(at) = sets.iter().position(|set| set.name == wanted) {
        return Ok(Some(at));
    }
    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    Err(if names.is_empty() {
        "the scorecard has no index with weight sets".to_owned()
    } else {
        format!("there is no weight set `{wanted}`; there are: {}", names.join(", "))
    })
}

fn list(args: &ListArgs, context: &Context) -> Result<Exit, String> {
    let scorecard = sound(&args.path, &args.root, context)?;
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
        return Ok(Exit::Passed);
    }
    let lines: Vec<CardLine> = rows.iter().map(line).collect();
    output::print(&card_tree(&lines, context.stdout));
    let cases = scorecard.cases.len() as u64;
    output::print(&format!(
        "\n{}",
        card_totals(scorecard.rubrics.len() as u64, &evaluators, gates, cases, uncovered)
    ));
    if let Some(name) = set_name(&scorecard, set) {
        output::print(&format!("weights of the index: {name}\n"));
    }
    Ok(Exit::Passed)
}

fn score(args: &ScoreCardArgs, context: &Context) -> Result<Exit, String> {
    let scorecard = sound(&args.list.path, &args.list.root, context)?;
    let set = weight_set(&scorecard, args.list.weights.as_deref())?;
    let mut results = Vec::new();
    if let Some(path) = &args.results {
        let loaded = load_card_results(path, &scorecard, &load_options(&args.list.root, context));
        output::say_diagnostics(&loaded.diagnostics, &loaded.sources, context);
        if loaded.has_errors() {
            return Err("the results have problems; nothing was scored".to_owned());
        }
        results = loaded.results;
    }
    let found = card_tallies(&scorecard, &results);
    let policy = match args.treat_missing {
        MissingChoice::Incomplete => MissingPolicy::Incomplete,
        MissingChoice::Zero => MissingPolicy::Zero,
        MissingChoice::Skip => MissingPolicy::Skip,
    };
    let trees = scorecard.cards(set).map_err(|error| error.to_string())?;
    let (mut exits, mut blocks, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
    for (card, parts) in &trees {
        let tally = |id: NodeId| match parts.get(id.index()) {
            Some(CardPart::Benchmark(at)) => found.tallies[*at],
            _ => CaseTally::NOT_APPLICABLE,
        };
        let scores = score_card(card, tally, policy);
        exits.push(match scores.root().standing {
            Standing::Pass => Exit::Passed,
            Standing::Fail | Standing::Blocked => Exit::Failed,
            Standing::Incomplete | Standing::NotApplicable => Exit::Incomplete,
        });
        blocks.push(card_scores(&scores, context.stdout));
        nodes.extend(card.ids().map(|id| scored(&scores, id)));
    }
    let review: Vec<Value> = found
        .review
        .iter()
        .map(|(case, benchmark)| {
            json!({ "case": scorecard.cases[*case].id, "benchmark": scorecard.benchmarks[*benchmark].code })
        })
        .collect();
    if args.list.json {
        output::print_json(&json!({
            "name": scorecard.name,
            "weight_set": set_name(&scorecard, set),
            "treat_missing": policy.name(),
            "nodes": nodes,
            "review": review,
        }));
    } else {
        output::print(&blocks.join("\n"));
        if !review.is_empty() {
            output::print(&format!("for a person to look at: {}\n", review.len()));
        }
    }
    Ok(Exit::strongest(exits))
}

fn scored(scores: &CardScores<'_>, id: NodeId) -> Value {
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
        "weight": node.weight,
        "weight_below": found.weight,
        "weight_covered": found.covered_weight,
        "coverage": found.coverage,
        "cases": found.scored,
        "missing": found.missing,
    })
}

fn set_name(scorecard: &Scorecard, set: Option<usize>) -> Option<&str> {
    let index = scorecard.index.as_ref()?;
    index.weight_sets.get(set.unwrap_or(index.active)).map(|set| set.name.as_str())
}

fn rule(aggregation: Aggregation) -> &'static str {
    match aggregation {
        Aggregation::WeightedAverage => "weighted average",
        Aggregation::Minimum => "minimum",
        Aggregation::Maximum => "maximum",
    }
}

fn line(row: &InventoryRow) -> CardLine {
    let rule = match (row.criticality, row.aggregation) {
        (Some(criticality), _) => criticality.name().replace('_', " "),
        (None, Some(aggregation)) if row.hard_gate => format!("{}, hard gate", rule(aggregation)),
        (None, aggregation) => aggregation.map(rule).unwrap_or_default().to_owned(),
    };
    CardLine {
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
            CardPart::Index => "index",
            CardPart::Rubric(_) => "rubric",
            CardPart::Benchmark(_) => "benchmark",
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
