//! Counted pairs of decisions, with intervals.

use assize_stats::{ConfidenceLevel, proportion, undefined_because};
use serde::Serialize;

use crate::{DecisionChange, DecisionPair, ScaleDecision};

/// A share with Blaker's 95 % interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CountedShare {
    /// Denominator.
    pub n: u64,
    /// Numerator.
    pub count: u64,
    /// The share, 0 to 1; null if `n` is 0.
    pub rate: Option<f64>,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// Confidence level of the interval.
    pub level: f64,
    /// Method of the interval, or the reason why there is no share.
    pub method: String,
}

impl CountedShare {
    /// Computes the share of `count` in `n`.
    pub fn new(count: u64, n: u64) -> Self {
        let found = proportion(count, n, ConfidenceLevel::P95);
        Self {
            n,
            count,
            rate: found.rate.ok(),
            low: found.interval.as_ref().ok().map(|interval| interval.low),
            high: found.interval.as_ref().ok().map(|interval| interval.high),
            level: ConfidenceLevel::P95.get(),
            method: match &found.interval {
                Ok(interval) => interval.method.name().to_owned(),
                Err(reason) => undefined_because(reason),
            },
        }
    }
}

impl CountedShare {
    /// Computes a share of the judgements of a single decision. Several judgements have no interval because
    /// they are not independent.
    pub fn of_one_decision(count: u64, n: u64) -> Self {
        let found = Self::new(count, n);
        if n < 2 {
            return found;
        }
        Self { low: None, high: None, method: ONE_DECISION.to_owned(), ..found }
    }
}

/// Reason why the judgements of one decision have no interval.
const ONE_DECISION: &str = "undefined, because repeats of one decision say nothing about other decisions";

/// Counted effects of a change. Pairs without a decision on one side are counted separately and excluded from
/// the shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PairTally {
    /// Pairs with two decisions.
    pub pairs: u64,
    /// Decisions that became better for the answer.
    pub won: u64,
    /// Decisions that could have become better.
    pub could_win: u64,
    /// Decisions that became worse for the answer.
    pub lost: u64,
    /// Decisions that could have become worse.
    pub could_lose: u64,
    /// Pairs in which only one decision is "not applicable".
    pub other: u64,
    /// Checklist decisions that changed from unmet to met.
    pub unmet_to_met: u64,
    /// Checklist decisions that changed from met to unmet.
    pub met_to_unmet: u64,
    /// Pairs whose unchanged case has no decision.
    pub ungraded_before: u64,
    /// Pairs in which only the modified case has no decision.
    pub ungraded_after: u64,
}

impl PairTally {
    /// Counts a pair.
    pub fn add(&mut self, pair: &DecisionPair) {
        let change = pair.change();
        if change == DecisionChange::Unknown {
            match pair.before {
                ScaleDecision::Ungraded => self.ungraded_before += 1,
                _ => self.ungraded_after += 1,
            }
            return;
        }

        self.pairs += 1;
        self.could_win += u64::from(pair.could_win());
        self.could_lose += u64::from(pair.could_lose());

        match change {
            DecisionChange::Won => self.won += 1,
            DecisionChange::Lost => self.lost += 1,
            DecisionChange::Other => self.other += 1,
            DecisionChange::None | DecisionChange::Unknown => {}
        }

        if pair.is_checklist && matches!(change, DecisionChange::Won | DecisionChange::Lost) {
            let up = matches!(pair.after, ScaleDecision::Step { at: 1, .. });
            *(if up { &mut self.unmet_to_met } else { &mut self.met_to_unmet }) += 1;
        }
    }

    /// Returns the number of pairs without a decision on one side.
    pub fn ungraded(&self) -> u64 {
        self.ungraded_before + self.ungraded_after
    }

    /// Returns the share of changed decisions.
    pub fn flip_rate(&self) -> CountedShare {
        CountedShare::new(self.won + self.lost + self.other, self.pairs)
    }

    /// Returns the share of decisions that became better for the answer, among those that could.
    pub fn win_rate(&self) -> CountedShare {
        CountedShare::new(self.won, self.could_win)
    }

    /// Returns the share of decisions that became worse for the answer, among those that could.
    pub fn loss_rate(&self) -> CountedShare {
        CountedShare::new(self.lost, self.could_lose)
    }

