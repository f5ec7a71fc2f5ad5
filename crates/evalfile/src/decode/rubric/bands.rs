//! Decoder of both forms of `score_ranges`.

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapEntry, MapReader, NodeValue, TreeNode, codes, string, wrong_type};
use assize_rubric::{RawScore, ScoreBand, ScoreBands, ScoreBandsError};

use super::criterion_text::decode_criterion_text;
use crate::decode::DecodeContext;

/// Score bands with their spans, and the span of the whole.
struct BandsDraft {
    bands: Vec<ScoreBand>,
    places: Vec<Span>,
    /// Spans of the texts.
    texts: Vec<Span>,
    whole: Span,
    /// True if a range could not be decoded. Then gaps are not reported, because the range might fill them.
    partial: bool,
    /// True after any error.
    broken: bool,
}

/// Decodes `score_ranges` in either form. Returns the bands and the spans of their texts. Every violation is
/// reported; after any, returns `None`.
pub(super) fn decode_bands(cx: &mut DecodeContext, entry: &MapEntry) -> Option<(ScoreBands, Vec<Span>)> {
    let mut draft = BandsDraft {
        bands: Vec::new(),
        places: Vec::new(),
        texts: Vec::new(),
        whole: entry.key_span,
        partial: false,
        broken: false,
    };
    match &entry.value.data {
        NodeValue::Seq(items) => decode_range_list(cx, items, &mut draft),
        NodeValue::Map(entries) => decode_range_map(cx, entries, &mut draft),
        _ => {
            return wrong_type(&entry.value, "`score_ranges`", "a list or a map")
                .with_help("list: `- score_range: [0, 4]` with a text; map: `0: text of the lowest range`")
                .reject_in(&mut cx.problems);
        }
    }

    draft.check(cx)
}

fn decode_range_list(cx: &mut DecodeContext, items: &[TreeNode], draft: &mut BandsDraft) {
    for item in items {
        let errors = cx.problems.error_count();
        let Some(mut object) = MapReader::new(item, "a score range", &mut cx.problems) else {
            draft.partial = true;
            draft.broken = true;
            continue;
        };
        let range = if let Some(written) = object.entry("score_range") {
            decode_range(cx, &written.value).map(|range| (range, written.value.use_span()))
        } else {
            Diagnostic::error(codes::MISSING_SETTING, "a score range needs `score_range`")
                .at(object.head(), "no bounds")
                .with_help("write `score_range: [LOW, HIGH]`, for example `[0, 4]`")
                .reject_in(&mut cx.problems)
        };

        let text = decode_criterion_text(cx, &mut object, false);
        if text.is_none() && cx.problems.error_count() == errors {
            Diagnostic::error(codes::MISSING_TEXT, "a score range needs a text")
                .at(object.head(), "what does an answer in this range look like?")
                .with_help(format!("add `{}`", super::criterion_text::text_key(cx.format)))
                .add_to(&mut cx.problems);
        }

        object.finish(&mut cx.problems);

        match range {
            Some(((low, high), place)) => {
                // A missing text has been reported. The range still counts for gaps and overlaps.
                draft.texts.push(text.as_ref().map_or(place, |text| text.span));
                let text = text.map_or_else(|| "-".to_owned(), |text| text.value);
                draft.bands.push(ScoreBand { low, high, text });
                draft.places.push(place);
            }
            None => draft.partial = true,
        }

        draft.broken |= cx.problems.error_count() > errors;
    }
}

/// Decodes `[low, high]`.
fn decode_range(cx: &mut DecodeContext, node: &TreeNode) -> Option<(RawScore, RawScore)> {
    let bounds = match &node.data {
        NodeValue::Seq(items) if items.len() == 2 => {
            let low = decode_raw_score(cx, &items[0]);
            let high = decode_raw_score(cx, &items[1]);
            return Some((low?, high?));
        }
        NodeValue::Str(text) => text
            .split_once(['-', '–'])
            .or_else(|| text.split_once(".."))
            .and_then(|(low, high)| Some((low.trim().parse::<u8>().ok()?, high.trim().parse::<u8>().ok()?))),
        NodeValue::Int(value) => u8::try_from(*value).ok().map(|value| (value, value)),
        _ => None,
    };

    let found = match &node.data {
        NodeValue::Seq(items) => format!("found a list of {}", items.len()),
        _ => format!("found {}", node.type_name()),
    };
    let mut diagnostic =
        Diagnostic::error(codes::BAD_SCORE_RANGE, "`score_range` must be a list of two whole numbers")
            .at(node.use_span(), found)
            .with_help("write the lowest and the highest score: `[0, 4]`");
    if let Some((low, high)) = bounds {
        diagnostic = diagnostic.with_suggestion("write a list", node.use_span(), format!("[{low}, {high}]"));
    }

    cx.problems.reject(diagnostic)
}

