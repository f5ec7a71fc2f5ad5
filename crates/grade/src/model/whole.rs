//! Asking a model for one score of a whole answer, with the repairs and failures of any judgement.

use assize_llm::ChatRequest;
use assize_rubric::{Evidence, UngradedKind};

use super::ModelJudge;
use super::answer::Failure;
use super::put::Put;
use super::window;
use crate::evidence::EvidenceIndex;
use crate::prompt::{WHOLE_PROMPT_VERSION, whole_hash, whole_messages, whole_schema};
use crate::reply::read_whole;
use crate::task::draw;
use crate::{WholeJudgement, WholeTask};

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
        identity.version = Some(WHOLE_PROMPT_VERSION.to_owned());
        identity.prompt_hash = Some(whole_hash(task.instructions.as_deref()));
        let request = |repair| self.whole_request(task, repair);
        let put = self.put(self.ask.card(), draw(task.repeat, task.asking), request, read_whole).await;
        let Put { read, tally, model } = put;
        identity.model = model;
        let (whole, last) = match read {
            Ok(whole) => (Some(whole), None),
            Err(failure) => (None, Some(failure)),
        };
        let last = last.unwrap_or_else(|| Failure::new(UngradedKind::NotJudged, ""));
        let base = WholeJudgement {
            attempts: tally.attempts,
            cached_calls: tally.cached,
            tokens: tally.tokens,
            latency_ms: tally.latency_ms,
            cost: tally.cost,
            replies: tally.replies,
            ..WholeJudgement::ungraded(identity, last.kind, last.message)
        };
        let Some(whole) = whole else { return base };
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
