//! Block Jacobi on a sparse matrix: q inner sweeps in every block of rows, everything outside it frozen.
//!
//! Source: Flagg, Monk, Zhu and Segee, *Optimizing Data Locality for Iterative Matrix Solvers on CUDA*,
//! sections 3.2 and 4.5. In a row, *static* entries have columns outside its block, *dynamic* ones inside.
//! Every layout adds the static entries by ascending columns, then the dynamic ones: the same bits.
//!
//! With an overlap of o levels a block also computes the rows within o/2 steps of its own, and throws
//! them away (restricted additive Schwarz with inexact solves).

use super::begun::Begun;
use super::level::Task;
use super::matrix::{MatrixPass, MatrixSystem, ROWS_OF_TASK};
use super::norms::{Partial, PartialNorms};
use super::team::Team;
use crate::grid::memory::{self, NoRoom};
use crate::grid::{AxisTiling, Real};
use crate::problem::Csr;
use crate::problem::matrix::{BlockRows, computed_rows};
use crate::solver::{Layout, SolverError};
use std::ops::Range;

/// What needs memory, as a sentence begins.
const BLOCKS: &str = "cutting the matrix into blocks with this overlap";

/// A matrix cut into blocks, its entries laid out for a cycle.
#[derive(Debug)]
pub(super) struct Blocks<R> {
    sweeps: usize,
    layout: Layout,
    blocks: Vec<Block<R>>,
    tasks: Tasks,
    /// Rows that all blocks compute.
    computed_rows: usize,
}

/// Consecutive blocks, grouped into tasks that each own enough rows: the blocks of each, and the rows that they own.
#[derive(Debug)]
pub(super) struct Tasks(Vec<(Range<usize>, Range<usize>)>);

impl Tasks {
    /// Of blocks that own these rows.
    pub fn new(owned: impl Iterator<Item = Range<usize>>) -> Self {
        let mut tasks: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        for (number, owned) in owned.enumerate() {
            match tasks.last_mut() {
                Some((blocks, rows)) if rows.len() < ROWS_OF_TASK => {
                    (blocks.end, rows.end) = (number + 1, owned.end);
                }
                _ => tasks.push((number..number + 1, owned)),
            }
        }
        Self(tasks)
    }

    /// The sum of the norms of all blocks: of those of a task, then of the tasks.
    pub fn sum(&self, norms: &[PartialNorms]) -> PartialNorms {
        let of_tasks = self.0.iter().map(|(blocks, _)| norms[blocks.clone()].iter().copied().sum());
        of_tasks.sum()
    }
}

/// One block of rows.
#[derive(Debug)]
struct Block<R> {
    /// The rows that it owns.
    owned: Range<usize>,
    /// All rows that it computes, ascending.
    computed: Vec<u32>,
    /// Where the owned rows lie among them.
    first: usize,
    /// Entries with columns outside, which stay frozen during a cycle; empty in the layout `rows`.
    outside: List<R>,
    /// Entries with columns inside, as places among the computed rows; empty in the layout `rows`.
    inside: List<R>,
}

/// Entries of the rows of a block, row by row.
#[derive(Debug)]
struct List<R> {
    offsets: Vec<u32>,
    columns: Vec<u32>,
    weights: Vec<R>,
}

impl<R: Real> Default for List<R> {
    fn default() -> Self {
        Self { offsets: vec![0], columns: Vec::new(), weights: Vec::new() }
    }
}

impl<R: Real> List<R> {
    fn push(&mut self, column: u32, weight: R) {
        self.columns.push(column);
        self.weights.push(weight);
    }

    fn end_row(&mut self) {
        self.offsets.push(self.columns.len() as u32);
    }

    /// `sum` + Σ weight · value over the entries of a row.
    #[inline(always)]
    fn add(&self, row: usize, values: &[R], mut sum: R) -> R {
        let entries = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        let (columns, weights) = (&self.columns[entries.clone()], &self.weights[entries]);
        for entry in 0..columns.len() {
            sum = weights[entry].fma(values[columns[entry] as usize], sum);
        }
        sum
    }
}

impl<R: Real> Blocks<R> {
    /// Cuts the rows of a matrix into blocks; the overlap of `tiling` counts levels.
    ///
    /// # Errors
    /// [`SolverError`] if the overlap adds too many rows, or if they would not fit into the memory that is free: how many it
    /// adds is not known before they are found.
    pub fn new(
        matrix: &Csr,
        system: &MatrixSystem<R>,
        sweeps: usize,
        tiling: &AxisTiling,
        layout: Layout,
    ) -> Result<Self, SolverError> {
        let rows = computed_rows(matrix, tiling)?;
        Ok(Self::of_rows(system, rows.into_iter(), sweeps, layout)?)
    }

