//! A judge against people: confusion, reliability, agreement and biases with their intervals.

use askama::Template;
use assize_analysis::MetricEstimate;
use assize_analysis::calibrate::{
    CalibrationReport, CalibrationSection, JudgeBias, PassRate, ReliabilityBinRate, TargetPassRates,
};

use super::measurement::{MeasurementBlock, MeasurementView, MetricTable, NamedMetric, ToneLine};
use crate::calibration::{excluded_labels, format_counts};
use crate::chart::{ReliabilityPoint, confusion_matrix, reliability_curve};
use crate::metrics::MetricForm;
use crate::number::{format_count, grouped};

/// Maximum number of rows of a breakdown.
const MAX_ROWS: usize = 100;

/// Renders a calibration as a `<section>` element, with charts as SVG. Texts are escaped.
pub fn calibration_fragment(report: &CalibrationReport) -> String {
    let judge = report.judge.as_deref().map(|judge| format!("Judge {judge}, ")).unwrap_or_default();
    let counts = format!(
        "{judge}{} in {}.",
        format_count(report.items as u64, "item", "items"),
        format_count(report.clusters as u64, "cluster", "clusters")
    );
    let mut lead = vec![ToneLine::new("", counts)];
    if let Some(text) = excluded_labels(report) {
        lead.push(ToneLine::new("middling", format!("Labels excluded: {text}.")));
    }
    lead.extend(report.notes.iter().map(|note| ToneLine::new("note", note)));

    let mut blocks: Vec<MeasurementBlock> =
        report.sections.iter().filter(|section| section.is_overall).flat_map(overall_blocks).collect();
    for by in ["criterion", "system"] {
        for scores in [false, true] {
            let members: Vec<&CalibrationSection> = report
                .sections
                .iter()
                .filter(|section| section.by == by && section.scores == scores)
                .collect();
            blocks.extend(breakdown(by, scores, &members));
        }
    }
    blocks.extend(rate_block(&report.rates));

    // The template only reads values that can't fail, and writing to a string never fails.
    let view = MeasurementView { title: "Judge against people".to_owned(), lead, blocks };
    view.render().unwrap_or_default()
}

/// Agreement over all verdicts or scores, agreement between people, and biases.
fn overall_blocks(section: &CalibrationSection) -> Vec<MeasurementBlock> {
    let counts = ToneLine::new("dim", format!("Items: {}.", format_counts(section)));
    let heading = if section.scores { "Scores" } else { "Verdicts" };
    let mut agreement =
        MeasurementBlock { heading: heading.to_owned(), lines: vec![counts], ..MeasurementBlock::default() };
    if section.cells.compared == 0 {
        return vec![agreement];
    }

    agreement.charts.extend(section.confusion.iter().map(|table| ("Confusion", confusion_matrix(table))));
    if !section.reliability.is_empty() {
        agreement.charts.push(("Reliability of the judge's probabilities", curve(&section.reliability)));
    }
    agreement.tables.push(MetricTable::new(
        "Agreement of the judge with people",
        "metric",
        &named(&section.figures),
    ));
    if section.people.is_empty() {
        let text = "Agreement between people is unknown: no item was labelled by two people.";
        agreement.lines.push(ToneLine::new("open", text));
    } else {
        let title = if section.cells.disputed == 0 {
            "Agreement between people"
        } else {
            "Agreement between people, disputed items included"
        };
        agreement.tables.push(MetricTable::new(title, "metric", &named(&section.people)));
    }

    let (measured, unmeasured): (Vec<&JudgeBias>, Vec<&JudgeBias>) =
        section.biases.iter().partition(|bias| bias.measured.is_ok());
    let rows: Vec<NamedMetric> = measured
        .iter()
        .filter_map(|bias| {
            let metric = bias.measured.as_ref().ok()?;
            Some(NamedMetric { name: bias.kind.name().to_owned(), ..NamedMetric::from(metric) })
        })
        .collect();
    let lines = unmeasured.iter().filter_map(|bias| {
        let reason = bias.measured.as_ref().err()?;
        Some(ToneLine::new("dim", format!("{} is not measured: {reason}.", bias.kind.name())))
    });
    let mut biases = MeasurementBlock {
        heading: format!("Biases in {}", heading.to_lowercase()),
        lines: lines.collect(),
        ..MeasurementBlock::default()
    };
    if !rows.is_empty() {
        biases.tables.push(MetricTable::of_differences("Biases of the judge", "bias", &rows));
    }

    vec![agreement, biases]
}

