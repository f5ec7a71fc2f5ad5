//! Similarity of texts by counting: OpenAI's `text_similarity` grader, except for metrics that need a model.
//! All metrics range from 0 to 1. Words are separated by white space and compared in lower case.

use std::collections::HashMap;

/// Longest texts for comparing letter by letter or for the longest common subsequence, in letters or words. The
/// time grows with the product of both lengths.
const MAX_LENGTH: usize = 20_000;

/// Metrics by their names.
pub(crate) const METRICS: [&str; 9] =
    ["fuzzy_match", "bleu", "gleu", "rouge_1", "rouge_2", "rouge_3", "rouge_4", "rouge_5", "rouge_l"];

/// Similarity of a text to a reference; `None` if the metric is unknown.
///
/// # Errors
/// When the texts are too long for the metric.
pub(crate) fn similarity(metric: &str, text: &str, reference: &str) -> Result<Option<f64>, String> {
    let (words, expected) = (words(text), words(reference));
    let (words, expected): (Vec<&str>, Vec<&str>) =
        (words.iter().map(String::as_str).collect(), expected.iter().map(String::as_str).collect());

    Ok(Some(match metric {
        "fuzzy_match" => {
            let (text, reference): (Vec<char>, Vec<char>) =
                (text.chars().collect(), reference.chars().collect());
            let common = common_length(&text, &reference)?;
            // The share of letters that stay when deletions and insertions turn one text into the other.
            share(2 * common, text.len() + reference.len())
        }
        "bleu" => bleu(&words, &expected),
        "gleu" => gleu(&words, &expected),
        "rouge_l" => f_measure(common_length(&words, &expected)?, words.len(), expected.len()),
        _ => match metric.strip_prefix("rouge_").and_then(|size| size.parse::<usize>().ok()) {
            Some(size @ 1..=5) => {
                let (common, ours, theirs) = overlap(&words, &expected, size);
                f_measure(common, ours, theirs)
            }
            _ => return Ok(None),
        },
    }))
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_lowercase).collect()
}

/// A part divided by the whole; 1 if the whole is 0, because two empty texts are alike.
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// Harmonic mean of precision and recall.
fn f_measure(common: usize, ours: usize, theirs: usize) -> f64 {
    share(2 * common, ours + theirs)
}

fn ngrams<'w>(words: &'w [&'w str], size: usize) -> HashMap<&'w [&'w str], usize> {
    let mut counts = HashMap::new();
    for ngram in words.windows(size) {
        *counts.entry(ngram).or_default() += 1;
    }

    counts
}

/// Number of word sequences of this size that both have, that the text has, and that the reference has.
fn overlap(words: &[&str], expected: &[&str], size: usize) -> (usize, usize, usize) {
    let (ours, theirs) = (ngrams(words, size), ngrams(expected, size));
    let common = ours.iter().map(|(ngram, count)| *theirs.get(ngram).unwrap_or(&0).min(count)).sum();

    (common, ours.values().sum(), theirs.values().sum())
}

/// BLEU of one sentence with sequences of up to four words, without smoothing.
fn bleu(words: &[&str], expected: &[&str]) -> f64 {
    if words.is_empty() {
        return f64::from(u8::from(expected.is_empty()));
    }

    let longest = words.len().min(4);
    let mut logs = 0.0;
    for size in 1..=longest {
        let (common, ours, _) = overlap(words, expected, size);
        if common == 0 {
            return 0.0;
        }
        logs += share(common, ours).ln();
    }

    let brevity = 1.0 - expected.len() as f64 / words.len() as f64;
    (logs / longest as f64 + brevity.min(0.0)).exp()
}

/// Google-BLEU: the lower of precision and recall of all sequences of one to four words together.
fn gleu(words: &[&str], expected: &[&str]) -> f64 {
    let sums = (1..=4).map(|size| overlap(words, expected, size));
    let (common, ours, theirs) =
        sums.fold((0, 0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1, sum.2 + next.2));
    share(common, ours.max(theirs))
}

/// Length of the longest common subsequence.
fn common_length<T: PartialEq>(one: &[T], other: &[T]) -> Result<usize, String> {
    if one.len() > MAX_LENGTH || other.len() > MAX_LENGTH {
        return Err(format!(
            "texts of more than {MAX_LENGTH} letters or words are not compared by this metric"
        ));
    }

    let mut row = vec![0_usize; other.len() + 1];
    for item in one {
        let mut diagonal = 0;
        for (at, candidate) in other.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if item == candidate { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }

    Ok(row[other.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_wholly_similar_and_different_ones_not_at_all() {
        for metric in METRICS {
            let of = |text: &str, reference: &str| similarity(metric, text, reference).unwrap().unwrap();
            assert!((of("the cat sat on the mat", "the cat sat on the mat") - 1.0).abs() < 1e-12, "{metric}");
            assert_eq!(of("xxx", "ooo ooo ooo ooo ooo"), 0.0, "{metric}");
        }
        assert_eq!(similarity("cosine", "a", "a"), Ok(None));
        assert!(similarity("fuzzy_match", &"a".repeat(30_000), "a").is_err());
    }

    #[test]
    fn known_values_are_reproduced() {
        let of =
            |metric: &str, text: &str, reference: &str| similarity(metric, text, reference).unwrap().unwrap();
        // Two of three words match, and one of two pairs.
        assert!((of("rouge_1", "the cat slept", "the cat sat") - 2.0 / 3.0).abs() < 1e-12);
        assert!((of("rouge_2", "the cat slept", "the cat sat") - 0.5).abs() < 1e-12);
        assert!((of("rouge_l", "the slept cat", "the cat") - 0.8).abs() < 1e-12);
        // `this is a test` has 14 letters, and all of them are in order among the 15 of the other text.
        assert!((of("fuzzy_match", "this is a test", "this is a test!") - 28.0 / 29.0).abs() < 1e-12);
        // 3 + 2 + 1 of 4 + 3 + 2 + 1 sequences.
        assert!((of("gleu", "a b c x", "a b c d") - 0.6).abs() < 1e-12);
        // Half as long: exp(1 - 8/4).
        assert!((of("bleu", "a b c d", "a b c d e f g h") - (-1.0_f64).exp()).abs() < 1e-12);
    }
}
