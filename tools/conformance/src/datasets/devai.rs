//! DevAI: an agent judge of requirements against people, and the effects of prerequisites and clusters.

use serde_json::{Value, json};

use super::convert::{items, json_lines};
use super::dataset_run::{DatasetRun, QUICK, find};
use super::figures::FigureTable;
use super::systems::{systems, task};

/// Agent, counts (both, judge only, people only, neither), raw agreement, kappa, Matthews, macro-F1, rate of
/// people, rate of the judge.
const DEVAI: [(&str, [u64; 4], [&str; 6]); 4] = [
    ("GPT-Pilot", [142, 28, 21, 175], [".8661202", ".7301454", ".7306885", ".8650229", ".445355", ".464481"]),
    ("MetaGPT", [69, 17, 12, 268], [".9207650", ".7750795", ".7756629", ".8875099", ".221311", ".234973"]),
    ("OpenHands", [140, 19, 17, 190], [".9016393", ".7995436", ".7995932", ".8997687", ".428962", ".434426"]),
    ("all", [351, 64, 50, 633], [".8961749", ".7777241", ".7780140", ".8888427", ".365209", ".377960"]),
];

pub(super) fn devai(data: &DatasetRun, table: &mut FigureTable) -> Result<(), String> {
    table.title("devai: an agent judge of requirements against people");
    let text = data.text("devai-agent-judge/requirements.jsonl")?;
    let lines = json_lines(&text)?;
    let row = |row: &Value| {
        json!({
            "case": task(row), "system": row["agent"], "criterion": row["requirement_id"],
            "requires": row["prerequisites"], "label": row["human_satisfied"], "judge": row["judge_satisfied"],
        })
    };

    let all: Vec<Value> = lines.iter().map(row).collect();
    let file = data.write("devai.jsonl", &all)?;
    let found = data.run("calibrate", &file, &QUICK)?;
    for (agent, counts, figures) in DEVAI {
        let by = if agent == "all" { "all" } else { "system" };
        let section = find(&found["sections"], &[("by", by), ("title", agent)]);
        for (name, count) in
            ["both_met", "only_judge_met", "only_people_met", "both_unmet"].iter().zip(counts)
        {
            table.count(&format!("{agent}: {name}"), &section["confusion"][name], count);
        }

        for (name, figure) in ["accuracy", "kappa", "mcc", "macro_f1"].iter().zip(figures) {
            table.figure(&format!("{agent}: {name}"), &section["metrics"][name]["value"], figure);
        }

        let rates = find(&found["rates"], &[("of", agent)]);
        table.figure(&format!("{agent}: rate of people"), &rates["people"]["value"], figures[4]);

        table.figure(&format!("{agent}: rate of the judge"), &rates["judge"]["value"], figures[5]);
    }

    let rates = |agent: &str| find(&found["rates"], &[("of", agent)]);
    for (agent, direct, recursive, judge, rate) in [
        ("GPT-Pilot", 106, 101, 112, ".2896"),
        ("MetaGPT", 24, 18, 22, ".0656"),
        ("OpenHands", 105, 95, 103, ".2869"),
    ] {
        let gated = &rates(agent)["with_prerequisites"];
        let counted = |who: &str, how: &str| gated[who][how]["independent"]["count"].clone();
        table.count(&format!("{agent}: people, with prerequisites"), &counted("people", "direct"), direct);
        table.count(&format!("{agent}: people, recursively"), &counted("people", "recursive"), recursive);
        table.count(&format!("{agent}: judge, with prerequisites"), &counted("judge", "direct"), judge);
        table.figure(&format!("{agent}: gated rate"), &gated["people"]["direct"]["value"], rate);

        table.count(&format!("{agent}: in circles"), &gated["people"]["circular"], 2);
    }

    let people = &rates("GPT-Pilot")["people"];
    table.figure("GPT-Pilot: error if independent", &people["se_independent"], ".026014");
    table.figure("GPT-Pilot: error by task, CR0", &people["se_cr0"], ".039254");
    table.figure("GPT-Pilot: error by task, CR1", &people["se"], ".039615");
    corrected(data, table, &lines, &row)?;
    systems(data, table, &lines)?;

    tasks(data, table)
}

