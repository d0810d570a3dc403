//! Cycles of a graph.

use std::collections::{BTreeMap, BTreeSet};

/// All sets of at least two nodes of which each reaches every other (strongly connected components), the largest
/// first.
pub fn cycles<'a>(edges: &BTreeSet<(&'a str, &'a str)>) -> Vec<BTreeSet<&'a str>> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in edges {
        next.entry(from).or_default().push(to);
    }
    let reached: BTreeMap<_, _> = next.keys().map(|node| (*node, reached(&next, node))).collect();
    let mut found = BTreeSet::new();
    for (node, to) in &reached {
        let both = |other: &&str| reached.get(other).is_some_and(|back| back.contains(node));
        let cycle: BTreeSet<_> = to.iter().copied().filter(both).collect();
        if cycle.len() > 1 {
            found.insert(cycle);
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|cycle| std::cmp::Reverse(cycle.len()));
    found
}

/// All nodes that edges lead to from one.
fn reached<'a>(next: &BTreeMap<&str, Vec<&'a str>>, node: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut ahead: Vec<_> = next.get(node).into_iter().flatten().copied().collect();
    while let Some(node) = ahead.pop() {
        if reached.insert(node) {
            ahead.extend(next.get(node).into_iter().flatten());
        }
    }
    reached
}

#[test]
fn cycles_are_found_whole() {
    let edges =
        [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "d"), ("f", "a")];
    let found = cycles(&BTreeSet::from(edges));
    assert_eq!(found, [BTreeSet::from(["a", "b", "c"]), BTreeSet::from(["d", "e"])]);
    assert!(cycles(&BTreeSet::from([("a", "b"), ("a", "c"), ("b", "c")])).is_empty());
}
