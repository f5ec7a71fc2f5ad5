//! Asks a model until every part of a question is decided or given up.
//!
//! Judges reply with broken JSON, skip criteria, refuse, or run out of tokens. Guessing the meaning of an unusable
//! reply would turn noise into scores. So the model is asked again, with a description of the problem. The rules:
//!
//! - Rounds are limited by [`JudgeOptions::repairs`](super::options::JudgeOptions). Each round makes the calls that the
//!   previous round left over; parts that are open at the end are ungraded with their last failure.
//! - A decided part is never asked about again, so a repair can't change a decision. Only the open parts of a
//!   call are repaired.
//! - A refusal or a cut-off reply may be caused by one part, or by the number of parts. Such a call is split in
//!   half instead of repeated, and into single parts if only one round is left.
//! - The unusable reply and the problem go into the repair request as data, in their own fence: the reply may
//!   quote the answer, which may contain instructions.
//! - A transport failure is not repaired here. The client below has already retried it.
//! - The reply cache keeps only replies that decide every part of their request. Otherwise a resumed run
//!   would find the unusable reply again and could never do better.

use std::sync::Arc;

use assize_llm::{CacheableReply, ChatReply, ChatRequest, FinishReason, ModelCard};
use assize_rubric::{TruncationMode, UngradedKind, UngradedReason};

use super::answer::{failure_of, reply_text};
use super::model_judge::ModelJudge;
use super::tally::UsageTally;
use super::window;
use crate::prompt::repair_part;
use crate::reply::has_slips;

/// Message to the judge after a reply that was cut off.
const TOO_LONG: &str = "the reply was cut off because it was too long; keep quotes and reason short";

/// A question of one or more parts, which can be asked about together or separately.
pub(super) trait RepairQuestion {
    /// Reading of one part of a reply.
    type Reading;

    /// Limits and prices of the model.
    fn card(&self) -> ModelCard;

    /// Number of the reply among repeated ones, for the cache key.
    fn repeat_number(&self) -> u32;

    /// How the question was truncated; `None` if it can't be.
    fn truncate(&self) -> Option<TruncationMode>;

    /// The request about these parts. After an unusable reply, `repair` describes the problem.
    fn request(&self, parts: &[usize], repair: Option<String>) -> ChatRequest;

    /// Reads a reply about these parts. An error means that the whole reply is unusable.
    fn read(
        &mut self,
        parts: &[usize],
        text: &str,
        reply: &ChatReply,
    ) -> Result<PartReadings<Self::Reading>, String>;

    /// A problem with one part, worded for the repair request.
    fn problem(&self, part: usize, message: &str) -> String;
}

/// Readings of several parts of a reply.
pub(super) struct PartReadings<R> {
    /// One entry for each part in the request, in that order.
    pub(super) each: Vec<Result<R, UngradedReason>>,
    /// Problems that belong to none of the parts.
    pub(super) strays: Vec<String>,
}

/// The final result of one part: its reading, or why no reply was usable.
pub(super) struct PartAnswer<R> {
    pub(super) reading: Result<R, UngradedReason>,
    /// Calls, tokens and cost. A call about several parts is counted on the first of them.
    pub(super) tally: UsageTally,
    /// The model that replied, as its server names it.
    pub(super) model: Option<Arc<str>>,
}

/// A call to make: its parts, and the problem with the previous reply.
struct JudgeCall {
    parts: Vec<usize>,
    repair: Option<String>,
}

/// A part that is being decided.
struct PartSlot<R> {
    tally: UsageTally,
    model: Option<Arc<str>>,
    state: PartState<R>,
}

enum PartState<R> {
    /// Not decided yet; holds the last failure, if there was one.
    Open(Option<UngradedReason>),
    Decided(R),
}

/// A question that is being asked.
struct RepairLoop<'a, Q: RepairQuestion> {
    judge: &'a ModelJudge,
    question: &'a mut Q,
    slots: Vec<PartSlot<Q::Reading>>,
}

/// Asks about `parts` parts. After an unusable reply, asks again with a description of the problem, up to the
/// judge's number of repairs.
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

/// The first requests of a question, and the number of parts in each: one request, or as few as fit the model's
/// context window.
pub(super) fn first_requests<Q: RepairQuestion>(question: &Q, parts: usize) -> Vec<(ChatRequest, usize)> {
    let calls = split_to_fit(question, initial_call(parts)).into_iter();
    calls.map(|call| (question.request(&call.parts, None), call.parts.len())).collect()
}

