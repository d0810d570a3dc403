//! The map: overlap from left to right, k or tiles from top to bottom (of passes, budget and height), and the colour bar.

use crate::app::state::command::{Command, OpenSetting, TuningOrder};
use crate::app::tuning::results::MapResults;
use crate::app::tuning::tip;
use crate::picture::{
    MAP_COLOURS, MapCell, MapValue, Segment, SweepMap, bar_ticks, counted, ink_on, number,
};
use crate::run::{Milestone, SweepRow, TOLERANCE};
use eframe::egui::{
    self, Align2, Color32, FontId, Pos2, Rect, Sense, Shape, Stroke, StrokeKind, TextStyle, Ui,
};
use std::sync::Arc;

/// Space for the labels of the rows and of the overlaps, for the colour bar, and for the legend below, which takes
/// more lines where the map is narrow. In points.
const LEFT: f32 = 40.0;
const BELOW: f32 = 40.0;
const BAR: f32 = 88.0;
const LEGEND: [f32; 2] = [52.0, 84.0];
const NARROW: f32 = 520.0;

/// Width of the colour bar.
const BAR_WIDTH: f32 = 16.0;

/// Width and height from which cells show their value as text, in points.
const WRITTEN: [f32; 2] = [20.0, 15.0];

/// The distance between the lines of a hatched cell, in points, and how much of its colour they cover.
const HATCH: f32 = 6.0;
const HATCH_OPACITY: f32 = 0.3;

/// Draws the map, requests the run of a clicked cell, and returns the cell under the cursor as
/// `[column, row]`.
pub(super) fn ui(
    ui: &mut Ui,
    results: &MapResults,
    map: &SweepMap<'_>,
    value: MapValue,
    commands: &mut Vec<Command>,
) -> Option<[usize; 2]> {
    let room = ui.available_rect_before_wrap();
    let below = BELOW + LEGEND[usize::from(room.width() < NARROW)];
    let area =
        Rect::from_min_max(room.min + egui::vec2(LEFT, 22.0), room.max - egui::vec2(BAR, below));
    let response = ui.allocate_rect(area, Sense::click());
    let name = format!("Tuning map: {}", value.label());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &name));
    let cells = Cells::new(area, map);
    draw(ui, &cells, map);
    axes(ui, &cells, map);
    bar(ui, area, map, value);
    legend(ui, room, area, results, map);
    let hover = response.hover_pos().and_then(|at| cells.at(at));
    if let Some(at) = hover {
        let outline = Stroke::new(1.5, ui.visuals().text_color());
        ui.painter().rect_stroke(cells.rect(at), 0.0, outline, StrokeKind::Inside);
        let index = map.cells[at[1]][at[0]].index;
        if let Some(index) = index
            && response.clicked()
        {
            commands.push(Command::OpenSetting(Box::new(opened(results, index))));
            // The run could not continue during the measurement.
            commands.push(Command::Tune(TuningOrder::Pause(true)));
        }
        response.on_hover_ui_at_pointer(|ui| tip::ui(ui, results, map, at, index));
    }
    hover
}

/// A cell where it is worth seeing: at half the sweeps that the best setting needs, at which all
/// settings can be compared; or else at the root of the tolerance.
fn opened(results: &MapResults, index: usize) -> OpenSetting {
    let spec = &results.outline.spec;
    let setting = &results.outline.cells[index].setting;
    let best = SweepRow::best(results.rows.iter().flatten());
    let run = spec.run_of(setting);
    let name = setting.cycle;
    let half = best.and_then(|best| best.sweeps).map(|sweeps| (sweeps / 2).max(1));
    let (at, where_to) = match half.filter(|_| setting.cycle.sweeps().is_some()) {
        Some(sweeps) => {
            let text =
                format!("after {}, half of those of the best setting", counted(sweeps, "sweep"));
            (Milestone::Sweeps(sweeps), text)
        }
        None => {
            let reduction = spec.run.stop.tolerance.unwrap_or(TOLERANCE).sqrt();
            (Milestone::Reduction(reduction), format!("at ‖r‖₂/‖r₀‖₂ = {}", number(reduction)))
        }
    };
    let best = best.map(|_| results.best_run()).filter(|best| *best != run).map(Arc::new);
    OpenSetting { run, at, about: format!("{name}, shown {where_to}."), best }
}

/// Where cells lie on the screen.
pub(super) struct Cells {
    area: Rect,
    wide: usize,
    high: usize,
}

impl Cells {
    pub fn new(area: Rect, map: &SweepMap<'_>) -> Self {
        Self { area, wide: map.across.labels.len(), high: map.cells.len() }
    }

    /// A corner of cells, in whole points.
    fn corner(&self, [across, down]: [usize; 2]) -> Pos2 {
        let part = |at: usize, of: usize| at as f32 / of.max(1) as f32;
        let x = self.area.left() + self.area.width() * part(across, self.wide);
        let y = self.area.top() + self.area.height() * part(down, self.high);
        egui::pos2(x.round(), y.round())
    }

