//! Headings of options in help texts, in the order in which commands list them.

/// Cases to run and where they come from.
pub(super) const SELECTION: &str = "Selection";
/// The judge, its panel and the thresholds of verdicts.
pub(super) const JUDGE: &str = "Judge";
/// Limits on money, calls, time and requests at once.
pub(super) const LIMITS: &str = "Budget and limits";
/// Output: tables, JSON, files, the run folder.
pub(super) const OUTPUT: &str = "Output";
/// Address and browser of commands that show pages.
pub(super) const BROWSER: &str = "In the browser";
/// Machines that work together.
pub(super) const CLUSTER: &str = "Cluster";
/// Options that few people need.
pub(super) const ADVANCED: &str = "Advanced";
/// Options of every command.
pub(super) const GLOBAL: &str = "Global options";
