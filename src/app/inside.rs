//! Inside one cycle: the subiterations of one tile, step by step.

use super::cells::{self, Cells, Shown, Values};
use super::command::Command;
use super::session::{InsideKind, Session};
use super::toolbar::named;
use crate::picture::{ColourMap, ScaleKind, grouped, number};
use crate::run::Report;
use crate::solver::Inside;
use eframe::egui::{
    Button, Color32, ComboBox, Label, Rect, RichText, Slider, Stroke, Ui, pos2, vec2,
};

/// Room for the lines under the picture.
const LINES_ROOM: f32 = 66.0;

/// What the controls beside the slider take, and what its number does.
const CONTROLS: f32 = 208.0;
const NUMBER: f32 = 58.0;

/// With less room than this the slider comes below the other controls.
const LEAST_SLIDER: f32 = 100.0;

/// Draws the tile that is followed, and gives the point of the grid under the cursor.
pub(super) fn ui(
    ui: &mut Ui,
    cells: &mut Cells,
    session: &Session,
    report: Option<&Report>,
    commands: &mut Vec<Command>,
) -> Option<[usize; 2]> {
    let report = report?;
    controls(ui, session, report, commands);
    let Some(inside) = &report.seen.inside else {
        let text = "This tile has too many points and subiterations to be followed.";
        ui.label(RichText::new(text).weak());
        return None;
    };
    let line = report.plan.problem.shape.dim() == 1;
    let room = ui.available_rect_before_wrap();
    let picture = Rect::from_min_max(room.min, room.max - vec2(0.0, LINES_ROOM));
    let kind = session.look.inside.kind;
    let (values, scale, map, title) = match kind {
        InsideKind::Lag => (&inside.staleness, ScaleKind::Log, ColourMap::Inferno, "|u − u_J|"),
        InsideKind::Iterate => (&inside.iterate, ScaleKind::Linear, ColourMap::Viridis, "u"),
    };
    let about = format!("Tile {} inside a cycle", name(inside, line));
    let size = inside.size;
    let shows = Values { about: &about, title, size, values, scale, map, stretched: line };
    let shown = cells.ui(ui, picture, &shows);
    frames(ui, &shown, inside, line);
    let lines = Rect::from_min_max(pos2(room.left(), picture.bottom() + 2.0), room.max);
    let mut ui = ui.new_child(eframe::egui::UiBuilder::new().max_rect(lines));
    ui.spacing_mut().item_spacing.y = 2.0;
    ui.add(Label::new(RichText::new(summary(inside, report, line)).small()).wrap());
    let point = shown.hover.map_or_else(
        || "Point at a cell to read it; scroll to zoom until cells hold their values.".to_owned(),
        |at| describe(inside, at, line),
    );
    ui.add(Label::new(RichText::new(point).small().weak()).wrap());
    shown.hover.and_then(|at| point_of_grid(inside, at, line))
}

/// The point of the grid that a cell stands for; `None` on a ring that lies around the grid.
fn point_of_grid(inside: &Inside, [x, y]: [usize; 2], line: bool) -> Option<[usize; 2]> {
    let i = (inside.computed[0].start + x).checked_sub(1)?;
    let row = if line { Some(0) } else { (inside.computed[1].start + y).checked_sub(1) };
    Some([i, row?])
}

fn controls(ui: &mut Ui, session: &Session, report: &Report, commands: &mut Vec<Command>) {
    let mut look = session.look.clone();
    let inside = &mut look.inside;
    let k = usize::try_from(report.plan.sweeps_per_cycle()).unwrap_or(usize::MAX);
    let mut at = inside.subiteration.min(k);
    let room = ui.available_width() - CONTROLS;
    let slider = |ui: &mut Ui, at: &mut usize, room: f32| {
        ui.spacing_mut().slider_width = (room - NUMBER).clamp(40.0, 160.0);
        named(ui.add(Slider::new(at, 0..=k)), "Subiteration")
            .on_hover_text("How many subiterations of the next cycle the tile has made.");
    };
    ui.horizontal(|ui| {
        let combo = ComboBox::from_id_salt("inside").width(84.0).selected_text(inside.kind.label());
        let response = combo.show_ui(ui, |ui| {
            for kind in InsideKind::ALL {
                ui.selectable_value(&mut inside.kind, kind, kind.label())
                    .on_hover_text(kind.about());
            }
        });
        named(response.response, "Shown of the tile").on_hover_text(inside.kind.about());
        let back = named(ui.add_enabled(at > 0, Button::new("◀")), "Subiteration back");
        if back.on_hover_text("One subiteration back.").clicked() {
            at -= 1;
        }
        let on = named(ui.add_enabled(at < k, Button::new("▶")), "Subiteration on");
        if on.on_hover_text("One subiteration on.").clicked() {
            at += 1;
        }
        if room >= LEAST_SLIDER {
            slider(ui, &mut at, room);
        }
    });
    if room < LEAST_SLIDER {
        let all = ui.available_width();
        ui.horizontal(|ui| slider(ui, &mut at, all));
    }
    if at != inside.subiteration.min(k) {
        inside.subiteration = at;
    }
    if look != session.look {
        commands.push(Command::Look(look));
    }
}

