//! Verdicts of a judge compared with the truth.

use crate::{
    ConfidenceLevel, Proportion, UndefinedReason,
    agreement::{AgreementTable, AgreementWeights, CohenKappa, kappa},
    proportion,
    undefined::{check_lengths, check_not_empty},
};

/// Counts of the judge's verdicts, pass or fail, by the true verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConfusionTable {
    /// Judge pass, truth pass.
    pub true_pass: u64,
    /// Judge pass, truth fail.
    pub false_pass: u64,
    /// Judge fail, truth pass.
    pub false_fail: u64,
    /// Judge fail, truth fail.
    pub true_fail: u64,
}

fn share(part: u64, whole: u64) -> Result<f64, UndefinedReason> {
    if whole == 0 { Err(UndefinedReason::EmptyClass) } else { Ok(part as f64 / whole as f64) }
}

impl ConfusionTable {
    /// Counts verdicts against the truth.
    pub fn from_verdicts(judge: &[bool], truth: &[bool]) -> Result<Self, UndefinedReason> {
        check_lengths(judge.len(), truth.len())?;

        let mut counts = Self::default();
        for verdicts in judge.iter().zip(truth) {
            match verdicts {
                (true, true) => counts.true_pass += 1,
                (true, false) => counts.false_pass += 1,
                (false, true) => counts.false_fail += 1,
                (false, false) => counts.true_fail += 1,
            }
        }

        Ok(counts)
    }

    /// Returns the number of verdicts.
    pub const fn n(self) -> u64 {
        self.truly_pass().saturating_add(self.truly_fail())
    }

    const fn truly_pass(self) -> u64 {
        self.true_pass.saturating_add(self.false_fail)
    }

    const fn truly_fail(self) -> u64 {
        self.true_fail.saturating_add(self.false_pass)
    }

    const fn judged_pass(self) -> u64 {
        self.true_pass.saturating_add(self.false_pass)
    }

    const fn judged_fail(self) -> u64 {
        self.true_fail.saturating_add(self.false_fail)
    }

    /// Returns the table with pass and fail exchanged.
    pub const fn mirrored(self) -> Self {
        Self {
            true_pass: self.true_fail,
            false_pass: self.false_fail,
            false_fail: self.false_pass,
            true_fail: self.true_pass,
        }
    }

    /// Share of right verdicts, with Wilson's interval.
    pub fn accuracy(self, level: ConfidenceLevel) -> Proportion {
        proportion(self.true_pass.saturating_add(self.true_fail), self.n(), level)
    }

    /// Share of true passes that the judge passes (recall), with Wilson's interval. Source: J. Yerushalmy,
    /// Public Health Reports 62 (1947), 1432-1449.
    pub fn sensitivity(self, level: ConfidenceLevel) -> Proportion {
        proportion(self.true_pass, self.truly_pass(), level)
    }

    /// Share of true fails that the judge fails, with Wilson's interval. Source as for
    /// [`sensitivity`](Self::sensitivity).
    pub fn specificity(self, level: ConfidenceLevel) -> Proportion {
        proportion(self.true_fail, self.truly_fail(), level)
    }

    /// Share of the judge's passes that are true passes, with Wilson's interval.
    pub fn precision(self, level: ConfidenceLevel) -> Proportion {
        proportion(self.true_pass, self.judged_pass(), level)
    }

    /// Mean of sensitivity and specificity; needs both classes in the truth. Source: K. Brodersen et al.,
    /// ICPR 2010, 3121-3124.
    pub fn balanced_accuracy(self) -> Result<f64, UndefinedReason> {
        if self.n() == 0 {
            return Err(UndefinedReason::NoValues);
        }

        let pass = share(self.true_pass, self.truly_pass()).map_err(|_| UndefinedReason::OneClass)?;
        let fail = share(self.true_fail, self.truly_fail()).map_err(|_| UndefinedReason::OneClass)?;
        Ok(f64::midpoint(pass, fail))
    }

    /// F1 of passes, `2 TP / (2 TP + FP + FN)`: undefined if neither the judge nor the truth has a pass.
    /// Source: C. van Rijsbergen, Information Retrieval (1979), chapter 7.
    pub fn f1(self) -> Result<f64, UndefinedReason> {
        share(self.true_pass.saturating_mul(2), self.truly_pass().saturating_add(self.judged_pass()))
    }

