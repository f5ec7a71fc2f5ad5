//! The worked examples of the handbook, recomputed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::{
    BootstrapEstimate, ConfidenceLevel, DifferenceReach, Interval, McNemarVariant, MeanAccumulator,
    RateInterval, SeededRandom, UndefinedReason, acceleration,
    agreement::{
        AgreementTable, AgreementWeights, AlphaMetric, ChanceAgreement, RatingScale, UnitRatings, alpha,
        coefficient, icc, kappa,
    },
    bootstrap, bootstrap_clustered_mean, bootstrap_mean, bootstrap_mean_exhaustive, bounded_difference,
    bounded_mean, bounded_mean_clustered, clustered_mean,
    combine::{AbPreference, best_of, count_both_orders, expected_score, panel_scores, tally_panel},
    compare::{
        DifferenceInterval, PairedVerdicts, ZeroRule, fair_coin, paired_mean, rate_difference, sign_flip,
        sign_flip_clustered, signed_rank,
    },
    correction::{
        JudgeRates, prediction_powered, prediction_powered_clustered, prediction_powered_within, rogan_gladen,
    },
    judge_quality::{
        ConfusionTable, IsotonicFit, area_under_curve, average_precision, bonett_wright, brier, fisher_z,
        fit_line, kendall_tau_b, kendall_tau_c, log_loss, mean_absolute_error, partial_correlation, pearson,
        reliability_table, root_mean_square_error, spearman,
    },
    multiplicity::{PValueAdjustment, adjust_p_values},
    posterior_mean,
    power::{
        PairedNoise, PowerDesign, design_effect, inflate_for_clusters, mean_half_width, mean_precision,
        rate_precision, round_up_cases,
    },
    proportion, proportion_by,
    ranking::{ContestOutcome, SystemContest, TieRule, bradley_terry},
    repeats::{mean_pass_k, nested_variance, pass_k, repeat_variance, stability},
    zero_failures,
};

const L: ConfidenceLevel = ConfidenceLevel::P95;

/// A block of numbers, one per line.
#[derive(Default)]
struct Figures(String);

impl Figures {
    fn text(mut self, name: &str, value: &str) -> Self {
        writeln!(self.0, "{name:<24} {value}").unwrap();
        self
    }

    fn number(self, name: &str, value: impl Into<Figure>) -> Self {
        let text = match value.into().0 {
            Ok(value) if value == value.round() && value.abs() < 1e9 => format!("{value}"),
            Ok(value) if value.abs() < 1e-3 => format!("{value:.6e}"),
            Ok(value) => format!("{value:.6}"),
            Err(reason) => format!("undefined, because {reason}"),
        };
        self.text(name, &text)
    }

    fn interval(self, name: &str, interval: Result<Interval, UndefinedReason>) -> Self {
        let text = match interval {
            Ok(interval) => format!("{:.6} to {:.6}", interval.low, interval.high),
            Err(reason) => format!("undefined, because {reason}"),
        };
        self.text(name, &text)
    }

    fn list(self, name: &str, values: &[f64]) -> Self {
        let text: Vec<String> = values.iter().map(|value| format!("{value:.4}")).collect();
        self.text(name, &text.join(" "))
    }

    fn resampled(self, found: BootstrapEstimate) -> Self {
        self.number("estimate", found.estimate)
            .number("resamples", found.resamples as f64)
            .number("standard error", found.se)
            .interval("percentile", Ok(found.percentile))
            .interval("BCa", found.bca)
    }
}

struct Figure(Result<f64, UndefinedReason>);

impl From<f64> for Figure {
    fn from(value: f64) -> Self {
        Self(Ok(value))
    }
}

impl From<Result<f64, UndefinedReason>> for Figure {
    fn from(value: Result<f64, UndefinedReason>) -> Self {
        Self(value)
    }
}

fn figures() -> Figures {
    Figures::default()
}

fn random() -> SeededRandom {
    SeededRandom::new(1)
}

