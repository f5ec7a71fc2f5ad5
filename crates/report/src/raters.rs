//! Agreement of raters, preferences in both orders and repeated scores: as text and as JSON.

use assize_analysis::calibrate::describe_observed_range;
use assize_analysis::orders::OrderReport;
use assize_analysis::raters::RaterSection;
use assize_analysis::repeats::RepeatReport;
use serde_json::{Value, json};

use crate::ReportStyle;
use crate::metrics::{
    clustered_json, format_defined_rate, format_or_undefined, format_p_value, format_range,
    format_rate_range, format_share, format_value, metrics_json, render_metrics, share_json, value_json,
};
use crate::number::{NO_VALUE, UNDEFINED, format_count, grouped, undefined_because};
use crate::page::{ReportPage, ReportPiece};
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Renders the agreement of raters, criterion by criterion.
pub fn render_agreement(sections: &[RaterSection], style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    for section in sections {
        page.add_blank();
        page.add_rule(&section.title);

        let undecided = if section.undecided > 0 {
            format!(", {} unsure", grouped(section.undecided))
        } else {
            String::new()
        };
        page.add_paragraph(ReportPiece::plain(format!(
            "{} of {}, {} rated twice or more{undecided}",
            format_count(section.ratings, "rating", "ratings"),
            format_count(section.items, "item", "items"),
            grouped(section.rated_twice),
        )));

        if !section.names.is_empty() {
            let named = section.names.iter().map(|(name, count)| format!("{name} {}", grouped(*count)));
            let named = named.collect::<Vec<_>>().join(", ");
            page.add_labelled(
                ReportTone::Plain,
                "named: ",
                ReportPiece::untrusted(ReportTone::Plain, &named, 2000),
            );
        }

        if section.rated_twice == 0 {
            let text = "agreement is undefined: no item has two ratings";
            page.add_paragraph(ReportPiece::new(ReportTone::Open, text));
            continue;
        }

        page.add_labelled(
            ReportTone::Plain,
            "all ratings the same: ",
            ReportPiece::plain(format_share(&section.all_same)),
        );
        page.add_blank();
        render_metrics(&mut page, &section.figures, true);
        if let Some(range) = section.observed_range {
            page.add_labelled(
                ReportTone::Middling,
                "note  ",
                ReportPiece::plain(describe_observed_range(range)),
            );
        }

        if !section.systems.is_empty() {
            page.add_blank();
            let columns = [
                ReportColumn::shrinking("system"),
                ReportColumn::right("mean"),
                ReportColumn::left("CI"),
                ReportColumn::right("ratings"),
            ];

            let rows: Vec<Vec<ReportPiece>> = section
                .systems
                .iter()
                .map(|(name, mean)| match mean {
                    Ok(mean) => vec![
                        ReportPiece::untrusted_name(ReportTone::Plain, name),
                        ReportPiece::plain(format_value(mean.mean)),
                        ReportPiece::plain(format_range(mean.interval)),
                        ReportPiece::plain(grouped(mean.n as u64)),
                    ],
                    Err(_) => vec![
                        ReportPiece::untrusted_name(ReportTone::Plain, name),
                        ReportPiece::new(ReportTone::Open, UNDEFINED),
                    ],
                })
                .collect();
            render_table(&mut page, 2, &columns, &rows);
        }
    }

    page.finish()
}

/// Converts the agreement of raters to JSON.
pub fn agreement_json(sections: &[RaterSection]) -> Value {
    let one = |section: &RaterSection| {
        json!({
            "title": section.title,
            "kind": section.kind,
            "items": section.items, "rated_twice": section.rated_twice, "ratings": section.ratings,
            "unsure": section.undecided,
            "all_same": share_json(&section.all_same),
            "names": section.names.iter()
                .map(|(name, count)| (name.clone(), json!(count)))
                .collect::<serde_json::Map<_, _>>(),
            "observed_range": section.observed_range,
            "metrics": metrics_json(&section.figures),
            "systems": section.systems.iter()
                .map(|(name, mean)| (name.clone(), clustered_json(mean)))
                .collect::<serde_json::Map<_, _>>(),
        })
    };
    json!({ "sections": sections.iter().map(one).collect::<Vec<_>>() })
}

