//! Calibration report of a judge as text.

use assize_analysis::MetricEstimate;
use assize_analysis::calibrate::{
    CalibrationGateResult, CalibrationReport, CalibrationSection, GateBasis, GatedPassRates, JudgeBias,
    PassRate, ReplacedAnnotator, ReplacementTest, SelectionReport, TargetPassRates,
};
use assize_analysis::claims::FEW_ITEMS;
use assize_stats::judge_quality::ConfusionTable;
use assize_stats::{Interval, UndefinedReason};

use crate::ReportStyle;
use crate::metrics::{
    format_metric_value, format_or_undefined, format_p_value, format_range, format_value, render_metrics,
};
use crate::number::{
    UNDEFINED, format_count, format_plain, format_rate, format_score, grouped, no_interval, undefined_because,
};
use crate::page::{ReportPage, ReportPiece};
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Metrics of agreement that are shown by default: of verdicts, and of scores.
const MAIN_METRICS: [&str; 7] =
    ["accuracy", "sensitivity", "specificity", "ac1", "mae", "spearman", "kappa_quadratic"];

/// How much of a calibration is rendered.
#[derive(Debug, Clone, Copy)]
pub struct CalibrationDetail<'g> {
    /// Whether all metrics are shown, and the biases that were not measured.
    pub all_metrics: bool,
    /// Whether measured biases are shown.
    pub biases: bool,
    /// Whether each metric is explained.
    pub explained: bool,
    /// Number of rows of each breakdown, and of pass rates.
    pub rows: usize,
    /// Results of the gates.
    pub gates: &'g [CalibrationGateResult],
    /// What the gates apply to.
    pub gate_basis: GateBasis,
}

impl CalibrationDetail<'_> {
    /// This detail, then less without explanations, for [`crate::fit_screen`].
    pub fn levels(self) -> impl Iterator<Item = Self> {
        let brief = |(rows, biases)| Self { explained: false, rows, biases, ..self };
        std::iter::once(self)
            .chain([(8, true), (6, true), (4, true), (2, true), (1, true), (1, false)].map(brief))
    }
}

/// Renders a calibration: metrics with their intervals and a sentence, then a breakdown by criterion and
/// target, then the corrected pass rates.
pub fn render_calibration(
    calibration: &CalibrationReport,
    detail: CalibrationDetail<'_>,
    style: ReportStyle,
) -> String {
    let mut page = ReportPage::new(style);
    let judge = calibration.judge.as_deref().map(|judge| format!("judge {judge}, ")).unwrap_or_default();
    page.add_paragraph(ReportPiece::plain(format!(
        "{judge}{} in {}",
        format_count(calibration.items as u64, "item", "items"),
        format_count(calibration.clusters as u64, "cluster", "clusters"),
    )));

    if let Some(text) = excluded_labels(calibration) {
        page.add_labelled(
            ReportTone::Plain,
            "labels excluded: ",
            ReportPiece::new(ReportTone::Middling, text),
        );
    }

    let overall = || calibration.sections.iter().filter(|section| section.is_overall);
    let sentences: Vec<String> = overall().filter_map(agreement_sentence).collect();
    for sentence in &sentences {
        page.add_paragraph(ReportPiece::new(ReportTone::Strong, sentence));
    }
    for section in overall() {
        render_overall(&mut page, section, detail);
    }

    for by in ["criterion", "system"] {
        for scores in [false, true] {
            let members: Vec<&CalibrationSection> = calibration
                .sections
                .iter()
                .filter(|section| section.by == by && section.scores == scores)
                .collect();
            render_breakdown(&mut page, by, scores, &members, detail.rows);
        }
    }

    if !calibration.rates.is_empty() {
        page.add_blank();
        page.add_rule("pass rates and means");
        for rates in calibration.rates.iter().take(detail.rows) {
            render_rates(&mut page, rates, detail.explained);
        }
        render_remainder(&mut page, calibration.rates.len(), detail.rows);
    }

    if let Some(mass) = calibration.captured_mass {
        page.add_blank();
        let refused = match mass.refused {
            0 => String::new(),
            some => format!("; {} below 0.5, which count as ungraded", grouped(some as u64)),
        };
        let text = format!(
            "The scores of {} captured a probability of {} (median; lowest {}){refused}.",
            format_count(mass.decisions as u64, "decision", "decisions"),
            format_score(mass.median),
            format_score(mass.lowest)
        );
        page.add_paragraph(ReportPiece::plain(text));
    }

    for note in &calibration.notes {
        page.add_blank();
        page.add_labelled(ReportTone::Middling, "note  ", ReportPiece::plain(note));
    }

    render_gates(&mut page, detail.gates, detail.gate_basis);
    // After a page of tables, the conclusion is no longer on the screen, so it is repeated.
    if !detail.explained {
        for sentence in &sentences {
            page.add_paragraph(ReportPiece::new(ReportTone::Strong, sentence));
        }
    }
    page.finish()
}

