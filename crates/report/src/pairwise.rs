//! Pairwise comparisons of targets: as text, as Markdown and as JSON.

use std::fmt::Write as _;

use assize_analysis::Figure;
use assize_analysis::pairwise::{PairReport, PairwiseReport, Ranking, Told};
use assize_rubric::PairOutcome;
use assize_stats::Undefined;
use assize_stats::ranking::TieRule;
use serde_json::{Value, json};

use crate::Style;
use crate::figures::{chance, figure_lines, figures_json, or_undefined, range, value, with_interval};
use crate::number::{count, grouped};
use crate::page::{Page, Piece};
use crate::style::Tone;
use crate::table::{Column, table};

/// Renders the win rates pair by pair, the position bias and the ranking.
pub fn pairwise(report: &PairwiseReport, missing: &[String], style: Style) -> String {
    let mut page = Page::new(style);
    let columns = [
        Column::shrinking("first"),
        Column::shrinking("second"),
        Column::right("win"),
        Column::right("loss"),
        Column::right("tie"),
        Column::right("incons."),
        Column::right("win score"),
        Column::left("95%"),
        Column::right("p"),
    ];
    let rows: Vec<Vec<Piece>> = report.pairs.iter().map(|pair| row(report, pair)).collect();
    if rows.is_empty() {
        page.text(&[], &[Piece::new(Tone::Open, "nothing was compared")]);
        page.blank();
    } else {
        table(&mut page, 0, &columns, &rows);
        page.blank();
    }
    for pair in &report.pairs {
        page.text(&[], &[Piece::new(Tone::Strong, says(report, pair))]);
        if report.pairs.len() == 1 {
            figure_lines(&mut page, &pair.figures);
        }
    }
    page.blank();
    figure_lines(&mut page, &report.place.figures);
    page.text(&[Piece::plain("  ")], &[Piece::plain(twice(report))]);
    page.text(&[], &[Piece::new(Tone::Strong, &report.place.says)]);
    page.blank();
    ranking(&mut page, report);
    for line in missing.iter().cloned().chain(ungraded(report)) {
        page.text(&[], &[Piece::said(Tone::Open, &line, 1000)]);
    }
    page.finish()
}

fn row(report: &PairwiseReport, pair: &PairReport) -> Vec<Piece> {
    let name = |system: usize, told: Told| {
        let tone = if pair.told == told { Tone::Good } else { Tone::Plain };
        Piece::name(tone, &report.systems[system])
    };
    let number = |outcome| Piece::plain(grouped(pair.counts.get(&outcome).copied().unwrap_or(0)));
    let score = win_score(pair);
    vec![
        name(pair.first, Told::First),
        name(pair.second, Told::Second),
        number(PairOutcome::Win),
        number(PairOutcome::Loss),
        number(PairOutcome::Tie),
        number(PairOutcome::Inconsistent),
        Piece::new(Tone::Strong, score.map_or_else(String::new, |figure| or_undefined(figure.value))),
        Piece::plain(score.map_or_else(String::new, |figure| range(figure.interval))),
        Piece::plain(pair.p_adjusted.map_or_else(|_| "-".to_owned(), chance)),
    ]
}

fn win_score(pair: &PairReport) -> Option<&Figure> {
    pair.figures.iter().find(|figure| figure.id == "win_score")
}

/// Returns the conclusion about a pair, in one sentence.
fn says(report: &PairwiseReport, pair: &PairReport) -> String {
    let (first, second) = (&report.systems[pair.first], &report.systems[pair.second]);
    let adjusted = if report.pairs.len() > 1 { ", adjusted for the number of pairs" } else { "" };
    let p = match pair.p_adjusted {
        Ok(p) => format!(" (p {}{adjusted})", chance(p)),
        Err(why) => format!(" (p undefined, because {why})"),
    };
    match pair.told {
        Told::First => format!("`{first}` is better than `{second}`{p}."),
        Told::Second => format!("`{second}` is better than `{first}`{p}."),
        Told::Inconclusive => format!("`{first}` and `{second}` are not told apart{p}."),
    }
}

fn twice(report: &PairwiseReport) -> String {
    let place = &report.place;
    let p = match place.p {
        Ok(p) => format!("exact p {}", chance(p)),
        Err(why) => format!("p undefined, because {why}"),
    };
    format!(
        "the answer shown first won both times in {}, the one shown second in {}: {p}",
        count(place.first_twice, "comparison", "comparisons"),
        grouped(place.second_twice)
    )
}

fn ungraded(report: &PairwiseReport) -> Option<String> {
    (report.ungraded > 0).then(|| {
        format!(
            "{} could not be judged in both orders, part of no figure.",
            count(report.ungraded, "comparison", "comparisons")
        )
    })
}

fn rule(ties: TieRule) -> &'static str {
    match ties {
        TieRule::HalfWin => "ties and disagreeing orders count as half a win for either side",
        TieRule::Davidson => "ties and disagreeing orders are an end of their own (Davidson)",
    }
}