/// Renders how preferences change when the two answers trade places.
pub fn render_orders(reports: &[OrderReport], style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let columns = [
        ReportColumn::shrinking("set"),
        ReportColumn::shrinking("judge"),
        ReportColumn::right("pairs"),
        ReportColumn::right("right both"),
        ReportColumn::left("CI"),
        ReportColumn::right("on balance"),
        ReportColumn::right("same"),
        ReportColumn::right("prefers 1st"),
        ReportColumn::right("p"),
        ReportColumn::right("unread"),
    ];

    let name = |text: &str| {
        if text.is_empty() {
            ReportPiece::plain("")
        } else {
            ReportPiece::untrusted_name(ReportTone::Plain, text)
        }
    };

    let rate = |found: &assize_stats::Proportion| ReportPiece::plain(format_defined_rate(found.rate));
    let rows: Vec<Vec<ReportPiece>> = reports
        .iter()
        .map(|report| {
            vec![
                name(&report.set),
                name(&report.judge),
                ReportPiece::plain(grouped(report.pairs)),
                ReportPiece::new(ReportTone::Strong, format_defined_rate(report.right_both.rate)),
                ReportPiece::new(ReportTone::Dim, format_rate_range(report.right_both.interval)),
                rate(&report.right_on_balance),
                rate(&report.same),
                rate(&report.shown_first),
                ReportPiece::plain(report.shown_first_p.map_or_else(|| NO_VALUE.to_owned(), format_p_value)),
                ReportPiece::plain(if report.unread > 0 { grouped(report.unread) } else { String::new() }),
            ]
        })
        .collect();

    render_table(&mut page, 0, &columns, &rows);
    page.add_blank();
    page.add_paragraph(ReportPiece::new(
        ReportTone::Dim,
        "right both: right in both orders; guessing gives 25%. on balance: more right verdicts than wrong ones, so that a tie beside a right one counts (JudgeBench). prefers 1st: share of decisive verdicts for the answer shown first; its p is that of the sign test of pairs that one place won twice. unread: pairs excluded because one order has no verdict.",
    ));
    for report in reports.iter().filter(|report| report.seems_exchanged) {
        let which: Vec<&str> =
            [&*report.set, &*report.judge].into_iter().filter(|name| !name.is_empty()).collect();
        let which = if which.is_empty() { String::new() } else { format!("{}: ", which.join(", ")) };
        let text = format!(
            "{which}the two orders contradict each other far more often than chance explains. Were the verdicts of the \
             second order mapped back to the names of the answers?"
        );
        page.add_paragraph(ReportPiece::untrusted(ReportTone::Bad, &text, 400));
    }

    page.finish()
}

/// Converts the order reports to JSON.
pub fn orders_json(reports: &[OrderReport]) -> Value {
    let one = |report: &OrderReport| {
        json!({
            "set": report.set, "judge": report.judge, "pairs": report.pairs, "unread": report.unread,
            "unread_verdicts": report.unread_verdicts,
            "right_first": share_json(&report.right_first),
            "right_second": share_json(&report.right_second),
            "right_both": share_json(&report.right_both),
            "right_on_balance": share_json(&report.right_on_balance),
            "same": share_json(&report.same),
            "shown_first": share_json(&report.shown_first),
            "shown_first_p": report.shown_first_p,
            "seems_exchanged": report.seems_exchanged,
        })
    };
    json!({ "groups": reports.iter().map(one).collect::<Vec<_>>() })
}

