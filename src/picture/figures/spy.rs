//! Where the entries of a sparse matrix lie.

use crate::grid::{AxisTiling, Need};
use crate::number::{counted, grouped};
use crate::picture::colour::theme::{Rgb, Theme};
use crate::picture::draw::canvas::{Anchor, Stroke, round};
use crate::picture::draw::drawing::Drawing;
use crate::picture::draw::layout::{Area, Head, Layout};
use crate::picture::draw::text::{Weight, width};
use crate::picture::figures::titles::Titles;
use crate::picture::plot::heat_map::{MapAxis, axis_ticks, draw_pixels};
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::problem::matrix::{BlockEntries, Csr};
use crate::run::{FieldKind, Snapshot};
use std::ops::Range;

/// The entries of a matrix: dynamic ones inside the blocks of rows, static ones outside.
struct Spy;

impl FigureKind {
    /// The entries of a sparse matrix.
    pub const SPY: Self = Self::new(&Spy);
}

/// Blocks smaller than this many pixels have no outline: it would hide their entries.
pub const SMALLEST_BLOCK: f64 = 6.0;

/// A part of a matrix, pooled to cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpyCells {
    /// Cells across and down.
    pub size: [usize; 2],
    /// The entries of each cell, row by row.
    pub cells: Vec<BlockEntries>,
}

impl SpyCells {
    /// Pools the entries in these rows and columns to at most `most` cells across and down. No entry is left out.
    /// The diagonal counts as inside.
    pub fn new(
        matrix: &Csr,
        blocks: &AxisTiling,
        columns: Range<usize>,
        rows: Range<usize>,
        most: [usize; 2],
    ) -> Self {
        let size = [columns.len().min(most[0]), rows.len().min(most[1])];
        let mut cells = vec![BlockEntries::default(); size[0] * size[1]];
        if cells.is_empty() {
            return Self { size: [0, 0], cells: Vec::new() };
        }
        for row in rows.clone() {
            let block = blocks.owned(blocks.owner(row));
            let down = (row - rows.start) * size[1] / rows.len();
            let line = &mut cells[down * size[0]..][..size[0]];
            let all = matrix.columns(row);
            let first = all.partition_point(|column| (*column as usize) < columns.start);
            for column in all[first..].iter().map(|column| *column as usize) {
                if column >= columns.end {
                    break;
                }
                let cell = &mut line[(column - columns.start) * size[0] / columns.len()];
                match block.contains(&column) {
                    true => cell.inside += 1,
                    false => cell.outside += 1,
                }
            }
        }
        Self { size, cells }
    }

    /// The colours, four bytes a cell: red, green, blue, opacity. A cell has the colour of the kind of which it has
    /// more entries, and none without entries.
    pub fn pixels(&self, theme: Theme) -> Vec<u8> {
        let [dynamic, fixed] = entry_colours(theme);
        let pixel = |cell: &BlockEntries| match (cell.inside, cell.outside) {
            (0, 0) => [0; 4],
            (inside, outside) => {
                let [r, g, b] = if inside > outside { dynamic } else { fixed };
                [r, g, b, u8::MAX]
            }
        };
        self.cells.iter().flat_map(pixel).collect()
    }
}

/// The colours of dynamic and of static entries.
pub fn entry_colours(theme: Theme) -> [Rgb; 2] {
    [theme.curve(0), theme.curve(1)]
}

impl FigureType for Spy {
    fn name(&self) -> &'static str {
        "spy"
    }

    fn label(&self) -> &'static str {
        "Entries"
    }

    fn about(&self) -> &'static str {
        "Where a sparse matrix has entries: dynamic ones inside the blocks of rows, static ones outside."
    }

    fn file_stem(&self, _: FieldKind) -> String {
        "entries".to_owned()
    }

    fn need(&self) -> Need {
        Need::Matrix
    }

    fn uses(&self) -> Uses {
        Uses::default()
    }

    fn is_over_cycles(&self) -> bool {
        true
    }

    fn title(&self, _: &Snapshot, _: &ViewSpec) -> String {
        "Entries of the matrix".to_owned()
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        let matrix = snapshots
            .first()
            .and_then(|snapshot| Some((snapshot, snapshot.plan.problem.operator.matrix()?)));
        let Some((snapshot, matrix)) = matrix else { return Drawing::Figure(String::new()) };
        let blocks = snapshot.plan.tiling.x();
        let titles = Titles::of(&snapshots[..1], view);
        Drawing::Figure(svg(matrix, blocks, &titles, view))
    }
}

