//! Comparison of runs as Markdown for a pull request comment.

use std::fmt::Write as _;

use assize_analysis::compare::{
    ComparisonSet, Conclusion, LabelledDifference, MetricDifference, RunComparison, VerdictFlip,
};

use crate::comparison::{
    ComparisonLimits, describe_conclusions, describe_incomplete, describe_methods, flip_values,
    format_case_counts, format_deciding_p, format_difference, format_interval, format_metric,
    format_rescored, group_name, side_text, table_title,
};
use crate::number::grouped;
use crate::sanitize;

/// Renders a comparison as Markdown. Text from files and models can't end a cell, open a tag or mention a
/// user.
pub fn render_comparison_markdown(
    many: &ComparisonSet,
    adjusted_by: Option<&str>,
    limits: ComparisonLimits,
) -> String {
    let mut out = String::new();
    if let Some(with) = &many.rescored_with {
        let _ = writeln!(out, "Scored again {}.\n", escape_markdown(&format_rescored(with), 400));
    }

    for (at, comparison) in many.comparisons.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let labelled = many.labelled_of(comparison);
        write_one(&mut out, comparison, &labelled, adjusted_by, limits, many.comparisons.len() == 1);
    }

    if !many.matrix.is_empty() {
        write_matrix(&mut out, many);
    }
    if let Some(chosen) = &many.selection {
        let _ = writeln!(out, "\n{}", escape_markdown(&chosen.says, 1000));
    }

    out
}

/// Escapes untrusted text for a cell or a line.
pub(crate) fn escape_markdown(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for c in sanitize::sanitize_text(text, limit).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A mention would notify a user, and a reference would become a link.
            '@' => out.push_str("&#64;"),
            '#' => out.push_str("&#35;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '!' | '~' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }

    // Bare addresses would become links.
    out.replace("://", ":&#47;&#47;")
}

fn conclusion_icon(call: Conclusion) -> &'static str {
    match call {
        Conclusion::Better => "✅",
        Conclusion::Worse => "❌",
        Conclusion::Equivalent | Conclusion::NoDifference => "🟰",
        Conclusion::Inconclusive => "❔",
        Conclusion::NotComparable => "⚠️",
    }
}

fn write_one(
    out: &mut String,
    comparison: &RunComparison,
    labelled: &[&LabelledDifference],
    adjusted_by: Option<&str>,
    limits: ComparisonLimits,
    in_full: bool,
) {
    let run = |name: &str, result: &str| {
        format!("{}: {}", escape_markdown(name, 200), escape_markdown(result, sanitize::MAX_REASON))
    };
    let conclusions: Vec<String> = describe_conclusions(comparison, labelled)
        .into_iter()
        .map(|(call, basis)| format!("{} {} {basis}", conclusion_icon(call), capitalize(call.words())))
        .collect();
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "{} → {}\n\n### {}\n\n{}.\n",
        run(&comparison.base, &comparison.base_result),
        run(&comparison.candidate, &comparison.candidate_result),
        conclusions.join("; "),
        capitalize(&format_case_counts(comparison))
    );
    for found in labelled {
        let _ = writeln!(out, "By people's labels: {}\n", escape_markdown(&found.says, 1000));
    }

    for mismatch in &comparison.mismatches {
        let text = escape_markdown(&mismatch.describe(comparison.common), sanitize::MAX_REASON);
        let _ = writeln!(out, "> **Not comparable ({}):** {text}\n", mismatch.aspect.name());
    }

    out.push_str("| | pairs | base | candidate | change | 95% CI | p | improved / regressed |\n|---|--:|--:|--:|--:|--:|--:|--:|\n");

    for (name, contrast) in [("pass rate", &comparison.pass_rate), ("mean score", &comparison.score)] {
        let _ = writeln!(
            out,
            "| {name} | {} | {} | {} / {} |",
            grouped(contrast.n as u64),
            format_cells(contrast, adjusted_by),
            contrast.higher,
            contrast.lower
        );
    }

    let _ = writeln!(
        out,
        "\n**Pass rate.** {} **Mean score.** {}",
        comparison.pass_rate.says, comparison.score.says
    );

    if let Some(bounds) = comparison.score_bounds {
        let _ = writeln!(out, "\n{}", crate::comparison::format_bounds(comparison, bounds));
    }

    if in_full {
        write_details(out, comparison, adjusted_by, limits);
    }

    let _ = writeln!(out, "\n<sub>{}</sub>", describe_methods(comparison));
}

