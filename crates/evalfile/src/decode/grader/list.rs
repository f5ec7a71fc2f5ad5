//! Decoder of an assertion list: strings, maps and includes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{NodeValue, TreeNode, codes, wrong_type};
use assize_limits::LIST_GRADERS as MAX_GRADERS;
use assize_model::Grader;

use super::assertion_context::AssertionContext;
use super::grader_type::{CODE, find_built_in};
use super::include::decode_include;
use super::names::find_free_name;
use super::object::decode_grader;
use super::rubrics::grader_from_texts;
use crate::decode::DecodeContext;

/// A grader in its list, before names are made unique.
struct ListedGrader {
    grader: Arc<Grader>,
    /// Span of the name in this list. `None` if the name was derived from the type or comes from a template.
    named: Option<Span>,
}

/// Decodes an assertion list. All plain texts become one rubrics grader at the position of the first, with
/// their number as its weight. Invalid graders are reported and omitted.
pub fn decode_assertions(cx: &mut DecodeContext, list: &TreeNode, at: AssertionContext) -> Vec<Arc<Grader>> {
    let NodeValue::Seq(items) = &list.data else {
        let mut diagnostic = wrong_type(list, "the assertions", "a list");
        if list.as_str().is_some() || list.as_map().is_some() {
            diagnostic = diagnostic.with_help("begin each entry with `- `");
        }

        cx.problems.add(diagnostic);
        return Vec::new();
    };

    let mut entries: Vec<ListedGrader> = Vec::with_capacity(items.len());
    let texts: Vec<&TreeNode> = items.iter().filter(|item| item.as_str().is_some()).collect();
    let mut texts_are_due = true;
    for item in items {
        match &item.data {
            NodeValue::Str(_) => {
                if std::mem::take(&mut texts_are_due) {
                    let grader = grader_from_texts(cx, &texts);
                    entries
                        .extend(grader.map(|grader| ListedGrader { grader: Arc::new(grader), named: None }));
                }
            }
            NodeValue::Map(_) if is_include(item) => {
                let graders = decode_include(cx, item, &at);
                entries.extend(graders.into_iter().map(|grader| ListedGrader { grader, named: None }));
            }
            NodeValue::Map(_) => {
                let named = item.get("name").or_else(|| item.get("id")).map(TreeNode::use_span);
                let grader = decode_grader(cx, item, &at);
                entries.extend(grader.map(|grader| ListedGrader { grader: Arc::new(grader), named }));
            }
            NodeValue::Bool(_) | NodeValue::Int(_) | NodeValue::Float(_) => {
                let quoted = format!("\"{}\"", cx.sources.slice(item.use_span()));
                wrong_type(item, "an assertion", "a text or a map")
                    .with_suggestion("put it in quotes", item.use_span(), quoted)
                    .add_to(&mut cx.problems);
            }
            NodeValue::Null | NodeValue::Seq(_) => {
                cx.problems.add(wrong_type(item, "an assertion", "a text or a map"));
            }
        }

        if entries.len() > MAX_GRADERS {
            Diagnostic::error(codes::LIMIT_REACHED, format!("more than {MAX_GRADERS} graders in one list"))
                .at(item.use_span(), "this entry goes over the limit")
                .with_note("the graders of included templates count too")
                .with_help("write criteria that belong together as one rubric")
                .add_to(&mut cx.problems);
            return Vec::new();
        }
    }

    make_names_unique(cx, entries, at.names_are_checked)
}

/// Returns true if an entry includes a template. A program may have a setting called `include`; no other grader
/// has such a key.
fn is_include(item: &TreeNode) -> bool {
    let is_built_in = |name: &str| find_built_in(name).is_some_and(|(kind, _)| kind.name != CODE);
    item.get("include").is_some()
        && item.get("type").is_none_or(|name| name.as_str().is_some_and(is_built_in))
}