    /// Converts the tally of many decisions to JSON.
    pub fn to_json(&self) -> serde_json::Value {
        self.json(CountedShare::new)
    }

    /// Converts the tally of the judgements of a single decision to JSON.
    pub fn to_json_of_one_decision(&self) -> serde_json::Value {
        self.json(CountedShare::of_one_decision)
    }

    fn json(&self, share: fn(u64, u64) -> CountedShare) -> serde_json::Value {
        let to_share = |found: CountedShare| share(found.count, found.n);
        serde_json::json!({
            "pairs": self.pairs,
            "flips": to_share(self.flip_rate()),
            "won": to_share(self.win_rate()),
            "lost": to_share(self.loss_rate()),
            "other": self.other,
            "unmet_to_met": self.unmet_to_met,
            "met_to_unmet": self.met_to_unmet,
            "ungraded_before": self.ungraded_before,
            "ungraded_after": self.ungraded_after,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MET: ScaleDecision = ScaleDecision::Step { at: 1, top: 1 };
    const UNMET: ScaleDecision = ScaleDecision::Step { at: 0, top: 1 };

    fn pair(before: ScaleDecision, after: ScaleDecision, costs: bool) -> DecisionPair {
        let is_checklist = !matches!(before, ScaleDecision::Step { top: 2.., .. });
        let text = || "x".to_owned();
        let criterion = (text(), text());
        DecisionPair {
            case: text(),
            suite: text(),
            label: text(),
            criterion,
            text: text(),
            before,
            after,
            costs,
            is_checklist,
        }
    }

    fn tally(pairs: &[DecisionPair]) -> PairTally {
        let mut tally = PairTally::default();
        for pair in pairs {
            tally.add(pair);
        }
        tally
    }

    #[test]
    fn directions_are_told_apart_and_penalties_turn_them_around() {
        let found = tally(&[
            pair(UNMET, MET, false),
            pair(UNMET, UNMET, false),
            pair(MET, UNMET, false),
            pair(MET, UNMET, true),
            pair(UNMET, MET, true),
        ]);
        assert_eq!((found.pairs, found.won, found.lost), (5, 2, 2));
        assert_eq!((found.could_win, found.could_lose), (3, 2));
        assert_eq!((found.unmet_to_met, found.met_to_unmet), (2, 2));
        assert_eq!((found.flip_rate().count, found.win_rate().n), (4, 3));
    }

    #[test]
    fn a_score_flips_only_when_its_range_changes() {
        let at = |at| ScaleDecision::Step { at, top: 2 };
        let found = tally(&[pair(at(1), at(1), false), pair(at(1), at(2), false), pair(at(2), at(0), false)]);
        assert_eq!((found.won, found.could_win, found.lost, found.could_lose), (1, 2, 1, 3));
        assert_eq!((found.unmet_to_met, found.met_to_unmet), (0, 0));
    }

    #[test]
    fn showings_of_one_decision_have_no_interval() {
        let shown: Vec<DecisionPair> = (0..26).map(|_| pair(UNMET, UNMET, false)).collect();
        let won = tally(&shown).to_json_of_one_decision()["won"].clone();
        assert_eq!(
            (&won["rate"], &won["low"], &won["high"]),
            (&0.0.into(), &None::<f64>.into(), &None::<f64>.into())
        );
        assert!(won["method"].as_str().is_some_and(|why| why.starts_with("undefined, because ")), "{won}");
        assert!(tally(&shown[..1]).to_json_of_one_decision()["won"]["low"].is_number());
    }

    #[test]
    fn missing_decisions_are_part_of_no_share() {
        let found = tally(&[
            pair(ScaleDecision::Ungraded, MET, false),
            pair(UNMET, ScaleDecision::Ungraded, false),
            pair(ScaleDecision::Ungraded, ScaleDecision::Ungraded, false),
            pair(UNMET, ScaleDecision::NotApplicable, false),
            pair(ScaleDecision::NotApplicable, ScaleDecision::NotApplicable, false),
        ]);
        assert_eq!((found.pairs, found.other, found.won), (2, 1, 0));
        assert_eq!((found.ungraded_before, found.ungraded_after), (2, 1));
        let none = PairTally::default().flip_rate();
        assert_eq!((none.rate, none.low), (None, None));
        assert!(none.method.starts_with("undefined, because "));
    }
}
