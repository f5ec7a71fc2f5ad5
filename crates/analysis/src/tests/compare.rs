//! Two runs: metrics computed by hand, exclusions, and differences that prevent a comparison.

use crate::NameTable;
use crate::compare::{
    AllowedAspects, ComparisonAspect, ComparisonOptions, Conclusion, FlipSide, HeadlineMetric, RunComparison,
    VerdictFlip, compare, compare_many,
};
use assize_stats::{
    ConfidenceLevel, DifferenceReach, McNemarVariant, bounded_difference, multiplicity::PValueAdjustment,
    power::PowerDesign,
};

use crate::tests::support::{Case, case, close, passing, run, scored};

fn compared(base: &[Case], candidate: &[Case], options: &ComparisonOptions) -> RunComparison {
    let mut names = NameTable::default();
    let (base, candidate) = (run("base", base, &mut names), run("candidate", candidate, &mut names));
    compare(&base, &candidate, &names, options)
}

fn plain(base: &[Case], candidate: &[Case]) -> RunComparison {
    compared(base, candidate, &ComparisonOptions::default())
}

#[test]
fn pass_rates_are_tested_by_the_cases_that_differ() {
    // Twelve cases differ, ten of them regressed: p = 2 (1 + 12 + 66) / 2^12.
    let mut before = vec![true; 14];
    let mut after = vec![false; 10];
    after.extend([true; 4]);
    before.extend([false; 6]);
    after.extend([true, true, false, false, false, false]);
    let found = plain(&passing(&before), &passing(&after)).pass_rate;
    assert_eq!((found.n, found.higher, found.lower, found.test), (20, 2, 10, "McNemar, exact"));
    close(found.p, 158.0 / 4096.0);
    close(found.difference, -8.0 / 20.0);
    // Bonett and Price add one pair to either kind of change.
    let (lost, gained, n) = (11.0f64 / 22.0, 3.0 / 22.0, 22.0);
    let apart: f64 = gained - lost;
    let error = ((lost + gained - apart * apart) / n).sqrt();
    close(found.low, apart - 1.959_963_984_540_054 * error);
    close(found.high, apart + 1.959_963_984_540_054 * error);
    assert_eq!(found.call, Conclusion::Worse);
}

#[test]
fn scores_have_the_interval_of_rises_and_falls() {
    let before = [0.5; 6];
    let differences = [0.1, -0.2, 0.3, 0.4, 0.05, 0.13];
    let after: Vec<f64> = before.iter().zip(differences).map(|(score, change)| score + change).collect();
    let found = plain(&scored(&before), &scored(&after)).score;
    // From 0.5 to 0.63: it can fall by 0.5 at most and rise by 0.63.
    let reach = DifferenceReach { fall: 0.5, rise: 0.63 };
    let bounded = bounded_difference(&differences, &[0, 1, 2, 3, 4, 5], reach).unwrap();
    let interval = bounded.interval(ConfidenceLevel::P95).unwrap();
    close(found.p, bounded.p().unwrap());
    close(found.difference, 0.13);
    let squares: f64 = differences.iter().map(|d| (d - 0.13f64).powi(2)).sum();
    close(found.se, (squares / 5.0 / 6.0).sqrt());
    assert_eq!((found.se, found.se_cr0), (found.se_independent, None));
    close(found.low, interval.low);
    close(found.high, interval.high);
    assert_eq!(
        (found.call, found.interval_method.as_deref()),
        (Conclusion::Inconclusive, Some("Wilson, paired"))
    );
    // The detectable difference belongs to the test that was actually run.
    let se = found.se.expect("known");
    assert_eq!(found.detectable, bounded.detectable(se, PowerDesign::default()).ok());
    let factor = bounded.factor_to_detect(se, PowerDesign::default()).unwrap();
    assert_eq!(found.enough, Some((6.0 * factor).ceil() as u64));
    assert!(found.enough > Some(6));
}

