//! The worked example of docs/scoring.md, computed again from the tables on that page.

use assize_rubric::{
    Criterion, CriterionScale, Gate, GraderOutcome, GraderWeighting, Outcome, RawScore, Rubric, RubricScore,
    ScoreBand, ScoreBands, UnitInterval, VerdictThresholds, Weight, score_case, score_rubric,
};

use xtask::shell;

/// The cells of the table that follows a mark, without its header.
fn table(mark: &str) -> Vec<Vec<String>> {
    let page = std::fs::read_to_string(shell::root().join("docs/scoring.md")).expect("the page is there");
    let (_, rest) = page.split_once(&format!("<!-- {mark} -->")).expect("the mark is there");
    let lines = rest.trim_start().lines().take_while(|line| line.starts_with('|')).skip(2);
    let rows: Vec<Vec<String>> = lines
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect())
        .collect();
    assert!(rows.len() >= 3, "the table after `{mark}` is too short");

    rows
}

fn raw(text: &str) -> RawScore {
    RawScore::new(text.parse().expect("a whole number")).expect("0 to 10")
}

fn outcome(text: &str) -> Outcome {
    match text {
        "met" => Outcome::Met,
        "unmet" => Outcome::Unmet,
        "not applicable" => Outcome::NotApplicable,
        "ungraded" => Outcome::Ungraded,
        number => Outcome::Scored(raw(number)),
    }
}

fn criterion(row: &[String]) -> Criterion {
    let mut criterion = Criterion::checklist(row[0].as_str(), "what is checked");
    criterion.weight = Weight::new(row[1].parse().expect("a number")).expect("finite");
    criterion.gate = match row[2].as_str() {
        "–" => None,
        "required" => Some(Gate::Met),
        other => Some(Gate::MinRaw(raw(other.strip_prefix("required_min_score ").expect("a known gate")))),
    };

    if let Outcome::Scored(_) = outcome(&row[3]) {
        let band = ScoreBand { low: raw("0"), high: raw("10"), text: "all".to_owned() };
        criterion.scale = CriterionScale::Bands(ScoreBands::new(vec![band]).expect("0 to 10"));
    }

    criterion
}

/// The default thresholds of a format.
fn thresholds(borderline: Option<f64>) -> VerdictThresholds {
    let unit = |value| UnitInterval::new(value).expect("0 to 1");
    VerdictThresholds::new(unit(VerdictThresholds::DEFAULT_PASS), borderline.map(unit)).expect("in order")
}

fn four_digits(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Score of the example's rubric after a change such as `` `a` is met ``.
fn scored(change: &str, thresholds: VerdictThresholds) -> RubricScore {
    let rows = table("example");
    let rubric = Rubric::new(rows.iter().map(|row| criterion(row)).collect()).expect("sound");
    let mut outcomes: Vec<Outcome> = rows.iter().map(|row| outcome(&row[3])).collect();
    if change != "nothing" {
        let (id, word) = change.split_once(" is ").expect("a change");
        let index = rows.iter().position(|row| row[0] == id).expect("a criterion of the example");
        outcomes[index] = outcome(word);
    }

    score_rubric(&rubric, &outcomes, thresholds).expect("outcomes fit")
}

#[test]
fn the_values_of_the_example_are_those_of_its_outcomes() {
    for row in table("example") {
        let value = outcome(&row[3]).value().map_or("–".to_owned(), four_digits);
        assert_eq!(value, row[4], "{row:?}");
    }
}

#[test]
fn every_change_leads_to_the_figures_of_the_page() {
    for row in table("changes") {
        let one = scored(&row[0], thresholds(Some(VerdictThresholds::DEFAULT_BORDERLINE)));
        let two = scored(&row[0], thresholds(None));
        let (low, high) = one.bounds.expect("something applies");
        let computed = [
            four_digits(low),
            four_digits(high),
            four_digits(one.coverage.expect("something applies")),
            one.verdict.expect("something applies").to_string(),
            two.verdict.expect("something applies").to_string(),
        ];
        assert_eq!(computed[..], row[1..], "{}", row[0]);
    }
}

#[test]
fn the_graders_of_the_page_add_up_to_its_case() {
    let thresholds = thresholds(None);
    let rows = table("graders");
    let weighting = |row: &[String]| GraderWeighting {
        weight: Weight::new(row[1].parse().expect("a number")).expect("finite"),
        ..GraderWeighting::default()
    };
    let strings = Rubric::new(vec![Criterion::checklist("a", "first"), Criterion::checklist("b", "second")]);
    let strings =
        score_rubric(&strings.expect("sound"), &[Outcome::Met, Outcome::Met], thresholds).expect("fits");
    let graders = [
        (weighting(&rows[0]), GraderOutcome::Rubric(scored("nothing", thresholds))),
        (weighting(&rows[1]), GraderOutcome::Rubric(strings)),
    ];
    let case = score_case(&graders, thresholds);
    for (grader, row) in case.graders.iter().zip(&rows) {
        assert_eq!(four_digits(grader.score.expect("known")), row[2], "{row:?}");
    }
    assert_eq!(four_digits(case.score.expect("known")), rows[2][2]);
}
