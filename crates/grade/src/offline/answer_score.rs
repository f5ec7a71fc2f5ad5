//! One score for a whole answer, without a model: how well it covers its expected outcome.

use assize_rubric::{
    Criterion, CriterionScale, Decision, EvidenceQuote, GraderFinding, Outcome, RawScore, ScoreBand,
    ScoreBands, UnitInterval,
};

use super::{OfflineJudge, coverage_decisions};
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
        let Some(decision) =
            scored_criterion("whole", outcome).and_then(|it| coverage_decisions(material, &[it]).pop())
        else {
            return refuse("the expected outcome can't be judged by itself");
        };
        let score = match decision.outcome {
            Outcome::Scored(raw) => UnitInterval::new(raw.value()).ok(),
            _ => None,
        };
        let Some(score) = score else { return refuse(&decision.reason) };
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

/// A text as a criterion with scores from 0 to 10 by how much of it an answer covers.
pub(super) fn scored_criterion(id: &str, text: &str) -> Option<Criterion> {
    let band = |low: u8, high: u8, text: &str| {
        Some(ScoreBand {
            low: RawScore::new(low).ok()?,
            high: RawScore::new(high).ok()?,
            text: text.to_owned(),
        })
    };

    let bands = vec![band(0, 3, "does not do it")?, band(4, 6, "does it in part")?, band(7, 10, "does it")?];
    let mut criterion = Criterion::checklist(id, text);
    criterion.scale = CriterionScale::Bands(ScoreBands::new(bands).ok()?);
    criterion.gate = None;

    Some(criterion)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{JudgeMaterial, SamplingOptions};

    #[test]
    fn coverage_becomes_a_score_and_prompts_are_refused() {
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
        assert!(
            judged.grader().and_then(GraderFinding::score).is_some_and(|score| score.get() >= 0.5),
            "{judged:?}"
        );
        task.instructions = Some("Be kind".into());
        assert!(OfflineJudge.decide_whole(&task).ungraded.is_some());
    }
}
