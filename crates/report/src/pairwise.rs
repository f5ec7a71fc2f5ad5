//! Pairwise comparisons of targets: as text, as Markdown and as JSON.

use std::fmt::Write as _;

use assize_analysis::MetricEstimate;
use assize_analysis::pairwise::{PairConclusion, PairReport, PairwiseReport, TargetRanking};
use assize_rubric::PairOutcome;
use assize_stats::ranking::TieRule;
use serde_json::{Value, json};

use crate::ReportStyle;
use crate::metrics::{
    format_or_undefined, format_p_value, format_range, format_value, metrics_json, render_metrics, value_json,
};
use crate::number::{NO_VALUE, format_count, grouped, no_interval};
use crate::page::{ReportPage, ReportPiece};
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Renders the win rates pair by pair, the position bias and the ranking.
pub fn render_pairwise(report: &PairwiseReport, missing: &[String], style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let columns = [
        ReportColumn::shrinking("first"),
        ReportColumn::shrinking("second"),
        ReportColumn::right("win"),
        ReportColumn::right("loss"),
        ReportColumn::right("tie"),
        ReportColumn::right("incons."),
        ReportColumn::right("win score"),
        ReportColumn::left("95% CI"),
        ReportColumn::right("p"),
    ];

    let rows: Vec<Vec<ReportPiece>> = report.pairs.iter().map(|pair| pair_row(report, pair)).collect();
    if rows.is_empty() {
        page.add_paragraph(ReportPiece::new(ReportTone::Open, "nothing was compared"));
        page.add_blank();
    } else {
        render_table(&mut page, 0, &columns, &rows);
        page.add_blank();
    }

    for pair in &report.pairs {
        page.add_paragraph(ReportPiece::new(ReportTone::Strong, pair_conclusion(report, pair)));
        if report.pairs.len() == 1 {
            render_metrics(&mut page, &pair.figures, true);
        }
    }

    page.add_blank();
    render_metrics(&mut page, &report.place.figures, true);
    page.add_indented(2, ReportPiece::plain(position_bias_text(report)));
    page.add_paragraph(ReportPiece::new(ReportTone::Strong, &report.place.says));
    page.add_blank();
    render_ranking(&mut page, report);

    for line in missing.iter().cloned().chain(ungraded_text(report)) {
        page.add_paragraph(ReportPiece::untrusted(ReportTone::Open, &line, 1000));
    }

    page.finish()
}

fn pair_row(report: &PairwiseReport, pair: &PairReport) -> Vec<ReportPiece> {
    let name = |system: usize, conclusion: PairConclusion| {
        let tone = if pair.told == conclusion { ReportTone::Good } else { ReportTone::Plain };
        ReportPiece::untrusted_name(tone, &report.systems[system])
    };
    let number = |outcome| ReportPiece::plain(grouped(pair.counts.get(&outcome).copied().unwrap_or(0)));
    let score = win_score(pair);
    vec![
        name(pair.first, PairConclusion::First),
        name(pair.second, PairConclusion::Second),
        number(PairOutcome::Win),
        number(PairOutcome::Loss),
        number(PairOutcome::Tie),
        number(PairOutcome::Inconsistent),
        ReportPiece::new(
            ReportTone::Strong,
            score.map_or_else(String::new, |figure| format_or_undefined(figure.value)),
        ),
        ReportPiece::plain(score.map_or_else(String::new, |figure| format_range(figure.interval))),
        ReportPiece::plain(pair.p_adjusted.map_or_else(|_| NO_VALUE.to_owned(), format_p_value)),
    ]
}

fn win_score(pair: &PairReport) -> Option<&MetricEstimate> {
    pair.figures.iter().find(|figure| figure.id == "win_score")
}

/// Returns the conclusion about a pair, in one sentence.
fn pair_conclusion(report: &PairwiseReport, pair: &PairReport) -> String {
    let (first, second) = (&report.systems[pair.first], &report.systems[pair.second]);
    let adjusted = if report.pairs.len() > 1 { ", adjusted for the number of pairs" } else { "" };
    let p = match pair.p_adjusted {
        Ok(p) => format!(" (p {}{adjusted})", format_p_value(p)),
        Err(why) => format!(" (p undefined: {why})"),
    };
    match pair.told {
        PairConclusion::First => format!("`{first}` is better than `{second}`{p}."),
        PairConclusion::Second => format!("`{second}` is better than `{first}`{p}."),
        PairConclusion::Inconclusive => format!("`{first}` and `{second}` do not differ significantly{p}."),
    }
}

