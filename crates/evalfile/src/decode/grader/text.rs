//! Decoder of text checks: `contains`, `equals`, `regex` and similar.

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapReader, NodeValue, TreeNode, check_not_blank, codes, string, wrong_type};
use assize_model::{AnswerCheck, GraderKind, Regex, TextCheck, TextRule};

use super::shared::missing_key;
use crate::decode::DecodeContext;

/// Flags of regular expressions in ECMAScript.
const FLAGS: &str = "dgimsuvy";

/// Decodes the keys of the text check with this name.
pub(super) fn decode_text_check(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    name: &'static str,
) -> Option<GraderKind> {
    let many = name.ends_with("-any") || name.ends_with("-all");
    let errors = cx.problems.error_count();
    let values = match object.value("value") {
        None => {
            let example = if many { "value: [one text, another]" } else { "value: the text" };
            cx.problems.add(missing_key(object.head(), &format!("`{name}`"), "value", example));
            Vec::new()
        }
        Some(node) => decode_values(cx, node, name, many),
    };

    let rule = text_rule(cx, object, name);
    if let (TextRule::Regex(regex), [pattern]) = (&rule, values.as_slice())
        && cx.problems.error_count() == errors
        && let Err(error) = cx.check_pattern(pattern, &regex.flags)
    {
        let at = object.value("value").map_or(object.head(), TreeNode::use_span);
        Diagnostic::error(codes::BAD_PATTERN, "this pattern can't be used")
            .at(at, error)
            .with_help("patterns use JavaScript syntax without look-around and back-references")
            .add_to(&mut cx.problems);
    }

    (cx.problems.error_count() == errors && !values.is_empty())
        .then(|| GraderKind::Check(AnswerCheck::Text(TextCheck { rule, values })))
}

fn text_rule(cx: &mut DecodeContext, object: &mut MapReader<'_>, name: &str) -> TextRule {
    let ignore_case = name.starts_with('i');
    match name {
        "contains" | "icontains" => TextRule::Contains { ignore_case },
        "contains-any" | "icontains-any" => TextRule::ContainsAny { ignore_case },
        "contains-all" | "icontains-all" => TextRule::ContainsAll { ignore_case },
        "starts-with" => TextRule::StartsWith,
        "ends-with" => TextRule::EndsWith,
        "regex" => {
            let flags = object.string("flags", &mut cx.problems);
            if let Some(flags) = &flags {
                check_flags(cx, &flags.value, flags.span);
            }
            TextRule::Regex(Regex { flags: flags.map(|flags| flags.value).unwrap_or_default() })
        }
        _ => TextRule::Equals,
    }
}

fn decode_values(cx: &mut DecodeContext, node: &TreeNode, name: &str, many: bool) -> Vec<String> {
    match &node.data {
        NodeValue::Seq(items) if many && items.is_empty() => {
            Diagnostic::error(codes::EMPTY_TEXT, format!("`{name}` has no texts"))
                .at(node.use_span(), "an empty list")
                .with_help("list the texts to look for")
                .add_to(&mut cx.problems);
            Vec::new()
        }
        NodeValue::Seq(items) if many => {
            items.iter().filter_map(|item| decode_value(cx, item, name)).collect()
        }
        NodeValue::Seq(_) => {
            let mut diagnostic = wrong_type(node, "`value`", "a single text");
            if matches!(name, "contains" | "icontains") {
                diagnostic = diagnostic
                    .with_help(format!("for several texts use `type: {name}-any` or `type: {name}-all`"));
            }

            cx.problems.add(diagnostic);
            Vec::new()
        }
        _ => decode_value(cx, node, name).into_iter().collect(),
    }
}