fn decode_raw_score(cx: &mut DecodeContext, node: &TreeNode) -> Option<RawScore> {
    let whole = match node.data {
        NodeValue::Int(value) => Some(value),
        NodeValue::Float(value) if value.fract() == 0.0 && value.abs() < 1e6 => Some(value as i64),
        _ => None,
    };
    let score = whole.and_then(|value| u8::try_from(value).ok()).and_then(|value| RawScore::new(value).ok());
    if score.is_none() {
        let found = match (whole, &node.data) {
            (Some(value), _) => format!("found {value}"),
            (None, NodeValue::Float(value)) => format!("found {value}"),
            _ => format!("found {}", node.type_name()),
        };
        Diagnostic::error(codes::BAD_SCORE_RANGE, "scores are whole numbers from 0 to 10")
            .at(node.use_span(), found)
            .with_help("ranges are whole numbers from 0 to 10, inclusive")
            .add_to(&mut cx.problems);
    }

    score
}

/// Decodes the map form: each key is the lowest score of a band, which ends before the next key.
fn decode_range_map(cx: &mut DecodeContext, entries: &[MapEntry], draft: &mut BandsDraft) {
    let mut starts: Vec<(RawScore, String, Span, Span)> = Vec::new();
    for entry in entries.iter().filter(|entry| !entry.key.starts_with("x-")) {
        let key = entry.key.trim().parse::<u8>().ok().and_then(|value| RawScore::new(value).ok());
        if key.is_none() {
            let mut diagnostic = Diagnostic::error(
                codes::BAD_SCORE_RANGE,
                "a key of `score_ranges` must be a whole number from 0 to 10",
            )
            .at(entry.key_span, format!("found `{}`", entry.key));

            diagnostic = if entry.key.contains('-') {
                diagnostic
                    .with_help("the key is the lowest score of the range, which ends before the next key")
            } else {
                diagnostic.with_help("write the lowest score of the range as the key")
            };
            cx.problems.add(diagnostic);
            draft.broken = true;
        }

        let text = match string(&entry.value, &entry.key, &mut cx.problems) {
            Some(text) if !text.value.trim().is_empty() => Some(text.value),
            Some(_) => Diagnostic::error(
                codes::EMPTY_TEXT,
                format!("the text of score range `{}` is empty", entry.key),
            )
            .at(entry.value.use_span(), "nothing here")
            .with_help("say what an answer in this range looks like")
            .reject_in(&mut cx.problems),
            None => None,
        };

        draft.broken |= text.is_none();

        if let Some(key) = key {
            starts.push((
                key,
                text.unwrap_or_else(|| "-".to_owned()),
                entry.key_span,
                entry.value.use_span(),
            ));
        }
    }

    // If no key is valid, missing scores can't be determined.
    draft.partial |= starts.is_empty() && draft.broken;
    starts.sort_by_key(|(key, ..)| *key);

    for pair in starts.windows(2) {
        if pair[0].0 == pair[1].0 {
            draft.broken = true;
            Diagnostic::error(
                codes::RANGES_OVERLAP,
                format!("two score ranges begin at {}", pair[0].0.get()),
            )
            .at(pair[1].2, "second time")
            .with_secondary(pair[0].2, "first time")
            .with_help("keep one of them")
            .add_to(&mut cx.problems);
        }
    }

    starts.dedup_by_key(|(key, ..)| *key);
    let mut high = RawScore::MAX.get();
    for (low, text, place, text_place) in starts.into_iter().rev() {
        if let Ok(last) = RawScore::new(high) {
            draft.bands.push(ScoreBand { low, high: last, text });
            draft.places.push(place);
            draft.texts.push(text_place);
        }
        high = low.get().saturating_sub(1);
    }

    // The keys are unique and sorted now, so the only possible gap is before the first one.
    draft.bands.reverse();
    draft.places.reverse();

    draft.texts.reverse();
}

impl BandsDraft {
    fn check(mut self, cx: &mut DecodeContext) -> Option<(ScoreBands, Vec<Span>)> {
        if self.bands.is_empty() && self.partial {
            return None;
        }

        let mut texts: Vec<(RawScore, Span)> =
            self.bands.iter().map(|band| band.low).zip(self.texts.iter().copied()).collect();
        texts.sort_by_key(|(low, _)| *low);

        let texts = texts.into_iter().map(|(_, span)| span).collect();
        let errors = match ScoreBands::new(std::mem::take(&mut self.bands)) {
            Ok(bands) => return (!self.broken).then_some((bands, texts)),
            Err(errors) => errors,
        };
        cx.problems.extend(errors.iter().filter_map(|error| self.complaint(error)));

        None
    }

