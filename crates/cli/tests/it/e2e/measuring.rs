//! `calibrate`: criteria, labels drawn with probabilities, the error of a mean, bounds of selection.

use std::fmt::Write as _;

use serde_json::Value;

use crate::e2e::bench::object;
use crate::e2e::calibrate::{QUICK, calibrate, cli, refused};

#[test]
fn criteria_that_measure_nothing_or_the_same_are_named() {
    let cli = cli();
    let mut text = "case,criterion,label\n".to_owned();
    for case in 0..60 {
        let good = case % 3 != 0;
        let word = |met: bool| if met { "met" } else { "unmet" };
        for (criterion, met) in [
            ("right", good),
            ("also-right", good),
            ("sourced", if case % 7 == 0 { !good } else { good }),
            ("short", case % 2 == 0),
            ("polite", true),
        ] {
            writeln!(text, "c{case},{criterion},{}", word(met)).expect("a string takes everything");
        }
    }
    text.push_str("c0,rare,met\n");
    cli.file("t.csv", text);

    let found = object(
        &cli.run(&[&["calibrate", "criteria", "t.csv", "--json"], &QUICK[..]].concat()).expect_code(0),
    );
    assert_eq!((&found["answers"], &found["omitted"]), (&60.into(), &1.into()));
    let named = |name: &str| {
        let criteria = found["criteria"].as_array().expect("a list");
        criteria.iter().find(|one| one["name"] == name).expect("there is one").clone()
    };
    assert_eq!(named("polite")["flag"], "always_met");
    assert!(named("polite")["metrics"]["item_rest"]["undefined"].is_string());
    assert_eq!(named("right")["flag"], Value::Null);
    assert!(named("right")["metrics"]["item_rest"]["low"].as_f64().is_some_and(|low| low > 0.5));
    let pair = &found["pairs"][0];
    assert_eq!((&pair["criteria"][0], &pair["criteria"][1]), (&"right".into(), &"also-right".into()));
    assert_eq!((&pair["redundant"], &pair["alike"]), (&true.into(), &60.into()));
    assert!(pair["kappa"]["low"].as_f64().is_some_and(|low| low < 1.0), "60 alike are not certainty");
    assert!(found["model"]["undefined"].is_string(), "60 answers are too few");

    let text = cli.run(&["calibrate", "criteria", "t.csv", "--resamples", "100"]).expect_code(0).stdout;
    assert!(text.contains("redundant") && text.contains("polite: met by every answer"), "{text}");
    cli.file("one.csv", "case,criterion,label\na,k,met\nb,k,unmet\n");
    let error = cli.run(&["calibrate", "criteria", "one.csv"]).expect_code(2).stderr;
    assert!(error.contains("five answers or more"), "{error}");
}