fn named(metrics: &[MetricEstimate]) -> Vec<NamedMetric> {
    metrics.iter().map(NamedMetric::from).collect()
}

fn curve(bins: &[ReliabilityBinRate]) -> String {
    let points: Vec<ReliabilityPoint> = bins
        .iter()
        .map(|bin| ReliabilityPoint {
            predicted: bin.predicted,
            observed: bin.observed,
            interval: bin.interval.ok().map(|interval| (interval.low, interval.high)),
            count: bin.n,
        })
        .collect();
    let descriptions: Vec<String> = bins
        .iter()
        .map(|bin| format!("{:.2} given, {:.2} observed in {}", bin.predicted, bin.observed, grouped(bin.n)))
        .collect();

    reliability_curve(&points, &format!("Reliability curve: {}", descriptions.join("; ")))
}

/// The main coefficient of each criterion or target.
fn breakdown(by: &str, scores: bool, members: &[&CalibrationSection]) -> Option<MeasurementBlock> {
    let id = if scores { "kappa_quadratic" } else { "kappa" };
    let rows: Vec<NamedMetric> = members
        .iter()
        .take(MAX_ROWS)
        .filter_map(|section| {
            let metric = section.figures.iter().find(|metric| metric.id == id)?;
            let name = if section.title.is_empty() { "(none)" } else { &section.title };
            Some(NamedMetric { name: name.to_owned(), says: String::new(), ..NamedMetric::from(metric) })
        })
        .collect();
    if rows.is_empty() {
        return None;
    }

    let by = if by == "system" { "target" } else { by };
    let caption = if scores { "Quadratic kappa of scores" } else { "Cohen's kappa of verdicts" };
    let first = if by == "target" { "target" } else { "criterion" };
    let more = members.len().saturating_sub(MAX_ROWS);
    let more = (more > 0).then(|| ToneLine::new("dim", format!("and {} more", grouped(more as u64))));

    Some(MeasurementBlock {
        heading: format!("By {by}"),
        lines: more.into_iter().collect(),
        tables: vec![MetricTable::new(caption, first, &rows)],
        ..MeasurementBlock::default()
    })
}

/// Format of the rates of a target: percentages, or mean scores.
const fn form_of_rates(rates: &TargetPassRates) -> MetricForm {
    if rates.scores { MetricForm::Number } else { MetricForm::Share }
}

/// Pass rates of the judge, of people, and corrected by the labels. Mean scores have another scale and are
/// given as text.
fn rate_block(rates: &[TargetPassRates]) -> Option<MeasurementBlock> {
    let mut block =
        MeasurementBlock { heading: "Pass rates and means".to_owned(), ..MeasurementBlock::default() };
    for target in rates {
        let kind = if target.scores { "mean score" } else { "pass rate" };
        let rate = |name: &str, rate: &PassRate, says: &str| NamedMetric {
            form: form_of_rates(target),
            n: rate.mean.map_or_else(|_| String::new(), |mean| format!("{} items", grouped(mean.n as u64))),
            says: says.to_owned(),
            ..NamedMetric::new(
                name,
                rate.mean.map(|mean| mean.mean),
                rate.mean.and_then(|mean| mean.interval),
            )
        };
        let mut rows = Vec::new();
        rows.extend(target.judge.iter().map(|found| rate("judge", found, "Of all that was judged.")));
        rows.extend(
            target.people.iter().map(|found| rate("people, as labelled", found, "Of what has labels.")),
        );
        match &target.powered {
            Ok(found) => rows.push(NamedMetric {
                form: form_of_rates(target),
                n: format!(
                    "{} labelled, {} not",
                    grouped(found.labelled as u64),
                    grouped(found.unlabelled as u64)
                ),
                says: "Estimated rate if people had labelled everything.".to_owned(),
                ..NamedMetric::new("corrected (PPI++)", Ok(found.tuned.mean), Ok(found.tuned.interval))
            }),
            Err(reason) => {
                let text = format!("{}: no corrected {kind}: {reason}.", target.of);
                block.lines.push(ToneLine::new("dim", text));
            }
        }
        if !rows.is_empty() {
            block.tables.push(MetricTable::new(format!("{}: {kind}", target.of), "rate", &rows));
        }
    }

    (!block.tables.is_empty()).then_some(block)
}
