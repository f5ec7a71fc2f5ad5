//! Agreement of raters, preferences in both orders and repeated scores: as text and as JSON.

use assize_analysis::orders::OrderReport;
use assize_analysis::raters::{RaterSection, RatingKind};
use assize_analysis::repeats::RepeatReport;
use serde_json::{Value, json};

use crate::Style;
use crate::figures::{
    chance, clustered_json, figure_lines, figures_json, or_undefined, range, share, share_json, value,
    with_interval,
};
use crate::number::{count, grouped};
use crate::page::{Page, Piece};
use crate::style::Tone;
use crate::table::{Column, table};

/// Renders the agreement of raters, criterion by criterion.
pub fn agreement(sections: &[RaterSection], style: Style) -> String {
    let mut page = Page::new(style);
    for section in sections {
        page.blank();
        page.rule(&section.title);
        let undecided = if section.undecided > 0 {
            format!(", {} undecided", grouped(section.undecided))
        } else {
            String::new()
        };
        page.text(
            &[],
            &[Piece::plain(format!(
                "{} of {}, {} rated twice or more{undecided}",
                count(section.ratings, "rating", "ratings"),
                count(section.items, "item", "items"),
                grouped(section.rated_twice),
            ))],
        );
        if section.rated_twice == 0 {
            let text = "agreement is undefined, because nothing was rated by two";
            page.text(&[], &[Piece::new(Tone::Open, text)]);
            continue;
        }
        page.text(&[Piece::plain("all ratings the same: ")], &[Piece::plain(share(&section.all_same))]);
        page.blank();
        figure_lines(&mut page, &section.figures);
        if !section.systems.is_empty() {
            page.blank();
            let columns = [
                Column::shrinking("system"),
                Column::right("mean"),
                Column::left("interval"),
                Column::right("ratings"),
            ];
            let rows: Vec<Vec<Piece>> = section
                .systems
                .iter()
                .map(|(name, mean)| match mean {
                    Ok(mean) => vec![
                        Piece::name(Tone::Plain, name),
                        Piece::plain(value(mean.mean)),
                        Piece::plain(range(mean.interval)),
                        Piece::plain(grouped(mean.n as u64)),
                    ],
                    Err(_) => vec![Piece::name(Tone::Plain, name), Piece::new(Tone::Open, "undefined")],
                })
                .collect();
            table(&mut page, 2, &columns, &rows);
        }
    }
    page.finish()
}

/// Converts the agreement of raters to JSON.
pub fn agreement_json(sections: &[RaterSection]) -> Value {
    let one = |section: &RaterSection| {
        json!({
            "title": section.title,
            "kind": match section.kind {
                RatingKind::Verdicts => "verdicts",
                RatingKind::Scores => "scores",
                RatingKind::Names => "names",
            },
            "items": section.items, "rated_twice": section.rated_twice, "ratings": section.ratings,
            "undecided": section.undecided,
            "all_same": share_json(&section.all_same),
            "figures": figures_json(&section.figures),
            "systems": section.systems.iter()
                .map(|(name, mean)| (name.clone(), clustered_json(mean)))
                .collect::<serde_json::Map<_, _>>(),
        })
    };
    json!({ "sections": sections.iter().map(one).collect::<Vec<_>>() })
}