#[test]
fn scores_out_of_order_or_unused_and_extreme_criteria_are_named() {
    let cli = cli();
    let mut state: u64 = 5;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 31)
    };
    let mut text = "case,criterion,label\n".to_owned();
    for case in 0..1_000 {
        // A sum of twelve uniform numbers is nearly normal.
        let ability = (0..12).map(|_| draw()).sum::<f64>() - 6.0;
        let mut step = |slope: f64, difficulties: &[f64]| {
            let place = draw();
            difficulties.iter().filter(|at| place < 1.0 / (1.0 + (slope * (*at - ability)).exp())).count()
        };
        let word = |step: usize| ["unmet", "met"][step];
        for (criterion, label) in [
            ("depth", (7 + step(1.5, &[-1.0, 1.0])).to_string()),
            ("clarity", [2, 1, 3][step(2.0, &[-0.8, 0.8])].to_string()),
            ("noise", (1 + step(0.0, &[0.0]) + step(0.0, &[0.0])).to_string()),
            ("sound", word(step(1.5, &[0.0])).to_owned()),
            ("sourced", word(step(1.5, &[0.5])).to_owned()),
            ("polite", word(step(1.5, &[-2.9])).to_owned()),
        ] {
            writeln!(text, "c{case},{criterion},{label}").expect("a string takes everything");
        }
    }
    cli.file("t.csv", text);

    let arguments = ["calibrate", "criteria", "t.csv", "--scale", "0..10", "--resamples", "100"];
    let found = object(&cli.run(&[&arguments[..], &["--json"]].concat()).expect_code(0));
    let named = |list: &Value, name: &str| {
        list.as_array()
            .and_then(|list| list.iter().find(|one| one["name"] == name))
            .expect("there is one")
            .clone()
    };
    let criterion = |name: &str| named(&found["criteria"], name);
    let unused: Vec<f64> = [0, 1, 2, 3, 4, 5, 6, 10].map(f64::from).to_vec();
    assert_eq!(criterion("depth")["unused_scores"], serde_json::json!(unused));
    assert_eq!(criterion("depth")["not_in_order"], serde_json::json!([]));
    assert_eq!(criterion("clarity")["not_in_order"], serde_json::json!([[[1.0, 1.0], [2.0, 2.0]]]));
    assert_eq!(criterion("noise")["flag"], "not_with_the_rest");
    assert_eq!(criterion("polite")["unused_scores"], serde_json::json!([]), "a verdict has no scores");
    let curve = |name: &str| named(&found["model"]["curves"], name);
    assert_eq!(curve("polite")["extreme"], "too_easy");
    assert_eq!((&curve("sound")["extreme"], &curve("noise")["steps"]), (&Value::Null, &Value::Null));
    let steps = &curve("depth")["steps"];
    assert_eq!(steps[1]["score"], serde_json::json!([9.0, 9.0]));
    for (step, truth) in [(0, -1.0), (1, 1.0)] {
        let end = |end: &str| steps[step][end].as_f64().expect("a number");
        assert!(end("low") < truth && truth < end("high"), "{steps}");
    }

    let text = cli.run(&arguments).expect_code(0).stdout;
    for line in [
        "noise: hardly tells good answers from bad ones",
        "polite: too easy for these answers",
        "depth: no answer got 0 to 6 or 10; at most 0.3% of further answers would.",
        "clarity: answers with 2 are worse by the other criteria than those with 1",
    ] {
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(line), "{line}: {text}");
    }
    // Without a scale, the other possible scores are unknown.
    let text = cli.run(&[&arguments[..3], &QUICK].concat()).expect_code(0).stdout;
    assert!(!text.contains("no answer got"), "{text}");
}

#[test]
fn scores_without_a_declared_scale_say_so_and_with_one_do_not() {
    let cli = cli();
    let (mut judged, mut rated) = ("case,judge,label\n".to_owned(), "case,who,label\n".to_owned());
    for case in 0..40 {
        let (judge, person) = (8 + case % 3, 8 + case % 2);
        writeln!(judged, "c{case},{judge},{person}").expect("a string takes everything");
        writeln!(rated, "c{case},ann,{judge}\nc{case},bob,{person}").expect("a string takes everything");
    }
    cli.file("judged.csv", judged);
    cli.file("rated.csv", rated);
    let says = "the scores that occur, 8 to 10, were taken for the whole scale";
    let scale = ["--scale", "0,1,2,3,4,5,6,7,8,9,10"];
    for command in [&["calibrate", "--labels", "judged.csv"][..], &["calibrate", "agreement", "rated.csv"]] {
        for json in [&[][..], &["--json"]] {
            let run =
                |scale: &[&str]| cli.run(&[command, json, scale, &QUICK].concat()).expect_code(0).stdout;
            let (observed, declared) = (run(&[]), run(&scale));
            if json.is_empty() || command.len() == 3 && command[1] == "--labels" {
                assert!(observed.contains(says) && !declared.contains(says), "{observed}{declared}");
            } else {
                let range = |text: &str| {
                    serde_json::from_str::<Value>(text).expect("JSON")["sections"][0]["observed_range"]
                        .clone()
                };
                assert_eq!(
                    (range(&observed), range(&declared)),
                    (serde_json::json!([8.0, 10.0]), Value::Null)
                );
            }
        }
    }
}

#[test]
fn the_report_of_a_judge_is_short_unless_all_of_it_is_asked_for() {
    let cli = cli();
    let mut text = "case,judge,label\n".to_owned();
    for case in 0..25 {
        let label = if case % 3 == 0 { "unmet" } else { "met" };
        writeln!(text, "c{case},met,{label}").expect("a string takes everything");
    }
    cli.file("t.csv", text);
    let run = |more: &[&str]| {
        cli.run(&[&["calibrate", "--labels", "t.csv"], more, &QUICK].concat()).expect_code(0).stdout
    };
    let (short, all) = (run(&[]), run(&["--verbose"]));
    let few = "The judge agrees with people in 16 of 25; too few to say more than that it agrees in ";
    for text in [&short, &all] {
        assert!(text.contains(few) && text.contains("specificity") && text.contains("Gwet's AC1"), "{text}");
    }
    assert!(short.lines().count() <= 40 && short.contains("`--verbose` shows "), "{short}");
    for hidden in ["macro-F1", "Cohen's kappa", "position"] {
        assert!(!short.contains(hidden) && all.contains(hidden), "{hidden}: {short}{all}");
    }
}

