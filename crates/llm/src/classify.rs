//! Finds the [`ErrorKind`] for a status code and a server's message.

use crate::error::ErrorKind;

/// The kind of a refused request. `code` and `message` are the server's, in upper or lower case; either may be
/// empty.
///
/// A status of success (2xx) is taken as a failure inside the server, since the caller found an error in the
/// answer.
pub(crate) fn classify(status: u16, code: &str, message: &str) -> ErrorKind {
    let code = code.to_ascii_lowercase();
    let message = message.to_ascii_lowercase();
    // Groq sends 413 here, and OpenAI 429. The allowance of a minute is not a context window, and waiting does not
    // help.
    if matches!(status, 413 | 429) && exceeds_allowance(&message) {
        return ErrorKind::BadRequest;
    }
    if matches!(status, 400 | 413 | 422 | 500) && too_long(&code, &message) {
        return ErrorKind::ContextLength;
    }
    if (400..500).contains(&status) && refused_content(&code, &message) {
        return ErrorKind::ContentRefused;
    }
    if status == 400 && code.contains("json_validate_failed") {
        // The model did not write the JSON that it was constrained to. The request is not at fault.
        return ErrorKind::MalformedReply;
    }
    if (400..500).contains(&status) && unknown_key(&code, &message) {
        return ErrorKind::Authentication;
    }
    // An account without credit may also answer 412 or 429, but waiting does not help.
    if matches!(status, 400 | 412 | 429) && (out_of_money(&code, &message) || not_allowed(&code, &message)) {
        return ErrorKind::PermissionDenied;
    }
    if matches!(status, 400 | 422) && unknown_model(&code, &message) {
        return ErrorKind::NotFound;
    }

    match status {
        429 => ErrorKind::RateLimited,
        401 => ErrorKind::Authentication,
        402 | 403 => ErrorKind::PermissionDenied,
        404 | 405 | 410 | 501 => ErrorKind::NotFound,
        408 => ErrorKind::Timeout,
        // Bedrock sends 424 if a model failed on the request.
        409 | 424 | 425 | 499 => ErrorKind::Server,
        413 => ErrorKind::ContextLength,
        503 | 529 => ErrorKind::Overloaded,
        300..=499 => ErrorKind::BadRequest,
        _ if code.contains("rate_limit") => ErrorKind::RateLimited,
        _ if code.contains("overloaded") => ErrorKind::Overloaded,
        _ => ErrorKind::Server,
    }
}

fn out_of_money(code: &str, message: &str) -> bool {
    const CODES: [&str; 4] = ["insufficient_quota", "exceeded_current_quota", "billing", "perday"];

    const WORDS: [&str; 6] = [
        "credit balance", "your specified api usage limits", "insufficient balance", "余额不足",
        "monthly spending limit", "account is in good standing",
    ];

    CODES.iter().any(|c| code.contains(c)) || WORDS.iter().any(|words| message.contains(words))
}

fn too_long(code: &str, message: &str) -> bool {
    const CODES: [&str; 4] =
        ["context_length", "exceed_context", "string_above_max_length", "prompt_too_long"];

    const WORDS: [&str; 15] = [
        "exceeds the context length", "greater than the context length", "maximum prompt length",
        "`inputs` tokens", "exceeds the maximum number of tokens", "maximum context length",
        "context length exceeded", "context window", "context size", "exceeds the model's context",
        "prompt is too long", "input is too long", "too many tokens", "exceed context limit",
        "reduce the length of the messages",
    ];

    CODES.iter().any(|c| code.contains(c)) || WORDS.iter().any(|w| message.contains(w))
}

/// Whether the account may not use the model.
fn not_allowed(code: &str, message: &str) -> bool {
    const WORDS: [&str; 8] = [
        "location is not supported", "unsupported countries", "organization has been disabled",
        "organization has been restricted", "organization must be verified", "is not allowed to use",
        "marked by provider as legacy", "operation not allowed",
    ];

    code.contains("model_terms_required") || WORDS.iter().any(|words| message.contains(words))
}

/// Google and xAI refuse a wrong key with status 400, and AWS and Fireworks with 403.
fn unknown_key(code: &str, message: &str) -> bool {
    const WORDS: [&str; 12] = [
        "api key not valid",
        "api key expired",
        "incorrect api key",
        "invalid api key provided",
        "api key you provided is invalid",
        "your api key is valid",
        "invalid api key format",
        "security token included in the request",
        "request signature we calculated does not match",
        "signature expired",
        "invalid authorization header",
        "missing authorization header",
    ];

    code.contains("api_key_invalid") || WORDS.iter().any(|words| message.contains(words))
}

/// Many servers refuse an unknown model with status 400: also a model that can't chat, or not in this version of the API.
fn unknown_model(code: &str, message: &str) -> bool {
    const CODES: [&str; 6] = [
        "model_not_found", "invalid_model", "model_not_supported", "model_not_available",
        "model_decommissioned", "deploymentnotfound",
    ];

    const WORDS: [&str; 20] = [
        "model identifier is invalid", "on-demand throughput", "support the model that you provided",
        "invalid model name", "model not exist", "is not a valid model id", "invalid model:",
        "invalid model id", "no such model", "unknown model", "unexpected model name",
        "does not work with the specified model", "does not support chat", "supported api model names",
        "permitted models", "no models loaded", "not servable in region", "at 'modelid' failed to satisfy",
        "chat template is no longer allowed", "api version not supported",
    ];

    let missing = message.contains("model")
        && ["does not exist", "not found"].iter().any(|words| message.contains(words));
    missing || CODES.iter().any(|c| code.contains(c)) || WORDS.iter().any(|words| message.contains(words))
}

