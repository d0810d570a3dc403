//! Orders of the unknowns of a matrix. Blocks are consecutive rows, so the order decides which unknowns a
//! block holds; it changes the iterates, and a good one lets them converge in fewer cycles.

use super::csr::Csr;
use crate::random::random;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// An order of the unknowns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ordering {
    /// As the matrix has them
    #[default]
    Natural,
    /// Reverse Cuthill–McKee: a small bandwidth
    Rcm,
    /// Squares of a grid of nodes, one after the other
    Tiles,
    /// Blocks grown by breadth-first search
    Grown,
    /// A random order
    Random,
}

impl Ordering {
    /// All of them, as they stand in menus.
    pub const ALL: [Self; 5] = [Self::Natural, Self::Rcm, Self::Tiles, Self::Grown, Self::Random];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Natural => "natural",
            Self::Rcm => "rcm",
            Self::Tiles => "tiles",
            Self::Grown => "grown",
            Self::Random => "random",
        }
    }

    /// What it means, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Natural => "The order of the matrix.",
            Self::Rcm => {
                "Reverse Cuthill–McKee: neighbours in the graph of the matrix get nearby numbers."
            }
            Self::Tiles => "Square tiles of a grid of nodes, for matrices whose nodes are known.",
            Self::Grown => {
                "Each block is grown by breadth-first search in the graph of the matrix."
            }
            Self::Random => "A random order with a seed: no block holds neighbours.",
        }
    }
}

/// The graph of A + Aᵀ: rows that an entry joins.
#[derive(Debug)]
pub struct Graph {
    offsets: Vec<usize>,
    rows: Vec<u32>,
}

impl Graph {
    /// Bytes that the graph of a matrix takes, with what it takes on the way: every entry off the diagonal in both
    /// directions, as they are collected and as they are kept, and three numbers of a row.
    pub fn bytes(matrix: &Csr) -> u64 {
        let of_entry = 4 * size_of::<u32>() as u64;
        let of_row = 3 * size_of::<usize>() as u64;
        let entries = (matrix.entries() - matrix.rows()) as u64;
        entries
            .saturating_mul(of_entry)
            .saturating_add((matrix.rows() as u64).saturating_mul(of_row))
    }