#[test]
fn repeats_and_clusters_widen_the_error() {
    let answers = |scores: &[f64]| -> Vec<Case> {
        let cluster = |at: usize| ["x", "x", "y", "z"][at];
        scores
            .iter()
            .enumerate()
            .map(|(at, score)| {
                case(format!("c{at}"), *score).with(|case| case.cluster = Some(cluster(at).to_owned()))
            })
            .collect()
    };
    let found = plain(&answers(&[0.1, 0.2, 0.3, 0.4]), &answers(&[0.3, 0.5, 0.3, 0.5])).score;
    // Differences 0.2 and 0.3 of one cluster, 0 and 0.1 of their own; mean 0.15.
    let squares: f64 = 0.2f64.powi(2) + 0.15f64.powi(2) + 0.05f64.powi(2);
    let error = squares.sqrt() / 4.0 * (3.0f64 / 2.0).sqrt();
    assert_eq!((found.n, found.clusters, found.test), (4, Some(3), "inverted interval"));
    // From 0.25 to 0.4: values above 0.4 could have fallen, values above 0.25 can rise.
    let reach = DifferenceReach { fall: 0.6, rise: 0.75 };
    let bounded = bounded_difference(&[0.2, 0.3, 0.0, 0.1], &[0, 0, 1, 2], reach).unwrap();
    assert_eq!((found.low, found.high, found.call), (None, None, Conclusion::Inconclusive));
    assert!(
        found.says.starts_with("No conclusion: 3 clusters are too few; at least 6 are needed"),
        "{}",
        found.says
    );
    close(found.se, error);
    close(found.se_cr0, squares.sqrt() / 4.0);
    // Each pair separately: differences of 0.2, 0.3, 0 and 0.1 around 0.15.
    close(found.se_independent, (0.05f64 / 3.0 / 4.0).sqrt());
    close(found.p, bounded.p().unwrap());

    let repeated = |scores: [f64; 4]| -> Vec<Case> {
        scores
            .iter()
            .enumerate()
            .map(|(at, score)| {
                case(format!("c{}", at / 2), *score).with(|case| case.trial = at as u32 % 2 + 1)
            })
            .collect()
    };
    let found = plain(&repeated([0.0, 0.0, 1.0, 1.0]), &repeated([1.0, 1.0, 1.0, 0.0]));
    assert_eq!((found.clustered, found.pass_rate.clusters, found.pass_rate.n), (true, Some(2), 4));
    assert_eq!(found.pass_rate.test, "inverted interval", "McNemar's pairs must be independent");
}

#[test]
fn a_run_compared_with_itself_shows_nothing_and_claims_no_certainty() {
    let cases = scored(&[0.2, 0.9, 0.5, 1.0, 0.7, 0.3]);
    let found = plain(&cases, &cases);
    assert_eq!((found.verdict, found.score.p), (Conclusion::NoDifference, Some(1.0)));
    // At most this share of pairs would differ: 1 − 0.05^(1/6).
    close(found.score.high, 1.0 - 0.05f64.powf(1.0 / 6.0));
    assert_eq!(
        (found.score.se, found.score.se_independent),
        (None, None),
        "an error of 0 would claim certainty"
    );
    assert!(found.regressions.is_empty() && found.improvements.is_empty() && found.mismatches.is_empty());

    let margin = ComparisonOptions { margin: Some(0.05), ..ComparisonOptions::default() };
    assert_eq!(
        compared(&cases, &cases, &margin).verdict,
        Conclusion::Inconclusive,
        "six cases can't show so much"
    );
    let many = scored(&[0.5; 60]);
    assert_eq!(compared(&many, &many, &margin).verdict, Conclusion::Equivalent);
}

#[test]
fn a_difference_within_the_margin_does_not_matter() {
    let before = vec![0.5; 400];
    let after: Vec<f64> = (0..400).map(|at| 0.51 + f64::from(at % 2) * 0.01).collect();
    assert_eq!(plain(&scored(&before), &scored(&after)).verdict, Conclusion::Better);
    let margin = ComparisonOptions { margin: Some(0.03), ..ComparisonOptions::default() };
    let found = compared(&scored(&before), &scored(&after), &margin);
    assert_eq!(found.verdict, Conclusion::Equivalent);
    assert!(found.score.says.contains("margin of ±0.030"), "{}", found.score.says);
    let bootstrap = ComparisonOptions { bootstrap: true, ..ComparisonOptions::default() };
    let found = compared(&scored(&before), &scored(&after), &bootstrap).score;
    assert_eq!((found.interval_method.as_deref(), found.call), (Some("BCa bootstrap"), Conclusion::Better));
}

