//! The data sets, and the figures that must come out of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::Data;
use super::check::Table;
use super::convert::{items, json_lines, tabbed};

type Set = fn(&Data, &mut Table) -> Result<(), String>;

/// Every set, by its folder.
pub(super) const ALL: &[(&str, Set)] = &[
    ("paperbench", paperbench),
    ("devai-agent-judge", devai),
    ("healthbench-meta-120", healthbench),
    ("llm-rubric-dialogues", llm_rubric),
    ("llmbar", llmbar),
    ("rewardbench2-k8", rewardbench),
    ("prometheus-gpt4-triple", prometheus),
];

/// Resamples: intervals are not among the figures that are published, so a few will do.
const QUICK: [&str; 2] = ["--resamples", "20"];

/// The first object of a list whose keys have these values.
fn find<'v>(list: &'v Value, keys: &[(&str, &str)]) -> &'v Value {
    items(list)
        .iter()
        .find(|object| keys.iter().all(|(key, wanted)| object[*key] == *wanted))
        .unwrap_or(&Value::Null)
}

fn paperbench(data: &Data, table: &mut Table) -> Result<(), String> {
    table.set("paperbench: judges of leaves against experts");
    let Some(text) = data.text("paperbench/judge_confusions_recovered.json") else { return Ok(()) };
    let judges: Map<String, Value> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    for (judge, kinds) in &judges {
        let kinds: Vec<(&String, &Value)> =
            kinds.as_object().into_iter().flatten().filter(|(kind, _)| *kind != "Overall").collect();
        // One judge's published table could not be solved for the counts of every kind.
        if kinds.len() < 3 {
            continue;
        }
        let mut rows = Vec::new();
        for (kind, counts) in &kinds {
            for (cell, judged, human) in
                [("tp", true, true), ("fn", false, true), ("fp", true, false), ("tn", false, false)]
            {
                for number in 0..counts[cell].as_u64().unwrap_or_default() {
                    let case = format!("{kind} {cell} {number}");
                    rows.push(json!({ "case": case, "criterion": kind, "label": human, "judge": judged }));
                }
            }
        }
        let file = data.write("paperbench.jsonl", &rows)?;
        let found = data.run("calibrate", &file, &QUICK)?;
        let overall = find(&found["sections"], &[("by", "all")]);
        let expected = match judge.split_once("-20").map_or("", |(name, _)| name) {
            "gpt-4o" => Some(([718, 471, 230, 1274], ".728106")),
            "gpt-4o-mini" => Some(([418, 771, 220, 1284], ".589566")),
            "o1" => Some(([971, 218, 202, 1302], ".841648")),
            "o3-mini" => Some(([1026, 163, 302, 1202], ".826589")),
            _ => None,
        };
        if let Some((counts, macro_f1)) = expected {
            for (name, count) in
                ["both_met", "only_people_met", "only_judge_met", "both_unmet"].iter().zip(counts)
            {
                table.count(&format!("{judge}: {name}"), &overall["confusion"][name], count);
            }
            table.figure(&format!("{judge}: macro-F1"), &overall["figures"]["macro_f1"]["value"], macro_f1);
        }
        for (kind, counts) in kinds {
            let section = find(&found["sections"], &[("by", "criterion"), ("title", kind)]);
            let published = counts["macro_f1"].as_f64().unwrap_or(f64::NAN);
            table.figure(
                &format!("{judge}, {kind}: macro-F1"),
                &section["figures"]["macro_f1"]["value"],
                &format!("{published:.6}"),
            );
        }
    }
    Ok(())
}

/// Agent, counts (both, judge only, people only, neither), raw agreement, kappa, Matthews, macro-F1, rate of
/// people, rate of the judge.
const DEVAI: [(&str, [u64; 4], [&str; 6]); 4] = [
    ("GPT-Pilot", [142, 28, 21, 175], [".8661202", ".7301454", ".7306885", ".8650229", ".445355", ".464481"]),
    ("MetaGPT", [69, 17, 12, 268], [".9207650", ".7750795", ".7756629", ".8875099", ".221311", ".234973"]),
    ("OpenHands", [140, 19, 17, 190], [".9016393", ".7995436", ".7995932", ".8997687", ".428962", ".434426"]),
    ("all", [351, 64, 50, 633], [".8961749", ".7777241", ".7780140", ".8888427", ".365209", ".377960"]),
];

