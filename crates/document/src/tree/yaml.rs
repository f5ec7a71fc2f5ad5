//! Parser of YAML to a tree, which continues after recoverable errors.
//!
//! The parser (`saphyr_parser`) is stricter than files need it to be in two respects. In both cases it is given
//! a modified text of the same length, so that positions in it are valid in the original too:
//!
//! - Closing brackets may stand at the column of their key, as everybody formats JSON-like lists. YAML requires
//!   more indentation. When the scanner stops at such a bracket, `indent_bracket` moves it to the previous
//!   line, and the text is parsed again from the beginning. Each bracket is moved at most once, and
//!   `MAX_BRACKET_WORK` limits the total work.
//! - Characters written as two JSON escapes are replaced by stand-ins (see `yaml_escapes`).
//!
//! Large files are read in two steps. `read_yaml_outline` skips the long list of cases, and `YamlListReader`
//! then parses its items one at a time, so that the tree of a million cases is never in memory. If a file has
//! an error, it is parsed again as a whole with `read_yaml`, because only that explains the error well.

use std::borrow::Cow;

use assize_diagnostic::{Diagnostic, SourceId, SourceMap, Span};
use saphyr_parser::{Event, Parser};

use super::TreeNode;
use super::depth::MAX_VALUES;
use super::yaml_escapes::with_stand_ins;
use super::yaml_reader::{SyntaxFailure, YamlTreeReader};
use crate::codes;
use crate::diagnostic_collector::DiagnosticCollector;

/// Maximum total number of bytes that are parsed again because brackets close at the column of their key.
const MAX_BRACKET_WORK: usize = 16 * 1024 * 1024;

/// Parses the single document of a YAML file. Returns `None` after a syntax error or for a file without
/// content; the reason is in `problems`.
pub fn read_yaml(
    sources: &SourceMap,
    source: SourceId,
    problems: &mut DiagnosticCollector,
) -> Option<TreeNode> {
    let text = sources.file(source).text();
    if let Some(diagnostic) = find_control_character(text, source) {
        return problems.reject(diagnostic);
    }

    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let stand_ins = with_stand_ins(body);
    let has_stand_ins = stand_ins.is_some();
    let mut repaired: Cow<'_, str> = stand_ins.map_or(Cow::Borrowed(body), Cow::Owned);
    let mut attempts = MAX_BRACKET_WORK / body.len().max(1);
    // Character position after the last bracket that was moved.
    let mut unread = 0;
    loop {
        let mut reader = YamlTreeReader::new(text, source, &[], problems.fork());
        reader.events = Parser::new_from_str(&repaired);
        reader.has_stand_ins = has_stand_ins;

        let root = reader.read_document();
        // A bracket that is still rejected after it was moved has a different problem.
        let bracket = reader.early_bracket.filter(|bracket| attempts > 0 && *bracket >= unread);
        if let Some((bracket, next)) = bracket.and_then(|at| Some((at, indent_bracket(&repaired, at)?))) {
            repaired = Cow::Owned(next);
            unread = bracket + 1;
            attempts -= 1;
            continue;
        }

        problems.append(reader.problems);
        return root;
    }
}

/// Returns the text with the closing bracket at this character moved to the end of the previous line, where the
/// scanner accepts it: YAML requires the bracket to be indented more than its key, but people and other readers
/// do not. All other characters keep their positions, so spans stay valid. Line breaks before the bracket
/// become spaces; after a comment, see below. `None` if nothing precedes the bracket.
fn indent_bracket(text: &str, bracket: usize) -> Option<String> {
    let mut characters: Vec<char> = text.chars().collect();
    let blank = |c: &char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let begin = characters[..bracket].iter().rposition(|c| !blank(c))? + 1;
    let line = characters[..begin].iter().rposition(|c| *c == '\n').map_or(0, |at| at + 1);
    let mut before = ' ';
    let is_comment = characters[line..begin].iter().any(|c| {
        let starts = *c == '#' && blank(&before);
        before = *c;
        starts
    });

    if is_comment {
        // On the line of a comment the bracket would be part of the comment, so it stays on a line of its own.
        // The line break replaces the last character of the comment, which indents the bracket by one more
        // column.
        characters[begin - 1] = '\n';
    }
    characters[begin..bracket].fill(' ');

    Some(characters.into_iter().collect())
}