    /// The graph of a matrix. The neighbours of a row are ascending, each once.
    pub fn new(matrix: &Csr) -> Self {
        let count = matrix.rows();
        let pairs = || {
            (0..count).flat_map(|row| {
                let from = row as u32;
                matrix.off_diagonal(row).flat_map(move |(to, _)| [(from, to), (to, from)])
            })
        };
        let mut starts = vec![0; count + 1];
        for (from, _) in pairs() {
            starts[from as usize + 1] += 1;
        }
        for row in 0..count {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut all = vec![0; starts[count]];
        for (from, to) in pairs() {
            all[next[from as usize]] = to;
            next[from as usize] += 1;
        }
        let (mut offsets, mut rows) =
            (Vec::with_capacity(count + 1), Vec::with_capacity(all.len()));
        offsets.push(0);
        for row in 0..count {
            let neighbours = &mut all[starts[row]..starts[row + 1]];
            neighbours.sort_unstable();
            let first = rows.len();
            for neighbour in neighbours {
                if rows[first..].last() != Some(neighbour) {
                    rows.push(*neighbour);
                }
            }
            offsets.push(rows.len());
        }
        Self { offsets, rows }
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The rows that are joined to one, ascending.
    pub fn neighbours(&self, row: u32) -> &[u32] {
        &self.rows[self.offsets[row as usize]..self.offsets[row as usize + 1]]
    }

    fn degree(&self, row: u32) -> usize {
        self.neighbours(row).len()
    }

    /// Some rows and those within this many steps of them, ascending; `None` if they are more than `most`. `reached` is
    /// false everywhere, before and after.
    pub(crate) fn around(
        &self,
        rows: impl Iterator<Item = u32>,
        steps: usize,
        most: usize,
        reached: &mut [bool],
    ) -> Option<Vec<u32>> {
        let mut rows: Vec<u32> = rows.collect();
        for row in &rows {
            reached[*row as usize] = true;
        }
        let mut outermost = 0;
        for _ in 0..steps {
            let level = outermost..rows.len();
            if level.is_empty() || rows.len() > most {
                break;
            }
            outermost = rows.len();
            for place in level {
                for next in self.neighbours(rows[place]) {
                    if !std::mem::replace(&mut reached[*next as usize], true) {
                        rows.push(*next);
                    }
                }
            }
        }
        for row in &rows {
            reached[*row as usize] = false;
        }
        rows.sort_unstable();
        (rows.len() <= most).then_some(rows)
    }

    /// Reverse Cuthill–McKee: of every component a breadth-first search from a row far from all others,
    /// neighbours by ascending degree, in reverse.
    ///
    /// Source: George and Liu, *Computer Solution of Large Sparse Positive Definite Systems*, 1981,
    /// sections 4.3 and 4.4.
    pub fn reverse_cuthill_mckee(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.rows());
        let mut placed = vec![false; self.rows()];
        for start in 0..self.rows() as u32 {
            if !placed[start as usize] {
                let far = self.peripheral(start);
                self.search(far, &mut placed, &mut order);
            }
        }
        order.reverse();
        order
    }

    /// A row of the component of `start` that is about as far as possible from another.
    fn peripheral(&self, start: u32) -> u32 {
        let (mut row, mut depth) = (start, 0);
        loop {
            let levels = self.levels(row);
            let Some(last) = levels.last().filter(|_| levels.len() > depth) else { return row };
            depth = levels.len();
            let Some(next) = last.iter().copied().min_by_key(|row| self.degree(*row)) else {
                return row;
            };
            if next == row {
                return row;
            }
            row = next;
        }
    }

    /// The rows of a component by their steps from one of them.
    fn levels(&self, start: u32) -> Vec<Vec<u32>> {
        let mut reached = std::collections::HashSet::from([start]);
        let mut levels = vec![vec![start]];
        loop {
            let mut next = Vec::new();
            for row in levels.last().into_iter().flatten() {
                next.extend(
                    self.neighbours(*row).iter().copied().filter(|row| reached.insert(*row)),
                );
            }
            if next.is_empty() {
                return levels;
            }
            levels.push(next);
        }
    }

    /// Appends the component of `start` in breadth-first order, neighbours by ascending degree.
    fn search(&self, start: u32, placed: &mut [bool], order: &mut Vec<u32>) {
        let mut queue = VecDeque::from([start]);
        placed[start as usize] = true;
        let mut next = Vec::new();
        while let Some(row) = queue.pop_front() {
            order.push(row);
            next.clear();
            let new = self.neighbours(row).iter().copied().filter(|row| !placed[*row as usize]);
            next.extend(new);
            next.sort_by_key(|row| self.degree(*row));
            for row in &next {
                placed[*row as usize] = true;
            }
            queue.extend(&next);
        }
    }

    /// Blocks of `block` rows, each grown by breadth-first search from the row that was reached first and
    /// belongs to none.
    pub fn grown(&self, block: usize) -> Vec<u32> {
        let mut order: Vec<u32> = Vec::with_capacity(self.rows());
        let mut placed = vec![false; self.rows()];
        // Rows that were reached by an earlier block, in that order, and the first that none has reached.
        let mut reached = VecDeque::new();
        let mut unreached = 0;
        while order.len() < self.rows() {
            let full = (order.len() + block).min(self.rows());
            let mut queue = VecDeque::new();
            while order.len() < full {
                let Some(row) = queue.pop_front() else {
                    let seed = std::iter::from_fn(|| reached.pop_front())
                        .find(|row: &u32| !placed[*row as usize]);
                    let seed = seed.unwrap_or_else(|| {
                        while placed[unreached as usize] {
                            unreached += 1;
                        }
                        unreached
                    });
                    queue.push_back(seed);
                    continue;
                };
                if std::mem::replace(&mut placed[row as usize], true) {
                    continue;
                }
                order.push(row);
                queue.extend(self.neighbours(row).iter().filter(|row| !placed[**row as usize]));
            }
            reached.extend(queue);
        }
        order
    }
}

/// The nodes of a grid of `nx` × `ny` (x fastest) in squares of `side` × `side`, one after the other, those
/// along x first.
pub fn tiles([nx, ny]: [usize; 2], side: usize) -> Vec<u32> {
    let mut order = Vec::with_capacity(nx * ny);
    for top in (0..ny).step_by(side) {
        for left in (0..nx).step_by(side) {
            for j in top..(top + side).min(ny) {
                order.extend((left..(left + side).min(nx)).map(|i| (j * nx + i) as u32));
            }
        }
    }
    order
}

/// A random order of `rows` rows, the same for a seed on every machine (Fisher and Yates).
pub fn shuffled(rows: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..rows as u32).collect();
    for place in (1..rows).rev() {
        // Uniform in [0, place] but for less than 2⁻³² of the cases.
        let unit = 0.5 * (random(seed, place as u64) + 1.0);
        order.swap(place, ((unit * (place + 1) as f64) as usize).min(place));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_permutation(order: &[u32], rows: usize) -> bool {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        sorted.into_iter().eq(0..rows as u32)
    }

    /// A path 0 – 1 – … in a random order, and an isolated point.
    fn path(rows: usize) -> (Csr, Vec<u32>) {
        let names = shuffled(rows, 3);
        let mut entries: Vec<_> = (0..=rows as u32).map(|row| (row, row, 2.0)).collect();
        entries.extend(names.windows(2).map(|pair| (pair[0], pair[1], -1.0)));
        (Csr::from_entries(rows + 1, &entries).unwrap(), names)
    }

    #[test]
    fn steps_beyond_the_last_row_take_no_time() {
        let (matrix, _) = path(50);
        let graph = Graph::new(&matrix);
        let within = |steps, most| graph.around([7].into_iter(), steps, most, &mut [false; 51]);
        let around = |steps| within(steps, 50).unwrap();
        assert_eq!(around(0), [7]);
        assert_eq!(around(usize::MAX), (0..50).collect::<Vec<_>>());
        assert_eq!(within(usize::MAX, 49), None);
    }

    #[test]
    fn cuthill_and_mckee_straighten_a_path() {
        let (matrix, names) = path(50);
        let order = Graph::new(&matrix).reverse_cuthill_mckee();
        assert!(is_permutation(&order, 51));
        let on_path: Vec<_> = order.iter().copied().filter(|row| *row != 50).collect();
        let backwards: Vec<_> = names.iter().rev().copied().collect();
        assert!(on_path == names || on_path == backwards);
    }

    #[test]
    fn every_order_has_every_row_once() {
        let (matrix, _) = path(40);
        let graph = Graph::new(&matrix);
        for block in [1, 7, 41, 100] {
            assert!(is_permutation(&graph.grown(block), 41));
        }
        assert!(is_permutation(&shuffled(1000, 7), 1000));
        assert_ne!(shuffled(1000, 7), shuffled(1000, 8));
        assert!(is_permutation(&tiles([19, 35], 16), 19 * 35));
        assert_eq!(tiles([3, 2], 2), [0, 1, 3, 4, 2, 5]);
    }

    #[test]
    fn a_grown_block_holds_neighbours() {
        let (matrix, names) = path(60);
        let order = Graph::new(&matrix).grown(20);
        let place = |row: &u32| names.iter().position(|name| name == row);
        let mut first: Vec<_> = order[..20].iter().filter_map(place).collect();
        first.sort_unstable();
        assert_eq!(first[first.len() - 1] - first[0], first.len() - 1, "{first:?}");
    }
}
