//! Asking a model about one behaviour, with the repairs and failures of any judgement.

use assize_llm::ChatRequest;
use assize_rubric::Evidence;

use super::ModelJudge;
use super::window;
use crate::evidence::EvidenceIndex;
use crate::prompt::{BEHAVIOUR_PROMPT_VERSION, behaviour_hash, behaviour_messages, behaviour_schema};
use crate::reply::read_behaviour;
use crate::task::draw;
use crate::{BehaviourJudgement, BehaviourTask, Judged};

impl ModelJudge {
    /// The request for a decision, after a reply that was not usable with what was wrong with it.
    pub(super) fn behaviour_request(&self, task: &BehaviourTask, repair: Option<String>) -> ChatRequest {
        let mut request = ChatRequest::new(behaviour_messages(task, &*self.fences, repair));
        request.schema = Some(behaviour_schema(&task.behaviour));
        request.temperature = task.temperature.or(self.options.temperature);
        request.seed = self.seed(task.asking);
        request.expected_output = Some(window::long_reply(1));
        request
    }

    pub(super) async fn judge_behaviour(&self, task: &BehaviourTask) -> BehaviourJudgement {
        let mut identity = self.identity.clone();
        identity.version = Some(BEHAVIOUR_PROMPT_VERSION.into());
        identity.prompt_hash = Some(behaviour_hash(&task.behaviour).into());
        let request = |repair| self.behaviour_request(task, repair);
        let read = |text: &str| read_behaviour(text, &task.behaviour);
        let put = self.put(self.ask.card(), draw(task.repeat, task.asking), request, read).await;
        put.judged(identity, |reply, judge| {
            let index = EvidenceIndex::of(task.inputs().map(|(_, text)| text));
            let verified = |quote: String| Evidence { verified: index.contains(&quote), quote };
            Judged {
                confidence: reply.confidence,
                evidence: reply.evidence.into_iter().map(verified).collect(),
                ..Judged::decided(judge, reply.decision, reply.reason)
            }
        })
    }
}
