//! A seeded generator with a fixed stream, and uniform indices drawn from any generator.

use rand_core::RngCore;

/// The Xoshiro256++ generator, seeded with one number: equal seeds give the same resamples on every machine
/// and in every version. Not for secrets. Source: D. Blackman and S. Vigna, "Scrambled linear pseudorandom
/// number generators", ACM Transactions on Mathematical Software 47 (2021); the state is filled by
/// SplitMix64, as they recommend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeededRandom {
    state: [u64; 4],
}

impl SeededRandom {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        let mut position = seed;
        let state = std::array::from_fn(|_| {
            position = position.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = position;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        });
        Self { state }
    }
}

impl RngCore for SeededRandom {
    fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let result = s0.wrapping_add(*s3).rotate_left(23).wrapping_add(*s0);
        let shifted = *s1 << 17;

        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= shifted;
        *s3 = s3.rotate_left(45);

        result
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
}

/// Uniform random indices below `n`, two per 64-bit draw. Source: D. Lemire, "Fast random integer generation
/// in an interval", ACM Transactions on Modeling and Computer Simulation 29 (2019).
pub(crate) struct RandomIndices<'r, R: ?Sized> {
    random: &'r mut R,
    n: u32,
    /// Products whose low half is below this are rejected, because they would make some indices more likely.
    unfair: u32,
    spare: Option<u32>,
}

impl<'r, R: RngCore + ?Sized> RandomIndices<'r, R> {
    /// Creates the source of indices; `None` if `n` is 0 or above 2^32 - 1.
    pub(crate) fn new(n: usize, random: &'r mut R) -> Option<Self> {
        let n = u32::try_from(n).ok().filter(|&n| n > 0)?;
        Some(Self { random, n, unfair: n.wrapping_neg() % n, spare: None })
    }

    #[inline]
    pub(crate) fn next(&mut self) -> usize {
        loop {
            let word = if let Some(word) = self.spare.take() {
                word
            } else {
                let both = self.random.next_u64();
                self.spare = Some(both as u32);
                (both >> 32) as u32
            };

            let product = u64::from(word) * u64::from(self.n);
            if product as u32 >= self.unfair {
                return (product >> 32) as usize;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        // First outputs of the reference implementation for the state 1, 2, 3, 4.
        let mut random = SeededRandom { state: [1, 2, 3, 4] };
        let found: Vec<u64> = (0..4).map(|_| random.next_u64()).collect();
        assert_eq!(found, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn indices_are_even() {
        let mut random = SeededRandom::new(7);
        let mut indices = RandomIndices::new(5, &mut random).unwrap();
        let mut counts = [0u32; 5];
        for _ in 0..50_000 {
            counts[indices.next()] += 1;
        }
        // Five standard deviations around 10,000.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 450), "{counts:?}");
        assert!(RandomIndices::new(0, &mut random).is_none());
    }
}
