//! Composites: members are graded like graders of the case, then combined.

use std::sync::Arc;

use assize_evalfile::{CompositeAggregator, CompositeGrader};
use assize_grade::{Program, ProgramInput};
use assize_rubric::{Combination, GraderOutcome, GraderScore, Verdict, combine};
use assize_store::{
    Aggregator, CompositeRow, GraderResult, JudgementRow, MemberRow, criterion_rows, member_outcome,
};
use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use super::programs::folder_of;
use super::rows::{Spot, note};
use super::{Scene, grade_at, whole};

/// The composite's own row, then those of its members.
pub(super) async fn grade(
    scene: &Scene<'_>,
    spot: &Spot<'_>,
    composite: &CompositeGrader,
) -> Vec<JudgementRow> {
    let spots: Vec<Spot<'_>> = composite
        .members
        .iter()
        .map(|member| {
            let mut standing = member.standing;
            if let CompositeAggregator::WeightedAverage(weights) = &composite.aggregator
                && let Some((_, weight)) = weights.iter().find(|(name, _)| *name == member.name)
            {
                standing.weight = *weight;
            }
            let mut path = spot.path.clone();
            path.push(member.name.clone());
            Spot { top: Arc::clone(&spot.top), grader: member.as_ref(), standing, path }
        })
        .collect();
    let members: Vec<MemberRow> = spots
        .iter()
        .map(|spot| MemberRow {
            name: spot.grader.name.clone(),
            type_name: spot.grader.type_name.clone(),
            standing: spot.standing.into(),
        })
        .collect();
    let graded: Vec<Vec<JudgementRow>> = join_all(spots.into_iter().map(|spot| grade_at(scene, spot))).await;
    let aggregator = match &composite.aggregator {
        CompositeAggregator::WeightedAverage(_) => Aggregator::WeightedAverage,
        CompositeAggregator::Threshold(line) => Aggregator::Threshold(*line),
        CompositeAggregator::Code { .. } | CompositeAggregator::Llm { .. } => Aggregator::Decided,
    };
    let mut own = match results(scene, &members, &graded, spot.path.len() + 1) {
        _ if aggregator != Aggregator::Decided => spot.row(scene, GraderResult::default(), String::new()),
        Err(message) => spot.broken(scene, message),
        Ok(results) => decide(scene, spot, &composite.aggregator, results).await,
    };
    if let Some(result) = &mut own.grader_result {
        result.composite = Some(CompositeRow { aggregator, members });
    }
    std::iter::once(own).chain(graded.into_iter().flatten()).collect()
}

async fn decide(
    scene: &Scene<'_>,
    spot: &Spot<'_>,
    aggregator: &CompositeAggregator,
    results: Value,
) -> JudgementRow {
    match aggregator {
        CompositeAggregator::Code { command, cwd } => {
            let program = Program {
                command,
                cwd: cwd.clone().or_else(|| folder_of(spot.grader)),
                timeout: None,
                pass_env: &[],
                model: None,
            };
            let input = ProgramInput { results: Some(results), ..scene.input() };
            match program.grade(&input, &scene.item.programs).await.result {
                Ok(reply) => {
                    let result = GraderResult {
                        score: Some(reply.score.get()),
                        notes: reply.findings.into_iter().map(note).collect(),
                        details: reply.details,
                        ..GraderResult::default()
                    };
                    spot.row(scene, result, reply.reason)
                }
                Err(message) => spot.broken(scene, message),
            }
        }
        CompositeAggregator::Llm { prompt, judge } => {
            whole::combine(scene, spot, prompt.as_ref(), judge.as_deref(), &results).await
        }
        CompositeAggregator::WeightedAverage(_) | CompositeAggregator::Threshold(_) => {
            spot.row(scene, GraderResult::default(), String::new())
        }
    }
}

/// What somebody who combines members is told about them, by name. Members that could not be graded
/// leave nothing to combine.
fn results(
    scene: &Scene<'_>,
    members: &[MemberRow],
    graded: &[Vec<JudgementRow>],
    depth: usize,
) -> Result<Value, String> {
    let lines = scene.item.lines;
    let outcomes: Vec<_> = members
        .iter()
        .zip(graded)
        .map(|(member, rows)| {
            let rows: Vec<&JudgementRow> = rows.iter().collect();
            let outcome = member_outcome(&rows, depth, lines).unwrap_or(GraderOutcome::Errored);
            (member.standing.into(), outcome)
        })
        .collect();
    let scores = combine(&outcomes, Combination::WeightedAverage, lines).members;
    let mut results = Map::new();
    for ((member, rows), score) in members.iter().zip(graded).zip(&scores) {
        if score.verdict == Some(Verdict::Incomplete) {
            return Err(format!(
                "member `{}` could not be graded, so there is nothing to combine",
                member.name
            ));
        }
        results.insert(member.name.clone(), result(member, rows, score));
    }
    Ok(Value::Object(results))
}

fn result(member: &MemberRow, rows: &[JudgementRow], score: &GraderScore) -> Value {
    let rows: Vec<&JudgementRow> = rows.iter().collect();
    let checks = criterion_rows(&rows);
    let texts: Vec<(Arc<str>, String)> =
        rows.iter().flat_map(|row| assize_store::criterion_texts(row)).collect();
    let words =
        |id: &str| texts.iter().find(|(known, _)| **known == *id).map_or(id, |(_, text)| text).to_owned();
    let with = |word: &str| -> Vec<String> {
        checks.iter().filter(|check| check.outcome == word).map(|check| words(&check.id)).collect()
    };
    let reasons: Vec<&str> =
        checks.iter().map(|check| check.reason.as_str()).filter(|reason| !reason.is_empty()).collect();
    json!({
        "type": member.type_name,
        "weight": member.standing.weight.get(),
        "score": score.score,
        "verdict": score.verdict.map(Verdict::name),
        "hits": with("met"),
        "misses": with("unmet"),
        "reasoning": reasons.join(" "),
    })
}
