//! Injection audit: inserts texts that try to persuade the judge into answers and has the answers judged
//! again.

mod insert_position;
mod probe;
mod probe_wins;
mod report;
mod wins;

pub use insert_position::InsertPosition;
pub use probe::{CONTROL, InjectionProbe, builtin_probes};
pub use probe_wins::ProbeWins;
pub use report::{CriterionMetrics, InjectionReport, ProbeMetrics};
pub use wins::{InjectionWins, StrongestProbe};
