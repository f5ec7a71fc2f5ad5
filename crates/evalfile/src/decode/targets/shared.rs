//! Decoder of settings common to targets of every kind.

use std::time::Duration;

use assize_document::{NodeValue, TreeNode, string, wrong_type};
use assize_model::RetrySpec;

use super::entry::TargetEntryReader;
use super::health::decode_health_check;

/// Decodes the judge, the number of workers, retries, and unsupported settings.
pub(super) fn decode_shared_settings(entry: &mut TargetEntryReader<'_, '_, '_>) {
    let judge = entry.object.first_of(&["grader_target", "judge_target"], entry.problems);
    entry.spec.grader_target = judge
        .filter(|found| !found.value.is_null())
        .and_then(|found| string(&found.value, "grader_target", entry.problems))
        .map(|text| text.value.trim().to_owned())
        .filter(|text| !text.is_empty());

    let workers = entry.object.integer("workers", 1, 50, entry.problems);
    entry.spec.workers = workers.map(|workers| workers.value as usize);

    let retries = entry.object.integer("max_retries", 0, 100, entry.problems);
    let mut milliseconds = |key| {
        let value = entry.object.integer(key, 0, 3_600_000, entry.problems)?;
        Some(Duration::from_millis(value.value as u64))
    };
    entry.spec.retry = RetrySpec {
        initial_delay: milliseconds("retry_initial_delay_ms"),
        max_delay: milliseconds("retry_max_delay_ms"),
        max_retries: retries.map(|retries| retries.value as u32),
    };

    if let Some(factor) = entry.object.number("retry_backoff_factor", entry.problems) {
        // Delays always double, so a factor of 2 has its effect.
        if factor.value != 2.0 {
            entry.without_effect("`retry_backoff_factor`", factor.span);
        }
    }

    if let Some(found) = entry.object.value("retry_status_codes") {
        let is_status = |item: &TreeNode| matches!(item.data, NodeValue::Int(100..=599));
        if !matches!(&found.data, NodeValue::Seq(items) if items.iter().all(is_status)) {
            entry.problems.add(
                wrong_type(found, "`retry_status_codes`", "a list of HTTP status codes")
                    .with_help("write it like `[429, 503]`"),
            );
        }
        entry.without_effect("`retry_status_codes`", found.use_span());
    }

    if let Some(batching) = entry.object.boolean("provider_batching", entry.problems)
        && batching.value
    {
        entry.batching = Some(batching.span);
    }

    let fallbacks = entry.object.strings("fallback_targets", entry.problems);
    entry.spec.fallbacks = fallbacks.into_iter().map(|name| name.value).collect();

    if let Some(found) = entry.object.entry("healthcheck").filter(|found| !found.value.is_null()) {
        entry.spec.health = decode_health_check(&found.value, entry.problems);
    }
    if let Some(hooks) = entry.object.entry("hooks").filter(|found| !found.value.is_null()) {
        // No version of AgentV runs hooks from a targets file.
        entry.without_effect(
            "`hooks` in a targets file (write them under `execution: {targets: [...]}` of the eval file)",
            hooks.key_span,
        );
    }
    if let Some(runtime) = entry.object.entry("runtime").filter(|found| !is_host(&found.value)) {
        entry.unbuilt("a profile or a sandbox for a target (`runtime`)", runtime.key_span);
    }
    if let Some(allowed) = entry.object.boolean("subagent_mode_allowed", entry.problems) {
        entry.without_effect("`subagent_mode_allowed`", allowed.span);
    }
}

/// Returns true if a value of `runtime` means this machine, without a profile or a sandbox.
fn is_host(runtime: &TreeNode) -> bool {
    let mode = runtime.get("mode").unwrap_or(runtime);
    mode.is_null()
        || mode.as_str() == Some("host")
            && (runtime.as_str().is_some() || runtime.as_map().is_some_and(|map| map.len() == 1))
}
