//! Cuts a long answer into parts, and merges the decisions on them.

use std::cmp::Ordering;

use assize_llm::TokenEstimator;
use assize_rubric::{Criterion, CriterionOperator, CriterionScale, Decision, Outcome};

/// A part repeats the end of the previous part up to the length of a part divided by this.
const OVERLAP: u64 = 8;

/// The parts of a text, each within the room, cut between paragraphs if possible, otherwise between lines or
/// words. Each part except the first begins with the last paragraphs of the previous one, up to an eighth of
/// the room. Every character is in some part.
pub(super) fn split_text(text: &str, room: u64) -> Vec<&str> {
    let overlap = room / OVERLAP;
    let mut units = Vec::new();
    split_unit(text, 0, room - overlap, 0, &mut units);
    let mut parts = Vec::new();
    let mut first = 0;
    while first < units.len() {
        let mut end = first;
        let mut used = 0;

        // A part has at least one unit, because otherwise there would be no progress.
        while end < units.len() && (end == first || used + token_weight(units[end].1) <= room) {
            used += token_weight(units[end].1);
            end += 1;
        }

        let from = units[first].0;
        let to = units[end - 1].0 + units[end - 1].1.len();
        parts.push(&text[from..to]);

        if end == units.len() {
            break;
        }

        let mut repeated = 0;
        let mut next = end;
        while next > first + 1 && repeated + token_weight(units[next - 1].1) <= overlap {
            next -= 1;
            repeated += token_weight(units[next].1);
        }

        first = next;
    }

    if parts.is_empty() { vec![text] } else { parts }
}

/// Splits a text into pieces that fit the room, with their offsets: paragraphs if they fit, otherwise lines,
/// words, or characters.
fn split_unit<'a>(text: &'a str, at: usize, room: u64, level: usize, out: &mut Vec<(usize, &'a str)>) {
    const ENDS: [&str; 3] = ["\n\n", "\n", " "];

    if token_weight(text) <= room && level > 0 {
        out.push((at, text));
        return;
    }

    if let Some(end) = ENDS.get(level) {
        let mut place = at;
        for piece in text.split_inclusive(end) {
            split_unit(piece, place, room, level + 1, out);
            place += piece.len();
        }

        return;
    }

    let (mut begin, mut used) = (0, 0);
    for (index, c) in text.char_indices() {
        let weight = TokenEstimator::weight(c);
        if used + weight > room && index > begin {
            out.push((at + begin, &text[begin..index]));
            (begin, used) = (index, 0);
        }

        used += weight;
    }

    if begin < text.len() {
        out.push((at + begin, &text[begin..]));
    }
}

/// Merges the decisions on the parts, given in order.
///
/// A criterion that looks for something is met if any part meets it; a scored one gets the highest score of any part. A
/// statement that nothing may contradict is unmet if any part contradicts it. A decision that no other part can
/// overturn stands, even if other parts could not be judged. Otherwise, a part that could not be judged leaves the
/// criterion ungraded. Parts to which the criterion does not apply don't count.
pub(super) fn merge_parts(criterion: &Criterion, parts: Vec<Decision>) -> Option<Decision> {
    let count = parts.len();
    let chosen = choose_deciding_part(criterion, &parts.iter().map(Decision::outcome).collect::<Vec<_>>())?;
    let mut merged = parts.get(chosen)?.clone();
    if count > 1 {
        merged.reason = format!("part {} of {count}: {}", chosen + 1, merged.reason);
        if let Some(ungraded) = &mut merged.ungraded {
            ungraded.message = format!("part {} of {count}: {}", chosen + 1, ungraded.message);
        }
    }

    for (index, part) in parts.into_iter().enumerate() {
        let spent = std::mem::take(&mut merged.spent);
        merged.spent = match index.cmp(&chosen) {
            Ordering::Less => part.spent.combined_with(spent),
            Ordering::Equal => spent,
            Ordering::Greater => spent.combined_with(part.spent),
        };
    }

    Some(merged)
}

