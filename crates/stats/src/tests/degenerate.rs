//! All functions on degenerate input: nothing panics, and nothing is NaN or infinite.

use crate::{
    ConfidenceLevel, MeanAccumulator, RateInterval, SeededRandom, acceleration,
    agreement::{
        AgreementTable, AgreementWeights, AlphaMetric, ChanceAgreement, RatingScale, UnitRatings, alpha,
        coefficient, icc, kappa,
    },
    bootstrap_clustered_mean, bootstrap_mean, bootstrap_mean_exhaustive, clustered_mean,
    combine::{AbPreference, best_of, count_both_orders, expected_score, panel_scores, tally_panel},
    compare::{
        DifferenceInterval, PairedVerdicts, ZeroRule, fair_coin, paired_mean, rate_difference, sign_flip,
        sign_flip_clustered, signed_rank,
    },
    correction::{JudgeRates, prediction_powered, prediction_powered_clustered, rogan_gladen},
    judge_quality::{
        ConfusionTable, IsotonicFit, area_under_curve, average_precision, bonett_wright, brier, fisher_z,
        fit_line, kendall_tau_b, kendall_tau_c, log_loss, mean_absolute_error, partial_correlation, pearson,
        reliability_table, root_mean_square_error, spearman,
    },
    leave_one_out,
    multiplicity::{PValueAdjustment, adjust_p_values},
    posterior_mean,
    power::{
        PairedNoise, PowerDesign, design_effect, inflate_for_clusters, mean_precision, rate_precision,
        round_up_cases,
    },
    proportion_by,
    ranking::{ContestOutcome, SystemContest, TieRule, bradley_terry},
    repeats::{mean_pass_k, nested_variance, pass_k, repeat_variance, stability},
    zero_failures,
};
use proptest::prelude::*;

use super::cases;

/// Formats the result of a function and checks it.
fn written(result: impl std::fmt::Debug) -> String {
    let text = format!("{result:?}");
    let mut words = text.split(|letter: char| !letter.is_alphanumeric());
    assert!(!words.any(|word| word == "NaN" || word == "inf"), "{text}");
    text
}