#[test]
fn small_rises_of_a_few_cases_may_hide_a_rare_fall() {
    // One in eight samples of a system that falls by 0.45 in a tenth of all cases looks like this.
    let (before, after) = (scored(&[0.5; 20]), scored(&[0.55; 20]));
    let found = plain(&before, &after).score;
    assert_eq!(found.call, Conclusion::Inconclusive);
    assert!(found.low.is_some_and(|low| low < 0.0) && found.p.is_some_and(|p| p > 0.05));
}

#[test]
fn pairs_too_few_to_show_a_difference_do_not_show_that_there_is_none() {
    // With five pairs, the smallest p of the exact test is 2/32. A wide margin does not help.
    let margin = ComparisonOptions { margin: Some(0.99), ..ComparisonOptions::default() };
    let strict =
        ComparisonOptions { level: ConfidenceLevel::new(0.99).unwrap(), ..ComparisonOptions::default() };
    for (pairs, options, expected) in [
        (2, ComparisonOptions::default(), Conclusion::Inconclusive),
        (5, ComparisonOptions::default(), Conclusion::Inconclusive),
        (6, ComparisonOptions::default(), Conclusion::NoDifference),
        (2, margin, Conclusion::Inconclusive),
        (6, margin, Conclusion::Equivalent),
        (7, strict, Conclusion::Inconclusive),
        (8, strict, Conclusion::NoDifference),
    ] {
        let cases = scored(&vec![0.5; pairs]);
        let found = compared(&cases, &cases, &options);
        assert_eq!([found.verdict, found.pass_rate.call], [expected; 2], "{pairs}");
    }
}

#[test]
fn rates_without_a_differing_pair_have_the_exact_bound() {
    let cases = passing(&[true; 12]);
    let found = plain(&cases, &cases).pass_rate;
    // 0.95 of 12 pairs differ at least once where a share of 1 - 0.05^(1/12) differs.
    let bound = 1.0 - 0.05f64.powf(1.0 / 12.0);
    close(found.low, -bound);
    close(found.high, bound);
    assert_eq!(found.interval_method.as_deref(), Some("exact bound on the share of pairs that differ"));
    assert!(found.says.contains("with 12 pairs, the change is at most ±22.1 pp"), "{}", found.says);
}

#[test]
fn one_pair_decides_nothing() {
    let alike = plain(&scored(&[0.5]), &scored(&[0.5]));
    assert_eq!((alike.verdict, alike.pass_rate.call), (Conclusion::Inconclusive, Conclusion::Inconclusive));
    let apart = plain(&scored(&[0.0]), &scored(&[1.0]));
    assert_eq!((apart.verdict, apart.pass_rate.call), (Conclusion::Inconclusive, Conclusion::Inconclusive));

    let margin = ComparisonOptions { margin: Some(0.96), ..ComparisonOptions::default() };
    let within = compared(&scored(&[0.5]), &scored(&[0.5]), &margin);
    assert_eq!((within.verdict, within.pass_rate.call), (Conclusion::Inconclusive, Conclusion::Inconclusive));
}

#[test]
fn intervals_exclude_no_difference_that_the_test_does_not() {
    // Two to five pairs that all rise could be coins that fall alike.
    for (pairs, scores) in [(2, [0.2, 0.9]), (5, [0.2, 0.9]), (3, [0.0, 1.0]), (5, [0.0, 1.0])] {
        let found = plain(&scored(&vec![scores[0]; pairs]), &scored(&vec![scores[1]; pairs])).score;
        assert_eq!((found.low, found.high, found.interval_method), (None, None, None));
        let said =
            format!("No conclusion: {pairs} pairs are too few; at least 6 are needed for 95% confidence.");
        assert_eq!((found.call, found.says), (Conclusion::Inconclusive, said));
    }
    let six = plain(&scored(&[0.2; 6]), &scored(&[0.9; 6])).score;
    assert_eq!((six.call, six.low.is_some_and(|low| low > 0.0)), (Conclusion::Better, true), "{six:?}");

    // Among more pairs, five that differ could be such coins too.
    let rises =
        |differing: usize| -> Vec<f64> { (0..30).map(|at| if at < differing { 0.9 } else { 0.2 }).collect() };
    for differing in 1..=8 {
        let found = plain(&scored(&[0.2; 30]), &scored(&rises(differing)));
        for metric in [found.score, found.pass_rate] {
            let excludes =
                metric.low.is_some_and(|low| low > 0.0) || metric.high.is_some_and(|high| high < 0.0);
            let is_shown = metric.p.is_some_and(|p| p <= 0.05);
            assert!(!excludes || is_shown, "{differing}: {metric:?}");
            assert_eq!(metric.call == Conclusion::Better, is_shown, "{differing}: {metric:?}");
        }
    }
}

