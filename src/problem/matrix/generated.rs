//! Matrices that come with the program.

use super::csr::{Csr, Entry};
use super::market::{BYTES_OF_ENTRY, BYTES_OF_ROW};
use super::places::Places;
use crate::grid::memory::{self, NoRoom};
use crate::random::random;
use std::collections::HashMap;

/// A matrix that the program generates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generated {
    /// Linear elements of heat conduction along a line: (−1, 2, −1).
    Heat1d {
        /// Rows.
        rows: usize,
    },
    /// Bilinear quadrilaterals on 301 × 561 nodes with varying conductivity, as many as an ice-sheet model had.
    IceSheet,
    /// Primes on the diagonal, and 1 where the distance from it is a power of two.
    Trefethen {
        /// Rows.
        rows: usize,
    },
    /// The Laplacian of a random graph, plus a shift.
    Graph,
}

/// The most rows of a matrix whose name has a number.
const MOST_ROWS: usize = 10_000_000;

/// Rows of `heat-1d`, as in the paper (Flagg, Monk, Zhu and Segee, section 5).
const HEAT_ROWS: usize = 100;

/// Nodes of `ice-sheet` along x and y: 168,861, as many as the paper's model has.
const ICE_NODES: [usize; 2] = [301, 561];

/// Nodes of `graph`, and the seed of their places in the unit square.
const GRAPH_NODES: usize = 20_000;
const GRAPH_SEED: u64 = 1;

/// Nodes of `graph` that are nearer than this are joined: 9 neighbours on average.
const GRAPH_REACH: f64 = 0.012;

/// No node of `graph` is joined to more than these on average.
const GRAPH_NEIGHBOURS: u64 = 10;

/// What is added to the diagonal of `graph`.
const GRAPH_SHIFT: f64 = 0.05;

impl Generated {
    /// Their names with a sentence each, as they are listed; a number in a name can be another.
    pub const NAMES: [(&str, &str); 4] = [
        ("heat-1d", "Heat conduction along a line of 100 nodes; heat-1d-N has N."),
        (
            "ice-sheet",
            "Bilinear quadrilateral elements on 301 × 561 nodes with varying conductivity.",
        ),
        ("trefethen-2000", "Primes on the diagonal, ones at distances that are powers of two."),
        ("graph", "The Laplacian of a random geometric graph of 20,000 nodes, plus a shift."),
    ];

    /// The matrix of a name: `heat-1d`, `heat-1d-500`, `ice-sheet`, `trefethen-2000`, `graph`.
    pub fn named(name: &str) -> Option<Self> {
        let number = |text: &str| text.parse().ok().filter(|rows| (1..=MOST_ROWS).contains(rows));
        match name {
            "heat-1d" => Some(Self::Heat1d { rows: HEAT_ROWS }),
            "ice-sheet" => Some(Self::IceSheet),
            "graph" => Some(Self::Graph),
            _ => {
                let heat = name.strip_prefix("heat-1d-").and_then(number);
                let trefethen = name.strip_prefix("trefethen-").and_then(number);
                let heat = heat.map(|rows| Self::Heat1d { rows });
                heat.or(trefethen.map(|rows| Self::Trefethen { rows }))
            }
        }
    }

    /// Its rows.
    pub fn rows(self) -> usize {
        match self {
            Self::Heat1d { rows } | Self::Trefethen { rows } => rows,
            Self::IceSheet => ICE_NODES[0] * ICE_NODES[1],
            Self::Graph => GRAPH_NODES,
        }
    }

    /// The grid of its nodes, x fastest, where they lie on one.
    pub fn nodes(self) -> Option<[usize; 2]> {
        match self {
            Self::IceSheet => Some(ICE_NODES),
            Self::Heat1d { .. } | Self::Trefethen { .. } | Self::Graph => None,
        }
    }

    /// Where its rows lie, where they have places in a plane.
    pub fn places(self) -> Option<Places> {
        match self {
            Self::IceSheet => Some(Places::Grid(ICE_NODES)),
            Self::Graph => Some(Places::Points(graph_places().into())),
            Self::Heat1d { .. } | Self::Trefethen { .. } => None,
        }
    }

