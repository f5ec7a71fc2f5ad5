//! Masks literal secrets in diagnostics and source excerpts.

use std::ops::Range;

use assize_diagnostic::{Diagnostic, SourceMap, Span};
use assize_document::{MapEntry, TreeNode, codes};

use super::entry::TargetsContext;

/// Keys whose values are secret.
const SECRET_KEYS: &[&str] = &["api_key", "github_token"];

/// Warns of secrets that are written in the file, and records their spans so that they are never shown.
pub(super) fn record_secrets(node: &TreeNode, loading: &mut TargetsContext<'_>) {
    let headers = node.get("headers").and_then(TreeNode::as_map).unwrap_or_default();
    for header in headers.iter().filter(|header| is_secret_header(&header.key)) {
        if header.value.as_str().is_some_and(|text| !text.contains("{{")) {
            let what = format!("the header `{}`", header.key);
            record_secret(header, &what, "\"{{ env.NAME }}\"", loading);
        }
    }

    for entry in node.as_map().unwrap_or_default() {
        if !SECRET_KEYS.contains(&entry.key.as_str()) || entry.value.is_null() {
            continue;
        }

        let literal = match entry.value.as_str() {
            Some(text) => !text.contains("${{") || text.contains(":-"),
            None => true,
        };
        if literal {
            record_secret(entry, &format!("`{}`", entry.key), "${{ NAME }}", loading);
        }
    }
}

/// Records a literal secret, and warns of it. `reference` is the suggested replacement.
fn record_secret(entry: &MapEntry, what: &str, reference: &str, loading: &mut TargetsContext<'_>) {
    loading.secrets.push(entry.value.span);
    if let Some(text) = entry.value.as_str().filter(|text| text.len() >= 8) {
        loading.problems.hide(text, "[redacted]", entry.value.span);
    }

    Diagnostic::warning(codes::LITERAL_SECRET, format!("{what} is written in the file as plain text"))
        .at(entry.key_span, "everyone who can read the file can read it")
        .with_help(format!(
            "put it into an environment variable or `.env` file and write `{}: {reference}`",
            entry.key
        ))
        .add_to(loading.problems);
}

/// Returns true if the name of a header implies that its value is secret.
pub fn is_secret_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "cookie" || ["auth", "key", "token", "secret", "password"].iter().any(|word| name.contains(word))
}

/// Returns the sources with secrets masked. Byte offsets do not change.
///
/// `spans` are the secrets found while decoding. Lines that look like `api_key: ...` are masked as well,
/// because a file that can't be parsed has no spans.
pub(crate) fn mask_secrets(sources: &SourceMap, spans: &[Span]) -> SourceMap {
    let mut masked = SourceMap::new();
    for (id, file) in sources.files() {
        let mut ranges: Vec<Range<usize>> =
            spans.iter().filter(|span| span.source == id).map(|span| span.start..span.end).collect();
        ranges.extend(find_secret_lines(file.text()));
        ranges.extend(find_secrets_in_addresses(file.text()));
        masked.add_copy(file.shared_path(), blank_out(file.text(), &ranges), file);
    }

    masked
}

fn find_secret_lines(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        for key in SECRET_KEYS {
            let Some(at) = line.find(key) else { continue };
            let after = &line[at + key.len()..];
            let value = after.trim_start_matches(['"', '\'', ' ', '\t']);
            let Some(value) = value.strip_prefix(':') else { continue };
            let reference = value.trim_start_matches([' ', '\t', '"', '\'']);
            // Any other template, or a default value, may contain the secret itself.
            let inner = reference.strip_prefix("{{").unwrap_or_default().trim_start();
            let is_variable =
                reference.starts_with("${{") || inner.starts_with("env.") && !inner.contains('|');
            if is_variable && !reference.contains(":-") {
                continue;
            }

            let begin = start + line.len() - value.len();
            ranges.push(begin..start + line.trim_end().len().max(begin - start));
        }
        start += line.len();
    }

    ranges
}

/// Finds user names, passwords, and parameters that may be secret, in the URLs of a text.
fn find_secrets_in_addresses(text: &str) -> Vec<Range<usize>> {
    const WORDS: [&str; 8] = ["auth", "key", "token", "secret", "pass", "pwd", "sig", "credential"];

    let mut ranges = Vec::new();
    for (at, scheme) in text.match_indices("://") {
        let begin = at + scheme.len();
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`');
        let address = &text[begin..begin + text[begin..].find(ends).unwrap_or(text.len() - begin)];

        let host_end = address.find(['/', '?', '#']).unwrap_or(address.len());
        // The end of the host is found by its first delimiter, which a password may contain.
        let user = address[..host_end]
            .rfind('@')
            .or_else(|| address.rfind('@').filter(|_| !address[..host_end].contains('.')));
        ranges.extend(user.map(|end| begin..begin + end));

        for (mark, _) in address.match_indices(['?', '&']) {
            let parameter = &address[mark + 1..];
            let parameter = &parameter[..parameter.find(['&', '#']).unwrap_or(parameter.len())];
            let Some((name, value)) = parameter.split_once('=') else { continue };
            let lower = name.to_ascii_lowercase();
            if lower == "code" || WORDS.iter().any(|word| lower.contains(word)) {
                let value_begin = begin + mark + 1 + name.len() + 1;
                ranges.push(value_begin..value_begin + value.len());
            }
        }
    }

    ranges
}

fn blank_out(text: &str, ranges: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in ranges {
        for byte in bytes.get_mut(range.clone()).into_iter().flatten() {
            if !byte.is_ascii_whitespace() {
                *byte = b'*';
            }
        }
    }

    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_keys_in_addresses_vanish() {
        let mut sources = SourceMap::new();
        let text = "base_url: \"http://user:PASSWORD@host/v1?v=1&api-key=GEHEIM&x=2\", url: https://TOKEN@h/a@b\nplain: https://h/v1?v=2#x\ntext: a@b";
        let id = sources.add("t.yaml", text);
        let masked = mask_secrets(&sources, &[]);
        let shown = masked.file(id).text();
        assert_eq!(shown.len(), text.len());
        for secret in ["user", "PASSWORD", "GEHEIM", "TOKEN"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert!(shown.contains("@host/v1?v=1&api-key=******&x=2\"") && shown.contains("@h/a@b\n"), "{shown}");
        assert!(shown.contains("plain: https://h/v1?v=2#x\ntext: a@b"), "{shown}");
    }

    #[test]
    fn values_vanish_and_offsets_stay() {
        let mut sources = SourceMap::new();
        let text = "a:\n  api_key: 'sk-ö 1'\n  b: {\"api_key\": x}\n  api_key: ${{ KEY }}\n  api_key: '{{ env.KEY }}'\n  \
                    api_key: \"{{ env.KEY | default('sk-2') }}\"\n  api_key: \"{{ 'sk-3' }}\"\nliteral";
        let id = sources.add("t.yaml", text);
        let literal = Span::new(id, text.len() - 7, text.len());
        let masked = mask_secrets(&sources, &[literal]);
        let shown = masked.file(id).text();
        assert_eq!(shown.len(), text.len());
        assert!(!shown.contains("sk-") && !shown.contains("literal") && !shown.contains(" x}"), "{shown}");
        for reference in ["${{ KEY }}", "'{{ env.KEY }}'", "api_key: **"] {
            assert!(shown.contains(reference), "{shown}");
        }
    }
}
