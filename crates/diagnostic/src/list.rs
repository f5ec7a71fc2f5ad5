//! Lists of names in messages.

use std::fmt::Display;

/// Returns the first names, and the number of the others, as in `a, b and 4 more`. Empty if there are none.
pub fn list_first<T: Display>(names: impl IntoIterator<Item = T>, max_shown: usize) -> String {
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(max_shown).map(|name| name.to_string()).collect();
    let shown = shown.join(", ");
    match names.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_first_are_counted() {
        assert_eq!(list_first([""; 0], 2), "");
        assert_eq!(list_first([7, 8], 2), "7, 8");
        assert_eq!(list_first(["a", "b", "c", "d"], 2), "a, b and 2 more");
    }
}
