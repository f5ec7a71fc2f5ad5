//! Calibration report of a judge as text.

use assize_analysis::Figure;
use assize_analysis::calibrate::{Calibration, Cells, GateOn, GateResult, Gated, PassRate, Rates, Section};
use assize_stats::Undefined;
use assize_stats::judged::Confusion;

use crate::Style;
use crate::figures::{figure_lines, or_undefined, range, value};
use crate::number::{count, grouped};
use crate::page::{Page, Piece};
use crate::style::Tone;
use crate::table::{Column, table};

/// Renders a calibration: every metric with its interval and a sentence, then a breakdown by criterion and
/// target, then the corrected pass rates.
pub fn calibration(calibration: &Calibration, gates: &[GateResult], on: GateOn, style: Style) -> String {
    let mut page = Page::new(style);
    let judge = calibration.judge.as_deref().map(|judge| format!("judge {judge}, ")).unwrap_or_default();
    page.text(
        &[],
        &[Piece::plain(format!(
            "{judge}{} in {}",
            count(calibration.items as u64, "item", "items"),
            count(calibration.clusters as u64, "cluster", "clusters"),
        ))],
    );
    left_out(&mut page, calibration);
    for section in calibration.sections.iter().filter(|section| section.is_overall) {
        overall(&mut page, section);
    }
    for by in ["criterion", "system"] {
        for scores in [false, true] {
            let members: Vec<&Section> = calibration
                .sections
                .iter()
                .filter(|section| section.by == by && section.scores == scores)
                .collect();
            breakdown(&mut page, by, scores, &members);
        }
    }
    if !calibration.rates.is_empty() {
        page.blank();
        page.rule("pass rates and means");
        for rates in &calibration.rates {
            rate_lines(&mut page, rates);
        }
    }
    for note in &calibration.notes {
        page.blank();
        page.text(&[Piece::new(Tone::Middling, "note  ")], &[Piece::plain(note)]);
    }
    gate_lines(&mut page, gates, on);
    page.finish()
}

fn left_out(page: &mut Page, calibration: &Calibration) {
    let left = calibration.left_out;
    let mut parts = Vec::new();
    for (number, what) in [
        (left.unmatched, "about nothing that was judged"),
        (left.other_split, "in another part of the data, or seen by the judge"),
        (left.excluded, "of excluded cases"),
    ] {
        if number > 0 {
            parts.push(format!("{} {what}", grouped(number)));
        }
    }
    if !parts.is_empty() {
        page.text(&[Piece::plain("labels left out: ")], &[Piece::new(Tone::Middling, parts.join("; "))]);
    }
}

fn counted(cells: Cells) -> String {
    let mut parts = vec![format!(
        "{} compared of {} labelled and {} judged",
        grouped(cells.compared),
        grouped(cells.labelled),
        grouped(cells.judged)
    )];
    for (number, what) in [
        (cells.ungraded, "ungraded by the judge"),
        (cells.not_judged, "not judged"),
        (cells.judge_not_applicable, "not applicable to the judge alone"),
        (cells.people_not_applicable, "not applicable to people alone"),
        (cells.both_not_applicable, "not applicable to both"),
        (cells.unsure, "unsure"),
        (cells.tied, "tied among people"),
    ] {
        if number > 0 {
            parts.push(format!("{} {what}", grouped(number)));
        }
    }
    parts.join(", ")
}

fn overall(page: &mut Page, section: &Section) {
    page.blank();
    page.rule(if section.scores { "scores" } else { "verdicts" });
    page.text(&[Piece::plain("items: ")], &[Piece::plain(counted(section.cells))]);
    if section.cells.compared == 0 {
        return;
    }
    if let Some(confusion) = &section.confusion {
        page.blank();
        crossed(page, confusion);
    }
    page.blank();
    page.line(&[Piece::new(Tone::Strong, "judge against people"), Piece::new(Tone::Dim, level(section))]);
    figure_lines(page, &section.figures);
    page.blank();
    if section.people.is_empty() {
        page.text(
            &[Piece::new(Tone::Strong, "people among themselves  ")],
            &[Piece::new(Tone::Open, "not known: nobody labelled what another labelled")],
        );
    } else {
        page.line(&[Piece::new(Tone::Strong, "people among themselves")]);
        figure_lines(page, &section.people);
    }
    page.blank();
    page.line(&[Piece::new(Tone::Strong, "biases")]);
    for bias in &section.biases {
        let lead = Piece::plain(format!("  {:<16}", bias.kind.name()));
        match &bias.measured {
            Ok(figure) => {
                let range = match figure.interval {
                    Ok(_) => format!(" ({})", range(figure.interval)),
                    Err(reason) => format!(" (no interval: {reason})"),
                };
                let number = match figure.value {
                    Ok(found) => format!("{found:+.3}{range}"),
                    Err(reason) => format!("undefined, because {reason}"),
                };
                page.text(
                    &[lead],
                    &[
                        Piece::new(Tone::Strong, number),
                        Piece::plain("  "),
                        Piece::new(Tone::Dim, figure.says),
                    ],
                );
            }
            Err(reason) => page.text(&[lead], &[Piece::new(Tone::Open, format!("not measured: {reason}"))]),
        }
    }
}

