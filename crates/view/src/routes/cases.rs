//! The cases of a run: a page with the filter, the rows for its table, and the details that a row unfolds to.

use assize_engine::LabelledItem;
use assize_report::{
    answer_excerpt, cut_text, escape_lines as visible, excerpt, explain_case, format_duration, grouped,
    short_criterion_name,
};
use assize_rubric::{OutcomeKind, Usd};
use assize_store::{CaseRecord, QuestionRow, StoreError};
use axum::extract::{Path, State};
use axum::http::Uri;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use url::form_urlencoded::{Serializer, parse};

use super::case_work::{negated_text, tool_call_texts};
use super::run_header::{earlier_run, is_live, run_header};
use crate::index::{
    CaseCounts, CaseFilter, CaseSort, CaseTableEntry, CaseTableIndex, CriterionEntry, OutcomeChoice,
    VerdictChoice,
};
use crate::library::RunLibrary;
use crate::open_run::OpenRun;
use crate::page_reply::{
    Library, PageError, blocking, open_case, open_run, query_value, render, run_url, with_query,
};
use crate::pages::{
    CasePeek, CaseRow, CasesPage, ChipGroup, ChoiceField, CriterionCell, FilterChip, PeekCriterion,
    PlainRows, SortLink,
};
use crate::people::{labels_of, words_of_people};
use crate::text::{ResultMark, range_text, sentence};

/// Maximum number of rows in one reply.
const MAX_ROWS: usize = 500;
/// Number of rows sent with the page, for the first screen: as many as the table requests at a time.
const FIRST_ROWS: usize = 100;
/// Maximum number of characters of a text that a row unfolds to; the page of the case has the rest.
const MAX_PEEK: usize = 20_000;
/// Maximum number of criteria in a row, and of tags and criteria that are chips.
const MAX_CELLS: usize = 12;
const MAX_CHIPS: usize = 8;

/// Columns of the plain table, with the order that their heads lead to.
const PLAIN_COLUMNS: [(&str, Option<CaseSort>); 8] = [
    ("Verdict", Some(CaseSort::Verdict)),
    ("Score", Some(CaseSort::Score)),
    ("Case", Some(CaseSort::Id)),
    ("Question", None),
    ("Answer", None),
    ("Failed gates, unmet, penalties", None),
    ("Cost", Some(CaseSort::Cost)),
    ("Latency", Some(CaseSort::Latency)),
];

const OUTCOMES: [(Option<OutcomeChoice>, &str); 7] = [
    (None, "any outcome"),
    (Some(OutcomeChoice::Against), "unmet, or a penalty incurred"),
    (Some(OutcomeChoice::Met), "met (of a penalty: incurred)"),
    (Some(OutcomeChoice::Unmet), "unmet (of a penalty: avoided)"),
    (Some(OutcomeChoice::Scored), "scored"),
    (Some(OutcomeChoice::Ungraded), "ungraded"),
    (Some(OutcomeChoice::NotApplicable), "not applicable"),
];