    fn complaint(&self, error: &ScoreBandsError) -> Option<Diagnostic> {
        let diagnostic = match *error {
            ScoreBandsError::Empty => Diagnostic::error(codes::RANGES_GAP, "`score_ranges` is empty")
                .at(self.whole, "no ranges here")
                .with_help("describe the scores 0 to 10, or remove the key for a checklist criterion"),
            ScoreBandsError::Reversed(index) => {
                Diagnostic::error(codes::REVERSED_RANGE, "this score range ends before it begins")
                    .at(self.places[index], "the first number is larger than the second")
                    .with_help("write the lower score first")
            }
            ScoreBandsError::Overlap(first, second) => {
                Diagnostic::error(codes::RANGES_OVERLAP, "two score ranges overlap")
                    .at(self.places[second], "this range shares scores with another")
                    .with_secondary(self.places[first], "with this one")
                    .with_help("ranges are inclusive: start the next one higher")
            }
            ScoreBandsError::Gap { .. } if self.partial => return None,
            ScoreBandsError::Gap { low, high, after } => {
                let place =
                    after.map_or(self.places.first().copied().unwrap_or(self.whole), |i| self.places[i]);
                let scores = if low == high {
                    format!("score {low} is")
                } else {
                    format!("scores {low} to {high} are")
                };

                let side = if after.is_some() { "after this range" } else { "before this range" };
                Diagnostic::error(codes::RANGES_GAP, format!("{scores} in no range"))
                    .at(place, format!("gap {side}"))
                    .with_help("the ranges must cover 0 to 10; widen a range or add one")
            }
            // Texts are checked where they are decoded.
            ScoreBandsError::NoText(_) => return None,
        };
        Some(diagnostic)
    }
}

#[cfg(test)]
mod tests {
    use assize_model::EvalFileFormat;

    use super::*;
    use crate::tests::snippets::{complaints, read};

    fn decode(text: &str) -> (Option<ScoreBands>, Vec<(String, usize)>) {
        let (mut cx, node) = read(text);
        let entry = &node.as_map().expect("a map")[0];
        cx.format = EvalFileFormat::One;
        let bands = decode_bands(&mut cx, entry);
        (bands.map(|(bands, _)| bands), complaints(cx))
    }

    fn pairs(bands: &ScoreBands) -> Vec<(u8, u8)> {
        bands.as_slice().iter().map(|band| (band.low.get(), band.high.get())).collect()
    }

    #[test]
    fn the_map_form_ends_each_band_before_the_next_key() {
        let (bands, problems) = decode("score_ranges:\n  0: a\n  10: e\n  3: b\n  5: c\n  7: d\n");
        assert_eq!(problems, vec![]);
        assert_eq!(pairs(&bands.expect("sound")), vec![(0, 2), (3, 4), (5, 6), (7, 9), (10, 10)]);
    }

    #[test]
    fn the_list_form_is_read_in_any_order() {
        let (bands, problems) = decode(
            "score_ranges:\n  - {score_range: [6, 10], expected_outcome: b}\n  - {score_range: [0, 5], description: a}\n",
        );
        assert_eq!(problems, vec![]);
        assert_eq!(pairs(&bands.expect("sound")), vec![(0, 5), (6, 10)]);
    }

    #[test]
    fn every_violation_is_reported_at_its_own_line() {
        let (bands, problems) = decode(
            "score_ranges:\n  - score_range: [1, 3]\n    expected_outcome: a\n  - score_range: [3, 5]\n    expected_outcome: ''\n  - score_range: [7, 10]\n    expected_outcome: c\n",
        );
        assert!(bands.is_none());
        assert_eq!(
            problems,
            vec![("E0211".into(), 2), ("E0210".into(), 4), ("E0211".into(), 4), ("E0107".into(), 5),]
        );
    }

    #[test]
    fn ranges_that_are_no_ranges_hide_gaps_but_not_overlaps() {
        let (_, problems) = decode(
            "score_ranges:\n  - {score_range: 0-2, expected_outcome: a}\n  - {score_range: [3, 7.5], expected_outcome: b}\n  - {score_range: [4, 11], expected_outcome: c}\n  - {score_range: [8, 4], expected_outcome: d}\n  - {score_range: [1], expected_outcome: d}\n  - plain\n",
        );
        let expected = [("E0208", 2), ("E0208", 3), ("E0208", 4), ("E0209", 5), ("E0208", 6), ("E0105", 7)];
        assert_eq!(problems, expected.map(|(code, line)| (code.to_owned(), line)));
    }

    #[test]
    fn the_map_form_must_begin_at_zero_with_whole_numbers_and_texts() {
        let (bands, problems) = decode("score_ranges:\n  1: a\n  5.5: b\n  7: ''\n  12: d\n");
        assert!(bands.is_none());
        let expected = [("E0211", 2), ("E0208", 3), ("E0107", 4), ("E0208", 5)];
        assert_eq!(problems, expected.map(|(code, line)| (code.to_owned(), line)));
        let (_, problems) = decode("score_ranges:\n  2: a\n  5: b\n");
        assert_eq!(problems, vec![("E0211".into(), 2)]);
        let (_, problems) = decode("score_ranges: []\n");
        assert_eq!(problems, vec![("E0211".into(), 1)]);
        let (_, problems) = decode("score_ranges: good\n");
        assert_eq!(problems, vec![("E0105".into(), 1)]);
        let (_, problems) = decode("score_ranges: {0: a, 00: b}\n");
        assert_eq!(problems, vec![("E0210".into(), 1)]);
    }
}
