//! Grading a conversation: each turn as a composite of its graders, all of them and the conversation as a whole in one.

use std::sync::Arc;

use assize_evalfile::{
    Case, CompositeAggregator, CompositeGrader, Conversation, Grader, GraderKind, OnTurnFailure,
    TurnAggregation,
};
use assize_rubric::{
    Combination, GateState, GraderOutcome, GraderScore, GraderStanding, Lines, Verdict, combine,
};
use assize_store::{Aggregator, CompositeRow, GraderResult, JudgementRow, MemberRow, member_outcome};
use futures_util::future::join_all;

use super::rows::Spot;
use super::{Scene, grade_at};

/// Name and type of the grader that a conversation is.
const CONVERSATION: &str = "conversation";

/// The graders of a conversation, as one grader of its case: the turns are its members, and so is the conversation as a
/// whole when the case has graders of its own.
pub(crate) struct Talk {
    top: Grader,
    /// Its name, as its rows carry it.
    name: Arc<str>,
    aggregator: Aggregator,
    /// A turn that fails ends the conversation.
    stops: bool,
    lines: Lines,
    members: Vec<MemberRow>,
    rows: Vec<JudgementRow>,
}

impl Talk {
    pub(crate) fn new(case: &Case, talk: &Conversation, lines: Lines) -> Self {
        Self {
            top: stand_in(case, CONVERSATION, CONVERSATION),
            name: CONVERSATION.into(),
            aggregator: match talk.aggregation {
                TurnAggregation::Mean => Aggregator::WeightedAverage,
                TurnAggregation::Min => Aggregator::Lowest,
                TurnAggregation::Max => Aggregator::Highest,
            },
            stops: talk.on_turn_failure == OnTurnFailure::Stop,
            lines,
            members: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Grades an answer by the graders of the scene's case. Returns whether it failed for certain.
    pub(crate) async fn grade(&mut self, scene: &Scene<'_>) -> bool {
        let graders = &scene.item.case.graders;
        if graders.is_empty() {
            self.leave_out(scene, "nothing is asked of this turn, so it is left out");
            return false;
        }
        let members = graders.iter().map(|grader| MemberRow {
            name: grader.name.clone(),
            type_name: grader.type_name.clone(),
            standing: grader.standing.into(),
        });
        let composite = CompositeRow { aggregator: Aggregator::WeightedAverage, members: members.collect() };
        let own = GraderResult { composite: Some(composite), ..GraderResult::default() };
        let name = self.add(scene, own, String::new());
        let decided = join_all(graders.iter().map(|grader| {
            let path = vec![name.clone(), grader.name.clone()];
            grade_at(scene, Spot { top: Arc::clone(&self.name), grader, standing: grader.standing, path })
        }));
        let decided: Vec<JudgementRow> = decided.await.into_iter().flatten().collect();
        self.rows.extend(decided);
        self.failed(&name)
    }

    /// Notes that a turn, or the conversation as a whole, could not be graded.
    pub(crate) fn break_off(&mut self, scene: &Scene<'_>, message: String) {
        self.add(scene, GraderResult { error: Some(message), ..GraderResult::default() }, String::new());
    }

    /// Notes that a turn has no part in the score.
    pub(crate) fn leave_out(&mut self, scene: &Scene<'_>, why: &str) {
        self.add(scene, GraderResult::default(), why.to_owned());
    }

    /// All rows, with the name and the type of the grader they belong to. `scene` is that of any part.
    pub(crate) fn finish(self, scene: &Scene<'_>) -> (Grader, Vec<JudgementRow>) {
        let composite = CompositeRow { aggregator: self.aggregator, members: self.members };
        let result = GraderResult { composite: Some(composite), ..GraderResult::default() };
        let standing = GraderStanding::default();
        let spot = Spot { top: Arc::clone(&self.name), grader: &self.top, standing, path: Vec::new() };
        let own = JudgementRow { turn: None, ..spot.row(scene, result, String::new()) };
        let rows = std::iter::once(own).chain(self.rows).collect();
        (self.top, rows)
    }

    /// Adds the row of a part and returns the part's name.
    fn add(&mut self, scene: &Scene<'_>, result: GraderResult, why: String) -> String {
        let (name, type_name) = match scene.turn {
            Some(number) => (format!("turn-{number}"), "turn"),
            None => ("whole".to_owned(), CONVERSATION),
        };
        // Where a failed turn is the end, no later turn can make up for it.
        let standing =
            GraderStanding { required: self.stops && scene.turn.is_some(), ..GraderStanding::default() };
        let part = stand_in(&scene.item.case, &name, type_name);
        let path = vec![name.clone()];
        let spot = Spot { top: Arc::clone(&self.name), grader: &part, standing, path };
        self.rows.push(spot.row(scene, result, why));
        let type_name = type_name.to_owned();
        self.members.push(MemberRow { name: name.clone(), type_name, standing: standing.into() });
        name
    }

    /// Whether the part that was graded last failed, whatever its open questions turn out to be.
    fn failed(&self, name: &str) -> bool {
        let rows: Vec<&JudgementRow> =
            self.rows.iter().filter(|row| row.member.first().is_some_and(|first| first == name)).collect();
        let outcome = member_outcome(&rows, 1, self.lines).unwrap_or(GraderOutcome::Errored);
        let standing = self.members.last().map(|member| member.standing.into()).unwrap_or_default();
        let combined = combine(&[(standing, outcome)], Combination::WeightedAverage, self.lines);
        combined.members.first().is_some_and(|score: &GraderScore| {
            score.verdict == Some(Verdict::Fail) || score.required == Some(GateState::Failed)
        })
    }
}

/// A grader that only stands for its members.
fn stand_in(case: &Case, name: &str, type_name: &str) -> Grader {
    let nothing = CompositeGrader {
        members: Vec::<Arc<Grader>>::new(),
        aggregator: CompositeAggregator::WeightedAverage(Vec::new()),
    };
    Grader {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        standing: GraderStanding::default(),
        place: case.place.clone(),
        kind: GraderKind::Composite(nothing),
    }
}
