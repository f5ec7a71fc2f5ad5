//! Composites: members are graded like other graders of the case, then combined.

use std::collections::BTreeMap;

use assize_grade::{GradingProgram, ProgramInput};
use assize_model::{CompositeAggregator, CompositeGrader, ProgramResult};
use assize_rubric::{
    CaseDecision, CompositeFormula, CompositeMember, CompositeStructure, GraderFinding, GraderFindingKind,
    GraderOutcome, GraderScore, MemberAggregator, OutcomeKind, Verdict, combine_members, member_outcome,
    member_score,
};
use assize_store::{criterion_rows, criterion_texts};
use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use super::path::GraderPath;
use super::programs::{grader_folder, reply_finding};
use super::{GradingContext, answer_score, grade_at, scoring};

/// The composite's own decision, followed by its members' decisions.
pub(super) async fn grade(path: &GraderPath<'_>, composite: &CompositeGrader) -> Vec<CaseDecision> {
    let paths: Vec<GraderPath<'_>> = composite
        .members
        .iter()
        .map(|member| {
            let mut weighting = member.weighting;
            if let CompositeAggregator::WeightedAverage(weights) = &composite.aggregator
                && let Some((_, weight)) = weights.iter().find(|(name, _)| *name == member.name)
            {
                weighting.weight = *weight;
            }

            path.to_member(member, weighting)
        })
        .collect();

    let members: Vec<CompositeMember> = paths
        .iter()
        .map(|path| CompositeMember {
            name: path.grader.name.clone(),
            type_name: path.grader.type_name.clone(),
            weighting: path.weighting,
        })
        .collect();

    let graded: Vec<Vec<CaseDecision>> = join_all(paths.into_iter().map(grade_at)).await;

    let aggregator = match &composite.aggregator {
        CompositeAggregator::WeightedAverage(_) => MemberAggregator::WeightedAverage,
        CompositeAggregator::Threshold(line) => MemberAggregator::Threshold(*line),
        CompositeAggregator::Code { .. }
        | CompositeAggregator::Function { .. }
        | CompositeAggregator::Llm { .. } => MemberAggregator::Decided,
    };
    let mut own = match member_results(path.context, &members, &graded, path.members.len() + 1) {
        _ if aggregator != MemberAggregator::Decided => {
            path.own_decision(GraderFinding::without_score(), String::new())
        }
        Err(message) => path.broken_decision(message),
        Ok(results) => match &composite.aggregator {
            CompositeAggregator::Function { code, threshold } => {
                let named = named_scores(path, &members, &graded);
                scoring::decide(path, code, *threshold, &named, &results).await
            }
            aggregator => decide(path, aggregator, results).await,
        },
    };
    if let Some(finding) = own.decision.grader_mut() {
        let passed = finding.passed();
        finding.kind = GraderFindingKind::Composite(CompositeStructure { aggregator, members, passed });
    }

    std::iter::once(own).chain(graded.into_iter().flatten()).collect()
}

async fn decide(path: &GraderPath<'_>, aggregator: &CompositeAggregator, results: Value) -> CaseDecision {
    match aggregator {
        CompositeAggregator::Code { command, cwd } => {
            let program = GradingProgram {
                command,
                cwd: cwd.clone().or_else(|| grader_folder(path.grader)),
                timeout: None,
                pass_env: &[],
                model: None,
                result: ProgramResult::Json,
                container: None,
            };

            let input = ProgramInput { results: Some(results), ..path.context.program_input() };
            match program.grade(&input, &path.context.item.programs).await.result {
                Ok(reply) => {
                    let (finding, reason) = reply_finding(reply);
                    path.own_decision(finding, reason)
                }
                Err(message) => path.broken_decision(message),
            }
        }
        CompositeAggregator::Llm { prompt, judge } => {
            answer_score::combine(path, prompt.as_ref(), judge.as_deref(), &results).await
        }
        CompositeAggregator::WeightedAverage(_)
        | CompositeAggregator::Threshold(_)
        | CompositeAggregator::Function { .. } => {
            path.own_decision(GraderFinding::without_score(), String::new())
        }
    }
}

/// Scores of the members' metrics: the weighted mean of each.
fn named_scores(
    path: &GraderPath<'_>,
    members: &[CompositeMember],
    graded: &[Vec<CaseDecision>],
) -> Map<String, Value> {
    let item = path.context.item;
    let depth = path.members.len() + 1;
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for metric in &item.case.metrics {
        let above = std::iter::once(&*path.top).chain(path.members.iter().map(String::as_str));
        let mut names = metric.grader.iter().map(String::as_str);
        if !above.into_iter().all(|name| names.next() == Some(name)) {
            continue;
        }
        let Some((first, rest)) = metric.grader[depth..].split_first() else { continue };
        let Some(at) = members.iter().position(|member| member.name == *first) else { continue };
        let rows: Vec<&CaseDecision> = graded[at].iter().collect();
        let found = member_score(&rows, depth, members[at].weighting, rest, item.thresholds);
        if let Some((score, weight)) = found.and_then(|(score, weight)| Some((score.score?, weight))) {
            let (sum, total) = sums.entry(&metric.name).or_default();
            *sum += score * weight;
            *total += weight;
        }
    }

    sums.into_iter().map(|(name, (sum, total))| (name.to_owned(), json!(sum / total))).collect()
}

/// The results of members by name, for the judge or program that combines them. If a member could not be
/// graded, there is nothing to combine.
fn member_results(
    context: &GradingContext<'_>,
    members: &[CompositeMember],
    graded: &[Vec<CaseDecision>],
    depth: usize,
) -> Result<Value, String> {
    let thresholds = context.item.thresholds;
    let outcomes: Vec<_> = members
        .iter()
        .zip(graded)
        .map(|(member, rows)| {
            let rows: Vec<&CaseDecision> = rows.iter().collect();
            let outcome = member_outcome(&rows, depth, thresholds).unwrap_or(GraderOutcome::Errored);
            (member.weighting, outcome)
        })
        .collect();

    let scores = combine_members(&outcomes, CompositeFormula::WeightedAverage, thresholds).members;
    let mut results = Map::new();
    for ((member, rows), score) in members.iter().zip(graded).zip(&scores) {
        if score.verdict == Some(Verdict::Incomplete) {
            return Err(format!("member `{}` could not be graded", member.name));
        }
        results.insert(member.name.clone(), member_result(member, rows, score));
    }

    Ok(Value::Object(results))
}

fn member_result(member: &CompositeMember, rows: &[CaseDecision], score: &GraderScore) -> Value {
    let rows: Vec<&CaseDecision> = rows.iter().collect();
    let checks = criterion_rows(&rows);
    let texts: Vec<_> = rows.iter().flat_map(|row| criterion_texts(row)).collect();
    let words =
        |id: &str| texts.iter().find(|(known, _)| **known == *id).map_or(id, |(_, text)| text).to_owned();
    let with = |outcome: OutcomeKind| -> Vec<String> {
        checks.iter().filter(|check| check.outcome == outcome).map(|check| words(&check.id)).collect()
    };
    let reasons: Vec<&str> =
        checks.iter().map(|check| check.reason.as_str()).filter(|reason| !reason.is_empty()).collect();

    json!({
        "type": member.type_name,
        "weight": member.weighting.weight.get(),
        "score": score.score,
        "verdict": score.verdict.map(Verdict::name),
        "hits": with(OutcomeKind::Met),
        "misses": with(OutcomeKind::Unmet),
        "reasoning": reasons.join(" "),
    })
}
