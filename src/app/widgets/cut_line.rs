//! Controls for the line of a profile: its kind and its numbers.

use crate::app::widgets::labels::named;
use crate::grid::{Geometry, Shape, Slice};
use crate::run::CutLine;
use eframe::egui::{DragValue, Ui};

/// The kinds of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    Row,
    Column,
    Diagonal,
}

impl LineKind {
    pub const ALL: [Self; 3] = [Self::Row, Self::Column, Self::Diagonal];

    fn of(line: CutLine) -> Self {
        match line {
            CutLine::Row(_) => Self::Row,
            CutLine::Column(_) => Self::Column,
            CutLine::Segment(_) => Self::Diagonal,
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Row => "Row",
            Self::Column => "Column",
            Self::Diagonal => "Diagonal",
        }
    }

    /// A description in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Row => "The profile of a row. Drag the line on the map to choose another.",
            Self::Column => "The profile of a column. Drag the line on the map to choose another.",
            Self::Diagonal => {
                "The profile from corner to corner. Drag the line on the map, or its ends."
            }
        }
    }

    /// The line of this kind through the middle of what is shown of a grid, or of the tile there.
    pub fn line(self, shown: &Geometry) -> CutLine {
        match self {
            Self::Row => CutLine::Row(shown.tiling().middle(1)),
            Self::Column => CutLine::Column(shown.tiling().middle(0)),
            Self::Diagonal => CutLine::diagonal(shown.shape()),
        }
    }
}

/// Buttons for the kind of line.
pub fn kinds(ui: &mut Ui, line: &mut CutLine, shown: &Geometry) {
    let dim = shown.dim();
    for kind in LineKind::ALL.into_iter().filter(|kind| *kind == LineKind::Row || dim == 2) {
        let is_chosen = kind == LineKind::of(*line);
        let button = ui.selectable_label(is_chosen, kind.label()).on_hover_text(kind.about());
        // There are many segments; the diagonal is one of them.
        if button.clicked() && (!is_chosen || kind == LineKind::Diagonal) {
            *line = kind.line(shown);
        }
    }
}

/// Number fields for the line. `shape` is that of what is shown of a grid, in 3D of a slice.
pub fn numbers(ui: &mut Ui, line: &mut CutLine, shape: &Shape, slice: Option<Slice>) {
    let mut number = |at: &mut usize, axis: usize, name: &str, about: &str| {
        let (n, prefix) = ([shape.nx(), shape.rows()][axis], Slice::index_names(slice)[axis]);
        let number = DragValue::new(at).range(0..=n - 1).prefix(format!("{prefix} "));
        let number = ui.add(number.update_while_editing(false));
        named(number, name).on_hover_text(about);
    };
    let about = "The row or column of the profile, from 0.";
    match line {
        CutLine::Row(row) => number(row, 1, "Cut at", about),
        CutLine::Column(column) => number(column, 0, "Cut at", about),
        CutLine::Segment([[i, j], [to_i, to_j]]) => {
            number(i, 0, "Cut from i", "The column where the line starts, from 0.");
            number(j, 1, "Cut from j", "The row where the line starts, from 0.");
            number(to_i, 0, "Cut to i", "The column where the line ends, from 0.");
            number(to_j, 1, "Cut to j", "The row where the line ends, from 0.");
        }
    }
}