fn level(section: &Section) -> String {
    let found = section.figures.iter().find_map(|figure| figure.interval.ok());
    found.map_or_else(String::new, |interval| format!("  with {} % intervals", interval.level.get() * 100.0))
}

fn crossed(page: &mut Page, confusion: &Confusion) {
    let columns = [Column::left(""), Column::right("people: met"), Column::right("people: unmet")];
    let row = |name: &str, met: u64, unmet: u64| {
        vec![Piece::plain(name), Piece::plain(grouped(met)), Piece::plain(grouped(unmet))]
    };
    let rows = [
        row("judge: met", confusion.true_pass, confusion.false_pass),
        row("judge: unmet", confusion.false_fail, confusion.true_fail),
    ];
    table(page, 2, &columns, &rows);
}

/// Columns of a breakdown: id of the metric and column title.
const OF_VERDICTS: [(&str, &str); 4] =
    [("accuracy", "raw"), ("sensitivity", "sens."), ("specificity", "spec."), ("ac1", "AC1")];
const OF_SCORES: [(&str, &str); 4] =
    [("spearman", "Spearman"), ("kendall_tau_b", "tau-b"), ("mae", "MAE"), ("ac2", "AC2")];

fn breakdown(page: &mut Page, by: &'static str, scores: bool, sections: &[&Section]) {
    if sections.is_empty() {
        return;
    }
    let (figures, main): (&[_], _) =
        if scores { (&OF_SCORES, "kappa_quadratic") } else { (&OF_VERDICTS, "kappa") };
    page.blank();
    page.rule(&format!("by {by}"));
    let mut columns = vec![Column::shrinking(by), Column::right("n")];
    columns.extend(figures.iter().map(|(_, title)| Column::right(title)));
    columns.extend([
        Column::right(if scores { "quadratic kappa" } else { "kappa" }),
        Column::left("interval"),
        Column::right("people"),
        Column::right("bias"),
        Column::right("ungraded"),
    ]);
    let find = |list: &[Figure], id: &str| list.iter().find(|figure| figure.id == id).copied();
    let rows: Vec<Vec<Piece>> = sections
        .iter()
        .map(|section| {
            let number = |id: &str| match find(&section.figures, id) {
                Some(Figure { value: Ok(found), .. }) => Piece::plain(value(found)),
                Some(_) => Piece::new(Tone::Open, "undef."),
                None => Piece::plain(""),
            };
            let name = if section.title.is_empty() { "(none)" } else { &section.title };
            let mut row = vec![Piece::name(Tone::Plain, name), Piece::plain(grouped(section.cells.compared))];
            row.extend(figures.iter().map(|(id, _)| number(id)));
            let bias = section.biases.first().and_then(|bias| bias.measured.as_ref().ok()?.value.ok());
            let between = find(&section.people, if scores { "alpha_interval" } else { "kappa" });
            row.extend([
                number(main),
                Piece::new(
                    Tone::Dim,
                    find(&section.figures, main).map_or_else(String::new, |found| range(found.interval)),
                ),
                Piece::plain(between.map_or_else(String::new, |found| or_undefined(found.value))),
                Piece::plain(bias.map_or_else(String::new, |bias| format!("{bias:+.3}"))),
                Piece::plain(if section.cells.ungraded > 0 {
                    grouped(section.cells.ungraded)
                } else {
                    String::new()
                }),
            ]);
            row
        })
        .collect();
    table(page, 0, &columns, &rows);
    page.text(
        &[],
        &[Piece::new(
            Tone::Dim,
            if scores {
                "people: alpha, interval, among people; bias: judge minus people"
            } else {
                "people: kappa among people; bias: judge minus people; undef.: only one verdict occurs"
            },
        )],
    );
}

