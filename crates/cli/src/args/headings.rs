//! Headings of options in help texts, in the order in which commands list them.

/// Runs of a trend.
pub(super) const TREND: &str = "Trend";
/// Cases to run and where they come from.
pub(super) const SELECTION: &str = "Selection";
/// The judge, its panel and the thresholds of verdicts.
pub(super) const JUDGE: &str = "Judge";
/// Conditions under which the command fails.
pub(super) const GATES: &str = "Gates";
/// Limits on money, calls, time and requests at once.
pub(super) const LIMITS: &str = "Budget and limits";
/// Output: tables, JSON, files, the run folder.
pub(super) const OUTPUT: &str = "Output";
/// Address and browser of commands that show pages.
pub(super) const BROWSER: &str = "In the browser";
/// Options that few people need.
pub(super) const ADVANCED: &str = "Advanced";
/// Machines that work together.
pub(super) const CLUSTER: &str = "Cluster";
/// Options of every command.
pub(super) const GLOBAL: &str = "Global options";

/// The headings in their order; options without one come first.
#[cfg(test)]
pub(super) const IN_ORDER: [&str; 10] =
    [TREND, SELECTION, JUDGE, GATES, LIMITS, OUTPUT, BROWSER, ADVANCED, CLUSTER, GLOBAL];