/// Values that often coincide, and some that are difficult for arithmetic.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        5 => Just(0.0), 5 => Just(1.0), 3 => Just(0.5), 1 => Just(-1.0), 1 => Just(1e-300), 1 => Just(1e300),
        1 => Just(f64::NAN), 1 => Just(f64::INFINITY), 1 => Just(f64::MAX),
    ]
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn lists_of_anything(
        rows in prop::collection::vec((value(), value(), 0u8..3, any::<bool>()), 0..7),
        kind in 0usize..4, level in prop::sample::select(vec![1e-9, 0.5, 0.95, 1.0 - 1e-12]),
    ) {
        let level = ConfidenceLevel::new(level).unwrap();
        let x: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let y: Vec<f64> = rows.iter().map(|row| row.1).collect();
        let names: Vec<u8> = rows.iter().map(|row| row.2).collect();
        let flags: Vec<bool> = rows.iter().map(|row| row.3).collect();
        let other: Vec<bool> = x.iter().map(|&value| value > 0.5).collect();
        let mut random = SeededRandom::new(1);
        written(x.iter().copied().collect::<MeanAccumulator>().mean(level));
        written(clustered_mean(&x, &names, level));
        written(bootstrap_mean(&x, 20, level, &mut random));
        written(bootstrap_clustered_mean(&x, &names, 20, level, &mut random));
        written(bootstrap_mean_exhaustive(&x[..x.len().min(4)], level));
        written((acceleration(&x), leave_one_out(&x)));
        written(paired_mean(&x, &y, level));
        written(sign_flip(&x, 10, &mut random));
        written(sign_flip_clustered(&x, &names, 10, &mut random));
        for rule in [ZeroRule::Drop, ZeroRule::Pratt, ZeroRule::Split] {
            written(signed_rank(&x, rule, true));
        }
        for correlation in [pearson, spearman, kendall_tau_b, kendall_tau_c] {
            written(correlation(&x, &y));
        }
        written(partial_correlation(&x, &y, &y));
        written(brier(&x, &flags));
        written(log_loss(&x, &flags));
        written(area_under_curve(&x, &flags, level));
        written(average_precision(&x, &flags));
        written(reliability_table(&x, &flags, kind));
        written(IsotonicFit::fit(&x, &y, Some(&y)).map(|fitted| fitted.predict(0.3)));
        written(adjust_p_values(&x, PValueAdjustment::BenjaminiYekutieli));
        written(prediction_powered(&x, &y, &y, level));
        written(prediction_powered_clustered(&x, &y, &names, &y, &names, level));
        written(panel_scores(&x));
        written(best_of(&x, 0));
        written(expected_score(&x.iter().zip(&y).map(|(&x, &y)| (x, Some(y.min(0.0)))).collect::<Vec<_>>()));
        written((mean_absolute_error(&x, &y), root_mean_square_error(&x, &y)));
        written(fit_line(&x, &y, level));
        let preferences = [AbPreference::A, AbPreference::B, AbPreference::Tie];
        let both: Vec<_> = names.iter().zip(&flags).map(|(&a, &b)| (preferences[usize::from(a)], preferences[usize::from(b)])).collect();
        written(count_both_orders(&both));
        written(tally_panel(&flags.iter().zip(&names).map(|(&vote, &name)| (name > 0).then_some(vote)).collect::<Vec<_>>()));
        let ends = [ContestOutcome::First, ContestOutcome::Second, ContestOutcome::Tie];
        let contests: Vec<SystemContest> = names
            .iter()
            .enumerate()
            .map(|(at, &name)| SystemContest { first: usize::from(name), second: at % 4, end: ends[at % 3], cluster: at / kind.max(1) })
            .collect();
        for ties in [TieRule::HalfWin, TieRule::Davidson] {
            for systems in 0..4 {
                let found = bradley_terry(systems, &contests, ties, level);
                written(found.as_ref().map(|found| (found.lead(0, 1), found.lead(0, 9))).ok());
                written(found);
            }
        }
        let counts = ConfusionTable::from_verdicts(&other, &flags).unwrap();
        written((counts.balanced_accuracy(), counts.macro_f1(), counts.macro_precision(), counts.macro_recall()));
        written((counts.matthews(), counts.f1(), counts.f1_fail(), counts.bias(), counts.kappa(level)));
        written(PairedVerdicts::from_verdicts(&other, &flags).unwrap().mcnemar(level));
        written(stability(&[flags.clone(), other], level));
        written(icc(&x.chunks(2).map(<[f64]>::to_vec).collect::<Vec<_>>()));
        written(repeat_variance(&[x.clone(), y.clone()]));
        written(nested_variance(&[vec![x.clone(), y.clone()], vec![y.clone(), x.clone()]]));

        let mut ratings = UnitRatings::new();
        for unit in x.chunks(kind.max(1)) {
            ratings.push(unit.iter().copied());
        }
        for metric in [AlphaMetric::Nominal, AlphaMetric::Ordinal, AlphaMetric::Interval, AlphaMetric::Ratio] {
            written(alpha(&ratings, metric));
        }
        for weights in [AgreementWeights::Identity, AgreementWeights::Quadratic, AgreementWeights::Ratio, AgreementWeights::Radical] {
            for chance in [ChanceAgreement::Gwet, ChanceAgreement::Fleiss, ChanceAgreement::Krippendorff, ChanceAgreement::Uniform] {
                for scale in [RatingScale::binary(), RatingScale::new([1.0]).unwrap(), RatingScale::new([-1.0, 0.0, 0.5, 1.0]).unwrap()] {
                    written(coefficient(&ratings, &scale, weights, chance, level));
                    written(AgreementTable::from_answers(&x, &y, &scale).map(|table| kappa(&table, weights, level)));
                }
            }
        }
    }

    #[test]
    fn counts_of_anything(
        a in prop_oneof![0u64..4, Just(u64::MAX), Just(1 << 42), Just(1_000_000)],
        b in prop_oneof![0u64..4, Just(u64::MAX), Just(1 << 42), Just(1_000_000)],
        c in 0u64..4, x in value(), y in value(),
    ) {
        let level = ConfidenceLevel::P95;
        for kind in [
            RateInterval::Wilson, RateInterval::WilsonContinuity, RateInterval::AgrestiCoull, RateInterval::Wald,
            RateInterval::ClopperPearson, RateInterval::Jeffreys, RateInterval::BetaPosterior,
        ] {
            // Beta quantiles of a billion cases take a while without optimisation; twenty thousand are
            // enough.
            written(proportion_by(kind, a.min(20_000), b.min(20_000), level));
        }
        written(proportion_by(RateInterval::Wilson, a, b, level));
        written((zero_failures(a, level), posterior_mean(a, b)));
        written((fisher_z(x, a, level), bonett_wright(y, b, level)));
        written((design_effect(x, y), inflate_for_clusters(x, y)));
        if x.is_finite() {
            written(round_up_cases(x));
        }
        written(fair_coin(a.min(1_000_000), b.min(1_000_000)));
        for kind in [DifferenceInterval::Newcombe, DifferenceInterval::AgrestiCaffo, DifferenceInterval::Wald] {
            written(rate_difference(kind, (a, b), (c, b), level));
        }
        // Counting down from half of 2^42 takes a while too.
        let (heads, tails) = if a.max(b) == 1 << 42 { (a >> 20, b >> 20) } else { (a, b) };
        written(PairedVerdicts { both: c, only_first: heads, only_second: tails, neither: c }.mcnemar(level));
        written(pass_k(a.min(1_000_000), b, c));
        written(mean_pass_k(&[(a.min(99), b), (3, 1)], c, level));
        written(ConfusionTable { true_pass: a, false_pass: b, false_fail: c, true_fail: a }.matthews());
        let rates = JudgeRates { pass_rate: x, n: a, specificity: y, n_fail: b, sensitivity: x, n_pass: c };
        written(rogan_gladen(rates, level));
        let noise = PairedNoise { between: x, first: y, first_repeats: c, second: y, second_repeats: b };
        let promise = PowerDesign::default();
        written((promise.paired_cases(noise, y), promise.paired_difference(noise, a)));
        written((promise.rates_cases(x, y), promise.rates_cases_by_h(x, y), promise.mcnemar_pairs(x, y)));
        written((promise.mcnemar_difference(a, x), rate_precision(x, y, level), mean_precision(x, y, level)));
        if x.abs() < 2.0 {
            written(promise.paired_t_cases(x));
        }
    }
}