    /// Its entries, more than one of a row and a column to be added in this order.
    pub(super) fn entries(self) -> Vec<Entry> {
        match self {
            Self::Heat1d { rows } => heat_1d(rows as u32),
            Self::IceSheet => ice_sheet(),
            Self::Trefethen { rows } => trefethen(rows),
            Self::Graph => graph(),
        }
    }

    /// At least as many as [`Generated::entries`], known without generating them.
    fn entries_at_most(self) -> u64 {
        let rows = self.rows() as u64;
        match self {
            Self::Heat1d { .. } => 3 * rows,
            Self::IceSheet => ICE_NODES.map(|nodes| nodes as u64 - 1).iter().product::<u64>() * 16,
            // Of each distance, a power of two below the number of rows, two in a row.
            Self::Trefethen { .. } => rows * (1 + 2 * u64::from(rows.ilog2() + 1)),
            // The diagonal once by itself and once for each neighbour.
            Self::Graph => rows * (1 + 2 * GRAPH_NEIGHBOURS),
        }
    }

    /// Bytes that generating the matrix takes at most.
    fn bytes(self) -> u64 {
        let of_entries = self.entries_at_most().saturating_mul(BYTES_OF_ENTRY);
        of_entries.saturating_add((self.rows() as u64).saturating_mul(BYTES_OF_ROW))
    }

    /// The matrix.
    ///
    /// # Errors
    /// [`NoRoom`] if generating it takes more memory than is free.
    pub fn matrix(self) -> Result<Csr, NoRoom> {
        memory::check_bytes("generating the matrix", self.bytes())?;
        let matrix = Csr::from_entries(self.rows(), &self.entries());
        Ok(matrix.unwrap_or_else(|error| unreachable!("{self:?}: {error}")))
    }
}

fn heat_1d(rows: u32) -> Vec<Entry> {
    let row = |row| {
        let around =
            [row - 1, row + 1].into_iter().filter(|column| (0..i64::from(rows)).contains(column));
        let beside = around.map(move |column| (row as u32, column as u32, -1.0));
        [(row as u32, row as u32, 2.0)].into_iter().chain(beside)
    };
    (0..i64::from(rows)).flat_map(row).collect()
}

/// For each element of a unit square, times its conductivity: 2/3 on the diagonal, −1/6 along a side and −1/3
/// across; and half of its mass, a quarter at each corner.
fn ice_sheet() -> Vec<Entry> {
    let [nx, ny] = ICE_NODES;
    let mut entries = Vec::with_capacity((nx - 1) * (ny - 1) * 16);
    for j in 0..ny - 1 {
        for i in 0..nx - 1 {
            let x = (i as f64 + 0.5) / (nx - 1) as f64 - 0.5;
            let y = (j as f64 + 0.5) / (ny - 1) as f64 - 0.5;
            let conductivity = 1.0 + 9.0 * (-20.0 * (x * x + y * y)).exp();
            let corners = [[0, 0], [1, 0], [0, 1], [1, 1]];
            for [a, b] in corners {
                let row = ((j + b) * nx + i + a) as u32;
                for [c, d] in corners {
                    let column = ((j + d) * nx + i + c) as u32;
                    let value = match (a != c, b != d) {
                        (false, false) => conductivity * (2.0 / 3.0) + 0.5 * 0.25,
                        (true, true) => conductivity * (-1.0 / 3.0),
                        _ => conductivity * (-1.0 / 6.0),
                    };
                    entries.push((row, column, value));
                }
            }
        }
    }
    entries
}

fn trefethen(rows: usize) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (row, prime) in primes(rows).into_iter().enumerate() {
        entries.push((row as u32, row as u32, prime as f64));
        let steps = std::iter::successors(Some(1), |step| Some(2 * step));
        for step in steps.take_while(|step| *step < rows) {
            let below = row.checked_sub(step);
            let above = Some(row + step).filter(|column| *column < rows);
            let columns = below.into_iter().chain(above);
            entries.extend(columns.map(|column| (row as u32, column as u32, 1.0)));
        }
    }
    entries
}