    fn rect(&self, [across, down]: [usize; 2]) -> Rect {
        Rect::from_min_max(self.corner([across, down]), self.corner([across + 1, down + 1]))
    }

    fn at(&self, at: Pos2) -> Option<[usize; 2]> {
        let part = (at - self.area.min) / self.area.size();
        let inside = |part: f32| (0.0..1.0).contains(&part);
        let cell = |part: f32, of: usize| ((part * of as f32) as usize).min(of.saturating_sub(1));
        (inside(part.x) && inside(part.y))
            .then(|| [cell(part.x, self.wide), cell(part.y, self.high)])
    }
}

/// The colours of the cells; predicted ones are hatched, those that cannot run are crossed.
pub(super) fn fill(ui: &Ui, cells: &Cells, map: &SweepMap<'_>) {
    let painter = ui.painter().with_clip_rect(cells.area.intersect(ui.clip_rect()));
    painter.rect_filled(cells.area, 0.0, ui.visuals().faint_bg_color);
    let faint = Stroke::new(1.0, ui.visuals().weak_text_color().gamma_multiply(0.7));
    for (down, row) in map.cells.iter().enumerate() {
        for (across, cell) in row.iter().enumerate() {
            let rect = cells.rect([across, down]);
            if cell.cannot_run.is_some() {
                painter.line_segment([rect.left_top(), rect.right_bottom()], faint);
                painter.line_segment([rect.left_bottom(), rect.right_top()], faint);
            } else if let Some(value) = cell.shown() {
                let colour = map.colour(value);
                painter.rect_filled(rect, 0.0, rgb(colour));
                if !cell.is_measured() {
                    let ink = rgb(ink_on(colour)).gamma_multiply(HATCH_OPACITY);
                    hatch(&painter, rect, Stroke::new(1.0, ink));
                }
            }
        }
    }
}

fn draw(ui: &Ui, cells: &Cells, map: &SweepMap<'_>) {
    fill(ui, cells, map);
    let painter = ui.painter().with_clip_rect(cells.area.expand(2.0));
    let font = TextStyle::Small.resolve(ui.style());
    for (down, row) in map.cells.iter().enumerate() {
        for (across, cell) in row.iter().enumerate() {
            let rect = cells.rect([across, down]);
            let ink = cell.shown().map(|value| rgb(ink_on(map.colour(value))));
            let ink = ink.unwrap_or(ui.visuals().text_color());
            if let Some(text) = cell.text()
                && rect.width() >= WRITTEN[0]
                && rect.height() >= WRITTEN[1]
            {
                write(&painter, rect, text, &font, ink);
            }
            if cell.is_equal {
                painter.circle_filled(rect.right_top() + egui::vec2(-5.0, 5.0), 2.5, ink);
            }
        }
    }
    lines(&painter, cells, &map.exact(), 1.0);
    lines(&painter, cells, &map.contour(), 2.5);
    painter.rect_stroke(
        cells.area,
        0.0,
        Stroke::new(1.0, ui.visuals().weak_text_color()),
        StrokeKind::Outside,
    );
    if let Some(best) = map.best {
        // In black and white, so that it is visible on every background.
        let rect = cells.rect(best);
        let line = |colour| Stroke::new(2.0, colour);
        painter.rect_stroke(rect, 0.0, line(Color32::BLACK), StrokeKind::Inside);
        painter.rect_stroke(rect.shrink(2.0), 0.0, line(Color32::WHITE), StrokeKind::Inside);
    }
}

fn write(painter: &egui::Painter, rect: Rect, text: String, font: &FontId, ink: Color32) {
    let galley = painter.layout_no_wrap(text, font.clone(), ink);
    if galley.size().x <= rect.width() - 4.0 {
        painter.galley(rect.center() - galley.size() / 2.0, galley, ink);
    }
}

fn rgb([red, green, blue]: [u8; 3]) -> Color32 {
    Color32::from_rgb(red, green, blue)
}

/// Slanted lines, clipped to the cell.
fn hatch(painter: &egui::Painter, rect: Rect, stroke: Stroke) {
    let painter = painter.with_clip_rect(rect.intersect(painter.clip_rect()));
    let mut x = rect.left() - rect.height();
    while x < rect.right() {
        let ends = [egui::pos2(x, rect.bottom()), egui::pos2(x + rect.height(), rect.top())];
        painter.line_segment(ends, stroke);
        x += HATCH;
    }
}

/// Lines along the edges of cells, white on black, so that they are visible on every background.
fn lines(painter: &egui::Painter, cells: &Cells, segments: &[Segment], width: f32) {
    for (colour, width) in [(Color32::BLACK, 2.0 * width), (Color32::WHITE, width)] {
        for ends in segments {
            painter.add(Shape::line_segment(
                ends.map(|at| cells.corner(at)),
                Stroke::new(width, colour),
            ));
        }
    }
}