fn rates() -> Vec<(&'static str, Figures)> {
    let eight = |kind| proportion_by(kind, 8, 10, L).interval;
    let bound = zero_failures(30, L).unwrap();
    let difference = |kind| rate_difference(kind, (45, 50), (38, 50), L).map(|found| found.interval);
    vec![
        (
            "pass-rate",
            figures()
                .number("rate", proportion(8, 10, L).rate)
                .interval("Blaker", eight(RateInterval::Blaker))
                .interval("Wilson", eight(RateInterval::Wilson))
                .interval("Wilson, continuity", eight(RateInterval::WilsonContinuity))
                .interval("Clopper-Pearson", eight(RateInterval::ClopperPearson))
                .interval("Agresti-Coull", eight(RateInterval::AgrestiCoull))
                .interval("Jeffreys", eight(RateInterval::Jeffreys))
                .interval("uniform prior", eight(RateInterval::BetaPosterior))
                .number("  posterior mean", posterior_mean(8, 10))
                .interval("Wald", eight(RateInterval::Wald)),
        ),
        (
            "zero-failures",
            figures().number("exact bound", bound.exact).number("rule of three", bound.rule_of_three),
        ),
        (
            "rate-difference",
            figures()
                .number("difference", 45.0 / 50.0 - 38.0 / 50.0)
                .interval("Newcombe", difference(DifferenceInterval::Newcombe))
                .interval("Agresti-Caffo", difference(DifferenceInterval::AgrestiCaffo))
                .interval("Wald", difference(DifferenceInterval::Wald)),
        ),
    ]
}

fn bounded_means() -> Vec<(&'static str, Figures)> {
    let range = (0.0, 1.0);
    let scores = bounded_mean(&[0.2, 0.4, 0.6, 0.8, 1.0], range, L).unwrap();
    let clustered = bounded_mean_clustered(
        &[0.9, 0.8, 0.85, 0.2, 0.3, 0.5, 0.5, 0.6, 0.1, 1.0],
        &[1, 1, 1, 2, 2, 3, 4, 4, 5, 6],
        range,
        L,
    )
    .unwrap();
    let full = bounded_mean(&[1.0; 10], range, L).unwrap();
    let differences = [0.1, -0.2, 0.3, 0.4, 0.05, 0.0, -0.05, 0.2];
    let change =
        bounded_difference(&differences, &[0, 1, 2, 3, 4, 5, 6, 7], DifferenceReach::symmetric(1.0)).unwrap();
    vec![(
        "bounded-mean",
        figures()
            .number("mean", scores.mean)
            .number("  effective n", scores.effective_n)
            .interval("  interval", scores.interval)
            .interval("clustered", clustered.interval)
            .interval("ten of 1", full.interval)
            .number("mean difference", change.difference)
            .interval("  interval", change.interval(L))
            .number("  p", change.p()),
    )]
}

fn means() -> Vec<(&'static str, Figures)> {
    let plain = [0.2, 0.4, 0.6, 0.8, 1.0].into_iter().collect::<MeanAccumulator>().mean(L);
    let clustered = clustered_mean(
        &[0.9, 0.8, 0.85, 0.2, 0.3, 0.5, 0.5, 0.6, 0.1, 1.0],
        &[1, 1, 1, 2, 2, 3, 4, 4, 5, 6],
        L,
    )
    .unwrap();
    let values = [0.1, 0.4, 0.4, 0.9, 0.7, 0.2];
    vec![
        (
            "mean",
            figures()
                .number("mean", plain.mean)
                .number("standard deviation", plain.sd)
                .number("standard error", plain.se)
                .interval("t interval", plain.interval)
                .interval("normal interval", plain.normal_interval(L)),
        ),
        (
            "clustered-mean",
            figures()
                .number("mean", clustered.mean)
                .number("clusters", clustered.clusters as f64)
                .number("error if independent", clustered.se_independent)
                .number("error CR0", clustered.se_cr0)
                .number("error CR1", clustered.se_cr1)
                .number("design effect", clustered.design_effect)
                .number("effective n", clustered.effective_n)
                .interval("interval", clustered.interval),
        ),
        ("bootstrap-all", figures().resampled(bootstrap_mean_exhaustive(&[0.0, 1.0, 1.0], L).unwrap())),
        (
            "bootstrap-mean",
            figures()
                .resampled(bootstrap_mean(&values, 10_000, L, &mut random()).unwrap())
                .number("acceleration", acceleration(&values)),
        ),
        (
            "bootstrap-clusters",
            figures().resampled(
                bootstrap_clustered_mean(&values, &[1, 1, 2, 3, 3, 4], 10_000, L, &mut random()).unwrap(),
            ),
        ),
    ]
}