/// Whether a single request is larger than the account's allowance for a minute.
fn exceeds_allowance(message: &str) -> bool {
    message.contains("request too large") && message.contains("tokens per min")
}

fn refused_content(code: &str, message: &str) -> bool {
    const CODES: [&str; 5] =
        ["content_filter", "content_policy", "responsibleaipolicy", "moderation", "data_inspection_failed"];

    const WORDS: [&str; 8] = [
        "violating our usage policy", "violates usage guidelines", "content exists risk",
        "output blocked by content filtering", "content management policy", "flagged by moderation",
        "requires moderation", "content policy violation",
    ];

    CODES.iter().any(|c| code.contains(c)) || WORDS.iter().any(|w| message.contains(w))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_map_to_kinds() {
        let table = [
            (429, "", "", ErrorKind::RateLimited),
            (429, "insufficient_quota", "", ErrorKind::PermissionDenied),
            (400, "context_length_exceeded", "", ErrorKind::ContextLength),
            (400, "", "This model's maximum context length is 8192 tokens", ErrorKind::ContextLength),
            (400, "content_filter", "", ErrorKind::ContentRefused),
            (403, "", "Input was flagged by moderation", ErrorKind::ContentRefused),
            (400, "invalid_value", "bad", ErrorKind::BadRequest),
            (401, "invalid_api_key", "", ErrorKind::Authentication),
            (400, "json_validate_failed", "Failed to generate JSON.", ErrorKind::MalformedReply),
            (429, "exceeded_current_quota_error", "", ErrorKind::PermissionDenied),
            (403, "", "Content violates usage guidelines. Failed check: X", ErrorKind::ContentRefused),
            (400, "invalid_request_error", "Content Exists Risk", ErrorKind::ContentRefused),
            (
                400,
                "",
                "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
                ErrorKind::ContextLength,
            ),
            (
                422,
                "",
                "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193.",
                ErrorKind::ContextLength,
            ),
            (400, "400 INVALID_ARGUMENT API_KEY_INVALID", "API key not valid.", ErrorKind::Authentication),
            (400, "invalid_request_error", "Your credit balance is too low", ErrorKind::PermissionDenied),
            (
                400,
                "",
                "The input token count (9) exceeds the maximum number of tokens allowed (4).",
                ErrorKind::ContextLength,
            ),
            (400, "", "the input length exceeds the context length", ErrorKind::ContextLength),
            (
                400,
                "invalid_request_error",
                "prompt is too long: 208310 tokens > 200000 maximum",
                ErrorKind::ContextLength,
            ),
            (
                400,
                "invalid_request_error",
                "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
                ErrorKind::ContextLength,
            ),
            (
                400,
                "exceed_context_size_error",
                "request (9000 tokens) exceeds the available context size (4096 tokens)",
                ErrorKind::ContextLength,
            ),
            (
                413,
                "request_too_large",
                "Please reduce the length of the messages or completion.",
                ErrorKind::ContextLength,
            ),
            (
                400,
                "invalid_prompt",
                "flagged as potentially violating our usage policy",
                ErrorKind::ContentRefused,
            ),
            (
                400,
                "invalid_request_error",
                "You have reached your specified API usage limits. You will regain access on 2026-12-01.",
                ErrorKind::PermissionDenied,
            ),
            (400, "billing_hard_limit_reached", "", ErrorKind::PermissionDenied),
            (
                400,
                "model_terms_required",
                "The model `x` requires terms acceptance.",
                ErrorKind::PermissionDenied,
            ),
            (
                400,
                "",
                "Your organization must be verified to stream this model.",
                ErrorKind::PermissionDenied,
            ),
            (400, "", "Project `p` is not allowed to use Publisher Model `x`", ErrorKind::PermissionDenied),
            (403, "", "The API key you provided is invalid.", ErrorKind::Authentication),
            (400, "", "model \"x\" not found, try pulling it first", ErrorKind::NotFound),
            (400, "", "\"nomic-embed-text\" does not support chat", ErrorKind::NotFound),
            (
                400,
                "invalid_argument",
                "* GenerateContentRequest.model: unexpected model name format",
                ErrorKind::NotFound,
            ),
            (400, "", "The image was not found", ErrorKind::BadRequest),
            (403, "", "", ErrorKind::PermissionDenied),
            (424, "", "The model failed to process the request", ErrorKind::Server),
            (404, "model_not_found", "", ErrorKind::NotFound),
            (408, "", "", ErrorKind::Timeout),
            (409, "", "", ErrorKind::Server),
            (500, "", "", ErrorKind::Server),
            (502, "", "", ErrorKind::Server),
            (503, "", "", ErrorKind::Overloaded),
            (504, "", "", ErrorKind::Server),
            (529, "overloaded_error", "", ErrorKind::Overloaded),
            (307, "", "", ErrorKind::BadRequest),
            (200, "rate_limit_exceeded", "", ErrorKind::RateLimited),
        ];
        for (status, code, message, kind) in table {
            assert_eq!(classify(status, code, message), kind, "{status} {code} {message}");
        }
    }
}
