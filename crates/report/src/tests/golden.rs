//! Terminal output, compared character by character. `ASSIZE_BLESS=1` rewrites the expected files.

use std::fs;
use std::path::Path;

use crate::{
    CaseDetailLevel, ReportStyle, SummaryExtra, explanation_json, render_case, render_case_table,
    render_explanation, render_summary, stored_texts,
};
use assize_store::{CaseRecord, ResultRow};

use crate::tests::support;

#[expect(clippy::disallowed_methods, reason = "a switch for people who change the layout on purpose")]
fn blessing() -> bool {
    std::env::var_os("ASSIZE_BLESS").is_some()
}

pub(crate) fn golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if blessing() {
        fs::write(&path, found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == found, "{name} differs; ASSIZE_BLESS=1 accepts it. Found:\n{found}");
}

fn plain(width: usize) -> ReportStyle {
    ReportStyle { color: false, width, unicode: true }
}

fn full(record: &CaseRecord, style: ReportStyle) -> String {
    render_case(&record.result, &stored_texts(&record.decisions), CaseDetailLevel::Full, style)
}

fn cases() -> Vec<CaseRecord> {
    vec![support::gated(), support::incomplete(), support::passed(), support::broken()]
}

#[test]
fn cases_in_full() {
    for width in [80, 120] {
        let text: Vec<String> = cases().iter().map(|record| full(record, plain(width))).collect();
        golden(&format!("cases-{width}.txt"), &text.join("\n"));
    }
    let ascii = ReportStyle { unicode: false, ..plain(80) };
    golden("case-ascii.txt", &full(&support::gated(), ascii));
    golden("case-color.txt", &full(&support::gated(), ReportStyle { color: true, ..plain(80) }));
}

#[test]
fn cases_in_brief() {
    let text: String = cases()
        .iter()
        .map(|record| render_case(&record.result, &|_, _| None, CaseDetailLevel::Brief, plain(80)))
        .collect();
    golden("brief.txt", &text);
}

#[test]
fn a_table_of_cases() {
    let mut rows: Vec<ResultRow> = cases().into_iter().map(|record| record.result).collect();
    rows[1].trial = 2;
    golden("table.txt", &render_case_table(&rows, 37, None, plain(80)));
    rows[2].suite = "shop".into();
    rows[2].target = None;
    rows[3].case_id = "a-case-id-that-its-author-made-much-longer-than-any-terminal-likes".into();
    golden("table-wide.txt", &render_case_table(&rows, 0, None, plain(100)));
    assert_eq!(render_case_table(&[], 0, None, plain(80)), "");
}

#[test]
fn a_summary() {
    let extra = SummaryExtra {
        folder: Some(".assize/runs/20260301-101500-4f2a"),
        gated: Some(2),
        quotes: Some((81, 84)),
        worst: &[],
        ..SummaryExtra::default()
    };
    let text = render_summary(&support::run(), extra, plain(80));
    assert!(text.lines().count() <= 24, "more than a screen:\n{text}");
    golden("summary.txt", &text);
    golden(
        "summary-color.txt",
        &render_summary(&support::run(), extra, ReportStyle { color: true, ..plain(80) }),
    );
}

#[test]
fn a_summary_of_a_run_that_was_killed() {
    let mut info = support::run();
    info.summary = None;
    info.judges[0].identity.name = "offline".into();
    info.judges[0].identity.model = None;
    info.judges[0].chosen_by = "default".to_owned();
    info.warnings.clear();
    golden("summary-killed.txt", &render_summary(&info, SummaryExtra::default(), plain(80)));
}

#[test]
fn explanations() {
    let mut records = cases();
    records.push(support::penalised());
    let text: Vec<String> =
        records.iter().map(|record| render_explanation(record, None, plain(80))).collect();
    golden("explain.txt", &text.join("\n"));
    let mut json = serde_json::to_string_pretty(&explanation_json(&support::incomplete(), None)).unwrap();
    json.push('\n');
    golden("explain.json", &json);
}
