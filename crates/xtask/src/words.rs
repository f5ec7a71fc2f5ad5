//! `cargo xtask words`: how types, functions and comments are worded, over the sources of the product without tests.
//!
//! A bare word as a type name, a name that several types share, a participle as a noun, a wall of code without a blank
//! line and a comment that begins with a relative clause all cost the next reader time; the limits keep them rare.

use std::collections::BTreeMap;

use regex::Regex;

use crate::repo_lints::is_kind;
use crate::shell;

/// Crates whose words are not measured: tools that do not ship.
const TOOLS: [&str; 4] = ["crates/bench/", "crates/conformance/", "crates/testkit/", "crates/xtask/"];

/// Participles and adjectives that were used as names of types.
const PARTICIPLES: &str = "
    Said Told Made Known Asked Found Seen Shown Taken Given Kept Held Drawn Came Became Spoken Bought Written Named Read
    Judged Checked Looked Opened Loaded Decided Met Placed Sent Failed Recorded Finished Flown Hashed Moved Merged Wanted
    Listed Done Left Filled Fixed Altered Compared Rated Ranked Gated Graded Rendered Scored Printed Settled Stored
    Versioned Spent Stopped Ended Cached Powered Repeated Nested Understood Answered Concluded Expanded Resumed Rescored
    Linted Converted Discovered Undiscovered Undecided Unfit Unset Unbuilt Deferred Spanned Whole Sound Largest Only
    Ordinary Discreet Remembering Retrying Limited Asking Linting Reading Probing Loading Hashing Judging Scoring
    Sampling Resampling";

/// Lines from which a function should have paragraphs, and lines it may have at most.
const LONG_ENOUGH_FOR_PARAGRAPHS: usize = 8;
const MOST_LINES: usize = 100;

/// Shares that may not be exceeded; of blank lines, that must be reached.
const MOST_BARE: f64 = 0.30;
const MOST_SHARED: f64 = 0.12;
const MOST_PARTICIPLES: f64 = 0.005;
const LEAST_BLANK: f64 = 0.03;

/// Prints the figures, and the names and places behind them if `list` is set; fails above a limit.
pub(crate) fn run(list: bool) -> Result<(), String> {
    let patterns = WordPatterns::new();
    let mut measures = WordMeasures::default();
    for name in shell::files()? {
        if is_measured(&name) {
            let path = shell::root().join(&name);
            let text = std::fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
            measures.add(&patterns, &name, &text.replace("\r\n", "\n"));
        }
    }

    println!("{}", measures.line());

    if list {
        println!("{}", measures.lists());
    }

    let excesses = measures.excesses();
    if excesses.is_empty() {
        return Ok(());
    }

    Err(format!("words: {}\n`cargo xtask words --list` lists them", excesses.join("; ")))
}

fn is_measured(name: &str) -> bool {
    name.starts_with("crates/")
        && is_kind(name, "rs")
        && name.contains("/src/")
        && !name.contains("/tests/")
        && !name.ends_with("tests.rs")
        && !name.ends_with("testing.rs")
        && !TOOLS.iter().any(|tool| name.starts_with(tool))
}

/// The patterns that are looked for.
struct WordPatterns {
    tests: Regex,
    types: Regex,
    words: Regex,
    function: Regex,
    relative: Regex,
}

impl WordPatterns {
    fn new() -> Self {
        let pattern = |text: &str| Regex::new(text).expect("a pattern of this file");
        Self {
            tests: pattern(r"(?m)^#\[cfg\(test\)\]\n(#\[[^\n]*\]\n)*(pub(\([^)]*\))? )?mod \w+ \{"),
            types: pattern(r"(?m)^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait) ([A-Z][A-Za-z0-9]+)"),
            words: pattern("[A-Z][a-z0-9]*"),
            function: pattern(
                r#"^(\s*)(?:pub(?:\([^)]*\))? )?(?:default )?(?:const |async |unsafe |extern "C" )*fn (\w+)"#,
            ),
            relative: pattern(r"^\s*//[/!] (What|How|Whether|Where|Why|That|Who|Whose|Which|The same)\b"),
        }
    }
}

