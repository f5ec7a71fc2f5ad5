//! The criteria of one call, followed through repairs until each is decided or given up.

use assize_llm::{ChatReply, ChatRequest, JsonSchemaFormat, ModelCard, ReplySchema};
use assize_rubric::{
    Criterion, CriterionOperator, CriterionScale, Decision, DecisionProbability, EvidencePolicy,
    EvidenceQuote, Finding, Outcome, TruncationMode, UngradedKind, UngradedReason,
};

use super::repair::{PartAnswer, PartReadings, RepairQuestion, ask_with_repair, first_requests};
use super::template::CallTemplate;
use crate::prompt::{
    DecisionForm, PromptCriterion, batched_part, batched_schema, single_part, single_schema,
};
use crate::reply::{BatchedReply, ParsedReply, expected_decision, read_batched, read_single};

/// Criteria in the same call.
pub(super) struct CriterionGroup<'a> {
    template: &'a CallTemplate<'a>,
    batched: bool,
    /// True if other calls begin like the calls of this group.
    shared: bool,
    slots: Vec<CriterionSlot<'a>>,
}

/// One criterion, with the quotes and the reason of the last readable reply.
struct CriterionSlot<'a> {
    prompt: PromptCriterion<'a>,
    evidence: Vec<EvidenceQuote>,
    probability: Option<DecisionProbability>,
}

impl<'a> CriterionGroup<'a> {
    pub(super) fn new(template: &'a CallTemplate<'a>, criteria: &'a [Criterion], batched: bool) -> Self {
        // The authors' ids may reveal what depends on a criterion ("critical-2"), so the judge never sees them.
        // The handle contains part of the fence, so that an answer can't name it: verdicts written into an
        // answer, and copied by the judge, then match no criterion. A criterion alone in its call needs no
        // handle.
        let handle = |position: usize| {
            if batched { format!("c{}-{}", position + 1, template.handle_mark()) } else { String::new() }
        };
        let slots = criteria.iter().enumerate().map(|(position, criterion)| CriterionSlot {
            prompt: PromptCriterion { handle: handle(position), criterion },
            evidence: Vec::new(),
            probability: None,
        });

        Self { template, batched, shared: false, slots: slots.collect() }
    }

    /// The request that asks about all criteria at once.
    pub(super) fn combined_request(&self) -> ChatRequest {
        self.request(&self.all_parts(), None)
    }

    /// The first requests, and the number of criteria in each: one request, or as few as fit the model's
    /// context window.
    pub(super) fn first_requests(&self) -> Vec<(ChatRequest, usize)> {
        first_requests(self, self.slots.len())
    }

    /// The requests that ask about its criteria one by one.
    pub(super) fn single_requests(&self) -> impl Iterator<Item = ChatRequest> {
        (0..self.slots.len()).map(|part| self.request(&[part], None))
    }

    /// The JSON schema of the first reply.
    pub(super) fn schema(&self) -> ReplySchema {
        self.schema_for(&self.all_parts()).schema
    }

    fn all_parts(&self) -> Vec<usize> {
        (0..self.slots.len()).collect()
    }

    fn schema_for(&self, parts: &[usize]) -> JsonSchemaFormat {
        if self.batched {
            batched_schema(&self.prompts(parts))
        } else {
            single_schema(DecisionForm::for_criterion(self.only_prompt(parts)))
        }
    }

    /// The criteria with their handles, for a call about several.
    fn prompts(&self, parts: &[usize]) -> Vec<PromptCriterion<'a>> {
        parts.iter().map(|&part| self.slots[part].prompt.clone()).collect()
    }

    /// The criterion of a call about one.
    fn only_prompt(&self, parts: &[usize]) -> &'a Criterion {
        self.slots[parts[0]].prompt.criterion
    }

    /// Asks until each criterion is decided or given up; `shared` says whether other calls begin like these.
    pub(super) async fn decide(mut self, shared: bool) -> Vec<Decision> {
        self.shared = shared;
        let (judge, count) = (self.template.judge, self.slots.len());
        let answers = ask_with_repair(judge, &mut self, count).await;

        let decided = self.slots.into_iter().zip(answers);
        decided.map(|(slot, answer)| slot.decision(answer, judge.identity.clone())).collect()
    }
}

