//! Comparison of two runs of a scorecard as Markdown.

use std::fmt::Write as _;

use assize_analysis::compare::ComparisonGateResult;
use assize_analysis::{ScorecardComparison, group_changes};
use assize_store::ScorecardPartKind;

use crate::scorecard_comparison::{
    comparison_notes, format_difference, format_side, gate_status, interval_text, list_codes, status_text,
};
use crate::scorecard_markdown::escape_cell;

/// Renders a comparison with the names of its two runs: every node that both have, which cases the numbers
/// cover, parts that were measured differently, and gates. Writing to a string never fails.
pub fn render_scorecard_comparison_markdown(
    found: &ScorecardComparison,
    gates: &[ComparisonGateResult],
    (base, candidate): (&str, &str),
) -> String {
    let mut out = format!("# {} → {}\n\n", escape_cell(base), escape_cell(candidate));
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
    for (says, codes) in group_changes(&found.measured) {
        if !matches!(says, "new" | "gone") {
            let codes = escape_cell(&list_codes(&codes));
            let _ = writeln!(out, "- ⚠ measured differently: {codes}: {}", escape_cell(says));
        }
    }
    for gate in gates {
        let (word, _) = gate_status(gate.hold);
        let _ = writeln!(out, "- **{} {word}**: {}", escape_cell(gate.gate), escape_cell(&gate.says));
    }

    out
}
