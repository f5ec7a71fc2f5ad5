//! Asking a model until every part of a question is decided or given up.

use std::sync::Arc;

use assize_llm::{CacheableReply, ChatReply, ChatRequest, ModelCard};
use assize_rubric::{TruncationMode, UngradedKind};

use super::answer::{JudgeFailure, reply_text};
use super::model_judge::ModelJudge;
use super::tally::UsageTally;
use super::window;
use crate::prompt::repair_part;

/// A question of one or more parts, which may be asked together or apart.
pub(super) trait RepairQuestion {
    /// The content of a reply about one part.
    type Reading;

    /// Limits and prices of the model.
    fn card(&self) -> ModelCard;

    /// Repeat index of the cache key.
    fn draw(&self) -> u32;

    /// The way to make it fit; `None` where there is none.
    fn truncate(&self) -> Option<TruncationMode>;

    /// The request about these parts, after an unusable reply with what was wrong with it.
    fn request(&self, parts: &[usize], repair: Option<String>) -> ChatRequest;

    /// The content of a reply about these parts. The error spoils the reply as a whole.
    fn read(
        &mut self,
        parts: &[usize],
        text: &str,
        reply: &ChatReply,
    ) -> Result<PartReadings<Self::Reading>, String>;

    /// A problem with one part, as a repair words it.
    fn problem(&self, part: usize, message: &str) -> String;
}

/// The content of a reply about several parts.
pub(super) struct PartReadings<R> {
    /// For each part asked about, in that order.
    pub(super) each: Vec<Result<R, JudgeFailure>>,
    /// Problems that belong to none of them.
    pub(super) strays: Vec<String>,
}

/// The end of one part: what was read, or why nothing could be used.
pub(super) struct PartAnswer<R> {
    pub(super) reading: Result<R, JudgeFailure>,
    /// Calls, tokens and cost. A call for several parts is counted on the first of them.
    pub(super) tally: UsageTally,
    /// The model that replied, as its server names it.
    pub(super) model: Option<Arc<str>>,
}

/// A call to be made: the parts it asks about, and what went wrong before.
struct JudgeCall {
    parts: Vec<usize>,
    repair: Option<String>,
}

/// A part on its way to a decision.
struct PartSlot<R> {
    tally: UsageTally,
    model: Option<Arc<str>>,
    state: PartState<R>,
}

enum PartState<R> {
    /// Not decided yet; the last failure, if it was asked at all.
    Open(Option<JudgeFailure>),
    Decided(R),
}

/// A question on its way through its calls.
struct RepairLoop<'a, Q: RepairQuestion> {
    judge: &'a ModelJudge,
    question: &'a mut Q,
    slots: Vec<PartSlot<Q::Reading>>,
}

/// Asks about `parts` parts, and asks again with what was wrong with a reply, as often as the judge repairs.
pub(super) async fn ask_with_repair<Q: RepairQuestion>(
    judge: &ModelJudge,
    question: &mut Q,
    parts: usize,
) -> Vec<PartAnswer<Q::Reading>> {
    let card = question.card();
    let slot = |_| PartSlot { tally: UsageTally::new(card), model: None, state: PartState::Open(None) };
    let slots = (0..parts).map(slot).collect();
    let mut repair_loop = RepairLoop { judge, question, slots };
    let mut calls = vec![initial_call(parts)];

    for round in 0..=judge.options.repairs {
        let left = judge.options.repairs - round;
        let mut next = Vec::new();
        for call in calls {
            for call in split_to_fit(repair_loop.question, call) {
                next.extend(repair_loop.make_call(call, left).await);
            }
        }

        calls = next;

        if calls.is_empty() {
            break;
        }
    }

    repair_loop.slots.into_iter().map(PartSlot::into_answer).collect()
}

/// The requests that a question begins with, and the number of parts in each: one, or as few as the model can read.
pub(super) fn first_requests<Q: RepairQuestion>(question: &Q, parts: usize) -> Vec<(ChatRequest, usize)> {
    let calls = split_to_fit(question, initial_call(parts)).into_iter();
    calls.map(|call| (question.request(&call.parts, None), call.parts.len())).collect()
}

fn initial_call(parts: usize) -> JudgeCall {
    JudgeCall { parts: (0..parts).collect(), repair: None }
}

/// The call, or as few that ask the same as the model can read. What no division makes fit stays as it is.
fn split_to_fit<Q: RepairQuestion>(question: &Q, call: JudgeCall) -> Vec<JudgeCall> {
    let fits = |call: &JudgeCall| {
        let request = question.request(&call.parts, call.repair.clone());
        window::check_window(question.card(), question.truncate(), &request).is_ok()
    };

    // A request is only put together twice where something may hang on it.
    if call.parts.len() < 2 || question.card().context_tokens.is_none() || fits(&call) {
        return vec![call];
    }

    let (first, second) = call.parts.split_at(call.parts.len().div_ceil(2));
    [first, second]
        .into_iter()
        .flat_map(|half| {
            split_to_fit(question, JudgeCall { parts: half.to_vec(), repair: call.repair.clone() })
        })
        .collect()
}

