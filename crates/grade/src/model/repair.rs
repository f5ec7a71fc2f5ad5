//! Asking a model until every part of a question is decided or given up.

use std::sync::Arc;

use assize_llm::{CacheableReply, ChatReply, ChatRequest, ModelCard};
use assize_rubric::{Truncate, UngradedKind};

use super::ModelJudge;
use super::answer::{Failure, reply_text};
use super::tally::Tally;
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
    fn truncate(&self) -> Option<Truncate>;

    /// The request about these parts, after an unusable reply with what was wrong with it.
    fn request(&self, parts: &[usize], repair: Option<String>) -> ChatRequest;

    /// The content of a reply about these parts. The error spoils the reply as a whole.
    fn read(
        &mut self,
        parts: &[usize],
        text: &str,
        reply: &ChatReply,
    ) -> Result<Readings<Self::Reading>, String>;

    /// A problem with one part, as a repair words it.
    fn problem(&self, part: usize, message: &str) -> String;
}

/// The content of a reply about several parts.
pub(super) struct Readings<R> {
    /// For each part asked about, in that order.
    pub(super) each: Vec<Result<R, Failure>>,
    /// Problems that belong to none of them.
    pub(super) strays: Vec<String>,
}

/// The end of one part: what was read, or why nothing could be used.
pub(super) struct PartAnswer<R> {
    pub(super) reading: Result<R, Failure>,
    /// Calls, tokens and cost. A call for several parts is counted on the first of them.
    pub(super) tally: Tally,
    /// The model that replied, as its server names it.
    pub(super) model: Option<Arc<str>>,
}

/// A call to be made: the parts it asks about, and what went wrong before.
struct Call {
    parts: Vec<usize>,
    repair: Option<String>,
}

/// A part on its way to a decision.
struct Slot<R> {
    tally: Tally,
    model: Option<Arc<str>>,
    state: State<R>,
}

enum State<R> {
    /// Not decided yet; the last failure, if it was asked at all.
    Open(Option<Failure>),
    Decided(R),
}

/// A question on its way through its calls.
struct RepairLoop<'a, Q: RepairQuestion> {
    judge: &'a ModelJudge,
    question: &'a mut Q,
    slots: Vec<Slot<Q::Reading>>,
}

/// Asks about `parts` parts, and asks again with what was wrong with a reply, as often as the judge repairs.
pub(super) async fn ask_with_repair<Q: RepairQuestion>(
    judge: &ModelJudge,
    question: &mut Q,
    parts: usize,
) -> Vec<PartAnswer<Q::Reading>> {
    let card = question.card();
    let slot = |_| Slot { tally: Tally::new(card), model: None, state: State::Open(None) };
    let slots = (0..parts).map(slot).collect();
    let mut repair_loop = RepairLoop { judge, question, slots };
    let mut calls = vec![whole(parts)];

    for round in 0..=judge.options.repairs {
        let left = judge.options.repairs - round;
        let mut next = Vec::new();
        for call in calls {
            for call in fitting(repair_loop.question, call) {
                next.extend(repair_loop.make(call, left).await);
            }
        }
        calls = next;
        if calls.is_empty() {
            break;
        }
    }
    repair_loop.slots.into_iter().map(Slot::into_answer).collect()
}

/// The requests that a question begins with, and the number of parts in each: one, or as few as the model can read.
pub(super) fn first_requests<Q: RepairQuestion>(question: &Q, parts: usize) -> Vec<(ChatRequest, usize)> {
    let calls = fitting(question, whole(parts)).into_iter();
    calls.map(|call| (question.request(&call.parts, None), call.parts.len())).collect()
}

fn whole(parts: usize) -> Call {
    Call { parts: (0..parts).collect(), repair: None }
}

/// The call, or as few that ask the same as the model can read. What no division makes fit stays as it is.
fn fitting<Q: RepairQuestion>(question: &Q, call: Call) -> Vec<Call> {
    let fits = |call: &Call| {
        let request = question.request(&call.parts, call.repair.clone());
        window::check(question.card(), question.truncate(), &request).is_ok()
    };
    // A request is only put together twice where something may hang on it.
    if call.parts.len() < 2 || question.card().context_tokens.is_none() || fits(&call) {
        return vec![call];
    }

    let (first, second) = call.parts.split_at(call.parts.len().div_ceil(2));
    [first, second]
        .into_iter()
        .flat_map(|half| fitting(question, Call { parts: half.to_vec(), repair: call.repair.clone() }))
        .collect()
}

