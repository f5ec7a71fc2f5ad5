//! Identities of graders that need neither a judge nor a program.

use assize_rubric::{Identify, IdentityWriter, identify_enum, identify_named, identify_struct};

use crate::{
    AnswerRelevanceCheck, AnswerTransform, ArgsMatch, AuthorCode, CodeProgram, ContextGrader, ContextMeasure,
    ContextSource, ExecutionMetrics, ExpectedCall, FieldAccuracy, FieldCheck, FieldMatch, IsJson, LabelCheck,
    LabelRule, MaxScoreRule, Regex, ScriptCheck, SimilarityCheck, SimilarityMeasure, SkillTrigger, SqlCheck,
    SqlDialect, TextCheck, TextRule, TokenUsage, ToolTrajectory, TrajectoryMode,
};

identify_struct!(TextCheck { rule, values });
identify_struct!(Regex { flags });
identify_enum!(TextRule {
    Contains { ignore_case } = "contains", ContainsAny { ignore_case } = "contains_any",
    ContainsAll { ignore_case } = "contains_all", StartsWith = "starts_with", EndsWith = "ends_with", Equals = "equals",
    Regex(pattern) = "regex",
});

impl Identify for IsJson {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { schema, embedded } = self;
        identity.field(schema);
        if *embedded {
            identity.text("embedded");
        }
    }
}

identify_struct!(SqlCheck { in_blocks, dialect, allowed_tables, allowed_columns });
identify_struct!(FieldAccuracy { fields, all_or_nothing });
identify_struct!(FieldCheck { path, rule, required, weight });
identify_enum!(FieldMatch {
    Exact = "exact", NumericTolerance { tolerance, relative } = "numeric_tolerance",
    Date { formats } = "date",
});

identify_struct!(ToolTrajectory { mode, minimums, expected, args_match });
identify_enum!(TrajectoryMode {
    AnyOrder = "any_order", InOrder = "in_order", Exact = "exact", Superset = "superset",
    Subset = "subset",
});

identify_struct!(ExpectedCall { tool, args, args_match, max_duration });
identify_enum!(ArgsMatch {
    Exact = "exact", Superset = "superset", Subset = "subset", Ignore = "ignore",
    Fields(fields) = "fields",
});

identify_struct!(TokenUsage { max_total, max_input, max_output });
identify_struct!(ExecutionMetrics {
    max_tool_calls,
    max_llm_calls,
    max_tokens,
    max_cost_usd,
    max_duration,
    target_exploration_ratio,
    exploration_tolerance
});
identify_struct!(ScriptCheck { code, threshold, config });
identify_struct!(AnswerTransform { code, target });

/// The path of a file is not part of the identity: the same code in another place makes the same decisions.
impl Identify for AuthorCode {
    fn identify(&self, identity: &mut IdentityWriter) {
        match self {
            Self::Script(script) => {
                identity.text(script.text());
                identity.field(&script.export());
            }
            Self::Program(CodeProgram { language, path, text, function }) => {
                identity.text("program");
                identity.text(language.name());
                identity.field(&path.is_some());
                identity.text(text);
                identity.field(&function.as_deref());
            }
        }
    }
}

identify_struct!(SimilarityCheck { texts, measure, threshold, model });
identify_struct!(LabelCheck { rule, model });
identify_enum!(LabelRule {
    Moderation { categories } = "moderation", Classifier { class, threshold } = "classifier",
});

// The settings that determine which statements are decided on, without the judge and its settings.
identify_struct!(ContextGrader { measure, context, query; not judging, evidence, truncate, judge, panel });
identify_enum!(ContextMeasure {
    Recall { expected } = "recall", Relevance = "relevance", Faithfulness = "faithfulness",
});
identify_enum!(ContextSource {
    Text(text) = "text", Passages(passages) = "passages", Code(code) = "code", Question = "question",
});
identify_struct!(AnswerRelevanceCheck { query, threshold, model; not judge });
identify_named!(SimilarityMeasure, SqlDialect);

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

identify_struct!(SkillTrigger { skill, should_trigger });
