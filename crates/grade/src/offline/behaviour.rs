//! Judges a behaviour without a model: compares the output with the ground truth, word by word.

use assize_model::ScoringScale;
use assize_rubric::{
    BenchmarkFinding, Criterion, CriterionOperator, Decision, EvidenceQuote, JudgeConfidence, Outcome,
};
use serde_json::Value;

use super::OfflineJudge;
use super::decide::{CoverageDecision, decide, decide_read, is_readable_fact};
use super::search::AnswerCorpus;
use crate::{BehaviourTask, Judge as _};

/// Most facts that are compared; a longer ground truth is a document, not a list of facts.
const MAX_FACTS: usize = 200;
/// Longest reason, in characters.
const MAX_REASON: usize = 200;

impl OfflineJudge {
    /// Each fact of the ground truth must be covered by the output. If the output covers a fact and also seems
    /// to contradict it, words can't settle it, and the result is uncertain. Without a ground truth, the pass
    /// conditions of the prompt are searched for. The prompt itself, and whether a benchmark applies, would
    /// need understanding.
    pub(super) fn decide_behaviour(self, task: &BehaviourTask) -> Decision {
        let refuse = |message: &str| self.refuse_question(message);
        let behaviour = &task.behaviour;
        if behaviour.applicability.is_some() {
            return refuse(
                "the offline judge can't tell whether a benchmark applies; give the benchmark tags or the case a \
                 list, or name a model as judge",
            );
        }

        let truths = task.ground_truth.as_deref().map(collect_facts).unwrap_or_default();
        let compares = !truths.is_empty();
        let facts = if compares { truths } else { behaviour.pass_conditions.clone() };
        if facts.is_empty() {
            return refuse("the offline judge needs a ground truth or pass conditions to compare with");
        }

        let library = AnswerCorpus::parse(std::iter::once(task.candidate_output.as_str()));
        let (mut met, mut missed, mut doubted, mut open) = (0u32, None, None, None);
        let mut quotes = Vec::new();
        for fact in facts.iter().take(MAX_FACTS) {
            let covered = if compares && is_readable_fact(fact, &library) {
                decide_read(&Criterion::checklist("fact", format!("States that {fact}")), &library)
            } else {
                decide(&Criterion::checklist("fact", fact), &library)
            };
            quotes.extend(covered.quote.clone());

            let contradicts = compares.then(|| find_contradiction(fact, &library)).flatten();
            match contradicts {
                Some(decision) => drop(doubted.get_or_insert(decision)),
                None if covered.outcome == Outcome::Met => met += 1,
                None if covered.outcome == Outcome::Unmet => drop(missed.get_or_insert(covered)),
                None => drop(open.get_or_insert(covered)),
            }
        }
        // One missing fact decides it; one fact that words can't decide leaves it ungraded.
        if let (Some(open), None) = (&open, &missed) {
            return refuse(open.ungraded.unwrap_or_default());
        }

        let total = facts.len().min(MAX_FACTS) as f64;
        let uncertain = missed.is_none() && doubted.is_some();
        let pass = missed.is_none() && doubted.is_none();
        let score = behaviour
            .scale
            .as_ref()
            .map(|scale| scale.min + (scale.max - scale.min) * f64::from(met) / total);
        let reason = match (&missed, &doubted) {
            (Some(decision), _) => decision.reason.clone(),
            (None, Some(decision)) => format!("Says it, and yet: {}", decision.reason),
            (None, None) => format!("Says {met} of {total} facts."),
        };

        if pass && quotes.is_empty() && behaviour.needs_quote() {
            return refuse("the evidence requirements ask for a quote, and the offline judge found none");
        }

        quotes.truncate(3);
        let scale = behaviour.scale.as_ref().map(ScoringScale::benchmark_scale);
        let finding = BenchmarkFinding::from_judge(pass, score, uncertain, scale);
        let reason: String = reason.chars().take(MAX_REASON).collect();

        Decision {
            confidence: Some(JudgeConfidence::Low),
            // A quote is a slice of the output and needs no verification.
            evidence: quotes.into_iter().map(|quote| EvidenceQuote { quote, verified: true }).collect(),
            ..Decision::new(self.identity(), finding, reason)
        }
    }
}

