//! The words and the arithmetic of rubric evaluation.
//!
//! A [`Decision`] is what a judge, a check, a program or a panel said; a [`CaseDecision`] is one with its place in a
//! case. [`grader_outcome`] makes one outcome of the decisions of a grader.
//!
//! Criteria with weights and gates, the four outcomes a criterion can have, and the pure functions
//! that turn outcomes into scores, bounds and verdicts. There is no I/O, no clock and no randomness
//! here: a verdict is a function of (rubric, outcomes) and nothing else, so it can be recomputed
//! and explained at any time.
//!
//! The arithmetic, in the order it is applied: [`score_rubric`] scores one rubric,
//! [`score_case`] combines the graders of one case, [`weighted_mean`] is the mean of a weighted tree,
//! [`score_card`] adds up a whole scorecard. Before all of them, [`combine_votes`] makes one decision of several on the
//! same criterion.

#![warn(missing_docs)]

mod aggregation;
mod benchmark;
mod case;
mod case_decision;
mod combine;
mod composition;
mod criterion;
mod decision;
mod finding;
mod format;
mod gate;
mod graded;
mod id;
mod identity;
mod judging;
mod label;
mod message;
mod money;
mod named;
mod number;
mod outcome;
mod pairwise;
mod panel;
mod points;
mod prerequisites;
mod repeats;
mod rubric;
mod score;
mod scorecard;
mod settle;
mod sum;
mod tree;
mod verdict;
mod vote;

pub use aggregation::Aggregation;
pub use benchmark::{BenchmarkFinding, BenchmarkScale, BenchmarkState, DecidedBy, LabelScore};
pub use case::{CaseScore, GraderOutcome, GraderScore, GraderStanding, score_case};
pub use case_decision::CaseDecision;
pub use combine::{Combination, CombinedScore, combine};
pub use composition::{Aggregator, Composition, Member};
pub use criterion::{Band, Bands, BandsError, Criterion, Operator, Scale};
pub use decision::{
    Confidence, Decision, Evidence, JudgeIdentity, Probability, Spent, Tokens, Truncate, Truncated, Ungraded,
    UngradedKind,
};
pub use finding::{Finding, GraderFinding, GraderFindingKind, Note};
pub use format::{dollars, grouped};
pub use gate::{Gate, GateState};
pub use graded::{GateCheck, grader_gates, grader_outcome, is_complete, member_outcome};
pub use id::CriterionId;
pub use identity::{Identify, IdentityWriter};
pub use judging::{EvidencePolicy, Judging};
pub use label::{Label, LabelOutcome, Sampling, Severity, Split};
pub use message::{Block, Message, Role, ToolCall};
pub use money::{Cost, PartialCost, Usd};
pub use number::{NotFinite, OutOfRange, Points, RawScore, Unit, Weight};
pub use outcome::{Outcome, OutcomeKind};
pub use pairwise::{Comparison, OrderDecision, PairOutcome, PairScores, Preference};
pub use panel::{PanelDecision, PanelResult, PanelRule, PanelVote, Ties, VoteValue, combine_votes};
pub use points::{PointsMean, points_mean, points_ratio};
pub use prerequisites::{Prerequisites, prerequisites};
pub use repeats::{Repeat, RepeatPlan, RepeatStrategy, RepeatedCase};
pub use rubric::{Rubric, RubricError, repeated};
pub use score::{Formula, OutcomeError, RubricScore, score_criteria, score_rubric};
pub use scorecard::{
    Card, CardError, CardKind, CardNode, CardScores, CaseTally, Contribution, Criticality, Gain,
    MissingPolicy, NodeId, NodeScore, Normalisation, NormaliseError, Standing, score_card,
};
pub use settle::{SettledLabels, settle_labels};
pub use tree::{Tree, weighted_mean};
pub use verdict::{Lines, LinesError, TOLERANCE, Verdict, at_least};
pub use vote::{
    EscalateWhen, EscalationReport, PanelReport, Vote, VoteOutcome, VoteSummary, deciding_votes,
    panel_decision, panel_decision_if,
};