/// Converts the tasks to a scorecard. The tasks have one requirement less than the verdicts.
fn tasks(data: &DatasetRun, table: &mut FigureTable) -> Result<(), String> {
    let file = data.file("devai-agent-judge/tasks.jsonl");
    let arguments = ["--to", "scorecard", "--out", "devai-tasks.yaml", "--force"];
    let found = data.ends(&[3], "convert", &file, &arguments)?;
    let circles = items(&found["notes"]).iter().filter(|note| note["what"] == "is its own prerequisite");
    table.count("tasks: requirements in a circle are named", &circles.count().into(), 2);

    let card = data.run("scorecard list", "devai-tasks.yaml".as_ref(), &[])?;
    table.count("tasks: requirements", &card["benchmarks"], 365);

    // One rubric for each task, and the one above them.
    table.count("tasks: rubrics", &card["rubrics"], 55 + 1);
    Ok(())
}

fn corrected(
    data: &DatasetRun,
    table: &mut FigureTable,
    lines: &[Value],
    row: &dyn Fn(&Value) -> Value,
) -> Result<(), String> {
    let rows_of =
        |agent: &str| -> Vec<Value> { lines.iter().filter(|line| line["agent"] == agent).map(row).collect() };
    let mut few = rows_of("GPT-Pilot");
    for row in few.iter_mut().filter(|row| row["case"].as_str() > Some("11")) {
        row["label"] = Value::Null;
    }

    let file = data.write("devai-few.jsonl", &few)?;
    let refused = data.run("calibrate", &file, &QUICK)?;
    let reason = &find(&refused["rates"], &[("of", "all")])["corrected"]["refused"];
    let because = reason.as_str().unwrap_or_default();
    table.holds("first tasks labelled: no correction, not by lot", because.contains("random sample"));

    let arguments = [&QUICK[..], &["--assume-random", "--cluster", "item"]].concat();
    let found = data.run("calibrate", &file, &arguments)?;
    let powered = &find(&found["rates"], &[("of", "all")])["corrected"];
    // Classical PPI is as published. Two metrics are not, because there are so few tasks: the interval of people is the
    // one for reported rates on the effective number instead of t's [.559, .797], and the weight of PPI++ is shrunk,
    // which published PPI++ (.593 [.496, .690]) does not do.
    for (name, estimate, low, high) in [
        ("people_only", ".678", ".549307", ".792782"),
        ("ppi", ".504", ".387", ".622"),
        ("ppi_plus_plus", ".602845", ".491154", ".712739"),
    ] {
        table.figure(&format!("GPT-Pilot, 11 tasks labelled: {name}"), &powered[name]["value"], estimate);
        table.figure(&format!("GPT-Pilot, 11 tasks labelled: {name}, low"), &powered[name]["low"], low);
        table.figure(&format!("GPT-Pilot, 11 tasks labelled: {name}, high"), &powered[name]["high"], high);
    }

    for (agent, expected) in [("GPT-Pilot", ".511020"), ("OpenHands", ".473082")] {
        let mut rows = rows_of(agent);
        for row in &mut rows {
            row["label"] = Value::Null;
        }

        let file = data.write("devai-rates.jsonl", &rows)?;
        let known = ["--sensitivity", "69/81", "--specificity", "268/285"];
        let found = data.run("calibrate", &file, &[&QUICK[..], &known].concat())?;
        let corrected = &find(&found["rates"], &[("of", "all")])["rogan_gladen"];

        table.figure(&format!("{agent} with MetaGPT's error rates"), &corrected["raw"], expected);
    }

    Ok(())
}
