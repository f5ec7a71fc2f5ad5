//! Asking a model for one score of a whole answer, with the repairs and failures of any judgement.

use assize_llm::ChatRequest;
use assize_rubric::Evidence;

use super::ModelJudge;
use super::window;
use crate::evidence::EvidenceIndex;
use crate::prompt::{WHOLE_PROMPT_VERSION, whole_hash, whole_messages, whole_schema};
use crate::reply::read_whole;
use crate::task::draw;
use crate::{Judged, WholeJudgement, WholeScore, WholeTask};

impl ModelJudge {
    /// The request for a score, after a reply that was not usable with what was wrong with it.
    pub(super) fn whole_request(&self, task: &WholeTask, repair: Option<String>) -> ChatRequest {
        let mut request = ChatRequest::new(whole_messages(task, &*self.fences, repair));
        request.schema = Some(whole_schema());
        request.temperature = task.temperature.or(self.options.temperature);
        request.seed = self.seed(task.asking);
        request.expected_output = Some(window::long_reply(1));
        request
    }

    pub(super) async fn judge_whole(&self, task: &WholeTask) -> WholeJudgement {
        let mut identity = self.identity.clone();
        identity.version = Some(WHOLE_PROMPT_VERSION.into());
        identity.prompt_hash = Some(whole_hash(task.instructions.as_deref()).into());
        let request = |repair| self.whole_request(task, repair);
        let put = self.put(self.ask.card(), draw(task.repeat, task.asking), request, read_whole).await;
        put.judged(identity, |whole, judge| {
            let index = EvidenceIndex::new(&task.material);
            let verified = |quote: String| Evidence { verified: index.contains(&quote), quote };
            let score = WholeScore { score: whole.score, findings: whole.findings };
            Judged {
                evidence: whole.evidence.into_iter().map(verified).collect(),
                ..Judged::decided(judge, score, whole.reason)
            }
        })
    }
}
