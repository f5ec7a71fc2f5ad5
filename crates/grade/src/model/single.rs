//! Questions with one decision: a score of the whole answer, a behaviour, the better of two answers.

use assize_llm::{ChatMessage, ChatReply, ChatRequest, JsonSchemaFormat, ModelCard};
use assize_rubric::{
    Decision, EvidenceQuote, Finding, JudgeIdentity, TruncationMode, UngradedKind, UngradedReason,
};

use super::model_judge::ModelJudge;
use super::repair::{PartAnswer, PartReadings, RepairQuestion, ask_with_repair};
use super::window;
use crate::evidence::EvidenceIndex;
use crate::prompt::{
    BEHAVIOUR_PROMPT_VERSION, PAIR_PROMPT_VERSION, QUESTIONS_PROMPT_VERSION, WHOLE_PROMPT_VERSION,
    answer_score_hash, answer_score_messages, answer_score_schema, behaviour_hash, behaviour_messages,
    behaviour_schema, pair_hash, pair_messages, pair_schema, questions_hash, questions_messages,
    questions_schema,
};
use crate::reply::{ParsedReply, read_answer_score, read_behaviour, read_pair, read_questions};
use crate::task::repeat_index;
use crate::{AnswerScoreTask, BehaviourTask, FenceSource, PairTask, QuestionsTask, SamplingOptions};

/// A question with one decision.
pub(super) trait SingleQuestion: Sync {
    /// Version of its prompts.
    fn version(&self) -> &'static str;

    /// Hash of the whole prompt except the material.
    fn prompt_hash(&self) -> String;

    /// The messages of a call. After an unusable reply, `repair` describes the problem.
    fn messages(&self, fences: &dyn FenceSource, repair: Option<String>) -> Vec<ChatMessage>;

    /// The JSON schema of a reply.
    fn schema(&self) -> JsonSchemaFormat;

    /// Reads a reply; the error describes the problem.
    fn read(&self, text: &str) -> Result<ParsedReply<Finding>, String>;

    /// Refuses a decision that lacks a quote which it needs.
    fn check_evidence(&self, _: &ParsedReply<Finding>) -> Result<(), UngradedReason> {
        Ok(())
    }

    /// Index of the texts that may be quoted.
    fn index(&self) -> EvidenceIndex;

    /// The trial of the case, and the options of the calls.
    fn sampling(&self) -> (u32, SamplingOptions);
}

fn into_finding<T: Into<Finding>>(reading: ParsedReply<T>) -> ParsedReply<Finding> {
    let ParsedReply { decided, reason, confidence, evidence } = reading;
    ParsedReply { decided: decided.into(), reason, confidence, evidence }
}

impl SingleQuestion for AnswerScoreTask {
    fn version(&self) -> &'static str {
        WHOLE_PROMPT_VERSION
    }

    fn prompt_hash(&self) -> String {
        answer_score_hash(self.instructions.as_deref(), self.range)
    }

    fn messages(&self, fences: &dyn FenceSource, repair: Option<String>) -> Vec<ChatMessage> {
        answer_score_messages(self, fences, repair)
    }

    fn schema(&self) -> JsonSchemaFormat {
        answer_score_schema()
    }

    fn read(&self, text: &str) -> Result<ParsedReply<Finding>, String> {
        read_answer_score(text, self.range).map(into_finding)
    }

    fn index(&self) -> EvidenceIndex {
        EvidenceIndex::new(&self.material)
    }

    fn sampling(&self) -> (u32, SamplingOptions) {
        (self.trial, self.sampling)
    }
}

impl SingleQuestion for BehaviourTask {
    fn version(&self) -> &'static str {
        BEHAVIOUR_PROMPT_VERSION
    }

    fn prompt_hash(&self) -> String {
        behaviour_hash(&self.behaviour)
    }

    fn messages(&self, fences: &dyn FenceSource, repair: Option<String>) -> Vec<ChatMessage> {
        behaviour_messages(self, fences, repair)
    }

    fn schema(&self) -> JsonSchemaFormat {
        behaviour_schema(&self.behaviour)
    }

    fn read(&self, text: &str) -> Result<ParsedReply<Finding>, String> {
        read_behaviour(text, &self.behaviour).map(into_finding)
    }

    fn check_evidence(&self, reading: &ParsedReply<Finding>) -> Result<(), UngradedReason> {
        if !passes_benchmark(&reading.decided) || !self.behaviour.needs_quote() {
            return Ok(());
        }

        let index = self.index();
        let is_quoted = reading.evidence.iter().any(|quote| index.contains(quote));
        let missing = "a pass needs at least one quote, copied character for character from the inputs";
        is_quoted.then_some(()).ok_or_else(|| UngradedReason::new(UngradedKind::Evidence, missing))
    }

    fn index(&self) -> EvidenceIndex {
        EvidenceIndex::from_texts(self.named_inputs().map(|(_, text)| text))
    }

    fn sampling(&self) -> (u32, SamplingOptions) {
        (self.trial, self.sampling)
    }
}

impl SingleQuestion for PairTask {
    fn version(&self) -> &'static str {
        PAIR_PROMPT_VERSION
    }

    fn prompt_hash(&self) -> String {
        pair_hash(&self.criteria)
    }

    fn messages(&self, fences: &dyn FenceSource, repair: Option<String>) -> Vec<ChatMessage> {
        pair_messages(self, fences, repair)
    }

    fn schema(&self) -> JsonSchemaFormat {
        pair_schema()
    }

    fn read(&self, text: &str) -> Result<ParsedReply<Finding>, String> {
        read_pair(text).map(into_finding)
    }

    fn index(&self) -> EvidenceIndex {
        EvidenceIndex::from_texts([self.first.as_str(), self.second.as_str()].into_iter())
    }

    fn sampling(&self) -> (u32, SamplingOptions) {
        (self.trial, self.sampling)
    }
}

impl SingleQuestion for QuestionsTask {
    fn version(&self) -> &'static str {
        QUESTIONS_PROMPT_VERSION
    }

    fn prompt_hash(&self) -> String {
        questions_hash(self.count)
    }

    fn messages(&self, fences: &dyn FenceSource, repair: Option<String>) -> Vec<ChatMessage> {
        questions_messages(self, fences, repair)
    }

    fn schema(&self) -> JsonSchemaFormat {
        questions_schema()
    }

    fn read(&self, text: &str) -> Result<ParsedReply<Finding>, String> {
        read_questions(text, self.count).map(into_finding)
    }

    fn index(&self) -> EvidenceIndex {
        EvidenceIndex::new(&self.material)
    }

    fn sampling(&self) -> (u32, SamplingOptions) {
        (self.trial, self.sampling)
    }
}

/// Returns true if a decision lets a benchmark pass.
fn passes_benchmark(decided: &Finding) -> bool {
    match decided {
        Finding::Grader(found) => found.benchmark().is_some_and(|benchmark| benchmark.pass == Some(true)),
        Finding::Criterion { .. } | Finding::Preference(_) => false,
    }
}

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