/// Parses the document like [`read_yaml`], except for the lists under `keys` of its outermost map: they are empty in
/// the tree, so that the items of a long list can be parsed one at a time by [`YamlListReader`]. The second value is
/// true if any list was skipped.
pub fn read_yaml_outline(
    sources: &SourceMap,
    source: SourceId,
    keys: &[&str],
    problems: &mut DiagnosticCollector,
) -> Option<(TreeNode, bool)> {
    let text = sources.file(source).text();
    if find_control_character(text, source).is_none() {
        let mut reader = YamlTreeReader::new(text, source, keys, problems.fork());
        let root = reader.read_document();

        // Otherwise parse the file as a whole: errors are explained by the text around them, and an alias may
        // refer to an anchor inside a skipped list.
        if let Some(root) = root {
            let is_outline = reader.has_skipped;
            problems.append(reader.problems);
            return Some((root, is_outline));
        }
    }

    read_yaml(sources, source, problems).map(|root| (root, false))
}

/// Returns the diagnostic for the first control character of a text.
fn find_control_character(text: &str, source: SourceId) -> Option<Diagnostic> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let skipped = text.len() - body.len();
    let offset = body.find(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}'))?;
    let at = skipped + offset;
    let found = body[offset..].chars().next().unwrap_or('\0');

    Some(
        Diagnostic::error(codes::CONTROL_CHARACTER, "control character in the file")
            .at(Span::new(source, at, at + found.len_utf8()), format!("found U+{:04X}", u32::from(found)))
            .with_help("remove it, or write it as an escape inside a double-quoted string"),
    )
}

/// Parser of the items of one list of a document that [`read_yaml_outline`] has read.
pub struct YamlListReader<'t> {
    reader: YamlTreeReader<'t>,
}

impl<'t> YamlListReader<'t> {
    /// Goes to the list under `key` of the outermost map. Returns `None` if there is none.
    pub fn new(text: &'t str, source: SourceId, key: &str) -> Option<Self> {
        // Problems before the list have been reported; only its anchors matter here.
        let mut reader = YamlTreeReader::new(text, source, &[], DiagnosticCollector::default());
        reader.values_left = usize::MAX;
        loop {
            let (event, _) = reader.next_event().ok()?;
            match event {
                Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
                Event::MappingStart(..) => break,
                _ => return None,
            }
        }

        loop {
            let (event, span) = reader.next_event().ok()?;
            let is_wanted = matches!(&event, Event::Scalar(text, ..) if text == key);
            if event == Event::MappingEnd {
                return None;
            }

            reader.read_node(event, span, 1).ok()?;

            let (event, span) = reader.next_event().ok()?;
            match event {
                Event::SequenceStart(..) if is_wanted => return Some(Self { reader }),
                event => reader.read_node(event, span, 1).ok()?,
            };
        }
    }