pub(crate) async fn page(
    State(library): Library,
    Path(slug): Path<String>,
    uri: Uri,
) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let info = library.info(&run.folder)?;
        let filter = CaseFilter::from_query(uri.query().unwrap_or_default());
        let base = base_run(&library, &filter)?;
        let plain_page = query_value(&uri, "page").and_then(|page| page.parse().ok());
        // The table itself requests rows that are not read yet.
        let is_first = plain_page.is_none() && filter == CaseFilter::default();
        let index = if is_first { run.first_index()? } else { run.index()? };
        let is_partial = is_first && !run.is_indexed() && !is_live(&run, &info);
        let choices = run.choices(&index)?;
        let rows = run.select(&index, &filter, base.as_deref())?;

        let (url, query) = (run_url(&run.slug), filter.to_query());
        let cases_url = format!("{url}/cases");
        let outcome = |outcome: Option<OutcomeChoice>| outcome.map_or("", OutcomeChoice::name);
        let earlier = filter.changed.clone().or_else(|| Some(earlier_run(&library, &run.slug, &info)?.slug));
        let cases = CasesPage {
            header: run_header(&run, &info, "cases"),
            is_live: is_live(&run, &info),
            chips: chip_groups(&choices.counts, &cases_url, &query, earlier.as_deref()),
            fields: ChoiceField::all(&choices, &filter),
            text: filter.text.clone().unwrap_or_default(),
            outcomes: OUTCOMES.map(|(kind, text)| (outcome(kind), text, kind == filter.outcome)).to_vec(),
            rows_url: format!("{url}/rows"),
            is_partial,
            first_rows: match plain_page {
                Some(_) => String::new(),
                // No text in the data element of the page can close it.
                None => rows_json(&run, &index, &rows, 0, FIRST_ROWS)?.to_string().replace('<', "\\u003c"),
            },
            counts: format!("{} of {} cases", grouped(rows.len() as u64), grouped(index.len() as u64)),
            found: rows.len(),
            plain: plain_page.map(|page| plain_rows(&run, &index, &filter, &rows, page)).transpose()?,
            plain_url: with_query(&cases_url, &page_query(&query, 1)),
            cases_url,
            has_suites: choices.suites.len() > 1 || info.suites.len() > 1,
            has_prompts: choices.prompts.len() > 1,
            has_targets: choices.targets.len() > 1 || info.targets.len() > 1,
        };
        Ok(render(&cases))
    })
    .await
}

/// Rows of the table from `from` on.
pub(crate) async fn rows(
    State(library): Library,
    Path(slug): Path<String>,
    uri: Uri,
) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let filter = CaseFilter::from_query(uri.query().unwrap_or_default());
        let base = base_run(&library, &filter)?;
        let number = |key: &str| query_value(&uri, key).and_then(|value| value.parse::<usize>().ok());
        let from = number("from").unwrap_or(0);
        let count = number("count").unwrap_or(MAX_ROWS).min(MAX_ROWS);

        let index = run.index()?;
        let rows = run.select(&index, &filter, base.as_deref())?;
        let body = rows_json(&run, &index, &rows, from, count)?;

        Ok(([(CONTENT_TYPE, "application/json")], body.to_string()).into_response())
    })
    .await
}

/// What a row unfolds to: the whole texts, and the criteria with their reasons and quotes.
pub(crate) async fn peek(
    State(library): Library,
    Path((slug, row)): Path<(String, String)>,
) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let (_, record) = open_case(&run, &row)?;
        let question = run.question(&record.result)?;

        Ok(render(&case_peek(&record, question.as_ref())))
    })
    .await
}

/// The run that a filter asks for changes since.
pub(super) fn base_run(
    library: &RunLibrary,
    filter: &CaseFilter,
) -> Result<Option<std::sync::Arc<OpenRun>>, PageError> {
    filter.changed.as_deref().map(|slug| open_run(library, slug)).transpose()
}

/// Rows of a list from `from` on, and the length of the list.
fn rows_json(
    run: &OpenRun,
    index: &CaseTableIndex,
    rows: &[u32],
    from: usize,
    count: usize,
) -> Result<Value, StoreError> {
    let shown = case_rows(run, index, rows, from, count)?;
    Ok(json!({ "found": rows.len(), "total": index.len(), "from": from, "rows": shown }))
}

pub(super) fn case_rows(
    run: &OpenRun,
    index: &CaseTableIndex,
    rows: &[u32],
    from: usize,
    count: usize,
) -> Result<Vec<CaseRow>, StoreError> {
    let people = run.people(index)?;
    let shown = rows.iter().skip(from).take(count);
    shown.filter_map(|row| Some(case_row(run, index, *row, index.get(*row)?, people.of(*row)))).collect()
}

