//! Assertions that are implemented in JavaScript here, and run like the code of a file.

/// Functions that several assertions use.
const PRELUDE: &str = include_str!("built_in/prelude.js");

/// Code of each assertion, by name.
const BUILT_IN: [(&str, &str); 19] = [
    ("contains-html", include_str!("built_in/contains-html.js")),
    ("contains-xml", include_str!("built_in/contains-xml.js")),
    ("finish-reason", include_str!("built_in/finish-reason.js")),
    ("guardrails", include_str!("built_in/guardrails.js")),
    ("is-html", include_str!("built_in/is-html.js")),
    ("is-refusal", include_str!("built_in/is-refusal.js")),
    ("is-valid-function-call", include_str!("built_in/is-valid-function-call.js")),
    ("is-xml", include_str!("built_in/is-xml.js")),
    ("levenshtein", include_str!("built_in/levenshtein.js")),
    ("rouge-n", include_str!("built_in/rouge-n.js")),
    ("step-count", include_str!("built_in/step-count.js")),
    ("tool-args-match", include_str!("built_in/tool-args-match.js")),
    ("tool-call-f1", include_str!("built_in/tool-call-f1.js")),
    ("tool-sequence", include_str!("built_in/tool-sequence.js")),
    ("tool-used", include_str!("built_in/tool-used.js")),
    ("trace-error-spans", include_str!("built_in/trace-error-spans.js")),
    ("trace-span-count", include_str!("built_in/trace-span-count.js")),
    ("trace-span-duration", include_str!("built_in/trace-span-duration.js")),
    ("word-count", include_str!("built_in/word-count.js")),
];

/// Returns the body of the function that decides an assertion.
pub(super) fn built_in_code(name: &str) -> String {
    let body = BUILT_IN.iter().find(|row| row.0 == name).map_or("return false;", |row| row.1);
    let used = prelude_functions().filter(|(name, _)| body.contains(&format!("{name}(")));
    used.map(|(_, code)| code).chain([body]).collect()
}

/// Returns the functions of the prelude by name. Each begins at the start of a line, and none calls another.
fn prelude_functions() -> impl Iterator<Item = (&'static str, &'static str)> {
    let starts = PRELUDE.match_indices("const ").map(|(at, _)| at);
    let starts: Vec<usize> =
        starts.filter(|at| *at == 0 || PRELUDE[..*at].ends_with('\n')).chain([PRELUDE.len()]).collect();
    let ranges: Vec<_> = starts.windows(2).map(|pair| pair[0]..pair[1]).collect();
    ranges.into_iter().filter_map(|range| {
        let code = &PRELUDE[range];
        Some((code.strip_prefix("const ")?.split_once(' ')?.0, code))
    })
}

#[cfg(test)]
mod tests {
    use super::super::assertion_types::{ASSERTION_TYPES, AssertionSupport};
    use super::{BUILT_IN, built_in_code, prelude_functions};

    #[test]
    fn every_built_in_assertion_has_code() {
        let named = ASSERTION_TYPES.iter().filter_map(|row| match row.support {
            AssertionSupport::BuiltIn(name) => Some(name),
            _ => None,
        });
        for name in named {
            assert!(BUILT_IN.iter().any(|row| row.0 == name), "{name}");
        }
    }

    /// Converted files contain this code, so it should not contain unused functions.
    #[test]
    fn code_has_the_functions_that_it_calls_and_no_others() {
        let functions: Vec<(&str, &str)> = prelude_functions().collect();
        assert_eq!(functions.len(), 8);
        for (name, body) in BUILT_IN {
            let code = built_in_code(name);
            for (function, _) in &functions {
                let calls = body.contains(&format!("{function}("));
                assert_eq!(code.contains(&format!("const {function} =")), calls, "{name}: {function}");
            }
        }
        for (name, code) in &functions {
            let others = functions.iter().filter(|(other, _)| other != name);
            assert!(others.into_iter().all(|(other, _)| !code.contains(&format!("{other}("))), "{name}");
        }
    }
}
