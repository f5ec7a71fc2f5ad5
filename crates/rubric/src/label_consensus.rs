//! Consensus of several people's labels on the same case.

use crate::LabelOutcome;

/// Consensus of people's labels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SettledLabels {
    /// Nobody said anything that decides.
    Nothing,
    /// More than half agree: pass, fail, does not apply, or a score, the mean of theirs.
    Decided(LabelOutcome),
    /// No more than half agree.
    Differ,
    /// Fewer people have decided than the question asks for.
    TooFew,
}

/// Settles labels on one question, in the order in which they were given.
///
/// The last word of a named person counts; who left no name is somebody else each time. Who is unsure has not
/// voted. Then the majority decides, more than half of those who did; of those who gave scores, the mean of
/// their scores counts.
pub fn settle_labels<'l>(labels: impl IntoIterator<Item = (Option<&'l str>, LabelOutcome)>) -> SettledLabels {
    let votes = last_votes(labels);
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

/// Last words of all people who decided, in the order of their first ones.
pub(crate) fn last_votes<'l>(
    labels: impl IntoIterator<Item = (Option<&'l str>, LabelOutcome)>,
) -> Vec<LabelOutcome> {
    let mut last: Vec<(Option<&str>, LabelOutcome)> = Vec::new();
    for (who, outcome) in labels {
        match last.iter_mut().find(|(other, _)| who.is_some() && *other == who) {
            Some(word) => word.1 = outcome,
            None => last.push((who, outcome)),
        }
    }

    last.into_iter().map(|(_, outcome)| outcome).filter(|vote| *vote != LabelOutcome::Unsure).collect()
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