fn case_row(
    run: &OpenRun,
    index: &CaseTableIndex,
    row: u32,
    entry: &CaseTableEntry,
    labels: &[LabelledItem],
) -> Result<CaseRow, StoreError> {
    let stored = run.folder.result_at(entry.offset)?;
    let question = stored.as_ref().map(|stored| run.question(stored)).transpose()?.flatten();
    let (criteria, more) = criterion_cells(index, entry, labels);
    let tags: Vec<String> = entry.tags.iter().map(|tag| visible(index.name(*tag))).collect();

    Ok(CaseRow {
        n: row + 1,
        mark: ResultMark::of_status(entry.verdict),
        score: range_text(entry.score, entry.bounds),
        id: visible(entry.test_id()),
        suite: visible(index.name(entry.suite)),
        prompt: entry.prompt.map_or_else(String::new, |prompt| visible(index.name(prompt))),
        target: entry.target.map_or_else(String::new, |target| visible(index.name(target))),
        trial: entry.trial,
        question: excerpt(question.and_then(|question| question.question).as_deref().unwrap_or_default()),
        answer: stored.as_ref().map(answer_excerpt).unwrap_or_default(),
        criteria,
        more,
        tags: tags.join(" "),
        cost: entry.cost.map(Usd::as_dollars).map_or_else(String::new, assize_report::dollars),
        latency: entry.latency_ms.map_or_else(String::new, |time| format_duration(time.into())),
        has_error: entry.has_error,
    })
}

/// Cells of the criteria of a case, with criteria that count against it first, and the number of criteria without a
/// cell.
pub(super) fn criterion_cells(
    index: &CaseTableIndex,
    entry: &CaseTableEntry,
    labels: &[LabelledItem],
) -> (Vec<CriterionCell>, usize) {
    let people = |name: u32| labels_of(labels, index.name(name));
    let words = |found: Option<&LabelledItem>| found.map(words_of_people).unwrap_or_default().join("; ");
    // The gate of a check fails with the check, and is shown as the same criterion.
    let check_of = |gate: &u32| {
        let is_its = |one: &&CriterionEntry| {
            index.name(one.name).rsplit_once('/').is_some_and(|(grader, _)| grader == index.name(*gate))
        };
        let mut checks = entry.criteria.iter().filter(is_its);
        let only = checks.next().filter(|one| one.is_missed() && checks.next().is_none());
        only.map_or(*gate, |check| check.name)
    };
    let failed: Vec<u32> = entry.gates.iter().map(check_of).collect();
    let has_failed = |criterion: &CriterionEntry| failed.contains(&criterion.name);
    let mut criteria: Vec<(usize, &CriterionEntry)> = entry.criteria.iter().enumerate().collect();
    criteria.sort_by_key(|(_, criterion)| match criterion.outcome {
        _ if has_failed(criterion) => 0,
        _ if criterion.is_missed() => 1,
        OutcomeKind::Ungraded => 2,
        OutcomeKind::Scored => 3,
        OutcomeKind::Met | OutcomeKind::Unmet => 4,
        OutcomeKind::NotApplicable => 5,
    });

    let more = criteria.len().saturating_sub(MAX_CELLS);
    let cells = criteria.into_iter().take(MAX_CELLS).map(|(at, criterion)| CriterionCell {
        at: Some(at),
        name: short_criterion_name(index.name(criterion.name)),
        mark: cell_mark(*criterion),
        is_gate: criterion.is_gate || has_failed(criterion),
        has_failed: has_failed(criterion),
        is_penalty: criterion.is_penalty,
        is_disputed: criterion.is_disputed || people(criterion.name).is_some_and(|item| item.is_disputed),
        people: words(people(criterion.name)),
    });
    let mut cells: Vec<CriterionCell> = cells.collect();

    // Gates that are whole graders have no criterion.
    let whole = failed.iter().filter(|gate| !entry.criteria.iter().any(|one| one.name == **gate));
    let whole = whole.map(|gate| CriterionCell {
        at: None,
        name: short_criterion_name(index.name(*gate)),
        mark: ResultMark::new("bad", "✗", "failed"),
        is_gate: true,
        has_failed: true,
        is_penalty: false,
        is_disputed: people(*gate).is_some_and(|item| item.is_disputed),
        people: words(people(*gate)),
    });
    cells.splice(0..0, whole);
    (cells, more)
}

/// The sign of a score is the score itself.
fn cell_mark(criterion: CriterionEntry) -> ResultMark {
    const SCORES: [&str; 11] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
    let mark = ResultMark::of_criterion(criterion);
    let points = criterion.points.filter(|_| criterion.outcome == OutcomeKind::Scored);
    let sign = points.and_then(|points| SCORES.get(points.max(0.0) as usize));
    ResultMark { sign: sign.copied().unwrap_or(mark.sign), ..mark }
}