#[test]
fn mid_p_is_less_cautious_than_the_exact_test() {
    let (before, after) = (scored(&[0.0; 6]), scored(&[0.0, 1.0, 1.0, 1.0, 1.0, 1.0]));
    let exact = plain(&before, &after).pass_rate;
    let options = ComparisonOptions { mid_p: true, ..ComparisonOptions::default() };
    let mid = compared(&before, &after, &options).pass_rate;
    // Five of five differing pairs go one way: 2/32, and half of it for mid-p.
    close(exact.p, 0.0625);
    close(mid.p, 0.03125);
    assert_eq!((exact.test, mid.test), ("McNemar, exact", "McNemar, mid-p"));
    assert_eq!((exact.call, mid.call), (Conclusion::Inconclusive, Conclusion::Better));

    // The interval is from another method and may contain 0 although the test is significant. Here twelve of
    // sixty are lost and four gained.
    let before: Vec<f64> = (0..60).map(|at| if at < 4 { 0.0 } else { 1.0 }).collect();
    let after: Vec<f64> = (0..60).map(|at| if (4..16).contains(&at) { 0.0 } else { 1.0 }).collect();
    let (before, after) = (scored(&before), scored(&after));
    let mid = compared(&before, &after, &options).pass_rate;
    assert_eq!((mid.call, mid.high.is_some_and(|high| high >= 0.0)), (Conclusion::Worse, true), "{mid:?}");
    assert!(mid.says.contains("the test decides (p = 0.049"), "{}", mid.says);
}

#[test]
fn too_few_cases_say_what_would_be_enough() {
    let (before, after) = (
        passing(&[true, true, true, false, true, true, true, true]),
        passing(&[true, false, false, true, true, true, true, false]),
    );
    let found = plain(&before, &after).pass_rate;
    // Three of eight lost, one gained: 4/8 differ, by 2/8.
    let expected = PowerDesign::default().mcnemar_variant_pairs(McNemarVariant::Exact, 0.5, 0.25).unwrap();
    assert_eq!(found.enough, Some(expected as u64));
    assert!(
        found.says.contains("No significant difference")
            && found.says.contains("With 8 pairs, a change of about"),
        "{}",
        found.says
    );
}

#[test]
fn scores_that_move_without_the_verdict_are_listed_by_their_size() {
    let found = plain(&scored(&[0.9, 0.5, 0.4, 0.3, 0.2]), &scored(&[0.1, 0.4, 0.1, 0.3, 0.4]));
    let change = |flip: &VerdictFlip| {
        let score = |side: FlipSide| (side.score.unwrap_or_default() * 10.0).round() as i32;
        score(flip.candidate) - score(flip.base)
    };
    let shifts = &found.shifts;
    // Cases whose verdict changed are among the regressions instead.
    assert_eq!(found.regressions.iter().map(change).collect::<Vec<_>>(), [-8]);
    assert_eq!(shifts.lower.iter().map(change).collect::<Vec<_>>(), [-3, -1]);
    assert_eq!(shifts.higher.iter().map(change).collect::<Vec<_>>(), [2]);
    assert_eq!((shifts.lower_count, shifts.higher_count), (2, 1));
    let json = serde_json::to_value(&found).expect("JSON");
    assert!(json.get("shifts").is_none() && json.get("regressions").is_some());
}