    /// The same of blocks that own and compute these rows.
    ///
    /// # Errors
    /// [`NoRoom`] if they would not fit into the memory that is free.
    pub fn of_rows(
        system: &MatrixSystem<R>,
        rows: impl Iterator<Item = BlockRows>,
        sweeps: usize,
        layout: Layout,
    ) -> Result<Self, NoRoom> {
        let mut needed = 0;
        let available = memory::available();
        let blocks = rows.map(|(owned, computed)| {
            needed += Block::bytes(system, &computed, layout);
            if needed > available {
                return Err(NoRoom { what: BLOCKS, needed, available });
            }
            Ok(Block::new(system, owned, computed, layout))
        });
        let blocks = blocks.collect::<Result<Vec<_>, _>>()?;
        let tasks = Tasks::new(blocks.iter().map(|block| block.owned.clone()));
        let computed_rows = blocks.iter().map(|block| block.computed.len()).sum();
        Ok(Self { sweeps, layout, tasks, blocks, computed_rows })
    }

    /// Rows that all blocks compute.
    pub fn computed_rows(&self) -> usize {
        self.computed_rows
    }

    /// Sweeps of a cycle.
    pub fn sweeps(&self) -> usize {
        self.sweeps
    }

    /// The sum of the norms of all blocks.
    pub fn sum(&self, norms: &[PartialNorms]) -> PartialNorms {
        self.tasks.sum(norms)
    }

    /// Makes a cycle. Returns the norms of each block.
    pub fn cycle(&self, pass: MatrixPass<'_, R>) -> Vec<PartialNorms> {
        let mut begun = Begun::new(pass.measure, None);
        self.go_on(pass, &mut begun);
        begun.norms
    }

    /// Makes what is left of a cycle, or a piece of that.
    pub fn go_on(&self, pass: MatrixPass<'_, R>, begun: &mut Begun) {
        let MatrixPass { system, from, to, exact, measure, level, team, .. } = pass;
        let mut works = Vec::with_capacity(self.tasks.0.len());
        let updates = to.len() * self.sweeps;
        let mut rest = to;
        for (blocks, rows) in &self.tasks.0 {
            let (own, tail) = rest.split_at_mut(rows.len());
            rest = tail;
            works.push((blocks.clone(), own));
        }
        begun.go_on(team, works, updates, Scratch::default, |scratch, (blocks, mut to)| {
            let mut norms = Vec::with_capacity(blocks.len());
            for block in &self.blocks[blocks] {
                let (own, tail) = to.split_at_mut(block.owned.len());
                to = tail;
                let cycle = BlockCycle {
                    system,
                    block,
                    layout: self.layout,
                    sweeps: self.sweeps,
                    from,
                    to: own,
                    exact,
                    measure,
                    team,
                    scratch,
                };
                norms.push(level.run(cycle));
            }
            norms
        });
    }
}

impl<R: Real> Block<R> {
    fn new(
        system: &MatrixSystem<R>,
        owned: Range<usize>,
        computed: Vec<u32>,
        layout: Layout,
    ) -> Self {
        let first = computed.partition_point(|row| (*row as usize) < owned.start);
        let mut block =
            Self { owned, computed, first, outside: List::default(), inside: List::default() };
        if layout == Layout::Rows {
            return block;
        }
        for row in &block.computed {
            let (columns, weights) = system.row(*row as usize);
            for (column, weight) in columns.iter().zip(weights) {
                match block.computed.binary_search(column) {
                    Ok(place) => block.inside.push(place as u32, *weight),
                    Err(_) => block.outside.push(*column, *weight),
                }
            }
            block.inside.end_row();
            block.outside.end_row();
        }
        block
    }

    /// Bytes of a block that computes these rows: their entries in two lists, which may take twice their size while
    /// they grow.
    fn bytes(system: &MatrixSystem<R>, computed: &[u32], layout: Layout) -> u64 {
        let list = match layout {
            Layout::Rows => 0,
            Layout::Reorganised | Layout::Hoisted => {
                let entries = computed.iter().map(|row| system.row(*row as usize).0.len());
                2 * entries.sum::<usize>() * (size_of::<u32>() + size_of::<R>())
                    + 4 * computed.len() * size_of::<u32>()
            }
        };
        (list + size_of_val(computed) + size_of::<Self>()) as u64
    }

