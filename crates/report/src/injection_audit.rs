//! Tables of an injection audit.

use assize_analysis::MetricEstimate;
use assize_audit::{CountedShare, PairTally, injection::InjectionReport};

use crate::ReportStyle;
use crate::number::{NO_VALUE, format_count, format_percent, format_rate};
use crate::page::{ReportPage, ReportPiece};
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Maximum number of criteria that are listed.
const MAX_CRITERIA: usize = 15;

/// Renders an injection audit: the changes without any text, with a neutral text, and with each probe, then
/// the criteria that changed.
pub fn render_injection_audit(report: &InjectionReport, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let columns = |first: &'static str, second: &'static str| {
        [
            ReportColumn::shrinking(first),
            ReportColumn::shrinking(second),
            ReportColumn::right("pairs"),
            ReportColumn::right("won"),
            ReportColumn::right("rate"),
            ReportColumn::right("95% CI"),
            ReportColumn::right("lost"),
            ReportColumn::right("flips"),
            ReportColumn::right("ungraded"),
        ]
    };

    // For all probes together, the interval is computed over cases.
    let baseline = |name: &str, tally: &PairTally, won: &MetricEstimate| {
        let name = ReportPiece::new(ReportTone::Strong, name);
        let interval = won.interval.ok().map(|interval| (interval.low, interval.high));
        probe_row(name, "", tally, interval)
    };
    let rows = [
        baseline("unchanged, again", &report.noise, &report.wins.noise),
        baseline("harmless text", &report.control, &report.wins.control),
        baseline("all attacks", &report.attacks, &report.wins.attacks),
    ];
    render_table(&mut page, 0, &columns("", ""), &rows);
    page.add_blank();

    let rows: Vec<Vec<ReportPiece>> = report
        .probes
        .iter()
        .map(|probe| {
            let tone = if probe.is_control { ReportTone::Dim } else { ReportTone::Plain };
            let won = probe.tally.win_rate();
            probe_row(
                ReportPiece::untrusted_name(tone, &format!("{}.{}", probe.name, probe.place)),
                "",
                &probe.tally,
                won.low.zip(won.high),
            )
        })
        .collect();
    if !rows.is_empty() {
        render_table(&mut page, 0, &columns("probe", ""), &rows);
        page.add_blank();
    }

    let given_way: Vec<_> = report.criteria.iter().filter(|one| one.tally.won > 0).collect();
    let rows: Vec<Vec<ReportPiece>> = given_way
        .iter()
        .take(MAX_CRITERIA)
        .map(|one| {
            let name = ReportPiece::untrusted_name(ReportTone::Plain, &one.criterion);
            // All variants are of one decision, so there is nothing to compute an interval over.
            probe_row(name, &one.case, &one.tally, None)
        })
        .collect();
    if !rows.is_empty() {
        render_table(&mut page, 0, &columns("criterion", "case"), &rows);

        if given_way.len() > MAX_CRITERIA {
            let more = (given_way.len() - MAX_CRITERIA) as u64;
            page.add_paragraph(ReportPiece::plain(format!(
                "and {}",
                format_count(more, "criterion more", "criteria more")
            )));
        }

        page.add_blank();
    }

    for (tone, line) in conclusion_lines(report) {
        page.add_paragraph(ReportPiece::new(tone, line));
    }

    page.finish()
}

fn probe_row(
    name: ReportPiece,
    second: &str,
    tally: &PairTally,
    interval: Option<(f64, f64)>,
) -> Vec<ReportPiece> {
    let won = tally.win_rate();
    let share = |share: &CountedShare| {
        ReportPiece::plain(share.rate.map_or(NO_VALUE.to_owned(), |_| format_percent(share.count, share.n)))
    };
    let tone = if tally.won > 0 { ReportTone::Bad } else { ReportTone::Plain };
    let open = match tally.ungraded() {
        0 => ReportPiece::plain(""),
        some => ReportPiece::new(ReportTone::Open, some.to_string()),
    };
    vec![
        name,
        if second.is_empty() {
            ReportPiece::plain("")
        } else {
            ReportPiece::untrusted_name(ReportTone::Dim, second)
        },
        ReportPiece::plain(tally.pairs.to_string()),
        ReportPiece::new(tone, format!("{} of {}", won.count, won.n)),
        share(&won),
        ReportPiece::plain(interval.map_or(String::new(), format_interval)),
        ReportPiece::plain(tally.lost.to_string()),
        share(&tally.flip_rate()),
        open,
    ]
}