    /// Parses the next item; `None` at the end. After an error, no further item can be read.
    pub fn next_item(
        &mut self,
        problems: &mut DiagnosticCollector,
    ) -> Result<Option<TreeNode>, SyntaxFailure> {
        self.reader.values_left = MAX_VALUES;
        std::mem::swap(&mut self.reader.problems, problems);
        let item = match self.reader.next_event() {
            Ok((Event::SequenceEnd, _)) => Ok(None),
            Ok((event, span)) => self.reader.read_node(event, span, 2).map(Some),
            Err(failure) => Err(failure),
        };
        std::mem::swap(&mut self.reader.problems, problems);

        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::NodeValue;

    fn read(text: &str) -> (Option<TreeNode>, Vec<Diagnostic>, SourceMap) {
        let mut sources = SourceMap::new();
        let id = sources.add("test.yaml", text);
        let mut problems = DiagnosticCollector::default();
        let node = read_yaml(&sources, id, &mut problems);
        (node, problems.into_vec(), sources)
    }

    #[test]
    fn every_value_knows_its_text() {
        let text = "\u{feff}é: [1, {b: \"x y\"}]\nlong: |-\n  one\n  two\n\nlast: plain text # note\n";
        let (node, problems, sources) = read(text);
        let node = node.expect("valid");
        assert_eq!(problems, vec![]);
        let slice = |node: &TreeNode| sources.slice(node.span).to_owned();
        assert_eq!(slice(node.get("é").expect("there")), "[1, {b: \"x y\"}]");
        let inner = node.get("é").and_then(TreeNode::as_seq).expect("list")[1].get("b").expect("there");
        assert_eq!(slice(inner), "\"x y\"");
        assert_eq!(node.get("long").and_then(TreeNode::as_str), Some("one\ntwo"));
        assert!(slice(node.get("long").expect("there")).ends_with("two"));
        assert_eq!(slice(node.get("last").expect("there")), "plain text");
        assert_eq!(sources.slice(node.as_map().expect("map")[2].key_span), "last");
    }

    #[test]
    fn a_bracket_that_belongs_nowhere_is_moved_once() {
        for text in ["{x: [\n}\nx: [", "a: [\n}\n]\n}", "{a: {\n]\n}"] {
            let (_, problems, _) = read(text);
            assert!(!problems.is_empty(), "{text:?}");
        }
    }

    #[test]
    fn brackets_may_close_at_the_column_of_their_key() {
        let text = "a:\n  b: [\n    \"ünter\",  # a comment\n    y\n  ]\n  c: {\n    d: [1,\n    2 # two\n  ]\n  }\n  \
                    text: |\n    [\n    ]\n  e: [\n]\nf: 1\n";
        let (node, problems, sources) = read(text);
        let node = node.expect("valid");
        assert_eq!(problems, vec![]);
        let inner = node.get("a").expect("there");
        let list = |key: &str| inner.get(key).and_then(TreeNode::as_seq).map_or(0, <[TreeNode]>::len);
        assert_eq!((list("b"), list("e")), (2, 0));
        let d = inner.get("c").and_then(|c| c.get("d")).and_then(TreeNode::as_seq).expect("a list");
        assert_eq!(d.iter().map(|item| sources.slice(item.span)).collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(inner.get("text").and_then(TreeNode::as_str), Some("[\n]\n"));
        assert_eq!(sources.position(node.get("f").expect("there").span).line, 16);
        // A bracket without an opening one is still an error, and so is a missing bracket.
        assert!(!read("a:\n  b: 1\n  ]\n").1.is_empty());
        assert!(!read("a:\n  b: [1,\n  c: 2\n").1.is_empty());
    }

    #[test]
    fn duplicate_keys_are_all_reported() {
        let (_, problems, sources) = read("a: 1\nb:\n  c: 1\n  c: 2\na: 2\n");
        let lines: Vec<usize> = problems.iter().map(|d| sources.position(d.primary.span).line).collect();
        assert_eq!(lines, vec![4, 5]);
        assert!(problems.iter().all(|d| d.code == codes::DUPLICATE_KEY));
    }

    #[test]
    fn aliases_know_where_they_are_used_and_merges_fill_in() {
        let (node, problems, sources) = read("base: &b {x: 1, y: 2}\nuse: *b\nmore:\n  <<: *b\n  y: 3\n");
        let node = node.expect("valid");
        assert_eq!(problems, vec![]);
        let used = node.get("use").expect("there");
        assert_eq!(sources.position(used.use_span()).line, 2);
        let more = node.get("more").expect("there");
        assert_eq!(more.get("y").map(|n| n.data.clone()), Some(NodeValue::Int(3)));
        assert_eq!(more.get("x").map(|n| n.data.clone()), Some(NodeValue::Int(1)));
    }

    #[test]
    fn alias_bombs_deep_nests_and_control_characters_are_refused() {
        let mut bomb = String::from("a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n");
        for level in 1..9 {
            let names = vec![format!("*a{}", level - 1); 10].join(",");
            bomb = [bomb, format!("a{level}: &a{level} [{names}]\n")].concat();
        }
        let (_, problems, _) = read(&bomb);
        assert_eq!(problems[0].code, codes::ALIAS_EXPANSION);
        let (_, problems, _) = read(&format!("{}1{}", "[".repeat(200), "]".repeat(200)));
        assert_eq!(problems[0].code, codes::TOO_DEEP);
        // Beyond its own limit the parser refuses first. In both cases the stack does not overflow.
        let (node, problems, _) = read(&"[".repeat(100_000));
        assert!(node.is_none() && problems.len() == 1);
        let (_, problems, _) = read("a: \u{1b}[31m");
        assert_eq!(problems[0].code, codes::CONTROL_CHARACTER);
    }

    #[test]
    fn long_lines_and_many_values() {
        // The time grows with the length of the line, not with its square: this took minutes once.
        let values = vec!["{a: 1}"; 200_000].join(", ");
        assert!(read(&format!("x: [{values}]")).0.is_some());
        let (node, problems, _) = read(&format!("x: [{}1]", "1, ".repeat(MAX_VALUES)));
        assert!(node.is_none());
        assert_eq!(problems[0].code, codes::LIMIT_REACHED);
    }

    #[test]
    fn unquoted_templates_are_explained() {
        let (_, problems, _) = read("input: {{ question }}\n");
        assert_eq!(problems[0].code, codes::KEY_IS_NOT_TEXT);
        let suggestion = problems[0].suggestion.as_ref().expect("a change");
        assert_eq!(suggestion.replacement, "\"{{ question }}\"");
        let (_, problems, _) = read("input: {{ question }} and more\nb: 1\n");
        assert_eq!(problems.len(), 1);
        assert_eq!(
            problems[0].suggestion.as_ref().expect("a change").replacement,
            "\"{{ question }} and more\""
        );
    }

    #[test]
    fn an_empty_file_has_no_root_and_a_second_document_is_refused() {
        assert_eq!(read("").0, None);
        assert_eq!(read("# only a comment\n").0, None);
        let (_, problems, _) = read("a: 1\n---\nb: 2\n");
        assert_eq!(problems[0].code, codes::SEVERAL_DOCUMENTS);
    }

    #[test]
    fn pairs_of_escapes_are_read_in_double_quotes() {
        let pair = r"\ud83d\ude00";
        for (written, read_as) in [
            (format!("{{\"a\": \"smile {pair}\", \"b\": [1]}}"), "smile \u{1f600}"),
            (format!("b: [\n]\na: \"{pair}{pair} é \\uD83D\\uDE00\""), "\u{1f600}\u{1f600} é \u{1f600}"),
            (format!("x: \"{pair}\"\na: '{pair}'"), pair),
            (format!("a: in {pair} plain text, \\uD83D\\uDE00"), r"in \ud83d\ude00 plain text, \uD83D\uDE00"),
            (format!("x: \"{pair}\"\na: |-\n  {pair}"), pair),
            (r#"a: "\\ud83d\\ude00""#.to_owned(), pair),
        ] {
            let (node, problems, _) = read(&written);
            assert_eq!(problems, vec![], "{written}");
            let node = node.expect("valid");
            assert_eq!(node.get("a").and_then(TreeNode::as_str), Some(read_as), "{written}");
        }

        let (node, _, sources) = read(&format!("\"{pair}\": \"{pair}\"\nb: [x]\n"));
        let node = node.expect("valid");
        assert_eq!(node.as_map().expect("a map")[0].key, "\u{1f600}");
        assert_eq!(sources.slice(node.get("b").expect("there").span), "[x]");
        for broken in [r#"a: "\ud83d""#, r#"a: "\\ud83d\ude00""#, r#"a: "\ude00\ud83d""#] {
            let (_, problems, _) = read(broken);
            assert_eq!(problems[0].primary.text, "half of a surrogate pair", "{broken}");
        }
    }

    #[test]
    fn traps_of_plain_text_are_warned_about() {
        for (text, code, at) in [
            ("- Mentions issue #42 and its date\n", codes::CUT_TEXT, "#42 and its date"),
            ("value: issue #42\n", codes::CUT_TEXT, "#42"),
            ("a: Greets the user #todo\n", codes::CUT_TEXT, "#todo"),
            ("a: says\n  in two lines #1\n", codes::CUT_TEXT, "#1"),
            ("- outcome：Greets\n", codes::FULL_WIDTH, "："),
            ("\u{3000}\u{3000}id: a\n", codes::FULL_WIDTH, "\u{3000}\u{3000}"),
        ] {
            let (_, problems, sources) = read(text);
            assert_eq!(problems.len(), 1, "{text}: {problems:?}");
            assert_eq!((problems[0].code, sources.slice(problems[0].primary.span)), (code, at), "{text}");
        }
        for text in [
            "a: Mentions the date # a comment\n", "a: openai #main\n", "a: C# and F#\n",
            "a: \"issue #42\" #x\n", "a: 'x y' #42\n", "a: https://x.example/#42\n", "a: |\n  issue #42\n",
            "a: 价格：10\n", "a: 'x：1'\n",
        ] {
            assert_eq!(read(text).1, vec![], "{text}");
        }
        let (_, problems, sources) = read("a:\n  b: 1\n  outcome：x\n  c: 2\n");
        assert_eq!(problems[0].code, codes::YAML_SYNTAX);
        assert_eq!(sources.slice(problems[0].primary.span), "：");
    }

    #[test]
    fn tabs_get_their_own_advice() {
        let (_, problems, _) = read("a:\n\tb: 1\n");
        assert_eq!(problems[0].code, codes::YAML_SYNTAX);
        assert!(problems[0].help[0].contains("tab"), "{:?}", problems[0]);
    }
}