fn write_details(
    out: &mut String,
    comparison: &RunComparison,
    adjusted_by: Option<&str>,
    limits: ComparisonLimits,
) {
    write_flips(out, "Regressions", &comparison.regressions, limits.flips);
    write_flips(out, "Improvements", &comparison.improvements, limits.flips);

    for parts in comparison.tables.iter().filter(|parts| !parts.rows.is_empty()) {
        let _ = writeln!(
            out,
            "\n<details><summary>{}</summary>\n\n| | pairs | base | candidate | change | 95% CI | p | verdict |\n\
             |---|--:|--:|--:|--:|--:|--:|---|",
            table_title(parts, adjusted_by)
        );

        for row in parts.rows.iter().take(limits.rows) {
            let contrast = &row.contrast;
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                escape_markdown(&group_name(row, &parts.rows), 100),
                contrast.n,
                format_cells(contrast, adjusted_by),
                contrast.call.words()
            );
        }

        out.push_str("\n</details>\n");
    }

    let names = |list: &[assize_analysis::compare::CaseName]| {
        list.iter().take(limits.names).map(|case| escape_markdown(&case.name(), 60)).collect::<Vec<_>>()
    };
    let open = comparison
        .incomplete
        .iter()
        .take(limits.names)
        .map(|case| escape_markdown(&describe_incomplete(case), 120))
        .collect();
    for (label, names, all) in [
        ("Incomplete", open, comparison.incomplete.len()),
        ("New", names(&comparison.new), comparison.new.len()),
        ("Missing", names(&comparison.gone), comparison.gone.len()),
    ] {
        if !names.is_empty() {
            let more =
                if all > names.len() { format!(" and {} more", all - names.len()) } else { String::new() };
            let _ = writeln!(out, "\n**{label}:** {}{more}", names.join(", "));
        }
    }
}

/// Formats the cells from base to p of a comparison.
fn format_cells(contrast: &MetricDifference, adjusted_by: Option<&str>) -> String {
    format!(
        "{} | {} | {} | {} | {}",
        format_metric(contrast.base, contrast.unit),
        format_metric(contrast.candidate, contrast.unit),
        format_difference(contrast),
        format_interval(contrast),
        format_deciding_p(contrast, adjusted_by).replace('<', "&lt;")
    )
}

fn write_flips(out: &mut String, what: &str, flips: &[VerdictFlip], limit: usize) {
    if flips.is_empty() {
        return;
    }

    let _ = writeln!(
        out,
        "\n<details><summary>{what} ({})</summary>\n\n| case | criterion | base | candidate |\n|---|---|---|---|",
        flips.len()
    );

    for flip in flips.iter().take(limit) {
        let name = escape_markdown(&flip.name(), 60);
        let _ = writeln!(out, "| **{name}** | | {} | {} |", side_text(flip.base), side_text(flip.candidate));

        for criterion in &flip.criteria {
            let reason = |reason: &Option<String>| {
                reason
                    .as_deref()
                    .filter(|reason| !reason.trim().is_empty())
                    .map(|reason| format!(": {}", escape_markdown(reason, 300)))
            };
            let [base, candidate] = flip_values(criterion);
            let _ = writeln!(
                out,
                "| | {} | {base}{} | {candidate}{} |",
                escape_markdown(&criterion.name(), 200),
                reason(&criterion.base_reason).unwrap_or_default(),
                reason(&criterion.candidate_reason).unwrap_or_default()
            );
        }
    }

    if flips.len() > limit {
        let _ = writeln!(out, "| and {} more | | | |", flips.len() - limit);
    }

    out.push_str("\n</details>\n");
}

fn write_matrix(out: &mut String, many: &ComparisonSet) {
    out.push_str("\n| |");

    for at in 1..=many.runs.len() {
        let _ = write!(out, " {at} |");
    }

    out.push_str("\n|---|");
    out.push_str(&"--:|".repeat(many.runs.len()));
    out.push('\n');

    for (at, row) in many.matrix.iter().enumerate() {
        let _ = write!(out, "| {} {} |", at + 1, escape_markdown(&many.runs[at], 60));

        for cell in row {
            let text = cell.as_ref().map_or_else(
                || "·".to_owned(),
                |contrast| {
                    let shown = matches!(contrast.call, Conclusion::Better | Conclusion::Worse);
                    let text = format_difference(contrast);
                    if shown { format!("**{text}**") } else { text }
                },
            );
            let _ = write!(out, " {text} |");
        }

        out.push('\n');
    }

    out.push_str("\nChange from the run of the column to the run of the row; bold: significant.\n");
}

fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_said_is_text_and_nothing_else() {
        assert_eq!(
            escape_markdown("a | b\n<img src=x> @all `code` [x](http://y) #1", 100),
            r"a \| b &lt;img src=x&gt; &#64;all \`code\` \[x\](http:&#47;&#47;y) &#35;1"
        );
    }
}
