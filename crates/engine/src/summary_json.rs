//! The summary of a run as JSON, as `--json` prints it.

use std::path::Path;

use assize_store::{RunFolder, RunInfo};

/// Summary of a run as JSON.
pub fn summary_json(info: &RunInfo, folder: &Path) -> serde_json::Value {
    let Some(summary) = &info.summary else { return serde_json::Value::Null };
    // The results themselves, one per line.
    let results = RunFolder::new(folder).results_path();
    let mut value = serde_json::json!({
        "run_id": info.run_id,
        "run_dir": folder.display().to_string(),
        "results": results.is_file().then(|| results.display().to_string()),
        "counts": summary.counts,
        // If a run did not end, it is unknown how many cases it would have had.
        "not_run": info.finished_at.is_some().then_some(summary.not_run),
        "excluded": summary.excluded,
        "mean_score": summary.mean_score,
        "metrics": summary.figures,
        "judges": info.judges,
        "tokens": summary.tokens,
        "cost_usd": summary.cost_usd,
        "cost_partial": summary.cost_partial,
        "judge_calls": summary.judge_calls,
        "judge_calls_cached": summary.judge_calls_cached,
        "sent": summary.sent,
        "pass_rate_gate": summary.pass_rate_gate,
        "early_stop": summary.early_stop,
        "criteria": summary.criteria,
        "criteria_ungraded": summary.criteria_ungraded,
        "criterion_rates": summary.criterion_rates,
        "check_rates": summary.check_rates,
        "quotes": summary.quotes,
        "quotes_found": summary.quotes_found,
        "panel": summary.panel,
        "criteria_truncated": summary.criteria_truncated,
        "warnings": info.warnings,
        "exit_code": summary.exit_code,
        "exit_reason": summary.exit_reason,
        "conclusion": summary.conclusion,
    });
    if let Some(shard) = &info.shard {
        value["shard"] = serde_json::json!(shard);
    }
    if let Some(merged) = &info.merged {
        value["merged"] = serde_json::json!(merged);
    }

    value
}
