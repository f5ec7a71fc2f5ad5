//! Lists of runs, one run, its cases and its criteria.

use askama::Template;
use assize_report::DerivedMetricText;
use serde::Serialize;

use crate::index::FilterChoices;
use crate::pages::ToolCallText;
use crate::text::{MetricText, ResultMark};

/// All runs.
#[derive(Template)]
#[template(path = "runs.html")]
pub(crate) struct RunsPage {
    pub(crate) runs: Vec<RunLine>,
    /// Text that filters the list; empty for all.
    pub(crate) query: String,
    /// Number of runs that don't match the filter.
    pub(crate) hidden: usize,
    pub(crate) folder: String,
}

/// A run of a list.
#[derive(Default)]
pub(crate) struct RunLine {
    pub(crate) url: String,
    pub(crate) slug: String,
    pub(crate) name: String,
    pub(crate) when: String,
    pub(crate) suites: String,
    pub(crate) judges: String,
    pub(crate) cases: String,
    pub(crate) passed: MetricText,
    pub(crate) score: MetricText,
    pub(crate) cost: String,
    pub(crate) result: ResultMark,
    /// Why it passed or failed.
    pub(crate) reason: String,
    /// Why the run can't be read.
    pub(crate) error: Option<String>,
}

/// Head of every page about a run.
#[derive(Default)]
pub(crate) struct RunHeader {
    pub(crate) slug: String,
    pub(crate) url: String,
    pub(crate) suites: String,
    pub(crate) when: String,
    pub(crate) command: String,
    pub(crate) result: ResultMark,
    pub(crate) has_scorecard: bool,
    /// Address of its prompts and targets side by side; empty for a single one.
    pub(crate) matrix_url: String,
    /// True for an audit of a judge, which has no pages about its cases.
    pub(crate) is_audit: bool,
    /// Which page is shown: `run`, `cases`, `criteria`, `calibration`, `scorecard` or `review`.
    pub(crate) tab: &'static str,
}

/// A number with a link to the counted items.
pub(crate) struct CountLink {
    pub(crate) url: String,
    pub(crate) mark: ResultMark,
    pub(crate) count: String,
}

/// A criterion that counts against many results.
pub(crate) struct FailingCriterion {
    pub(crate) name: String,
    pub(crate) text: String,
    /// Number of results that it counts against, of all that it decides on, and their share.
    pub(crate) count: u64,
    pub(crate) of: u64,
    pub(crate) share: String,
    pub(crate) cases_url: String,
    pub(crate) example: Option<FailingExample>,
}

/// A result that a criterion counts against.
pub(crate) struct FailingExample {
    pub(crate) url: String,
    pub(crate) id: String,
    /// The beginning of its answer.
    pub(crate) answer: String,
    pub(crate) reason: String,
}

/// A table row with metrics: a target or a number of attempts.
pub(crate) struct MetricLine {
    pub(crate) name: String,
    /// Address of its cases; empty if they can't be distinguished.
    pub(crate) url: String,
    pub(crate) first: MetricText,
    pub(crate) second: MetricText,
}

/// One run.
#[derive(Template)]
#[template(path = "run.html")]
pub(crate) struct RunPage {
    pub(crate) header: RunHeader,
    pub(crate) is_live: bool,
    pub(crate) progress: RunProgressText,
    pub(crate) pass_rate: Option<MetricText>,
    pub(crate) mean_score: Option<MetricText>,
    pub(crate) counts: Vec<CountLink>,
    /// True if cases have several results each: then results are counted, not cases.
    pub(crate) counts_results: bool,
    pub(crate) facts: Vec<(&'static str, String)>,
    /// The result of the run, and facts that a reader must know beside it.
    pub(crate) conclusion: Vec<String>,
    /// The criteria that count against most results.
    pub(crate) failures: Vec<FailingCriterion>,
    /// The first cases that did not pass.
    pub(crate) failing: Vec<CaseRow>,
    pub(crate) failing_count: usize,
    pub(crate) failing_url: String,
    pub(crate) notes: Vec<String>,
    pub(crate) warnings: Vec<String>,
    /// Metrics by target and by prompt: the heading, the word for a line, and the lines.
    pub(crate) parts: Vec<(&'static str, &'static str, Vec<MetricLine>)>,
    pub(crate) derived: Vec<DerivedMetricText>,
    pub(crate) attempts: Vec<MetricLine>,
    /// Title of the column with the intervals of criteria.
    pub(crate) rate_interval: &'static str,
    pub(crate) criteria: Vec<CriterionLineText>,
    pub(crate) more_criteria: usize,
    /// Another run of the same suites: its name, and the address of the comparison.
    pub(crate) compare: Option<(String, String)>,
}

/// Progress of a run that is still running.
#[derive(Template, Default)]
#[template(path = "progress.html")]
pub(crate) struct RunProgressText {
    pub(crate) done: usize,
    /// Number of expected results; 0 if it is not known.
    pub(crate) total: usize,
    pub(crate) counts: Vec<CountLink>,
    pub(crate) rate: String,
    pub(crate) left: String,
    /// Cost of the finished cases.
    pub(crate) spend: String,
    /// The newest cases that did not pass, newest first.
    pub(crate) failures: Vec<CaseLink>,
}

/// A link to a case.
pub(crate) struct CaseLink {
    pub(crate) url: String,
    pub(crate) id: String,
    pub(crate) mark: ResultMark,
    pub(crate) note: String,
}

/// Rate of a criterion.
pub(crate) struct CriterionLineText {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) suite: String,
    pub(crate) is_scored: bool,
    pub(crate) is_penalty: bool,
    pub(crate) rate: MetricText,
    /// Number of results that it counts against; empty for a mean.
    pub(crate) against: String,
    pub(crate) ungraded: u64,
    pub(crate) ungraded_url: String,
    pub(crate) not_applicable: u64,
    pub(crate) cases_url: String,
    /// Share of pairs of votes of different judges that differ; empty without a panel.
    pub(crate) disagreement: String,
    /// Share of pairs of votes of the same judge that differ; empty unless a judge has repeats.
    pub(crate) flips: String,
}

