//! Reports of stored runs, for people and for other programs.
//!
//! Pure functions from stored rows to strings: [`render_case`] shows one case, [`render_case_table`] many,
//! [`render_summary`] a whole run, and [`render_explanation`] the arithmetic behind one case
//! ([`explanation_json`] returns it as JSON). [`write_report`] writes runs in the formats of other programs;
//! [`html`] and [`chart`] are the parts of its HTML page. Nothing here has scoring rules of its own: every
//! recomputed score comes from `assize-rubric`.
//!
//! Ids, reasons and quotes come from files and models. They never reach the terminal unchanged: control
//! characters, escape sequences and characters that reorder text are escaped.
//!
//! Design: `docs/design/pages.md`.

#![warn(missing_docs)]

mod anytime;
mod audit;
mod calibration;
mod calibration_json;
mod case_block;
mod case_table;
mod case_trials;
mod cells;
pub mod chart;
mod comparison;
mod comparison_markdown;
mod conversation_text;
mod cost;
mod criteria;
mod criterion;
mod criterion_cases;
mod criterion_change;
mod criterion_rates;
mod derived;
mod drift;
mod entry;
mod excerpt;
mod explain;
mod export;
pub mod html;
mod injection_audit;
mod listing;
mod mark;
mod matrix;
mod metrics;
mod noise;
mod number;
mod page;
mod pairwise;
mod panel;
mod panel_rates;
mod plan_cases;
mod quote_place;
mod raters;
mod rescale;
mod run_list;
mod sanitize;
mod scorecard_comparison;
mod scorecard_comparison_markdown;
mod scorecard_decision;
mod scorecard_json;
mod scorecard_markdown;
mod scorecard_node;
mod scorecard_run;
mod scorecard_scores;
mod scorecard_tree;
mod scorecard_trend;
mod scorecard_votes;
mod screen;
mod style;
mod summary;
mod table;
mod total_error;
mod trend;
mod truncation;
mod wrap;

pub use anytime::{render_anytime, render_anytime_line};
pub use audit::{audit_json, render_audit};
pub use calibration::{CalibrationDetail, render_calibration};
pub use calibration_json::calibration_json;
pub use case_block::{CaseDetailLevel, render_case, stored_texts};
pub use case_table::render_case_table;
pub use comparison::{
    ComparisonLimits, difference_axis, flip_values, format_metric, render_comparison, shared_axis,
};
pub use comparison_markdown::render_comparison_markdown;
pub use cost::{format_cost, format_run_time};
pub use criteria::{criteria_json, render_criteria};
pub use criterion_cases::{criterion_cases_json, does_criterion_fail, render_criterion_cases};
pub use criterion_change::render_criterion_change;
pub use criterion_rates::rate_interval_title;
pub use derived::{DerivedMetricText, derived_metric_texts};
pub use drift::{drift_json, render_drift};
pub use excerpt::{answer_excerpt, cut_text, excerpt, short_criterion_name};
pub use explain::{
    CaseExplanation, CriterionPart, GatePart, GraderPart, PanelPart, ScoreEquation, ScoreRange, VotePart,
    WholePart, explain_case, explanation_json, formula_text, render_explanation,
};
pub use export::{
    ComparisonMaterial, CriterionName, CriterionPosition, EventOrigin, ExportFormat, JSON_MARK,
    MARKDOWN_MARK, ReportError, RunReport, ScorecardMaterial, inspect_log_name, is_own_report,
    spreadsheet_text, write_report, write_skill_files,
};
pub use injection_audit::render_injection_audit;
pub use listing::{ListingRow, render_listing, wrap_message};
pub use mark::outcome_word;
pub use matrix::{FoldedTrials, MatrixForm, MatrixReport, MatrixSource, TrialGroup, criterion_counts};
pub use noise::{noise_json, render_noise};
pub use number::{
    NO_VALUE, UNDEFINED, dollars, format_count, format_duration, format_latency, format_plain, format_rate,
    format_score, grouped,
};
pub use pairwise::{pairwise_json, render_pairwise, render_pairwise_markdown};
pub use panel::{format_probability, format_vote_metrics};
pub use panel_rates::{panel_rates_json, render_panel_rates};
pub use plan_cases::render_plan;
pub use quote_place::QuotePlace;
pub use raters::{
    agreement_json, orders_json, render_agreement, render_orders, render_repeats, repeats_json,
};
pub use rescale::{render_rescaling, rescaling_json};
pub use run_list::{ListedRun, render_run_list, run_list_json};
pub use sanitize::{escape_commands, escape_commands_in_json, escape_lines, escape_unsafe};
pub use scorecard_comparison::render_scorecard_comparison;
pub use scorecard_comparison_markdown::render_scorecard_comparison_markdown;
pub use scorecard_decision::{DecisionPart, scorecard_decision};
pub use scorecard_json::ScorecardNodeJson;
pub use scorecard_markdown::{ScorecardPage, render_scorecard_markdown};
pub use scorecard_node::{node_conclusions, render_scorecard_node};
pub use scorecard_run::{format_label_counts, render_scorecard_run};
pub use scorecard_scores::{
    ScorecardLayout, closing_lines, green_gate_bound, nodes_in_order, render_scorecard_scores,
};
pub use scorecard_tree::{ScorecardLine, format_scorecard_totals, render_scorecard_tree};
pub use scorecard_trend::render_scorecard_trend;
pub use scorecard_votes::benchmark_decision_text;
pub use screen::{SCREEN_LINES, fit_screen};
pub use style::ReportStyle;
pub use summary::{FailingCases, SummaryExtra, render_result_lines, render_summary, run_warnings};
pub use total_error::{ErrorDesigns, render_total_error, total_error_json};
pub use trend::{TREND_ROWS, render_trend};
pub use truncation::truncation_details;
pub use wrap::{LongWords, wrap_lines};

#[cfg(test)]
mod tests;
