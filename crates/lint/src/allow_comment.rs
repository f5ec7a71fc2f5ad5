//! Comments that allow a finding: `# allow: L0101 because REASON`.

use std::ops::Range;

use assize_diagnostic::{Diagnostic, DiagnosticCode, SourceId, SourceMap, Span};

use crate::finding::LintFinding;
use crate::rules::{ALLOW_UNUSED, ALLOW_WITHOUT_REASON, RULES};

/// An `allow:` comment.
struct AllowComment {
    source: SourceId,
    /// Line of the comment, from 0.
    line: usize,
    /// True if the comment is alone on its line. It then applies to the next line.
    alone: bool,
    /// Range of the whole comment.
    at: Range<usize>,
    /// Codes that it allows, each with its range.
    codes: Vec<(String, Range<usize>)>,
    reason: bool,
}

/// Removes the findings that comments allow. Returns the remaining diagnostics and the number of allowed findings. A
/// comment that matches no finding, or gives no reason, is a finding itself; without a reason it has no effect. `asked`
/// are the rules that a model has applied everywhere. A comment for any other model rule is not reported as unused,
/// because the rule might still have a finding.
pub(crate) fn remove_allowed(
    found: Vec<LintFinding>,
    sources: &SourceMap,
    asked: &[DiagnosticCode],
) -> (Vec<Diagnostic>, usize) {
    let mut comments: Vec<AllowComment> = Vec::new();
    for (id, file) in sources.files() {
        // JSON has no comments.
        let ending = file.path().extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        if !matches!(ending.as_deref(), Some("json" | "jsonl")) {
            comments.extend(find_comments(id, file.text()));
        }
    }

    let mut used: Vec<Vec<bool>> = comments.iter().map(|allow| vec![false; allow.codes.len()]).collect();
    let mut remaining = Vec::new();
    let mut allowed = 0;
    for finding in found {
        let mut is_allowed = false;
        let places = [Some(finding.diagnostic.primary.span), finding.head];
        for (comment, used) in comments.iter().zip(&mut used) {
            let applies = places.iter().flatten().any(|span| {
                span.source == comment.source && {
                    let line = line_index(sources.file(span.source).text(), span.start);
                    comment.applies_to_line(line, sources.file(span.source).text())
                }
            });
            for ((code, _), used) in comment.codes.iter().zip(used) {
                if applies && code == finding.diagnostic.code.as_str() {
                    *used = true;
                    is_allowed |= comment.reason;
                }
            }
        }

        if is_allowed {
            allowed += 1;
        } else {
            remaining.push(finding.diagnostic);
        }
    }

    for (comment, used) in comments.iter().zip(&used) {
        remaining.extend(comment_findings(comment, used, asked));
    }

    (remaining, allowed)
}

fn comment_findings(comment: &AllowComment, used: &[bool], asked: &[DiagnosticCode]) -> Vec<Diagnostic> {
    let at = |range: &Range<usize>| Span::new(comment.source, range.start, range.end);
    let mut findings = Vec::new();
    if !comment.reason {
        Diagnostic::warning(ALLOW_WITHOUT_REASON, "`allow:` without a reason has no effect")
            .at(at(&comment.at), "no reason here")
            .with_help("add the reason: `# allow: L0101 because ...`")
            .add_to(&mut findings);
    }

    for ((code, range), used) in comment.codes.iter().zip(used) {
        let rule = RULES.iter().find(|rule| rule.code.as_str() == code);
        let unknown_yet = rule.is_some_and(|rule| rule.question().is_some() && !asked.contains(&rule.code));
        if *used || unknown_yet {
            continue;
        }

        let known = rule.is_some();
        let label = if known { "no such finding here" } else { "there is no such rule" };
        Diagnostic::warning(ALLOW_UNUSED, format!("`allow: {code}` has no effect"))
            .at(at(range), label)
            .with_help(
                "remove it; a comment applies to its own line, or to the line below if it is \
                 alone on its line",
            )
            .add_to(&mut findings);
    }

    findings
}

impl AllowComment {
    /// Returns true if the comment applies to this line (from 0). A comment in a block of comments applies to
    /// the first line below the block.
    fn applies_to_line(&self, line: usize, text: &str) -> bool {
        if !self.alone {
            return line == self.line;
        }
        line > self.line
            && text.lines().skip(self.line).take(line - self.line).all(|l| l.trim_start().starts_with('#'))
    }
}

fn line_index(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|b| **b == b'\n').count()
}

/// Returns the `allow:` comments of a file. A `#` counts at the beginning of a line or after a blank.
fn find_comments(source: SourceId, text: &str) -> Vec<AllowComment> {
    let mut found = Vec::new();
    let mut start = 0;
    for (line, content) in text.split_inclusive('\n').enumerate() {
        let begin = start;
        start += content.len();

        let Some(hash) = find_comment_start(content) else { continue };
        let comment = content[hash..].trim_end();
        let Some(rest) = comment[1..].trim_start().strip_prefix("allow:") else { continue };
        let rest_at = begin + hash + comment.len() - rest.len();
        let (list, reason) = match rest.split_once("because") {
            Some((list, reason)) => (list, reason.trim()),
            None => (rest, ""),
        };
        let mut codes = Vec::new();
        let mut at = 0;
        for part in list.split_inclusive([',', ' ']) {
            let code = part.trim_matches([',', ' ']);
            if !code.is_empty() {
                let from = rest_at + at + part.find(code).unwrap_or(0);
                codes.push((code.to_owned(), from..from + code.len()));
            }

            at += part.len();
        }

        found.push(AllowComment {
            source,
            line,
            alone: content[..hash].trim().is_empty(),
            at: begin + hash..begin + hash + comment.len(),
            codes,
            reason: reason.chars().filter(|c| c.is_alphabetic()).count() >= 3,
        });
    }

    found
}

/// Returns the offset of `# allow:` in a line.
fn find_comment_start(line: &str) -> Option<usize> {
    line.match_indices('#').map(|(at, _)| at).find(|&at| {
        (at == 0 || line[..at].ends_with([' ', '\t'])) && line[at + 1..].trim_start().starts_with("allow:")
    })
}