/// The chips above the table: the usual filters, each with its number of cases.
fn chip_groups(counts: &CaseCounts, url: &str, query: &str, earlier: Option<&str>) -> Vec<ChipGroup> {
    let chip = |text: String, count: Option<usize>, sets: &[(&str, &str)]| {
        FilterChip::new(text, count.map(|count| grouped(count as u64)), sets, url, query)
    };
    let verdicts = VerdictChoice::ALL
        .iter()
        .zip(counts.verdicts)
        .filter(|(choice, count)| *count > 0 || matches!(choice, VerdictChoice::Pass | VerdictChoice::Fail));
    let mut verdicts: Vec<FilterChip> = verdicts
        .map(|(choice, count)| chip(choice.name().to_owned(), Some(count), &[("verdict", choice.name())]))
        .collect();
    if counts.disputed > 0 {
        verdicts.push(chip("disputed".to_owned(), Some(counts.disputed), &[("disputed", "1")]));
    }
    verdicts.extend(
        earlier.map(|earlier| {
            chip(format!("changed since {}", visible(earlier)), None, &[("changed", earlier)])
        }),
    );

    let against = counts.against.iter().take(MAX_CHIPS).map(|(name, count)| {
        chip(
            short_criterion_name(name),
            Some(*count),
            &[("criterion", name), ("outcome", OutcomeChoice::Against.name())],
        )
    });
    let tags = counts.tags.iter().take(MAX_CHIPS);
    let tags = tags.map(|(tag, count)| chip(visible(tag), Some(*count), &[("tag", tag)]));
    let groups = [
        ChipGroup { label: "Verdict", chips: verdicts },
        ChipGroup { label: "Against it", chips: against.collect() },
        ChipGroup { label: "Tag", chips: tags.collect() },
    ];
    groups.into_iter().filter(|group| !group.chips.is_empty()).collect()
}

impl FilterChip {
    /// A chip that sets these keys of the query, or clears them if they are set.
    pub(super) fn new(
        text: String,
        count: Option<String>,
        sets: &[(&str, &str)],
        url: &str,
        query: &str,
    ) -> Self {
        let pairs: Vec<(String, String)> = parse(query.as_bytes()).into_owned().collect();
        let is_set = |(key, value): &(&str, &str)| pairs.iter().any(|(k, v)| k == key && v == value);
        let is_chosen = sets.iter().all(is_set);
        // Several verdicts can be chosen.
        let stays = |(key, value): &&(String, String)| {
            !sets.iter().any(|(k, v)| k == key && (*k != "verdict" || v == value))
        };
        let mut next = Serializer::new(String::new());
        next.extend_pairs(pairs.iter().filter(stays));
        if !is_chosen {
            next.extend_pairs(sets);
        }

        let sets = Serializer::new(String::new()).extend_pairs(sets).finish();
        Self { text, count, sets, url: with_query(url, &next.finish()), is_chosen }
    }
}

