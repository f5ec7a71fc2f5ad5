//! Known numbers of a shared collection, where there is one beside the checkout.

use std::path::Path;

use assize_stats::{Accumulator, Interval, Level, Undefined, proportion};
use serde_json::{Value, json};

fn ends(interval: Result<Interval, Undefined>) -> (Option<f64>, Option<f64>) {
    (interval.ok().map(|interval| interval.low), interval.ok().map(|interval| interval.high))
}

fn compute(vector: &Value) -> Option<Value> {
    let inputs = &vector["inputs"];
    let level = || Level::new(inputs["confidence"].as_f64().expect("a level")).expect("in range");
    match (vector["group"].as_str(), vector["method"].as_str()) {
        (Some("mean"), Some("mean_sem_tci")) => {
            let values = inputs["values"].as_array().expect("values").iter();
            let values: Accumulator = values.map(|value| value.as_f64().expect("a number")).collect();
            let mean = values.mean(level());
            let (low, high) = ends(mean.interval);
            Some(json!({
                "mean": mean.mean.ok(), "sd_sample": mean.sd.ok(), "sem": mean.se.ok(), "t_low": low, "t_high": high,
            }))
        }
        (Some("proportion_ci"), Some("wilson")) => {
            let count = |name: &str| inputs[name].as_u64().expect("a count");
            let (low, high) = ends(proportion(count("successes"), count("n"), level()).interval);
            Some(json!({"low": low, "high": high}))
        }
        _ => None,
    }
}

#[test]
fn the_shared_numbers() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors/statistics.json");
    if !file.is_file() {
        println!("skipped: no shared folder");
        return;
    }
    let text = std::fs::read_to_string(file).expect("readable");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    let (mut right, mut wrong) = (0, 0);
    println!("{:<24} {:<10} {:>24} {:>24}  ok", "id", "figure", "expected", "computed");
    for vector in all["vectors"].as_array().expect("vectors") {
        let Some(computed) = compute(vector) else { continue };
        let tolerance = vector["tol"].as_f64().expect("a tolerance");
        for (figure, expected) in vector["expected"].as_object().expect("figures") {
            // Ends of the normal approximation, which is no method of this crate.
            if figure.starts_with("z_") {
                continue;
            }
            let found = &computed[figure];
            let ok = match (expected.as_f64(), found.as_f64()) {
                (Some(expected), Some(found)) => {
                    (expected - found).abs() <= tolerance * expected.abs().max(1.0)
                }
                _ => expected.is_null() && found.is_null(),
            };
            *(if ok { &mut right } else { &mut wrong }) += 1;
            let (id, expected, found) =
                (vector["id"].as_str().expect("an id"), expected.to_string(), found.to_string());
            println!("{id:<24} {figure:<10} {expected:>24} {found:>24}  {ok}");
        }
    }
    println!("{right} right, {wrong} wrong");
    assert_eq!(wrong, 0);
    assert!(right > 0, "the collection holds mean and Wilson vectors");
}
