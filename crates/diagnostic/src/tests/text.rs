//! Terminal output, character by character.

use crate::render::{TextOptions, to_text};
use crate::{Diagnostic, DiagnosticCode, SourceId, SourceMap, Span};

const CODE: DiagnosticCode = DiagnosticCode::new("E0203");

const EVAL: &str = "name: x\ncases:\n  - expectedOutcome: yes\n    id: a\n    id: b\nend: 1\n";

fn span_of(map: &SourceMap, id: SourceId, needle: &str) -> Span {
    let start = map.file(id).text().find(needle).expect("the needle is in the text");
    Span::new(id, start, start + needle.len())
}

fn plain(map: &SourceMap, diagnostic: Diagnostic) -> String {
    to_text(&[diagnostic], map, TextOptions { width: 60, ..TextOptions::default() })
}

/// Renders a file with an error at `needle`.
fn point_at(text: &str, needle: &str) -> String {
    let mut map = SourceMap::new();
    let id = map.add("a.yaml", text);
    let span = span_of(&map, id, needle);
    plain(&map, Diagnostic::error(CODE, "bad").at(span, "here"))
}

/// Renders a suggestion to replace `needle`, and returns the part after the source lines.
fn suggest(needle: &str, replacement: &str) -> String {
    let mut map = SourceMap::new();
    let id = map.add("a.yaml", EVAL);
    let suggestion = span_of(&map, id, needle);
    let drawn = plain(
        &map,
        Diagnostic::error(CODE, "bad")
            .at(Span::new(id, 0, 4), "here")
            .with_suggestion("do this", suggestion, replacement),
    );
    drawn.split_once("^^^^ here\n  |\n").expect("the source lines come first").1.to_owned()
}

