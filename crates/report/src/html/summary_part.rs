//! The summary of a run: metrics with their intervals, targets, criteria.

use askama::Template;
use assize_analysis::describe_pass_rate_gate;
use assize_rubric::VerdictThresholds;
use assize_store::{
    CriterionRate, EstimatedMetric, PartMetrics, PartTable, RunInfo, RunMetrics, RunSummary, VerdictCounts,
};

use super::tone;
use crate::chart::{
    ChartAxis, ChartShare, ChartTone, IntervalMark, axis_labels, interval_bar, interval_point, share_bar,
};
use crate::cost::{
    format_cost, format_judge_calls, format_resumed, format_run_cost, format_run_time, format_spent,
    format_tokens,
};
use crate::criterion_rates::{RateTitles, rate_text, shown_rates};
use crate::derived::{DerivedMetricText, derived_metric_texts};
use crate::entry::{criterion_value, percent, percent_interval, score, score_interval, tallies};
use crate::export::{CaseIndex, ReportedConclusion, RunReport};
use crate::number::{self, format_count, grouped};
use crate::sanitize::{cut_text, escape_lines};
use crate::summary::{describe_thresholds, run_warnings};

/// Maximum number of criteria listed.
const MAX_CRITERIA: usize = 300;
/// Maximum length of a text, in characters.
const MAX_TEXT: usize = 600;

