//! Questions with one decision: a score of the whole answer, a behaviour, the better of two answers.

use assize_llm::{ChatReply, ChatRequest, ModelCard};
use assize_rubric::{
    Decision, EvidenceQuote, Finding, JudgeIdentity, TruncationMode, UngradedKind, UngradedReason,
};

use super::model_judge::ModelJudge;
use super::repair::{PartAnswer, PartReadings, RepairQuestion, ask_with_repair};
use super::window;
use crate::reply::ParsedReply;
use crate::single_question::SingleQuestion;
use crate::task::repeat_index;

/// A question with one decision that is being asked.
pub(super) struct SingleCall<'a> {
    judge: &'a ModelJudge,
    question: &'a dyn SingleQuestion,
}

impl RepairQuestion for SingleCall<'_> {
    type Reading = ParsedReply<Finding>;

    fn card(&self) -> ModelCard {
        self.judge.ask.card()
    }

    fn repeat_number(&self) -> u32 {
        let (trial, sampling) = self.question.sampling();
        repeat_index(trial, sampling.repeat)
    }

    fn truncate(&self) -> Option<TruncationMode> {
        None
    }

    fn request(&self, _: &[usize], repair: Option<String>) -> ChatRequest {
        let judge = self.judge;
        let (_, sampling) = self.question.sampling();
        let mut request = ChatRequest::new(self.question.messages(&*judge.fences, repair));
        request.schema = Some(self.question.schema());
        request.temperature = sampling.temperature.or(judge.options.temperature);
        request.seed = judge.seed(sampling.repeat);
        request.expected_output = Some(window::long_reply_tokens(1));

        request
    }

    fn read(
        &mut self,
        _: &[usize],
        text: &str,
        _: &ChatReply,
    ) -> Result<PartReadings<ParsedReply<Finding>>, String> {
        let reading = self.question.read(text)?;
        let checked = self.question.check_evidence(&reading).map(|()| reading);
        Ok(PartReadings { each: vec![checked], strays: Vec::new() })
    }

    fn problem(&self, _: usize, message: &str) -> String {
        message.to_owned()
    }
}

impl ModelJudge {
    /// The first request about a question with one decision.
    pub(super) fn single_request(&self, question: &dyn SingleQuestion) -> ChatRequest {
        SingleCall { judge: self, question }.request(&[0], None)
    }

    /// Asks a question with one decision.
    pub(super) async fn decide_single(&self, question: &dyn SingleQuestion) -> Decision {
        let mut call = SingleCall { judge: self, question };
        let answer = ask_with_repair(self, &mut call, 1).await.pop();
        let judge = JudgeIdentity {
            version: Some(question.version().into()),
            prompt_hash: Some(question.prompt_hash().into()),
            ..self.identity.clone()
        };
        let Some(PartAnswer { reading, tally, model }) = answer else {
            let failure = UngradedReason::new(UngradedKind::NotJudged, "the judge was not called for it");
            return Decision::unanswered(judge, failure);
        };

        let judge = JudgeIdentity { model, ..judge };
        let decision = match reading {
            Ok(ParsedReply { decided, reason, confidence, evidence }) => {
                let index = question.index();
                let verified = |quote: String| EvidenceQuote { verified: index.contains(&quote), quote };
                Decision {
                    confidence,
                    evidence: evidence.into_iter().map(verified).collect(),
                    ..Decision::new(judge, decided, reason)
                }
            }
            Err(failure) => Decision::unanswered(judge, failure),
        };
        Decision { spent: tally.spent, ..decision }
    }
}
