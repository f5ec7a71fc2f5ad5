//! Asking a model which of two answers is better.

use assize_llm::ChatRequest;
use assize_rubric::{Evidence, UngradedKind};

use super::ModelJudge;
use super::put::Put;
use super::window;
use crate::evidence::EvidenceIndex;
use crate::prompt::{PAIR_PROMPT_VERSION, pair_hash, pair_messages, pair_schema};
use crate::reply::read_pair;
use crate::task::draw;
use crate::{PairJudgement, PairTask};

impl ModelJudge {
    /// The request for a decision, after a reply that was not usable with what was wrong with it.
    pub(super) fn pair_request(&self, task: &PairTask, repair: Option<String>) -> ChatRequest {
        let mut request = ChatRequest::new(pair_messages(task, &*self.fences, repair));
        request.schema = Some(pair_schema());
        request.temperature = task.temperature.or(self.options.temperature);
        request.seed = self.seed(task.asking);
        request.expected_output = Some(window::long_reply(1));
        request
    }

    pub(super) async fn judge_pair(&self, task: &PairTask) -> PairJudgement {
        let request = |repair| self.pair_request(task, repair);
        let put = self.put(self.ask.card(), draw(task.repeat, task.asking), request, read_pair).await;
        let Put { read, tally, model } = put;
        let mut identity = self.identity.clone();
        identity.version = Some(PAIR_PROMPT_VERSION.to_owned());
        identity.prompt_hash = Some(pair_hash(&task.criteria));
        identity.model = model;
        let base = PairJudgement {
            attempts: tally.attempts,
            cached_calls: tally.cached,
            tokens: tally.tokens,
            latency_ms: tally.latency_ms,
            cost: tally.cost,
            replies: tally.replies,
            ..PairJudgement::ungraded(identity, UngradedKind::NotJudged, "")
        };
        match read {
            Ok(reply) => {
                let index = EvidenceIndex::of([task.first.as_str(), task.second.as_str()].into_iter());
                let verified = |quote: String| Evidence { verified: index.contains(&quote), quote };
                PairJudgement {
                    preference: Some(reply.preference),
                    reason: reply.reason,
                    evidence: reply.evidence.into_iter().map(verified).collect(),
                    ungraded: None,
                    ..base
                }
            }
            Err(failure) => {
                let PairJudgement { reason, ungraded, .. } =
                    PairJudgement::ungraded(base.judge.clone(), failure.kind, failure.message);
                PairJudgement { reason, ungraded, ..base }
            }
        }
    }
}