fn svg(matrix: &Csr, blocks: &AxisTiling, titles: &Titles, view: &ViewSpec) -> String {
    let page = view.figure.page();
    let layout = Layout::new(&page);
    let mut canvas = layout.canvas();
    let head = Head::new(&layout, &titles.title, &titles.subtitle);
    let (unit, margin, n) = (layout.unit, layout.margin(), matrix.rows());
    let axis = |label| MapAxis { label, start: 0.0, end: n as f64 };
    let (across, down) = (axis("column"), axis("row"));
    let ticks = axis_ticks(&down, 6);
    let legend = 1.6 * unit;
    let left = margin
        + layout.upright_label_width(down.label)
        + layout.widest(&ticks)
        + layout.mark()
        + layout.gap()
        + layout.hairline();
    let top = head.height + legend;
    let room_across = f64::from(layout.width) - left - margin - 2.0 * unit;
    let room_down = f64::from(layout.height) - top - margin - layout.x_axis_height(across.label);
    let side = room_across.min(room_down).floor().max(8.0);
    let x = (left + 0.5 * (room_across - side)).round();
    let map = Area { x, y: top.round(), width: side, height: side };
    head.draw(&mut canvas, &layout, 0.0, &[x]);
    canvas.rect(map.x, map.y, side, side, layout.palette.missing, 1.0);
    let cells = SpyCells::new(matrix, blocks, 0..n, 0..n, [side as usize; 2]);
    let pixels = cells.pixels(page.theme);
    draw_pixels(&mut canvas, map, cells.size[0], cells.size[1], pixels);
    let scale = side / n as f64;
    if blocks.tile() as f64 * scale >= SMALLEST_BLOCK {
        let mut path = String::new();
        for block in (0..blocks.count()).map(|block| blocks.owned(block)) {
            let (start, length) = (block.start as f64 * scale, block.len() as f64 * scale);
            let (x, y) = (round(map.x + start), round(map.y + start));
            let side = round(length);
            path.push_str(&format!("M{x} {y}h{side}v{side}h-{side}z"));
        }
        let stroke = Stroke::solid(layout.hairline(), layout.palette.axis);
        canvas.line(&path, Stroke { crisp: true, ..stroke });
    }
    layout.frame(&mut canvas, map);
    layout.x_axis(&mut canvas, map, &ticks, across.label);
    let label_x = x - layout.mark() - layout.widest(&ticks) - 2.0 * layout.gap() - 0.5 * unit;
    layout.y_axis(&mut canvas, map, &ticks, true, (down.label, label_x));
    let counts = BlockEntries::of(matrix, blocks);
    let kinds = [("dynamic", counts.inside), ("static", counts.outside)];
    let (style, mut x) = (layout.tick_label(), map.x);
    for ((kind, count), colour) in kinds.into_iter().zip(entry_colours(page.theme)) {
        let square = 0.7 * unit;
        let y = map.y - 0.5 * legend - 0.2 * unit;
        canvas.rect(x, y - 0.5 * square, square, square, colour, 1.0);
        let text = format!("{} {kind}", grouped(count as u64));
        canvas.words(x + 1.1 * unit, y, Anchor::Start, style, &text);
        x += 2.4 * unit + width(&text, Weight::Regular, style.size);
    }
    let text = format!(
        "{} of {} rows",
        counted(blocks.count() as u64, "block"),
        grouped(blocks.tile() as u64)
    );
    canvas.words(x, map.y - 0.5 * legend - 0.2 * unit, Anchor::Start, style, &text);
    canvas.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::matrix::Entry;
    use proptest::prelude::*;

    /// 144 rows with entries off the diagonal, and 12 columns from it.
    fn neighbours_at_1_and_12() -> Csr {
        let rows = (0..144_usize).flat_map(|row| {
            let near = (0..144).filter(move |column| [0, 1, 12].contains(&row.abs_diff(*column)));
            near.map(move |column| (row, column))
        });
        let entry = |(row, column): (usize, usize)| -> Entry {
            (row as u32, column as u32, if row == column { 4.0 } else { -1.0 })
        };
        Csr::from_entries(144, &rows.map(entry).collect::<Vec<_>>()).unwrap()
    }

    proptest! {
        /// Every entry of a part is counted once, as what it is.
        #[test]
        fn no_entry_is_left_out(
            block in 1..40_usize,
            [a, b, c, d] in [0..=144_usize, 0..=144, 0..=144, 0..=144],
            most in [1..200_usize, 1..200],
        ) {
            let matrix = neighbours_at_1_and_12();
            let blocks = crate::grid::Tiling::blocks(144, block, 0).unwrap();
            let (columns, rows) = (a.min(b)..a.max(b), c.min(d)..c.max(d));
            let found = SpyCells::new(&matrix, blocks.x(), columns.clone(), rows.clone(), most);
            let mut expected = BlockEntries::default();
            for row in rows {
                for column in matrix.columns(row).iter().map(|column| *column as usize) {
                    if columns.contains(&column) {
                        match row / block == column / block {
                            true => expected.inside += 1,
                            false => expected.outside += 1,
                        }
                    }
                }
            }
            let sum = found.cells.iter().fold(BlockEntries::default(), |sum, cell| BlockEntries {
                inside: sum.inside + cell.inside,
                outside: sum.outside + cell.outside,
            });
            prop_assert_eq!(sum, expected);
            prop_assert_eq!(found.pixels(Theme::Light).len(), 4 * found.cells.len());
        }
    }
}
