//! The words and the arithmetic of rubric evaluation.
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
mod case;
mod combine;
mod criterion;
mod format;
mod gate;
mod id;
mod judgement;
mod judging;
mod label;
mod message;
mod money;
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

pub use aggregation::Aggregation;
pub use case::{CaseScore, GraderOutcome, GraderScore, GraderStanding, score_case};
pub use combine::{Combination, CombinedScore, combine};
pub use criterion::{Band, Bands, BandsError, Criterion, Operator, Scale};
pub use format::{dollars, grouped};
pub use gate::{Gate, GateState};
pub use id::CriterionId;
pub use judgement::{
    Confidence, Evidence, JudgeIdentity, Judgement, Probability, Tokens, Truncate, Truncated, Ungraded,
    UngradedKind,
};
pub use judging::{EvidencePolicy, Judging};
pub use label::{Label, LabelOutcome, Sampling, Severity, Split};
pub use message::{Block, Message, Role, ToolCall};
pub use money::{Cost, PartialCost, Usd};
pub use number::{NotFinite, OutOfRange, Points, RawScore, Unit, Weight};
pub use outcome::Outcome;
pub use pairwise::{PairOutcome, PairScores, Preference};
pub use panel::{Cast, PanelDecision, PanelResult, PanelRule, PanelVote, Ties, combine_votes};
pub use points::{PointsMean, points_mean, points_ratio};
pub use prerequisites::{Prerequisites, prerequisites};
pub use repeats::{Repeat, RepeatPlan, RepeatStrategy, RepeatedCase};
pub use rubric::{Rubric, RubricError, repeated};
pub use score::{Formula, OutcomeError, RubricScore, score_criteria, score_rubric};
pub use scorecard::{
    Card, CardError, CardKind, CardNode, CardScores, CaseTally, Contribution, Criticality, Gain,
    MissingPolicy, NodeId, NodeScore, Normalisation, NormaliseError, Standing, score_card,
};
pub use settle::{Settled, settle_labels};
pub use tree::{Tree, weighted_mean};
pub use verdict::{Lines, LinesError, TOLERANCE, Verdict, at_least};