fn case_peek(record: &CaseRecord, question: Option<&QuestionRow>) -> CasePeek {
    let explained = explain_case(record, question);
    let row = &record.result;
    let long = |text: &Option<String>| text.as_deref().map(|text| cut_text(&visible(text), MAX_PEEK));
    let criteria = row.graders.iter().flat_map(|grader| grader.criteria.iter().map(move |one| (grader, one)));
    let criteria = criteria.map(|(grader, one)| {
        let part = explained.graders.iter().find(|part| part.name == grader.name);
        let criterion = part.and_then(|part| part.criteria.iter().find(|part| *part.id == *one.id));
        // Checks are numbered notes of their grader.
        let number = one.id.strip_prefix("check-").and_then(|number| number.parse::<usize>().ok());
        let check = || part?.whole.as_ref()?.notes.get(number?.checked_sub(1)?);
        let text = criterion.map(|part| &part.text).or_else(|| Some(&check()?.text));
        let text = text.map_or("", |text| text.trim());
        PeekCriterion {
            name: short_criterion_name(&format!("{}/{}", grader.name, one.id)),
            text: sentence(&negated_text(text, grader.negate && !text.is_empty())),
            mark: ResultMark::of_outcome(
                one.outcome,
                one.score_out_of_ten(),
                one.weight < 0.0,
                grader.negate,
            ),
            gate: one.gate.as_deref().map(visible),
            reason: visible(&one.reason),
            quotes: one.evidence.iter().map(|quote| (visible(&quote.quote), quote.verified)).collect(),
        }
    });

    CasePeek {
        question: long(&explained.question),
        expected: long(&explained.expected_outcome),
        answer: row.answer.as_deref().map(|answer| cut_text(&visible(&readable(answer)), MAX_PEEK)),
        error: row.error.as_ref().map(|error| visible(&error.message)),
        calls: tool_call_texts(&row.tool_calls),
        because: sentence(&explained.because),
        criteria: criteria.collect(),
    }
}

/// A text as people read it: JSON gets line breaks.
fn readable(text: &str) -> String {
    let is_structure = text.trim_start().starts_with(['{', '[']);
    let value = is_structure.then(|| serde_json::from_str::<Value>(text).ok()).flatten();
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
    pretty.unwrap_or_else(|| text.to_owned())
}

fn page_query(query: &str, page: usize) -> String {
    if query.is_empty() { format!("page={page}") } else { format!("{query}&page={page}") }
}

fn plain_rows(
    run: &OpenRun,
    index: &CaseTableIndex,
    filter: &CaseFilter,
    rows: &[u32],
    page: usize,
) -> Result<PlainRows, StoreError> {
    let (url, query) = (run_url(&run.slug), filter.to_query());
    let begin = page.saturating_sub(1).saturating_mul(MAX_ROWS);
    let of_page = |page: usize| with_query(&format!("{url}/cases"), &page_query(&query, page));
    let heads = PLAIN_COLUMNS.map(|(name, sort)| {
        let is_current = sort == Some(filter.sort);
        let next = CaseFilter {
            sort: sort.unwrap_or_default(),
            descending: is_current && !filter.descending,
            ..filter.clone()
        };
        let order = if filter.descending { "descending" } else { "ascending" };
        SortLink {
            name,
            url: sort.map(|_| with_query(&format!("{url}/cases"), &page_query(&next.to_query(), 1))),
            order: if is_current { order } else { "" },
        }
    });

    Ok(PlainRows {
        heads: heads.into(),
        case_query: with_query("", &query),
        rows: case_rows(run, index, rows, begin, MAX_ROWS)?,
        before: (page > 1).then(|| of_page(page - 1)),
        after: (begin.saturating_add(MAX_ROWS) < rows.len()).then(|| of_page(page + 1)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chip_sets_its_keys_and_clears_them_again() {
        let chip = |sets: &[(&str, &str)], query: &str| {
            let chip = FilterChip::new(String::new(), None, sets, "/c", query);
            (chip.url, chip.is_chosen)
        };
        assert_eq!(chip(&[("verdict", "fail")], ""), ("/c?verdict=fail".into(), false));
        assert_eq!(
            chip(&[("verdict", "fail")], "verdict=pass&tag=a"),
            ("/c?verdict=pass&tag=a&verdict=fail".into(), false)
        );
        assert_eq!(chip(&[("verdict", "fail")], "verdict=fail&q=%26"), ("/c?q=%26".into(), true));
        let criterion = [("criterion", "r/a b"), ("outcome", "against")];
        assert_eq!(chip(&criterion, "criterion=x&outcome=met").0, "/c?criterion=r%2Fa+b&outcome=against");
        assert_eq!(chip(&criterion, "criterion=r%2Fa+b&outcome=against"), ("/c".into(), true));
    }

    #[test]
    fn json_gets_lines() {
        assert_eq!(readable(r#"{"b":1,"a":[2]}"#), "{\n  \"b\": 1,\n  \"a\": [\n    2\n  ]\n}");
        assert_eq!(readable("[not json"), "[not json");
    }
}