/// Numbers of labels that are excluded, with the reasons; `None` if there are none.
pub(crate) fn excluded_labels(calibration: &CalibrationReport) -> Option<String> {
    let left = calibration.left_out;
    let parts = counted(&[
        (left.unmatched, "for items that were not judged"),
        (left.stale, "stale: for another answer or question than the one judged"),
        (left.other_split, "of another split, or shown to the judge"),
        (left.excluded, "of excluded cases"),
    ]);

    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Formats the numbers above 0, each with its word.
fn counted(numbers: &[(u64, &str)]) -> Vec<String> {
    let shown = numbers.iter().filter(|(number, _)| *number > 0);
    shown.map(|(number, what)| format!("{} {what}", grouped(*number))).collect()
}

pub(crate) fn format_counts(section: &CalibrationSection) -> String {
    let cells = section.cells;
    let clusters = if section.is_clustered {
        format!(" in {}", format_count(section.clusters as u64, "cluster", "clusters"))
    } else {
        String::new()
    };
    let mut parts = vec![format!(
        "{} compared{clusters}, of {} labelled and {} judged",
        grouped(cells.compared),
        grouped(cells.labelled),
        grouped(cells.judged)
    )];
    parts.extend(counted(&[
        (cells.ungraded, "ungraded by the judge"),
        (cells.not_judged, "not judged"),
        (cells.judge_not_applicable, "not applicable to the judge alone"),
        (cells.people_not_applicable, "not applicable to people alone"),
        (cells.both_not_applicable, "not applicable to both"),
        (cells.unsure, "unsure"),
        (cells.tied, "tied among people"),
        (cells.disputed, "disputed"),
    ]));

    parts.join(", ")
}

fn render_overall(page: &mut ReportPage, section: &CalibrationSection, detail: CalibrationDetail<'_>) {
    let all = detail.all_metrics;
    page.add_blank();
    page.add_rule(if section.scores { "scores" } else { "verdicts" });
    page.add_labelled(ReportTone::Plain, "items: ", ReportPiece::plain(format_counts(section)));

    if section.cells.compared == 0 {
        return;
    }
    if let Some(confusion) = &section.confusion {
        render_confusion(page, confusion);
    }

    page.add_blank();
    page.add_line(&[
        ReportPiece::new(ReportTone::Strong, "judge against people"),
        ReportPiece::new(ReportTone::Dim, level_note(section)),
    ]);
    let shown = |metrics: &[MetricEstimate]| -> Vec<MetricEstimate> {
        metrics.iter().filter(|metric| all || MAIN_METRICS.contains(&metric.id)).copied().collect()
    };
    let (judge, people) = (shown(&section.figures), shown(&section.people));
    render_metrics(page, &judge, detail.explained);

    if section.people.is_empty() {
        page.add_labelled(
            ReportTone::Strong,
            "agreement between people  ",
            ReportPiece::new(ReportTone::Open, "unknown: no item was labelled by two people"),
        );
    } else {
        let note = if section.cells.disputed == 0 {
            ""
        } else {
            "  disputed items included; `--truth each` includes them above, too"
        };
        page.add_line(&[
            ReportPiece::new(ReportTone::Strong, "agreement between people"),
            ReportPiece::new(ReportTone::Dim, note),
        ]);
        render_metrics(page, &people, detail.explained);
    }

    if let Some(found) = &section.replacement {
        page.add_paragraph(ReportPiece::plain(&found.says));
        if all {
            render_annotators(page, found);
        }
    }

    let biases: Vec<&JudgeBias> =
        section.biases.iter().filter(|bias| all || detail.biases && bias.measured.is_ok()).collect();
    if !biases.is_empty() {
        page.add_line(&[ReportPiece::new(ReportTone::Strong, "biases")]);
    }
    for bias in &biases {
        let lead = ReportPiece::plain(format!("  {:<18}", bias.kind.name()));
        match &bias.measured {
            Ok(figure) => {
                let range = match figure.interval {
                    Ok(found) => format!(" ({:+.3} to {:+.3})", found.low, found.high),
                    Err(reason) => format!(" ({})", no_interval(reason)),
                };
                let number = match figure.value {
                    Ok(found) => format!("{found:+.3}{range}"),
                    Err(reason) => undefined_because(reason),
                };
                let number = ReportPiece::new(ReportTone::Strong, number);
                let is_number = figure.value.is_ok() && figure.interval.is_ok();
                page.add_text(
                    &[lead],
                    &[
                        if is_number { number.unbroken() } else { number },
                        ReportPiece::plain("  "),
                        ReportPiece::new(ReportTone::Dim, if detail.explained { figure.says } else { "" }),
                    ],
                );
            }
            Err(reason) => page
                .add_text(&[lead], &[ReportPiece::new(ReportTone::Open, format!("not measured: {reason}"))]),
        }
    }

    let hidden = (section.figures.len() - judge.len()) + (section.people.len() - people.len());
    let biases = section.biases.len() - biases.len();
    if hidden + biases > 0 {
        let also = match biases {
            0 => String::new(),
            some => format!(" and {}", format_count(some as u64, "bias", "biases")),
        };
        let what = format!("{hidden} more measures of agreement{also}");
        page.add_paragraph(ReportPiece::new(ReportTone::Dim, format!("`--verbose` shows {what}")));
    }
}

/// Renders the people whom the judge was compared with, a line each.
fn render_annotators(page: &mut ReportPage, found: &ReplacementTest) {
    let columns = [
        ReportColumn::shrinking("person"),
        ReportColumn::right("items"),
        ReportColumn::right("judge as good"),
        ReportColumn::right("person as good"),
        ReportColumn::right("adjusted p"),
        ReportColumn::left(""),
    ];
    let row = |one: &ReplacedAnnotator| {
        vec![
            ReportPiece::untrusted_name(ReportTone::Plain, &one.name),
            ReportPiece::plain(grouped(one.items as u64)),
            ReportPiece::plain(format_rate(one.judge)),
            ReportPiece::plain(format_rate(one.person)),
            ReportPiece::plain(one.p_adjusted.map_or_else(|| "too few".to_owned(), format_p_value)),
            ReportPiece::plain(if one.matched { "judge no worse" } else { "" }),
        ]
    };
    render_table(page, 2, &columns, &found.annotators.iter().map(row).collect::<Vec<_>>());
}

/// Describes how often the judge agrees with people, and how sure that is; `None` for scores.
fn agreement_sentence(section: &CalibrationSection) -> Option<String> {
    let confusion = section.confusion?;
    let found = section.figures.iter().find(|figure| figure.id == "accuracy")?;
    let unit = match section.cells.disputed {
        0 if confusion.n() == section.cells.compared => "",
        0 => " labels",
        _ => " undisputed labels",
    };
    let counts = format!(
        "The judge agrees with people in {} of {}{unit}",
        grouped(confusion.true_pass + confusion.true_fail),
        grouped(confusion.n())
    );
    Some(match (found.value, found.interval) {
        (Ok(_), Ok(interval)) if found.n < FEW_ITEMS => format!(
            "{counts}; too few to say more than that it agrees in {} of such items.",
            format_rate_range(interval, false)
        ),
        (Ok(rate), Ok(interval)) => format!(
            "{counts} ({}, {}% CI {}).",
            format_rate(rate),
            interval.level.get() * 100.0,
            format_rate_range(interval, false)
        ),
        _ => format!("{counts}."),
    })
}

fn level_note(section: &CalibrationSection) -> String {
    let found = section.figures.iter().find_map(|figure| figure.interval.ok());
    found.map_or_else(String::new, |interval| format!("  with {}% CI", interval.level.get() * 100.0))
}

fn render_confusion(page: &mut ReportPage, confusion: &ConfusionTable) {
    let columns =
        [ReportColumn::left(""), ReportColumn::right("people: met"), ReportColumn::right("people: unmet")];
    let row = |name: &str, met: u64, unmet: u64| {
        vec![ReportPiece::plain(name), ReportPiece::plain(grouped(met)), ReportPiece::plain(grouped(unmet))]
    };
    let rows = [
        row("judge: met", confusion.true_pass, confusion.false_pass),
        row("judge: unmet", confusion.false_fail, confusion.true_fail),
    ];
    render_table(page, 2, &columns, &rows);
}

/// Columns of a breakdown: id of the metric and column title.
const VERDICT_COLUMNS: [(&str, &str); 4] =
    [("accuracy", "raw"), ("sensitivity", "sens."), ("specificity", "spec."), ("ac1", "AC1")];
const SCORE_COLUMNS: [(&str, &str); 4] =
    [("spearman", "Spearman"), ("kendall_tau_b", "tau-b"), ("mae", "MAE"), ("ac2", "AC2")];

fn render_breakdown(
    page: &mut ReportPage,
    by: &'static str,
    scores: bool,
    all: &[&CalibrationSection],
    limit: usize,
) {
    let sections = &all[..all.len().min(limit)];
    if sections.is_empty() {
        return;
    }

    let (figures, main): (&[_], _) =
        if scores { (&SCORE_COLUMNS, "kappa_quadratic") } else { (&VERDICT_COLUMNS, "kappa") };
    page.add_blank();
    page.add_rule(&format!("by {by}"));

    let mut columns = vec![ReportColumn::shrinking(by), ReportColumn::right("n")];
    columns.extend(figures.iter().map(|(_, title)| ReportColumn::right(title)));
    columns.extend([
        ReportColumn::right(if scores { "quadratic kappa" } else { "kappa" }),
        ReportColumn::left("CI"),
        ReportColumn::right("people"),
        ReportColumn::right("bias"),
        ReportColumn::right("ungraded"),
    ]);

    let find = |list: &[MetricEstimate], id: &str| list.iter().find(|figure| figure.id == id).copied();
    let between = if scores { "alpha_interval" } else { "kappa" };
    let rows: Vec<Vec<ReportPiece>> = sections
        .iter()
        .map(|section| {
            let number = |id: &str| match find(&section.figures, id) {
                Some(found) if found.value.is_ok() => ReportPiece::plain(format_metric_value(&found)),
                Some(_) => ReportPiece::new(ReportTone::Open, UNDEFINED),
                None => ReportPiece::plain(""),
            };

            let name = if section.title.is_empty() { "(none)" } else { &section.title };
            let mut row = vec![
                ReportPiece::untrusted_name(ReportTone::Plain, name),
                ReportPiece::plain(grouped(section.cells.compared)),
            ];
            row.extend(figures.iter().map(|(id, _)| number(id)));

            let bias = bias_of(section);
            let between = find(&section.people, between);
            row.extend([
                number(main),
                ReportPiece::new(
                    ReportTone::Dim,
                    find(&section.figures, main)
                        .map_or_else(String::new, |found| format_range(found.interval)),
                ),
                ReportPiece::plain(
                    between.map_or_else(String::new, |found| format_or_undefined(found.value)),
                ),
                ReportPiece::plain(bias.map_or_else(String::new, |bias| format!("{bias:+.3}"))),
                ReportPiece::plain(if section.cells.ungraded > 0 {
                    grouped(section.cells.ungraded)
                } else {
                    String::new()
                }),
            ]);

            row
        })
        .collect();

    render_table(page, 0, &columns, &rows);
    render_remainder(page, all.len(), limit);

    // A column without any value is not in the table, so the legend doesn't explain it.
    let shown: Vec<&str> = figures.iter().map(|(id, _)| *id).chain([main]).collect();
    let is_undefined = |figure: &MetricEstimate| shown.contains(&figure.id) && figure.value.is_err();
    let has = |test: &dyn Fn(&CalibrationSection) -> bool| sections.iter().any(|section| test(section));
    let legend = [
        (
            has(&|section| find(&section.people, between).is_some()),
            if scores { "people: alpha (interval) between people" } else { "people: kappa between people" },
        ),
        (has(&|section| bias_of(section).is_some()), "bias: judge minus people"),
        (has(&|section| section.figures.iter().any(is_undefined)), "undefined: only one verdict occurs"),
    ];
    let parts: Vec<&str> =
        legend.into_iter().filter(|(is_shown, _)| *is_shown).map(|(_, text)| text).collect();
    if !parts.is_empty() {
        page.add_paragraph(ReportPiece::new(ReportTone::Dim, parts.join("; ")));
    }
}

/// Returns the severity of the judge, if it was measured.
fn bias_of(section: &CalibrationSection) -> Option<f64> {
    section.biases.first().and_then(|bias| bias.measured.as_ref().ok()?.value.ok())
}

/// Formats a rate of verdicts as a percentage, and a mean of scores in points.
fn format_rate_or_mean(value: f64, scores: bool) -> String {
    if scores { format_value(value) } else { format_rate(value) }
}

fn format_rate_range(interval: Interval, scores: bool) -> String {
    let end = |value| format_rate_or_mean(value, scores);
    format!("{} to {}", end(interval.low), end(interval.high))
}

fn rate_text(rate: &PassRate, scores: bool) -> String {
    match &rate.mean {
        Ok(mean) => {
            let around = match mean.interval {
                Ok(interval) => format!(" ({})", format_rate_range(interval, scores)),
                Err(reason) => format!(" ({})", no_interval(reason)),
            };
            let counts = rate.counted.map_or_else(
                || format_count(mean.n as u64, "item", "items"),
                |found| format!("{} of {}", grouped(found.successes), grouped(found.n)),
            );
            format!("{}{around}, {counts}", format_rate_or_mean(mean.mean, scores))
        }
        Err(reason) => undefined_because(reason),
    }
}

fn render_remainder(page: &mut ReportPage, all: usize, limit: usize) {
    if all > limit {
        let text = format!("and {} more: `--verbose`", grouped((all - limit) as u64));
        page.add_line(&[ReportPiece::new(ReportTone::Dim, text)]);
    }
}

fn render_rates(page: &mut ReportPage, rates: &TargetPassRates, explained: bool) {
    let kind = if rates.scores { " (scores)" } else { "" };
    page.add_line(&[ReportPiece::untrusted_name(ReportTone::Strong, &rates.of), ReportPiece::plain(kind)]);

    if let Some(judge) = &rates.judge {
        add_target_line(page, "judge", ReportTone::Plain, rate_text(judge, rates.scores));
    }
    if let Some(people) = &rates.people {
        add_target_line(page, "people, as labelled", ReportTone::Plain, rate_text(people, rates.scores));
    }

    match &rates.powered {
        Ok(found) => {
            let tuned = found.tuned;
            let gain = found
                .gain
                .map_or_else(|_| String::new(), |gain| format!("; as precise as {gain:.2} times the labels"));
            let few =
                if found.few_labels() { "; with fewer than 30 labels the judge has less weight" } else { "" };
            add_target_line(
                page,
                "corrected (PPI++)",
                ReportTone::Strong,
                format!(
                    "{} ({}), {} labelled and {} not{gain}{few}",
                    format_rate_or_mean(tuned.mean, rates.scores),
                    format_rate_range(tuned.interval, rates.scores),
                    grouped(found.labelled as u64),
                    grouped(found.unlabelled as u64),
                ),
            );

            if explained {
                let says = "Estimated rate if people had labelled everything, from their labels and the judge's verdicts.";
                page.add_indented(6, ReportPiece::new(ReportTone::Dim, says));
            }
        }
        Err(reason) => {
            add_target_line(page, "corrected (PPI++)", ReportTone::Open, format!("not computed: {reason}"));
        }
    }

    if let Some(found) = &rates.selection {
        render_selection(page, found, explained);
    }

    render_given_rates(page, rates);

    for (name, gated) in [("people", &rates.people_gated), ("judge", &rates.judge_gated)] {
        if let Some(GatedPassRates { direct, recursive, circular }) = gated {
            add_target_line(
                page,
                &format!("{name}, prerequisites"),
                ReportTone::Plain,
                format!(
                    "{}; with all their prerequisites {}",
                    rate_text(direct, false),
                    rate_text(recursive, false)
                ),
            );
            if *circular > 0 {
                add_target_line(
                    page,
                    "",
                    ReportTone::Dim,
                    format!(
                        "{} with circular prerequisites",
                        format_count(*circular, "criterion", "criteria")
                    ),
                );
            }
        }
    }
}

/// Renders the estimate from error rates that the user gave.
fn render_given_rates(page: &mut ReportPage, rates: &TargetPassRates) {
    match &rates.rogan_gladen {
        Some(Ok(found)) => {
            let around = match found.interval {
                Ok(interval) => format!(" ({})", format_rate_range(interval, rates.scores)),
                Err(UndefinedReason::IncompatibleRates) => {
                    " (no CI: the judge's rate is impossible with these error rates, so they do not hold here)"
                        .to_owned()
                }
                Err(_) => " (no CI: give the rates as K/N)".to_owned(),
            };
            let outside = if (found.raw - found.clipped).abs() > f64::EPSILON {
                format!("; {} before clipping", format_rate_or_mean(found.raw, rates.scores))
            } else {
                String::new()
            };
            add_target_line(
                page,
                "corrected (given)",
                ReportTone::Strong,
                format!("{}{around}{outside}", format_rate_or_mean(found.clipped, rates.scores)),
            );

            add_target_line(
                page,
                "",
                ReportTone::Dim,
                "Rogan-Gladen estimate; valid only if the given error rates hold for these answers.",
            );
        }
        Some(Err(reason)) => {
            add_target_line(page, "corrected (given)", ReportTone::Open, format!("not computed: {reason}"));
        }
        None => {}
    }
}

fn render_gates(page: &mut ReportPage, gates: &[CalibrationGateResult], on: GateBasis) {
    if gates.is_empty() {
        return;
    }

    page.add_blank();
    let on = match on {
        GateBasis::Estimate => "limits, checked against the estimates",
        GateBasis::Lower => "limits, checked against the lower ends of the CIs",
    };
    page.add_rule(on);

    for gate in gates {
        let (sign, tone) = match gate {
            CalibrationGateResult { undecided: true, .. } => ("?", ReportTone::Open),
            CalibrationGateResult { passed: true, .. } => ("✓", ReportTone::Good),
            _ => ("✗", ReportTone::Bad),
        };
        let open = if gate.undecided {
            "; incomplete: the labelled items without a decision could change that"
        } else {
            ""
        };
        let found = match (gate.few, gate.value) {
            (Some(_), Ok(found)) if !assize_rubric::at_least(found, gate.request.least) => {
                format_value(found)
            }
            (Some(few), _) => format!("not shown, because {few}"),
            (None, Ok(found)) => format_value(found),
            (None, Err(UndefinedReason::NoValues)) => "no such metric here".to_owned(),
            (None, Err(reason @ UndefinedReason::NotAboveGuessing)) => format!("not shown, because {reason}"),
            (None, Err(reason)) => undefined_because(reason),
        };
        page.add_labelled(
            tone,
            format!("{sign} "),
            ReportPiece::plain(format!(
                "{} at least {}: {found}{open}",
                gate.request.figure, gate.request.least
            )),
        );
    }
}

/// Adds a line about a target, indented below its name.
fn add_target_line(page: &mut ReportPage, name: &str, tone: ReportTone, text: impl AsRef<str>) {
    page.add_labelled(ReportTone::Plain, format!("  {name:<22}"), ReportPiece::new(tone, text));
}

/// Adds the bounds of a rate whose labels were not drawn at random.
fn render_selection(page: &mut ReportPage, found: &SelectionReport, explained: bool) {
    let range = |(low, high): (f64, f64)| format!("{} to {}", format_rate(low), format_rate(high));
    for bound in &found.bounds {
        let (title, text) = match bound.factor {
            1.0 => ("representative labels", range(bound.with_error)),
            factor if factor.is_infinite() => ("no assumption", range(bound.with_error)),
            _ if !explained => continue,
            factor => {
                add_target_line(
                    page,
                    "",
                    ReportTone::Plain,
                    format!(
                        "{} if the odds of being met differ by a factor of {} at most",
                        range(bound.with_error),
                        format_plain(factor)
                    ),
                );
                continue;
            }
        };
        add_target_line(page, title, ReportTone::Plain, text);
    }

    if !explained {
        return;
    }
    let (judge, factor) = found.judge;
    let text = match factor {
        Ok(1.0) => {
            format!("The judge's own rate, {}, fits labels that are representative.", format_rate(judge))
        }
        Ok(factor) if factor.is_infinite() => format!(
            "The judge's own rate, {}, can be right only if labelled items say nothing about the others: all labels of items with \
             the same decision are alike.",
            format_rate(judge)
        ),
        Err(_) => {
            format!(
                "The judge's own rate, {}, is wrong whatever people would say about the other items.",
                format_rate(judge)
            )
        }
        Ok(factor) => format!(
            "The judge's own rate, {}, can be right only if the odds of being met differ by a factor of {factor:.1} between labelled \
             items and others with the same decision.",
            format_rate(judge)
        ),
    };
    add_target_line(page, "", ReportTone::Dim, text);
}
