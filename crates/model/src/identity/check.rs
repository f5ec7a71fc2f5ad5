//! Identities of graders that need neither a judge nor a program.

use assize_rubric::{Identify, IdentityWriter};

use crate::{
    AnswerRelevanceCheck, AnswerTransform, ArgsMatch, AuthorCode, CodeProgram, ContextGrader, ContextMeasure,
    ContextSource, ExecutionMetrics, ExpectedCall, FieldAccuracy, FieldCheck, FieldMatch, IsJson, LabelCheck,
    LabelRule, MaxScoreRule, Regex, ScriptCheck, SimilarityCheck, SkillTrigger, SqlCheck, TextCheck,
    TextRule, TokenUsage, ToolTrajectory, TrajectoryMode,
};

impl Identify for TextCheck {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { rule, values } = self;
        identity.field(rule);
        identity.field(values);
    }
}

impl Identify for TextRule {
    fn identify(&self, identity: &mut IdentityWriter) {
        let mut containing = |rule: &str, ignore_case: &bool| {
            identity.text(rule);
            identity.field(ignore_case);
        };

        match self {
            Self::Contains { ignore_case } => containing("contains", ignore_case),
            Self::ContainsAny { ignore_case } => containing("contains_any", ignore_case),
            Self::ContainsAll { ignore_case } => containing("contains_all", ignore_case),
            Self::StartsWith => identity.text("starts_with"),
            Self::EndsWith => identity.text("ends_with"),
            Self::Equals => identity.text("equals"),
            Self::Regex(Regex { flags }) => {
                identity.text("regex");
                identity.field(flags);
            }
        }
    }
}

impl Identify for IsJson {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { schema, embedded } = self;
        identity.field(schema);
        if *embedded {
            identity.text("embedded");
        }
    }
}

impl Identify for SqlCheck {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { in_blocks, dialect, allowed_tables, allowed_columns } = self;
        identity.field(in_blocks);
        identity.text(dialect.name());
        identity.field(allowed_tables);
        identity.field(allowed_columns);
    }
}

impl Identify for FieldAccuracy {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { fields, all_or_nothing } = self;
        identity.field(fields);
        identity.field(all_or_nothing);
    }
}

impl Identify for FieldCheck {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { path, rule, required, weight } = self;
        identity.field(path);
        identity.field(rule);
        identity.field(required);
        identity.field(weight);
    }
}

impl Identify for FieldMatch {
    fn identify(&self, identity: &mut IdentityWriter) {
        match self {
            Self::Exact => identity.text("exact"),
            Self::NumericTolerance { tolerance, relative } => {
                identity.text("numeric_tolerance");
                identity.field(tolerance);
                identity.field(relative);
            }
            Self::Date { formats } => {
                identity.text("date");
                identity.field(formats);
            }
        }
    }
}

impl Identify for ToolTrajectory {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { mode, minimums, expected, args_match } = self;
        identity.field(mode);
        identity.field(minimums);
        identity.field(expected);
        identity.field(args_match);
    }
}

impl Identify for TrajectoryMode {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.name());
    }
}

impl Identify for ExpectedCall {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { tool, args, args_match, max_duration } = self;
        identity.field(tool);
        identity.field(args);
        identity.field(args_match);
        identity.field(max_duration);
    }
}

impl Identify for ArgsMatch {
    fn identify(&self, identity: &mut IdentityWriter) {
        match self {
            Self::Exact => identity.text("exact"),
            Self::Superset => identity.text("superset"),
            Self::Subset => identity.text("subset"),
            Self::Ignore => identity.text("ignore"),
            Self::Fields(fields) => {
                identity.text("fields");
                identity.field(fields);
            }
        }
    }
}

impl Identify for TokenUsage {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { max_total, max_input, max_output } = self;
        identity.field(max_total);
        identity.field(max_input);
        identity.field(max_output);
    }
}

impl Identify for ExecutionMetrics {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self {
            max_tool_calls,
            max_llm_calls,
            max_tokens,
            max_cost_usd,
            max_duration,
            target_exploration_ratio,
            exploration_tolerance,
        } = self;

        identity.field(max_tool_calls);
        identity.field(max_llm_calls);
        identity.field(max_tokens);
        identity.field(max_cost_usd);
        identity.field(max_duration);
        identity.field(target_exploration_ratio);

        identity.field(exploration_tolerance);
    }
}

impl Identify for ScriptCheck {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { code, threshold, config } = self;
        add_code(identity, code);
        identity.field(threshold);
        identity.field(config);
    }
}

impl Identify for AnswerTransform {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { code, target } = self;
        add_code(identity, code);
        identity.field(target);
    }
}

impl Identify for AuthorCode {
    fn identify(&self, identity: &mut IdentityWriter) {
        add_code(identity, self);
    }
}

/// The path of a file is not part of the identity: the same code in another place makes the same decisions.
fn add_code(identity: &mut IdentityWriter, code: &AuthorCode) {
    match code {
        AuthorCode::Script(script) => {
            identity.text(script.text());
            identity.field(&script.export());
        }
        AuthorCode::Program(CodeProgram { language, path, text, function }) => {
            identity.text("program");
            identity.text(language.name());
            identity.field(&path.is_some());
            identity.text(text);
            identity.field(&function.as_deref());
        }
    }
}

impl Identify for SimilarityCheck {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { texts, measure, threshold, model } = self;
        identity.field(texts);
        identity.text(measure.name());
        identity.field(threshold);
        identity.field(model);
    }
}

impl Identify for LabelCheck {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { rule, model } = self;
        match rule {
            LabelRule::Moderation { categories } => {
                identity.text("moderation");
                identity.field(categories);
            }
            LabelRule::Classifier { class, threshold } => {
                identity.text("classifier");
                identity.field(class);
                identity.field(threshold);
            }
        }
        identity.field(model);
    }
}

/// Covers the settings that determine which statements are decided on. The judge, and how it is asked, are not
/// part of this identity.
impl Identify for ContextGrader {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { measure, context, query, judging: _, evidence: _, truncate: _, judge: _, panel: _ } = self;
        match measure {
            ContextMeasure::Recall { expected } => {
                identity.text("recall");
                identity.text(expected);
            }
            ContextMeasure::Relevance => identity.text("relevance"),
            ContextMeasure::Faithfulness => identity.text("faithfulness"),
        }
        match context {
            ContextSource::Text(text) => {
                identity.text("text");
                identity.text(text);
            }
            ContextSource::Passages(passages) => {
                identity.text("passages");
                identity.field(passages);
            }
            ContextSource::Code(code) => {
                identity.text("code");
                identity.field(code);
            }
            ContextSource::Question => identity.text("question"),
        }
        identity.field(query);
    }
}

impl Identify for AnswerRelevanceCheck {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { query, threshold, judge: _, model } = self;
        identity.field(query);
        identity.field(threshold);
        identity.field(model);
    }
}

impl Identify for MaxScoreRule {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { sums, weights, threshold } = self;
        identity.field(sums);
        identity.field(&weights.len());
        for (name, weight) in weights {
            identity.text(name);
            identity.field(weight);
        }
        identity.field(threshold);
    }
}

impl Identify for SkillTrigger {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { skill, should_trigger } = self;
        identity.field(skill);
        identity.field(should_trigger);
    }
}
