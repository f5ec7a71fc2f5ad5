//! NeMo Gym: `POST /aggregate_metrics` of a resources server, which ends the collection of rollouts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use serde_json::{Map, Value, json};

use super::shared::read_json;
use crate::decode::ObjectReader;
use crate::decode::ProblemList;
use crate::problem::ApiError;
use crate::service::Service;
use crate::tenant::Tenant;

const TASK: &str = "_ng_task_index";
const ROLLOUT: &str = "_ng_rollout_index";
const MASK: &str = "mask_sample";

/// Answers with mean, maximum, minimum, median and standard deviation of every number in the rollouts, for each
/// task and overall. Masked rollouts have no reward: they are only counted.
pub(crate) async fn aggregate(
    State(service): State<Arc<Service>>,
    Extension(tenant): Extension<Arc<Tenant>>,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let (body, _memory) = read_json(&service, &tenant, request).await?;
    let mut problems = ProblemList::default();
    let rollouts = read_rollouts(body, &mut problems);
    problems.check()?;

    Ok(Json(metrics_of(&rollouts.unwrap_or_default())))
}

fn read_rollouts(body: Value, problems: &mut ProblemList) -> Option<Vec<Map<String, Value>>> {
    let mut object = ObjectReader::new(body, "", problems)?;
    let Some(list) = object.list("verify_responses") else {
        object.problem("verify_responses", "missing: the replies of `/verify`");
        return None;
    };
    object.finish();

    let rollouts: Option<Vec<_>> = list
        .into_iter()
        .map(|rollout| match rollout {
            Value::Object(rollout) => Some(rollout),
            _ => None,
        })
        .collect();
    if rollouts.is_none() {
        problems.add("/verify_responses", "expected a list of objects");
    }

    rollouts
}

fn metrics_of(rollouts: &[Map<String, Value>]) -> Value {
    let is_masked = |rollout: &&Map<String, Value>| rollout.get(MASK) == Some(&Value::Bool(true));
    let index =
        |rollout: &Map<String, Value>, key: &str| rollout.get(key).and_then(Value::as_i64).unwrap_or(0);
    let measured: Vec<_> = rollouts.iter().filter(|rollout| !is_masked(rollout)).collect();
    let mut tasks: BTreeMap<i64, Vec<&Map<String, Value>>> = BTreeMap::new();
    for rollout in &measured {
        tasks.entry(index(rollout, TASK)).or_default().push(rollout);
    }

    let mut all = statistics(&measured);
    let mut key_metrics: Map<String, Value> = all
        .iter()
        .filter(|(name, _)| name.starts_with("mean/"))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let masked = rollouts.len() - measured.len();
    if masked > 0 {
        let all_tasks: BTreeSet<i64> = rollouts.iter().map(|rollout| index(rollout, TASK)).collect();
        for (name, count) in [
            ("measured_rollouts", measured.len()),
            ("masked_rollouts", masked),
            ("measured_tasks", tasks.len()),
            ("fully_masked_tasks", all_tasks.len() - tasks.len()),
        ] {
            all.insert(format!("coverage/{name}"), json!(count));
            key_metrics.insert(format!("coverage/{name}"), json!(count));
        }
    }
    if !measured.is_empty() {
        let repeats: BTreeSet<i64> = rollouts.iter().map(|rollout| index(rollout, ROLLOUT)).collect();
        all.insert("num_repeats".into(), json!(repeats.len()));
    }

    let groups = tasks.iter().map(|(task, rollouts)| {
        let mut group = statistics(rollouts);
        group.insert(TASK.into(), json!(task));
        Value::Object(group)
    });
    json!({
        "group_level_metrics": groups.collect::<Vec<Value>>(),
        "agent_metrics": all,
        "key_metrics": key_metrics,
        "repeat_level_metrics": [],
    })
}

/// Statistics of each number of the rollouts, including the model's usage, under names such as `mean/reward`.
fn statistics(rollouts: &[&Map<String, Value>]) -> Map<String, Value> {
    let mut columns: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for rollout in rollouts {
        let usage = rollout.get("response").and_then(|response| response.get("usage")?.as_object());
        let own = rollout.iter().filter(|(name, _)| !name.starts_with('_') && *name != MASK);
        for (name, value) in own.chain(usage.into_iter().flatten()) {
            let number = value.as_f64().or_else(|| value.as_bool().map(|is| f64::from(u8::from(is))));
            columns.entry(name).or_default().extend(number);
        }
    }

    let mut statistics = Map::new();
    for (name, mut numbers) in columns {
        if numbers.is_empty() {
            continue;
        }
        numbers.sort_by(f64::total_cmp);
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
        let middle = numbers.len() / 2;
        let median = if numbers.len() % 2 == 1 {
            numbers[middle]
        } else {
            f64::midpoint(numbers[middle - 1], numbers[middle])
        };
        for (statistic, value) in [
            ("mean", mean),
            ("max", numbers[numbers.len() - 1]),
            ("min", numbers[0]),
            ("median", median),
            ("std", (squares / (count - 1.0).max(1.0)).sqrt()),
        ] {
            statistics.insert(format!("{statistic}/{name}"), json!(value));
        }
    }

    statistics
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_rollouts_are_counted_and_nothing_else() {
        let rollouts = json!({"verify_responses": [
            {"_ng_task_index": 0, "_ng_rollout_index": 0, "reward": 1.0, "response": {"usage": {"output_tokens": 10}}},
            {"_ng_task_index": 0, "_ng_rollout_index": 1, "reward": 0.0, "mask_sample": false, "correct": true},
            {"_ng_task_index": 1, "_ng_rollout_index": 0, "reward": 0.0, "mask_sample": true},
        ]});
        let mut problems = ProblemList::default();
        let metrics = metrics_of(&read_rollouts(rollouts, &mut problems).unwrap());

        let all = &metrics["agent_metrics"];
        for (name, value) in [
            ("mean/reward", json!(0.5)),
            ("max/reward", json!(1.0)),
            ("min/reward", json!(0.0)),
            ("median/reward", json!(0.5)),
            ("std/reward", json!(0.5_f64.sqrt())),
            ("mean/output_tokens", json!(10.0)),
            ("std/output_tokens", json!(0.0)),
            ("mean/correct", json!(1.0)),
            ("coverage/measured_rollouts", json!(2)),
            ("coverage/masked_rollouts", json!(1)),
            ("coverage/fully_masked_tasks", json!(1)),
            ("num_repeats", json!(2)),
        ] {
            assert_eq!(all[name], value, "{name}");
        }
        assert_eq!(all.get("mean/mask_sample"), None);
        assert_eq!(metrics["key_metrics"]["mean/reward"], json!(0.5));
        assert_eq!(metrics["group_level_metrics"].as_array().unwrap().len(), 1);
        assert_eq!(metrics["group_level_metrics"][0]["_ng_task_index"], json!(0));
    }

    #[test]
    fn without_a_reward_there_is_no_mean() {
        let masked = json!({"_ng_task_index": 3, "reward": 0.0, "mask_sample": true});
        let metrics = metrics_of(&[masked.as_object().unwrap().clone()]);
        assert_eq!(metrics["agent_metrics"].get("mean/reward"), None);
        assert_eq!(metrics["key_metrics"]["coverage/measured_rollouts"], json!(0));
        assert_eq!(metrics_of(&[])["agent_metrics"], json!({}));

        let mut problems = ProblemList::default();
        assert!(read_rollouts(json!({"verify_responses": [1]}), &mut problems).is_none());
        assert!(!problems.is_empty());
    }
}
