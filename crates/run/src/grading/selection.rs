//! Graders that choose among all answers to a test.

use std::sync::Arc;

use assize_model::{
    AnswerSelection, BestAnswerRule, Grader, GraderKind, MaxScoreRule, PairwiseBaseline, PairwiseGrader,
};
use assize_rubric::{
    CaseDecision, Criterion, Decision, GraderFinding, GraderFindingKind, GraderNote, JudgeIdentity,
    JudgingUsage, OutcomeKind, PairOutcome, PairScores, UngradedKind, UngradedReason, UnitInterval, Verdict,
};
use assize_store::{CaseErrorKind, CaseRecord, GraderRow};
use assize_targets::TargetAnswer;
use futures_util::future::join_all;

use super::path::GraderPath;
use super::{GradingContext, pairwise};
use crate::WorkItem;
use crate::rivals::RivalGroup;

/// Replaces the question if the prompts of a test differ.
const SEVERAL_PROMPTS: &str = "(The two answers were given to differently worded prompts for the same task.)";
/// Sums of scores that differ by no more than this are equal.
const SCORE_TOLERANCE: f64 = 1e-9;

/// An answer to a test, graded by all other graders.
pub(crate) struct GradedRival<'a> {
    pub(crate) item: &'a WorkItem,
    /// The answer, if there is one.
    pub(crate) answer: Option<&'a TargetAnswer>,
    pub(crate) record: &'a CaseRecord,
}

/// The decision of a grader that had no other answers to compare.
pub(super) fn not_compared(path: &GraderPath<'_>) -> CaseDecision {
    let message =
        "its answer was not compared with the others: answers are compared where eval files are run";
    path.place(unanswered(path.grader, UngradedKind::NotJudged, message.to_owned()))
}

