//! Grader names, unique within a case.

use std::collections::HashSet;
use std::sync::Arc;

use assize_model::Grader;

/// Makes the names of graders unique. If a name is taken, the later grader gets a number.
pub(crate) fn distinct_names(graders: Vec<Arc<Grader>>) -> Vec<Arc<Grader>> {
    if graders.len() < 2 {
        return graders;
    }

    let mut taken: HashSet<String> = graders.iter().map(|grader| grader.name.clone()).collect();
    if taken.len() == graders.len() {
        return graders;
    }

    let mut seen = HashSet::with_capacity(graders.len());
    graders
        .into_iter()
        .map(|mut grader| {
            if !seen.insert(grader.name.clone()) {
                let name = find_free_name(&grader.name, &taken);
                taken.insert(name.clone());
                seen.insert(name.clone());
                Arc::make_mut(&mut grader).name = name;
            }
            grader
        })
        .collect()
}

/// Returns the first free name of `name-2`, `name-3`, ...
pub(super) fn find_free_name(name: &str, taken: &HashSet<String>) -> String {
    let mut number = 2usize;
    loop {
        let candidate = format!("{name}-{number}");
        if !taken.contains(&candidate) {
            return candidate;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::snippets::one;

    #[test]
    fn taken_names_get_the_next_free_number() {
        let named = |name: &str| one(&format!("- {{type: is-json, name: {name}}}\n"));
        let graders = distinct_names(vec![named("a"), named("a"), named("a-2"), named("a"), named("b")]);
        let names: Vec<&str> = graders.iter().map(|grader| grader.name.as_str()).collect();
        assert_eq!(names, ["a", "a-3", "a-2", "a-4", "b"]);
    }
}