#[test]
fn labels_that_were_drawn_with_probabilities_are_weighed_by_them() {
    let cli = cli();
    // 400 items; the judge finds 40 unmet. Half of those were labelled, and one in twenty of the others.
    let mut text = "case,judge,label,sampled,drawn\n".to_owned();
    for case in 0..400 {
        let judge = if case % 10 == 0 { "unmet" } else { "met" };
        let labelled = if case % 10 == 0 { case % 20 == 0 } else { case % 20 == 1 };
        let label = if case % 10 == 0 && case % 60 != 0 { "unmet" } else { "met" };
        if labelled {
            let drawn = if case % 10 == 0 { 0.5 } else { 0.05 };
            writeln!(text, "c{case},{judge},{label},weighted,{drawn}").expect("a string takes everything");
        } else {
            writeln!(text, "c{case},{judge},,,").expect("a string takes everything");
        }
    }
    cli.file("t.csv", &text);
    let found = calibrate(&cli, &["--labels", "t.csv"]);
    let corrected = &found["rates"][0]["corrected"];
    let of = |key: &str| corrected["ppi_plus_plus"][key].as_f64().expect("a number");
    // 7 of 20 unmet ones are met; weighted: 14 of 440 plus all 400 others.
    assert!((0.92..0.95).contains(&of("value")), "{corrected}");
    assert!(of("low") > 0.75 && of("high") < 1.0, "{corrected}");
    assert!(found["notes"].to_string().contains("different probabilities"), "{}", found["notes"]);

    // A second draw with the same probabilities: together the draws represent twice as many items.
    let second: String = text
        .lines()
        .map(|line| {
            let number: usize = line[1..].split(',').next().and_then(|at| at.parse().ok()).unwrap_or(1);
            match (number % 20, line.contains("weighted")) {
                (10, _) => format!("c{number},unmet,met,weighted,0.5\n"),
                (11, _) => format!("c{number},met,met,weighted,0.05\n"),
                _ => format!("{line}\n"),
            }
        })
        .collect();
    cli.file("both.csv", second);
    let found = calibrate(&cli, &["--labels", "both.csv"]);
    let why = found["rates"][0]["corrected"].to_string() + &found["notes"].to_string();
    assert!(why.contains("they come from several draws"), "{found}");
    // One item that is in both draws.
    let named = text.replace('\n', ",ann\n");
    cli.file("again.csv", named.replacen(",ann", ",who", 1) + "c0,unmet,met,weighted,0.25,bob\n");
    let found = calibrate(&cli, &["--labels", "again.csv"]);
    assert!(found.to_string().contains("1 item was drawn twice"), "{found}");

    cli.file("mixed.csv", text.replacen("weighted,0.5", "random,", 1));
    let mixed = calibrate(&cli, &["--labels", "mixed.csv"]);
    assert!(
        mixed["rates"][0]["corrected"]["refused"].to_string().contains("two kinds"),
        "{}",
        mixed["rates"][0]
    );
    cli.file("bare.csv", text.replacen("weighted,0.5", "weighted,", 1));
    let bare = calibrate(&cli, &["--labels", "bare.csv"]);
    assert!(bare["rates"][0]["corrected"]["refused"].to_string().contains("`drawn`"), "{}", bare["rates"][0]);
    cli.file("wrong.csv", text.replacen("weighted,0.5", "weighted,1.5", 1));
    let error = refused(&cli, &["--labels", "wrong.csv"]);
    assert!(error.contains("above 0 and up to 1"), "{error}");
}