/// A grader's decisions on all answers of a group, in the order of `rivals`.
pub(crate) async fn select(
    rivals: &[GradedRival<'_>],
    group: &RivalGroup,
    grader: &Grader,
    selection: &AnswerSelection,
) -> Vec<Decision> {
    if let Some(reason) = obstacle(rivals, group) {
        return ungraded(grader, rivals.len(), reason);
    }

    match selection {
        AnswerSelection::Best(rule) => select_best(rivals, group, grader, rule).await,
        AnswerSelection::MaxScore(rule) => select_max_score(rivals, group, grader, rule),
    }
}

/// Why the answers can't be compared.
fn obstacle(rivals: &[GradedRival<'_>], group: &RivalGroup) -> Option<UngradedReason> {
    let reason = |message| UngradedReason { kind: UngradedKind::NotJudged, message };
    if let Some(message) = group.obstacle() {
        return Some(reason(message));
    }

    for at in 0..group.members.len() {
        let rival = rivals.iter().find(|rival| group.place_of(rival.item) == Some(at));
        let Some(rival) = rival else {
            return Some(reason(format!("the answer of {} is missing: it was not run", group.label(at))));
        };
        if rival.answer.is_none() {
            let error = rival.record.result.error.as_ref();
            let was_given_up = error.is_some_and(|error| error.kind == CaseErrorKind::Cancelled);
            let kind = if was_given_up { UngradedKind::Cancelled } else { UngradedKind::NotJudged };
            let why = error.map_or("it is not a single answer", |error| error.message.as_str());
            return Some(UngradedReason {
                kind,
                message: format!("the answer of {} is missing: {why}", group.label(at)),
            });
        }
    }

    None
}

/// Compares every pair of answers in both orders.
async fn select_best(
    rivals: &[GradedRival<'_>],
    group: &RivalGroup,
    grader: &Grader,
    rule: &BestAnswerRule,
) -> Vec<Decision> {
    let question = shared_question(rivals);
    let pairs: Vec<(usize, usize)> = (0..rivals.len())
        .flat_map(|first| (first + 1..rivals.len()).map(move |second| (first, second)))
        .collect();
    let compared = join_all(pairs.iter().map(|&(first, second)| {
        compare(&rivals[first], &rivals[second], group, grader, rule, question.as_deref())
    }));
    let results: Vec<PairResult> = compared.await;

    if let Some(failure) = results.iter().find_map(|result| result.score.as_ref().err()) {
        let mut decisions = ungraded(grader, rivals.len(), failure.clone());
        // What was spent before the failure counts.
        for (&(first, _), result) in pairs.iter().zip(results) {
            let spent = std::mem::take(&mut decisions[first].spent);
            decisions[first].spent = spent.combined_with(result.spent);
        }
        return decisions;
    }

    let mut points = vec![0.0; rivals.len()];
    for (&(first, second), result) in pairs.iter().zip(&results) {
        let score = result.score.as_ref().copied().unwrap_or_default();
        points[first] += score;
        points[second] += 1.0 - score;
    }

    let judge = results.first().map(|result| result.judge.clone()).unwrap_or_default();
    let labels: Vec<String> = rivals.iter().map(|rival| label(rival, group)).collect();
    let others = rivals.len() - 1;
    let mut decisions = decisions_of(&points, None, &labels, &judge, |points| {
        format!("{} of {others} point{}", short(points), if others == 1 { "" } else { "s" })
    });
    for ((first, second), result) in pairs.into_iter().zip(results) {
        for (own, other, is_first) in [(first, second, true), (second, first, false)] {
            let note = result.note(&labels[other], is_first);
            if let Some(finding) = decisions[own].grader_mut() {
                finding.notes.push(note);
            }
        }
        // The cost of each comparison counts once.
        let spent = std::mem::take(&mut decisions[first].spent);
        decisions[first].spent = spent.combined_with(result.spent);
    }

    decisions
}

/// The result of comparing two answers.
struct PairResult {
    /// The first answer's share of the point that both compete for: 1 for a win.
    score: Result<f64, UngradedReason>,
    outcome: Option<PairOutcome>,
    reason: String,
    judge: JudgeIdentity,
    spent: JudgingUsage,
}

impl PairResult {
    /// Note for one answer about the other.
    fn note(&self, other: &str, is_first: bool) -> GraderNote {
        let word = match (self.outcome, is_first) {
            (Some(PairOutcome::Win), true) | (Some(PairOutcome::Loss), false) => "better in both orders",
            (Some(PairOutcome::Loss), true) | (Some(PairOutcome::Win), false) => "worse in both orders",
            (Some(PairOutcome::Tie), _) => "neither is better",
            (Some(PairOutcome::Inconsistent), _) => "the two orders disagree",
            (None, _) => "decided by several judges",
        };
        GraderNote::remark(format!("against {other}: {word}"), self.reason.clone())
    }
}

async fn compare(
    first: &GradedRival<'_>,
    second: &GradedRival<'_>,
    group: &RivalGroup,
    grader: &Grader,
    rule: &BestAnswerRule,
    question: Option<&str>,
) -> PairResult {
    let (answer, other) =
        (first.answer.cloned().unwrap_or_default(), second.answer.cloned().unwrap_or_default());
    let mut context = GradingContext::new(first.item, &answer);
    if let Some(question) = question {
        question.clone_into(&mut Arc::make_mut(&mut context.material).question);
    }
    let path = GraderPath::new(&context, grader);
    let decided = pairwise::grade(&path, &pair_grader(rule, other.text.as_str())).await;

    let spent = decided
        .iter()
        .map(|row| row.decision.spent.clone())
        .fold(JudgingUsage::default(), JudgingUsage::combined_with);
    let Some(CaseDecision { decision, .. }) = decided.into_iter().find(|row| !row.is_vote()) else {
        let message = "no judge decided".to_owned();
        let failed = UngradedReason { kind: UngradedKind::NotJudged, message };
        return PairResult {
            score: Err(failed),
            outcome: None,
            reason: String::new(),
            judge: JudgeIdentity::default(),
            spent,
        };
    };

    let finding = decision.grader();
    let score = match (finding.and_then(GraderFinding::score), &decision.ungraded) {
        (Some(score), None) => Ok(score.get()),
        (_, Some(reason)) => Err(reason.clone()),
        (None, None) => {
            let message = finding.and_then(GraderFinding::error).unwrap_or("the judges gave no result");
            Err(UngradedReason { kind: UngradedKind::NotJudged, message: message.to_owned() })
        }
    };
    let comparison = finding.and_then(GraderFinding::comparison);
    let outcome = comparison.and_then(|comparison| comparison.outcome);
    // The judge's reason for the order with the first answer first; that of a panel is combined.
    let name = label(first, group);
    let reason = match comparison {
        Some(comparison) => {
            format!("with the answer of {name} as answer 1: {}", comparison.candidate_first.reason.trim())
        }
        None => format!("of {name}: {}", decision.reason),
    };

    PairResult { score, outcome, reason, judge: decision.judge, spent }
}

/// The comparison of an answer with another one, as a separate grader.
pub(crate) fn pair_grader(rule: &BestAnswerRule, other: &str) -> PairwiseGrader {
    PairwiseGrader {
        baseline: PairwiseBaseline::Text(other.into()),
        criteria: Criterion::checklists(rule.criteria.iter().cloned()),
        judge: rule.judge.clone(),
        panel: rule.panel.clone(),
        scores: PairScores::default(),
    }
}

/// The question to show instead of that of each answer, if they differ.
fn shared_question(rivals: &[GradedRival<'_>]) -> Option<String> {
    let first = rivals.first()?.item.case.question();
    let differs = rivals.iter().any(|rival| rival.item.case.question() != first);
    differs.then(|| SEVERAL_PROMPTS.to_owned())
}

/// Compares the scores of the other graders.
fn select_max_score(
    rivals: &[GradedRival<'_>],
    group: &RivalGroup,
    grader: &Grader,
    rule: &MaxScoreRule,
) -> Vec<Decision> {
    let mut scores = Vec::with_capacity(rivals.len());
    for rival in rivals {
        match combined_score(rival, rule) {
            Ok(score) => scores.push(score),
            Err(open) => {
                let message = format!(
                    "the score of {} is not known: grader `{}` is ungraded",
                    label(rival, group),
                    open.name
                );
                let kind = ungraded_kind(rival.record, &open.name);
                return ungraded(grader, rivals.len(), UngradedReason { kind, message });
            }
        }
    }

    let judge = JudgeIdentity { name: grader.type_name.as_str().into(), ..JudgeIdentity::default() };
    let labels: Vec<String> = rivals.iter().map(|rival| label(rival, group)).collect();
    decisions_of(&scores, rule.threshold, &labels, &judge, |score| format!("a score of {}", short(score)))
}

/// The scores of a case's other graders, combined. The error is a grader whose score is unknown.
fn combined_score<'r>(rival: &'r GradedRival<'_>, rule: &MaxScoreRule) -> Result<f64, &'r GraderRow> {
    let selects = |name: &str| {
        let mut graders = rival.item.case.graders.iter();
        graders.any(|grader| grader.name == name && matches!(grader.kind, GraderKind::Selection(_)))
    };
    let (mut sum, mut total) = (0.0, 0.0);
    for row in rival.record.result.graders.iter().filter(|row| !selects(&row.name)) {
        let is_open = row.error.is_some()
            || row.verdict == Some(Verdict::Incomplete)
            || row.criteria.iter().any(|criterion| criterion.outcome == OutcomeKind::Ungraded);
        if is_open {
            return Err(row);
        }
        // A grader that does not apply has no score.
        let Some(score) = row.score else { continue };
        let weight = rule.weights.get(&row.name).copied().unwrap_or(1.0);
        sum += weight * score;
        total += weight;
    }

    Ok(if rule.sums {
        sum
    } else if total > 0.0 {
        sum / total
    } else {
        0.0
    })
}

/// The kind of a grader's failure. A run that ends early must not store results that depend on a cancelled grader.
fn ungraded_kind(record: &CaseRecord, grader: &str) -> UngradedKind {
    let of_grader = record.decisions.iter().filter(|row| &*row.grader == grader);
    let mut kinds = of_grader.filter_map(|row| row.decision.ungraded.as_ref().map(|reason| reason.kind));
    kinds.find(|kind| *kind == UngradedKind::Cancelled).unwrap_or(UngradedKind::NotJudged)
}

/// The decisions on all answers, from their points. Answers that tie for the first rank share the score.
fn decisions_of(
    points: &[f64],
    threshold: Option<f64>,
    labels: &[String],
    judge: &JudgeIdentity,
    describe: impl Fn(f64) -> String,
) -> Vec<Decision> {
    let most = points.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_first = |own: f64| own >= most - SCORE_TOLERANCE;
    let reaches = threshold.is_none_or(|threshold| most >= threshold - SCORE_TOLERANCE);
    let first: Vec<usize> = (0..points.len()).filter(|&at| is_first(points[at])).collect();

    let decide = |at: usize| {
        let (own, passed) = (describe(points[at]), is_first(points[at]) && reaches);
        let score = if passed { 1.0 / first.len() as f64 } else { 0.0 };
        let others: Vec<&str> =
            first.iter().filter(|&&other| other != at).map(|&other| labels[other].as_str()).collect();
        let reason = if passed && others.is_empty() {
            format!("selected: {own}, more than any other of {} answers", points.len())
        } else if passed {
            format!("shares the first place with {}: {own} each", others.join(", "))
        } else if !reaches && is_first(points[at]) {
            format!("not selected: {own}, below the threshold of {}", short(threshold.unwrap_or_default()))
        } else {
            format!("not selected: {own}; {} has {}", others.join(", "), describe(most))
        };
        let mut finding = GraderFinding::new(UnitInterval::new(score).ok(), Vec::new());
        finding.kind = GraderFindingKind::Checked { passed };
        Decision::new(judge.clone(), finding, reason)
    };
    (0..points.len()).map(decide).collect()
}

/// The same failure for all answers: if one can't be compared, no answer can be chosen.
fn ungraded(grader: &Grader, count: usize, reason: UngradedReason) -> Vec<Decision> {
    (0..count).map(|_| unanswered(grader, reason.kind, reason.message.clone())).collect()
}

fn unanswered(grader: &Grader, kind: UngradedKind, message: String) -> Decision {
    let judge = JudgeIdentity { name: grader.type_name.as_str().into(), ..JudgeIdentity::default() };
    Decision::unanswered(judge, UngradedReason { kind, message })
}

fn label(rival: &GradedRival<'_>, group: &RivalGroup) -> String {
    group.label(group.place_of(rival.item).unwrap_or(usize::MAX))
}

/// A number with at most three decimals.
fn short(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(points: &[f64], threshold: Option<f64>) -> Vec<(f64, bool, String)> {
        let labels = ["`a`".to_owned(), "`b`".to_owned(), "`c`".to_owned()];
        let judge = JudgeIdentity::default();
        let decisions = decisions_of(points, threshold, &labels, &judge, short);
        let of = |decision: Decision| {
            let finding = decision.grader().expect("a finding of the whole grader");
            let score = finding.score().expect("a score").get();
            (score, finding.passed().expect("its own word"), decision.reason.clone())
        };
        decisions.into_iter().map(of).collect()
    }

    #[test]
    fn the_highest_points_pass_and_nothing_else() {
        assert_eq!(
            decided(&[0.5, 2.0, 0.5], None),
            [
                (0.0, false, "not selected: 0.5; `b` has 2".to_owned()),
                (1.0, true, "selected: 2, more than any other of 3 answers".to_owned()),
                (0.0, false, "not selected: 0.5; `b` has 2".to_owned()),
            ]
        );
    }

    #[test]
    fn a_shared_first_place_shares_the_score() {
        let tied = decided(&[0.1 + 0.2, 0.3, 0.0], None);
        assert_eq!((tied[0].0, tied[0].1), (0.5, true));
        assert_eq!(tied[1], (0.5, true, "shares the first place with `a`: 0.3 each".to_owned()));
        assert!(!tied[2].1);
    }

    #[test]
    fn below_the_threshold_no_answer_passes() {
        let all = decided(&[0.6, 0.4, 0.2], Some(0.7));
        assert!(all.iter().all(|(score, passed, _)| *score == 0.0 && !passed));
        assert_eq!(all[0].2, "not selected: 0.6, below the threshold of 0.7");
        assert!(decided(&[0.7, 0.1, 0.1], Some(0.7))[0].1);
    }
}
