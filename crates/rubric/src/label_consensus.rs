//! Consensus of several people's labels on the same case.

use unicode_normalization::UnicodeNormalization;

use crate::LabelOutcome;

/// Result of people's labels on one question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SettledLabels {
    /// No label decides anything.
    Nothing,
    /// More than half agree: pass, fail, does not apply, or a score, which is the mean of their scores.
    Decided(LabelOutcome),
    /// No more than half agree.
    Differ,
    /// Fewer people have decided than are required.
    TooFew,
}

/// Settles the labels on one question. They must be in the order in which they were given.
///
/// For a named person the last label counts. Labels without a name count as different people. A person who is
/// unsure has no vote. The majority of the votes decides; if the majority gave scores, their mean does.
pub fn settle_labels<'l>(labels: impl IntoIterator<Item = (Option<&'l str>, LabelOutcome)>) -> SettledLabels {
    let votes: Vec<LabelOutcome> = last_words(labels).into_iter().map(|(_, outcome)| outcome).collect();
    let scores: Vec<f64> = votes
        .iter()
        .filter_map(|vote| match vote {
            LabelOutcome::Score(score) => Some(*score),
            _ => None,
        })
        .collect();

    let most = |count: usize| 2 * count > votes.len();

    if votes.is_empty() {
        return SettledLabels::Nothing;
    }
    if most(scores.len()) {
        return SettledLabels::Decided(LabelOutcome::Score(scores.iter().sum::<f64>() / scores.len() as f64));
    }

    [LabelOutcome::Met, LabelOutcome::Unmet, LabelOutcome::NotApplicable]
        .into_iter()
        .find(|wanted| most(votes.iter().filter(|vote| *vote == wanted).count()))
        .map_or(SettledLabels::Differ, SettledLabels::Decided)
}

/// Number of people who decided. Labels without a name may all be from one person, so together they count as
/// one.
pub(crate) fn count_people<'l>(labels: impl IntoIterator<Item = (Option<&'l str>, LabelOutcome)>) -> usize {
    let words = last_words(labels);
    let named = words.iter().filter(|(who, _)| who.is_some()).count();
    named + usize::from(named < words.len())
}

/// Last label of each person, without labels of people who are unsure.
fn last_words<'l>(
    labels: impl IntoIterator<Item = (Option<&'l str>, LabelOutcome)>,
) -> Vec<(Option<String>, LabelOutcome)> {
    let mut last: Vec<(Option<String>, LabelOutcome)> = Vec::new();
    for (who, outcome) in labels {
        let who = who.map(person_key).filter(|who| !who.is_empty());
        match last.iter_mut().find(|(other, _)| who.is_some() && *other == who) {
            Some(word) => word.1 = outcome,
            None => last.push((who, outcome)),
        }
    }

    last.retain(|(_, vote)| *vote != LabelOutcome::Unsure);
    last
}

/// Returns the key of a person. It is the same for all spellings of a name that look alike, regardless of
/// case, composition of accents, and invisible characters.
pub fn person_key(name: &str) -> String {
    name.nfkc().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use LabelOutcome::{Met, NotApplicable, Score, Unmet, Unsure};

    #[test]
    fn the_majority_of_last_words_decides() {
        let of = |labels: &[(&'static str, LabelOutcome)]| {
            settle_labels(
                labels.iter().map(|(who, outcome)| (Some(*who).filter(|who| !who.is_empty()), *outcome)),
            )
        };
        assert_eq!(of(&[]), SettledLabels::Nothing);
        assert_eq!(of(&[("a", Unsure)]), SettledLabels::Nothing);
        assert_eq!(of(&[("a", Met), ("b", Unmet)]), SettledLabels::Differ);
        assert_eq!(of(&[("a", Met), ("b", Unmet), ("c", Unmet)]), SettledLabels::Decided(Unmet));
        assert_eq!(
            of(&[("a", Met), ("b", Unmet), ("a", Unmet)]),
            SettledLabels::Decided(Unmet),
            "a changed their mind"
        );
        assert_eq!(of(&[("a", Met), ("b", Unmet), ("b", Unsure)]), SettledLabels::Decided(Met));
        assert_eq!(of(&[("", Met), ("", Unmet)]), SettledLabels::Differ, "two people without a name are two");
        assert_eq!(of(&[("a", Met), ("b", Unmet), ("c", NotApplicable)]), SettledLabels::Differ);
        assert_eq!(of(&[("a", Score(2.0)), ("b", Score(5.0))]), SettledLabels::Decided(Score(3.5)));
        assert_eq!(of(&[("a", Score(2.0)), ("b", Met)]), SettledLabels::Differ);
    }
}