fn rate_text(rate: &PassRate) -> String {
    match &rate.mean {
        Ok(mean) => {
            let around = match mean.interval {
                Ok(_) => format!(" ({})", range(mean.interval)),
                Err(reason) => format!(" (no interval: {reason})"),
            };
            let counts = rate.counted.map_or_else(
                || count(mean.n as u64, "item", "items"),
                |found| format!("{} of {}", grouped(found.successes), grouped(found.n)),
            );
            format!("{}{around}, {counts}", value(mean.mean))
        }
        Err(reason) => format!("undefined, because {reason}"),
    }
}

fn rate_lines(page: &mut Page, rates: &Rates) {
    let line = |page: &mut Page, name: &str, tone: Tone, text: String| {
        page.text(&[Piece::plain(format!("  {name:<22}"))], &[Piece::new(tone, text)]);
    };
    let kind = if rates.scores { " (scores)" } else { "" };
    page.line(&[Piece::name(Tone::Strong, &rates.of), Piece::plain(kind)]);
    if let Some(judge) = &rates.judge {
        line(page, "judge", Tone::Plain, rate_text(judge));
    }
    if let Some(people) = &rates.people {
        line(page, "people, as labelled", Tone::Plain, rate_text(people));
    }
    match &rates.powered {
        Ok(found) => {
            let tuned = found.tuned;
            let gain = found
                .gain
                .map_or_else(|_| String::new(), |gain| format!("; worth {gain:.2} times the labels"));
            let few = if found.few_labels() { "; below 30 labels the interval is too narrow" } else { "" };
            line(
                page,
                "corrected (PPI++)",
                Tone::Strong,
                format!(
                    "{} ({}), {} labelled and {} not{gain}{few}",
                    value(tuned.mean),
                    range(Ok(tuned.interval)),
                    grouped(found.labelled as u64),
                    grouped(found.unlabelled as u64),
                ),
            );
            line(page, "", Tone::Dim, "The rate people would find over everything judged, from their labels and the judge's verdicts.".to_owned());
        }
        Err(reason) => line(page, "corrected (PPI++)", Tone::Open, format!("no: {reason}")),
    }
    match &rates.rogan_gladen {
        Some(Ok(found)) => {
            let around = match found.interval {
                Ok(_) => format!(" ({})", range(found.interval)),
                Err(_) => " (no interval: give the rates as K/N)".to_owned(),
            };
            let outside = if (found.raw - found.clipped).abs() > f64::EPSILON {
                format!("; {} before it was cut off", value(found.raw))
            } else {
                String::new()
            };
            line(
                page,
                "corrected (given)",
                Tone::Strong,
                format!("{}{around}{outside}", value(found.clipped)),
            );
            line(
                page,
                "",
                Tone::Dim,
                "Rogan-Gladen; right only if the given error rates hold for these very answers.".to_owned(),
            );
        }
        Some(Err(reason)) => line(page, "corrected (given)", Tone::Open, format!("no: {reason}")),
        None => {}
    }
    for (name, gated) in [("people", &rates.people_gated), ("judge", &rates.judge_gated)] {
        if let Some(Gated { direct, recursive, circular }) = gated {
            line(
                page,
                &format!("{name}, prerequisites"),
                Tone::Plain,
                format!("{}; recursively {}", rate_text(direct), rate_text(recursive)),
            );
            if *circular > 0 {
                line(
                    page,
                    "",
                    Tone::Dim,
                    format!(
                        "{} with prerequisites that lead back to themselves",
                        count(*circular, "criterion", "criteria")
                    ),
                );
            }
        }
    }
}

fn gate_lines(page: &mut Page, gates: &[GateResult], on: GateOn) {
    if gates.is_empty() {
        return;
    }
    page.blank();
    let on = match on {
        GateOn::Estimate => "limits, held against the figures themselves",
        GateOn::Lower => "limits, held against the lower ends of the intervals",
    };
    page.rule(on);
    for gate in gates {
        let (sign, tone) = if gate.passed { ("✓", Tone::Good) } else { ("✗", Tone::Bad) };
        let found = match gate.value {
            Ok(found) => value(found),
            Err(Undefined::NoValues) => "no such figure here".to_owned(),
            Err(reason) => format!("undefined, because {reason}"),
        };
        page.text(
            &[Piece::new(tone, format!("{sign} "))],
            &[Piece::plain(format!("{} at least {}: {found}", gate.request.figure, gate.request.least))],
        );
    }
}
