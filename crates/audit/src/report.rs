//! What an audit of orders, lengths or families found: figures, and what stands in their way.

use assize_analysis::Figure;

/// Figures about one part of an audit: a criterion, an edit, a judge.
#[derive(Debug, Clone)]
pub struct Section {
    /// What it is about.
    pub title: String,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// What an audit found, all of it computed from stored decisions.
#[derive(Debug, Clone)]
pub struct AuditReport {
    /// Cases that were looked at.
    pub cases: usize,
    /// Figures about all of it.
    pub figures: Vec<Figure>,
    /// Figures about parts, the one that matters most first.
    pub sections: Vec<Section>,
    /// What a limit is compared with, and what it is the value of; `None` where there is no such value.
    pub worst: Option<(f64, String)>,
    /// What may be concluded, in one sentence.
    pub says: String,
    /// What could not be measured, and why: a sentence each.
    pub unmeasured: Vec<String>,
    /// Decisions and answers that are missing, in words; empty when the audit is whole.
    pub missing: Vec<String>,
}

impl AuditReport {
    /// Whether something could not be judged.
    pub fn is_incomplete(&self) -> bool {
        !self.missing.is_empty()
    }
}

/// `1 case`, `2 cases`.
pub(crate) fn number_of(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A share in words: `12.5%`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}
