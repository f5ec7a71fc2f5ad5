//! Asking a model for one score of a whole answer, with the repairs and failures of any judgement.

use assize_llm::ChatRequest;
use assize_rubric::{Evidence, Truncate, UngradedKind};

use super::ModelJudge;
use super::answer::{Failure, usable};
use super::tally::Tally;
use super::window;
use crate::evidence::EvidenceIndex;
use crate::prompt::{WHOLE_PROMPT_VERSION, repair_part, whole_hash, whole_messages, whole_schema};
use crate::reply::{Whole, read_whole};
use crate::{WholeJudgement, WholeTask};

impl ModelJudge {
    /// The request for a score, after a reply that was not usable with what was wrong with it.
    pub(super) fn whole_request(&self, task: &WholeTask, repair: Option<String>) -> ChatRequest {
        let mut request = ChatRequest::new(whole_messages(task, &*self.fences, repair));
        request.schema = Some(whole_schema());
        request.temperature = task.temperature.or(self.options.temperature);
        request.seed = self.options.seed;
        request.max_output_tokens = self.options.max_output_tokens;
        request
    }

    pub(super) async fn judge_whole(&self, task: &WholeTask) -> WholeJudgement {
        let mut identity = self.identity.clone();
        identity.version = Some(WHOLE_PROMPT_VERSION.to_owned());
        identity.prompt_hash = Some(whole_hash(task.instructions.as_deref()));
        let mut tally = Tally::new(self.ask.card());
        let mut repair = None;
        let mut last = Failure::new(UngradedKind::NotJudged, "the judge was not asked about it");
        let mut decided: Option<Whole> = None;
        for round in 0..=self.options.repairs {
            let answered = {
                let Ok(_permit) = self.in_flight.acquire().await else {
                    last = Failure::new(UngradedKind::Cancelled, "the run ended before the judge was asked");
                    break;
                };
                let request = self.whole_request(task, repair.take());
                if let Err(failure) = window::check(self.ask.card(), Truncate::Never, &request, 1) {
                    last = failure;
                    break;
                }
                self.ask.ask_repeat(&request, task.repeat).await
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
            let reply = &answered.reply;
            identity.model.clone_from(&reply.model);
            let read = usable(reply).and_then(|text| {
                read_whole(text).map_err(|message| Failure::new(UngradedKind::Malformed, message))
            });
            match read {
                Ok(whole) => {
                    answered.keep();
                    decided = Some(whole);
                    break;
                }
                Err(failure) => {
                    let hopeless = failure.kind == UngradedKind::Refusal;
                    repair = Some(repair_part(&*self.fences, &failure.message, &reply.text));
                    last = failure;
                    if hopeless {
                        break;
                    }
                }
            }
        }
        let base = WholeJudgement {
            attempts: tally.attempts,
            cached_calls: tally.cached,
            tokens: tally.tokens,
            latency_ms: tally.latency_ms,
            cost: tally.cost,
            replies: tally.replies,
            ..WholeJudgement::ungraded(identity, last.kind, last.message)
        };
        let Some(whole) = decided else { return base };
        let index = EvidenceIndex::new(&task.material);
        let verified = |quote: String| Evidence { verified: index.contains(&quote), quote };
        WholeJudgement {
            score: Some(whole.score),
            reason: whole.reason,
            findings: whole.findings,
            evidence: whole.evidence.into_iter().map(verified).collect(),
            ungraded: None,
            ..base
        }
    }
}
