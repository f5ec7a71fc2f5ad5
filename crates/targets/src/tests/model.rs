//! Models as targets, with a scripted model, and retries.

use assize_rubric::{Cost, IdentityWriter};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::{
    InputMessage, MessageRole, ModelTarget, RetryingTarget, Target, TargetAnswer, TargetDescription,
    TargetError, TargetErrorKind, TargetInput, TargetKind,
};
use assize_llm::{
    AskError, BoxFuture, ChatMessage, ChatModel, ChatReply, ChatRequest, ErrorKind, FinishReason, ModelId,
    TokenCounts,
};
use parking_lot::Mutex;

/// A model that returns the replies of its script and records its requests.
#[derive(Default)]
struct Scripted {
    replies: Mutex<VecDeque<Result<ChatReply, AskError>>>,
    requests: Mutex<Vec<ChatRequest>>,
}

impl ChatModel for Scripted {
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>> {
        Box::pin(async {
            self.requests.lock().push(request.clone());
            let next = self.replies.lock().pop_front();
            next.unwrap_or_else(|| Err(AskError::new(ErrorKind::Server, "the script is over")))
        })
    }

    fn describe(&self) -> ModelId {
        ModelId { provider: "mock".into(), model: "m".into(), base_url_host: "localhost".into() }
    }
}

fn reply(text: &str) -> ChatReply {
    ChatReply {
        text: text.into(),
        finish: FinishReason::Stop,
        cut_at: None,
        refusal: None,
        usage: TokenCounts { input: Some(7), cached: None, output: Some(2) },
        stated_cost: None,
        model: Some("m-2026".into()),
        request_id: None,
        raw: String::new(),
        batched: false,
        latency: Duration::from_millis(30),
        attempts: 2,
        failed: vec![],
    }
}

fn scripted(replies: impl IntoIterator<Item = Result<ChatReply, AskError>>) -> (Arc<Scripted>, ModelTarget) {
    let model =
        Arc::new(Scripted { replies: Mutex::new(replies.into_iter().collect()), ..Scripted::default() });
    (model.clone(), ModelTarget::new("t", model))
}

fn asked() -> TargetInput {
    let messages = vec![
        InputMessage::text(MessageRole::System, "Be brief."),
        InputMessage::text(MessageRole::User, "Why?"),
    ];
    TargetInput::new("case", messages)
}

async fn outcome(reply: ChatReply) -> Result<TargetAnswer, TargetError> {
    scripted([Ok(reply)]).1.answer(&asked()).await
}

#[tokio::test]
async fn the_settings_and_messages_reach_the_model() {
    let (model, target) = scripted([Ok(reply("Because.\n"))]);
    let target = ModelTarget { temperature: Some(0.5), max_output_tokens: Some(99), ..target };
    let answer = target.answer(&asked()).await.unwrap();
    assert_eq!(answer.text, "Because.\n");
    assert_eq!((answer.tokens.input, answer.tokens.cached, answer.tokens.output), (Some(7), None, Some(2)));
    assert_eq!((answer.attempts, answer.duration), (2, Duration::from_millis(30)));
    assert_eq!((answer.model.as_deref(), answer.cost), (Some("m-2026"), Some(Cost::UNKNOWN)));
    let wanted = ChatRequest {
        temperature: Some(0.5),
        max_output_tokens: Some(99),
        ..ChatRequest::new(vec![ChatMessage::system("Be brief."), ChatMessage::user("Why?")])
    };
    assert_eq!(*model.requests.lock(), [wanted]);
    let description = target.describe();
    assert_eq!((description.kind, description.model.as_deref()), (TargetKind::Model, Some("mock:m")));
}

#[tokio::test]
async fn only_a_text_that_the_model_finished_is_an_answer() {
    for (finish, text, why) in [
        (FinishReason::Stop, "", "empty answer"),
        (FinishReason::Stop, " \n", "empty answer"),
        (FinishReason::Length, "", "cut off at the server's limit"),
        (FinishReason::Length, "half", "`max_output_tokens`"),
        (FinishReason::ContentFilter, "so far", "content filter"),
        (FinishReason::ToolCall, "let me see", "requested a tool"),
        (FinishReason::Other("error".into()), "so far", "broke the answer off (error)"),
        (FinishReason::Other("odd".into()), "", "empty answer"),
    ] {
        let error = outcome(ChatReply { finish, ..reply(text) }).await.unwrap_err();
        assert_eq!((error.kind, error.tokens.input), (TargetErrorKind::NoAnswer, Some(7)), "{why}");
        assert!(error.message.contains(why), "{why}: {error}");
    }
    let unexplained = ChatReply { finish: FinishReason::Other("unknown".into()), ..reply("yes") };
    assert_eq!(outcome(unexplained).await.unwrap().text, "yes");
}