fn devai(data: &Data, table: &mut Table) -> Result<(), String> {
    table.set("devai: an agent judge of requirements against people");
    let Some(text) = data.text("devai-agent-judge/requirements.jsonl") else { return Ok(()) };
    let lines = json_lines(&text)?;
    // One task is spelled in three ways; its number is what the spellings share.
    let task = |row: &Value| {
        row["task"].as_str().and_then(|task| task.split('_').next()).unwrap_or_default().to_owned()
    };
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
            table.figure(&format!("{agent}: {name}"), &section["figures"][name]["value"], figure);
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
    corrected(data, table, &lines, &row)
}

fn corrected(
    data: &Data,
    table: &mut Table,
    lines: &[Value],
    row: &dyn Fn(&Value) -> Value,
) -> Result<(), String> {
    let of =
        |agent: &str| -> Vec<Value> { lines.iter().filter(|line| line["agent"] == agent).map(row).collect() };
    let mut few = of("GPT-Pilot");
    for row in few.iter_mut().filter(|row| row["case"].as_str() > Some("11")) {
        row["label"] = Value::Null;
    }
    let file = data.write("devai-few.jsonl", &few)?;
    let refused = data.run("calibrate", &file, &QUICK)?;
    let reason = &find(&refused["rates"], &[("of", "all")])["corrected"]["refused"];
    let because = reason.as_str().unwrap_or_default();
    table.holds("first tasks labelled: no correction, not by lot", because.contains("random draw"));
    let arguments = [&QUICK[..], &["--assume-random", "--cluster", "item"]].concat();
    let found = data.run("calibrate", &file, &arguments)?;
    let powered = &find(&found["rates"], &[("of", "all")])["corrected"];
    for (name, estimate, low, high) in [
        ("people_only", ".678", ".559", ".797"),
        ("ppi", ".504", ".387", ".622"),
        ("ppi_plus_plus", ".593", ".496", ".690"),
    ] {
        table.figure(&format!("GPT-Pilot, 11 tasks labelled: {name}"), &powered[name]["value"], estimate);
        table.figure(&format!("GPT-Pilot, 11 tasks labelled: {name}, low"), &powered[name]["low"], low);
        table.figure(&format!("GPT-Pilot, 11 tasks labelled: {name}, high"), &powered[name]["high"], high);
    }
    for (agent, expected) in [("GPT-Pilot", ".511020"), ("OpenHands", ".473082")] {
        let mut rows = of(agent);
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

fn healthbench(data: &Data, table: &mut Table) -> Result<(), String> {
    table.set("healthbench: a judge and physicians");
    let folder = "healthbench-meta-120";
    let texts = [
        data.text(&format!("{folder}/healthbench_meta_gold.jsonl")),
        data.text(&format!("{folder}/healthbench_meta_strongmodel_labels.jsonl")),
    ];
    let [Some(people), Some(judge)] = texts else { return Ok(()) };
    let judge: BTreeMap<String, Value> = json_lines(&judge)?
        .into_iter()
        .map(|row| (row["item_id"].to_string(), row["criteria_met"].clone()))
        .collect();
    let rows: Vec<Value> = json_lines(&people)?
        .iter()
        .map(|row| {
            json!({
                "case": row["item_id"], "criterion": row["category"], "label": row["binary_labels"],
                "who": row["anonymized_physician_ids"], "judge": judge.get(&row["item_id"].to_string()),
            })
        })
        .collect();
    let file = data.write("healthbench.jsonl", &rows)?;
    let found = data.run("calibrate", &file, &QUICK)?;
    let overall = find(&found["sections"], &[("by", "all")]);
    for (name, count) in
        [("both_met", 137), ("only_judge_met", 36), ("only_people_met", 30), ("both_unmet", 47)]
    {
        table.count(&format!("judge and physicians: {name}"), &overall["confusion"][name], count);
    }
    let (judge, people) = (&overall["figures"], &overall["people"]);
    table.figure("judge: kappa", &judge["kappa"]["value"], ".3937835256080535");
    table.figure("judge: balanced F1", &judge["macro_f1"]["value"], ".6966911764705883");
    table.figure("judge: raw agreement", &judge["accuracy"]["value"], ".736");
    table.count("physicians: ordered pairs", &people["kappa"]["n"], 282);
    table.figure("physicians: kappa", &people["kappa"]["value"], ".4370008873");
    table.figure("physicians: balanced F1", &people["macro_f1"]["value"], ".7185004437");
    table.figure("physicians: raw agreement", &people["accuracy"]["value"], ".7446808511");
    table.figure("physicians: alpha", &people["alpha_nominal"]["value"], ".4251497006");
    Ok(())
}

fn llm_rubric(data: &Data, table: &mut Table) -> Result<(), String> {
    table.set("llm-rubric: readings of a judge against people, 1 to 4");
    let folder = "llm-rubric-dialogues";
    let texts = [
        data.text(&format!("{folder}/human_judges_real_convs_FIXED_ANON.tsv")),
        data.text(&format!("{folder}/gpt-3.5-turbo-16k_real_evaluations_FIXED.tsv")),
        data.text(&format!("{folder}/real_convs_machine_baselines.tsv")),
        data.text(&format!("{folder}/human_judges_synth_all_FIXED_ANON.tsv")),
    ];
    let [Some(people), Some(judge), Some(samples), Some(synthetic)] = texts else { return Ok(()) };
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
            table.figure(&format!("{name}, Q0: {figure}"), &section["figures"][figure]["value"], expected);
        }
        if name == "likeliest" {
            for constant in ["Q4", "Q5"] {
                for figure in &figures[1..] {
                    let found = &question(&found, constant)["figures"][figure]["value"];
                    table.figure(&format!("{name}, {constant}: {figure}"), found, "undefined");
                }
            }
        }
    }
    synthetic_dialogues(data, table, &synthetic)
}

