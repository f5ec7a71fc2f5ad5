//! The metrics pass@k and pass^k: the probability that at least one of k attempts passes, and that all k
//! pass.

use crate::{ConfidenceLevel, MeanAccumulator, MeanEstimate, UndefinedReason, bounded_mean};

/// Estimates for k attempts from n attempts, if c of these passed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassK {
    /// Probability that at least one of k passes: pass@k.
    pub any: f64,
    /// Probability that all k pass: pass^k.
    pub all: f64,
}

/// Computes unbiased estimates for one task, `1 - C(n - c, k) / C(n, k)` and `C(c, k) / C(n, k)`. The k
/// attempts are drawn from the n attempts made, so k must not exceed n. Sources: M. Chen et al., "Evaluating
/// Large Language Models Trained on Code", arXiv 2107.03374, equation 1; S. Yao et al., tau-bench, arXiv
/// 2406.12045, section 3.
pub fn pass_k(attempts: u64, passed: u64, k: u64) -> Result<PassK, UndefinedReason> {
    if attempts == 0 || k == 0 {
        return Err(UndefinedReason::NoValues);
    }
    if passed > attempts {
        return Err(UndefinedReason::MoreSuccessesThanTrials);
    }
    if k > attempts {
        return Err(UndefinedReason::MoreDrawsThanAttempts);
    }

    let any = -log_ratio(attempts, attempts - passed, k).exp_m1();
    let all = log_ratio(attempts, passed, k).exp();
    Ok(PassK { any: any.clamp(0.0, 1.0), all: all.clamp(0.0, 1.0) })
}

/// Computes `ln(C(some, k) / C(all, k))`, minus infinity if k exceeds `some`. It is a sum over the k draws or over the
/// rest, depending on which are fewer.
fn log_ratio(all: u64, some: u64, k: u64) -> f64 {
    if k > some {
        return f64::NEG_INFINITY;
    }

    let rest = all - some;
    // C(some, k) / C(all, k) stays the same if k and the rest are exchanged.
    let (few, many) = if k < rest { (k, rest) } else { (rest, k) };
    let mut sum = 0.0;
    for index in 0..few {
        sum += (-(many as f64) / (all - index) as f64).ln_1p();
        // Below this, the exponential is 0.
        if sum < -800.0 {
            return f64::NEG_INFINITY;
        }
    }

    sum
}

/// Means of pass@k and pass^k over tasks, with intervals over tasks that stay within 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanPassK {
    /// Mean pass@k.
    pub any: MeanEstimate,
    /// Mean pass^k.
    pub all: MeanEstimate,
}

/// Computes the means of pass@k and pass^k over tasks `(attempts, passed)`. Undefined if any task has fewer
/// than k attempts, because excluding it would change the population of the mean.
pub fn mean_pass_k(
    tasks: &[(u64, u64)],
    k: u64,
    level: ConfidenceLevel,
) -> Result<MeanPassK, UndefinedReason> {
    let (mut any, mut all) = (Vec::with_capacity(tasks.len()), Vec::with_capacity(tasks.len()));
    for &(attempts, passed) in tasks {
        let task = pass_k(attempts, passed, k)?;
        any.push(task.any);
        all.push(task.all);
    }

    if tasks.is_empty() {
        Err(UndefinedReason::NoValues)
    } else {
        Ok(MeanPassK { any: mean_chance(&any, level), all: mean_chance(&all, level) })
    }
}

fn mean_chance(chances: &[f64], level: ConfidenceLevel) -> MeanEstimate {
    let interval = bounded_mean(chances, (0.0, 1.0), level).and_then(|found| found.interval);
    MeanEstimate { interval, ..chances.iter().copied().collect::<MeanAccumulator>().mean(level) }
}