fn initial_call(parts: usize) -> JudgeCall {
    JudgeCall { parts: (0..parts).collect(), repair: None }
}

/// Splits a call into as few calls as fit the model's context window. A call that does not fit even with one
/// part is not changed.
fn split_to_fit<Q: RepairQuestion>(question: &Q, call: JudgeCall) -> Vec<JudgeCall> {
    let fits = |call: &JudgeCall| {
        let request = question.request(&call.parts, call.repair.clone());
        window::check_window(question.card(), question.truncate(), &request).is_ok()
    };

    // The request is built only to check its size, so skip that if it can't matter.
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
    /// Makes one call and returns the calls that follow from it; `left` is the number of rounds left.
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

        // Cache only a reply that decides everything in its request: a call that has to be repeated may turn
        // out better the next time.
        if call.parts.iter().all(|&part| matches!(self.slots[part].state, PartState::Decided(_))) {
            answered.keep();
        }

        next
    }

    /// Sends a call. The cost of a failed call is counted on the part `first`.
    async fn send_call(&mut self, call: &JudgeCall, first: usize) -> Result<CacheableReply, UngradedReason> {
        let Ok(_permit) = self.judge.in_flight.acquire().await else {
            return Err(UngradedReason::new(
                UngradedKind::Cancelled,
                "the run ended before the judge was called",
            ));
        };

        let request = self.question.request(&call.parts, call.repair.clone());
        window::check_window(self.question.card(), self.question.truncate(), &request)?;

        self.judge.ask.ask_repeat(&request, self.question.repeat_number()).await.map_err(|error| {
            self.slots[first].tally.add_error(&error);
            failure_of(&error)
        })
    }

    /// Takes the decisions in a reply and returns the calls for the parts that stay open.
    fn apply_reply(&mut self, parts: &[usize], reply: &ChatReply, left: u32) -> Vec<JudgeCall> {
        let text = match reply_text(reply) {
            Ok(text) => text,
            Err(failure) => {
                self.record_failure(parts, &failure);
                return match failure.kind {
                    // The cause may be a single part or the number of parts, so smaller calls may succeed.
                    _ if left == 0 => Vec::new(),
                    UngradedKind::Refusal => self.split_call(parts, left, None),
                    UngradedKind::Truncated if parts.len() > 1 => {
                        self.split_call(parts, left, Some(TOO_LONG))
                    }
                    // Where there was more room, the client has asked again already. A limit of the user or of the server
                    // leaves it at that, so the judge gets one request to be brief.
                    UngradedKind::Truncated if reply.finish == FinishReason::Length => {
                        let own_limit = self.question.card().max_output_tokens.is_some();
                        let had_more_room = reply.cut_at.is_some() && !own_limit;
                        if had_more_room || left < self.judge.options.repairs {
                            return Vec::new();
                        }
                        vec![self.build_repair_calls(parts.to_vec(), TOO_LONG, "")]
                    }
                    _ => vec![self.build_repair_calls(parts.to_vec(), &failure.message, &reply.text)],
                };
            }
        };

        let PartReadings { each, strays } = match self.question.read(parts, text, reply) {
            Ok(read) => read,
            Err(message) => {
                self.record_failure(parts, &UngradedReason::new(UngradedKind::Malformed, message.clone()));
                let again = || self.build_repair_calls(parts.to_vec(), &message, text);
                return if left == 0 { Vec::new() } else { vec![again()] };
            }
        };

        let slipped = has_slips(text);
        let mut open = Vec::new();
        let mut problems = Vec::new();
        for (&part, reading) in parts.iter().zip(each) {
            self.slots[part].state = match reading {
                Ok(reading) => {
                    self.slots[part].tally.spent.has_slips = slipped;
                    PartState::Decided(reading)
                }
                // Another reply would have the same probabilities.
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

    fn record_failure(&mut self, parts: &[usize], failure: &UngradedReason) {
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

    /// Splits a call in two, or into single parts if this is the last round. A single part is given up.
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
                UngradedReason::new(UngradedKind::NotJudged, "the judge was not called for it")
            })),
        };
        PartAnswer { reading, tally: self.tally, model: self.model }
    }
}