    /// Where a row lies among the computed ones, if it does.
    #[inline(always)]
    fn place(&self, row: u32) -> Option<usize> {
        if self.computed.len() == self.owned.len() {
            let inside = self.owned.contains(&(row as usize));
            return inside.then(|| row as usize - self.owned.start);
        }
        self.computed.binary_search(&row).ok()
    }
}

/// What a thread keeps from block to block: static sums, and two iterates of a block.
#[derive(Default)]
struct Scratch<R> {
    sums: Vec<R>,
    old: Vec<R>,
    new: Vec<R>,
}

/// The cycle of one block.
struct BlockCycle<'a, R> {
    system: &'a MatrixSystem<R>,
    block: &'a Block<R>,
    layout: Layout,
    sweeps: usize,
    from: &'a [R],
    /// The values of the owned rows.
    to: &'a mut [R],
    exact: Option<&'a [f64]>,
    measure: bool,
    team: &'a Team,
    scratch: &'a mut Scratch<R>,
}

impl<R: Real> Task for BlockCycle<'_, R> {
    type Output = PartialNorms;
    #[inline(always)]
    fn run(self) -> PartialNorms {
        let Self { system, block, layout, sweeps, from, to, exact, measure, team, scratch } = self;
        let Scratch { sums, old, new } = scratch;
        let count = block.computed.len();
        let owned = block.first..block.first + block.owned.len();
        sums.resize(count, R::default());
        new.resize(count, R::default());
        old.clear();
        old.extend(block.computed.iter().map(|row| from[*row as usize]));
        let mut norms = PartialNorms::default();
        for sweep in 0..sweeps {
            if team.is_stopped() {
                return norms;
            }
            match layout {
                Layout::Rows => {
                    for (place, new) in new.iter_mut().enumerate() {
                        let row = block.computed[place] as usize;
                        *new = update(system, block, row, from, old);
                    }
                }
                Layout::Reorganised | Layout::Hoisted => {
                    if sweep == 0 || layout == Layout::Reorganised {
                        for (place, sum) in sums.iter_mut().enumerate() {
                            let g = system.g[block.computed[place] as usize];
                            *sum = block.outside.add(place, from, g);
                        }
                    }
                    for (place, (new, sum)) in new.iter_mut().zip(&*sums).enumerate() {
                        *new = block.inside.add(place, old, *sum);
                    }
                }
            }
            if sweep == 0 && measure {
                norms.first_sweep = residual(system, block, &new[owned.clone()], from);
            }
            std::mem::swap(old, new);
        }
        let made = &old[owned];
        if measure {
            let before = &from[block.owned.clone()];
            for (new, old) in made.iter().zip(before) {
                norms.max_change = norms.max_change.max((*new - *old).to_f64().abs());
            }
            if let Some(exact) = exact {
                for (new, exact) in made.iter().zip(&exact[block.owned.clone()]) {
                    let error = new.to_f64() - exact;
                    norms.error_squares = error.mul_add(error, norms.error_squares);
                }
            }
        }
        to.copy_from_slice(made);
        norms
    }
}

/// One update from the whole row; each entry is tested for being inside.
#[inline(always)]
fn update<R: Real>(
    system: &MatrixSystem<R>,
    block: &Block<R>,
    row: usize,
    from: &[R],
    old: &[R],
) -> R {
    let (columns, weights) = system.row(row);
    let mut sum = system.g[row];
    for entry in 0..columns.len() {
        if block.place(columns[entry]).is_none() {
            sum = weights[entry].fma(from[columns[entry] as usize], sum);
        }
    }
    for entry in 0..columns.len() {
        if let Some(place) = block.place(columns[entry]) {
            sum = weights[entry].fma(old[place], sum);
        }
    }
    sum
}

/// The squares and the largest magnitude of the residual of the owned rows, from their first update.
#[inline(always)]
fn residual<R: Real>(system: &MatrixSystem<R>, block: &Block<R>, new: &[R], from: &[R]) -> Partial {
    let mut total = Partial::default();
    for (row, new) in block.owned.clone().zip(new) {
        let residual = system.diagonal[row] * (*new - from[row]).to_f64();
        total.squares = residual.mul_add(residual, total.squares);
        total.max = total.max.max(residual.abs());
    }
    total
}