/// Head of the report of a run.
#[derive(Template)]
#[template(path = "summary.html")]
pub(super) struct SummaryView {
    title: String,
    verdict: String,
    verdict_class: &'static str,
    /// Problems of the run as a whole, and its scope.
    problems: Vec<String>,
    facts: Vec<(&'static str, String)>,
    shares: String,
    tallies: Vec<TallyView>,
    metrics: Vec<MetricView>,
    notes: Vec<String>,
    remarks: Vec<String>,
}

/// Metrics of each target and of each criterion.
#[derive(Template)]
#[template(path = "criteria.html")]
pub(super) struct CriteriaView {
    /// Metrics by target and by prompt.
    tables: Vec<(&'static str, Vec<PartView>)>,
    derived: Vec<DerivedMetricText>,
    criteria: Vec<CriterionRateView>,
    criteria_titles: Option<RateTitles>,
    criteria_axis: String,
    criteria_more: Option<String>,
}

struct TallyView {
    number: String,
    word: &'static str,
    class: &'static str,
}

struct MetricView {
    name: &'static str,
    value: String,
    interval: String,
    chart: String,
}

struct PartView {
    name: String,
    cases: String,
    rate: String,
    interval: String,
    chart: String,
    score: String,
    cost: String,
}

struct CriterionRateView {
    text: String,
    id: String,
    penalty: bool,
    value: String,
    interval: String,
    chart: String,
    of: String,
    ungraded: String,
}

impl SummaryView {
    pub(super) fn new(run: &RunReport<'_>, index: &CaseIndex) -> Self {
        let conclusion = ReportedConclusion::new(run, index);
        let gated = index.gated;
        let info = run.info;
        let summary = info.summary.as_ref();
        let (verdict, verdict_class) = match summary.filter(|_| info.finished_at.is_some()) {
            Some(summary) => (escape_lines(&summary.exit_reason), exit_class(summary.exit_code)),
            None => ("the run did not end".to_owned(), ChartTone::Open.class()),
        };

        let counts = summary.map_or_else(VerdictCounts::default, |summary| {
            let trials = summary.figures.as_ref().and_then(|figures| figures.trials.as_ref());
            trials.map_or(summary.counts, |trials| trials.counts)
        });
        let parts = tallies(counts).map(|(size, name, one)| ChartShare { name, size, tone: tone(one) });
        let shown = tallies(counts).into_iter().filter(|(size, ..)| *size > 0);

        let figures = summary.and_then(|summary| summary.figures.as_ref());
        let mut notes: Vec<String> = run_warnings(info)
            .into_iter()
            .map(|warning| escape_lines(&cut_text(warning, MAX_TEXT)))
            .collect();
        let problems = conclusion.problems.iter().map(|problem| cut_text(&problem.describe(), MAX_TEXT));
        let problems = problems.map(|text| escape_lines(&text)).collect();
        if let Some(gate) = summary.and_then(|summary| summary.pass_rate_gate) {
            notes.insert(0, format!("Gate: {}.", describe_pass_rate_gate(&gate)));
        }
        if gated > 0 {
            let cases = format_count(gated as u64, "case", "cases");
            notes.insert(0, format!("Gates failed in {cases}."));
        }

        Self {
            title: escape_lines(&run.title()),
            verdict,
            verdict_class,
            problems,
            facts: facts(info, &index.thresholds),
            shares: share_bar(&parts),
            tallies: shown
                .map(|(number, word, one)| TallyView {
                    number: grouped(number as u64),
                    word,
                    class: tone(one).class(),
                })
                .collect(),
            metrics: figures.map_or_else(Vec::new, |figures| {
                let (rate, mean) = (&figures.pass_rate, &figures.mean_score);
                let name = if figures.trials.is_some() { "Pass rate of trials" } else { "Pass rate" };
                vec![
                    metric_view(name, rate, percent(rate), percent_interval(rate)),
                    metric_view("Mean score", mean, score(mean), score_interval(mean)),
                ]
            }),
            notes,
            remarks: figures.map_or_else(Vec::new, |figures| {
                figures.remarks.iter().chain(&figures.precision_notes).cloned().collect()
            }),
        }
    }
}

impl CriteriaView {
    pub(super) fn new(info: &RunInfo) -> Self {
        let summary = info.summary.as_ref();
        let figures = summary.and_then(|summary| summary.figures.as_ref());
        let rates = summary.map(shown_rates).unwrap_or_default();

        let titles = summary.filter(|_| !rates.is_empty()).map(|summary| RateTitles::new(summary, &rates));

        Self {
            tables: figures.into_iter().flat_map(RunMetrics::tables).map(part_views).collect(),
            derived: figures
                .map_or_else(Vec::new, |figures| derived_metric_texts(&figures.derived))
                .into_iter()
                .map(|text| text.escaped(|part| escape_lines(&cut_text(part, MAX_TEXT))))
                .collect(),
            criteria: rates
                .iter()
                .copied()
                .take(MAX_CRITERIA)
                .map(|rate| criterion_view(rate, &rates))
                .collect(),
            criteria_titles: titles,
            criteria_axis: axis_labels(ChartAxis::UNIT, number::format_tick),
            criteria_more: (rates.len() > MAX_CRITERIA)
                .then(|| format!("and {} more; the CSV report has them all", rates.len() - MAX_CRITERIA)),
        }
    }
}

fn exit_class(code: u8) -> &'static str {
    match code {
        0 => ChartTone::Good.class(),
        1 | 2 => ChartTone::Bad.class(),
        _ => ChartTone::Open.class(),
    }
}

/// Returns the facts about a run: judges, targets, thresholds and cost.
fn facts(info: &RunInfo, thresholds: &[VerdictThresholds]) -> Vec<(&'static str, String)> {
    let judges: Vec<String> = info
        .judges
        .iter()
        .map(|judge| {
            let version = judge.identity.version.as_deref().map(|version| format!(" ({version})"));
            format!("{}{}", judge.identity.name, version.unwrap_or_default())
        })
        .collect();
    let targets: Vec<&str> = info.targets.iter().map(|target| target.name.as_str()).collect();

    let mut facts = vec![
        ("Run", info.run_id.clone()),
        ("Started", info.started_at.get(..19).unwrap_or(&info.started_at).replace('T', " ") + " UTC"),
        ("Judges", judges.join(", ")),
        ("Targets", targets.join(", ")),
        ("Threshold", describe_thresholds(thresholds).unwrap_or_default()),
    ];
    if let Some(summary) = &info.summary {
        facts.extend(spent(info, summary));
    }
    facts.push(("Version", format!("assize {}", info.assize_version)));

    facts.retain(|(_, text)| !text.is_empty());
    for (_, text) in &mut facts {
        *text = escape_lines(&cut_text(text, MAX_TEXT));
    }

    facts
}

fn spent(info: &RunInfo, summary: &RunSummary) -> Vec<(&'static str, String)> {
    let calls = format_judge_calls(summary);
    let criteria = match summary.criteria_ungraded {
        // Benchmarks of a scorecard don't count as criteria.
        _ if summary.criteria == 0 => String::new(),
        0 => format!("{} judged", grouped(summary.criteria)),
        open => {
            format!("{} judged, {} ungraded", grouped(summary.criteria.saturating_sub(open)), grouped(open))
        }
    };
    let quotes = summary.quotes.zip(summary.quotes_found).filter(|(quotes, _)| *quotes > 0);

    let resumed = format_resumed(summary);
    let time = match resumed {
        None => ("Time", format!("{} ({calls})", format_run_time(info, summary))),
        Some(_) => ("Calls", calls),
    };

    vec![
        ("Decisions", criteria),
        (
            "Quotes",
            quotes.map_or_else(String::new, |(quotes, found)| {
                format!("{} of {} found in what the judge was shown", grouped(found), grouped(quotes))
            }),
        ),
        time,
        ("Tokens", format_tokens(info, summary).unwrap_or_default()),
        ("Cost", format_run_cost(info, summary)),
        ("Spent", format_spent(info, summary).unwrap_or_default()),
        ("Resumed", resumed.unwrap_or_default()),
    ]
}

fn mark<'a>(metric: &EstimatedMetric, tone: ChartTone, title: &'a str) -> IntervalMark<'a> {
    IntervalMark { value: metric.value, interval: metric.low.zip(metric.high), tone, title }
}

