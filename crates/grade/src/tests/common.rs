//! A scripted model, and helpers that build tasks.

#![allow(dead_code, reason = "each test file uses its part of this")]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::{
    FenceSource, Judge, JudgeMaterial, JudgeOptions, JudgeQuestion, KeyedFences, ModelJudge, RubricTask,
};
use assize_llm::{
    AskError, BoxFuture, ChatModel, ChatReply, ChatRequest, FinishReason, ModelId, Part, TokenCounts,
};
use assize_rubric::{Criterion, CriterionScale, Decision, Outcome, RawScore, Rubric, ScoreBand, ScoreBands};
use futures_util::FutureExt;
use tokio::sync::Semaphore;

type Answer = Result<ChatReply, AskError>;
type Script = dyn FnMut(&ChatRequest) -> Answer + Send;

/// A model that follows a script and records its requests.
pub(crate) struct Scripted {
    script: Mutex<Box<Script>>,
    requests: Mutex<Vec<ChatRequest>>,
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Scripted {
    pub(crate) fn new(script: impl FnMut(&ChatRequest) -> Answer + Send + 'static) -> Arc<Self> {
        Arc::new(Self {
            script: Mutex::new(Box::new(script)),
            requests: Mutex::default(),
            now: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        })
    }

    pub(crate) fn always(answer: Answer) -> Arc<Self> {
        Self::new(move |_| answer.clone())
    }

    /// Gives these answers, one after the other, with the request's ids in place of ids such as `c2`.
    pub(crate) fn list(answers: Vec<Answer>) -> Arc<Self> {
        let mut answers = VecDeque::from(answers);
        Self::new(move |request| {
            let answer = answers.pop_front().expect("the script is at its end");
            with_ids_of(request, answer)
        })
    }

    /// Answers by the text of the whole user message, with the request's ids in place of ids such as `c2`.
    pub(crate) fn by_text(mut answer: impl FnMut(&str) -> Answer + Send + 'static) -> Arc<Self> {
        Self::new(move |request| with_ids_of(request, answer(&texts(request)[1..].concat())))
    }

    pub(crate) fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn most_in_flight(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

impl ChatModel for Scripted {
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Answer> {
        async move {
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            tokio::task::yield_now().await;
            self.requests.lock().unwrap().push(request.clone());
            let answer = (self.script.lock().unwrap())(request);
            self.now.fetch_sub(1, Ordering::SeqCst);
            answer
        }
        .boxed()
    }

    fn describe(&self) -> ModelId {
        ModelId { provider: "openai".into(), model: "scripted".into(), base_url_host: "localhost".into() }
    }
}

pub(crate) fn reply(text: &str) -> ChatReply {
    ChatReply {
        text: text.into(),
        finish: FinishReason::Stop,
        cut_at: None,
        refusal: None,
        usage: TokenCounts { input: Some(10), cached: None, output: Some(5) },
        stated_cost: None,
        model: Some("scripted-2".into()),
        request_id: None,
        raw: String::new(),
        batched: false,
        latency: Duration::from_millis(20),
        attempts: 1,
        failed: Vec::new(),
    }
}

/// The answer with the request's ids in place of short ids. The request's ids can't be known beforehand.
fn with_ids_of(request: &ChatRequest, answer: Answer) -> Answer {
    let shared = &texts(request)[1];
    let fence = shared.split("[[BEGIN question ").nth(1).unwrap_or_default();
    let suffix: String = fence.chars().take(4).collect();
    answer.map(|mut reply| {
        for number in 1..10 {
            let short = format!("\"id\":\"c{number}\"");
            reply.text = reply.text.replace(&short, &format!("\"id\":\"c{number}-{suffix}\""));
        }
        reply
    })
}

/// The system text, then the parts of the user message.
pub(crate) fn texts(request: &ChatRequest) -> Vec<String> {
    request
        .messages
        .iter()
        .flat_map(|message| &*message.content)
        .map(|part| match part {
            Part::Text(text) => text.to_string(),
            Part::Image { .. } => panic!("no pictures are sent"),
        })
        .collect()
}

pub(crate) fn fences() -> Arc<dyn FenceSource> {
    Arc::new(KeyedFences::new([7; 32]))
}

pub(crate) fn judge(model: &Arc<Scripted>) -> ModelJudge {
    ModelJudge::new(
        model.clone(),
        "openai:scripted",
        fences(),
        Arc::new(Semaphore::new(8)),
        JudgeOptions::default(),
    )
}

pub(crate) fn checklist(id: &str, text: &str) -> Criterion {
    Criterion::checklist(id, text)
}

pub(crate) fn bands(id: &str, text: &str) -> Criterion {
    let band = |low, high, text: &str| ScoreBand {
        low: RawScore::new(low).unwrap(),
        high: RawScore::new(high).unwrap(),
        text: text.into(),
    };
    let mut criterion = Criterion::checklist(id, text);
    criterion.scale = CriterionScale::Bands(
        ScoreBands::new(vec![
            band(0, 3, "poor"),
            band(4, 8, "fair"),
            band(9, 9, "good"),
            band(10, 10, "perfect"),
        ])
        .unwrap(),
    );
    criterion
}

pub(crate) fn rubric(criteria: Vec<Criterion>) -> Arc<Rubric> {
    Arc::new(Rubric::new(criteria).unwrap())
}

pub(crate) fn material(answer: &str) -> Arc<JudgeMaterial> {
    Arc::new(JudgeMaterial {
        question: "What jumps?".into(),
        answer: answer.into(),
        ..JudgeMaterial::default()
    })
}

pub(crate) fn task(criteria: Vec<Criterion>) -> RubricTask {
    RubricTask::new(material("The quick brown fox jumps."), rubric(criteria))
}

pub(crate) fn run(judge: &dyn Judge, task: &RubricTask) -> Vec<Decision> {
    let question = [JudgeQuestion::Rubric(task.clone())];
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(judge.decide(&question)).remove(0)
}

pub(crate) fn outcomes(decisions: &[Decision]) -> Vec<Outcome> {
    decisions.iter().map(Decision::outcome).collect()
}