/// Renders the noise of repeated scores, and the gain from repeating.
pub fn render_repeats(report: &RepeatReport, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let line = |page: &mut ReportPage, name: &str, text: String, says: &str| {
        page.add_labelled(
            ReportTone::Plain,
            format!("{name:<26}"),
            ReportPiece::new(ReportTone::Strong, text),
        );
        page.add_indented(6, ReportPiece::new(ReportTone::Dim, says));
    };

    page.add_paragraph(ReportPiece::plain(format!(
        "{}, {}, {}",
        format_count(report.rows, "row", "rows"),
        format_count(report.cells, "answer", "answers"),
        format_count(report.failed, "failed score", "failed scores"),
    )));

    page.add_blank();
    line(
        &mut page,
        "answers that differ",
        format_share(&report.differing),
        "Answers scored twice or more whose scores are not all equal.",
    );

    line(
        &mut page,
        "mean variance",
        format_or_undefined(report.mean_variance),
        "Mean variance of the scores of an answer, in squared points: the noise of one score.",
    );

    match &report.spread {
        Ok(spread) => line(
            &mut page,
            "ICC(1,1)",
            format_or_undefined(spread.icc),
            "Share of the variance of scores that lies between answers; the rest is noise of judging.",
        ),
        Err(reason) => line(&mut page, "ICC(1,1)", undefined_because(reason), ""),
    }

    if !report.best.is_empty() {
        page.add_blank();
        let columns = [
            ReportColumn::right("scores averaged"),
            ReportColumn::left("right answer alone on top"),
            ReportColumn::right("tied"),
            ReportColumn::right("with partial credit"),
        ];

        let rows: Vec<Vec<ReportPiece>> = report
            .best
            .iter()
            .map(|best| {
                vec![
                    ReportPiece::plain(best.k.to_string()),
                    ReportPiece::plain(format_share(&best.strict)),
                    ReportPiece::plain(grouped(best.tied)),
                    ReportPiece::plain(format_or_undefined(best.credit)),
                ]
            })
            .collect();

        render_table(&mut page, 0, &columns, &rows);
        page.add_paragraph(ReportPiece::new(ReportTone::Dim, "Averaging breaks ties: compare the gain alone on top with the gain in partial credit before paying for repeats."));
    }

    if let Some(gain) = &report.gain {
        page.add_blank();
        let difference = match &gain.difference {
            Ok(found) => format!("{:+.3} ({})", found.difference, format_range(found.interval)),
            Err(reason) => undefined_because(reason),
        };
        let (more, fewer) = (gain.pairs.only_first, gain.pairs.only_second);
        line(
            &mut page,
            &format!("{} scores against {}", gain.to, gain.from),
            format!(
                "{difference}; {} right only with {}, {} only with {}; exact p {}",
                grouped(more),
                gain.to,
                grouped(fewer),
                gain.from,
                format_p_value(gain.test.p_exact)
            ),
            "Difference of the share alone on top, over the items that both have; McNemar's exact test.",
        );
    }

    page.finish()
}

/// Converts the report on repeated scores to JSON.
pub fn repeats_json(report: &RepeatReport) -> Value {
    let best: Vec<Value> = report
        .best
        .iter()
        .map(|best| {
            json!({
                "k": best.k, "strict": share_json(&best.strict), "tied": best.tied,
                "credit": best.credit.ok(),
            })
        })
        .collect();

    let spread = match &report.spread {
        Ok(spread) => json!({
            "within": spread.within, "between": spread.between, "icc": spread.icc.ok(),
            "answers": spread.cases, "scores": spread.scores,
        }),
        Err(reason) => json!({ "undefined": reason.to_string() }),
    };

    let gain = report.gain.as_ref().map(|gain| {
        let difference = match &gain.difference {
            Ok(found) => {
                let mut object = value_json(Ok(found.difference), found.interval, found.n as u64);
                object["se"] = found.se.ok().into();
                object["se_unpaired"] = found.se_unpaired.ok().into();
                object
            }
            Err(reason) => json!({ "undefined": reason.to_string() }),
        };
        json!({
            "from": gain.from, "to": gain.to, "difference": difference,
            "both": gain.pairs.both, "only_more": gain.pairs.only_first, "only_fewer": gain.pairs.only_second,
            "neither": gain.pairs.neither, "p_exact": gain.test.p_exact,
        })
    });
    json!({
        "rows": report.rows, "answers": report.cells, "failed": report.failed,
        "differing": share_json(&report.differing),
        "mean_variance": report.mean_variance.ok(),
        "spread": spread,
        "best": best,
        "gain": gain,
    })
}