impl RepairQuestion for CriterionGroup<'_> {
    type Reading = ParsedReply<Outcome>;

    fn card(&self) -> ModelCard {
        self.template.card
    }

    fn repeat_number(&self) -> u32 {
        self.template.repeat_number
    }

    fn truncate(&self) -> Option<TruncationMode> {
        Some(self.template.truncate)
    }

    fn request(&self, parts: &[usize], repair: Option<String>) -> ChatRequest {
        let template = self.template;
        let question = if self.batched {
            batched_part(&self.prompts(parts), template.policy, &template.fence)
        } else {
            single_part(self.only_prompt(parts), template.policy, &template.fence)
        };
        template.request(question, repair, self.schema_for(parts), parts.len(), self.shared)
    }

    fn read(
        &mut self,
        parts: &[usize],
        text: &str,
        reply: &ChatReply,
    ) -> Result<PartReadings<ParsedReply<Outcome>>, String> {
        let BatchedReply { each, strays } = if self.batched {
            read_batched(text, &self.prompts(parts))?
        } else {
            BatchedReply {
                each: vec![read_single(text, DecisionForm::for_criterion(self.only_prompt(parts)))],
                strays: Vec::new(),
            }
        };

        let template = self.template;
        let checked = parts.iter().zip(each).map(|(&part, reading)| {
            let slot = &mut self.slots[part];
            reading
                .map_err(|message| UngradedReason::new(UngradedKind::Malformed, message))
                .and_then(|reading| slot.check(reading, template))
                .and_then(|reading| slot.weigh(reading, reply, template))
        });
        Ok(PartReadings { each: checked.collect(), strays })
    }

    fn problem(&self, part: usize, message: &str) -> String {
        if self.batched {
            format!("{}: {message}", self.slots[part].prompt.handle)
        } else {
            message.to_owned()
        }
    }
}

impl CriterionSlot<'_> {
    /// Verifies the quotes, and refuses the decision if the policy demands quotes that are not there.
    fn check(
        &mut self,
        reading: ParsedReply<Outcome>,
        template: &CallTemplate<'_>,
    ) -> Result<ParsedReply<Outcome>, UngradedReason> {
        self.evidence = reading
            .evidence
            .iter()
            .map(|quote| EvidenceQuote { quote: quote.clone(), verified: template.index.contains(quote) })
            .collect();

        if template.policy == EvidencePolicy::Checked {
            return Ok(reading);
        }

        // Quotes are named by number, because their text came from a reply and must not appear among
        // instructions.
        let unknown: Vec<String> = self
            .evidence
            .iter()
            .enumerate()
            .filter(|(_, evidence)| !evidence.verified)
            .map(|(position, _)| (position + 1).to_string())
            .collect();
        if !unknown.is_empty() {
            return Err(UngradedReason::new(
                UngradedKind::Evidence,
                format!(
                    "evidence quote {} is not in the answer, the file changes or the tool calls; quotes must be copied \
                     character for character",
                    unknown.join(", ")
                ),
            ));
        }

        if self.evidence.is_empty() && requires_evidence(self.prompt.criterion, reading.decided) {
            return Err(UngradedReason::new(
                UngradedKind::Evidence,
                "the decision needs at least one quote and has none",
            ));
        }

        Ok(reading)
    }

    /// Lets token probabilities decide, if the task asks for that.
    fn weigh(
        &mut self,
        reading: ParsedReply<Outcome>,
        reply: &ChatReply,
        template: &CallTemplate<'_>,
    ) -> Result<ParsedReply<Outcome>, UngradedReason> {
        if !template.probabilities {
            return Ok(reading);
        }
        match expected_decision(reply, reading.decided) {
            Ok((outcome, probability)) => {
                self.probability = probability;
                Ok(ParsedReply { decided: outcome, ..reading })
            }
            Err(undecided) => {
                self.probability = undecided.found;
                Err(UngradedReason::new(UngradedKind::Probability, undecided.message))
            }
        }
    }

    fn decision(
        self,
        answer: PartAnswer<ParsedReply<Outcome>>,
        mut judge: assize_rubric::JudgeIdentity,
    ) -> Decision {
        judge.model = answer.model;
        let criterion = self.prompt.criterion.clone();
        let decision = match answer.reading {
            Ok(reading) => {
                let finding = Finding::Criterion { criterion, outcome: reading.decided };
                Decision::new(judge, finding, reading.reason)
            }
            Err(failure) => Decision::ungraded(judge, criterion, failure),
        };

        Decision {
            evidence: self.evidence,
            probability: self.probability,
            spent: answer.tally.spent,
            ..decision
        }
    }
}

/// Returns true if a decision claims that the answer contains a passage, which can be quoted. An absence
/// can't be quoted.
fn requires_evidence(criterion: &Criterion, outcome: Outcome) -> bool {
    match (outcome, &criterion.scale) {
        (Outcome::Met, _) => criterion.operator == CriterionOperator::Correctness,
        (Outcome::Unmet, _) => criterion.operator == CriterionOperator::Contradiction,
        (Outcome::Scored(score), CriterionScale::Bands(bands)) => {
            bands.as_slice().first().is_some_and(|band| score > band.high)
        }
        (Outcome::Scored(_) | Outcome::Averaged(_) | Outcome::NotApplicable | Outcome::Ungraded, _) => false,
    }
}