#[test]
fn nothing_one_case_and_no_common_case_are_undefined_and_not_zero() {
    let one = plain(&scored(&[0.5]), &scored(&[0.7]));
    assert_eq!((one.score.n, one.verdict, one.score.low), (1, Conclusion::Inconclusive, None));
    assert!(one.score.says.contains("single value"), "{}", one.score.says);
    let clustered = |score: f64, clusters: usize| -> Vec<Case> {
        let of = |at: usize| {
            case(format!("c{at}"), score).with(|case| case.cluster = Some(format!("k{}", at % clusters)))
        };
        (0..12).map(of).collect()
    };
    let one = plain(&clustered(0.5, 1), &clustered(0.7, 1));
    assert!(one.score.says.contains("a single cluster"), "{}", one.score.says);
    let two = plain(&clustered(0.5, 2), &clustered(0.5, 2));
    assert!(two.score.says.contains("with 12 pairs in 2 clusters"), "{}", two.score.says);
    let none = plain(&[case("a", 1.0)], &[case("b", 0.0)]);
    assert_eq!((none.common, none.new.len(), none.gone.len(), none.gone_passed), (0, 1, 1, 1));
    assert_eq!((none.score.n, none.score.difference, none.score.p), (0, None, None));
    let empty = plain(&[], &[]);
    assert_eq!((empty.common, empty.verdict), (0, Conclusion::Inconclusive));
}

#[test]
fn what_is_undecided_is_listed_and_bounded() {
    let before = vec![case("a", 1.0), case("b", 0.5), case("c", 0.4), case("d", 0.9)];
    let after = vec![
        case("a", 1.0),
        case("b", 0.0).undecided(0.25, 0.75),
        case("c", 0.6),
        case("d", 0.0).undecided(0.0, 1.0),
    ];
    let found = plain(&before, &after);
    assert_eq!((found.common, found.score.n, found.pass_rate.n), (4, 2, 2));
    let ids: Vec<&str> = found.incomplete.iter().map(|case| case.name.case_id.as_str()).collect();
    assert_eq!(ids, ["b", "d"]);
    assert_eq!((found.incomplete[1].base_passed, found.incomplete[1].candidate_passed), (Some(true), None));
    let [low, high] = found.score_bounds.expect("something is open");
    close(Some(low), (0.0 - 0.25 + 0.2 - 0.9) / 4.0);
    close(Some(high), (0.0 + 0.25 + 0.2 + 0.1) / 4.0);
    let all = plain(&[case("x", 0.0).undecided(0.0, 1.0)], &[case("x", 0.0).undecided(0.0, 1.0)]);
    assert_eq!((all.score.n, all.score_bounds), (0, Some([-1.0, 1.0])));
}

#[test]
fn ways_of_measuring_that_differ_are_named() {
    let one =
        |change: fn(&mut Case)| vec![case("a", 1.0).criterion("k", "Is polite", Some(1.0)).with(change)];
    let respects = |base: &[Case], candidate: &[Case]| -> Vec<ComparisonAspect> {
        plain(base, candidate).mismatches.iter().map(|found| found.aspect).collect()
    };
    let base = one(|_| {});
    assert_eq!(respects(&base, &base), []);
    assert_eq!(respects(&base, &one(|case| case.judge = "openai:other")), [ComparisonAspect::Judge]);
    assert_eq!(respects(&base, &one(|case| case.prompt = "bbbb")), [ComparisonAspect::Prompt]);
    assert_eq!(respects(&base, &one(|case| case.judging = "batched")), [ComparisonAspect::Judging]);
    assert_eq!(respects(&base, &one(|case| case.pass_line = 0.9)), [ComparisonAspect::Thresholds]);
    assert_eq!(
        respects(&base, &one(|case| "Is rude".clone_into(&mut case.criteria[0].1))),
        [ComparisonAspect::Rubric]
    );
    assert_eq!(respects(&base, &one(|case| case.criteria[0].2 = 2.0)), [ComparisonAspect::Rubric]);
    assert_eq!(
        respects(&base, &one(|case| case.criteria.push(case.criteria[0].clone()))),
        [ComparisonAspect::Rubric]
    );
    let asking = |hash: &'static str| vec![case("a", 1.0).with(|case| case.hash = Some(hash.to_owned()))];
    assert_eq!(respects(&asking("1"), &asking("2")), [ComparisonAspect::Question]);
    assert_eq!(respects(&asking("1"), &scored(&[1.0])), [], "what a run did not keep is not held against it");
    // A judge that could not answer does not count as another judge.
    let silent = vec![
        case("a", 1.0).undecided(0.0, 1.0).criterion("k", "Is polite", None).with(|case| case.judge = "x"),
    ];
    assert_eq!(respects(&base, &silent), []);
}

