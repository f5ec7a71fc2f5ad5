//! LLM-Rubric: ratings of dialogues.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::convert::tabbed;
use super::dataset_run::{DatasetRun, QUICK, find};
use super::figures::FigureTable;

pub(super) fn llm_rubric(data: &DatasetRun, table: &mut FigureTable) -> Result<(), String> {
    table.title("llm-rubric: readings of a judge against people, 1 to 4");
    let folder = "llm-rubric-dialogues";
    let texts = [
        data.text(&format!("{folder}/human_judges_real_convs_FIXED_ANON.tsv"))?,
        data.text(&format!("{folder}/gpt-3.5-turbo-16k_real_evaluations_FIXED.tsv"))?,
        data.text(&format!("{folder}/real_convs_machine_baselines.tsv"))?,
        data.text(&format!("{folder}/human_judges_synth_all_FIXED_ANON.tsv"))?,
    ];

    let [people, judge, samples, synthetic] = texts;
    let judge = tabbed(&judge);
    let judge: BTreeMap<(&str, &str), &BTreeMap<&str, &str>> =
        judge.iter().map(|row| ((row["text_id"], row["criterion"]), row)).collect();
    let samples = tabbed(&samples);
    let samples: BTreeMap<(&str, &str), &str> =
        samples.iter().map(|row| ((row["text_id"], row["criterion"]), row["sample_llm"])).collect();
    let people = tabbed(&people);
    let (mut readings, mut sampled) = (Vec::new(), Vec::new());
    for row in &people {
        for question in ["Q0", "Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "Q7", "Q8"] {
            let key = (row["text_id"], question);
            let base = json!({
                "case": key.0, "criterion": question, "label": row[question], "who": row["annotator_id"],
            });
            if let Some(found) = judge.get(&key) {
                let mut row = base.clone();
                row["probabilities"] = ["1", "2", "3", "4"]
                    .iter()
                    .map(|score| (*score, found[&*format!("answer{score}_prob")]))
                    .collect();

                readings.push(row);
            }

            if let Some(sample) = samples.get(&key) {
                let mut row = base;
                row["judge"] = (*sample).into();
                sampled.push(row);
            }
        }
    }

    let overall: Vec<Value> = readings.iter().filter(|row| row["criterion"] == "Q0").cloned().collect();
    let readings = data.write("llm-rubric.jsonl", &readings)?;
    let sampled = data.write("llm-rubric-sample.jsonl", &sampled)?;
    let question = |found: &Value, name: &str| -> Value {
        find(&found["sections"], &[("by", "criterion"), ("title", name)]).clone()
    };
    let figures = ["rmse", "pearson", "spearman", "kendall_tau_b"];
    for (name, file, arguments, expected) in [
        (
            "likeliest",
            &readings,
            &["--reading", "likeliest"][..],
            ["1.201643", ".140091", ".086990", ".081134"],
        ),
        ("expected", &readings, &[], [".918676", ".177301", ".086675", ".065928"]),
        ("one sample", &sampled, &["--scale", "0..4"], ["1.207228", ".039810", ".045245", ".040967"]),
    ] {
        let meaning = ["--values", "not_applicable=0"];
        let found = data.run("calibrate", file, &[&QUICK[..], &meaning, arguments].concat())?;
        let section = question(&found, "Q0");
        table.count(&format!("{name}, Q0: compared"), &section["counts"]["compared"], 223);

        for (figure, expected) in figures.iter().zip(expected) {
            table.figure(&format!("{name}, Q0: {figure}"), &section["metrics"][figure]["value"], expected);
        }

        if name == "likeliest" {
            for constant in ["Q4", "Q5"] {
                for figure in &figures[1..] {
                    let found = &question(&found, constant)["metrics"][figure]["value"];
                    table.figure(&format!("{name}, {constant}: {figure}"), found, "undefined");
                }
            }
        }
    }

    overall_means(data, table, &overall)?;
    synthetic_dialogues(data, table, &synthetic)
}

/// Mean and spread of the judge's answers to the overall question. With every dialogue as its own cluster, the
/// error CR0 is the standard deviation of the population divided by the square root of the number of dialogues.
fn overall_means(data: &DatasetRun, table: &mut FigureTable, rows: &[Value]) -> Result<(), String> {
    let file = data.write("llm-rubric-overall.jsonl", rows)?;
    for (name, arguments, mean, deviation) in [
        ("likeliest", &["--reading", "likeliest"][..], "3.614350", 0.563_597_f64),
        ("expected", &[], "3.282864", 0.300_516),
    ] {
        let found = data.run("calibrate", &file, &[&QUICK[..], arguments].concat())?;
        let judge = &find(&found["rates"], &[("of", "all")])["judge"];
        table.count(&format!("{name}, Q0: answers of the judge"), &judge["n"], 223);
        table.figure(&format!("{name}, Q0: mean of the judge"), &judge["value"], mean);

        let error = format!("{:.6}", deviation / 223f64.sqrt());
        table.figure(&format!("{name}, Q0: error of that mean, CR0"), &judge["se_cr0"], &error);
    }

    Ok(())
}

fn synthetic_dialogues(data: &DatasetRun, table: &mut FigureTable, text: &str) -> Result<(), String> {
    let mut rows = Vec::new();
    let mut rated = BTreeSet::new();
    for row in tabbed(text) {
        // Nine texts went to the same person again in a later round. The figures count only the first ratings.
        if !rated.insert((row["text_id"].to_owned(), row["annotator_id"].to_owned())) {
            continue;
        }
        for question in ["Q0", "Q3", "Q7"] {
            rows.push(json!({
                "case": row["text_id"], "criterion": question, "label": row[question],
                "who": row["annotator_id"],
            }));
        }
    }

    let file = data.write("llm-rubric-synthetic.jsonl", &rows)?;
    let meaning = ["--values", "not_applicable=0"];
    let found = data.run("calibrate agreement", &file, &[&QUICK[..], &meaning].concat())?;
    for (question, expected) in [
        ("Q0", [".0531", ".0651", ".0194"]),
        ("Q3", [".3145", ".3730", ".1807"]),
        ("Q7", [".1133", ".1230", ".0685"]),
    ] {
        let section = find(&found["sections"], &[("title", question)]);
        for (metric, expected) in ["alpha_ordinal", "alpha_interval", "alpha_nominal"].iter().zip(expected) {
            table.figure(
                &format!("synthetic, {question}: {metric}"),
                &section["metrics"][metric]["value"],
                expected,
            );
        }
    }

    Ok(())
}
