//! Asking a model about one behaviour, with the repairs and failures of any judgement.

use assize_llm::ChatRequest;
use assize_rubric::{Evidence, Truncate, UngradedKind};

use super::ModelJudge;
use super::answer::{Failure, usable};
use super::tally::Tally;
use super::window;
use crate::evidence::EvidenceIndex;
use crate::prompt::{
    BEHAVIOUR_PROMPT_VERSION, behaviour_hash, behaviour_messages, behaviour_schema, repair_part,
};
use crate::reply::{BehaviourReply, read_behaviour};
use crate::task::draw;
use crate::{BehaviourJudgement, BehaviourTask};

impl ModelJudge {
    /// The request for a decision, after a reply that was not usable with what was wrong with it.
    pub(super) fn behaviour_request(&self, task: &BehaviourTask, repair: Option<String>) -> ChatRequest {
        let mut request = ChatRequest::new(behaviour_messages(task, &*self.fences, repair));
        request.schema = Some(behaviour_schema(&task.behaviour));
        request.temperature = task.temperature.or(self.options.temperature);
        request.seed = self.seed(task.asking);
        request.max_output_tokens = self.options.max_output_tokens;
        request
    }

    pub(super) async fn judge_behaviour(&self, task: &BehaviourTask) -> BehaviourJudgement {
        let mut identity = self.identity.clone();
        identity.version = Some(BEHAVIOUR_PROMPT_VERSION.to_owned());
        identity.prompt_hash = Some(behaviour_hash(&task.behaviour));
        let mut tally = Tally::new(self.ask.card());
        let mut repair = None;
        let mut last = Failure::new(UngradedKind::NotJudged, "the judge was not asked about it");
        let mut decided: Option<BehaviourReply> = None;
        for round in 0..=self.options.repairs {
            let answered = {
                let Ok(_permit) = self.in_flight.acquire().await else {
                    last = Failure::new(UngradedKind::Cancelled, "the run ended before the judge was asked");
                    break;
                };
                let request = self.behaviour_request(task, repair.take());
                if let Err(failure) = window::check(self.ask.card(), Truncate::Never, &request, 1) {
                    last = failure;
                    break;
                }
                self.ask.ask_repeat(&request, draw(task.repeat, task.asking)).await
            };
            let mut answered = match answered {
                Ok(answered) => answered,
                Err(error) => {
                    tally.error(&error);
                    let failure = Failure::of_error(&error);
                    let before =
                        if round > 0 { format!("; before that: {}", last.message) } else { String::new() };
                    last = Failure::new(failure.kind, format!("{}{before}", failure.message));
                    break;
                }
            };
            tally.reply(&answered);
            identity.model.clone_from(&answered.reply.model);
            let read = usable(&answered.reply).and_then(|text| {
                read_behaviour(text, &task.behaviour)
                    .map_err(|message| Failure::new(UngradedKind::Malformed, message))
            });
            match read {
                Ok(reply) => {
                    answered.keep();
                    decided = Some(reply);
                    break;
                }
                Err(failure) => {
                    let hopeless = failure.kind == UngradedKind::Refusal;
                    repair = Some(repair_part(&*self.fences, &failure.message, &answered.reply.text));
                    last = failure;
                    if hopeless {
                        break;
                    }
                }
            }
        }
        let base = BehaviourJudgement {
            attempts: tally.attempts,
            cached_calls: tally.cached,
            tokens: tally.tokens,
            latency_ms: tally.latency_ms,
            cost: tally.cost,
            replies: tally.replies,
            ..BehaviourJudgement::ungraded(identity, last.kind, last.message)
        };
        let Some(reply) = decided else { return base };
        let index = EvidenceIndex::of(task.inputs().map(|(_, text)| text));
        let verified = |quote: String| Evidence { verified: index.contains(&quote), quote };
        BehaviourJudgement {
            decision: Some(reply.decision),
            reason: reply.reason,
            confidence: reply.confidence,
            evidence: reply.evidence.into_iter().map(verified).collect(),
            ungraded: None,
            ..base
        }
    }
}