#[test]
fn graders_that_weigh_or_gate_otherwise_or_are_gone_are_named() {
    let with = |change: fn(Case) -> Case| vec![change(case("a", 1.0).criterion("k", "Is polite", Some(1.0)))];
    let respects = |base: &[Case], candidate: &[Case]| -> Vec<ComparisonAspect> {
        plain(base, candidate).mismatches.iter().map(|found| found.aspect).collect()
    };
    let base = with(|case| case.program("p", 1.0, "adds up"));
    for other in [
        with(|case| case.program("p", 1.0, "adds up").with(|case| case.weighting.0 = 0.2)),
        with(|case| case.program("p", 1.0, "adds up").with(|case| case.weighting.1 = true)),
        with(|case| case),
        with(|case| case.program("p", 1.0, "adds up").program("q", 1.0, "")),
    ] {
        assert_eq!(respects(&base, &other), [ComparisonAspect::Rubric]);
        assert_eq!(respects(&other, &base), [ComparisonAspect::Rubric]);
    }
    // A program's findings depend on the answer, so their text and number are not part of the method.
    for other in [with(|case| case.program("p", 0.0, "is off by 3")), with(|case| case.program("p", 1.0, ""))]
    {
        assert_eq!(respects(&base, &other), []);
        assert_eq!(respects(&other, &base), []);
    }
}

#[test]
fn only_the_metrics_that_a_difference_touches_are_withheld() {
    let cases = |change: fn(&mut Case), value: f64| -> Vec<Case> {
        (0..8)
            .map(|at| {
                case(format!("c{at}"), value)
                    .criterion("k", "Is polite", Some(value))
                    .criterion("l", "Is short", Some(1.0))
                    .program("p", 1.0, "adds up")
                    .with(change)
            })
            .collect()
    };
    let base = cases(|_| {}, 1.0);
    let calls = |candidate: &[Case], allowed: AllowedAspects| {
        let options = ComparisonOptions { allowed, ..ComparisonOptions::default() };
        let found = compared(&base, candidate, &options);
        let rows = found.tables.iter().filter(|table| ["grader", "criterion"].contains(&table.by));
        let withheld = rows.flat_map(|table| &table.rows).filter(|row| row.contrast.undefined.is_some());
        let mut names: Vec<String> = withheld.map(|row| row.name.clone()).collect();
        names.sort();
        (found.pass_rate.call, found.score.call, names, found.regressions.len())
    };

    let lines = cases(|case| case.pass_line = 0.9, 0.0);
    let (pass, score, names, flips) = calls(&lines, AllowedAspects::NONE);
    assert_eq!((pass, score, flips), (Conclusion::NotComparable, Conclusion::Worse, 0));
    assert!(names.is_empty(), "{names:?}");
    let (pass, ..) = calls(&lines, AllowedAspects::NONE.with(ComparisonAspect::Thresholds));
    assert_eq!(pass, Conclusion::Worse);

    let required = cases(|case| case.weighting.1 = true, 0.0);
    let (pass, score, names, _) = calls(&required, AllowedAspects::NONE);
    assert_eq!((pass, score, names.len()), (Conclusion::NotComparable, Conclusion::Worse, 0));

    let weight = cases(|case| case.weighting.0 = 0.5, 0.0);
    let (pass, score, names, _) = calls(&weight, AllowedAspects::NONE);
    assert_eq!((pass, score, names.len()), (Conclusion::NotComparable, Conclusion::NotComparable, 0));

    let rounded = cases(|case| case.weighting.0 += 1e-13, 0.0);
    let (pass, score, ..) = calls(&rounded, AllowedAspects::NONE);
    assert!(
        pass != Conclusion::NotComparable && score != Conclusion::NotComparable,
        "rounding is no other weight"
    );

    let words = cases(|case| "Is rude".clone_into(&mut case.criteria[0].1), 0.0);
    let (pass, score, names, _) = calls(&words, AllowedAspects::NONE);
    assert_eq!((pass, score), (Conclusion::NotComparable, Conclusion::NotComparable));
    assert_eq!(names, ["rubrics", "rubrics/k"], "the program and the other criterion are as they were");
    assert_eq!(calls(&words, AllowedAspects::ALL).2.len(), 0);

    let found = plain(&base, &words);
    assert_eq!((found.score.difference, found.score.p, found.score.n), (None, None, 8));
    let says = found.mismatches[0].describe_touched();
    assert_eq!(says, "not compared: pass rate, mean score, grader `rubrics`, criterion `rubrics/k`");
}