impl<Q: RepairQuestion> RepairLoop<'_, Q> {
    /// Makes one call and returns the calls that should follow it; `left` is how many rounds are left.
    async fn make(&mut self, call: Call, left: u32) -> Vec<Call> {
        let first = call.parts.first().copied().unwrap_or(0);
        let mut answered = match self.ask(&call, first).await {
            Ok(answered) => answered,
            Err(failure) => {
                self.fail(&call.parts, &failure);
                let split = failure.kind == UngradedKind::Refusal && left > 0;
                return if split { self.split(&call.parts, left, None) } else { Vec::new() };
            }
        };

        self.slots[first].tally.reply(&answered);
        for &part in &call.parts {
            self.slots[part].model = answered.reply.model.as_deref().map(Arc::from);
        }
        let next = self.take(&call.parts, &answered.reply, left);
        // Only a reply that decides everything it was asked is worth finding again: a call that must be repeated may
        // turn out better the next time.
        if call.parts.iter().all(|&part| matches!(self.slots[part].state, State::Decided(_))) {
            answered.keep();
        }
        next
    }

    /// Sends a call. What it costs in vain is counted on the part `first`.
    async fn ask(&mut self, call: &Call, first: usize) -> Result<CacheableReply, Failure> {
        let Ok(_permit) = self.judge.in_flight.acquire().await else {
            return Err(Failure::new(UngradedKind::Cancelled, "the run ended before the judge was asked"));
        };
        let request = self.question.request(&call.parts, call.repair.clone());
        window::check(self.question.card(), self.question.truncate(), &request)?;

        self.judge.ask.ask_repeat(&request, self.question.draw()).await.map_err(|error| {
            self.slots[first].tally.error(&error);
            Failure::of_error(&error)
        })
    }

    /// Takes what a reply decides and returns the calls for what it leaves open.
    fn take(&mut self, parts: &[usize], reply: &ChatReply, left: u32) -> Vec<Call> {
        let text = match reply_text(reply) {
            Ok(text) => text,
            Err(failure) => {
                self.fail(parts, &failure);
                return match failure.kind {
                    // One part, or the length of all of them, may be the cause: fewer at a time may go through.
                    _ if left == 0 => Vec::new(),
                    UngradedKind::Refusal => self.split(parts, left, None),
                    UngradedKind::Truncated if parts.len() > 1 => {
                        self.split(parts, left, Some(&failure.message))
                    }
                    _ => vec![self.repair(parts.to_vec(), &failure.message, &reply.text)],
                };
            }
        };
        let Readings { each, strays } = match self.question.read(parts, text, reply) {
            Ok(read) => read,
            Err(message) => {
                self.fail(parts, &Failure::new(UngradedKind::Malformed, message.clone()));
                let again = || self.repair(parts.to_vec(), &message, text);
                return if left == 0 { Vec::new() } else { vec![again()] };
            }
        };

        let mut open = Vec::new();
        let mut problems = Vec::new();
        for (&part, reading) in parts.iter().zip(each) {
            self.slots[part].state = match reading {
                Ok(reading) => State::Decided(reading),
                // Asking again would bring the same probabilities.
                Err(failure) if failure.kind == UngradedKind::Probability => State::Open(Some(failure)),
                Err(failure) => {
                    problems.push(self.question.problem(part, &failure.message));
                    open.push(part);
                    State::Open(Some(failure))
                }
            };
        }
        if open.is_empty() || left == 0 {
            return Vec::new();
        }
        problems.extend(strays);
        vec![self.repair(open, &problems.join("\n"), text)]
    }

    fn fail(&mut self, parts: &[usize], failure: &Failure) {
        for &part in parts {
            let slot = &mut self.slots[part];
            let mut failure = failure.clone();
            if let State::Open(Some(before)) = &slot.state
                && matches!(
                    failure.kind,
                    UngradedKind::Transport | UngradedKind::Cancelled | UngradedKind::ContextLength
                )
            {
                failure.message = format!("{}; before that: {}", failure.message, before.message);
            }
            slot.state = State::Open(Some(failure));
        }
    }

    fn repair(&self, parts: Vec<usize>, problem: &str, reply: &str) -> Call {
        Call { parts, repair: Some(repair_part(&*self.judge.fences, problem, reply)) }
    }

    /// Two calls about these parts, or one each when this is the last chance. A single part is given up.
    fn split(&self, parts: &[usize], left: u32, problem: Option<&str>) -> Vec<Call> {
        if parts.len() < 2 {
            return Vec::new();
        }
        let size = if left == 1 { 1 } else { parts.len().div_ceil(2) };
        parts
            .chunks(size)
            .map(|chunk| match problem {
                Some(problem) => self.repair(chunk.to_vec(), problem, ""),
                None => Call { parts: chunk.to_vec(), repair: None },
            })
            .collect()
    }
}

impl<R> Slot<R> {
    fn into_answer(self) -> PartAnswer<R> {
        let reading = match self.state {
            State::Decided(reading) => Ok(reading),
            State::Open(failure) => Err(failure.unwrap_or_else(|| {
                Failure::new(UngradedKind::NotJudged, "the judge was not asked about it")
            })),
        };
        PartAnswer { reading, tally: self.tally, model: self.model }
    }
}