/// Rates of all criteria of a run.
#[derive(Template)]
#[template(path = "criteria.html")]
pub(crate) struct CriteriaPage {
    pub(crate) header: RunHeader,
    /// Title of the column with the intervals of criteria.
    pub(crate) rate_interval: &'static str,
    pub(crate) criteria: Vec<CriterionLineText>,
    pub(crate) has_panel: bool,
    pub(crate) several_suites: bool,
    pub(crate) panel: Vec<String>,
    /// Single decisions, if no criterion was applied to several results and so has a rate.
    pub(crate) single: Vec<CaseLink>,
    /// Number of further decisions.
    pub(crate) more_single: usize,
}

/// Returns true if a criterion has ungraded results; without any, their column would be empty.
pub(crate) fn is_some_ungraded(criteria: &[CriterionLineText]) -> bool {
    criteria.iter().any(|one| one.ungraded > 0)
}

/// Returns true if there is a rate of disagreement between judges for any criterion.
pub(crate) fn do_some_differ(criteria: &[CriterionLineText]) -> bool {
    criteria.iter().any(|one| !one.disagreement.is_empty())
}

/// Returns true if there is a rate of changed votes of a repeated judge for any criterion.
pub(crate) fn do_some_flip(criteria: &[CriterionLineText]) -> bool {
    criteria.iter().any(|one| !one.flips.is_empty())
}

/// A choice of a field.
pub(crate) struct ChoiceField {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) all: &'static str,
    /// Value, text, and whether it is selected.
    pub(crate) options: Vec<(String, String, bool)>,
}

/// Cases of a run.
#[derive(Template)]
#[template(path = "cases.html")]
pub(crate) struct CasesPage {
    pub(crate) header: RunHeader,
    pub(crate) is_live: bool,
    pub(crate) chips: Vec<ChipGroup>,
    pub(crate) fields: Vec<ChoiceField>,
    pub(crate) text: String,
    /// Value, text, and whether it is selected.
    pub(crate) outcomes: Vec<(&'static str, &'static str, bool)>,
    pub(crate) rows_url: String,
    pub(crate) cases_url: String,
    /// True if more cases are still being read.
    pub(crate) is_partial: bool,
    /// The first rows of the table, as JSON.
    pub(crate) first_rows: String,
    /// Number of cases found, and of all cases.
    pub(crate) counts: String,
    pub(crate) found: usize,
    /// A page of rows, for browsers without scripts.
    pub(crate) plain: Option<PlainRows>,
    pub(crate) plain_url: String,
    pub(crate) has_suites: bool,
    pub(crate) has_prompts: bool,
    pub(crate) has_targets: bool,
}

