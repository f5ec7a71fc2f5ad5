//! Intraclass correlations of raters who all rated the same targets.

use crate::{
    UndefinedReason,
    undefined::{check_all_finite, check_finite},
};

/// The six intraclass correlations of Shrout and Fleiss, named after McGraw and Wong. MSR, MSC, MSE and MSW
/// are the mean squares between targets, between raters, of the residual, and within targets, for n targets
/// and k raters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntraclassCorrelations {
    /// Number of targets.
    pub targets: usize,
    /// Number of raters.
    pub raters: usize,
    /// ICC(1,1): each target has its own raters. `(MSR - MSW) / (MSR + (k-1) MSW)`.
    pub one_way: Result<f64, UndefinedReason>,
    /// ICC(A,1): one of many raters, agreement in absolute level. `(MSR - MSE) / (MSR + (k-1) MSE + k (MSC -
    /// MSE) / n)`.
    pub agreement: Result<f64, UndefinedReason>,
    /// ICC(C,1): one rater, agreement up to a constant. `(MSR - MSE) / (MSR + (k-1) MSE)`.
    pub consistency: Result<f64, UndefinedReason>,
    /// ICC(1,k): the mean of k raters, one-way. `(MSR - MSW) / MSR`.
    pub one_way_mean: Result<f64, UndefinedReason>,
    /// ICC(A,k): the mean of k raters, agreement. `(MSR - MSE) / (MSR + (MSC - MSE) / n)`.
    pub agreement_mean: Result<f64, UndefinedReason>,
    /// ICC(C,k): the mean of k raters, consistency. `(MSR - MSE) / MSR`.
    pub consistency_mean: Result<f64, UndefinedReason>,
}

/// Computes the intraclass correlations of rows of targets with one cell per rater. Sources: P. Shrout and J.
/// Fleiss, Psychological Bulletin 86 (1979), 420-428; K. McGraw and S. Wong, Psychological Methods 1 (1996),
/// 30-46.
pub fn icc(rows: &[Vec<f64>]) -> Result<IntraclassCorrelations, UndefinedReason> {
    let first = rows.first().ok_or(UndefinedReason::NoValues)?;
    if rows.iter().any(|row| row.len() != first.len()) {
        return Err(UndefinedReason::MissingCells);
    }
    if rows.len() < 2 || first.len() < 2 {
        return Err(UndefinedReason::TooFew);
    }

    for row in rows {
        check_all_finite(row)?;
    }

    let (n, k) = (rows.len() as f64, first.len() as f64);
    let mean = |values: &mut dyn Iterator<Item = f64>, count: f64| values.sum::<f64>() / count;
    let targets: Vec<f64> = rows.iter().map(|row| mean(&mut row.iter().copied(), k)).collect();
    let raters: Vec<f64> =
        (0..first.len()).map(|rater| mean(&mut rows.iter().map(|row| row[rater]), n)).collect();
    let grand = mean(&mut targets.iter().copied(), n);
    let away = |means: &[f64]| means.iter().map(|value| (value - grand).powi(2)).sum::<f64>();
    let (mut within, mut residual) = (0.0, 0.0);
    for (row, target) in rows.iter().zip(&targets) {
        for (value, rater) in row.iter().zip(&raters) {
            within += (value - target).powi(2);
            residual += (value - target - rater + grand).powi(2);
        }
    }

    let msr = k * away(&targets) / (n - 1.0);
    let msc = n * away(&raters) / (k - 1.0);
    let msw = within / (n * (k - 1.0));
    let mse = residual / ((n - 1.0) * (k - 1.0));
    let over = |top: f64, bottom: f64| {
        if bottom > 0.0 { check_finite(top / bottom) } else { Err(UndefinedReason::NoSpread) }
    };

    Ok(IntraclassCorrelations {
        targets: rows.len(),
        raters: first.len(),
        one_way: over(msr - msw, msr + (k - 1.0) * msw),
        agreement: over(msr - mse, msr + (k - 1.0) * mse + k * (msc - mse) / n),
        consistency: over(msr - mse, msr + (k - 1.0) * mse),
        one_way_mean: over(msr - msw, msr),
        agreement_mean: over(msr - mse, msr + (msc - mse) / n),
        consistency_mean: over(msr - mse, msr),
    })
}