fn axes(ui: &Ui, cells: &Cells, map: &SweepMap<'_>) {
    let painter = ui.painter();
    let (font, colour) = (TextStyle::Small.resolve(ui.style()), ui.visuals().text_color());
    let every = |count: usize, room: f32, each: f32| {
        let most = (room / each).floor().max(1.0) as usize;
        count.div_ceil(most).max(1)
    };
    for down in (0..cells.high).step_by(every(cells.high, cells.area.height(), 14.0)) {
        let at = egui::pos2(cells.area.left() - 6.0, cells.rect([0, down]).center().y);
        painter.text(at, Align2::RIGHT_CENTER, &map.down.labels[down], font.clone(), colour);
    }
    let columns = &map.across.labels;
    let longest = columns.iter().map(String::len).max().unwrap_or(1);
    let each = 7.0 * longest as f32 + 8.0;
    for across in (0..cells.wide).step_by(every(cells.wide, cells.area.width(), each)) {
        let at = egui::pos2(cells.rect([across, 0]).center().x, cells.area.bottom() + 4.0);
        painter.text(at, Align2::CENTER_TOP, &columns[across], font.clone(), colour);
    }
    let body = TextStyle::Body.resolve(ui.style());
    let below = egui::pos2(cells.area.center().x, cells.area.bottom() + 18.0);
    painter.text(below, Align2::CENTER_TOP, map.across.name, body.clone(), colour);
    let beside = egui::pos2(cells.area.left() - 6.0, cells.area.top() - 4.0);
    painter.text(beside, Align2::RIGHT_BOTTOM, map.down.name, body, colour);
}

fn bar(ui: &Ui, area: Rect, map: &SweepMap<'_>, value: MapValue) {
    if map.cells.iter().flatten().all(|cell| cell.shown().is_none()) {
        return;
    }
    let bar = Rect::from_min_size(
        area.right_top() + egui::vec2(14.0, 0.0),
        egui::vec2(BAR_WIDTH, area.height()),
    );
    let table = MAP_COLOURS.table();
    let mut mesh = egui::Mesh::default();
    for (index, [red, green, blue, _]) in table.iter().enumerate() {
        let at = |index: usize| bar.bottom() - bar.height() * index as f32 / table.len() as f32;
        let rect = Rect::from_x_y_ranges(bar.x_range(), at(index + 1)..=at(index));
        mesh.add_colored_rect(rect, Color32::from_rgb(*red, *green, *blue));
    }
    let painter = ui.painter();
    painter.add(mesh);
    let line = Stroke::new(1.0, ui.visuals().weak_text_color());
    painter.rect_stroke(bar, 0.0, line, StrokeKind::Outside);
    let (font, colour) = (TextStyle::Small.resolve(ui.style()), ui.visuals().text_color());
    let apart = f64::from(1.3 * font.size / bar.height());
    for tick in bar_ticks(&map.scale, 7, apart) {
        let y = bar.bottom() - bar.height() * tick.position as f32;
        painter.hline(bar.right()..=bar.right() + 4.0, y, line);
        let at = egui::pos2(bar.right() + 6.0, y);
        painter.text(at, Align2::LEFT_CENTER, tick.label, font.clone(), colour);
    }
    let above = egui::pos2(bar.left(), bar.top() - 4.0);
    painter.text(above, Align2::LEFT_BOTTOM, value.unit(), font, colour);
}

/// The legend under the map: the best cell, and what the symbols mean.
fn legend(ui: &mut Ui, room: Rect, area: Rect, results: &MapResults, map: &SweepMap<'_>) {
    let rect = Rect::from_min_max(egui::pos2(room.left(), area.bottom() + BELOW), room.max);
    let mut ui = ui.new_child(egui::UiBuilder::new().max_rect(rect));
    ui.spacing_mut().item_spacing.y = 2.0;
    let all = || map.cells.iter().flatten();
    let equal = all().filter(|cell| cell.is_equal).count();
    let best = map.best.and_then(|[across, down]| map.cells[down][across].row);
    let mut text = match best {
        Some(best) => {
            let so_far = if results.end.is_none() { " so far" } else { "" };
            format!("Best{so_far}: {}", tip::summary(results, best))
        }
        None if results.end.is_some() => "No setting met the tolerance.".to_owned(),
        None => match map.predicted_best(results.data()) {
            Some((at, prediction)) => tip::predicted(map, at, prediction),
            None => "Nothing is predicted or measured yet.".to_owned(),
        },
    };
    if equal > 0 {
        text.push_str(&format!(" · {equal} equal"));
    }
    ui.add(egui::Label::new(text).wrap());
    let is_predicted = |cell: &MapCell<'_>| !cell.is_measured() && cell.predicted.is_some();
    let symbols = [
        (best.is_some(), "outlined: best"),
        (equal > 0, "dot: equal to the best within noise"),
        (!map.contour().is_empty(), "thick line: faster than classic Jacobi"),
        (!map.exact().is_empty(), "thin line: exact Jacobi"),
        (all().any(is_predicted), "hatched: predicted, not measured"),
        (all().any(|cell| cell.cannot_run.is_some()), "crossed: cannot run"),
    ];
    let texts: Vec<_> =
        symbols.into_iter().filter(|(is_used, _)| *is_used).map(|(_, text)| text).collect();
    ui.add(egui::Label::new(egui::RichText::new(texts.join(" · ")).weak()).wrap());
}