#[tokio::test]
async fn a_refusal_is_no_answer_and_its_words_are_the_reason() {
    for text in ["", "I can say this much."] {
        let refused = ChatReply { refusal: Some("I won't.".into()), ..reply(text) };
        let error = outcome(refused).await.unwrap_err();
        assert_eq!(&*error.message, "the model declined to answer: I won't.");
    }
}

#[tokio::test]
async fn an_answer_that_the_targets_own_limit_cut_off_names_the_limit() {
    let (_, target) = scripted([Ok(ChatReply { finish: FinishReason::Length, ..reply("half") })]);
    let target = ModelTarget { max_output_tokens: Some(64), ..target };
    let error = target.answer(&asked()).await.unwrap_err();
    assert!(error.message.contains("limit of 64 tokens; raise its `max_output_tokens`"), "{error}");
}

#[tokio::test]
async fn a_models_failure_keeps_its_kind() {
    for (kind, wanted) in [
        (ErrorKind::Timeout, TargetErrorKind::Timeout),
        (ErrorKind::Connection, TargetErrorKind::Connection),
        (ErrorKind::Authentication, TargetErrorKind::Model(ErrorKind::Authentication)),
    ] {
        let (_, target) = scripted([Err(AskError { attempts: 4, ..AskError::new(kind, "said so") })]);
        let error = target.answer(&asked()).await.unwrap_err();
        assert_eq!((error.kind, error.attempts, error.kind.as_str()), (wanted, 4, kind.name()));
        assert!(error.message.contains("said so"), "{error}");
    }
}

#[tokio::test]
async fn an_input_without_anything_to_say_is_not_sent() {
    let (model, target) = scripted([Ok(reply("x"))]);
    let error = target.answer(&TargetInput::new("case", vec![])).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (TargetErrorKind::BadInput, 0));
    assert!(model.requests.lock().is_empty());
}

/// A target that fails with each kind in turn, then answers.
struct Faulty(Mutex<VecDeque<TargetErrorKind>>);

impl Target for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn answer<'a>(&'a self, _input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(async {
            let tokens = assize_rubric::Tokens { input: Some(1), ..Default::default() };
            match self.0.lock().pop_front() {
                Some(kind) => Err(TargetError { tokens, ..TargetError::new(kind, "no") }),
                None => {
                    Ok(TargetAnswer { text: "yes".into(), attempts: 1, tokens, ..TargetAnswer::default() })
                }
            }
        })
    }

    fn describe(&self) -> TargetDescription {
        TargetDescription::new("faulty", TargetKind::Command)
    }

    fn write_settings(&self, _: &mut IdentityWriter) {}
}

fn faulty(kinds: &[TargetErrorKind]) -> Faulty {
    Faulty(Mutex::new(kinds.iter().copied().collect()))
}

#[tokio::test]
async fn asking_again_stops_at_its_limit_and_counts_everything() {
    use TargetErrorKind::{Connection, Failed, Timeout};
    let answer = RetryingTarget::new(faulty(&[Timeout, Connection]), 2).answer(&asked()).await.unwrap();
    assert_eq!((answer.attempts, answer.tokens.input), (3, Some(3)));
    let given_up = RetryingTarget::new(faulty(&[Timeout; 9]), 2).answer(&asked()).await.unwrap_err();
    assert_eq!((given_up.kind, given_up.attempts, given_up.tokens.input), (Timeout, 3, Some(3)));
    let hopeless = RetryingTarget::new(faulty(&[Timeout, Failed]), 5).answer(&asked()).await.unwrap_err();
    assert_eq!((hopeless.kind, hopeless.attempts), (Failed, 2));
    assert!(RetryingTarget::new(faulty(&[Timeout]), 0).answer(&asked()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn waits_grow_up_to_the_longest() {
    use std::time::Duration;
    let begun = tokio::time::Instant::now();
    let target = RetryingTarget::new(faulty(&[TargetErrorKind::Timeout; 3]), 3)
        .with_waits(Duration::from_secs(1), Duration::from_millis(1500));
    assert!(target.answer(&asked()).await.is_ok());
    assert_eq!(begun.elapsed(), Duration::from_secs(4));
}