/// Everything that was counted.
#[derive(Debug, Default)]
struct WordMeasures {
    /// How many types have each name.
    types: BTreeMap<String, usize>,
    /// Names that are one bare word.
    bare: Vec<String>,
    /// Lines of functions that are long enough for paragraphs, and how many of them are blank.
    body_lines: usize,
    blank_lines: usize,
    /// Places of functions over the limit, of functions called `of`, and of comments that begin with a relative clause.
    long: Vec<String>,
    called_of: Vec<String>,
    relative: Vec<String>,
    /// Doc comments.
    comments: usize,
}

impl WordMeasures {
    /// Counts a file.
    fn add(&mut self, patterns: &WordPatterns, file: &str, text: &str) {
        let end = patterns.tests.find(text).map_or(text.len(), |tests| tests.start());
        let text = &text[..end];
        for found in patterns.types.captures_iter(text) {
            let times = self.types.entry(found[1].to_owned()).or_default();
            *times += 1;
            if *times == 1 && patterns.words.find_iter(&found[1]).count() == 1 {
                self.bare.push(found[1].to_owned());
            }
        }

        let lines: Vec<&str> = text.split('\n').collect();
        self.add_comments(patterns, file, &lines);

        self.add_functions(patterns, file, &lines);
    }

    fn add_comments(&mut self, patterns: &WordPatterns, file: &str, lines: &[&str]) {
        let is_doc =
            |line: &str| line.trim_start().starts_with("///") || line.trim_start().starts_with("//!");
        for (index, line) in lines.iter().enumerate() {
            let is_first = index == 0 || !is_doc(lines[index - 1]);
            if is_doc(line) && is_first {
                self.comments += 1;
                if patterns.relative.is_match(line) {
                    self.relative.push(format!("{file}:{}", index + 1));
                }
            }
        }
    }

    fn add_functions(&mut self, patterns: &WordPatterns, file: &str, lines: &[&str]) {
        let mut begin = 0;
        while begin < lines.len() {
            let Some(head) = patterns.function.captures(lines[begin]) else {
                begin += 1;
                continue;
            };

            let end = last_line(lines, begin, &head[1]);
            let body = &lines[begin..=end.min(lines.len() - 1)];

            if &head[2] == "of" {
                self.called_of.push(format!("{file}:{}", begin + 1));
            }
            if body.len() >= LONG_ENOUGH_FOR_PARAGRAPHS {
                self.body_lines += body.len();
                self.blank_lines += body.iter().filter(|line| line.trim().is_empty()).count();
            }
            if body.len() > MOST_LINES {
                self.long.push(format!("{file}:{} {} {}", begin + 1, &head[2], body.len()));
            }

            begin = end + 1;
        }
    }

    /// The share of types whose name is one that `is_meant`.
    fn share(&self, is_meant: impl Fn(&str, usize) -> bool) -> f64 {
        let all: usize = self.types.values().sum();
        let meant: usize =
            self.types.iter().filter(|(name, times)| is_meant(name, **times)).map(|(_, n)| n).sum();
        meant as f64 / all.max(1) as f64
    }

    fn bare_share(&self) -> f64 {
        self.share(|name, _| self.bare.iter().any(|bare| bare == name))
    }

    fn shared_share(&self) -> f64 {
        self.share(|_, times| times > 1)
    }

    fn participle_share(&self) -> f64 {
        self.share(|name, _| is_participle(name))
    }

    fn blank_share(&self) -> f64 {
        self.blank_lines as f64 / self.body_lines.max(1) as f64
    }

    fn line(&self) -> String {
        format!(
            "types {}; one bare word {:.1}%; shared names {:.1}%; participles {:.2}%; blank in functions {:.1}%; \
             functions over {MOST_LINES} lines {}; relative doc beginnings {:.1}%; fn of {}",
            self.types.values().sum::<usize>(),
            100.0 * self.bare_share(),
            100.0 * self.shared_share(),
            100.0 * self.participle_share(),
            100.0 * self.blank_share(),
            self.long.len(),
            100.0 * self.relative.len() as f64 / self.comments.max(1) as f64,
            self.called_of.len(),
        )
    }

