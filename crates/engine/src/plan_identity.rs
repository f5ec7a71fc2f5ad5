//! Identity of a plan, so that processes can check that they work on the same one.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use assize_llm::Budget;
use assize_store::InputHash;

/// The identity of a plan, and how much work a part of it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanIdentity {
    /// Hash of all items and of their files. Does not depend on where the files are.
    pub hash: String,
    /// The files.
    pub files: Vec<InputHash>,
    /// Word for the ids of its runs: the name of the suite.
    pub label: String,
    /// The number of results of the whole plan.
    pub items: u64,
    /// The number of results of the part that the options select.
    pub own_items: u64,
    /// Limits of the run, from the options or a file.
    pub budget: Budget,
    /// Maximum requests and tokens per minute and account, from the options or a file.
    pub rates: [Option<NonZeroU32>; 2],
    /// Providers of its models, with the hosts that this process would call. Empty unless the plan was
    /// prepared.
    pub addresses: BTreeSet<String>,
}
