//! Refusals as real servers sent them, with the source of each, and the advice that a user gets.

use crate::ErrorKind;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};

use crate::tests::support::{FORMATS, client_of, question};

struct Refusal {
    /// The provider that sends it, and the format it is read in: the place in [`FORMATS`].
    provider: &'static str,
    format: usize,
    status: u16,
    body: &'static str,
    kind: ErrorKind,
    /// Part of the advice for the user.
    advice: &'static str,
    source: &'static str,
}

const CHAT: usize = 0;
const RESPONSES: usize = 1;
const AZURE: usize = 2;
const ANTHROPIC: usize = 3;
const GEMINI: usize = 4;
const BEDROCK: usize = 6;

const KEY_ADVICE: &str = "check that it is complete and meant for";
const MODEL_ADVICE: &str = "Check the model name";
const ACCOUNT_ADVICE: &str = "has credit and may use";
const LENGTH_ADVICE: &str = "a larger context window";
const RATE_ADVICE: &str = "`--max-concurrency`";

const REFUSALS: &[Refusal] = &[
    Refusal {
        provider: "OpenAI",
        format: RESPONSES,
        status: 400,
        body: r#"{"error":{"message":"The requested model 'gpt-4-1106-preview' does not exist.","type":"invalid_request_error","param":"model","code":"model_not_found"}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/skorokithakis/sysaidmin/issues/9",
    },
    Refusal {
        provider: "OpenAI",
        format: CHAT,
        status: 429,
        body: r#"{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 342389. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}"#,
        kind: ErrorKind::BadRequest,
        advice: "",
        source: "https://github.com/vanna-ai/vanna-flask/issues/11",
    },
    Refusal {
        provider: "OpenAI",
        format: CHAT,
        status: 401,
        body: r#"{"error":{"message":"Incorrect API key provided: sk-test-************0001. You can find your API key at https://platform.openai.com/account/api-keys.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
        kind: ErrorKind::Authentication,
        advice: KEY_ADVICE,
        source: "https://platform.openai.com/docs/guides/error-codes",
    },
    Refusal {
        provider: "OpenAI",
        format: CHAT,
        status: 429,
        body: r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
        kind: ErrorKind::PermissionDenied,
        advice: ACCOUNT_ADVICE,
        source: "https://platform.openai.com/docs/guides/error-codes",
    },
    Refusal {
        provider: "Azure",
        format: AZURE,
        status: 404,
        body: r#"{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again."}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://learn.microsoft.com/azure/ai-foundry/openai/reference",
    },
    Refusal {
        provider: "Anthropic",
        format: ANTHROPIC,
        status: 400,
        body: r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."},"request_id":"req_011CbrFTcXhtiMzr3s6EocF7"}"#,
        kind: ErrorKind::PermissionDenied,
        advice: ACCOUNT_ADVICE,
        source: "https://github.com/anthropics/claude-code/issues/66314",
    },
    Refusal {
        provider: "Anthropic",
        format: ANTHROPIC,
        status: 400,
        body: r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}"#,
        kind: ErrorKind::ContextLength,
        advice: LENGTH_ADVICE,
        source: "https://docs.claude.com/en/docs/build-with-claude/context-windows",
    },
    Refusal {
        provider: "Gemini",
        format: GEMINI,
        status: 400,
        body: r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com","metadata":{"service":"generativelanguage.googleapis.com"}},{"@type":"type.googleapis.com/google.rpc.LocalizedMessage","locale":"en-US","message":"API key not valid. Please pass a valid API key."}]}}"#,
        kind: ErrorKind::Authentication,
        advice: KEY_ADVICE,
        source: "https://github.com/cequence-io/openai-scala-client/issues/109",
    },
    Refusal {
        provider: "Gemini",
        format: GEMINI,
        status: 400,
        body: r#"{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}"#,
        kind: ErrorKind::PermissionDenied,
        advice: ACCOUNT_ADVICE,
        source: "https://github.com/Xeift/Telegram-Discord-Bot/issues/4",
    },
    // The daily allowance is the last one that the message names.
    Refusal {
        provider: "Gemini",
        format: GEMINI,
        status: 429,
        body: r#"{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_input_token_count","quotaId":"GenerateContentInputTokensPerModelPerMinute-FreeTier"},{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"},{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}"#,
        kind: ErrorKind::PermissionDenied,
        advice: ACCOUNT_ADVICE,
        source: "https://github.com/google-gemini/gemini-cli/issues/8437",
    },
    Refusal {
        provider: "Gemini",
        format: GEMINI,
        status: 429,
        body: r#"{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]}]}}"#,
        kind: ErrorKind::RateLimited,
        advice: RATE_ADVICE,
        source: "https://ai.google.dev/gemini-api/docs/rate-limits",
    },
    Refusal {
        provider: "Bedrock",
        format: BEDROCK,
        status: 400,
        body: r#"{"message":"The provided model identifier is invalid."}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/iOfficeAI/AionCore/pull/377",
    },
    Refusal {
        provider: "Bedrock",
        format: BEDROCK,
        status: 400,
        body: r#"{"message":"Invocation of model ID amazon.nova-2-lite-v1:0 with on-demand throughput isn\u2019t supported. Retry your request with the ID or ARN of an inference profile that contains this model."}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/mlcommons/modelbench/issues/1654",
    },
    Refusal {
        provider: "Bedrock",
        format: BEDROCK,
        status: 400,
        body: r#"{"message":"This action doesn't support the model that you provided. Try again with a supported text or chat model."}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/mlcommons/modelbench/issues/1654",
    },
    Refusal {
        provider: "Bedrock",
        format: BEDROCK,
        status: 403,
        body: r#"{"Message":"Authentication failed: Please make sure your API Key is valid."}"#,
        kind: ErrorKind::Authentication,
        advice: KEY_ADVICE,
        source: "https://github.com/ai4s-research/open-science/issues/53",
    },
    Refusal {
        provider: "Bedrock",
        format: BEDROCK,
        status: 403,
        body: r#"{"Message":"Invalid API Key format: Must start with pre-defined prefix"}"#,
        kind: ErrorKind::Authentication,
        advice: KEY_ADVICE,
        source: "https://github.com/farion1231/cc-switch/issues/1679",
    },
    Refusal {
        provider: "Bedrock",
        format: BEDROCK,
        status: 403,
        body: r#"{"message":"The security token included in the request is invalid."}"#,
        kind: ErrorKind::Authentication,
        advice: KEY_ADVICE,
        source: "https://github.com/Aider-AI/aider/issues/1986",
    },
    Refusal {
        provider: "xAI",
        format: CHAT,
        status: 400,
        body: r#"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: na***ys. You can obtain an API key from https://console.x.ai."}"#,
        kind: ErrorKind::Authentication,
        advice: KEY_ADVICE,
        source: "https://github.com/continuedev/continue/issues/10778",
    },
    Refusal {
        provider: "Groq",
        format: CHAT,
        status: 413,
        body: r#"{"error":{"message":"Request too large for model `llama-3.3-70b-versatile` in organization `org_01jp8byqwpfx9sp1m0dbhb6a1e` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 14810, please reduce your message size and try again. Visit https://console.groq.com/docs/rate-limits for more information.","type":"tokens","code":"rate_limit_exceeded"}}"#,
        kind: ErrorKind::BadRequest,
        advice: "",
        source: "https://github.com/ITSpecialist111/ai_automation_suggester/issues/61",
    },
    Refusal {
        provider: "OpenRouter",
        format: 8,
        status: 400,
        body: r#"{"error":{"message":"minimax-m2.5:free is not a valid model ID","code":400},"user_id":"user_39yvGR6gBlXf8o3DGgqb1NeHs5u"}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/sipeed/picoclaw/issues/1790",
    },
    Refusal {
        provider: "DeepSeek",
        format: CHAT,
        status: 400,
        body: r#"{"error":{"message":"Model Not Exist","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/ConardLi/easy-dataset/issues/9",
    },
    Refusal {
        provider: "Hugging Face",
        format: CHAT,
        status: 400,
        body: r#"{"error":{"message":"The requested model 'moonshotai/Kimi-K2-Instruct' is not supported by any provider you have enabled.","type":"invalid_request_error","param":"model","code":"model_not_supported"}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/cline/cline/issues/5098",
    },
    Refusal {
        provider: "Mistral",
        format: CHAT,
        status: 400,
        body: r#"{"object":"error","message":"Invalid model: mistral-ultra","type":"invalid_model","param":null,"code":"1500"}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://docs.mistral.ai/api",
    },
    Refusal {
        provider: "LiteLLM",
        format: CHAT,
        status: 400,
        body: r#"{"error":{"message":{"error":"/chat/completions: Invalid model name passed in model=DeepSeek-R1x. Call `/v1/models` to view available models for your key."},"type":"None","param":"None","code":"400"}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/BerriAI/litellm/issues/8821",
    },
    Refusal {
        provider: "LiteLLM",
        format: CHAT,
        status: 400,
        body: r#"{"error":{"message":"{'error': '/chat/completions: Invalid model name passed in model=None. Call `/v1/models` to view available models for your key.'}","type":"None","param":"None","code":"400"}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/forpublicai/platform.publicai.co/issues/6",
    },
    Refusal {
        provider: "OpenAI",
        format: CHAT,
        status: 400,
        body: r#"{"error":{"message":"invalid model ID","type":"invalid_request_error","param":null,"code":null}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/agent0ai/agent-zero/issues/594",
    },
    Refusal {
        provider: "Groq",
        format: CHAT,
        status: 400,
        body: r#"{"error":{"message":"The model `llama-3.3-70b-specdec` has been decommissioned and is no longer supported. Please refer to https://console.groq.com/docs/deprecations for a recommendation on which model to use instead.","type":"invalid_request_error","code":"model_decommissioned"}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/ItzCrazyKns/Vane/issues/771",
    },
    Refusal {
        provider: "Together",
        format: CHAT,
        status: 400,
        body: r#"{"id":"okkMQHz-2kFHot-a023f584e9c5ff7e","error":{"message":"Unable to access non-serverless model meta-llama/Llama-3-8b-chat-hf. Please visit https://api.together.ai/models/meta-llama/Llama-3-8b-chat-hf to create and start a new dedicated endpoint for the model.","type":"invalid_request_error","param":null,"code":"model_not_available"}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/HeyPuter/puter/issues/3168",
    },
    Refusal {
        provider: "Anthropic",
        format: ANTHROPIC,
        status: 400,
        body: r#"{"type":"error","error":{"type":"invalid_request_error","message":"This organization has been disabled."},"request_id":"req_011CcZCmicNryVqGrUyoPkXM"}"#,
        kind: ErrorKind::PermissionDenied,
        advice: ACCOUNT_ADVICE,
        source: "https://github.com/anthropics/claude-code/issues/72457",
    },
    Refusal {
        provider: "Bedrock",
        format: BEDROCK,
        status: 400,
        body: r#"{"message":"Access to Anthropic models is not allowed from unsupported countries, regions, or territories. Please refer to https://www.anthropic.com/supported-countries for more information on the countries and regions Anthropic currently supports."}"#,
        kind: ErrorKind::PermissionDenied,
        advice: ACCOUNT_ADVICE,
        source: "https://github.com/anthropics/claude-code/issues/2656",
    },
    // Behind a gateway, the code is lost.
    Refusal {
        provider: "Perplexity",
        format: CHAT,
        status: 400,
        body: r#"{"error":{"message":"litellm.BadRequestError: PerplexityException - Invalid model 'perplexity/sonar'. Permitted models can be found in the documentation at https://docs.perplexity.ai/docs/getting-started/models.. Received Model Group=pplx-sonar","type":null,"param":null,"code":"400"}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/BerriAI/litellm/issues/37761",
    },
    Refusal {
        provider: "Perplexity",
        format: CHAT,
        status: 400,
        body: r#"{"error":{"message":"Invalid model 'perplexity/sonar'. Permitted models can be found in the documentation at https://docs.perplexity.ai/docs/getting-started/models.","type":"invalid_model","code":400}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/FerroxLabs/wayland/issues/603",
    },
    Refusal {
        provider: "DeepSeek",
        format: CHAT,
        status: 400,
        body: r#"{"error":{"message":"The supported API model names are deepseek-v4-pro or deepseek-v4-flash, but you passed gpt-4o-mini.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/HKUDS/Paper2Slides/issues/37",
    },
    Refusal {
        provider: "LM Studio",
        format: CHAT,
        status: 400,
        body: r#"{"error":{"message":"No models loaded. Please load a model in the developer page or use the `lms load` command.","type":"invalid_request_error","param":"model"}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/tinyhumansai/openhuman/issues/4181",
    },
    Refusal {
        provider: "vLLM",
        format: CHAT,
        status: 400,
        body: r#"{"error":{"message":"As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template if the tokenizer does not define one. None","type":"BadRequestError","param":null,"code":400}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/ByteDance-Seed/seed-oss/issues/6",
    },
    Refusal {
        provider: "Vertex",
        format: CHAT,
        status: 400,
        body: r#"[{"error":{"code":400,"message":"Publisher Model `projects/p/locations/global/publishers/anthropic/models/claude-sonnet-5` is not servable in region global.","status":"FAILED_PRECONDITION"}}]"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/NousResearch/hermes-agent/issues/32678",
    },
    Refusal {
        provider: "Bedrock",
        format: BEDROCK,
        status: 400,
        body: r#"{"message":"1 validation error detected: Value 'anthropic.claude-3-haiku-20240307-v1:0:200k' at 'modelId' failed to satisfy constraint: Member must satisfy regular expression pattern: (arn:aws(-[^:]+)?:bedrock:[a-z0-9-]{1,20}:[0-9]{12}:custom-model/[a-z0-9-]{1,63})"}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/n8n-io/n8n/issues/9084",
    },
    Refusal {
        provider: "Azure",
        format: AZURE,
        status: 400,
        body: r#"{"error":{"code":"OperationNotSupported","message":"The chatCompletion operation does not work with the specified model, gpt-5.1-codex. Please choose different model and try again. You can learn more about which models can be used with each operation here: https://go.microsoft.com/fwlink/?linkid=2197993."}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/langchain-ai/langchain-azure/issues/228",
    },
    Refusal {
        provider: "Azure",
        format: AZURE,
        status: 400,
        body: r#"{"error":{"code":"BadRequest","message":"API version not supported"}}"#,
        kind: ErrorKind::NotFound,
        advice: MODEL_ADVICE,
        source: "https://github.com/openai/codex/issues/3725",
    },
    Refusal {
        provider: "Gemini as OpenAI",
        format: CHAT,
        status: 400,
        body: r#"[{"error":{"code":400,"message":"Missing or invalid Authorization header.","status":"INVALID_ARGUMENT"}}]"#,
        kind: ErrorKind::Authentication,
        advice: KEY_ADVICE,
        source: "https://github.com/sipeed/picoclaw/issues/2374",
    },
    Refusal {
        provider: "Gemini as OpenAI",
        format: CHAT,
        status: 400,
        body: r#"[{"error":{"code":400,"message":"Missing Authorization header.","status":"INVALID_ARGUMENT"}}]"#,
        kind: ErrorKind::Authentication,
        advice: KEY_ADVICE,
        source: "https://github.com/aradlein/hass-agent-llm/issues/17",
    },
    Refusal {
        provider: "Groq",
        format: CHAT,
        status: 400,
        body: r#"{"error":{"message":"Organization has been restricted. Please reach out to support if you believe this was in error.","type":"invalid_request_error","code":"organization_restricted"}}"#,
        kind: ErrorKind::PermissionDenied,
        advice: ACCOUNT_ADVICE,
        source: "https://github.com/crewAIInc/crewAI/issues/783",
    },
    Refusal {
        provider: "Alibaba",
        format: CHAT,
        status: 400,
        body: r#"{"error":{"code":"Arrearage","param":null,"message":"Access denied, please make sure your account is in good standing.","type":"Arrearage"},"request_id":"f9fdb027-830c-9e05-8366-ce479a878825"}"#,
        kind: ErrorKind::PermissionDenied,
        advice: ACCOUNT_ADVICE,
        source: "https://github.com/hsliuping/TradingAgents-CN/issues/170",
    },
    Refusal {
        provider: "Fireworks",
        format: CHAT,
        status: 412,
        body: r#"{"error":{"message":"Account acme is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices. Please go to https://fireworks.ai/account/billing for more information.","param":null,"code":"PRECONDITION_FAILED","type":"error"}}"#,
        kind: ErrorKind::PermissionDenied,
        advice: ACCOUNT_ADVICE,
        source: "https://github.com/pollinations/pollinations/issues/12136",
    },
    Refusal {
        provider: "Z.ai",
        format: CHAT,
        status: 429,
        body: r#"{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}"#,
        kind: ErrorKind::PermissionDenied,
        advice: ACCOUNT_ADVICE,
        source: "https://github.com/zai-org/GLM-5/issues/148",
    },
    Refusal {
        provider: "Z.ai",
        format: CHAT,
        status: 429,
        body: r#"{"error":{"code":"1113","message":"余额不足或无可用资源包,请充值。"}}"#,
        kind: ErrorKind::PermissionDenied,
        advice: ACCOUNT_ADVICE,
        source: "https://github.com/zhayujie/CowAgent/issues/2910",
    },
];

#[tokio::test]
async fn what_servers_refuse_is_told_with_its_cause_and_what_helps() {
    for refusal in REFUSALS {
        let Refusal { provider, format, status, body, kind, advice, source } = refusal;
        assert!(source.starts_with("https://"), "{source}");
        let server = MockServer::start(move |_: &MockRequest| MockReply::status(*status, *body));
        let (client, _) = client_of(&FORMATS[*format], &server, |_| {});
        let error = client.ask(&question()).await.unwrap_err();

        let text = format!("{provider}: {error}");
        assert_eq!(error.kind, *kind, "{text}");
        assert!(error.advice.as_deref().unwrap_or_default().contains(advice), "{text}");
        assert!(!error.message.starts_with("{\""), "{text}");
        let is_final = *kind != ErrorKind::RateLimited;
        assert_eq!(server.count() == 1, is_final, "{text}: sent {} times", server.count());
    }
}