fn comparisons() -> Vec<(&'static str, Figures)> {
    let t = paired_mean(&[0.9, 0.4, 0.7, 0.8, 0.6, 1.0], &[0.7, 0.5, 0.5, 0.8, 0.2, 0.9], L).unwrap();
    let pairs = PairedVerdicts { both: 100, only_first: 25, only_second: 9, neither: 66 }.mcnemar(L);
    let differences = [0.1, -0.2, 0.3, 0.4, 0.05];
    let won = |at: usize| if at < 30 { ContestOutcome::First } else { ContestOutcome::Second };
    let contests: Vec<SystemContest> =
        (0..40).map(|at| SystemContest { first: 0, second: 1, end: won(at), cluster: at }).collect();
    let strengths = bradley_terry(2, &contests, TieRule::HalfWin, L).unwrap();
    let lead = strengths.lead(0, 1).unwrap();
    let flipped = sign_flip(&differences, 10_000, &mut random()).unwrap();
    let clustered =
        sign_flip_clustered(&differences, &["a", "a", "b", "c", "c"], 10_000, &mut random()).unwrap();
    let zeros = [0.0, 0.0, 1.0, -1.0, 2.0, 3.0, 0.0, 4.0];
    let rank = |rule| signed_rank(&zeros, rule, false).unwrap();
    let p = [0.01, 0.04, 0.03, 0.005, 0.2];
    let by = |adjustment| adjust_p_values(&p, adjustment).unwrap();
    vec![
        (
            "paired-t",
            figures()
                .number("difference", t.difference)
                .number("standard error", t.se)
                .number("t", t.t)
                .number("degrees of freedom", t.freedom)
                .number("p", t.p)
                .interval("interval", t.interval)
                .number("correlation", t.correlation)
                .number("error if unpaired", t.se_unpaired),
        ),
        (
            "mcnemar",
            figures()
                .number("difference", pairs.difference)
                .interval("interval", pairs.interval)
                .number("exact p", pairs.p_exact)
                .number("mid-p", pairs.p_mid)
                .number("chi-squared", pairs.chi2)
                .number("  p", pairs.p_chi2)
                .number("  with correction", pairs.chi2_corrected)
                .number("  p", pairs.p_chi2_corrected),
        ),
        (
            "contests",
            figures()
                .number("lead", lead.difference)
                .interval("  interval", lead.interval)
                .number("win probability", lead.win_probability),
        ),
        ("position", figures().number("p", fair_coin(367, 289).p)),
        (
            "sign-flip",
            figures()
                .number("mean difference", flipped.mean)
                .number("p", flipped.p)
                .number("one-sided p", flipped.p_greater)
                .number("arrangements", flipped.arrangements)
                .number("smallest possible p", flipped.smallest_p())
                .number("p, clusters flipped", clustered.p),
        ),
        (
            "signed-rank",
            figures()
                .number("smaller rank sum", rank(ZeroRule::Drop).statistic)
                .number("p, zeros dropped", rank(ZeroRule::Drop).p_normal)
                .number("  exact", rank(ZeroRule::Drop).p_exact)
                .number("p, Pratt", rank(ZeroRule::Pratt).p_normal)
                .number("p, zeros split", rank(ZeroRule::Split).p_normal),
        ),
        (
            "multiplicity",
            figures()
                .list("p", &p)
                .list("Bonferroni", &by(PValueAdjustment::Bonferroni))
                .list("Holm", &by(PValueAdjustment::Holm))
                .list("Holm-Sidak", &by(PValueAdjustment::HolmSidak))
                .list("Hochberg", &by(PValueAdjustment::Hochberg))
                .list("Benjamini-Hochberg", &by(PValueAdjustment::BenjaminiHochberg))
                .list("Benjamini-Yekutieli", &by(PValueAdjustment::BenjaminiYekutieli)),
        ),
    ]
}