fn synthetic_dialogues(data: &Data, table: &mut Table, text: &str) -> Result<(), String> {
    let mut rows = Vec::new();
    let mut rated = BTreeSet::new();
    for row in tabbed(text) {
        // Nine texts went to the same person again in a later round; the figures are about first ratings.
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
    let found = data.run("agreement", &file, &[&QUICK[..], &meaning].concat())?;
    for (question, expected) in [
        ("Q0", [".0531", ".0651", ".0194"]),
        ("Q3", [".3145", ".3730", ".1807"]),
        ("Q7", [".1133", ".1230", ".0685"]),
    ] {
        let section = find(&found["sections"], &[("title", question)]);
        for (metric, expected) in ["alpha_ordinal", "alpha_interval", "alpha_nominal"].iter().zip(expected) {
            table.figure(
                &format!("synthetic, {question}: {metric}"),
                &section["figures"][metric]["value"],
                expected,
            );
        }
    }
    Ok(())
}

/// Set, evaluator, right in order 1, in order 2, in both, same verdict, pairs.
const LLMBAR: [(&str, &str, [u64; 5]); 9] = [
    ("natural", "GPT-4/Vanilla", [95, 96, 93, 95, 100]),
    ("adv_neighbor", "GPT-4/Vanilla_NoRules", [87, 85, 79, 120, 134]),
    ("adv_neighbor", "GPT-4/Vanilla", [104, 107, 101, 125, 134]),
    ("adv_neighbor", "GPT-4/Metrics_Reference", [115, 114, 111, 127, 134]),
    ("adv_gptinst", "GPT-4/Vanilla", [78, 81, 77, 87, 92]),
    ("adv_gptout", "GPT-4/Vanilla", [35, 38, 35, 44, 47]),
    ("adv_manual", "GPT-4/Vanilla", [35, 39, 33, 38, 46]),
    ("mtbench_human", "GPT-4/Vanilla_NoRules", [159, 165, 149, 174, 200]),
    ("mtbench_human", "GPT-4/Metrics_Reference", [161, 163, 146, 168, 200]),
];

fn llmbar(data: &Data, table: &mut Table) -> Result<(), String> {
    table.set("llmbar: preferences in both orders");
    let texts = [data.text("llmbar/verdicts.jsonl"), data.text("llmbar/labels.json")];
    let [Some(verdicts), Some(labels)] = texts else { return Ok(()) };
    let labels: Value = serde_json::from_str(&labels).map_err(|error| error.to_string())?;
    let wanted = |row: &Value| {
        LLMBAR.iter().any(|(set, evaluator, _)| row["set"] == *set && row["evaluator"] == *evaluator)
    };
    let mut rows = Vec::new();
    for row in json_lines(&verdicts)?.iter().filter(|row| wanted(row)) {
        let truth = items(&labels[row["set"].as_str().unwrap_or_default()]);
        let orders = items(&row["order1"]).iter().zip(items(&row["order2"]));
        for (number, (truth, (first, second))) in truth.iter().zip(orders).enumerate() {
            rows.push(json!({
                "case": number, "criterion": row["set"], "system": row["evaluator"],
                "preferred": truth, "first": first, "second": second,
            }));
        }
    }
    let file = data.write("llmbar.jsonl", &rows)?;
    let found = data.run("calibrate", &file, &["--pairs"])?;
    for (set, evaluator, expected) in LLMBAR {
        let group = find(&found["groups"], &[("set", set), ("judge", evaluator)]);
        for (name, expected) in ["right_first", "right_second", "right_both", "same"].iter().zip(expected) {
            table.count(&format!("{set}, {evaluator}: {name}"), &group[name]["count"], expected);
        }
        table.count(&format!("{set}, {evaluator}: pairs"), &group["pairs"], expected[4]);
    }
    let coded: Vec<Value> = rows
        .iter()
        .take(100)
        .map(|row| {
            let verdict = row["first"].as_u64().map(|verdict| verdict - 1);
            json!({ "case": row["case"], "label": row["preferred"], "judge": verdict })
        })
        .collect();
    let file = data.write("llmbar-codes.jsonl", &coded)?;
    let refusal = data.refusal("calibrate", &file, &QUICK)?;
    table.holds("labels coded 1/2 beside verdicts coded 0/1: refused", refusal.contains("which is which"));
    Ok(())
}

/// Whether a judge scored the right answer best: k, alone at the top, items, share, with part credit.
type BestOf = (usize, Option<[u64; 2]>, &'static str, &'static str);

const REWARDBENCH: [(&str, &str, [BestOf; 3]); 3] = [
    (
        "gpt54_base.jsonl",
        "full_scores",
        [
            (1, Some([1240, 1729]), ".7172", ".7968"),
            (3, None, ".7844", ".8217"),
            (8, Some([1410, 1730]), ".8150", ".8325"),
        ],
    ),
    (
        "gpt54_base.jsonl",
        "mini_scores",
        [
            (1, Some([1119, 1728]), ".6476", ".7439"),
            (3, None, ".7478", ".7893"),
            (8, Some([1370, 1730]), ".7919", ".8079"),
        ],
    ),
    (
        "gpt54_base_t0.0.jsonl",
        "full_scores",
        [
            (1, Some([1251, 1726]), ".7248", ".7992"),
            (3, None, ".7699", ".8146"),
            (8, Some([1334, 1730]), ".7711", ".8145"),
        ],
    ),
];

fn rewardbench(data: &Data, table: &mut Table) -> Result<(), String> {
    table.set("rewardbench2: eight scores of each of four answers");
    for (name, scores, expected) in REWARDBENCH {
        let file = data.file(&format!("rewardbench2-k8/{name}"));
        if !file.is_file() {
            continue;
        }
        // Ids recur from subset to subset.
        let columns = format!("case=id,criterion=subset,scores={scores}");
        let found = data.run("repeats", &file, &["--columns", &columns, "--right", "0", "-k", "1,3,8"])?;
        for (k, counts, strict, credit) in expected {
            let best = items(&found["best"]).iter().find(|best| best["k"] == k).unwrap_or(&Value::Null);
            let what = format!("{name} {scores}, k = {k}");
            if let Some([right, of]) = counts {
                table.count(&format!("{what}: right"), &best["strict"]["count"], right);
                table.count(&format!("{what}: items"), &best["strict"]["n"], of);
            }
            table.figure(&format!("{what}: alone at the top"), &best["strict"]["value"], strict);
            table.figure(&format!("{what}: with part credit"), &best["credit"], credit);
        }
        let noise = match (name, scores) {
            ("gpt54_base.jsonl", "full_scores") => Some((".639", ".2195")),
            ("gpt54_base_t0.0.jsonl", "full_scores") => Some((".233", ".0458")),
            _ => None,
        };
        if let Some((differing, variance)) = noise {
            table.figure(&format!("{name}: answers that differ"), &found["differing"]["value"], differing);
            table.figure(&format!("{name}: variance of repeats"), &found["mean_variance"], variance);
        }
        if (name, scores) == ("gpt54_base.jsonl", "full_scores") {
            let text = data.text(&format!("rewardbench2-k8/{name}")).unwrap_or_default();
            let plain = ["--columns", "case=id,scores=full_scores"];
            let refusal = data.refusal("repeats", &file, &plain)?;
            table.holds("ids that recur between subsets: refused", refusal.contains("already"));
            // The published comparison is of items by id alone, of which the last counts.
            let by_id: BTreeMap<String, Value> =
                json_lines(&text)?.into_iter().map(|row| (row["id"].to_string(), row)).collect();
            let rows: Vec<Value> = by_id
                .into_values()
                .map(|row| json!({ "case": row["id"], "scores": row["full_scores"] }))
                .collect();
            let file = data.write("rewardbench.jsonl", &rows)?;
            let found = data.run("repeats", &file, &["--right", "0", "-k", "1,8"])?;
            gain(table, &found["gain"]);
        }
    }
    Ok(())
}

fn gain(table: &mut Table, gain: &Value) {
    for (name, expected) in [("both", 1204), ("only_more", 177), ("only_fewer", 15), ("neither", 295)] {
        table.count(&format!("8 against 1: {name}"), &gain[name], expected);
    }
    table.figure("8 against 1: difference", &gain["difference"]["value"], ".095801");
    table.figure("8 against 1: paired error", &gain["difference"]["se"], ".007858");
    table.figure("8 against 1: unpaired error", &gain["difference"]["se_unpaired"], ".014410");
    table.figure("8 against 1: exact p", &gain["p_exact"], "2.7e-36");
}

fn prometheus(data: &Data, table: &mut Table) -> Result<(), String> {
    table.set("prometheus: one judge three times");
    for (name, alphas, icc, same, within, means) in [
        (
            "mt_bench",
            [".4874215", ".8145228", ".8509894"],
            ".8512540",
            ".441",
            ".257292",
            &[
                ("chatgpt", "3.816667"),
                ("llama2", "3.479167"),
                ("wizard", "3.391667"),
                ("vicuna", "3.266667"),
            ][..],
        ),
        (
            "vicuna",
            [".5821575", ".7234422", ".8075436"],
            ".8078678",
            ".622",
            ".134375",
            &[
                ("llama-2-chat", "4.320833"),
                ("chat_gpt", "4.283333"),
                ("wizard", "4.129167"),
                ("vicuna", "3.85"),
            ],
        ),
    ] {
        let file = data.file(&format!("prometheus-gpt4-triple/{name}.jsonl"));
        if !Path::new(&file).is_file() {
            continue;
        }
        let columns = "case=idx,system=response_source,label=gpt4_score";
        let found = data.run("agreement", &file, &[&QUICK[..], &["--columns", columns]].concat())?;
        let section = &found["sections"][0];
        for (metric, expected) in ["alpha_nominal", "alpha_ordinal", "alpha_interval"].iter().zip(alphas) {
            table.figure(&format!("{name}: {metric}"), &section["figures"][metric]["value"], expected);
        }
        table.figure(&format!("{name}: ICC(1,1)"), &section["figures"]["icc"]["value"], icc);
        table.figure(&format!("{name}: all three equal"), &section["all_same"]["value"], same);
        table.figure(
            &format!("{name}: variance within"),
            &section["figures"]["within_variance"]["value"],
            within,
        );
        for (system, mean) in means {
            table.figure(&format!("{name}: mean of {system}"), &section["systems"][system]["value"], mean);
        }
    }
    Ok(())
}
