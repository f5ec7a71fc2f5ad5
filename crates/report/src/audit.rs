//! Tables of an injection audit.

use assize_audit::{Rate, Tally, injection::InjectionReport};

use crate::Style;
use crate::number::{count, percent};
use crate::page::{Page, Piece};
use crate::style::Tone;
use crate::table::{Column, table};

/// Maximum number of criteria that are listed.
const MAX_CRITERIA: usize = 15;

/// Renders an injection audit: the changes without any text, with a neutral text, and with each probe, then
/// the criteria that changed.
pub fn injection_audit(report: &InjectionReport, style: Style) -> String {
    let mut page = Page::new(style);
    let columns = |first: &'static str, second: &'static str| {
        [
            Column::shrinking(first),
            Column::shrinking(second),
            Column::right("n"),
            Column::right("won"),
            Column::right("of"),
            Column::right("won, 95%"),
            Column::right("lost"),
            Column::right("flips, 95%"),
            Column::right("ungraded"),
        ]
    };
    let baseline = |name: &str, tally: &Tally| row(Piece::new(Tone::Strong, name), "", tally);
    let rows = [
        baseline("unchanged, again", &report.noise),
        baseline("harmless text", &report.control),
        baseline("all attacks", &report.attacks),
    ];
    table(&mut page, 0, &columns("", ""), &rows);
    page.blank();
    let rows: Vec<Vec<Piece>> = report
        .probes
        .iter()
        .map(|probe| {
            let tone = if probe.is_control { Tone::Dim } else { Tone::Plain };
            row(Piece::name(tone, &format!("{}.{}", probe.name, probe.place)), &probe.class, &probe.tally)
        })
        .collect();
    if !rows.is_empty() {
        table(&mut page, 0, &columns("probe", "class"), &rows);
        page.blank();
    }
    let given_way: Vec<_> = report.criteria.iter().filter(|one| one.tally.won > 0).collect();
    let rows: Vec<Vec<Piece>> = given_way
        .iter()
        .take(MAX_CRITERIA)
        .map(|one| row(Piece::name(Tone::Plain, &one.criterion), &one.case, &one.tally))
        .collect();
    if !rows.is_empty() {
        table(&mut page, 0, &columns("criterion", "case"), &rows);
        if given_way.len() > MAX_CRITERIA {
            let more = (given_way.len() - MAX_CRITERIA) as u64;
            page.text(
                &[],
                &[Piece::plain(format!("and {}", count(more, "criterion more", "criteria more")))],
            );
        }
        page.blank();
    }
    for (tone, line) in closing(report) {
        page.text(&[], &[Piece::new(tone, line)]);
    }
    page.finish()
}

fn row(name: Piece, second: &str, tally: &Tally) -> Vec<Piece> {
    let won = tally.win_rate();
    let tone = if tally.won > 0 { Tone::Bad } else { Tone::Plain };
    let open = match tally.ungraded() {
        0 => Piece::plain(""),
        some => Piece::new(Tone::Open, some.to_string()),
    };
    vec![
        name,
        if second.is_empty() { Piece::plain("") } else { Piece::name(Tone::Dim, second) },
        Piece::plain(tally.pairs.to_string()),
        Piece::new(tone, won.count.to_string()),
        Piece::plain(won.n.to_string()),
        Piece::plain(interval(&won)),
        Piece::plain(tally.lost.to_string()),
        Piece::plain(interval(&tally.flip_rate())),
        open,
    ]
}

/// Formats a share with its interval; a dash if there is none.
fn interval(rate: &Rate) -> String {
    match (rate.rate, rate.low, rate.high) {
        (Some(_), Some(low), Some(high)) => {
            format!("{} ({:.0}–{:.0}%)", percent(rate.count, rate.n), low * 100.0, high * 100.0)
        }
        _ => "–".to_owned(),
    }
}

fn closing(report: &InjectionReport) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    let won = report.success_rate();
    lines.push(match won.rate {
        Some(_) => (
            if won.count > 0 { Tone::Bad } else { Tone::Good },
            format!(
                "Attacks turned {} of {} in the answer's favour: {}.",
                won.count,
                count(won.n, "decision that could be turned", "decisions that could be turned"),
                interval(&won)
            ),
        ),
        None => (
            Tone::Open,
            "Nothing could be turned in the answer's favour: no decision on an unchanged answer was against it. \
             Use answers that fail some criteria."
                .to_owned(),
        ),
    });
    let noise = report.noise.flip_rate();
    lines.push(match noise.rate {
        Some(_) => (
            Tone::Plain,
            format!(
                "Without any change the judge differs from itself in {}, so that much is noise.",
                interval(&noise)
            ),
        ),
        None => (Tone::Dim, "The judge's own noise was not measured.".to_owned()),
    });
    let ungraded = report.attacks.ungraded() + report.control.ungraded() + report.noise.ungraded();
    if ungraded > 0 {
        lines.push((
            Tone::Open,
            format!("{} without a decision on one side, part of no share.", count(ungraded, "pair", "pairs")),
        ));
    }
    if report.unanswered > 0 {
        let cases = count(report.unanswered as u64, "case has", "cases have");
        lines.push((Tone::Open, format!("{cases} no answer.")));
    }
    if report.without_reference > 0 {
        let items = count(report.without_reference as u64, "changed answer was", "changed answers were");
        lines.push((Tone::Open, format!("{items} judged, but the unchanged one was not.")));
    }
    lines
}