fn repetition() -> Vec<(&'static str, Figures)> {
    let five = pass_k(10, 3, 5).unwrap();
    let tasks = mean_pass_k(&[(10, 3), (10, 0), (10, 10), (10, 7)], 4, L).unwrap();
    let noise =
        repeat_variance(&[vec![7.0, 8.0, 7.0], vec![3.0, 3.0, 4.0], vec![9.0; 3], vec![5.0, 2.0, 5.0]])
            .unwrap();
    let parts =
        nested_variance(&[vec![vec![1.0, 3.0], vec![5.0, 7.0]], vec![vec![9.0, 11.0], vec![9.0, 11.0]]])
            .unwrap();
    let flips = stability(&[vec![true, true, true], vec![true, false, true], vec![false, false]], L);
    vec![
        ("pass-k", figures().number("pass@5", five.any).number("pass^5", five.all)),
        (
            "mean-pass-k",
            figures()
                .number("pass@4", tasks.any.mean)
                .interval("  interval", tasks.any.interval)
                .number("pass^4", tasks.all.mean)
                .interval("  interval", tasks.all.interval),
        ),
        (
            "repeated",
            figures()
                .number("within", noise.within)
                .number("between", noise.between)
                .number("ICC(1)", noise.icc)
                .number("ICC(1,k)", noise.icc_mean)
                .number("error of the mean", noise.se),
        ),
        (
            "nested",
            figures()
                .number("between cases", parts.between_cases)
                .number("between answers", parts.between_answers)
                .number("between verdicts", parts.between_verdicts)
                .number("error with 50, 2, 1", parts.standard_error_with(50, 2, 1))
                .number("error with 50, 4, 1", parts.standard_error_with(50, 4, 1)),
        ),
        (
            "stability",
            figures()
                .number("flip rate", flips.flipped.rate)
                .interval("  interval", flips.flipped.interval)
                .number("differing pairs", flips.pair_flips),
        ),
    ]
}

fn canonical() -> UnitRatings {
    let units: [&[u8]; 12] = [
        &[1, 1, 1],
        &[2, 2, 3, 2],
        &[3, 3, 3, 3],
        &[3, 3, 3, 3],
        &[2, 2, 2, 2],
        &[1, 2, 3, 4],
        &[4, 4, 4, 4],
        &[1, 1, 2, 1],
        &[2, 2, 2, 2],
        &[5, 5, 5],
        &[1, 1],
        &[3],
    ];
    let mut ratings = UnitRatings::new();
    for unit in units {
        ratings.push(unit.iter().copied().map(f64::from));
    }
    ratings
}

