//! Audits of a judge: each case is judged unchanged and modified, and the decisions are compared.
//!
//! [`build_audit_items`] builds the work items of an audit from one item of an ordinary run, [`pair_records`] pairs the
//! stored decisions, [`PairTally`] counts the pairs. [`injection`], [`length`], [`order`] and [`self_preference`]
//! are one audit each.
//!
//! Design: `docs/design/audits.md`.

#![warn(missing_docs)]

mod altered_target;
mod decision;
mod decision_pair;
pub mod injection;
pub mod length;
pub mod order;
mod pair;
mod report;
mod select;
pub mod self_preference;
mod stored_audit;
mod tally;
mod variant;
mod variant_id;

pub use decision::ScaleDecision;
pub use decision_pair::{DecisionChange, DecisionPair};
pub use pair::{PairedDecisions, pair_records};
pub use report::{AuditReport, AuditSection};
pub use select::choose_cases;
pub use stored_audit::StoredAudit;
pub use tally::{CountedShare, PairTally};
pub use variant::{AlterAnswer, AlterGraders, CaseVariant, build_audit_items};
pub use variant_id::UNCHANGED;
