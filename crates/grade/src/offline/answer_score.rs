//! One score for a whole answer, without a model: all or nothing, if its words show that it has its expected outcome.

use assize_rubric::{Criterion, Decision, EvidenceQuote, GraderFinding, Outcome, UnitInterval};

use super::OfflineJudge;
use super::decide::decide;
use super::search::AnswerCorpus;
use crate::{AnswerScoreTask, Judge as _};

impl OfflineJudge {
    /// The author's own instructions can't be followed without understanding them, so with them the result is
    /// ungraded.
    pub(super) fn decide_whole(self, task: &AnswerScoreTask) -> Decision {
        let judge = self.identity();
        let refuse = |message: &str| self.refuse_question(message);
        if task.instructions.is_some() {
            return refuse("the offline judge can't follow a prompt; name a model as judge");
        }

        let material = &task.material;
        let Some(outcome) = material.expected_outcome.as_ref().or(material.reference.as_ref()) else {
            return refuse("the offline judge needs an expected outcome or a reference to compare with");
        };
        let criterion = Criterion::checklist("whole", outcome);
        let decision = decide(&criterion, &AnswerCorpus::parse(material.produced_texts()));
        let score = match decision.outcome {
            Outcome::Met => UnitInterval::ONE,
            Outcome::Unmet => UnitInterval::ZERO,
            _ => return refuse(decision.ungraded.unwrap_or_default()),
        };
        let finding = GraderFinding::new(Some(score), Vec::new());

        Decision {
            evidence: decision
                .quote
                .into_iter()
                .map(|quote| EvidenceQuote { quote, verified: true })
                .collect(),
            ..Decision::new(judge, finding, decision.reason)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{JudgeMaterial, SamplingOptions};

    #[test]
    fn an_expected_outcome_is_found_in_full_and_prompts_are_refused() {
        let material = JudgeMaterial {
            answer: "The parcel is held up by a strike at the carrier.".into(),
            expected_outcome: Some("Names the strike at the carrier".into()),
            ..JudgeMaterial::default()
        };
        let mut task = AnswerScoreTask {
            material: Arc::new(material),
            instructions: None,
            variables: Vec::new(),
            range: None,
            trial: 1,
            sampling: SamplingOptions::default(),
        };
        let judged = OfflineJudge.decide_whole(&task);
        assert_eq!(judged.grader().and_then(GraderFinding::score), Some(UnitInterval::ONE), "{judged:?}");
        task.instructions = Some("Be kind".into());
        assert!(OfflineJudge.decide_whole(&task).ungraded.is_some());
    }
}
