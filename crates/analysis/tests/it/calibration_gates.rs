//! Limits of a calibration where the judge did not decide everything, and raters in several spellings.

use assize_analysis::ResamplingOptions;
use assize_analysis::calibrate::{
    CalibrationGate, CalibrationMaterial, CalibrationOptions, GateBasis, JudgeReadOptions, LabelInclusion,
    calibrate, check_calibration_gates,
};
use assize_analysis::labels::{ColumnMapping, LabelReadOptions, read_rows};
use assize_analysis::raters::rater_agreement;

fn material(table: &str) -> CalibrationMaterial {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, table).expect("written");
    let columns = ColumnMapping::default();
    let rows = read_rows(&[path], &LabelReadOptions { columns, ..LabelReadOptions::default() });
    let reading = JudgeReadOptions { threshold: 0.5, rater: None, likeliest: false };

    CalibrationMaterial::from_rows(&rows.expect("sound"), &reading, |_| LabelInclusion::Included)
        .expect("sound")
}

/// So many labelled cases on which the judge is right, and so many on which it decided nothing.
fn table(right: usize, open: usize) -> String {
    let line = |at: usize| {
        let label = if at.is_multiple_of(2) { "met" } else { "unmet" };
        format!("c{at},k,{},{label}\n", if at < right { label } else { "" })
    };
    let lines: Vec<String> = (0..right + open).map(line).collect();
    "case,criterion,judge,label\n".to_owned() + &lines.concat()
}

/// Passed and undecided, for a limit of 0.9 on this metric.
fn gate(right: usize, open: usize, figure: &'static str) -> (bool, bool) {
    let options = CalibrationOptions {
        resampling: ResamplingOptions { resamples: 200, ..ResamplingOptions::default() },
        worst_case: true,
        ..CalibrationOptions::default()
    };
    let found = calibrate(material(&table(right, open)), &options).expect("verdicts");
    let gates =
        check_calibration_gates(&found, &[CalibrationGate { figure, least: 0.9 }], GateBasis::Estimate);
    (gates[0].passed, gates[0].undecided)
}

#[test]
fn a_limit_is_not_reached_while_missing_decisions_could_undo_it() {
    for figure in ["accuracy", "kappa", "sensitivity"] {
        assert_eq!(gate(60, 0, figure), (true, false), "{figure}");
        assert_eq!(gate(20, 40, figure), (false, true), "{figure}");
        assert_eq!(gate(60, 1, figure), (true, false), "{figure}");
    }
}

#[test]
fn one_person_in_several_spellings_is_one_rater() {
    let rows = "c1,k,Ann,met\nc1,k,ann,unmet\nc1,k, ann,met\nc1,k,ÁNN,met\nc1,k,Ben,met\n";
    let found = material(&format!("case,criterion,who,label\n{rows}"));
    assert_eq!(found.items[0].people().len(), 3, "{:?}", found.items[0].people());

    let sections = rater_agreement(&found, None, ResamplingOptions::default());
    assert_eq!((sections[0].ratings, sections[0].rated_twice), (3, 1));
}