/// The part whose decision stands.
fn choose_deciding_part(criterion: &Criterion, outcomes: &[Outcome]) -> Option<usize> {
    let find = |wanted: &dyn Fn(Outcome) -> bool| outcomes.iter().position(|outcome| wanted(*outcome));
    let ungraded = find(&|outcome| outcome == Outcome::Ungraded);
    let settled = match (&criterion.scale, criterion.operator) {
        (CriterionScale::Bands(_), _) => {
            let score = |index: &usize| outcomes[*index].raw_score();
            // The first of the parts with the highest score.
            let best = (0..outcomes.len()).filter(|index| score(index).is_some()).rev().max_by_key(score);
            best.filter(|index| ungraded.is_none() || score(index).is_some_and(|raw| raw.get() == 10))
        }
        (CriterionScale::Checklist, CriterionOperator::Correctness) => {
            find(&|outcome| outcome == Outcome::Met)
                .or_else(|| find(&|outcome| outcome == Outcome::Unmet).filter(|_| ungraded.is_none()))
        }
        (CriterionScale::Checklist, CriterionOperator::Contradiction) => {
            find(&|outcome| outcome == Outcome::Unmet)
                .or_else(|| find(&|outcome| outcome == Outcome::Met).filter(|_| ungraded.is_none()))
        }
    };
    settled.or(ungraded).or_else(|| find(&|outcome| outcome == Outcome::NotApplicable))
}

pub(super) fn token_weight(text: &str) -> u64 {
    text.chars().map(TokenEstimator::weight).sum()
}

#[cfg(test)]
mod tests {
    use assize_rubric::{RawScore, ScoreBand, ScoreBands};
    use proptest::prelude::*;

    use super::*;

    fn bands() -> Criterion {
        let band = |low, high| ScoreBand {
            low: RawScore::new(low).unwrap(),
            high: RawScore::new(high).unwrap(),
            text: "t".into(),
        };
        let scale = CriterionScale::Bands(ScoreBands::new(vec![band(0, 4), band(5, 10)]).unwrap());
        Criterion { scale, ..Criterion::checklist("a", "text") }
    }

    #[test]
    fn one_part_is_enough_to_find_something() {
        use Outcome::{Met, NotApplicable, Ungraded, Unmet};
        let scored = |raw| Outcome::Scored(RawScore::new(raw).unwrap());
        let correct = Criterion::checklist("a", "text");
        let contradiction = Criterion { operator: CriterionOperator::Contradiction, ..correct.clone() };
        let table: [(&Criterion, &[Outcome], usize); 12] = [
            (&correct, &[Unmet, Met, Unmet], 1),
            (&correct, &[Ungraded, Met], 1),
            (&correct, &[Unmet, Ungraded], 1),
            (&correct, &[NotApplicable, Unmet], 1),
            (&correct, &[NotApplicable, NotApplicable], 0),
            (&contradiction, &[Met, Unmet, Met], 1),
            (&contradiction, &[Ungraded, Unmet], 1),
            (&contradiction, &[Met, Ungraded], 1),
            (&contradiction, &[Met, Met], 0),
            (&bands(), &[scored(3), scored(7), scored(7)], 1),
            (&bands(), &[scored(9), Ungraded], 1),
            (&bands(), &[scored(10), Ungraded], 0),
        ];
        for (criterion, outcomes, chosen) in table {
            assert_eq!(choose_deciding_part(criterion, outcomes), Some(chosen), "{outcomes:?}");
        }
    }

    #[test]
    fn parts_end_between_paragraphs_and_overlap_a_little() {
        let paragraphs: Vec<String> = (0..20).map(|n| format!("Paragraph {n} says something.\n\n")).collect();
        let text = paragraphs.concat();
        let parts = split_text(&text, 500);
        assert!(parts.len() > 2);
        for part in &parts {
            assert!(part.starts_with("Paragraph") && part.ends_with("\n\n"), "{part:?}");
            assert!(token_weight(part) <= 500);
        }
        let second_begins = parts[1].split_inclusive("\n\n").next().unwrap();
        assert!(parts[0].ends_with(second_begins));
    }

    proptest! {
        #[test]
        fn no_character_is_lost_and_no_part_is_too_long(text in "(?s).{0,300}", room in 40u64..400) {
            let parts = split_text(&text, room);
            let mut covered = 0;
            let start = text.as_ptr() as usize;
            for part in &parts {
                let from = part.as_ptr() as usize - start;
                prop_assert!(from <= covered);
                covered = covered.max(from + part.len());
                prop_assert!(token_weight(part) <= room);
            }
            prop_assert_eq!(covered, text.len());
        }
    }
}
