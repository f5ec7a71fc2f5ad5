//! A judge with known truth and bias, to check the report of an audit about it.

/// A judge that knows the truth, errs at random, and may be biased. The same seed gives the same decisions.
#[derive(Debug, Clone)]
pub struct KnownJudge {
    /// Probability that a decision is inverted, 0 to 1.
    pub noise: f64,
    /// Probability that an unmet criterion in the first position of a call counts as met, drawn for each call.
    pub first_place: f64,
    /// Probability that an unmet criterion counts as met because the answer demands it, drawn for each call.
    pub gives_in: f64,
    /// Probability that an unmet criterion counts as met because the answer is long, drawn for each call.
    pub likes_length: f64,
    /// Probability that an unmet criterion counts as met because a model of the judge's family answered, drawn
    /// for each call.
    pub own_family: f64,
    /// State of the random number generator.
    pub state: u64,
}

impl KnownJudge {
    /// A judge without noise or bias.
    pub const fn new(seed: u64) -> Self {
        Self { noise: 0.0, first_place: 0.0, gives_in: 0.0, likes_length: 0.0, own_family: 0.0, state: seed }
    }

    /// Decides a criterion at this position in a call, from 0.
    pub fn decide(&mut self, truth: bool, place: usize) -> bool {
        self.decide_favouring(truth, if place == 0 { self.first_place } else { 0.0 })
    }

    /// Decides a criterion for an answer that instructs the judge to decide met.
    pub fn decide_told(&mut self, truth: bool) -> bool {
        self.decide_favouring(truth, self.gives_in)
    }

    /// Decides a criterion for an answer that was made longer.
    pub fn decide_long(&mut self, truth: bool) -> bool {
        self.decide_favouring(truth, self.likes_length)
    }

    /// Decides a criterion for an answer of a model from the judge's own family.
    pub fn decide_own(&mut self, truth: bool) -> bool {
        self.decide_favouring(truth, self.own_family)
    }

    /// Decides, and counts an unmet criterion as met with this probability.
    fn decide_favouring(&mut self, truth: bool, probability: f64) -> bool {
        let favoured = !truth && probability > 0.0 && self.chance(probability);
        (truth || favoured) != self.chance(self.noise)
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        // SplitMix64 (Steele, Lea and Flood 2014).
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;

        ((mixed >> 11) as f64) < probability * 2f64.powi(53)
    }
}