    /// F1 of fails.
    pub fn f1_fail(self) -> Result<f64, UndefinedReason> {
        self.mirrored().f1()
    }

    /// The mean of `figure` over the classes that occur in the truth or among the verdicts. If the statistic
    /// of such a class is 0/0, because the class never occurs on one side, it counts as 0.
    fn over_classes(self, figure: fn(Self) -> Result<f64, UndefinedReason>) -> Result<f64, UndefinedReason> {
        let classes: Vec<f64> = [self, self.mirrored()]
            .into_iter()
            .filter(|class| class.truly_pass() > 0 || class.judged_pass() > 0)
            .map(|class| figure(class).unwrap_or(0.0))
            .collect();
        check_not_empty(classes.len())?;

        Ok(classes.iter().sum::<f64>() / classes.len() as f64)
    }

    /// Mean F1 of the classes that occur in the truth or among the verdicts; the F1 of a single class if
    /// there is only one. Source: M. Sokolova and G. Lapalme, Information Processing and Management 45
    /// (2009), 427-437.
    pub fn macro_f1(self) -> Result<f64, UndefinedReason> {
        self.over_classes(Self::f1)
    }

    /// Mean precision of the classes that occur; a class never judged counts 0. Source as for
    /// [`macro_f1`](Self::macro_f1).
    pub fn macro_precision(self) -> Result<f64, UndefinedReason> {
        self.over_classes(|class| share(class.true_pass, class.judged_pass()))
    }

    /// Mean recall of the classes that occur; a class judged but never true counts 0. Source as for
    /// [`macro_f1`](Self::macro_f1).
    pub fn macro_recall(self) -> Result<f64, UndefinedReason> {
        self.over_classes(|class| share(class.true_pass, class.truly_pass()))
    }

    /// Matthews' correlation, `(TP TN - FP FN) / sqrt((TP+FP)(TP+FN)(TN+FP)(TN+FN))`: undefined if the
    /// judge or the truth has one class only. Source: B. Matthews, Biochimica et Biophysica Acta 405
    /// (1975), 442-451.
    pub fn matthews(self) -> Result<f64, UndefinedReason> {
        if self.n() == 0 {
            return Err(UndefinedReason::NoValues);
        }

        let margins = [self.judged_pass(), self.truly_pass(), self.truly_fail(), self.judged_fail()];
        if margins.contains(&0) {
            return Err(UndefinedReason::OneClass);
        }

        // Two products of 64-bit counts and their difference fit in 128 bits, so that no digits cancel.
        let right = u128::from(self.true_pass) * u128::from(self.true_fail);
        let wrong = u128::from(self.false_pass) * u128::from(self.false_fail);
        let top = if right >= wrong { (right - wrong) as f64 } else { -((wrong - right) as f64) };
        let bottom: f64 = margins.iter().map(|&margin| (margin as f64).sqrt()).product();

        Ok((top / bottom).clamp(-1.0, 1.0))
    }

    /// Returns the judge's pass rate minus the true one; a positive value is lenient.
    pub fn bias(self) -> Result<f64, UndefinedReason> {
        let judged = share(self.judged_pass(), self.n()).map_err(|_| UndefinedReason::NoValues)?;
        Ok(judged - share(self.truly_pass(), self.n())?)
    }

    /// Gwet's AC1 of judge and truth, `(a - e) / (1 - e)` with a the share of equal verdicts, `e = 2 p (1 - p)` and p
    /// the mean of the two pass rates. Source: K. Gwet, British Journal of Mathematical and Statistical Psychology 61
    /// (2008), 29-48, equations 4 to 6.
    pub fn gwet(self) -> Result<f64, UndefinedReason> {
        let n = self.n() as f64;
        if n == 0.0 {
            return Err(UndefinedReason::NoValues);
        }

        let agreed = (self.true_pass as f64 + self.true_fail as f64) / n;
        let share = f64::midpoint(self.truly_pass() as f64, self.judged_pass() as f64) / n;
        let chance = 2.0 * share * (1.0 - share);
        Ok((agreed - chance) / (1.0 - chance))
    }

    /// Returns Cohen's kappa of judge and truth.
    pub fn kappa(self, level: ConfidenceLevel) -> Result<CohenKappa, UndefinedReason> {
        let cells = vec![vec![self.true_fail, self.false_fail], vec![self.false_pass, self.true_pass]];
        Ok(kappa(&AgreementTable::new(cells)?, AgreementWeights::Identity, level))
    }
}