/// A page of rows that needs no script.
pub(crate) struct PlainRows {
    pub(crate) heads: Vec<SortLink>,
    pub(crate) rows: Vec<CaseRow>,
    /// The filter, to follow the address of a case, with its question mark.
    pub(crate) case_query: String,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

/// Head of a column that can be sorted by.
pub(crate) struct SortLink {
    pub(crate) name: &'static str,
    pub(crate) url: Option<String>,
    /// `ascending` or `descending`; empty if the rows are in another order.
    pub(crate) order: &'static str,
}

/// Chips that belong together.
pub(crate) struct ChipGroup {
    pub(crate) label: &'static str,
    pub(crate) chips: Vec<FilterChip>,
}

/// A filter that one click sets or clears.
pub(crate) struct FilterChip {
    pub(crate) text: String,
    pub(crate) count: Option<String>,
    /// What it sets, as a query.
    pub(crate) sets: String,
    /// Address of the page that the click leads to.
    pub(crate) url: String,
    pub(crate) is_chosen: bool,
}

/// A row of the table of cases.
#[derive(Serialize)]
pub(crate) struct CaseRow {
    /// Number of the row, from 1.
    pub(crate) n: u32,
    pub(crate) mark: ResultMark,
    pub(crate) score: String,
    pub(crate) id: String,
    pub(crate) suite: String,
    pub(crate) prompt: String,
    pub(crate) target: String,
    pub(crate) trial: u32,
    /// The beginning of the question and of the answer.
    pub(crate) question: String,
    pub(crate) answer: String,
    pub(crate) criteria: Vec<CriterionCell>,
    /// Number of criteria without a cell.
    pub(crate) more: usize,
    pub(crate) tags: String,
    pub(crate) cost: String,
    pub(crate) latency: String,
    #[serde(rename = "error")]
    pub(crate) has_error: bool,
}

impl CaseRow {
    /// Names of failed gates, then of unmet criteria and incurred penalties that are not gates.
    pub(crate) fn missed(&self) -> String {
        let missed = self.criteria.iter().filter(|cell| cell.mark.class == "bad" || cell.has_failed);
        let named = missed.map(|cell| match cell {
            CriterionCell { has_failed: true, name, .. } => format!("gate {name}"),
            CriterionCell { is_penalty: true, name, .. } => format!("penalty {name}"),
            CriterionCell { name, .. } => name.clone(),
        });
        named.collect::<Vec<_>>().join(", ")
    }
}

/// A criterion in a row.
#[derive(Serialize)]
pub(crate) struct CriterionCell {
    /// Its position among the criteria that the row unfolds to; `None` for a gate that is a whole grader.
    pub(crate) at: Option<usize>,
    pub(crate) name: String,
    pub(crate) mark: ResultMark,
    #[serde(rename = "gate", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_gate: bool,
    #[serde(rename = "failed", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_failed: bool,
    #[serde(rename = "penalty", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_penalty: bool,
    #[serde(rename = "disputed", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_disputed: bool,
    /// What people said about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) people: String,
}

/// What a row unfolds to.
#[derive(Template)]
#[template(path = "peek.html")]
pub(crate) struct CasePeek {
    pub(crate) question: Option<String>,
    pub(crate) expected: Option<String>,
    pub(crate) answer: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) calls: Vec<ToolCallText>,
    pub(crate) because: String,
    pub(crate) criteria: Vec<PeekCriterion>,
}

/// A criterion of a row that was unfolded.
pub(crate) struct PeekCriterion {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) mark: ResultMark,
    /// Rule of the gate, if it is one.
    pub(crate) gate: Option<String>,
    pub(crate) reason: String,
    /// Quotes, and whether they were found.
    pub(crate) quotes: Vec<(String, bool)>,
}

impl ChoiceField {
    /// A field with the names that cases have; `None` if there is nothing to choose from.
    pub(crate) fn new(
        (name, label, all): (&'static str, &'static str, &'static str),
        names: &[String],
        chosen: Option<&String>,
    ) -> Option<Self> {
        // A name from an old address stays as a choice, so that the user sees why no cases are found.
        let unknown = chosen.filter(|chosen| !names.contains(chosen));
        if names.is_empty() && unknown.is_none() {
            return None;
        }

        let options = unknown.into_iter().chain(names.iter().take(MAX_CHOICES));
        let options = options
            .map(|value| (value.clone(), crate::text::visible(value), Some(value) == chosen))
            .collect();
        Some(Self { name, label, all, options })
    }

    /// The fields of a list of cases.
    pub(crate) fn all(choices: &FilterChoices, filter: &crate::index::CaseFilter) -> Vec<Self> {
        let several = |names: &[String]| if names.len() > 1 { names.to_vec() } else { Vec::new() };
        let field =
            |texts, names: &[String], chosen: &Option<String>| Self::new(texts, names, chosen.as_ref());
        let fields = [
            field(("suite", "Suite", "all suites"), &several(&choices.suites), &filter.suite),
            field(("prompt", "Prompt", "all prompts"), &several(&choices.prompts), &filter.prompt),
            field(("target", "Target", "all targets"), &several(&choices.targets), &filter.target),
            field(("tag", "Tag", "any tag"), &choices.tags, &filter.tag),
            field(("gate", "Failed gate", "any gate or none"), &choices.gates, &filter.gate),
            field(("criterion", "Criterion", "any criterion"), &choices.criteria, &filter.criterion),
        ];
        fields.into_iter().flatten().collect()
    }
}

/// Maximum number of names in a field. Suites whose cases have their own rubrics have very many.
const MAX_CHOICES: usize = 500;
