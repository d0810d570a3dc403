//! A row of the matrix taken apart, step by step: as it is stored, its entries by kind, in two lists, and as a warp
//! reads these (Flagg, Monk, Zhu and Segee, figure 5).

use crate::app::widgets::theme;
use crate::grid::AxisTiling;
use crate::picture::{entry_colours, grouped, number};
use crate::problem::matrix::{Csr, ROWS_OF_WARP, ReorganisedRow, rows_of_warp};
use eframe::egui::{
    Align2, Color32, FontId, Label, Rect, RichText, ScrollArea, Sense, Stroke, StrokeKind, Ui,
    pos2, vec2,
};

/// Entries of a list that are drawn.
const MOST_DRAWN: usize = 64;

/// An entry, and the room between two, in points.
const BOX: [f32; 2] = [72.0, 32.0];
const APART: f32 = 3.0;

/// Width of the name of a list.
const NAME: f32 = 56.0;

/// A place of a padded list, in points.
const PLACE: f32 = 7.0;

/// The steps, a sentence each.
const STEPS: [&str; 4] = [
    "The row as it is stored: the column I and the coefficient of each entry off the diagonal.",
    "S: static, its column lies outside the block and keeps its value during a cycle. D: dynamic, inside.",
    "Two lists, so that no entry is tested any more: static ones by their column I, dynamic ones by their index L in the block.",
    "Lists are padded to the longest of the 32 rows of a warp and transposed: entry e of all rows lies side by side, and a warp reads it at once. Framed: this row.",
];

/// The row that is taken apart, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dissection {
    /// The row, in the order of the blocks.
    pub row: usize,
    /// The step, from 0.
    step: usize,
}

/// Height of a dissection, in points.
pub const HEIGHT: f32 = 158.0;

impl Dissection {
    /// A row as it is stored.
    pub fn of(row: usize) -> Self {
        Self { row, step: 0 }
    }

    /// Draws the step that is shown; returns what is shown next, `None` when it is closed.
    pub fn ui(mut self, ui: &mut Ui, matrix: &Csr, blocks: &AxisTiling) -> Option<Self> {
        let row = ReorganisedRow::new(matrix, blocks, self.row);
        let mut is_open = true;
        ui.horizontal(|ui| {
            for (text, about, step) in [
                ("◀", "The step before.", self.step.checked_sub(1)),
                ("▶", "The next step.", Some(self.step + 1).filter(|step| *step < STEPS.len())),
            ] {
                let button = eframe::egui::Button::new(text).small();
                let button = ui.add_enabled(step.is_some(), button).on_hover_text(about);
                if let Some(step) = step.filter(|_| button.clicked()) {
                    self.step = step;
                }
            }
            ui.label(RichText::new(format!("{} of {}", self.step + 1, STEPS.len())).weak());
            is_open = !ui
                .small_button("Close")
                .on_hover_text("Shows the colours of entries again.")
                .clicked();
            ui.add(Label::new(RichText::new(self.title(&row, blocks)).small()).truncate());
        });
        ui.add(Label::new(RichText::new(STEPS[self.step]).small().weak()).wrap());
        ScrollArea::both().id_salt("row taken apart").auto_shrink(false).show(ui, |ui| match self
            .step
        {
            0 | 1 => stored(ui, matrix, blocks, self),
            2 => lists(ui, &row),
            _ => padded(ui, matrix, blocks, self.row),
        });
        is_open.then_some(self)
    }

    fn title(self, row: &ReorganisedRow, blocks: &AxisTiling) -> String {
        let [fixed, dynamic] = row.lengths();
        format!(
            "Row {} of block {}, diagonal {}: {fixed} static, {dynamic} dynamic",
            grouped(self.row as u64),
            grouped(blocks.owner(self.row) as u64),
            number(row.diagonal),
        )
    }
}

/// The colours of static and of dynamic entries.
fn colours(ui: &Ui) -> [Color32; 2] {
    let [dynamic, fixed] = entry_colours(theme::of_figures(ui));
    [fixed, dynamic].map(|[red, green, blue]| Color32::from_rgb(red, green, blue))
}

/// The entries in the order of their columns, from the second step on with their kinds.
fn stored(ui: &mut Ui, matrix: &Csr, blocks: &AxisTiling, of: Dissection) {
    let block = blocks.owned(blocks.owner(of.row));
    let [fixed, dynamic] = colours(ui);
    let neutral = ui.visuals().weak_text_color();
    let entries = matrix.off_diagonal(of.row).map(|(column, value)| {
        let is_inside = block.contains(&(column as usize));
        match (of.step, is_inside) {
            (0, _) => (format!("I {column}"), value, neutral),
            (_, true) => (format!("D · I {column}"), value, dynamic),
            (_, false) => (format!("S · I {column}"), value, fixed),
        }
    });
    boxes(ui, entries);
}

