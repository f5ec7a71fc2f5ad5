//! Grades a conversation: each turn as a composite of its graders, and all of these together with the whole
//! conversation in one composite.

use std::sync::Arc;

use assize_model::{
    Case, CompositeAggregator, CompositeGrader, Conversation, Grader, GraderKind, OnTurnFailure,
    TurnAggregation,
};
use assize_rubric::{
    CaseDecision, CompositeFormula, CompositeMember, CompositeStructure, GateState, GraderFinding,
    GraderFindingKind, GraderOutcome, GraderScore, GraderWeighting, MemberAggregator, Verdict,
    VerdictThresholds, combine_members, member_outcome,
};
use futures_util::future::join_all;

use super::path::GraderPath;
use super::{GradingContext, grade_at};

/// Name and type of the grader that represents a conversation.
const CONVERSATION: &str = "conversation";

/// The graders of a conversation as a single grader of its case. Its members are the turns, and the whole conversation
/// if the case has graders in addition to the turns'.
pub(crate) struct ConversationGrades {
    top: Grader,
    /// Its name, as its rows carry it.
    name: Arc<str>,
    aggregator: MemberAggregator,
    /// True if a failed turn ends the conversation.
    stops: bool,
    thresholds: VerdictThresholds,
    members: Vec<CompositeMember>,
    decisions: Vec<CaseDecision>,
}

impl ConversationGrades {
    pub(crate) fn new(case: &Case, talk: &Conversation, thresholds: VerdictThresholds) -> Self {
        Self {
            top: placeholder_grader(case, CONVERSATION, CONVERSATION),
            name: CONVERSATION.into(),
            aggregator: match talk.aggregation {
                TurnAggregation::Mean => MemberAggregator::WeightedAverage,
                TurnAggregation::Min => MemberAggregator::Lowest,
                TurnAggregation::Max => MemberAggregator::Highest,
            },
            stops: talk.on_turn_failure == OnTurnFailure::Stop,
            thresholds,
            members: Vec::new(),
            decisions: Vec::new(),
        }
    }

    /// Grades an answer with the graders of the context's case. Returns whether it certainly failed.
    pub(crate) async fn grade(&mut self, context: &GradingContext<'_>) -> bool {
        let graders = &context.item.case.graders;
        if graders.is_empty() {
            self.exclude_turn(context, "this turn has no graders, so it is not counted");
            return false;
        }

        let members = graders.iter().map(|grader| CompositeMember {
            name: grader.name.clone(),
            type_name: grader.type_name.clone(),
            weighting: grader.weighting,
        });
        let composite = CompositeStructure {
            aggregator: MemberAggregator::WeightedAverage,
            members: members.collect(),
            passed: None,
        };
        let own = composite_finding(composite);
        let name = self.add_part(context, own, String::new());
        let decided = join_all(graders.iter().map(|grader| {
            let members = vec![name.clone(), grader.name.clone()];
            let top = Arc::clone(&self.name);
            grade_at(GraderPath { top, members, ..GraderPath::new(context, grader) })
        }));
        let decided: Vec<CaseDecision> = decided.await.into_iter().flatten().collect();
        self.decisions.extend(decided);

        self.failed(&name)
    }

    /// Records that a turn or the whole conversation could not be graded.
    pub(crate) fn add_failure(&mut self, context: &GradingContext<'_>, message: String) {
        self.add_part(context, GraderFinding::broken(message), String::new());
    }

    /// Records that a turn does not count for the score.
    pub(crate) fn exclude_turn(&mut self, context: &GradingContext<'_>, why: &str) {
        self.add_part(context, GraderFinding::without_score(), why.to_owned());
    }

    /// All decisions, with the grader that they belong to. `context` may be that of any part.
    pub(crate) fn finish(self, context: &GradingContext<'_>) -> (Grader, Vec<CaseDecision>) {
        let composite =
            CompositeStructure { aggregator: self.aggregator, members: self.members, passed: None };
        let weighting = GraderWeighting::default();
        let path =
            GraderPath { top: Arc::clone(&self.name), weighting, ..GraderPath::new(context, &self.top) };

        let own =
            CaseDecision { turn: None, ..path.own_decision(composite_finding(composite), String::new()) };
        let rows = std::iter::once(own).chain(self.decisions).collect();
        (self.top, rows)
    }

    /// Adds the decision on a part, and returns the part's name.
    fn add_part(&mut self, context: &GradingContext<'_>, finding: GraderFinding, why: String) -> String {
        let (name, type_name) = match context.turn {
            Some(number) => (format!("turn-{number}"), "turn"),
            None => ("whole".to_owned(), CONVERSATION),
        };
        // If a failed turn ends the conversation, no later turn can compensate for it.
        let weighting =
            GraderWeighting { required: self.stops && context.turn.is_some(), ..GraderWeighting::default() };
        let part = placeholder_grader(&context.item.case, &name, type_name);
        let members = vec![name.clone()];
        let path =
            GraderPath { top: Arc::clone(&self.name), weighting, members, ..GraderPath::new(context, &part) };
        self.decisions.push(path.own_decision(finding, why));

        let type_name = type_name.to_owned();
        self.members.push(CompositeMember { name: name.clone(), type_name, weighting });

        name
    }

    /// Whether the part that was graded last failed for all possible outcomes of its ungraded criteria.
    fn failed(&self, name: &str) -> bool {
        let rows: Vec<&CaseDecision> = self
            .decisions
            .iter()
            .filter(|row| row.member.first().is_some_and(|first| first == name))
            .collect();
        let outcome = member_outcome(&rows, 1, self.thresholds).unwrap_or(GraderOutcome::Errored);
        let weighting = self.members.last().map(|member| member.weighting).unwrap_or_default();
        let combined =
            combine_members(&[(weighting, outcome)], CompositeFormula::WeightedAverage, self.thresholds);

        combined.members.first().is_some_and(|score: &GraderScore| {
            score.verdict == Some(Verdict::Fail) || score.required == Some(GateState::Failed)
        })
    }
}

/// The finding of a grader whose score is computed from its members.
fn composite_finding(composition: CompositeStructure) -> GraderFinding {
    let kind = GraderFindingKind::Composite(composition);
    GraderFinding { kind, ..GraderFinding::without_score() }
}

/// A grader that only represents its members.
fn placeholder_grader(case: &Case, name: &str, type_name: &str) -> Grader {
    let nothing = CompositeGrader {
        members: Vec::<Arc<Grader>>::new(),
        aggregator: CompositeAggregator::WeightedAverage(Vec::new()),
    };
    Grader {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        weighting: GraderWeighting::default(),
        place: case.place.clone(),
        kind: GraderKind::Composite(nothing),
    }
}
