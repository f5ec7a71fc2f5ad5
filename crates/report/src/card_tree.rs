//! Tree of a scorecard as a table.

use crate::Style;
use crate::number::{count, plain};
use crate::page::{Page, Piece};
use crate::style::Tone;
use crate::table::{Column, table};

/// One line of the tree of a scorecard.
#[derive(Debug, Clone, PartialEq)]
pub struct CardLine {
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
    /// True if missing the threshold blocks every level above.
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
pub fn card_tree(lines: &[CardLine], style: Style) -> String {
    let mut page = Page::new(style);
    let columns = [
        Column::left("code"),
        Column::right("weight"),
        Column::right("pass at"),
        Column::left("rule"),
        Column::left("evaluator"),
        Column::right("cases"),
        Column::shrinking("label"),
    ];
    let rows: Vec<Vec<Piece>> = lines
        .iter()
        .map(|line| {
            let tone = if line.evaluator.is_empty() { Tone::Strong } else { Tone::Plain };
            let cases = match (line.cases, line.cases_to_ask) {
                (0, 0) => "none".to_owned(),
                (cases, 0) => cases.to_string(),
                (cases, asked) => format!("{cases}+{asked}"),
            };
            let uncovered = line.cases + line.cases_to_ask == 0;
            vec![
                Piece::new(tone, format!("{}{}", "  ".repeat(line.depth), line.code)),
                Piece::plain(line.weight.map(plain).unwrap_or_default()),
                Piece::plain(plain(line.threshold)),
                Piece::new(if line.hard_gate { Tone::Bad } else { Tone::Dim }, line.rule.clone()),
                Piece::plain(line.evaluator.clone()),
                Piece::new(if uncovered { Tone::Middling } else { Tone::Plain }, cases),
                Piece::new(Tone::Dim, line.label.clone()),
            ]
        })
        .collect();
    table(&mut page, 0, &columns, &rows);
    page.finish()
}

/// Formats the totals of a scorecard in one line.
pub fn card_totals(
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
        count(rubrics, "rubric", "rubrics"),
        count(benchmarks, "benchmark", "benchmarks"),
        count(gates, "hard gate", "hard gates"),
        count(cases, "case", "cases"),
    );
    if uncovered > 0 {
        line.push_str("; ");
        line.push_str(&count(uncovered, "benchmark", "benchmarks"));
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
        let line = |depth, code: &str, evaluator: &str, cases| CardLine {
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
        let text = card_tree(&[line(0, "A", "", 2), line(1, "A1", "code", 0)], Style::default());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "code  weight  pass at  rule  evaluator  cases  label");
        assert_eq!(lines[1], "A                0.95  r                  2+2  l");
        assert_eq!(lines[2], "  A1     0.6     0.95  r     code        none  l");
    }

    #[test]
    fn counts_stand_in_one_line() {
        assert_eq!(
            card_totals(1, &[("code", 2), ("hybrid", 0)], 1, 1200, 1),
            "1 rubric, 2 benchmarks (2 code), 1 hard gate, 1,200 cases; 1 benchmark without a case\n"
        );
    }
}