fn position_bias_text(report: &PairwiseReport) -> String {
    let place = &report.place;
    let p = match place.p {
        Ok(p) => format!("exact p {}", format_p_value(p)),
        Err(_) if place.first_twice + place.second_twice == 0 => "p undefined: no decisive pair".to_owned(),
        Err(why) => format!("p undefined: {why}"),
    };
    format!(
        "The answer shown first won both orders {}, the one shown second {} ({p}).",
        format_count(place.first_twice, "time", "times"),
        format_count(place.second_twice, "time", "times")
    )
}

fn ungraded_text(report: &PairwiseReport) -> Option<String> {
    (report.ungraded > 0).then(|| {
        format!(
            "{} excluded, because they could not be judged in both orders.",
            format_count(report.ungraded, "comparison", "comparisons")
        )
    })
}

fn tie_rule_text(ties: TieRule) -> &'static str {
    match ties {
        TieRule::HalfWin => "ties and inconsistent orders count as half a win for either side",
        TieRule::Davidson => "ties and inconsistent orders are outcomes of their own (Davidson)",
    }
}

fn render_ranking(page: &mut ReportPage, report: &PairwiseReport) {
    let found = match &report.ranking {
        Ok(found) => found,
        Err(why) => {
            let text = format!("The ranking is undefined: {why}.");
            page.add_paragraph(ReportPiece::new(ReportTone::Open, text));
            return;
        }
    };

    let columns = [
        ReportColumn::right("rank"),
        ReportColumn::shrinking("system"),
        ReportColumn::right("log strength"),
        ReportColumn::left("95% CI"),
        ReportColumn::left("lead over next, 95% CI"),
        ReportColumn::right("wins against next"),
        ReportColumn::right("n"),
    ];

    let rows: Vec<Vec<ReportPiece>> = found
        .systems
        .iter()
        .map(|one| {
            let lead = one.lead.map_or_else(String::new, |lead| match lead.interval {
                Ok(_) => format!("{} ({})", format_value(lead.difference), format_range(lead.interval)),
                Err(_) => format_value(lead.difference),
            });
            let wins = one.lead.map_or_else(String::new, |lead| format_value(lead.win_probability));
            vec![
                ReportPiece::plain(one.rank.to_string()),
                ReportPiece::untrusted_name(ReportTone::Strong, &report.systems[one.system]),
                ReportPiece::plain(format_value(one.log_strength)),
                ReportPiece::plain(format_range(one.interval)),
                ReportPiece::plain(lead),
                ReportPiece::plain(wins),
                ReportPiece::plain(grouped(one.comparisons as u64)),
            ]
        })
        .collect();

    let about = format!(
        "Ranking by Bradley and Terry over {} of {}; {}.",
        format_count(found.comparisons as u64, "comparison", "comparisons"),
        format_count(found.clusters as u64, "case", "cases"),
        tie_rule_text(found.ties)
    );

    page.add_paragraph(ReportPiece::plain(about));
    render_table(page, 0, &columns, &rows);

    if let Some(why) = found.systems.iter().find_map(|one| one.interval.err()) {
        page.add_paragraph(ReportPiece::new(ReportTone::Dim, no_interval(why)));
    }

    page.add_paragraph(ReportPiece::new(
        ReportTone::Dim,
        "If the CI of a lead contains 0, the order of the two systems is uncertain.",
    ));
}

/// Converts the pairwise comparisons to JSON.
pub fn pairwise_json(report: &PairwiseReport, missing: &[String]) -> Value {
    let name = |system: usize| &report.systems[system];
    let pairs: Vec<Value> = report
        .pairs
        .iter()
        .map(|pair| {
            let counts: serde_json::Map<String, Value> = pair
                .counts
                .iter()
                .map(|(outcome, number)| (outcome.name().to_owned(), (*number).into()))
                .collect();
            json!({
                "first": name(pair.first),
                "second": name(pair.second),
                "counts": counts,
                "ungraded": pair.ungraded,
                "metrics": metrics_json(&pair.figures),
                "p": pair.p.ok(),
                "p_adjusted": pair.p_adjusted.ok(),
                "p_undefined": pair.p.err().map(|why| why.to_string()),
                "adjusted_by": "Holm",
                "better": match pair.told {
                    PairConclusion::First => Some(name(pair.first)),
                    PairConclusion::Second => Some(name(pair.second)),
                    PairConclusion::Inconclusive => None,
                },
                "verdict": pair.told.name(),
                "says": pair_conclusion(report, pair),
            })
        })
        .collect();

    let ranking = match &report.ranking {
        Err(why) => json!({ "systems": null, "undefined": why.to_string() }),
        Ok(found) => ranking_json(report, found),
    };
    json!({
        "systems": report.systems,
        "comparisons": report.comparisons,
        "clusters": report.clusters,
        "ungraded": report.ungraded,
        "pairs": pairs,
        "place": {
            "metrics": metrics_json(&report.place.figures),
            "first_twice": report.place.first_twice,
            "second_twice": report.place.second_twice,
            "p": report.place.p.ok(),
            "p_undefined": report.place.p.err().map(|why| why.to_string()),
            "says": report.place.says,
        },
        "ranking": ranking,
        "missing": missing,
    })
}

