//! Terms and arithmetic of rubric evaluation.
//!
//! A [`Decision`] is made by a judge, a check, a program or a panel; a [`CaseDecision`] is a decision with
//! its place in a case. [`grader_outcome`] computes the outcome of a grader from its decisions.
//!
//! Criteria have weights and gates and one of four kinds of outcomes; pure functions turn outcomes into scores, bounds
//! and verdicts. There is no I/O, no clock and no randomness here: a verdict is a function of the rubric and the
//! outcomes only, so it can be recomputed and explained at any time.
//!
//! The arithmetic, in the order it is applied: [`combine_votes`] combines several decisions on one criterion,
//! [`score_rubric`] scores one rubric, [`score_case`] combines the graders of one case, [`weighted_mean`] is
//! the mean of a weighted tree, and [`score_card`] aggregates a whole scorecard.

#![warn(missing_docs)]

mod aggregation;
mod benchmark;
mod benchmark_finding;
mod case;
mod case_decision;
mod combine;
mod composition;
mod criterion;
mod criterion_scale;
mod deciding_votes;
mod decision;
mod digits;
mod finding;
mod format;
mod formula;
mod gate;
mod graded;
mod grader_score;
mod id;
mod identity;
mod json_equality;
mod judging;
mod label;
mod label_consensus;
mod label_effect;
mod message;
mod money;
mod named;
mod number;
mod outcome;
mod pairwise;
mod panel;
mod points;
mod prerequisites;
mod quote;
mod rubric;
mod score;
mod scorecard;
mod seen_hash;
mod sum;
mod tolerance;
mod trials;
mod verdict;
mod vote;
mod weighted_tree;

pub use aggregation::ScorecardAggregation;
pub use benchmark::{BenchmarkScale, LabelScore, failure_limit, find_contradiction};
pub use benchmark_finding::{BenchmarkFinding, BenchmarkState, DecidedBy};
pub use case::{CaseScore, score_case};
pub use case_decision::CaseDecision;
pub use combine::combine_members;
pub use composition::{CompositeMember, CompositeStructure, MemberAggregator};
pub use criterion::{Criterion, CriterionOperator};
pub use criterion_scale::{CriterionScale, ScoreBand, ScoreBands, ScoreBandsError};
pub use deciding_votes::{panel_decision, panel_decision_if, select_deciding_votes};
pub use decision::{
    Decision, DecisionProbability, EvidenceQuote, JudgeConfidence, JudgeIdentity, JudgingUsage,
    OFFLINE_NOTICE, OFFLINE_PLAN_NOTICE, OFFLINE_STORED_NOTICE, Tokens, TruncationMode, TruncationRecord,
    UngradedKind, UngradedReason,
};
pub use digits::{ascii_digit, raised_digit};
pub use finding::{Finding, GraderFinding, GraderFindingKind, GraderNote};
pub use format::{dollars, format_plain, format_rate, grouped};
pub use formula::{
    DerivedMetricSpec, FormulaError, FormulaValue, ValueRange, evaluate_formula, formula_names,
};
pub use gate::{Gate, GateState};
pub use graded::{GateCheck, grader_gates, grader_outcome, is_complete, member_outcome, member_score};
pub use grader_score::{CompositeFormula, CompositeScore, GraderOutcome, GraderScore, GraderWeighting};
pub use id::{CriterionId, composed_name, is_numbered_case_id, numbered_case_id};
pub use identity::{Identify, IdentityWriter};
pub use json_equality::json_equal;
pub use judging::{EvidencePolicy, JudgingMode};
pub use label::{
    FailureSeverity, Label, LabelOutcome, LabelSplit, NO_FAILURE, NONE_OF_THE_ABOVE, SamplingMethod,
    parse_label_time,
};
pub use label_consensus::{SettledLabels, person_key, settle_labels};
pub use label_effect::{
    LabelAccount, LabelBinding, LabelCounts, PeopleRule, ReplacedDecision, UnboundLabels, are_ordered,
};
pub use message::{CaseMessage, MessageBlock, MessageRole, ToolCall};
pub use money::{Cost, PartialCost, Usd};
pub use number::{FractionalScore, NotFiniteError, OutOfRangeError, RawScore, UnitInterval, Weight};
pub use outcome::{Outcome, OutcomeKind};
pub use pairwise::{AnswerComparison, AnswerPreference, OrderDecision, PairOutcome, PairScores};
pub use panel::{PanelDecision, PanelResult, PanelRule, PanelVote, TiePolicy, VoteValue, combine_votes};
pub use points::{PointsMean, points_mean, points_ratio};
pub use prerequisites::{PrerequisiteResult, resolve_prerequisites};
pub use quote::QuotedText;
pub use rubric::{Rubric, RubricError, find_repeated_ids};
pub use score::{OutcomeError, RubricScore, ScoringFormula, score_criteria, score_rubric};
pub use scorecard::{
    CaseTally, Criticality, DistinctCases, MissingPolicy, NodeScore, NodeStatus, NormalisationError,
    NormalisationFormula, ScoreContribution, ScoreGain, ScoreTree, ScoreTreeError, ScorecardNode,
    ScorecardNodeId, ScorecardNodeKind, ScorecardScores, WeightSetError, find_weight_set, score_card,
};
pub use seen_hash::{SeenHash, SeenHashError, SubjectHash};
pub use tolerance::{TOLERANCE, at_least};
pub use trials::{TrialPlan, TrialResult, TrialStrategy, TrialSummary};
pub use verdict::{ThresholdOrderError, Verdict, VerdictThresholds};
pub use vote::{EscalateWhen, EscalationReport, PanelReport, Vote, VoteOutcome, VoteSummary};
pub use weighted_tree::{WeightedTree, weighted_mean};

#[cfg(test)]
mod tests;