/// The first primes.
fn primes(count: usize) -> Vec<usize> {
    // The n-th prime is below n (ln n + ln ln n) for n ≥ 6 (Rosser and Schoenfeld, 1962).
    let n = count.max(6) as f64;
    let bound = (n * (n.ln() + n.ln().ln())).ceil() as usize + 1;
    let mut is_prime = vec![true; bound + 1];
    let mut primes = Vec::with_capacity(count);
    for number in 2..=bound {
        if is_prime[number] && primes.len() < count {
            primes.push(number);
            for multiple in (number * number..=bound).step_by(number) {
                is_prime[multiple] = false;
            }
        }
    }
    primes
}

/// The places of the nodes of `graph` in the unit square; they are in no order.
fn graph_places() -> Vec<[f64; 2]> {
    let unit = |counter| 0.5 * (random(GRAPH_SEED, counter) + 1.0);
    (0..GRAPH_NODES as u64).map(|node| [unit(2 * node), unit(2 * node + 1)]).collect()
}

fn graph() -> Vec<Entry> {
    let places = graph_places();
    let cell = |place: [f64; 2]| place.map(|at| (at / GRAPH_REACH) as i64);
    let mut cells: HashMap<[i64; 2], Vec<u32>> = HashMap::new();
    for (node, place) in places.iter().enumerate() {
        cells.entry(cell(*place)).or_default().push(node as u32);
    }
    let mut entries = Vec::new();
    for (node, place) in places.iter().enumerate() {
        let ([i, j], row) = (cell(*place), node as u32);
        entries.push((row, row, GRAPH_SHIFT));
        for around in (-1..=1).flat_map(|dj| (-1..=1).map(move |di| [i + di, j + dj])) {
            for other in cells.get(&around).into_iter().flatten().filter(|other| **other != row) {
                let [x, y] = places[*other as usize];
                let square = (x - place[0]).powi(2) + (y - place[1]).powi(2);
                if square < GRAPH_REACH * GRAPH_REACH {
                    entries.push((row, row, 1.0));
                    entries.push((row, *other, -1.0));
                }
            }
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_matrices() {
        for (name, about) in Generated::NAMES {
            assert!(Generated::named(name).is_some() && about.ends_with('.'), "{name}");
        }
        assert_eq!(Generated::named("heat-1d-7"), Some(Generated::Heat1d { rows: 7 }));
        for name in ["", "heat", "heat-1d-0", "trefethen-", "trefethen-99999999999", "a.mtx"] {
            assert_eq!(Generated::named(name), None, "{name}");
        }
    }

    #[test]
    fn sizes_are_those_of_the_papers() {
        let heat = Generated::Heat1d { rows: HEAT_ROWS }.matrix().unwrap();
        assert_eq!((heat.rows(), heat.entries()), (100, 298));
        let ice = Generated::IceSheet.matrix().unwrap();
        assert_eq!((ice.rows(), ice.entries()), (168_861, 1_514_581));
        let trefethen = Generated::Trefethen { rows: 2000 }.matrix().unwrap();
        assert_eq!(trefethen.entries(), 41_906);
        assert_eq!((trefethen.diagonal(0), trefethen.diagonal(1999)), (2.0, 17_389.0));
        let graph = Generated::Graph.matrix().unwrap();
        assert!(graph.dominance().rows_above == 0, "{:?}", graph.dominance());
        assert!((8 * GRAPH_NODES..11 * GRAPH_NODES).contains(&graph.entries()));
    }

    #[test]
    fn what_generating_takes_is_known_before() {
        let others = ["heat-1d-1", "heat-1d-7", "trefethen-1", "trefethen-4", "trefethen-513"];
        for name in Generated::NAMES.map(|(name, _)| name).into_iter().chain(others) {
            let generated = Generated::named(name).unwrap();
            let (entries, at_most) =
                (generated.entries().len() as u64, generated.entries_at_most());
            assert!(
                entries <= at_most && at_most <= 2 * entries + 8,
                "{name}: {entries} {at_most}"
            );
        }
        let most = Generated::named("trefethen-10000000").unwrap();
        assert!(most.bytes() > 20 << 30, "{}", most.bytes());
    }
}