fn ranking_json(report: &PairwiseReport, found: &TargetRanking) -> Value {
    let systems: Vec<Value> = found
        .systems
        .iter()
        .map(|one| {
            let lead = one.lead.map(|lead| {
                let mut object = value_json(Ok(lead.difference), lead.interval, found.comparisons as u64);
                object["win_probability"] = lead.win_probability.into();
                object
            });

            let mut object = value_json(Ok(one.log_strength), one.interval, one.comparisons as u64);
            object["rank"] = one.rank.into();
            object["system"] = report.systems[one.system].clone().into();
            object["lead_over_next"] = lead.into();

            object
        })
        .collect();
    json!({
        "method": "Bradley-Terry",
        "ties": tie_rule_text(found.ties),
        "tie_weight": found.tie_weight,
        "comparisons": found.comparisons,
        "clusters": found.clusters,
        "systems": systems,
        "says": "Log strengths sum to 0; if the CI of a lead contains 0, the order is uncertain.",
    })
}

/// Renders the pairwise comparisons as Markdown, for a comment or a page.
pub fn render_pairwise_markdown(report: &PairwiseReport, missing: &[String]) -> String {
    let cell = |text: &str| crate::sanitize::escape_unsafe(text).replace('|', "\\|");
    let mut out = String::from(
        "| first | second | win | loss | tie | inconsistent | win score | 95% CI | p |\n\
         |---|---|---:|---:|---:|---:|---:|---|---:|\n",
    );
    for pair in &report.pairs {
        let number = |outcome| pair.counts.get(&outcome).copied().unwrap_or(0);
        let score = win_score(pair);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            cell(&report.systems[pair.first]),
            cell(&report.systems[pair.second]),
            number(PairOutcome::Win),
            number(PairOutcome::Loss),
            number(PairOutcome::Tie),
            number(PairOutcome::Inconsistent),
            score.map_or_else(String::new, |figure| format_or_undefined(figure.value)),
            score.map_or_else(String::new, |figure| format_range(figure.interval)),
            pair.p_adjusted.map_or_else(|_| NO_VALUE.to_owned(), format_p_value),
        );
    }

    out.push('\n');

    for pair in &report.pairs {
        let _ = writeln!(out, "- {}", cell(&pair_conclusion(report, pair)));
    }

    for figure in &report.place.figures {
        let around = figure
            .interval
            .map_or_else(|_| String::new(), |_| format!(" ({})", format_range(figure.interval)));
        let _ =
            writeln!(out, "- {}: {}{around}, n {}", figure.name, format_or_undefined(figure.value), figure.n);
    }

    let _ = writeln!(out, "- {}", report.place.says);

    for line in missing.iter().cloned().chain(ungraded_text(report)) {
        let _ = writeln!(out, "- {}", cell(&line));
    }

    match &report.ranking {
        Err(why) => {
            let _ = writeln!(out, "\nThe ranking is undefined: {why}.");
        }
        Ok(found) => {
            out.push_str("\n| rank | system | log strength | 95% CI | n |\n|---:|---|---:|---|---:|\n");

            for one in &found.systems {
                let _ = writeln!(
                    out,
                    "| {} | {} | {} | {} | {} |",
                    one.rank,
                    cell(&report.systems[one.system]),
                    format_value(one.log_strength),
                    format_range(one.interval),
                    one.comparisons
                );
            }

            let _ = writeln!(
                out,
                "\nBradley-Terry over {} of {}; {}.",
                format_count(found.comparisons as u64, "comparison", "comparisons"),
                format_count(found.clusters as u64, "case", "cases"),
                tie_rule_text(found.ties)
            );
        }
    }

    out
}
