//! The table of all actions.

use crate::app::actions::ActionTable;
use crate::app::panes::list;
use std::sync::LazyLock;

/// Every action, those of panes among them.
pub static ACTIONS: LazyLock<ActionTable> = LazyLock::new(|| ActionTable::new(list::actions()));

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_pane_has_the_key_of_another_action() {
        let keys: Vec<_> =
            ACTIONS.by_key.iter().map(|(key, action)| (*key, action.first)).collect();
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[index + 1..].contains(key), "{}", ACTIONS.by_key[index].1.title());
        }
        let titles: BTreeSet<_> = ACTIONS.all.iter().map(|action| action.title()).collect();
        assert_eq!(titles.len(), ACTIONS.all.len());
    }
}