impl<Q: RepairQuestion> RepairLoop<'_, Q> {
    /// Makes one call and returns the calls that should follow it; `left` is how many rounds are left.
    async fn make_call(&mut self, call: JudgeCall, left: u32) -> Vec<JudgeCall> {
        let first = call.parts.first().copied().unwrap_or(0);
        let mut answered = match self.send_call(&call, first).await {
            Ok(answered) => answered,
            Err(failure) => {
                self.record_failure(&call.parts, &failure);
                let split = failure.kind == UngradedKind::Refusal && left > 0;
                return if split { self.split_call(&call.parts, left, None) } else { Vec::new() };
            }
        };

        self.slots[first].tally.add_reply(&answered);

        for &part in &call.parts {
            self.slots[part].model = answered.reply.model.as_deref().map(Arc::from);
        }

        let next = self.apply_reply(&call.parts, &answered.reply, left);

        // Only a reply that decides everything it was asked is worth finding again: a call that must be repeated may
        // turn out better the next time.
        if call.parts.iter().all(|&part| matches!(self.slots[part].state, PartState::Decided(_))) {
            answered.keep();
        }

        next
    }

    /// Sends a call. What it costs in vain is counted on the part `first`.
    async fn send_call(&mut self, call: &JudgeCall, first: usize) -> Result<CacheableReply, JudgeFailure> {
        let Ok(_permit) = self.judge.in_flight.acquire().await else {
            return Err(JudgeFailure::new(
                UngradedKind::Cancelled,
                "the run ended before the judge was called",
            ));
        };

        let request = self.question.request(&call.parts, call.repair.clone());
        window::check_window(self.question.card(), self.question.truncate(), &request)?;

        self.judge.ask.ask_repeat(&request, self.question.draw()).await.map_err(|error| {
            self.slots[first].tally.add_error(&error);
            JudgeFailure::from_error(&error)
        })
    }

    /// Takes what a reply decides and returns the calls for what it leaves open.
    fn apply_reply(&mut self, parts: &[usize], reply: &ChatReply, left: u32) -> Vec<JudgeCall> {
        let text = match reply_text(reply) {
            Ok(text) => text,
            Err(failure) => {
                self.record_failure(parts, &failure);
                return match failure.kind {
                    // One part, or the length of all of them, may be the cause: fewer at a time may go through.
                    _ if left == 0 => Vec::new(),
                    UngradedKind::Refusal => self.split_call(parts, left, None),
                    UngradedKind::Truncated if parts.len() > 1 => {
                        self.split_call(parts, left, Some(&failure.message))
                    }
                    _ => vec![self.build_repair_calls(parts.to_vec(), &failure.message, &reply.text)],
                };
            }
        };

        let PartReadings { each, strays } = match self.question.read(parts, text, reply) {
            Ok(read) => read,
            Err(message) => {
                self.record_failure(parts, &JudgeFailure::new(UngradedKind::Malformed, message.clone()));
                let again = || self.build_repair_calls(parts.to_vec(), &message, text);
                return if left == 0 { Vec::new() } else { vec![again()] };
            }
        };

        let mut open = Vec::new();
        let mut problems = Vec::new();
        for (&part, reading) in parts.iter().zip(each) {
            self.slots[part].state = match reading {
                Ok(reading) => PartState::Decided(reading),
                // Asking again would bring the same probabilities.
                Err(failure) if failure.kind == UngradedKind::Probability => PartState::Open(Some(failure)),
                Err(failure) => {
                    problems.push(self.question.problem(part, &failure.message));
                    open.push(part);
                    PartState::Open(Some(failure))
                }
            };
        }

        if open.is_empty() || left == 0 {
            return Vec::new();
        }

        problems.extend(strays);
        vec![self.build_repair_calls(open, &problems.join("\n"), text)]
    }

    fn record_failure(&mut self, parts: &[usize], failure: &JudgeFailure) {
        for &part in parts {
            let slot = &mut self.slots[part];
            let mut failure = failure.clone();
            if let PartState::Open(Some(before)) = &slot.state
                && matches!(
                    failure.kind,
                    UngradedKind::Transport
                        | UngradedKind::Cancelled
                        | UngradedKind::Unavailable
                        | UngradedKind::ContextLength
                )
            {
                failure.message = format!("{}; before that: {}", failure.message, before.message);
            }

            slot.state = PartState::Open(Some(failure));
        }
    }

    fn build_repair_calls(&self, parts: Vec<usize>, problem: &str, reply: &str) -> JudgeCall {
        JudgeCall { parts, repair: Some(repair_part(&*self.judge.fences, problem, reply)) }
    }

    /// Two calls about these parts, or one each when this is the last chance. A single part is given up.
    fn split_call(&self, parts: &[usize], left: u32, problem: Option<&str>) -> Vec<JudgeCall> {
        if parts.len() < 2 {
            return Vec::new();
        }

        let size = if left == 1 { 1 } else { parts.len().div_ceil(2) };
        parts
            .chunks(size)
            .map(|chunk| match problem {
                Some(problem) => self.build_repair_calls(chunk.to_vec(), problem, ""),
                None => JudgeCall { parts: chunk.to_vec(), repair: None },
            })
            .collect()
    }
}

impl<R> PartSlot<R> {
    fn into_answer(self) -> PartAnswer<R> {
        let reading = match self.state {
            PartState::Decided(reading) => Ok(reading),
            PartState::Open(failure) => Err(failure.unwrap_or_else(|| {
                JudgeFailure::new(UngradedKind::NotJudged, "the judge was not called for it")
            })),
        };
        PartAnswer { reading, tally: self.tally, model: self.model }
    }
}
