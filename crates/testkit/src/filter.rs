//! Filters that replace varying parts of the output by a label, so that it can be compared.

use std::fmt;
use std::sync::Arc;

/// A change made to output before it is compared.
#[derive(Clone)]
pub struct OutputFilter(Arc<dyn Fn(&str) -> String + Send + Sync>);

impl OutputFilter {
    /// Creates a filter from any function.
    pub fn new(change: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(change))
    }

    /// Creates a filter that replaces a fixed text.
    pub fn text(from: impl Into<String>, label: impl Into<String>) -> Self {
        let (from, label) = (from.into(), label.into());
        Self::new(move |text| text.replace(&from, &label))
    }

    /// Creates a filter that replaces every word for which `matches` is true. A word is a run of letters,
    /// digits, `.`, `_` and `-`, without full stops at its end.
    pub fn words(label: impl Into<String>, matches: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        let label = label.into();
        Self::new(move |text| replace_words(text, &label, &matches))
    }

    /// Creates a filter that replaces durations such as `1.2s`, `350ms`, `2m` and `3 s` by `[TIME]`.
    pub fn durations() -> Self {
        Self::new(|text| {
            let mut out = replace_words(text, "[TIME]", &is_duration);
            for unit in ["ms", "s", "min", "h"] {
                out = join_unit(&out, unit);
            }
            out
        })
    }

    /// Creates a filter that replaces UUIDs by a label such as `[RUN]`.
    pub fn uuids(label: impl Into<String>) -> Self {
        Self::words(label, is_uuid)
    }

    /// Applies the filter to a text.
    pub fn apply(&self, text: &str) -> String {
        (self.0)(text)
    }
}

impl fmt::Debug for OutputFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Filter")
    }
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '_' | '-')
}

fn replace_words(text: &str, label: &str, matches: &dyn Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let start = rest.find(is_word_char).unwrap_or(rest.len());
        out.push_str(&rest[..start]);
        rest = &rest[start..];

        let end = rest.find(|c| !is_word_char(c)).unwrap_or(rest.len());
        let word = rest[..end].trim_end_matches('.');
        out.push_str(if !word.is_empty() && matches(word) { label } else { word });
        rest = &rest[word.len()..];

        let dots = rest.len() - rest.trim_start_matches('.').len();
        // Full stops that were trimmed off the word are copied; those inside a word never get here.
        out.push_str(&rest[..dots]);

        rest = &rest[dots..];
    }

    out
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok()
}

fn is_duration(word: &str) -> bool {
    ["ms", "µs", "ns", "s", "m", "h"].iter().any(|unit| word.strip_suffix(unit).is_some_and(is_number))
}

/// Replaces `NUMBER UNIT` with a space between.
fn join_unit(text: &str, unit: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let needle = format!(" {unit}");
    while let Some(at) = rest.find(&needle) {
        let before = &rest[..at];
        let after = &rest[at + needle.len()..];
        let number_at = before
            .rfind(|c: char| !c.is_ascii_digit() && c != '.')
            .map_or(0, |i| i + before[i..].chars().next().map_or(1, char::len_utf8));
        let glued = before[..number_at].ends_with(is_word_char);
        if is_number(&before[number_at..]) && !glued && !after.starts_with(char::is_alphanumeric) {
            out.push_str(&before[..number_at]);
            out.push_str("[TIME]");
        } else {
            out.push_str(before);
            out.push_str(&needle);
        }

        rest = after;
    }

    out + rest
}

fn is_uuid(word: &str) -> bool {
    let groups: Vec<&str> = word.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.chars().all(|c| c.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_in_all_their_spellings() {
        let filter = OutputFilter::durations();
        assert_eq!(
            filter.apply("took 1.2s (350ms, 3 s, 10 min). 5 cases, v1.2"),
            "took [TIME] ([TIME], [TIME], [TIME]). 5 cases, v1.2"
        );
        assert_eq!(filter.apply("done in 2m. 3 second tries; x3 s"), "done in [TIME]. 3 second tries; x3 s");
    }

    #[test]
    fn words_and_texts() {
        let id = "0197a1b2-0000-7000-8000-0123456789ab";
        assert_eq!(
            OutputFilter::uuids("[RUN]").apply(&format!("runs/{id}/run.json {id}.")),
            "runs/[RUN]/run.json [RUN]."
        );
        assert_eq!(OutputFilter::text("a/b", "[X]").apply("a/b/c"), "[X]/c");
        assert_eq!(OutputFilter::words("[N]", |w| w == "...").apply("a... ... b."), "a... ... b.");
    }
}
