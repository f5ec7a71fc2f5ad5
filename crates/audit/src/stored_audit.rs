//! Report of a stored audit of any kind.

use crate::injection::InjectionReport;
use crate::report::AuditReport;

/// Report of a stored audit of any kind.
#[derive(Debug, Clone)]
pub enum StoredAudit {
    /// An audit of order, length or self-preference.
    Probing(AuditReport),
    /// An injection audit.
    Injection(Box<InjectionReport>),
}
