//! Audits of a judge as charts: the decisions that changed although they should not have.

use askama::Template;
use assize_audit::injection::InjectionReport;
use assize_audit::{AuditReport, PairTally, StoredAudit};

use super::measurement::{MeasurementBlock, MeasurementView, MetricTable, NamedMetric, ToneLine};
use crate::injection_audit::conclusion_lines;
use crate::metrics::MetricForm;
use crate::number::grouped;
use crate::sanitize::escape_lines;

/// Maximum number of parts, probes or criteria shown.
const MAX_ROWS: usize = 100;

/// Renders an audit as a `<section>` element, with charts as SVG. Texts are escaped.
pub fn audit_fragment(audit: &StoredAudit) -> String {
    let view = match audit {
        StoredAudit::Probing(report) => probing_view(report),
        StoredAudit::Injection(report) => injection_view(report),
    };
    // The template only reads values that can't fail, and writing to a string never fails.
    view.render().unwrap_or_default()
}

fn probing_view(report: &AuditReport) -> MeasurementView {
    let mut lead = vec![ToneLine::new("verdict", &report.says)];
    lead.extend(report.unmeasured.iter().chain(&report.missing).map(|line| ToneLine::new("open", line)));

    let all: Vec<NamedMetric> = report.figures.iter().map(NamedMetric::from).collect();
    let mut blocks = vec![MeasurementBlock {
        tables: vec![MetricTable::new("All cases", "metric", &all)],
        ..MeasurementBlock::default()
    }];

    // Many parts with one metric each become rows of one table.
    let is_table = report.sections.len() > 1 && report.sections.iter().all(|part| part.figures.len() == 1);
    if is_table {
        let rows: Vec<NamedMetric> = report
            .sections
            .iter()
            .take(MAX_ROWS)
            .filter_map(|part| {
                let metric = part.figures.first()?;
                Some(NamedMetric {
                    name: part.title.clone(),
                    says: String::new(),
                    ..NamedMetric::from(metric)
                })
            })
            .collect();
        let caption =
            report.sections.first().and_then(|part| part.figures.first()).map_or("", |metric| metric.name);
        blocks.push(MeasurementBlock {
            heading: "Part by part".to_owned(),
            lines: further(report.sections.len()),
            tables: vec![MetricTable::new(caption, "part", &rows)],
            ..MeasurementBlock::default()
        });
    } else {
        blocks.extend(report.sections.iter().take(MAX_ROWS).map(|part| {
            let rows: Vec<NamedMetric> = part.figures.iter().map(NamedMetric::from).collect();
            MeasurementBlock {
                heading: escape_lines(&part.title),
                tables: vec![MetricTable::new(escape_lines(&part.title), "metric", &rows)],
                ..MeasurementBlock::default()
            }
        }));
    }

    MeasurementView { title: "What was measured".to_owned(), lead, blocks }
}

fn injection_view(report: &InjectionReport) -> MeasurementView {
    let lead = conclusion_lines(report)
        .into_iter()
        .map(|(tone, text)| ToneLine::new(super::tone(tone).class(), text))
        .collect();

    let wins = &report.wins;
    let named = |name: &str, metric| NamedMetric { name: name.to_owned(), ..NamedMetric::from(metric) };
    let all = [
        named("judged again, unchanged", &wins.noise),
        named("with a harmless text", &wins.control),
        named("under all attacks", &wins.attacks),
    ];
    let beyond = [named("attacks, minus judging again", &wins.beyond_noise)];
    let probes: Vec<NamedMetric> = report
        .probes
        .iter()
        .take(MAX_ROWS)
        .map(|probe| {
            let kind = if probe.is_control { "harmless text" } else { &probe.class };
            won(format!("{}.{} ({kind})", probe.name, probe.place), &probe.tally)
        })
        .collect();
    let given_way: Vec<_> = report.criteria.iter().filter(|one| one.tally.won > 0).collect();
    let criteria: Vec<NamedMetric> = given_way
        .iter()
        .take(MAX_ROWS)
        .map(|one| {
            let all = won(format!("{} of {}", one.criterion, one.case), &one.tally);
            // All variants are of one decision, so there is nothing to compute an interval over.
            NamedMetric { interval: None, ..all }
        })
        .collect();

    let mut blocks = vec![MeasurementBlock {
        tables: vec![
            MetricTable::new("Decisions won, of those against an answer", "answers", &all),
            MetricTable::of_differences("Difference", "answers", &beyond),
        ],
        ..MeasurementBlock::default()
    }];
    if !probes.is_empty() {
        blocks.push(MeasurementBlock {
            heading: "By probe".to_owned(),
            lines: further(report.probes.len()),
            tables: vec![MetricTable::new("Decisions won by each probe", "probe", &probes)],
            ..MeasurementBlock::default()
        });
    }
    if !criteria.is_empty() {
        blocks.push(MeasurementBlock {
            heading: "Criteria whose decisions changed".to_owned(),
            lines: further(given_way.len()),
            tables: vec![MetricTable::new("Decisions won, criterion by criterion", "criterion", &criteria)],
            ..MeasurementBlock::default()
        });
    }

    MeasurementView { title: "What was measured".to_owned(), lead, blocks }
}

/// The share of decisions that changed in the answer's favour, among those that could.
fn won(name: String, tally: &PairTally) -> NamedMetric {
    let share = tally.win_rate();
    NamedMetric {
        name,
        form: MetricForm::Share,
        value: share.rate,
        interval: share.low.zip(share.high),
        undefined: share.rate.map_or(share.method, |_| String::new()),
        n: grouped(share.n),
        says: String::new(),
    }
}

fn further(count: usize) -> Vec<ToneLine> {
    let more = count.saturating_sub(MAX_ROWS);
    (more > 0)
        .then(|| ToneLine::new("dim", format!("and {} more", grouped(more as u64))))
        .into_iter()
        .collect()
}
