//! Report of a scored scorecard as Markdown. Results of writing to a string are ignored, because that never
//! fails.

use std::fmt::Write as _;

use assize_analysis::{BenchmarkCase, ScorecardRun, ScorecardTree};
use assize_rubric::{BenchmarkState, ScorecardNodeId, ScorecardNodeKind, ScorecardScores};
use assize_store::{RunInfo, ScorecardPartKind};

use crate::number::{format_count, format_plain};
use crate::sanitize;
use crate::scorecard_scores::{blocker_text, closing_lines, format_node_score, nodes_in_order};

/// Maximum number of cases listed for one benchmark.
const MAX_CASES: usize = 20;
/// Maximum length of a reason, in characters.
const MAX_REASON: usize = 300;

/// Additional content of a scorecard report.
#[derive(Debug, Clone, Copy)]
pub struct ScorecardPage<'a> {
    /// Run that the scores come from.
    pub run: Option<(&'a ScorecardRun, &'a RunInfo)>,
}

/// Renders the trees as tables with their blockers and possible gains, then the cases that failed or need
/// review, then the provenance of the numbers.
pub fn render_scorecard_markdown(
    trees: &[(&ScorecardTree, ScorecardScores<'_>)],
    page: &ScorecardPage<'_>,
) -> String {
    let mut out = String::new();
    for (tree, scores) in trees {
        let top = scores.card().node(scores.card().root()).map_or("", |node| &node.code);
        let _ = writeln!(out, "# {}\n", escape_cell(top));

        for line in closing_lines(scores) {
            let _ = writeln!(out, "- {}", escape_cell(&line));
        }

        out.push_str("\n| node | verdict | score | threshold | weight | cases | missing | reason |\n");
        out.push_str("|---|---|---:|---:|---:|---:|---:|---|\n");

        for (id, depth) in nodes_in_order(scores) {
            write_row(&mut out, tree, scores, page, id, depth);
        }

        out.push('\n');
    }

    if let Some((run, info)) = page.run {
        write_cases(&mut out, run);
        write_provenance(&mut out, run, info);
    }

    out
}

fn write_row(
    out: &mut String,
    tree: &ScorecardTree,
    scores: &ScorecardScores<'_>,
    page: &ScorecardPage<'_>,
    id: ScorecardNodeId,
    depth: usize,
) {
    let (Some(node), Some(found)) = (scores.card().node(id), scores.node(id)) else { return };
    let place = tree.places.get(id.index()).copied();
    let label = page.run.and_then(|(run, _)| run.info.nodes.get(place?)?.label.clone()).unwrap_or_default();
    let code = match node.kind {
        ScorecardNodeKind::Group { .. } => format!("**{}**", escape_cell(&node.code)),
        ScorecardNodeKind::Benchmark { .. } => escape_cell(&node.code),
    };
    let label = if label.is_empty() { String::new() } else { format!(" {}", escape_cell(&label)) };
    let weight = if depth == 0 { String::new() } else { format_plain(node.weight.get()) };
    let missing = if found.missing > 0 { found.missing.to_string() } else { String::new() };

    let _ = writeln!(
        out,
        "| {}{code}{label} | {} | {} | {} | {weight} | {} | {missing} | {} |",
        "&emsp;".repeat(depth),
        found.status,
        format_node_score(found, node.line.get()),
        format_plain(node.line.get()),
        found.scored,
        escape_cell(&blocker_text(scores, id)),
    );
}

/// Lists the cases that need attention, benchmark by benchmark.
fn write_cases(out: &mut String, run: &ScorecardRun) {
    let looked_at = |case: &BenchmarkCase| {
        case.finding.state.is_for_review()
            || case.finding.state == BenchmarkState::Missing
            || case.finding.pass == Some(false)
    };

    let mut begun = false;
    for (node, part) in run.info.nodes.iter().zip(&run.parts) {
        let found: Vec<_> = part.cases.iter().filter(|(_, case)| looked_at(case)).collect();
        if node.kind != ScorecardPartKind::Benchmark || found.is_empty() {
            continue;
        }
        if !begun {
            out.push_str("## Cases to review\n\n");
            begun = true;
        }

        let _ = writeln!(out, "### {}\n\n| case | what | reason |\n|---|---|---|", escape_cell(&node.code));

        for (id, case) in found.iter().take(MAX_CASES) {
            let what = match case.finding.state {
                BenchmarkState::Scored => "fail".to_owned(),
                state => state.name().replace('_', " "),
            };
            let reason = escape_cell(&sanitize::sanitize_text(&case.reason, MAX_REASON));
            let _ = writeln!(out, "| {} | {what} | {reason} |", escape_cell(id));
        }

        let more = found.len().saturating_sub(MAX_CASES);
        if more > 0 {
            let _ = writeln!(out, "\nand {} more", format_count(more as u64, "case", "cases"));
        }

        out.push('\n');
    }
}

fn write_provenance(out: &mut String, run: &ScorecardRun, info: &RunInfo) {
    out.push_str("## Provenance\n\n");
    let _ = writeln!(
        out,
        "- run `{}`, started {}",
        sanitize::escape_unsafe(&info.run_id).replace('`', "'"),
        escape_cell(&info.started_at)
    );
    let _ = writeln!(out, "- assize {}", escape_cell(&info.assize_version));

    for judge in &info.judges {
        let version = judge.identity.version.as_deref().unwrap_or("no version");
        let _ = writeln!(out, "- judge {} ({})", escape_cell(&judge.identity.name), escape_cell(version));
    }

    if let Some(set) = &run.info.weight_set {
        let _ = writeln!(out, "- weights of the index: {}", escape_cell(set));
    }

    out.push_str(
        "- possible failure rate of a gate without failures: exact upper limit (95%), \
         `1 - 0.05^(1/n)`\n",
    );
}

/// Escapes untrusted text for a table cell, so that nothing in it is markup.
pub(crate) fn escape_cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in sanitize::escape_unsafe(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }

    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_elsewhere_is_no_markup() {
        assert_eq!(escape_cell("a|b\n<img> [x](y) `z`"), "a\\|b &lt;img&gt; \\[x\\](y) \\`z\\`");
    }
}
