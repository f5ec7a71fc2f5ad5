//! Every output form can render any text with any span, and its output is harmless.

use crate::render::{ReportingTool, TextOptions, to_github, to_json, to_sarif, to_text};
use crate::{Diagnostic, DiagnosticCode, SourceMap, Span};
use proptest::prelude::*;

/// Returns texts that tend to break rendering: line ends, tabs, wide, combining, invisible and control
/// characters.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just("a: b".to_owned()),
        4 => Just("\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
        1 => Just("\t".to_owned()),
        1 => Just("漢字".to_owned()),
        1 => Just("e\u{301}".to_owned()),
        1 => Just("👩\u{200d}🔬".to_owned()),
        1 => Just("\u{1b}[31m".to_owned()),
        1 => Just("\u{feff}".to_owned()),
        1 => Just("\u{e000}0:1:1".to_owned()),
        1 => (1_usize..300).prop_map(|n| "long".repeat(n)),
        1 => (1_usize..60).prop_map(|n| " ".repeat(n)),
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Returns offsets that may be anywhere, even outside of the text or in the wrong order.
fn offsets() -> impl Strategy<Value = (usize, usize)> {
    (0_usize..600, prop_oneof![0_usize..8, 0_usize..600]).prop_flat_map(|(start, length)| {
        prop_oneof![20 => Just((start, start + length)), 1 => Just((start + length, start))]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_form_draws_everything(
        texts in (text(), text()),
        primary in offsets(),
        others in proptest::collection::vec((any::<bool>(), offsets()), 0..5),
        change in (any::<bool>(), offsets()),
        words in text(),
        width in 0_usize..200,
    ) {
        let mut map = SourceMap::new();
        let files = [map.add("a.yaml", texts.0), map.add_fragment("b.jsonl", texts.1, 77)];
        let span = |second: bool, (start, end)| Span::new(files[usize::from(second)], start, end);
        let mut diagnostic = Diagnostic::error(DiagnosticCode::new("E0001"), words.clone())
            .at(span(false, primary), words.clone())
            .with_note(words.clone())
            .with_help(words.clone())
            .with_suggestion("change it", span(change.0, change.1), words.clone());
        for (second, offsets) in others {
            diagnostic = diagnostic.with_secondary(span(second, offsets), words.clone());
        }
        let all = [diagnostic];

        let drawn = to_text(&all, &map, TextOptions { width, ..TextOptions::default() });
        prop_assert!(drawn.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", drawn);
        prop_assert!(!drawn.contains(['\u{202e}', '\u{feff}', '\u{e000}']), "{:?}", drawn);
        prop_assert!(drawn.contains("--> a.yaml"), "{}", drawn);
        prop_assert!(drawn.lines().all(|line| line.chars().count() < 6_000));

        let colored = to_text(&all, &map, TextOptions { color: true, width, wrap: true });
        prop_assert!(!colored.contains('\u{e000}'), "a mark was left in");

        prop_assert_eq!(to_github(&all, &map).lines().count(), 1);
        let tool = ReportingTool { name: "t", version: "1", information_uri: None, describe: &|_| None };
        for text in [to_json(&all, &map), to_sarif(&[(&all, &map)], tool)] {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
        }
    }
}