/// Makes names unique. Given names stay as they are. Names derived from the type, and repeated names, get a
/// number. With `quietly`, no warnings are added.
fn make_names_unique(cx: &mut DecodeContext, entries: Vec<ListedGrader>, quietly: bool) -> Vec<Arc<Grader>> {
    if entries.len() < 2 {
        return entries.into_iter().map(|entry| entry.grader).collect();
    }

    let mut given: HashMap<String, Span> = HashMap::new();
    let mut taken: HashSet<String> =
        entries.iter().filter(|entry| entry.named.is_some()).map(|entry| entry.grader.name.clone()).collect();
    let mut graders = Vec::with_capacity(entries.len());
    for ListedGrader { mut grader, named } in entries {
        let first = match named {
            Some(span) => given.insert(grader.name.clone(), span).map(|first| (first, span)),
            None => None,
        };
        if let Some((first, second)) = first {
            given.insert(grader.name.clone(), first);
            let name = find_free_name(&grader.name, &taken);
            if !quietly {
                Diagnostic::warning(
                    codes::DUPLICATE_GRADER_NAME,
                    format!("two graders are called `{}`", grader.name),
                )
                .at(second, format!("results will list this one as `{name}`"))
                .with_secondary(first, "first one")
                .with_help("give each grader a name of its own")
                .add_to(&mut cx.problems);
            }

            taken.insert(name.clone());
            Arc::make_mut(&mut grader).name = name;
        } else if named.is_none() && !taken.insert(grader.name.clone()) {
            let name = find_free_name(&grader.name, &taken);
            taken.insert(name.clone());
            Arc::make_mut(&mut grader).name = name;
        }

        graders.push(grader);
    }

    graders
}

#[cfg(test)]
mod tests {
    use assize_model::{EvalFileFormat, GraderKind};

    use crate::tests::snippets::{codes, graders, one};

    #[test]
    fn texts_are_gathered_at_the_place_of_the_first() {
        let (graders, problems) = graders(
            "- {type: is-json}\n- Mentions a\n- {type: contains, value: x}\n- Mentions b\n- Mentions c\n",
            EvalFileFormat::Two,
        );
        assert_eq!(problems, vec![]);
        let types: Vec<&str> = graders.iter().map(|grader| grader.type_name.as_str()).collect();
        assert_eq!(types, ["is-json", "rubrics", "contains"]);
        assert_eq!(graders[1].weighting.weight.get(), 3.0);
        assert_eq!((graders[1].place.line, graders[1].place.column), (2, 3));
        let GraderKind::Rubric(rubric) = &graders[1].kind else { panic!("a rubric") };
        let ids: Vec<&str> = rubric.rubric.criteria().iter().map(|c| c.id.as_str()).collect();
        assert_eq!(ids, ["rubric-1", "rubric-2", "rubric-3"]);
        assert!(rubric.rubric.criteria().iter().all(|c| c.gate == Some(assize_rubric::Gate::Met)));
        assert_eq!(rubric.places[1].line, 4);
    }

    #[test]
    fn names_are_numbered_where_they_are_taken() {
        let (graders, problems) = graders(
            "- {type: is-json}\n- {type: is-json}\n- {type: equals, value: x, name: is-json}\n- {type: equals, value: y, name: is-json}\n",
            EvalFileFormat::Two,
        );
        let names: Vec<&str> = graders.iter().map(|grader| grader.name.as_str()).collect();
        assert_eq!(names, ["is-json-2", "is-json-3", "is-json", "is-json-4"]);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].code.as_str(), "W0305");
    }

    #[test]
    fn what_is_neither_text_nor_map_is_refused() {
        assert_eq!(codes("- 7\n- [a]\n-\n- ''\n"), ["E0105", "E0105", "E0105", "E0107"]);
        assert_eq!(codes("Mentions a\n"), ["E0105"]);
        assert_eq!(codes("- Returns: the value\n"), ["E0213"]);
        assert_eq!(codes("[]"), Vec::<&str>::new());
    }

    #[test]
    fn entries_without_a_type_are_told_where_they_belong() {
        for (text, word) in [
            ("- {outcome: a, weight: 2}\n", "criteria"),
            ("- {criteria: [a]}\n", "type: rubrics"),
            ("- {command: [a]}\n", "type: code-grader"),
            ("- {name: a}\n", "type"),
        ] {
            let (_, problems) = graders(text, EvalFileFormat::Two);
            assert_eq!(problems[0].code.as_str(), "E0303", "{text}");
            assert!(problems[0].help[0].contains(word), "{text}: {:?}", problems[0].help);
        }
        assert_eq!(one("- type: rubrics\n  criteria: Only one\n").weighting.weight.get(), 1.0);
    }
}