    fn lists(&self) -> String {
        let mut shared: Vec<(&String, &usize)> = self.types.iter().filter(|(_, times)| **times > 1).collect();
        shared.sort_by_key(|(_, times)| std::cmp::Reverse(**times));

        let shared = shared.into_iter().map(|(name, times)| format!("{name} x{times}")).collect();
        let participles = self.types.keys().filter(|name| is_participle(name)).cloned().collect();
        [
            ("one bare word", self.bare.clone()),
            ("shared", shared),
            ("participles", participles),
            ("functions over the limit", self.long.clone()),
            ("fn of", self.called_of.clone()),
            ("relative", self.relative.clone()),
        ]
        .map(|(title, items): (&str, Vec<String>)| format!("\n{title}: {}", items.join(", ")))
        .join("\n")
    }

    /// One sentence for each limit that is not kept.
    fn excesses(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (what, share, most) in [
            ("type names of one bare word", self.bare_share(), MOST_BARE),
            ("type names that several types share", self.shared_share(), MOST_SHARED),
            ("participles as type names", self.participle_share(), MOST_PARTICIPLES),
        ] {
            if share > most {
                found.push(format!("{:.2}% are {what}, at most {:.1}% may be", 100.0 * share, 100.0 * most));
            }
        }

        if self.blank_share() < LEAST_BLANK {
            let (share, least) = (100.0 * self.blank_share(), 100.0 * LEAST_BLANK);
            found.push(format!(
                "{share:.2}% of the lines in functions are blank, at least {least:.1}% should be"
            ));
        }

        for (what, places) in [
            ("functions over the limit of lines", &self.long),
            ("doc comments that begin with a relative clause", &self.relative),
            ("functions called `of`", &self.called_of),
        ] {
            if !places.is_empty() {
                found.push(format!("{} {what}", places.len()));
            }
        }

        found
    }
}

fn is_participle(name: &str) -> bool {
    PARTICIPLES.split_whitespace().any(|word| word == name)
}

/// The line that ends a function: its first if that is all of it, or the closing brace at its own indentation.
fn last_line(lines: &[&str], begin: usize, indent: &str) -> usize {
    let head = lines[begin].trim_end();
    if head.ends_with([';', '}']) {
        return begin;
    }

    let closes = |line: &&str| line.strip_prefix(indent) == Some("}");
    lines[begin..].iter().position(closes).map_or(lines.len(), |after| begin + after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(text: &str) -> WordMeasures {
        let mut measures = WordMeasures::default();
        measures.add(&WordPatterns::new(), "a.rs", text);
        measures
    }

    #[test]
    fn types_are_counted_by_their_names() {
        let text = "pub(crate) struct Said;\nenum TwoWords {}\n    trait Said {}\n#[cfg(test)]\nmod tests {\nstruct X;}";
        let measures = measured(text);
        assert_eq!(measures.types.values().sum::<usize>(), 3);
        assert!((measures.bare_share() - 2.0 / 3.0).abs() < 1e-9);
        assert!((measures.shared_share() - 2.0 / 3.0).abs() < 1e-9);
        assert!((measures.participle_share() - 2.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn functions_are_measured_from_their_head_to_their_brace() {
        let body = |lines: usize| format!("    pub async fn of() {{\n{}    }}\n", "\n".repeat(lines));
        let measures = measured(&body(6));
        assert_eq!((measures.body_lines, measures.blank_lines), (8, 6));
        assert_eq!(measures.called_of, ["a.rs:1"]);
        assert!(measures.long.is_empty());
        assert_eq!(measured(&body(99)).long, ["a.rs:1 of 101"]);
        assert_eq!(measured("fn a() {}\nfn b();\n").body_lines, 0);
    }

    #[test]
    fn comments_count_once_and_by_their_first_word() {
        let measures = measured("//! What it is.\n//! Why.\n\n/// Whatever.\nfn a() {}\n/// Which\n");
        assert_eq!(measures.comments, 3);
        assert_eq!(measures.relative, ["a.rs:1", "a.rs:6"]);
    }

    #[test]
    fn limits_are_named() {
        let found = measured("struct Said;\n/// How\nfn of() {}\n").excesses();
        assert_eq!(found.len(), 5, "{found:?}");
    }

    #[test]
    fn tools_and_tests_are_not_measured() {
        assert!(is_measured("crates/run/src/a/b.rs"));
        for name in
            ["crates/xtask/src/a.rs", "crates/run/tests/it/src/a.rs", "crates/run/src/a/tests.rs", "build.rs"]
        {
            assert!(!is_measured(name), "{name}");
        }
    }
}