fn agreements() -> Vec<(&'static str, Figures)> {
    let plain =
        kappa(&AgreementTable::new(vec![vec![20, 5], vec![10, 15]]).unwrap(), AgreementWeights::Identity, L);
    let (a, b) = ([0.0, 10.0, 7.0, 10.0, 0.0, 3.0], [0.0, 9.0, 7.0, 10.0, 1.0, 3.0]);
    let scored =
        AgreementTable::from_answers(&a, &b, &RatingScale::new((0..=10).map(f64::from)).unwrap()).unwrap();
    let ratings = canonical();
    let scale = RatingScale::new((1..=5).map(f64::from)).unwrap();
    let of = |weights, chance| coefficient(&ratings, &scale, weights, chance, L);
    let resampled = bootstrap(ratings.len(), 2_000, L, &mut random(), |units: &[usize]| {
        alpha(&ratings.select(units), AlphaMetric::Ordinal).value
    })
    .unwrap();
    let rows = [[9.0, 2.0, 5.0, 8.0], [6.0, 1.0, 3.0, 2.0], [8.0, 4.0, 6.0, 8.0]];
    let more = [[7.0, 1.0, 2.0, 6.0], [10.0, 5.0, 6.0, 9.0], [6.0, 2.0, 4.0, 7.0]];
    let classes = icc(&rows.iter().chain(&more).map(|row| row.to_vec()).collect::<Vec<_>>()).unwrap();
    let gwet = of(AgreementWeights::Identity, ChanceAgreement::Gwet);
    vec![
        (
            "kappa",
            figures()
                .number("raw agreement", plain.observed)
                .number("expected by chance", plain.expected)
                .number("kappa", plain.kappa)
                .number("standard error", plain.se)
                .interval("interval", plain.interval)
                .number("error if kappa were 0", plain.se_null)
                .number("z", plain.z)
                .number("p", plain.p),
        ),
        (
            "weighted-kappa",
            figures()
                .number("plain", kappa(&scored, AgreementWeights::Identity, L).kappa)
                .number("linear", kappa(&scored, AgreementWeights::Linear, L).kappa)
                .number("quadratic", kappa(&scored, AgreementWeights::Quadratic, L).kappa),
        ),
        (
            "coefficients",
            figures()
                .number("raw agreement", gwet.observed)
                .number("AC1", gwet.value)
                .number("  standard error", gwet.se)
                .interval("  interval", gwet.interval)
                .number("AC2, quadratic", of(AgreementWeights::Quadratic, ChanceAgreement::Gwet).value)
                .number("AC2, ordinal", of(AgreementWeights::Ordinal, ChanceAgreement::Gwet).value)
                .number("Fleiss", of(AgreementWeights::Identity, ChanceAgreement::Fleiss).value)
                .number(
                    "alpha, identity",
                    of(AgreementWeights::Identity, ChanceAgreement::Krippendorff).value,
                )
                .number("  standard error", of(AgreementWeights::Identity, ChanceAgreement::Krippendorff).se)
                .number("Brennan-Prediger", of(AgreementWeights::Identity, ChanceAgreement::Uniform).value),
        ),
        (
            "alpha",
            figures()
                .number("nominal", alpha(&ratings, AlphaMetric::Nominal).value)
                .number("ordinal", alpha(&ratings, AlphaMetric::Ordinal).value)
                .interval("  percentile bootstrap", Ok(resampled.percentile))
                .number("interval", alpha(&ratings, AlphaMetric::Interval).value)
                .number("ratio", alpha(&ratings, AlphaMetric::Ratio).value),
        ),
        (
            "icc",
            figures()
                .number("ICC(1,1)", classes.one_way)
                .number("ICC(A,1)", classes.agreement)
                .number("ICC(C,1)", classes.consistency)
                .number("ICC(1,k)", classes.one_way_mean)
                .number("ICC(A,k)", classes.agreement_mean)
                .number("ICC(C,k)", classes.consistency_mean),
        ),
    ]
}