fn ranking(page: &mut Page, report: &PairwiseReport) {
    let found = match &report.ranking {
        Ok(found) => found,
        Err(why) => {
            page.text(&[], &[Piece::new(Tone::Open, format!("The ranking is undefined, because {why}."))]);
            return;
        }
    };
    let columns = [
        Column::right("rank"),
        Column::shrinking("system"),
        Column::right("log strength"),
        Column::left("95%"),
        Column::left("lead over the next, 95%"),
        Column::right("wins against it"),
        Column::right("n"),
    ];
    let rows: Vec<Vec<Piece>> = found
        .systems
        .iter()
        .map(|one| {
            let lead = one.lead.map_or_else(String::new, |lead| match lead.interval {
                Ok(_) => format!("{} ({})", value(lead.difference), range(lead.interval)),
                Err(_) => value(lead.difference),
            });
            let wins = one.lead.map_or_else(String::new, |lead| value(lead.win_probability));
            vec![
                Piece::plain(one.rank.to_string()),
                Piece::name(Tone::Strong, &report.systems[one.system]),
                Piece::plain(value(one.log_strength)),
                Piece::plain(range(one.interval)),
                Piece::plain(lead),
                Piece::plain(wins),
                Piece::plain(grouped(one.comparisons as u64)),
            ]
        })
        .collect();
    let about = format!(
        "Ranking by Bradley and Terry over {} of {}; {}.",
        count(found.comparisons as u64, "comparison", "comparisons"),
        count(found.clusters as u64, "case", "cases"),
        rule(found.ties)
    );
    page.text(&[], &[Piece::plain(about)]);
    table(page, 0, &columns, &rows);
    if let Some(why) = no_interval(found) {
        page.text(&[], &[Piece::new(Tone::Dim, format!("no intervals: {why}"))]);
    }
    page.text(
        &[],
        &[Piece::new(
            Tone::Dim,
            "A lead whose interval holds 0 may be none: the two may stand in either order.",
        )],
    );
}

/// Returns the reason why strengths have no interval, if they have none.
fn no_interval(found: &Ranking) -> Option<Undefined> {
    found.systems.iter().find_map(|one| one.interval.err())
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
                "figures": figures_json(&pair.figures),
                "p": pair.p.ok(),
                "p_adjusted": pair.p_adjusted.ok(),
                "p_undefined": pair.p.err().map(|why| why.to_string()),
                "adjusted_by": "Holm",
                "better": match pair.told {
                    Told::First => Some(name(pair.first)),
                    Told::Second => Some(name(pair.second)),
                    Told::Inconclusive => None,
                },
                "verdict": pair.told.name(),
                "says": says(report, pair),
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
            "figures": figures_json(&report.place.figures),
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

fn ranking_json(report: &PairwiseReport, found: &Ranking) -> Value {
    let systems: Vec<Value> = found
        .systems
        .iter()
        .map(|one| {
            let lead = one.lead.map(|lead| {
                let mut object = with_interval(Ok(lead.difference), lead.interval, found.comparisons as u64);
                object["win_probability"] = lead.win_probability.into();
                object
            });
            let mut object = with_interval(Ok(one.log_strength), one.interval, one.comparisons as u64);
            object["rank"] = one.rank.into();
            object["system"] = report.systems[one.system].clone().into();
            object["lead_over_next"] = lead.into();
            object
        })
        .collect();
    json!({
        "method": "Bradley-Terry",
        "ties": rule(found.ties),
        "tie_weight": found.tie_weight,
        "comparisons": found.comparisons,
        "clusters": found.clusters,
        "systems": systems,
        "says": "Log strengths add up to 0; a lead whose interval holds 0 may be none.",
    })
}

/// Renders the pairwise comparisons as Markdown, for a comment or a page.
pub fn pairwise_markdown(report: &PairwiseReport, missing: &[String]) -> String {
    let cell = |text: &str| crate::clean::safe(text).replace('|', "\\|");
    let mut out = String::from(
        "| first | second | win | loss | tie | inconsistent | win score | 95% | p |\n\
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
            score.map_or_else(String::new, |figure| or_undefined(figure.value)),
            score.map_or_else(String::new, |figure| range(figure.interval)),
            pair.p_adjusted.map_or_else(|_| "-".to_owned(), chance),
        );
    }
    out.push('\n');
    for pair in &report.pairs {
        let _ = writeln!(out, "- {}", cell(&says(report, pair)));
    }
    for figure in &report.place.figures {
        let around = range(figure.interval);
        let around = if around.is_empty() { around } else { format!(" ({around})") };
        let _ = writeln!(out, "- {}: {}{around}, n {}", figure.name, or_undefined(figure.value), figure.n);
    }
    let _ = writeln!(out, "- {}", report.place.says);
    for line in missing.iter().cloned().chain(ungraded(report)) {
        let _ = writeln!(out, "- {}", cell(&line));
    }
    match &report.ranking {
        Err(why) => {
            let _ = writeln!(out, "\nThe ranking is undefined, because {why}.");
        }
        Ok(found) => {
            out.push_str("\n| rank | system | log strength | 95% | n |\n|---:|---|---:|---|---:|\n");
            for one in &found.systems {
                let _ = writeln!(
                    out,
                    "| {} | {} | {} | {} | {} |",
                    one.rank,
                    cell(&report.systems[one.system]),
                    value(one.log_strength),
                    range(one.interval),
                    one.comparisons
                );
            }
            let _ = writeln!(
                out,
                "\nBradley-Terry over {} comparisons of {} cases; {}.",
                found.comparisons,
                found.clusters,
                rule(found.ties)
            );
        }
    }
    out
}
