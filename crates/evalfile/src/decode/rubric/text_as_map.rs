//! Detects strings that YAML parsed as maps: `- Returns: the value` without quotes.

use assize_diagnostic::Diagnostic;
use assize_document::{NodeValue, TreeNode, codes};

use crate::decode::DecodeContext;

/// Returns the diagnostic for a map that was probably meant as a string: it has a single entry, whose key looks
/// like prose (with a blank or a capital letter).
pub(crate) fn detect_text_as_map(cx: &DecodeContext, node: &TreeNode) -> Option<Diagnostic> {
    let [entry] = node.as_map()? else { return None };
    let is_prose = entry.key.contains(' ') || entry.key.starts_with(char::is_uppercase);
    if !is_prose || matches!(entry.value.data, NodeValue::Seq(_) | NodeValue::Map(_)) {
        return None;
    }

    let diagnostic = Diagnostic::error(codes::TEXT_BECAME_MAP, "this text was read as a map")
        .at(node.use_span(), format!("the `: ` makes `{}` a key", entry.key))
        .with_help("put the whole text in quotes");

    let written = cx.sources.slice(node.span);
    if node.used_at.is_some() || written.contains('\n') || !written.starts_with(&entry.key) {
        return Some(diagnostic);
    }

    let quoted = format!("\"{}\"", written.replace('\\', "\\\\").replace('"', "\\\""));
    Some(diagnostic.with_suggestion("quote the text", node.span, quoted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::snippets::read;

    #[test]
    fn prose_with_a_colon_is_explained_and_can_be_fixed() {
        let (cx, node) = read("- Returns: the \"sum\"\n- outcome: x\n- Two words:\n    a: 1\n");
        let items = node.as_seq().expect("a list");
        let diagnostic = detect_text_as_map(&cx, &items[0]).expect("mistaken");
        let suggestion = diagnostic.suggestion.expect("sure");
        assert_eq!(suggestion.replacement, "\"Returns: the \\\"sum\\\"\"");
        assert!(detect_text_as_map(&cx, &items[1]).is_none());
        assert!(detect_text_as_map(&cx, &items[2]).is_none());
    }
}