/// Finds a passage of the output that contradicts the fact.
fn find_contradiction(fact: &str, library: &AnswerCorpus<'_>) -> Option<CoverageDecision> {
    let mut criterion = Criterion::checklist("fact", fact);
    criterion.operator = CriterionOperator::Contradiction;
    let decision = decide_read(&criterion, library);
    (decision.outcome == Outcome::Unmet).then_some(decision)
}

/// The facts of a ground truth: the texts of a JSON value, and numbers with their names; otherwise the whole
/// text as one fact.
fn collect_facts(truth: &str) -> Vec<String> {
    let mut found = Vec::new();
    match serde_json::from_str::<Value>(truth) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => collect_facts_into(&value, "", &mut found),
        _ if truth.trim().is_empty() => {}
        _ => found.push(truth.trim().to_owned()),
    }

    found
}

fn collect_facts_into(value: &Value, name: &str, found: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.trim().is_empty() => found.push(text.trim().to_owned()),
        Value::Number(number) => found.push(format!("{} {number}", name.replace('_', " ")).trim().to_owned()),
        Value::Array(items) => items.iter().for_each(|item| collect_facts_into(item, name, found)),
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| collect_facts_into(value, name, found));
        }
        Value::String(_) | Value::Bool(_) | Value::Null => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use assize_model::{Applicability, Behaviour};
    use assize_rubric::UnitInterval;

    use super::*;

    fn judged(truth: Option<&str>, output: &str) -> Decision {
        let behaviour = Behaviour {
            prompt: "p".into(),
            guidelines: Vec::new(),
            applicability: None,
            scale: None,
            pass_conditions: vec!["The record names the witness".into()],
            failure_limit: UnitInterval::ONE,
        };
        OfflineJudge.decide_behaviour(&BehaviourTask {
            behaviour: Arc::new(behaviour),
            ground_truth: truth.map(str::to_owned),
            source_narrative: None,
            candidate_output: output.to_owned(),
            trial: 1,
            sampling: crate::SamplingOptions::default(),
        })
    }

    fn decision(truth: Option<&str>, output: &str) -> (bool, bool) {
        let decision = judged(truth, output);
        let found = decision.benchmark().expect("a benchmark");
        (found.pass.expect("decided"), found.is_uncertain())
    }

    #[test]
    fn facts_must_be_said_and_not_be_contradicted() {
        let truth = r#"{"risk": "a hidden bleed could be fatal", "refused": true}"#;
        assert_eq!(decision(Some(truth), "Risk explained: hidden bleed could be fatal."), (true, false));
        assert_eq!(decision(Some(truth), "The patient signed."), (false, false));
        // Nearly every word of the fact is there, but one word or number reverses it.
        for (fact, word, other) in [
            ("The patient could walk after the fall and the foot was warm", "could", "could not"),
            ("The foot was warm. Pulse 88. Pressure 120 over 80.", "88", "98"),
        ] {
            let turned = fact.replace(word, other);
            assert_eq!(decision(Some(fact), &turned), (false, true), "{turned}");
            assert_eq!(decision(Some(fact), fact), (true, false), "{fact}");
        }
    }

    #[test]
    fn without_a_truth_the_conditions_are_looked_for() {
        assert_eq!(decision(None, "Signed; the daughter was named as witness."), (true, false));
        assert_eq!(decision(None, "Signed."), (false, false));
    }

    #[test]
    fn whether_it_applies_is_no_matter_of_words() {
        let behaviour = Behaviour {
            prompt: "p".into(),
            guidelines: Vec::new(),
            applicability: Some(Applicability { inclusion: "i".into(), exclusion: None }),
            scale: None,
            pass_conditions: vec!["x".into()],
            failure_limit: UnitInterval::ONE,
        };
        let task = BehaviourTask {
            behaviour: Arc::new(behaviour),
            ground_truth: Some("x".into()),
            source_narrative: None,
            candidate_output: "x".into(),
            trial: 1,
            sampling: crate::SamplingOptions::default(),
        };
        let judged = OfflineJudge.decide_behaviour(&task);
        assert!(judged.ungraded.is_some());
    }
}