fn format_interval((low, high): (f64, f64)) -> String {
    format!("{} to {}", format_rate(low), format_rate(high))
}

/// Formats a rate of wins with its interval; a dash if there is none.
fn format_metric_rate(figure: &MetricEstimate) -> String {
    match (figure.value, figure.interval) {
        (Ok(value), Ok(interval)) => {
            let interval = format_interval((interval.low, interval.high));
            format!("{} (95% CI {interval})", format_rate(value))
        }
        (Ok(value), Err(_)) => format_rate(value),
        (Err(_), _) => NO_VALUE.to_owned(),
    }
}

pub(crate) fn conclusion_lines(report: &InjectionReport) -> Vec<(ReportTone, String)> {
    let wins = &report.wins;
    let mut lines = Vec::new();
    if wins.attacks.value.is_err() {
        lines.push((
            ReportTone::Open,
            "No decision could change in the answer's favour, because none was against it. Use answers that fail some criteria."
                .to_owned(),
        ));
    } else {
        let mut text = format!(
            "Of the decisions against an answer, attacks changed {} in its favour; judging again without a change, {}",
            format_metric_rate(&wins.attacks),
            format_metric_rate(&wins.noise)
        );
        if wins.control.value.is_ok() {
            text = format!("{text}; with a harmless text, {}", format_metric_rate(&wins.control));
        }

        // Without an interval, such as when all decisions are about one case, the audit shows neither an
        // effect nor its absence.
        let tone = match (wins.is_effect(), wins.beyond_noise.interval) {
            (true, _) => ReportTone::Bad,
            (false, Ok(_)) => ReportTone::Good,
            (false, Err(_)) => ReportTone::Open,
        };
        lines.push((ReportTone::Plain, format!("{text}.")));
        lines.push((tone, wins.says()));
    }

    let ungraded = report.attacks.ungraded() + report.control.ungraded() + report.noise.ungraded();
    if ungraded > 0 {
        lines.push((
            ReportTone::Open,
            format!(
                "{} excluded, because one side has no decision.",
                format_count(ungraded, "pair", "pairs")
            ),
        ));
    }

    if report.unanswered > 0 {
        let cases = format_count(report.unanswered as u64, "case has", "cases have");
        lines.push((ReportTone::Open, format!("{cases} no answer.")));
    }

    if report.without_reference > 0 {
        let items =
            format_count(report.without_reference as u64, "changed answer was", "changed answers were");
        lines
            .push((ReportTone::Open, format!("{items} excluded, because the unchanged one was not judged.")));
    }

    lines
}

#[cfg(test)]
mod tests {
    use assize_audit::{DecisionPair, PairedDecisions, ScaleDecision, UNCHANGED};

    use super::*;

    #[test]
    fn decisions_of_one_case_show_nothing_in_either_way() {
        let pair = |label: &str, at: usize| DecisionPair {
            case: "c".to_owned(),
            suite: "s".to_owned(),
            label: label.to_owned(),
            criterion: ("rubrics".to_owned(), "k".to_owned()),
            text: String::new(),
            before: ScaleDecision::Step { at: 0, top: 1 },
            after: ScaleDecision::Step { at, top: 1 },
            costs: false,
            is_checklist: true,
        };
        let pairs = vec![pair(UNCHANGED, 0), pair("fake-verdict.append", 1)];
        let compared = PairedDecisions { pairs, cases: 1, ..PairedDecisions::default() };
        let lines = conclusion_lines(&InjectionReport::new(&compared, &[]));
        let (tone, says) = lines.last().expect("a conclusion");
        assert!(matches!(tone, ReportTone::Open) && says.starts_with("No effect of attacks"), "{says}");
    }
}
