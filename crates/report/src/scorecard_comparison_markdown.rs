//! Comparison of two runs of a scorecard as Markdown.

use std::fmt::Write as _;

use assize_analysis::ScorecardComparison;
use assize_analysis::compare::ComparisonGateResult;
use assize_store::ScorecardPartKind;

use crate::scorecard_comparison::{
    comparison_notes, format_difference, format_side, interval_text, measurement_lines, status_text,
};
use crate::scorecard_markdown::escape_cell;

/// Renders a comparison: the names and results of its two runs, every node that both have, which cases the numbers
/// cover, parts that were measured differently, and gates. Writing to a string never fails.
pub fn render_scorecard_comparison_markdown(
    found: &ScorecardComparison,
    gates: &[ComparisonGateResult],
    [base, candidate]: [(&str, &str); 2],
) -> String {
    let mut out = format!("# {} → {}\n\n", escape_cell(base.0), escape_cell(candidate.0));
    for (name, result) in [base, candidate] {
        let _ = writeln!(out, "- {}: **{}**", escape_cell(name), escape_cell(result));
    }
    out.push('\n');
    out.push_str("| node | base | candidate | difference | 95% CI | pairs | verdict |\n");
    out.push_str("|---|---:|---:|---:|---|---:|---|\n");
    for node in &found.nodes {
        let code = match node.kind {
            ScorecardPartKind::Benchmark => escape_cell(&node.code),
            ScorecardPartKind::Index | ScorecardPartKind::Rubric => {
                format!("**{}**", escape_cell(&node.code))
            }
        };
        let _ = writeln!(
            out,
            "| {}{code} | {} | {} | {} | {} | {} | {} |",
            "&emsp;".repeat(node.depth),
            format_side(node.base),
            format_side(node.candidate),
            node.difference.map(format_difference).unwrap_or_default(),
            interval_text(node),
            node.compared.n,
            status_text(node),
        );
    }

    out.push('\n');
    for line in comparison_notes(found) {
        let _ = writeln!(out, "- {}", escape_cell(&line));
    }
    for line in measurement_lines(&found.measured) {
        let _ = writeln!(out, "- ⚠ {}", escape_cell(&line));
    }
    for gate in gates {
        let (name, word) = (escape_cell(gate.gate), gate.hold.word());
        let _ = writeln!(out, "- **{name} {word}**: {}", escape_cell(&gate.says));
    }

    out
}
