//! The paths of the service.

/// All paths.
pub(crate) const PATHS: [&str; 14] = [
    "/v1/grade", "/v1/rubrics", "/v1/openapi.json", "/healthz", "/readyz", "/metrics", OPENRLHF, "/slime",
    "/verify", "/seed_session", "/aggregate_metrics", "/reverify_mode", "/lambda",
    "/v1/fine_tuning/alpha/graders/run",
];

/// Path of the adapter.
pub(crate) const OPENRLHF: &str = "/get_reward";