/// The tile without its ring, and what it owns; of a line, the row of the subiteration.
fn frames(ui: &Ui, shown: &Shown, inside: &Inside, line: bool) {
    let [width, height] = inside.size.map(|side| side as f32);
    let (top, bottom) = if line { (0.0, height) } else { (1.0, height - 1.0) };
    let tile = Rect::from_min_max(pos2(1.0, top), pos2(width - 1.0, bottom));
    cells::frame(ui, shown, tile, Stroke::new(2.0, Color32::from_white_alpha(200)));
    let within = |axis: usize| {
        let (start, owned) = (inside.computed[axis].start, &inside.owned[axis]);
        [(owned.start - start + 1) as f32, (owned.end - start + 1) as f32]
    };
    let x = within(0);
    let y = if line { [0.0, height] } else { within(1) };
    let owned = Rect::from_min_max(pos2(x[0], y[0]), pos2(x[1], y[1]));
    cells::frame(ui, shown, owned, Stroke::new(1.5, Color32::from_rgb(90, 220, 255)));
    if line {
        let row = inside.subiteration as f32;
        let row = Rect::from_min_max(pos2(0.0, row), pos2(width, row + 1.0));
        cells::frame(ui, shown, row, Stroke::new(1.5, Color32::WHITE));
    }
}

fn name(inside: &Inside, line: bool) -> String {
    let [x, y] = inside.tile;
    if line { format!("{x}") } else { format!("({x}, {y})") }
}

/// Which tile, how far it is, and how many of its points lag.
fn summary(inside: &Inside, report: &Report, line: bool) -> String {
    let [columns, rows] = &inside.owned;
    let owned = columns.len() * rows.len();
    let lagging = points(inside, line)
        .filter(|&(i, row, at)| {
            columns.contains(&i) && rows.contains(&row) && inside.staleness[at] != 0.0
        })
        .count();
    let lag = match (inside.staleness.iter().all(|lag| lag.is_nan()), lagging) {
        (true, _) => "how they lag would take too long to tell".to_owned(),
        (false, 0) => "all points it owns are exactly Jacobi's".to_owned(),
        (false, _) => format!(
            "{} of the {} points it owns lag behind Jacobi's",
            grouped(lagging as u64),
            grouped(owned as u64)
        ),
    };
    format!(
        "Tile {}, {} of {} subiterations after cycle {}: {lag}.",
        name(inside, line),
        inside.subiteration,
        inside.k,
        grouped(report.seen.cycle),
    )
}

/// Column and row of the tile's points, and where their values lie: of a line, those of the
/// subiteration.
fn points(inside: &Inside, line: bool) -> impl Iterator<Item = (usize, usize, usize)> {
    let [columns, rows] = inside.computed.clone();
    let (width, at) = (inside.size[0], inside.subiteration);
    rows.clone().flat_map(move |row| {
        let down = if line { at } else { row - rows.start + 1 };
        columns.clone().enumerate().map(move |(x, i)| (i, row, down * width + x + 1))
    })
}

/// A cell in words.
fn describe(inside: &Inside, [x, y]: [usize; 2], line: bool) -> String {
    let at = y * inside.size[0] + x;
    let lag = match inside.staleness[at] {
        lag if lag.is_nan() => "not known".to_owned(),
        lag => number(lag.into()),
    };
    if inside.iterate[at].is_nan() {
        return "A corner of the ring, which no point reads.".to_owned();
    }
    let depth = [x, inside.size[0] - 1 - x].into_iter().min().unwrap_or(0);
    let down = [y, inside.size[1] - 1 - y].into_iter().min().unwrap_or(0);
    let place = match if line { depth } else { depth.min(down) } {
        0 => "on the frozen ring".to_owned(),
        1 => "beside the ring".to_owned(),
        depth => format!("{depth} points in from the ring"),
    };
    let i = inside.computed[0].start as i64 + x as i64 - 1;
    let point = if line {
        format!("i {i}, subiteration {y}")
    } else {
        format!("i {i}, j {}", inside.computed[1].start as i64 + y as i64 - 1)
    };
    format!("{point}   u = {}   u − u_J = {lag}   {place}", number(inside.iterate[at].into()))
}