#[test]
fn dust_of_sums_is_no_difference_to_plan_for() {
    let scores = |first: f64, rest: f64| -> Vec<Case> {
        (0..6).map(|at| case(format!("c{at}"), if at < 3 { first } else { rest })).collect()
    };
    let found = plain(&scores(0.1, 0.7), &scores(0.4, 0.4));
    let difference = found.score.difference.expect("known");
    assert!(difference != 0.0 && difference.abs() < 1e-9, "{difference}");
    assert_eq!((found.score.higher, found.score.lower, found.score.enough), (3, 3, None));
    assert!(!found.score.says.contains("18446744073709551615"), "{}", found.score.says);
}

#[test]
fn criteria_that_share_an_id_by_position_are_told_apart_by_their_words() {
    let cases = |value: f64| -> Vec<Case> {
        (0..12)
            .map(|at| {
                let text = if at < 6 { "Is polite".to_owned() } else { format!("Says {at}") };
                case(format!("c{at:02}"), value).criterion("rubric-1", &text, Some(value)).criterion(
                    "all",
                    "Is short",
                    Some(1.0),
                )
            })
            .collect()
    };
    let found = plain(&cases(0.0), &cases(1.0));
    let table = found.tables.iter().find(|table| table.by == "criterion").expect("criteria");
    let rows: Vec<(&str, usize)> = table.rows.iter().map(|row| (row.name.as_str(), row.contrast.n)).collect();
    assert_eq!(rows, [("rubrics/rubric-1", 6), ("rubrics/all", 12)]);
    assert_eq!(table.too_small, 6, "six criteria were asked once each");
    // 2/2^6 alone, doubled by Holm for two comparisons.
    close(table.rows[0].contrast.p, 0.031_25);
    close(table.rows[0].contrast.p_adjusted, 0.0625);
    assert_eq!(table.rows[0].contrast.call, Conclusion::Inconclusive);
    let alone = ComparisonOptions { adjustment: None, ..ComparisonOptions::default() };
    let table = compared(&cases(0.0), &cases(1.0), &alone).tables;
    assert_eq!(table.last().expect("criteria").rows[0].contrast.call, Conclusion::Better);
    let scan = ComparisonOptions {
        adjustment: Some(PValueAdjustment::BenjaminiHochberg),
        ..ComparisonOptions::default()
    };
    let table = compared(&cases(0.0), &cases(1.0), &scan).tables;
    close(table.last().expect("criteria").rows[0].contrast.p_adjusted, 0.0625);
}

#[test]
fn more_of_a_fault_is_worse() {
    let cases = |value: f64| -> Vec<Case> {
        (0..8)
            .map(|at| {
                case(format!("c{at}"), 0.5)
                    .criterion("lies", "Invents a policy", Some(value))
                    .criterion("x", "Is short", Some(1.0))
                    .with(|case| case.criteria[0].2 = -1.0)
            })
            .collect()
    };
    let found = plain(&cases(0.0), &cases(1.0));
    let row = &found.tables.iter().find(|table| table.by == "criterion").expect("criteria").rows[0];
    assert_eq!((row.name.as_str(), row.contrast.call), ("rubrics/lies (avoided)", Conclusion::Worse));
    assert_eq!((row.contrast.base, row.contrast.candidate), (Some(1.0), Some(0.0)));
}

#[test]
fn tags_and_suites_are_compared_on_their_own() {
    let cases = |refund: f64| -> Vec<Case> {
        (0..14)
            .map(|at| {
                let (tag, suite) = if at % 2 == 0 { ("refund", "one") } else { ("other", "two") };
                let score = if at % 2 == 0 { refund } else { 0.5 };
                case(format!("c{at}"), score).with(|case| {
                    case.tags = vec![tag.to_owned()];
                    suite.clone_into(&mut case.suite);
                })
            })
            .collect()
    };
    let found = plain(&cases(0.9), &cases(0.4));
    for by in ["tag", "suite"] {
        let table = found.tables.iter().find(|table| table.by == by).expect("a table");
        let calls: Vec<Conclusion> = table.rows.iter().map(|row| row.contrast.call).collect();
        assert_eq!(calls, [Conclusion::Worse, Conclusion::NoDifference], "{by}");
        let contrast = &table.rows[0].contrast;
        close(contrast.p_adjusted, 2.0 * contrast.p.unwrap());
    }
    assert!(found.tables.iter().all(|table| table.by != "grader"), "one grader would repeat the whole");
}