fn judges() -> Vec<(&'static str, Figures)> {
    let counts = ConfusionTable { true_pass: 20, false_pass: 10, false_fail: 5, true_fail: 15 };
    let (scored, known) = ([3.0, 4.0, 1.0, 4.0], [3.0, 2.0, 1.0, 2.0]);
    let away = [0.0, 1.0, 0.0, 0.0, 1.0, 0.0];
    let line = fit_line(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 4.0, 6.0], L).unwrap();
    let severity = clustered_mean(&away, &["a", "a", "b", "b", "c", "c"], L).unwrap();
    let (x, y) = ([1.0, 2.0, 3.0, 4.0, 5.0], [5.0, 6.0, 7.0, 8.0, 7.0]);
    let (p, came) = ([0.9, 0.6, 0.35, 0.1], [true, false, true, false]);
    let area = area_under_curve(&p, &came, L).unwrap();
    let bins = reliability_table(&p, &came, 10).unwrap();
    let fitted =
        IsotonicFit::fit(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[0.1, 0.4, 0.3, 0.6, 0.5, 0.9], None).unwrap();
    let steps: Vec<f64> = fitted.points().iter().map(|point| point.1).collect();
    let rates = JudgeRates {
        pass_rate: 0.73,
        n: 1000,
        specificity: 0.85,
        n_fail: 100,
        sensitivity: 0.9,
        n_pass: 100,
    };
    let corrected = rogan_gladen(rates, L).unwrap();
    let human = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0];
    let judge = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    let rest: Vec<f64> = (0..20).map(|index| f64::from(index % 10 < 7)).collect();
    let powered = prediction_powered(&human, &judge, &rest, L).unwrap();
    let few = prediction_powered_within::<u8>(&human, &judge, &rest, None, (0.0, 1.0), L).unwrap();
    let others: Vec<usize> = (0..20).map(|index| index / 2).collect();
    let clustered =
        prediction_powered_clustered(&human, &judge, &[0, 0, 1, 1, 2, 2, 3, 3], &rest, &others, L).unwrap();
    vec![
        (
            "confusion",
            figures()
                .number("accuracy", counts.accuracy(L).rate)
                .number("sensitivity", counts.sensitivity(L).rate)
                .interval("  interval", counts.sensitivity(L).interval)
                .number("specificity", counts.specificity(L).rate)
                .interval("  interval", counts.specificity(L).interval)
                .number("precision", counts.precision(L).rate)
                .number("balanced accuracy", counts.balanced_accuracy())
                .number("F1 of passes", counts.f1())
                .number("F1 of fails", counts.f1_fail())
                .number("macro-precision", counts.macro_precision())
                .number("macro-recall", counts.macro_recall())
                .number("macro-F1", counts.macro_f1())
                .number("Matthews", counts.matthews())
                .number("bias", counts.bias()),
        ),
        (
            "correlation",
            figures()
                .number("Pearson", pearson(&x, &y))
                .interval("  Fisher z", fisher_z(pearson(&x, &y).unwrap(), 5, L))
                .number("Spearman", spearman(&x, &y))
                .interval("  Bonett-Wright", bonett_wright(spearman(&x, &y).unwrap(), 5, L))
                .number("Kendall tau-b", kendall_tau_b(&x, &y))
                .number("Stuart tau-c", kendall_tau_c(&x, &y))
                .number("partial, given z", partial_correlation(&x, &y, &[2.0, 1.0, 4.0, 3.0, 5.0])),
        ),
        (
            "line",
            figures()
                .number("slope", line.slope)
                .number("error", line.error)
                .interval("  interval", line.interval)
                .number("intercept", line.intercept),
        ),
        (
            "distance",
            figures()
                .number("root mean squared error", root_mean_square_error(&scored, &known))
                .number("mean absolute error", mean_absolute_error(&scored, &known)),
        ),
        (
            "bias",
            figures()
                .number("severity", severity.mean)
                .interval("  interval", severity.interval)
                .number("length", spearman(&away, &[200.0, 900.0, 150.0, 400.0, 700.0, 300.0])),
        ),
        (
            "probabilities",
            figures()
                .number("Brier", brier(&p, &came))
                .number("log-loss", log_loss(&p, &came))
                .number("area under the curve", area.area)
                .number("  standard error", area.se)
                .interval("  DeLong", area.interval)
                .number("average precision", average_precision(&p, &came))
                .number("calibration error", bins.expected_error)
                .number("largest error", bins.largest_error),
        ),
        ("isotonic", figures().list("fitted", &steps).number("a score of 3.5", fitted.predict(3.5))),
        (
            "rogan-gladen",
            figures()
                .number("corrected", corrected.raw)
                .number("standard error", corrected.se)
                .number("adjusted", corrected.adjusted)
                .interval("interval", corrected.interval),
        ),
        (
            "prediction-powered",
            figures()
                .number("people only", powered.human.mean)
                .interval("  interval", Ok(powered.human.interval))
                .number("judge only", powered.judge)
                .number("PPI", powered.plain.mean)
                .interval("  interval", Ok(powered.plain.interval))
                .number("weight", powered.weight)
                .number("PPI++", powered.tuned.mean)
                .interval("  interval", Ok(powered.tuned.interval))
                .number("gain", powered.gain)
                .interval("PPI++, clustered", Ok(clustered.tuned.interval))
                .number("for few labels", few.tuned.mean)
                .interval("  interval", Ok(few.tuned.interval)),
        ),
    ]
}