/// Renders the effect of exchanging the answers on preferences.
pub fn orders(reports: &[OrderReport], style: Style) -> String {
    let mut page = Page::new(style);
    let columns = [
        Column::shrinking("set"),
        Column::shrinking("judge"),
        Column::right("pairs"),
        Column::right("right both"),
        Column::left("interval"),
        Column::right("same"),
        Column::right("prefers 1st"),
        Column::right("p"),
        Column::right("unread"),
    ];
    let name = |text: &str| if text.is_empty() { Piece::plain("") } else { Piece::name(Tone::Plain, text) };
    let rate = |found: &assize_stats::Proportion| Piece::plain(or_undefined(found.rate));
    let rows: Vec<Vec<Piece>> = reports
        .iter()
        .map(|report| {
            vec![
                name(&report.set),
                name(&report.judge),
                Piece::plain(grouped(report.pairs)),
                Piece::new(Tone::Strong, or_undefined(report.right_both.rate)),
                Piece::new(Tone::Dim, range(report.right_both.interval)),
                rate(&report.same),
                rate(&report.shown_first),
                Piece::plain(chance(report.shown_first_p)),
                Piece::plain(if report.unread > 0 { grouped(report.unread) } else { String::new() }),
            ]
        })
        .collect();
    table(&mut page, 0, &columns, &rows);
    page.blank();
    page.text(
        &[],
        &[Piece::new(
            Tone::Dim,
            "right both: a verdict counts only if both orders give it; guessing reaches 0.25. prefers 1st: share of \
             decisive verdicts for the answer shown first, with the exact chance p of a split so uneven if the place \
             did not matter. unread: pairs without a verdict in one order; they are in no share of both.",
        )],
    );
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
            "same": share_json(&report.same),
            "shown_first": share_json(&report.shown_first),
            "shown_first_p": report.shown_first_p,
        })
    };
    json!({ "groups": reports.iter().map(one).collect::<Vec<_>>() })
}

/// Renders the noise of repeated scores, and the gain from repeating.
pub fn repeats(report: &RepeatReport, style: Style) -> String {
    let mut page = Page::new(style);
    let line = |page: &mut Page, name: &str, text: String, says: &str| {
        page.text(&[Piece::plain(format!("{name:<26}"))], &[Piece::new(Tone::Strong, text)]);
        page.text(&[Piece::plain("      ")], &[Piece::new(Tone::Dim, says)]);
    };
    page.text(
        &[],
        &[Piece::plain(format!(
            "{}, {}, {}",
            count(report.rows, "row", "rows"),
            count(report.cells, "answer", "answers"),
            count(report.failed, "failed score", "failed scores"),
        ))],
    );
    page.blank();
    line(
        &mut page,
        "answers that differ",
        share(&report.differing),
        "Of answers scored twice or more, those whose scores are not all the same.",
    );
    line(
        &mut page,
        "mean variance",
        or_undefined(report.mean_variance),
        "Mean over answers of the variance of their scores, in squared points: the noise of one score.",
    );
    match &report.spread {
        Ok(spread) => line(
            &mut page,
            "ICC(1,1)",
            or_undefined(spread.icc),
            "Share of the spread of single scores that lies between answers; the rest is noise of judging.",
        ),
        Err(reason) => line(&mut page, "ICC(1,1)", format!("undefined, because {reason}"), ""),
    }
    if !report.best.is_empty() {
        page.blank();
        let columns = [
            Column::right("scores averaged"),
            Column::left("right answer alone at the top"),
            Column::right("tied"),
            Column::right("with part credit"),
        ];
        let rows: Vec<Vec<Piece>> = report
            .best
            .iter()
            .map(|best| {
                vec![
                    Piece::plain(best.k.to_string()),
                    Piece::plain(share(&best.strict)),
                    Piece::plain(grouped(best.tied)),
                    Piece::plain(or_undefined(best.credit)),
                ]
            })
            .collect();
        table(&mut page, 0, &columns, &rows);
        page.text(&[], &[Piece::new(Tone::Dim, "Repeats break ties: compare the gain alone at the top with the gain in part credit before paying for more.")]);
    }
    if let Some(gain) = &report.gain {
        page.blank();
        let difference = match &gain.difference {
            Ok(found) => format!("{:+.3} ({})", found.difference, range(found.interval)),
            Err(reason) => format!("undefined, because {reason}"),
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
                chance(gain.test.p_exact)
            ),
            "Difference of the share alone at the top, on items that both have; McNemar's exact test.",
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
                let mut object = with_interval(Ok(found.difference), found.interval, found.n as u64);
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