#[test]
fn everything_at_once() {
    let mut map = SourceMap::new();
    let id = map.add("evals/a.yaml", EVAL);
    let other = map.add_fragment("evals/b.jsonl", "{\"id\": \"a\"}", 41);
    let key = span_of(&map, id, "expectedOutcome");
    let diagnostic = Diagnostic::error(CODE, "unknown key `expectedOutcome`")
        .at(key, "not a key of a case")
        .with_secondary(span_of(&map, id, "cases"), "in this list")
        .with_secondary(span_of(&map, other, "\"a\""), "first defined here")
        .with_note("a case has keys\nid and name")
        .with_help("remove it")
        .with_suggestion("rename the key", key, "expected_outcome");
    assert_eq!(
        plain(&map, diagnostic),
        "\
error[E0203]: unknown key `expectedOutcome`
  --> evals/a.yaml:3:5
   |
 2 | cases:
   | ----- in this list
 3 |   - expectedOutcome: yes
   |     ^^^^^^^^^^^^^^^ not a key of a case
   |
  ::: evals/b.jsonl:41:8
   |
41 | {\"id\": \"a\"}
   |        --- first defined here
   |
   = note: a case has keys
           id and name
   = help: remove it
help: rename the key
   |
 3 -   - expectedOutcome: yes
 3 +   - expected_outcome: yes
   |
"
    );
}

#[test]
fn diagnostics_are_parted_by_an_empty_line() {
    let mut map = SourceMap::new();
    let id = map.add("a.yaml", EVAL);
    let one = Diagnostic::error(CODE, "one").at(Span::new(id, 0, 4), "");
    let two = Diagnostic::warning(DiagnosticCode::new("W0001"), "two").at(Span::new(id, 6, 7), "x");
    assert_eq!(
        to_text(&[one, two], &map, TextOptions::default()),
        "\
error[E0203]: one
 --> a.yaml:1:1
  |
1 | name: x
  | ^^^^

warning[W0001]: two
 --> a.yaml:1:7
  |
1 | name: x
  |       ^ x
"
    );
    assert_eq!(to_text(&[], &map, TextOptions::default()), "");
}

#[test]
fn colour_only_when_asked_for() {
    let mut map = SourceMap::new();
    let id = map.add("a.yaml", EVAL);
    let diagnostic = Diagnostic::error(CODE, "bad").at(Span::new(id, 0, 4), "here");
    let options = TextOptions { color: true, width: 60, wrap: false };
    let drawn = to_text(std::slice::from_ref(&diagnostic), &map, options);
    assert!(drawn.starts_with("\u{1b}["), "{drawn:?}");
    assert!(drawn.contains("a.yaml:1:1\n"), "{drawn:?}");
    assert!(!plain(&map, diagnostic).contains('\u{1b}'));
}

#[test]
fn long_spans_are_folded() {
    let mut map = SourceMap::new();
    let lines: Vec<String> = (1..=30).map(|n| format!("line {n}")).collect();
    let text = lines.join("\n") + "\n";
    let id = map.add("a.yaml", text.as_str());
    assert_eq!(
        plain(&map, Diagnostic::error(CODE, "bad").at(Span::new(id, 7, text.len()), "all of this")),
        "\
error[E0203]: bad
  --> a.yaml:2:1
   |
 2 | / line 2
 3 | | line 3
 4 | | line 4
 5 | | line 5
...  |
29 | | line 29
30 | | line 30
   | |_______^ all of this
"
    );
}

#[test]
fn empty_files_and_ends_of_files_can_be_pointed_at() {
    assert_eq!(
        point_at("", ""),
        "error[E0203]: bad\n--> a.yaml\n = note: here\n",
        "there is no line to show of a file without text"
    );
    let mut map = SourceMap::new();
    let id = map.add("a.yaml", "a: b\n");
    for end in [5, usize::MAX] {
        assert_eq!(
            plain(&map, Diagnostic::error(CODE, "bad").at(Span::new(id, end, end), "value missing")),
            "error[E0203]: bad\n --> a.yaml:2:1\n  |\n2 |\n  | ^ value missing\n"
        );
    }
    assert_eq!(
        plain(&map, Diagnostic::error(CODE, "bad").at(Span::new(id, 4, 5), "end of line")),
        "error[E0203]: bad\n --> a.yaml:1:5\n  |\n1 | a: b\n  |     ^ end of line\n"
    );
}

#[test]
fn byte_order_marks_and_windows_line_ends_do_not_show() {
    assert_eq!(
        point_at("\u{feff}a: b\r\nc: d\r\n", "a"),
        "error[E0203]: bad\n --> a.yaml:1:1\n  |\n1 | a: b\n  | ^ here\n"
    );
    assert_eq!(
        point_at("\u{feff}a: b\r\nc: d\r\n", "d\r\n"),
        "error[E0203]: bad\n --> a.yaml:2:4\n  |\n2 | c: d\n  |    ^ here\n"
    );
}

#[test]
fn carets_stand_under_tabs_and_wide_characters() {
    assert_eq!(
        point_at("\ta:\tb\n", "b"),
        "error[E0203]: bad\n --> a.yaml:1:5\n  |\n1 |     a:    b\n  |           ^ here\n"
    );
    assert_eq!(
        point_at("日本語: 漢字x\n", "漢字"),
        "error[E0203]: bad\n --> a.yaml:1:6\n  |\n1 | 日本語: 漢字x\n  |         ^^^^ here\n"
    );
}

#[test]
fn control_characters_become_visible() {
    assert_eq!(
        point_at("a: \u{1b}[31mred\u{7} x\u{202e}y\n", "red"),
        "error[E0203]: bad\n --> a.yaml:1:9\n  |\n1 | a: ␛[31mred␇ x\u{fffd}y\n  |         ^^^ here\n"
    );
    let mut map = SourceMap::new();
    let id = map.add("a\u{1b}[2J\n.yaml", "a: b\n");
    let bell = "x\u{7}\u{1b}]0;y";
    let diagnostic = Diagnostic::error(CODE, bell)
        .at(Span::new(id, 0, 1), bell)
        .with_secondary(Span::new(id, 3, 4), bell)
        .with_note(bell)
        .with_help(bell)
        .with_suggestion(bell, Span::new(id, 3, 4), bell);
    let drawn = plain(&map, diagnostic);
    assert!(drawn.chars().all(|c| c == '\n' || !c.is_control()), "{drawn:?}");
    assert_eq!(drawn.matches("x␇␛]0;y").count(), 7, "{drawn}");
    assert!(drawn.contains("--> a␛[2J .yaml:1:1\n"), "{drawn}");
}

#[test]
fn long_lines_are_cut_around_the_place() {
    assert_eq!(
        point_at(&format!("a: {}b{}\n", "x".repeat(50_000), "y".repeat(50_000)), "b"),
        "\
error[E0203]: bad
 --> a.yaml:1:50004
  |
1 | ...xxxxxxxxxxxxxxxbyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy...
  |                   ^ here
"
    );
    assert_eq!(
        point_at(&format!("a: {}\n", "x".repeat(50_000)), &"x".repeat(50_000)),
        "\
error[E0203]: bad
 --> a.yaml:1:4
  |
1 | a: xxxxxxxxxxx...xxxxxxxxxxx
  |    ^^^^^^^^^^^^^^^^^^^^^^^^^ here
"
    );
    assert_eq!(
        point_at(&format!("a: {}b\n", "日".repeat(500)), "b"),
        "\
error[E0203]: bad
 --> a.yaml:1:504
  |
1 | ...日日日日日日日日日日日日日日日日日日日日日日日b
  |                                                  ^ here
"
    );
}

#[test]
fn places_far_apart_in_a_line_are_shown_together() {
    let mut map = SourceMap::new();
    let id = map.add("a", format!("a: {}b\n", "日".repeat(500)));
    let (a, b) = (span_of(&map, id, "a"), span_of(&map, id, "b"));
    let diagnostic = Diagnostic::error(CODE, "bad")
        .at(a, "near")
        .with_secondary(b, "far")
        .with_suggestion("rename it", a, "c");
    assert_eq!(
        plain(&map, diagnostic),
        "\
error[E0203]: bad
 --> a:1:1
  |
1 | a: 日日日...日日日日b
  | ^ near              - far
  |
  = help: rename it: `c`
"
    );
}

#[test]
fn long_messages_are_cut_and_many_places_counted() {
    let mut map = SourceMap::new();
    let id = map.add("a", "a: b\n");
    let mut diagnostic = Diagnostic::error(CODE, "x".repeat(100_000)).at(Span::new(id, 0, 1), "here");
    for _ in 0..100 {
        diagnostic = diagnostic.with_secondary(Span::new(id, 3, 4), "there");
    }
    let drawn = plain(&map, diagnostic);
    assert!(drawn.len() < 3_000, "{}", drawn.len());
    assert!(drawn.contains("= note: 84 more such places\n"), "{drawn}");
}

#[test]
fn small_changes_are_drawn_in_place() {
    let removal = "help: do this\n  |\n4 -     id: a\n  |\n";
    assert_eq!(suggest("    id: a\n", ""), removal);
    assert_eq!(
        suggest("    id: a\n", "    di: b\n"),
        "help: do this\n  |\n4 -     id: a\n4 +     di: b\n  |\n"
    );
    assert_eq!(
        suggest("yes", "\"yes\""),
        "help: do this\n  |\n3 -   - expectedOutcome: yes\n3 +   - expectedOutcome: \"yes\"\n  |\n"
    );
}

#[test]
fn changes_of_several_lines_are_told_in_words() {
    assert_eq!(
        suggest("    id: a\n", "q:\n  z: 1\n"),
        "  = help: do this:\n          q:\n            z: 1\n"
    );
    assert_eq!(suggest("id: a\n    id: b", "id: c"), "  = help: do this: `id: c`\n");
}

#[test]
fn insertions_are_drawn_as_new_lines() {
    let mut map = SourceMap::new();
    let id = map.add("a.yaml", EVAL);
    let other = map.add("b.yaml", "a: b\n");
    let base = || Diagnostic::error(CODE, "bad").at(Span::new(other, 0, 1), "here");
    let before = "error[E0203]: bad\n --> b.yaml:1:1\n  |\n1 | a: b\n  | ^ here\n  |\nhelp: add it\n";
    let point = span_of(&map, id, "end").start_point();
    assert_eq!(
        plain(&map, base().with_suggestion("add it", point, "foo: 1\n")),
        format!("{before} --> a.yaml:6:1\n  |\n6 + foo: 1\n  |\n")
    );
    assert_eq!(
        plain(&map, base().with_suggestion("add it", Span::new(other, 4, 4), "\nc: d")),
        format!("{before}  |\n1 ~ a: b\n2 + c: d\n  |\n")
    );
    assert_eq!(
        plain(&map, base().with_suggestion("add it", Span::new(other, 5, 5), "c: d\n")),
        format!("{before}  |\n2 + c: d\n  |\n")
    );
}

#[test]
fn a_label_that_is_wider_than_the_window_becomes_a_note() {
    let mut map = SourceMap::new();
    let id = map.add("a.yaml", EVAL);
    let label = "this label says more than fits beside a caret in forty columns";
    let diagnostic = Diagnostic::error(CODE, "bad").at(Span::new(id, 0, 4), label);
    let options = TextOptions { color: false, width: 40, wrap: true };
    assert_eq!(
        to_text(std::slice::from_ref(&diagnostic), &map, options),
        "\
error[E0203]: bad
 --> a.yaml:1:1
  |
1 | name: x
  | ^^^^
  |
  = note: this label says more than
          fits beside a caret in
          forty columns
"
    );
    assert!(plain(&map, diagnostic).contains(&format!("^^^^ {label}")));
}