fn plans() -> Vec<(&'static str, Figures)> {
    let promise = PowerDesign::default();
    let noise = PairedNoise {
        between: 1.0 / 9.0,
        first: 1.0 / 6.0,
        first_repeats: 1,
        second: 1.0 / 6.0,
        second_repeats: 1,
    };
    let ten = PairedNoise { first_repeats: 10, second_repeats: 10, ..noise };
    vec![
        (
            "power-paired",
            figures()
                .number("cases, one answer each", promise.paired_cases(noise, 0.03).map(round_up_cases))
                .number("cases, ten answers each", promise.paired_cases(ten, 0.03).map(round_up_cases))
                .number("difference at 198 cases", promise.paired_difference(noise, 198))
                .number("pairs for effect 0.3", promise.paired_t_cases(0.3)),
        ),
        (
            "power-rates",
            figures()
                .number("cases per side", promise.rates_cases(0.8, 0.7))
                .number("  arcsine scale", promise.rates_cases_by_h(0.8, 0.7))
                .number("pairs, McNemar", promise.mcnemar_pairs(0.2, 0.1))
                .number("difference in 155 pairs", promise.mcnemar_difference(155, 0.2))
                .number("  in 100, all one way", promise.mcnemar_one_way_difference(100))
                .number("pairs, exact", promise.mcnemar_variant_pairs(McNemarVariant::Exact, 0.2, 0.1))
                .number(
                    "power of 155 pairs",
                    promise.mcnemar_variant_power(McNemarVariant::Exact, 155, 0.2, 0.1),
                )
                .number(
                    "difference in 155 pairs",
                    promise.mcnemar_variant_difference(McNemarVariant::Exact, 155, 0.2),
                ),
        ),
        (
            "precision",
            figures()
                .number("cases for 0.8 +- 0.05", rate_precision(0.8, 0.05, L).map(round_up_cases))
                .number("cases for a mean", mean_precision(0.3, 0.05, L).map(round_up_cases))
                .number("  reach of 141", mean_half_width(0.3, 141, L))
                .number("design effect", design_effect(5.0, 0.3))
                .number("cases in clusters", inflate_for_clusters(141.0, 2.2).map(round_up_cases)),
        ),
    ]
}

fn combinations() -> Vec<(&'static str, Figures)> {
    use AbPreference::{A, B, Tie};
    let votes = tally_panel(&[Some(true), None, Some(false), Some(true)]);
    let scores = panel_scores(&[7.0, 8.0, 3.0]).unwrap();
    let log = |p: f64| Some(p.ln());
    let expected = expected_score(&[(1.0, log(0.1)), (2.0, log(0.3)), (3.0, log(0.4)), (4.0, None)]).unwrap();
    let orders = count_both_orders(&[(A, A), (A, B), (B, B), (Tie, A), (A, A)]);
    let best = best_of(&[8.0, 8.0, 6.0, 5.0], 0).unwrap();
    vec![
        (
            "panel",
            figures()
                .text("verdict", &format!("{:?}", votes.verdict.unwrap()))
                .number("agreement", votes.agreement)
                .number("mean score", scores.mean)
                .number("median", scores.median)
                .number("range", scores.range())
                .number("standard deviation", scores.sd),
        ),
        (
            "expected-score",
            figures()
                .number("probability seen", expected.mass)
                .number("expected score", expected.score)
                .number("not normalised", expected.unnormalised)
                .number("likeliest", expected.likeliest),
        ),
        (
            "both-orders",
            figures()
                .number("consistent", orders.consistent as f64)
                .number("rate", orders.rate)
                .number("A wins", orders.wins_a as f64)
                .number("B wins", orders.wins_b as f64)
                .number("undecided", orders.undecided as f64),
        ),
        (
            "best-of",
            figures()
                .text("alone at the top", &best.strict.to_string())
                .text("tied at the top", &best.tied.to_string())
                .number("credit", best.credit),
        ),
    ]
}

/// The blocks of a document that start with "```text example=NAME".
fn blocks(document: &str) -> BTreeMap<String, String> {
    document
        .split("```text example=")
        .skip(1)
        .map(|rest| {
            let (name, body) = rest.split_once('\n').expect("a name ends its line");
            let body = body.split("```").next().unwrap_or_default();
            (name.trim().to_owned(), body.to_owned())
        })
        .collect()
}

#[test]
fn worked_examples_come_out_as_written() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/statistics.md");
    let document = std::fs::read_to_string(file).expect("the handbook is part of the repository");
    let mut written = blocks(&document);
    let all = [
        rates(),
        means(),
        bounded_means(),
        comparisons(),
        repetition(),
        agreements(),
        judges(),
        plans(),
        combinations(),
    ];
    let mut wrong = Vec::new();
    for (name, figures) in all.into_iter().flatten() {
        let computed = figures.0;
        if written.remove(name).as_deref() != Some(&computed) {
            wrong.push(format!("```text example={name}\n{computed}```"));
        }
    }
    assert!(wrong.is_empty(), "these figures come out differently:\n{}", wrong.join("\n"));
    assert!(written.is_empty(), "no code computes these examples: {:?}", written.keys());
}