#[test]
fn the_error_of_a_mean_has_judges_and_prompts_in_it() {
    let cli = cli();
    let mut text = "case,who,prompt,label\n".to_owned();
    for case in 0..20 {
        for (judge, kind) in [("a", 2), ("b", 0), ("c", 1)] {
            for (prompt, more) in [("v1", 0), ("v2", 1)] {
                let score = f64::from(case % 5 + kind + more + (case * 7 + kind * 3) % 2) / 4.0;
                writeln!(text, "c{case},{judge},{prompt},{score}").expect("a string takes everything");
            }
        }
    }
    cli.file("t.csv", &text);
    let run = |arguments: &[&str]| {
        object(
            &cli.run(&[&["calibrate", "noise", "t.csv", "--json", "--resamples", "40"], arguments].concat())
                .expect_code(0),
        )["total_error"]
            .clone()
    };
    let found = run(&[]);
    assert_eq!(found["levels"], serde_json::json!({ "cases": 20, "judges": 3, "prompts": 2 }));
    let sources: Vec<&str> = found["components"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|part| part["source"].as_str())
        .collect();
    assert_eq!(
        sources,
        [
            "case", "judge", "case x judge", "prompt", "case x prompt", "judge x prompt",
            "case x judge x prompt, repeats"
        ]
    );
    let error = |key: &str| found[key].as_f64().expect("a number");
    assert!(error("standard_error") > 1.5 * error("standard_error_of_cases"), "{found}");
    assert_eq!(found["few_levels"], serde_json::json!(["judge", "prompt"]));
    assert_eq!(found["design"], Value::Null);

    let planned = run(&["--width", "1"])["design"].clone();
    assert!(planned["comparison"]["calls"].as_f64() < planned["mean"]["calls"].as_f64(), "{planned}");
    assert!(
        planned["mean"]["standard_error"].as_f64().is_some_and(|error| error <= 0.5 / 1.959),
        "{planned}"
    );
    let narrow = run(&["--width", "0.1"])["design"].clone();
    assert!(
        narrow["mean"]["undefined"].as_str().is_some_and(|text| text.contains("no number of cases")),
        "{narrow}"
    );
    assert!(narrow["comparison"]["calls"].is_number(), "{narrow}");

    let shown = cli.run(&["calibrate", "noise", "t.csv", "--width", "1"]).expect_code(0).stdout;
    assert!(shown.contains("Only 3 judges") && shown.contains("Cheapest design"), "{shown}");
    // Scores that do not vary are no evidence about their error or about a design.
    cli.file("same.csv", "case,who,label\na,x,met\na,y,met\nb,x,met\nb,y,met\nc,x,met\nc,y,met\n");
    let same = ["calibrate", "noise", "same.csv", "--width", "0.1"];
    let shown = cli.run(&same).expect_code(0).stdout;
    assert!(
        shown.contains("The standard error of the mean is undefined: all values are the same"),
        "{shown}"
    );
    assert!(shown.contains("Cheapest design for a 95% CI of full width 0.1: undefined"), "{shown}");
    assert!(!shown.contains("0.0000 to 0.0000") && !shown.contains("2 cases x"), "{shown}");
    let found = object(&cli.run(&[&same[..], &["--json"]].concat()).expect_code(0))["total_error"].clone();
    assert_eq!((&found["standard_error"], &found["design"]["mean"]["calls"]), (&Value::Null, &Value::Null));
    assert!(found["standard_error_undefined"].is_string(), "{found}");

    cli.file("one.csv", "case,who,label\na,x,3\nb,x,4\n");
    let error = cli.run(&["calibrate", "noise", "one.csv"]).expect_code(2).stderr;
    assert!(error.contains("two judges or two prompts"), "{error}");
}

#[test]
fn labels_that_were_not_drawn_at_random_have_bounds() {
    let cli = cli();
    let mut text = "case,judge,label\n".to_owned();
    for case in 0..300 {
        let judge = if case < 200 { "met" } else { "unmet" };
        let label = match case {
            0..18 | 200..203 => "met",
            18..20 | 203..215 => "unmet",
            _ => "",
        };
        writeln!(text, "c{case},{judge},{label}").expect("a string takes everything");
    }
    cli.file("t.csv", text);
    let found = calibrate(&cli, &["--labels", "t.csv"]);
    let selection = &found["rates"][0]["selection"];
    let near =
        |value: &Value, expected: f64| value.as_f64().is_some_and(|value| (value - expected).abs() < 1e-9);
    // By a linear program: between .5417948718 and .77 for a factor of 3; 21 and 286 of 300 whatever the others
    // are.
    assert!(near(&selection["bounds"][3]["low"], 0.541_794_871_794_871_8), "{selection}");
    assert!(near(&selection["bounds"][3]["high"], 0.77), "{selection}");
    assert!(near(&selection["bounds"][4]["low"], 0.07) && selection["bounds"][4]["factor"] == Value::Null);
    assert!(selection["bounds"][0]["low_with_error"].as_f64() < selection["bounds"][0]["low"].as_f64());
    assert!(near(&selection["judge"], 2.0 / 3.0), "{selection}");
    let shown = cli.run(&["calibrate", "--labels", "t.csv"]).expect_code(0).stdout;
    assert!(shown.contains("no assumption"), "{shown}");
    assert_eq!(
        calibrate(&cli, &["--labels", "t.csv", "--assume-random"])["rates"][0]["selection"],
        Value::Null
    );
}
