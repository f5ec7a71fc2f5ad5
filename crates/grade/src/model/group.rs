//! The criteria of one call, followed through its repairs until each is decided or given up.

use std::sync::Arc;

use assize_llm::{ChatReply, JsonSchemaFormat, ReplySchema};
use assize_rubric::{
    Criterion, Evidence, EvidencePolicy, Judgement, Operator, Outcome, Probability, Scale, Ungraded,
    UngradedKind,
};

use super::Scene;
use super::answer::{Failure, usable};
use super::tally::Tally;
use super::window;
use crate::Spent;
use crate::prompt::{Asked, Form, batched_part, batched_schema, repair_part, single_part, single_schema};
use crate::reply::{Decision, Results, expected, read_batched, read_single};

/// Criteria that are asked about together.
pub(super) struct Group<'a> {
    scene: &'a Scene<'a>,
    batched: bool,
    /// Whether other calls begin like those of this group.
    shared: bool,
    slots: Vec<Slot<'a>>,
}

/// One criterion on its way to a decision.
struct Slot<'a> {
    asked: Asked<'a>,
    tally: Tally,
    model: Option<Arc<str>>,
    state: State,
    /// The quotes of the last readable decision.
    evidence: Vec<Evidence>,
    /// What the probabilities of the decision say.
    probability: Option<Probability>,
}

enum State {
    /// Not decided yet; the last failure, if it was asked at all.
    Open(Option<Failure>),
    Decided(Decision),
}

/// A call to be made: positions of its criteria, and what went wrong before.
struct Call {
    members: Vec<usize>,
    repair: Option<String>,
}

impl<'a> Group<'a> {
    pub(super) fn new(scene: &'a Scene<'a>, criteria: &'a [Criterion], batched: bool) -> Self {
        // Authors' ids may say what hangs on a criterion ("critical-2"), so the judge never sees them.
        // Part of the fence makes the handle one that no answer can name: verdicts written into an answer and copied by
        // the judge then belong to nobody. A criterion that is asked about alone needs no name.
        let handle = |position: usize| {
            if batched { format!("c{}-{}", position + 1, scene.handle_mark()) } else { String::new() }
        };
        let slots = criteria
            .iter()
            .enumerate()
            .map(|(position, criterion)| Slot {
                asked: Asked { handle: handle(position), criterion },
                tally: Tally::new(scene.card),
                model: None,
                state: State::Open(None),
                evidence: Vec::new(),
                probability: None,
            })
            .collect();
        Self { scene, batched, shared: false, slots }
    }

    /// The request that puts all of it at once.
    pub(super) fn whole_request(&self) -> assize_llm::ChatRequest {
        self.request(&self.whole())
    }

    /// The requests that it begins with, and the number of criteria in each: one, or as few as the model can read.
    pub(super) fn first_requests(&self) -> impl Iterator<Item = (assize_llm::ChatRequest, usize)> {
        self.fitting(self.whole()).into_iter().map(|call| (self.request(&call), call.members.len()))
    }

    /// The requests that put its criteria one by one.
    pub(super) fn single_requests(&self) -> impl Iterator<Item = assize_llm::ChatRequest> {
        (0..self.slots.len()).map(|member| self.request(&Call { members: vec![member], repair: None }))
    }

    fn whole(&self) -> Call {
        Call { members: (0..self.slots.len()).collect(), repair: None }
    }

    /// The shape that the first reply must have.
    pub(super) fn schema(&self) -> ReplySchema {
        self.schema_for(&self.whole().members).schema
    }

    fn schema_for(&self, members: &[usize]) -> JsonSchemaFormat {
        if self.batched {
            batched_schema(&self.asked(members))
        } else {
            single_schema(Form::of(self.only(members)))
        }
    }

