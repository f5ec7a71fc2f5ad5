//! `docs/lint.md`: every rule of `assize lint`, with its reason, its source and its examples.

use std::fmt::Write as _;

use assize_lint::{LintRule, RULES};

const HEAD: &str = "\
<!-- Made by `cargo xtask generate` from crates/lint/src/rules. Change it there. -->
# Lint rules

`assize validate` finds what can't be run. `assize lint` finds what runs and still measures badly:

```console
$ assize lint examples/quickstart
```

Every finding is a warning: the exit code stays 0. With `--strict` it is 1 if anything is found. A file that does not load ends
with 2; its valid cases are linted anyway. Rubric files are linted too, and scorecards: their weights and gates, and the
wording of the conditions in their prompts. `--format github` and `--format sarif` print for code review. `assize lint --list`
prints the rules. `--only RULE` applies one rule, `--skip RULE` skips one; both take codes and names, and are repeatable.

`--fix` makes the changes that certainly keep the meaning, and leaves every other byte as it is. A rule that is marked below, and
with `--fix where certain` in the list, finds more than it can correct. The file is
read again afterwards; if it no longer loads, it gets its old content back and the changes are shown instead.

## Allowing a finding

A comment with a reason allows a finding, at the end of its line, on the line above, or above the criterion:

```yaml
# allow: L0111 because support hands out both
- Offers a refund and/or a voucher
```

Several codes share a comment: `# allow: L0107, L0110 because ...`. A comment without a reason, and one that silences
nothing, are findings themselves. JSON and JSONL files have no comments.

## With a model

The rules L06xx need a model. `--judge MODEL` applies them, in one call for each rubric; a rubric of the suite is checked once,
one of a case together with its question, expected outcome and reference. `--dry-run` estimates the cost and sends nothing:

```console
$ assize lint examples/quickstart --judge openai:gpt-6-luna --dry-run
```

The criteria reach the model as fenced data, so that a criterion can't tell it what to find. A finding must quote words that
are there and name its criterion; otherwise the model is asked once more. A rule that the model still did not answer
properly was not applied: stderr and `judge.not_checked` of `--json` say so, and the exit code is 3. Replies are cached, so an
unchanged rubric is paid for once. `--budget-calls`, `--budget-tokens`
and `--budget-usd` stop it with 4. What a model finds is an opinion with a reason: read it before you change anything.
There is no `--fix` for it, and `offline` is refused, because it can only compare words.

## What the rules can't do

The other rules read English words, not meaning, and stay silent when in doubt: a clean file is no proof of a good
rubric. The codes keep their meaning from one version to the next.
";

const GROUPS: &[(&str, &str)] = &[
    ("00", "Comments"),
    ("01", "Wording"),
    ("02", "Weights, gates and thresholds"),
    ("03", "Score ranges"),
    ("04", "The rubric as a whole"),
    ("05", "The case"),
    ("06", "What only a model can tell"),
    ("07", "Scorecards"),
];

/// The page.
pub(super) fn page() -> String {
    let mut page = HEAD.to_owned();
    for (digits, title) in GROUPS {
        write!(page, "\n## {title}\n").expect("a string takes everything");
        for rule in RULES.iter().filter(|rule| rule.code.as_str().get(1..3) == Some(*digits)) {
            page.push('\n');
            page.push_str(&section(rule));
        }
    }

    page
}

fn section(rule: &LintRule) -> String {
    format!("<a id=\"{}\"></a>\n{}", rule.code, rule.to_markdown())
}

#[cfg(test)]
mod tests {
    use assize_lint::RuleExample;

    use super::*;

    #[test]
    fn every_rule_has_one_section_under_a_named_group() {
        let page = page();
        for rule in RULES {
            let anchor = format!("<a id=\"{}\"></a>", rule.code);
            assert_eq!(page.matches(&anchor).count(), 1, "{anchor}");
        }
    }

    #[test]
    fn examples_lose_their_indentation() {
        assert_eq!(RuleExample::Case("  - id: a\n    input: b").unindented(), "- id: a\n  input: b");
        assert_eq!(RuleExample::Criteria("- a\n- b").unindented(), "- a\n- b");
    }
}