/// Both lists.
fn lists(ui: &mut Ui, row: &ReorganisedRow) {
    let [fixed, dynamic] = colours(ui);
    for (name, list, index, colour) in
        [("Static", &row.fixed, "I", fixed), ("Dynamic", &row.dynamic, "L", dynamic)]
    {
        ui.horizontal(|ui| {
            let room = vec2(NAME, BOX[1]);
            let label = Label::new(RichText::new(name).small());
            ui.add_sized(room, label);
            let text = |at: u32| format!("{index} {at}");
            boxes(ui, list.iter().map(|(at, value)| (text(*at), *value, colour)));
        });
    }
}

/// Entries side by side: an index above a coefficient.
fn boxes(ui: &mut Ui, entries: impl Iterator<Item = (String, f64, Color32)>) {
    let entries: Vec<_> = entries.collect();
    if entries.is_empty() {
        ui.label(RichText::new("no entries").small().weak());
        return;
    }
    let shown = entries.len().min(MOST_DRAWN);
    let size = vec2(shown as f32 * (BOX[0] + APART), BOX[1]);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let (font, ink) = (FontId::proportional(11.0), ui.visuals().text_color());
    for (place, (index, value, colour)) in entries.iter().take(shown).enumerate() {
        let left = rect.left() + place as f32 * (BOX[0] + APART);
        let cell = Rect::from_min_size(pos2(left, rect.top()), vec2(BOX[0], BOX[1]));
        let painter = ui.painter();
        painter.rect_filled(cell, 2.0, colour.gamma_multiply(0.25));
        painter.rect_stroke(cell, 2.0, Stroke::new(1.0, *colour), StrokeKind::Inside);
        let at = |share: f32| pos2(cell.center().x, cell.top() + share * BOX[1]);
        painter.text(at(0.28), Align2::CENTER_CENTER, index, font.clone(), ink);
        painter.text(at(0.72), Align2::CENTER_CENTER, number(*value), font.clone(), ink);
    }
    if entries.len() > shown {
        let more = grouped((entries.len() - shown) as u64);
        ui.label(RichText::new(format!("and {more} more")).small().weak());
    }
}

/// The lists of all rows of the warp, a column for each row and a line for each entry, as they lie in memory.
fn padded(ui: &mut Ui, matrix: &Csr, blocks: &AxisTiling, row: usize) {
    let warp = rows_of_warp(blocks, row);
    let lengths: Vec<_> =
        warp.clone().map(|row| ReorganisedRow::new(matrix, blocks, row).lengths()).collect();
    let longest = [0, 1].map(|list| lengths.iter().map(|of| of[list]).max().unwrap_or(0));
    let entries: usize = lengths.iter().flatten().sum();
    let places = ROWS_OF_WARP * (longest[0] + longest[1]);
    let text = format!(
        "{} entries in {} places: {} padding",
        grouped(entries as u64),
        grouped(places as u64),
        grouped((places - entries) as u64)
    );
    ui.label(RichText::new(text).small());
    let kinds = ["static", "dynamic"].into_iter().zip(colours(ui)).enumerate();
    for (list, (name, colour)) in kinds {
        let lines = longest[list].min(MOST_DRAWN);
        if lines == 0 {
            continue;
        }
        ui.horizontal(|ui| {
            let size = vec2(ROWS_OF_WARP as f32, lines as f32) * PLACE;
            ui.add_sized(vec2(NAME, size.y), Label::new(RichText::new(name).small()));
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            for line in 0..lines {
                for lane in 0..ROWS_OF_WARP {
                    let corner = rect.min + vec2(lane as f32, line as f32) * PLACE;
                    let place = Rect::from_min_size(corner, vec2(PLACE, PLACE) - vec2(1.0, 1.0));
                    let is_entry = lengths.get(lane).is_some_and(|of| line < of[list]);
                    let fill = if is_entry { colour } else { ui.visuals().extreme_bg_color };
                    ui.painter().rect_filled(place, 0.0, fill);
                }
            }
            let own = rect.min + vec2((row - warp.start) as f32 * PLACE, 0.0);
            let own = Rect::from_min_size(own, vec2(PLACE, size.y)).expand(0.5);
            let stroke = Stroke::new(1.5, ui.visuals().text_color());
            ui.painter().rect_stroke(own, 0.0, stroke, StrokeKind::Middle);
        });
    }
}