    /// Criteria under the names they have in a call that asks about several.
    fn asked(&self, members: &[usize]) -> Vec<Asked<'a>> {
        members.iter().map(|&member| self.slots[member].asked.clone()).collect()
    }

    /// The criterion of a call that asks about one.
    fn only(&self, members: &[usize]) -> &'a Criterion {
        self.slots[members[0]].asked.criterion
    }

    /// Asks until each criterion is decided or given up; `shared` says whether other calls begin like these.
    pub(super) async fn run(mut self, shared: bool) -> Vec<Judgement> {
        self.shared = shared;
        let mut calls = vec![self.whole()];
        let repairs = self.scene.judge.options.repairs;
        for round in 0..=repairs {
            let left = repairs - round;
            let mut next = Vec::new();
            for call in calls {
                for call in self.fitting(call) {
                    next.extend(self.make(call, left).await);
                }
            }
            calls = next;
            if calls.is_empty() {
                break;
            }
        }
        let judge = &self.scene.judge.identity;
        self.slots
            .into_iter()
            .map(|slot| {
                let mut judge = judge.clone();
                judge.model.clone_from(&slot.model);
                slot.judgement(judge)
            })
            .collect()
    }

    /// The call, or as few that ask the same as the model can read. What no division makes fit stays as it is.
    fn fitting(&self, call: Call) -> Vec<Call> {
        let fits = |call: &Call| {
            let request = self.request(call);
            window::check(self.scene.card, Some(self.scene.truncate), &request).is_ok()
        };
        // A request is only put together twice where something may hang on it.
        if call.members.len() < 2 || self.scene.card.context_tokens.is_none() || fits(&call) {
            return vec![call];
        }
        let (first, second) = call.members.split_at(call.members.len().div_ceil(2));
        [first, second]
            .into_iter()
            .flat_map(|half| self.fitting(Call { members: half.to_vec(), repair: call.repair.clone() }))
            .collect()
    }

    /// Makes one call and returns the calls that should follow it; `left` is how many rounds are left.
    async fn make(&mut self, call: Call, left: u32) -> Vec<Call> {
        let answered = {
            let Ok(_permit) = self.scene.judge.in_flight.acquire().await else {
                self.fail(
                    &call.members,
                    &Failure::new(UngradedKind::Cancelled, "the run ended before the judge was asked"),
                );
                return Vec::new();
            };
            let request = self.request(&call);
            if let Err(failure) = window::check(self.scene.card, Some(self.scene.truncate), &request) {
                self.fail(&call.members, &failure);
                return Vec::new();
            }
            self.scene.judge.ask.ask_repeat(&request, self.scene.draw).await
        };
        let first = call.members.first().copied().unwrap_or(0);
        let mut answered = match answered {
            Ok(answered) => answered,
            Err(error) => {
                self.slots[first].tally.error(&error);
                let failure = Failure::of_error(&error);
                self.fail(&call.members, &failure);
                let split = failure.kind == UngradedKind::Refusal && left > 0;
                return if split { self.split(&call.members, left, None) } else { Vec::new() };
            }
        };
        self.slots[first].tally.reply(&answered);
        for &member in &call.members {
            self.slots[member].model = answered.reply.model.as_deref().map(Arc::from);
        }
        let next = self.take(&call.members, &answered.reply, left);
        // Only a reply that decides everything it was asked is worth finding again: a call that must be repeated may
        // turn out better the next time.
        if call.members.iter().all(|&member| self.slots[member].is_decided()) {
            answered.keep();
        }
        next
    }

    fn request(&self, call: &Call) -> assize_llm::ChatRequest {
        let scene = self.scene;
        let question = if self.batched {
            batched_part(&self.asked(&call.members), scene.policy, &scene.fence)
        } else {
            single_part(self.only(&call.members), scene.policy, &scene.fence)
        };
        let schema = self.schema_for(&call.members);
        scene.request(question, call.repair.clone(), schema, call.members.len(), self.shared)
    }

    /// Takes what a reply decides and returns the calls for what it leaves open.
    fn take(&mut self, members: &[usize], reply: &ChatReply, left: u32) -> Vec<Call> {
        let text = match usable(reply) {
            Ok(text) => text,
            Err(failure) => {
                self.fail(members, &failure);
                return match failure.kind {
                    // One criterion, or the length of all of them, may be the cause: fewer at a time may go through.
                    _ if left == 0 => Vec::new(),
                    UngradedKind::Refusal => self.split(members, left, None),
                    UngradedKind::Truncated if members.len() > 1 => {
                        self.split(members, left, Some(&failure.message))
                    }
                    _ => vec![self.repair(members.to_vec(), &failure.message, &reply.text)],
                };
            }
        };
        let Results { each, strays } = match self.read(members, text) {
            Ok(read) => read,
            Err(message) => {
                self.fail(members, &Failure::new(UngradedKind::Malformed, message.clone()));
                return if left == 0 {
                    Vec::new()
                } else {
                    vec![self.repair(members.to_vec(), &message, text)]
                };
            }
        };
        let mut open = Vec::new();
        let mut problems = Vec::new();
        for (&member, result) in members.iter().zip(each) {
            let result = result
                .map_err(|message| Failure::new(UngradedKind::Malformed, message))
                .and_then(|decision| self.slots[member].check(decision, self.scene))
                .and_then(|decision| self.slots[member].weigh(decision, reply, self.scene));
            match result {
                Ok(decision) => self.slots[member].state = State::Decided(decision),
                // Asking again would bring the same probabilities.
                Err(failure) if failure.kind == UngradedKind::Probability => {
                    self.slots[member].state = State::Open(Some(failure));
                }
                Err(failure) => {
                    problems.push(self.problem(member, &failure.message));
                    self.slots[member].state = State::Open(Some(failure));
                    open.push(member);
                }
            }
        }
        if open.is_empty() || left == 0 {
            return Vec::new();
        }
        problems.extend(strays);
        vec![self.repair(open, &problems.join("\n"), text)]
    }

    /// The decisions in a reply and stray problems, or what is wrong with the reply as a whole.
    fn read(&self, members: &[usize], text: &str) -> Result<Results, String> {
        if !self.batched {
            let form = Form::of(self.only(members));
            return Ok(Results { each: vec![read_single(text, form)], strays: Vec::new() });
        }
        read_batched(text, &self.asked(members))
    }

    fn problem(&self, member: usize, message: &str) -> String {
        if self.batched {
            format!("{}: {message}", self.slots[member].asked.handle)
        } else {
            message.to_owned()
        }
    }

    fn fail(&mut self, members: &[usize], failure: &Failure) {
        for &member in members {
            let slot = &mut self.slots[member];
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

    fn repair(&self, members: Vec<usize>, problem: &str, reply: &str) -> Call {
        Call { members, repair: Some(repair_part(&*self.scene.judge.fences, problem, reply)) }
    }

    /// The same criteria in two calls, or one each when this is the last chance. A single criterion is given up.
    fn split(&self, members: &[usize], left: u32, problem: Option<&str>) -> Vec<Call> {
        if members.len() < 2 {
            return Vec::new();
        }
        let size = if left == 1 { 1 } else { members.len().div_ceil(2) };
        members
            .chunks(size)
            .map(|chunk| match problem {
                Some(problem) => self.repair(chunk.to_vec(), problem, ""),
                None => Call { members: chunk.to_vec(), repair: None },
            })
            .collect()
    }
}

impl Slot<'_> {
    fn is_decided(&self) -> bool {
        matches!(self.state, State::Decided(_))
    }

    /// Verifies the quotes, and refuses the decision if the policy demands more of them.
    fn check(&mut self, decision: Decision, scene: &Scene<'_>) -> Result<Decision, Failure> {
        self.evidence = decision
            .evidence
            .iter()
            .map(|quote| Evidence { quote: quote.clone(), verified: scene.index.contains(quote) })
            .collect();
        if scene.policy == EvidencePolicy::Checked {
            return Ok(decision);
        }
        // Quotes are named by number: their text came from a reply and has no place among instructions.
        let unknown: Vec<String> = self
            .evidence
            .iter()
            .enumerate()
            .filter(|(_, evidence)| !evidence.verified)
            .map(|(position, _)| (position + 1).to_string())
            .collect();
        if !unknown.is_empty() {
            return Err(Failure::new(
                UngradedKind::Evidence,
                format!(
                    "evidence quote {} is not in the answer, the file changes or the tool calls; quotes must be copied \
                     character for character",
                    unknown.join(", ")
                ),
            ));
        }
        if self.evidence.is_empty() && rests_on_something(self.asked.criterion, decision.outcome) {
            return Err(Failure::new(
                UngradedKind::Evidence,
                "the decision needs at least one quote and has none",
            ));
        }
        Ok(decision)
    }

    /// Lets the probabilities decide, where they are to.
    fn weigh(
        &mut self,
        decision: Decision,
        reply: &ChatReply,
        scene: &Scene<'_>,
    ) -> Result<Decision, Failure> {
        if !scene.probabilities {
            return Ok(decision);
        }
        match expected(reply, decision.outcome) {
            Ok((outcome, probability)) => {
                self.probability = probability;
                Ok(Decision { outcome, ..decision })
            }
            Err(undecided) => {
                self.probability = undecided.found;
                Err(Failure::new(UngradedKind::Probability, undecided.message))
            }
        }
    }

    fn judgement(self, judge: assize_rubric::JudgeIdentity) -> Judgement {
        let Self { asked, tally, state, evidence, probability, .. } = self;
        let Spent { attempts, cached_calls, tokens, latency_ms, cost, replies } = tally.spent;
        let (outcome, reason, ungraded) = match state {
            State::Decided(decision) => (decision.outcome, decision.reason, None),
            State::Open(failure) => {
                let failure = failure.unwrap_or_else(|| {
                    Failure::new(UngradedKind::NotJudged, "the judge was not asked about it")
                });
                let ungraded = Ungraded { kind: failure.kind, message: failure.message.clone() };
                (Outcome::Ungraded, failure.message, Some(ungraded))
            }
        };
        Judgement {
            criterion: asked.criterion.id.clone(),
            outcome,
            reason,
            evidence,
            confidence: None,
            probability,
            judge,
            ungraded,
            attempts,
            cached_calls,
            cost,
            truncated: None,
            tokens,
            latency_ms,
            replies,
        }
    }
}

/// Whether a decision says that something is there, which can be quoted. That something is missing can't.
fn rests_on_something(criterion: &Criterion, outcome: Outcome) -> bool {
    match (outcome, &criterion.scale) {
        (Outcome::Met, _) => criterion.operator == Operator::Correctness,
        (Outcome::Unmet, _) => criterion.operator == Operator::Contradiction,
        (Outcome::Scored(score), Scale::Bands(bands)) => {
            bands.as_slice().first().is_some_and(|band| score > band.high)
        }
        (Outcome::Scored(_) | Outcome::Averaged(_) | Outcome::NotApplicable | Outcome::Ungraded, _) => false,
    }
}
