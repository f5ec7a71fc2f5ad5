//! Properties that hold for every panel.

use crate::{PanelDecision, PanelResult, PanelRule, PanelVote, TiePolicy, VoteValue, combine_votes};
use proptest::prelude::*;

/// A panel: its votes, whether they are on met and unmet, and whether the criterion may not apply.
#[derive(Debug, Clone)]
struct Panel {
    votes: Vec<PanelVote>,
    binary: bool,
    may_not_apply: bool,
}

impl Panel {
    fn decide(&self, rule: PanelRule, ties: TiePolicy) -> PanelDecision {
        combine_votes(&self.votes, self.binary, self.may_not_apply, rule, ties)
    }

    /// All combinations of values that the missing votes could have had.
    fn completions(&self) -> Vec<Self> {
        let mut values: Vec<VoteValue> = if self.binary {
            vec![VoteValue::Value(0.0), VoteValue::Value(1.0)]
        } else {
            (0..=10u8).map(|raw| VoteValue::Value(f64::from(raw) / 10.0)).collect()
        };
        if self.may_not_apply {
            values.push(VoteValue::NotApplicable);
        }
        let mut all = vec![self.clone()];
        for at in 0..self.votes.len() {
            if self.votes[at].value == VoteValue::Missing {
                all = all
                    .iter()
                    .flat_map(|panel| {
                        values.iter().map(|&cast| {
                            let mut panel = panel.clone();
                            panel.votes[at].value = cast;
                            panel
                        })
                    })
                    .collect();
            }
        }
        all
    }
}

fn panel() -> impl Strategy<Value = Panel> {
    (any::<bool>(), any::<bool>()).prop_flat_map(|(binary, may_not_apply)| {
        let value = if binary {
            (0..=1u8).prop_map(f64::from).boxed()
        } else {
            (0..=10u8).prop_map(|raw| f64::from(raw) / 10.0).boxed()
        };
        let abstention = u32::from(may_not_apply);
        let cast = prop_oneof![
            6 => value.prop_map(VoteValue::Value),
            abstention => Just(VoteValue::NotApplicable),
        ];
        let weight = prop_oneof![Just(1.0), Just(2.0), 0.1..5.0f64];
        let votes = prop::collection::vec((cast, weight), 1..7);
        // At most two votes are missing, so that all completions can be tested.
        (votes, prop::collection::vec(any::<prop::sample::Index>(), 0..3)).prop_map(
            move |(votes, missing)| {
                let mut votes: Vec<PanelVote> =
                    votes.into_iter().map(|(cast, weight)| PanelVote { value: cast, weight }).collect();
                for index in missing {
                    let at = index.index(votes.len());
                    votes[at].value = VoteValue::Missing;
                }
                Panel { votes, binary, may_not_apply }
            },
        )
    })
}

fn rule() -> impl Strategy<Value = PanelRule> {
    prop::sample::select(PanelRule::ALL.to_vec())
}

fn ties() -> impl Strategy<Value = TiePolicy> {
    prop::sample::select(vec![TiePolicy::Ungraded, TiePolicy::Fail, TiePolicy::Pass])
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9
}

fn same(a: PanelResult, b: PanelResult) -> bool {
    match (a, b) {
        (PanelResult::Value(a), PanelResult::Value(b)) => close(a, b),
        (a, b) => a == b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn the_order_of_votes_does_not_matter(panel in panel(), rule in rule(), ties in ties(), by in any::<prop::sample::Index>()) {
        let before = panel.decide(rule, ties);
        let mut turned = panel.clone();
        let at = by.index(turned.votes.len());
        turned.votes.rotate_left(at);
        turned.votes.reverse();
        prop_assert_eq!(before, turned.decide(rule, ties));
    }

    #[test]
    fn a_decision_stands_whatever_the_missing_votes_are(panel in panel(), rule in rule(), ties in ties()) {
        let decision = panel.decide(rule, ties);
        let completions = panel.completions();
        for completion in &completions {
            let complete = completion.decide(rule, ties);
            prop_assert!(complete.result != PanelResult::Open, "complete votes decide: {:?}", completion);
            if decision.result != PanelResult::Open {
                prop_assert!(same(decision.result, complete.result), "{:?} {:?}", decision, complete);
            }
            if let PanelResult::Value(value) = complete.result {
                prop_assert!(
                    decision.low <= value + 1e-9 && value <= decision.high + 1e-9,
                    "{:?} {:?}", decision, complete
                );
            }
        }
        // A result is open only if some completion would change it.
        if decision.result == PanelResult::Open {
            let first = completions[0].decide(rule, ties).result;
            prop_assert!(
                completions.iter().any(|other| !same(first, other.decide(rule, ties).result)),
                "{:?}", panel
            );
        }
    }

    #[test]
    fn unanimity_is_a_majority_and_a_majority_is_somebody(mut panel in panel(), ties in ties()) {
        panel.binary = true;
        for vote in &mut panel.votes {
            if let VoteValue::Value(value) = &mut vote.value {
                *value = f64::from(u8::from(*value >= 0.5));
            }
        }
        let met = |rule| panel.decide(rule, ties).result == PanelResult::Value(1.0);
        let (all, most, any) = (met(PanelRule::Unanimous), met(PanelRule::Majority), met(PanelRule::Any));
        prop_assert!(!all || most);
        prop_assert!(!most || any);
        for rule in [PanelRule::Mean, PanelRule::Median] {
            prop_assert_eq!(panel.decide(rule, ties).result, panel.decide(PanelRule::Majority, ties).result);
        }
    }

    #[test]
    fn one_more_vote_for_it_never_counts_against_it(panel in panel(), rule in rule(), ties in ties(), at in any::<prop::sample::Index>()) {
        // The most frequent score may become lower when another vote becomes higher.
        prop_assume!(panel.binary || rule != PanelRule::Majority);
        let mut better = panel.clone();
        let at = at.index(better.votes.len());
        prop_assume!(matches!(better.votes[at].value, VoteValue::Value(_)));
        better.votes[at].value = VoteValue::Value(1.0);
        let (before, after) = (panel.decide(rule, ties), better.decide(rule, ties));
        prop_assert!(after.low >= before.low - 1e-9 && after.high >= before.high - 1e-9, "{:?} {:?}", before, after);
    }
}
