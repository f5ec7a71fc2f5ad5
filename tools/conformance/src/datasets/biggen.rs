//! BiGGen Bench: rubrics of five levels as ranges of 0 to 10.

use serde_json::{Value, json};

use super::convert::{items, json_lines};
use super::dataset_run::DatasetRun;
use super::figures::FigureTable;

/// The range of each level, worst first: together 0 to 10 without a hole.
const RANGES: [[u8; 2]; 5] = [[0, 1], [2, 3], [4, 5], [6, 7], [8, 10]];

pub(super) fn biggen(data: &DatasetRun, table: &mut FigureTable) -> Result<(), String> {
    table.title("biggen: rubrics of five levels, in many scripts");
    let text = data.text("biggen-rubrics/biggen_rubrics.jsonl")?;
    let mut cases: Vec<Value> = json_lines(&text)?.iter().map(case).collect();
    let suite = json!({ "tests": cases }).to_string();
    let file = data.write_text("biggen.eval.yaml", &suite)?;
    let found = data.run("validate", &file, &[])?;
    table.count("cases", &found["files"][0]["cases"], 765);
    table.count("errors", &found["errors"], 0);
    table.count("warnings", &found["warnings"], 0);
    cases.truncate(1);

    for at in [0, 2, 4] {
        let mut holed = cases.clone();
        if let Some(ranges) = holed
            .first_mut()
            .and_then(|case| case.pointer_mut("/assertions/0/criteria/0/score_ranges"))
            .and_then(Value::as_array_mut)
        {
            ranges.remove(at);
        }

        let file = data.write_text("biggen-hole.eval.yaml", &json!({ "tests": holed }).to_string())?;
        let refused = data.ends(&[2], "validate", &file, &[])?;
        let [low, high] = RANGES[at];
        let hole = format!("scores {low} to {high} are in no range");
        let named = items(&refused["diagnostics"]).iter().any(|found| found["title"] == *hole);

        table.holds(&format!("without a level: {hole}"), named);
    }

    Ok(())
}

fn case(row: &Value) -> Value {
    let rubric = &row["score_rubric"];
    let ranges: Vec<Value> = (1..)
        .zip(RANGES)
        .map(|(level, range)| {
            json!({ "score_range": range, "outcome": rubric[format!("score{level}_description")] })
        })
        .collect();

    let criterion = json!({ "id": "level", "outcome": rubric["criteria"], "score_ranges": ranges });
    json!({
        "id": row["id"], "input": row["input"], "expected_output": row["reference_answer"],
        "criteria": rubric["criteria"], "tags": [row["capability"]],
        "assertions": [{ "type": "rubrics", "criteria": [criterion] }],
    })
}