fn decode_value(cx: &mut DecodeContext, node: &TreeNode, name: &str) -> Option<String> {
    let text = string(node, "value", &mut cx.problems)?;
    if name == "regex" && text.value.is_empty() {
        return Diagnostic::error(codes::BAD_PATTERN, "the pattern is empty")
            .at(text.span, "matches every answer")
            .with_help("write what the answer must match")
            .reject_in(&mut cx.problems);
    }

    // A blank is a valid pattern, an answer may be blank, and a line break may be searched for. `starts-with`
    // and `ends-with` ignore white space around the answer, so blank text would be meaningless for them.
    let may_be_blank =
        matches!(name, "regex" | "equals") || name.contains("contains") && !text.value.is_empty();
    if may_be_blank {
        return Some(text.value);
    }

    check_not_blank(text, "value", &mut cx.problems).map(|text| text.value)
}

fn check_flags(cx: &mut DecodeContext, flags: &str, span: Span) {
    let unknown = flags.chars().find(|flag| !FLAGS.contains(*flag));
    let twice = flags.chars().enumerate().find(|(at, flag)| flags.chars().take(*at).any(|c| c == *flag));
    let complaint = if let Some(flag) = unknown {
        format!("`{}` is not a flag", flag.escape_default())
    } else if let Some((_, flag)) = twice {
        format!("`{flag}` occurs twice")
    } else if flags.contains('u') && flags.contains('v') {
        "`u` and `v` exclude each other".to_owned()
    } else {
        return;
    };
    Diagnostic::error(codes::BAD_PATTERN, "these flags can't be used")
        .at(span, complaint)
        .with_help("`i` ignores case, `m` makes ^ and $ match at lines, `s` lets the dot match newlines")
        .add_to(&mut cx.problems);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::snippets::{codes, one};

    fn check(text: &str) -> TextCheck {
        let grader = one(text);
        let GraderKind::Check(AnswerCheck::Text(check)) = &grader.kind else { panic!("a text check") };
        check.clone()
    }

    #[test]
    fn each_type_has_its_rule() {
        for (name, rule) in [
            ("contains", TextRule::Contains { ignore_case: false }),
            ("icontains", TextRule::Contains { ignore_case: true }),
            ("contains-any", TextRule::ContainsAny { ignore_case: false }),
            ("icontains_any", TextRule::ContainsAny { ignore_case: true }),
            ("contains-all", TextRule::ContainsAll { ignore_case: false }),
            ("icontains-all", TextRule::ContainsAll { ignore_case: true }),
            ("starts-with", TextRule::StartsWith),
            ("ends_with", TextRule::EndsWith),
            ("equals", TextRule::Equals),
            ("regex", TextRule::Regex(Regex { flags: String::new() })),
        ] {
            let found = check(&format!("- {{type: {name}, value: x}}\n"));
            assert_eq!(found, TextCheck { rule, values: vec!["x".into()] }, "{name}");
        }
        assert_eq!(check("- {type: contains-any, value: [a, b]}\n").values, ["a", "b"]);
        assert_eq!(check("- {type: equals, value: ''}\n").values, [""], "an answer may be empty");
        assert_eq!(check("- {type: contains, value: \"\\n\"}\n").values, ["\n"], "an answer may have lines");
        let regex = check("- {type: regex, value: '^a', flags: im}\n");
        assert_eq!(regex.rule, TextRule::Regex(Regex { flags: "im".into() }));
    }

    #[test]
    fn wrong_values_are_refused() {
        for (text, code) in [
            ("contains", "E0304"),
            ("contains, value: ''", "E0107"),
            ("starts-with, value: ' '", "E0107"),
            ("contains-any, value: [a, '']", "E0107"),
            ("contains, value: 4", "E0105"),
            ("contains, value: [a]", "E0105"),
            ("contains-any, value: []", "E0107"),
            ("contains-all, value: [a, 4]", "E0105"),
            ("regex, value: ''", "E0309"),
            ("regex, value: a, flags: x", "E0309"),
            ("regex, value: a, flags: ii", "E0309"),
            ("regex, value: a, flags: uv", "E0309"),
            ("regex, value: '(?=a)b'", "E0309"),
            ("regex, value: '(a', flags: i", "E0309"),
            ("contains, value: a, flags: i", "E0103"),
        ] {
            assert_eq!(codes(&format!("- {{type: {text}}}\n")), [code], "{text}");
        }
    }
}
