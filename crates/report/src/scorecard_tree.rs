//! Tree of a scorecard as a table.

use crate::ReportStyle;
use crate::number::{format_count, format_plain};
use crate::page::{ReportPage, ReportPiece};
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// One line of the tree of a scorecard.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorecardLine {
    /// Number of levels above it.
    pub depth: usize,
    /// Code of the node.
    pub code: String,
    /// Label for people.
    pub label: String,
    /// Weight among its siblings; `None` at the top.
    pub weight: Option<f64>,
    /// Threshold, 0 to 1.
    pub threshold: f64,
    /// Aggregation, or the consequence of missing the threshold.
    pub rule: String,
    /// True if a failure blocks all nodes above.
    pub hard_gate: bool,
    /// Evaluator of a benchmark; empty for aggregated nodes.
    pub evaluator: String,
    /// Number of benchmarks at or below it.
    pub benchmarks: u64,
    /// Number of cases that apply to it.
    pub cases: u64,
    /// Number of cases for which the judge decides whether the node applies.
    pub cases_to_ask: u64,
}

/// Renders the tree of a scorecard: one line per node, indented by depth. Cases for which the judge decides
/// whether a node applies are shown after a `+`.
pub fn render_scorecard_tree(lines: &[ScorecardLine], style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let columns = [
        ReportColumn::left("code"),
        ReportColumn::right("weight"),
        ReportColumn::right("threshold"),
        ReportColumn::left("rule"),
        ReportColumn::left("evaluator"),
        ReportColumn::right("cases"),
        ReportColumn::shrinking("label"),
    ];

    let rows: Vec<Vec<ReportPiece>> = lines
        .iter()
        .map(|line| {
            let tone = if line.evaluator.is_empty() { ReportTone::Strong } else { ReportTone::Plain };
            let cases = match (line.cases, line.cases_to_ask) {
                (0, 0) => "none".to_owned(),
                (cases, 0) => cases.to_string(),
                (cases, asked) => format!("{cases}+{asked}"),
            };
            let uncovered = line.cases + line.cases_to_ask == 0;
            vec![
                ReportPiece::new(tone, format!("{}{}", "  ".repeat(line.depth), line.code)),
                ReportPiece::plain(line.weight.map(format_plain).unwrap_or_default()),
                ReportPiece::plain(format_plain(line.threshold)),
                ReportPiece::new(
                    if line.hard_gate { ReportTone::Bad } else { ReportTone::Dim },
                    line.rule.clone(),
                ),
                ReportPiece::plain(line.evaluator.clone()),
                ReportPiece::new(if uncovered { ReportTone::Middling } else { ReportTone::Plain }, cases),
                ReportPiece::new(ReportTone::Dim, line.label.clone()),
            ]
        })
        .collect();

    render_table(&mut page, 0, &columns, &rows);
    page.finish()
}

/// Formats the totals of a scorecard in one line.
pub fn format_scorecard_totals(
    rubrics: u64,
    evaluators: &[(&str, u64)],
    gates: u64,
    cases: u64,
    uncovered: u64,
) -> String {
    let benchmarks: u64 = evaluators.iter().map(|(_, number)| number).sum();
    let kinds: Vec<String> = evaluators
        .iter()
        .filter(|(_, number)| *number > 0)
        .map(|(name, number)| format!("{number} {name}"))
        .collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let mut line = format!(
        "{}, {}{kinds}, {}, {}",
        format_count(rubrics, "rubric", "rubrics"),
        format_count(benchmarks, "benchmark", "benchmarks"),
        format_count(gates, "hard gate", "hard gates"),
        format_count(cases, "case", "cases"),
    );
    if uncovered > 0 {
        line.push_str("; ");
        line.push_str(&format_count(uncovered, "benchmark", "benchmarks"));
        line.push_str(" without a case");
    }

    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeper_parts_stand_further_in() {
        let line = |depth, code: &str, evaluator: &str, cases| ScorecardLine {
            depth,
            code: code.to_owned(),
            label: "l".to_owned(),
            weight: (depth > 0).then_some(0.6),
            threshold: 0.95,
            rule: "r".to_owned(),
            hard_gate: false,
            evaluator: evaluator.to_owned(),
            benchmarks: 1,
            cases,
            cases_to_ask: cases,
        };
        let text =
            render_scorecard_tree(&[line(0, "A", "", 2), line(1, "A1", "code", 0)], ReportStyle::default());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "code  weight  threshold  rule  evaluator  cases  label");
        assert_eq!(lines[1], "A                  0.95  r                  2+2  l");
        assert_eq!(lines[2], "  A1     0.6       0.95  r     code        none  l");
    }

    #[test]
    fn counts_stand_in_one_line() {
        assert_eq!(
            format_scorecard_totals(1, &[("code", 2), ("hybrid", 0)], 1, 1200, 1),
            "1 rubric, 2 benchmarks (2 code), 1 hard gate, 1,200 cases; 1 benchmark without a case\n"
        );
    }
}