#[test]
fn changed_cases_carry_both_reasons() {
    let before = vec![case("a", 1.0).criterion("k", "x", Some(1.0)), case("b", 0.1)];
    let after = vec![case("a", 0.0).criterion("k", "x", Some(0.0)), case("b", 0.9)];
    let mut found = plain(&before, &after);
    assert_eq!((found.regressions.len(), found.improvements.len()), (1, 1));
    let flip = &mut found.regressions[0];
    flip.copy_reasons(&before[1].row(), false);
    assert_eq!(flip.criteria[0].base_reason, None, "another case's row says nothing");
    flip.copy_reasons(&before[0].row(), false);
    flip.copy_reasons(&after[0].row(), true);
    assert_eq!(flip.criteria[0].base_reason.as_deref(), Some("k of a"));
    assert_eq!((flip.criteria[0].base, flip.criteria[0].candidate), (Some(1.0), Some(0.0)));
}

#[test]
fn several_candidates_are_adjusted_and_set_against_each_other() {
    let mut names = NameTable::default();
    let base = run("a", &scored(&[0.5; 8]), &mut names);
    let better = run("b", &scored(&[0.9, 0.8, 0.9, 0.7, 0.9, 0.6, 0.8, 0.9]), &mut names);
    let same = run("c", &scored(&[0.5; 8]), &mut names);
    let many = compare_many(&base, &[better, same], &names, &ComparisonOptions::default());
    let calls: Vec<Conclusion> = many.comparisons.iter().map(|found| found.verdict).collect();
    assert_eq!(calls, [Conclusion::Better, Conclusion::NoDifference]);
    let p = many.comparisons[0].score.p.unwrap();
    close(many.comparisons[0].score.p_adjusted, 2.0 * p);
    let cell = |row: usize, column: usize| many.matrix[row][column].as_ref().expect("not on the diagonal");
    assert!(many.matrix[1][1].is_none());
    close(cell(1, 0).p_adjusted, 3.0 * p);
    assert_eq!((cell(1, 0).call, cell(0, 1).call), (Conclusion::Better, Conclusion::Worse));
    assert_eq!(cell(0, 1).difference, cell(1, 0).difference.map(|difference| -difference));
    assert_eq!((cell(0, 1).low, cell(0, 1).base), (cell(1, 0).high.map(|high| -high), cell(1, 0).candidate));
}

#[test]
fn the_headline_is_the_figure_that_was_asked_for() {
    // Every score rises a little, no verdict changes.
    let (before, after) = (scored(&[0.1; 60]), scored(&[0.2; 60]));
    assert_eq!(plain(&before, &after).verdict, Conclusion::Better);
    let rate = ComparisonOptions { headline: HeadlineMetric::PassRate, ..ComparisonOptions::default() };
    assert_eq!(compared(&before, &after, &rate).verdict, Conclusion::NoDifference);
}

#[test]
fn facts_of_runs_that_were_read_apart_are_those_that_share_a_table() {
    let tagged = |id: &str, tags: &[&str]| {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        case(id, 0.5)
            .with(|case| case.tags = tags)
            .criterion("k", "says it", Some(1.0))
            .program("p", 0.0, "a point")
    };
    let before = [tagged("a", &["x", "y"]), tagged("b", &["z"])];
    let after = [tagged("b", &["y", "z", "x"]), tagged("a", &["w"])];

    let mut shared = NameTable::default();
    let expected = (run("base", &before, &mut shared), run("candidate", &after, &mut shared));

    let (mut names, mut others) = (NameTable::default(), NameTable::default());
    let base = run("base", &before, &mut names);
    let mut candidate = run("candidate", &after, &mut others);
    let numbers = names.absorb(&others);
    candidate.cases.iter_mut().for_each(|case| case.renumber(&numbers));
    assert_eq!((base, candidate), expected);
}