fn metric_view(name: &'static str, metric: &EstimatedMetric, value: String, interval: String) -> MetricView {
    let level = number::format_plain(metric.level * 100.0);
    let cases = format_count(metric.n, "case", "cases");
    let interval = if metric.low.is_none() || metric.high.is_none() {
        let reason = metric.undefined.as_deref().unwrap_or("it was not computed");
        format!("{} ({cases})", number::no_interval(escape_lines(reason)))
    } else {
        format!("{level}% CI {interval}, {cases}")
    };
    let title = format!("{name} {value}, {interval}");
    let chart = interval_bar(ChartAxis::UNIT, mark(metric, ChartTone::Plain, &title), None);

    MetricView { name, value, interval, chart }
}

fn part_views((kind, parts): (&'static str, PartTable<'_>)) -> (&'static str, Vec<PartView>) {
    (kind, parts.into_iter().map(|(name, part)| part_view(name, part)).collect())
}

fn part_view(name: Option<&str>, part: &PartMetrics) -> PartView {
    let (rate, interval) = (percent(&part.pass_rate), percent_interval(&part.pass_rate));
    let name = name.unwrap_or("answers of the file");
    let title = format!("{name}: {rate}, interval {interval}");

    PartView {
        name: escape_lines(name),
        cases: grouped(part.counts.total() as u64),
        chart: interval_point(ChartAxis::UNIT, mark(&part.pass_rate, ChartTone::Plain, &title), None),
        rate,
        interval,
        score: score(&part.mean_score),
        cost: format_cost(part.cost_usd, None),
    }
}

fn criterion_view(rate: &CriterionRate, rates: &[&CriterionRate]) -> CriterionRateView {
    let metric = &rate.rate;
    let (value, interval) = criterion_value(rate);
    let text = rate_text(rate, rates);
    let title = format!("{value}, interval {interval}");

    CriterionRateView {
        text: escape_lines(&cut_text(&text, MAX_TEXT)),
        id: escape_lines(&format!("{}/{}", rate.grader, rate.criterion)),
        penalty: rate.weight < 0.0,
        chart: interval_point(ChartAxis::UNIT, mark(metric, ChartTone::Plain, &title), None),
        value,
        interval,
        of: grouped(metric.n),
        ungraded: if rate.ungraded == 0 { String::new() } else { grouped(rate.ungraded) },
    }
}
