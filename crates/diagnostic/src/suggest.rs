//! "Did you mean": finds the known name that is nearest to an unknown one.

/// Returns the candidate that `found` was probably meant to be, if one is near enough.
///
/// Names are equal if they differ only in case, in how their words are joined (`expectedOutcome`,
/// `expected-outcome`, `expected_outcome`), or in the order of their words. Otherwise the Damerau-Levenshtein
/// distance decides: the number of characters that were inserted, removed, replaced or swapped with their
/// neighbour. It may be a third of the longer name, and at most 4. So short names need a close match, and names
/// of one or two characters an equal one. If names have several words, each word must be near: `maxTurns` is
/// not `max_tokens`. If several candidates are equally near, the first wins. A candidate that is identical to
/// `found` is never suggested.
pub fn did_you_mean<'a>(found: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = normalize_name(found);
    if folded.is_empty() {
        return None;
    }

    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        let Some(distance) = distance(found, &folded, candidate) else { continue };
        if best.is_none_or(|(smallest, _)| distance < smallest) {
            best = Some((distance, candidate));
        }
    }

    best.map(|(_, candidate)| candidate)
}

/// Minimum length of a part of a name that counts as a match for the name.
const SHORTEST_PART: usize = 3;

/// Returns the candidate that `found` was probably meant to be: the nearest one as in [`did_you_mean`], else
/// the first that contains it. For names that people abbreviate, such as ids of cases and runs.
pub fn did_you_mean_name<'a>(
    found: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let part = normalize_name(found);
    let contains = |candidate: &&str| normalize_name(candidate).contains(&part);

    did_you_mean(found, candidates.clone())
        .or_else(|| candidates.into_iter().filter(|_| part.chars().count() >= SHORTEST_PART).find(contains))
}

/// Returns the distance of `candidate` from `found`, or `None` if it is too large. `folded` is `normalize_name(found)`.
fn distance(found: &str, folded: &str, candidate: &str) -> Option<usize> {
    if candidate == found {
        return None;
    }

    let other = normalize_name(candidate);
    if other == folded {
        return Some(0);
    }

    let (a, b) = (folded.chars().count(), other.chars().count());
    let allowed = allowed_distance(a.max(b));

    // The difference in length is a lower bound of the distance. Comparing lengths is cheap even for hostile
    // names.
    if allowed > 0 && a.abs_diff(b) <= allowed {
        let distance = strsim::damerau_levenshtein(folded, &other);
        if distance <= allowed && distance < a.min(b) && words_are_near(found, candidate) {
            return Some(distance);
        }
    }

    (a == b && sorted_words(found).len() > 1 && sorted_words(found) == sorted_words(candidate))
        .then_some(allowed)
}

const fn allowed_distance(length: usize) -> usize {
    match length {
        0..3 => 0,
        3..12 => length / 3,
        _ => 4,
    }
}

/// Returns false if both names have the same number of words, more than one, and two corresponding words are
/// different.
fn words_are_near(found: &str, candidate: &str) -> bool {
    let (found, candidate) = (words(found), words(candidate));
    if found.len() < 2 || found.len() != candidate.len() {
        return true;
    }

    found.iter().zip(&candidate).all(|(a, b)| {
        // In relation to a word, a typing mistake is larger than in relation to the whole name.
        let allowed = allowed_distance(a.chars().count().max(b.chars().count())).max(1);
        strsim::damerau_levenshtein(a, b) <= allowed
    })
}

/// Returns the words of a name, in lower case. Words are separated, or begin with a capital letter.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if is_separator(c) || (was_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        let word = words.last_mut().expect("never empty");
        word.extend(c.to_lowercase().filter(|c| !is_separator(*c)));
    }

    words.retain(|word| !word.is_empty());
    words
}

/// Normalises a name: lower case, without separators.
fn normalize_name(name: &str) -> String {
    name.chars().filter(|c| !is_separator(*c)).flat_map(char::to_lowercase).collect()
}

/// Returns the words of a name, in lower case and sorted.
fn sorted_words(name: &str) -> Vec<String> {
    let mut words = words(name);
    words.sort_unstable();
    words
}

fn is_separator(c: char) -> bool {
    matches!(c, '_' | '-') || c.is_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 8] =
        ["id", "name", "criteria", "expected_outcome", "input", "assertions", "weight", "pass-threshold"];

    #[test]
    fn finds_slips_of_the_hand() {
        assert_eq!(did_you_mean("critera", KEYS), Some("criteria"));
        assert_eq!(did_you_mean("wieght", KEYS), Some("weight"));
        assert_eq!(did_you_mean("nam", KEYS), Some("name"));
        assert_eq!(did_you_mean("assertion", KEYS), Some("assertions"));
    }

    #[test]
    fn spelling_of_joined_words_does_not_matter() {
        for found in ["expectedOutcome", "expected-outcome", "Expected Outcome", "EXPECTED_OUTCOME"] {
            assert_eq!(did_you_mean(found, KEYS), Some("expected_outcome"));
        }
        assert_eq!(did_you_mean("passThreshold", KEYS), Some("pass-threshold"));
        assert_eq!(did_you_mean("ID", KEYS), Some("id"));
        assert_eq!(did_you_mean("outcome_expected", KEYS), Some("expected_outcome"));
    }

    #[test]
    fn parts_of_names_stand_for_them() {
        let ids = ["late-train", "refund-policy", "refund-late"];
        assert_eq!(did_you_mean_name("refund", ids), Some("refund-policy"));
        assert_eq!(did_you_mean_name("Policy", ids), Some("refund-policy"));
        assert_eq!(did_you_mean_name("lat-train", ids), Some("late-train"), "the nearest one before others");
        assert_eq!(did_you_mean_name("re", ids), None);
        assert_eq!(did_you_mean_name("--", ids), None);
    }

    #[test]
    fn strangers_are_not_suggested() {
        for found in ["", "_", "x", "ib", "foo", "nothing_like_it", "weather_report"] {
            assert_eq!(did_you_mean(found, KEYS), None, "{found}");
        }
        assert_eq!(did_you_mean("maxTurns", ["max_tokens"]), None);
        assert_eq!(did_you_mean("--no-table", ["--no-cache"]), None);
        assert_eq!(did_you_mean("max_token", ["max_tokens"]), Some("max_tokens"));
        assert_eq!(did_you_mean("expected_outcom", KEYS), Some("expected_outcome"));
        assert_eq!(did_you_mean("name", ["name"]), None);
        assert_eq!(did_you_mean(&"x".repeat(100_000), KEYS), None);
    }

    #[test]
    fn the_nearest_wins_and_then_the_first() {
        assert_eq!(did_you_mean("scores", ["sores", "scoring", "score"]), Some("sores"));
        assert_eq!(did_you_mean("scoer", ["scores", "score"]), Some("score"));
    }
}
