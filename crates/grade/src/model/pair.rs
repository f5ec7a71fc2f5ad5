//! Asking a model which of two answers is better.

use assize_llm::ChatRequest;
use assize_rubric::Evidence;

use super::ModelJudge;
use super::window;
use crate::evidence::EvidenceIndex;
use crate::prompt::{PAIR_PROMPT_VERSION, pair_hash, pair_messages, pair_schema};
use crate::reply::read_pair;
use crate::task::draw;
use crate::{Judged, PairJudgement, PairTask};

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
        let mut identity = self.identity.clone();
        identity.version = Some(PAIR_PROMPT_VERSION.into());
        identity.prompt_hash = Some(pair_hash(&task.criteria).into());
        put.judged(identity, |reply, judge| {
            let index = EvidenceIndex::of([task.first.as_str(), task.second.as_str()].into_iter());
            let verified = |quote: String| Evidence { verified: index.contains(&quote), quote };
            Judged {
                evidence: reply.evidence.into_iter().map(verified).collect(),
                ..Judged::decided(judge, reply.preference, reply.reason)
            }
        })
    }
}
