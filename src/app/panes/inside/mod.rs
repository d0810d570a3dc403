//! Inside one cycle: the subiterations of one tile, or of all tiles of a 1D grid.

mod formula;
mod player;

use crate::app::panes::heat_map::Marks;
use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::command::Command;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::cells::{Cells, CellsView, Values};
use crate::app::widgets::icon::Icon;
use crate::app::widgets::labels::{explained, mathematics, named};
use crate::app::widgets::{cells, theme};
use crate::grid::{AxisTiling, Need, Slice, Tiling};
use crate::picture::{
    ColourMap, FigureKind, InsideKind, Range, STALE_FRONT, Scale, ScaleKind, grouped, number,
    stale_front,
};
use crate::run::{ObservationRequest, Report};
use crate::solver::{Followed, Inside, Subiterations};
use eframe::egui::{
    Button, Color32, ComboBox, Label, Rect, RichText, Slider, Stroke, TextStyle, Ui, pos2, vec2,
};

/// Height of the text under the picture, and the largest share of the room that it takes.
const LINES_ROOM: f32 = 80.0;
const LINES_SHARE: f32 = 0.45;

/// Width of the controls beside the slider, and of its number.
const CONTROLS: f32 = 232.0;
const NUMBER: f32 = 58.0;

/// With less width than this, the slider is below the other controls.
const MIN_SLIDER: f32 = 100.0;

/// Tiles of a 1D grid are outlined if they are at least this wide on the screen, in points.
const MIN_TILE: f32 = 5.0;

/// The subiterations of one cycle.
pub struct InsidePane;

/// Its name in files.
pub const ID: PaneId = PaneId("inside");

impl PaneType for InsidePane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Inside a cycle"
    }

    fn about(&self) -> &'static str {
        "The subiterations of one tile, one by one: how the frozen halo makes points stale. A click on the map chooses the tile."
    }

    fn slot(&self) -> Slot {
        Slot::BottomRight
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::INSIDE
    }

    fn figure(&self, _: &Session) -> Option<FigureKind> {
        Some(FigureKind::INSIDE)
    }

    fn request(&self, session: &Session, request: &mut ObservationRequest) {
        request.inside = Some((session.followed(), session.view.inside.subiteration));
    }

    fn mark(&self, session: &Session, marks: &mut Marks) {
        if let Followed::Tile(tile, _) = session.followed() {
            marks.tile = Some(tile);
        }
    }

    fn need(&self) -> Need {
        Need::Grid
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        let PaneContext { session, report, map, pictures, commands, .. } = context;
        map.point_at(self::ui(ui, &mut pictures.of(ID).cells, session, *report, commands));
    }
}

/// Draws the tile, and returns the point of the grid under the cursor.
fn ui(
    ui: &mut Ui,
    cells: &mut Cells,
    session: &Session,
    report: Option<&Report>,
    commands: &mut Vec<Command>,
) -> Option<[usize; 2]> {
    let report = report?;
    if report.plan.spec.method.name.is_streaming() {
        let text = "A pass through fast memory has no tiles with a frozen halo: it makes Jacobi's sweeps, and nothing goes stale.";
        ui.add(Label::new(RichText::new(text).weak()).wrap());
        return None;
    }
    controls(ui, session, report, commands);
    let Some(inside) = &report.observation.inside else {
        if !report.observation.is_followed {
            return None;
        }
        let what = match session.followed() {
            Followed::Tile(..) => "tile",
            Followed::Line => "1D grid",
        };
        let text = if !report.plan.method.schedule().is_jacobi() {
            "Tiles in waves, and points in warps, are not followed.".to_owned()
        } else if report.plan.spec.method.has_frozen_devices() {
            "Tiles of devices that exchange after several cycles are not followed.".to_owned()
        } else {
            format!("This {what} has too many points and subiterations to be shown.")
        };
        ui.label(RichText::new(text).weak());
        return None;
    };
    let line = report.plan.problem.shape.dim() == 1;
    let room = ui.available_rect_before_wrap();
    let lines_room = LINES_ROOM.min(LINES_SHARE * room.height());
    let picture = Rect::from_min_max(room.min, room.max - vec2(0.0, lines_room));
    let kind = session.view.inside.kind;
    // The range covers all subiterations, so that the colours stay while stepping.
    let (values, scale, extent, map, title) = match kind {
        InsideKind::Staleness => {
            let title = "|u − u_J|";
            let extent = inside.staleness_extent;
            (&inside.staleness, ScaleKind::Log, extent, ColourMap::Inferno, title)
        }
        InsideKind::Iterate => {
            let extent = inside.iterate_extent;
            (&inside.iterate, ScaleKind::Linear, extent, ColourMap::Viridis, "u")
        }
    };
    let scale = Scale::new(scale, Range::of(scale, extent));
    let about = format!("{} inside a cycle", name(inside, line));
    let size = inside.size;
    let shows = Values { about: &about, title, size, values, scale, map, stretched: line };
    let shown = cells.ui(ui, picture, &shows);
    match inside.tile {
        Some(_) => frames(ui, &shown, inside, line),
        None => borders(ui, &shown, inside, report.plan.tiling.x()),
    }
    front(ui, &shown, inside, &report.plan.tiling, line);
    if line {
        let row = inside.subiteration as f32;
        let row = Rect::from_min_max(pos2(0.0, row), pos2(inside.size[0] as f32, row + 1.0));
        cells::frame(ui, &shown, row, Stroke::new(1.5, Color32::WHITE));
    }
    let lines = Rect::from_min_max(pos2(room.left(), picture.bottom() + 2.0), room.max);
    let mut ui = ui.new_child(eframe::egui::UiBuilder::new().max_rect(lines));
    ui.spacing_mut().item_spacing.y = 2.0;
    let summary = summary(inside, report, line);
    let font = TextStyle::Small.resolve(ui.style());
    if let Some(at) = shown.hover {
        let cell = describe(inside, report.plan.tiling.x(), at, line);
        let update = formula::of_cell(inside, report, at);
        let text = mathematics(&format!("{cell}\n{update}"), font, ui.visuals().text_color());
        ui.add(Label::new(text).wrap());
        ui.add(Label::new(RichText::new(summary).small().weak()).wrap());
    } else {
        ui.add(Label::new(RichText::new(summary).small()).wrap());
        let text =
            format!("{} Point at a cell for its update; scroll to zoom.", about_outlines(inside));
        ui.add(Label::new(RichText::new(text).small().weak()).wrap());
    }
    shown.hover.and_then(|at| point_of_grid(inside, at, line))
}

/// The point of the grid of a cell; `None` on the boundary.
fn point_of_grid(inside: &Inside, [x, y]: [usize; 2], line: bool) -> Option<[usize; 2]> {
    let i = (inside.computed[0].start + x).checked_sub(1)?;
    let row = if line { Some(0) } else { (inside.computed[1].start + y).checked_sub(1) };
    Some([i, row?])
}

fn controls(ui: &mut Ui, session: &Session, report: &Report, commands: &mut Vec<Command>) {
    let mut view = session.view.clone();
    let inside = &mut view.inside;
    let k = report.plan.method.k().followed();
    let mut at = inside.subiteration.min(k);
    let room = ui.available_width() - CONTROLS;
    let slider = |ui: &mut Ui, at: &mut usize, room: f32| {
        ui.spacing_mut().slider_width = (room - NUMBER).clamp(40.0, 160.0);
        named(ui.add(Slider::new(at, 0..=k)), "Subiteration")
            .on_hover_text("Subiterations that the tile has made in the next cycle.");
    };
    ui.horizontal(|ui| {
        let combo = ComboBox::from_id_salt("inside").width(84.0).selected_text(inside.kind.label());
        let response = combo.show_ui(ui, |ui| {
            for kind in InsideKind::ALL {
                let entry = ui.selectable_value(&mut inside.kind, kind, kind.label());
                explained(entry, kind.about());
            }
        });
        named(response.response, "Quantity inside the cycle").on_hover_text(inside.kind.about());
        let back =
            named(ui.add_enabled(at > 0, Button::new(Icon::StepBack.atom())), "Subiteration back");
        if back.on_hover_text("One subiteration back.").clicked() {
            at -= 1;
        }
        let on =
            named(ui.add_enabled(at < k, Button::new(Icon::Step.atom())), "Subiteration forward");
        if on.on_hover_text("One subiteration forward.").clicked() {
            at += 1;
        }
        player::ui(ui, &mut at, k, report.observation.inside.as_ref());
        if room >= MIN_SLIDER {
            slider(ui, &mut at, room);
        }
    });
    if room < MIN_SLIDER {
        let all = ui.available_width();
        ui.horizontal(|ui| slider(ui, &mut at, all));
    }
    if report.plan.problem.shape.dim() == 1 {
        let about = "Show all tiles of the 1D grid instead of one.";
        ui.checkbox(&mut inside.all_of_line, "All tiles").on_hover_text(about);
    }
    if at != inside.subiteration.min(k) {
        inside.subiteration = at;
    }
    if view != session.view {
        commands.push(Command::SetView(view));
    }
}

/// Frames the tile without its halo, and the points that it owns.
fn frames(ui: &Ui, shown: &CellsView, inside: &Inside, line: bool) {
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
    cells::frame(ui, shown, owned, Stroke::new(1.5, theme::MARK));
}

/// Frames what each tile of a 1D grid owns, unless that is too narrow.
fn borders(ui: &Ui, shown: &CellsView, inside: &Inside, tiling: &AxisTiling) {
    let points = tiling.tile().saturating_sub(tiling.overlap()) as f32;
    if points * shown.to_screen.scale().x < MIN_TILE {
        return;
    }
    let height = inside.size[1] as f32;
    for tile in 0..tiling.count() {
        let owned = tiling.owned(tile);
        let [left, right] = [owned.start, owned.end].map(|i| i as f32 + 1.0);
        let owned = Rect::from_min_max(pos2(left, 0.0), pos2(right, height));
        cells::frame(ui, shown, owned, Stroke::new(1.0, Color32::from_white_alpha(70)));
    }
}

/// Draws the stale front.
fn front(ui: &Ui, shown: &CellsView, inside: &Inside, tiling: &Tiling, line: bool) {
    let [r, g, b] = STALE_FRONT;
    let stroke = Stroke::new(1.5, Color32::from_rgb(r, g, b));
    // The halo lies before the first point that is computed; in 1D rows are subiterations.
    let [left, top] = [0, 1].map(|axis| inside.computed[axis].start as f64 - 1.0);
    let top = if line { 0.0 } else { top };
    for corners in stale_front(inside, tiling) {
        let corners = corners.into_iter().map(|[x, y]| pos2((x - left) as f32, (y - top) as f32));
        cells::line(ui, shown, corners.collect(), stroke);
    }
}

/// What the outlines are.
fn about_outlines(inside: &Inside) -> &'static str {
    match inside.tile {
        None => "Green: the stale front.",
        Some(_) if inside.owned == inside.computed => {
            "Blue: computed, all owned; green: the stale front."
        }
        Some(_) => "White: computed; blue: owned; green: the stale front.",
    }
}

fn name(inside: &Inside, line: bool) -> String {
    match inside.tile {
        Some([x, _]) if line => format!("Tile {x}"),
        Some([x, y]) => {
            let place =
                inside.slice.map_or(String::new(), |slice| format!(" at {}", slice.label()));
            format!("Tile ({x}, {y}){place}")
        }
        None => "All tiles".to_owned(),
    }
}

/// Which tile and subiteration, and how many of its points differ from exact Jacobi.
fn summary(inside: &Inside, report: &Report, line: bool) -> String {
    let stale = match inside.stale_points(line) {
        None => "their staleness would take too long to compute".to_owned(),
        Some((0, _)) => "all owned points equal exact Jacobi".to_owned(),
        Some((stale, owned)) => format!(
            "{} of the {} owned points differ from exact Jacobi",
            grouped(stale),
            grouped(owned)
        ),
    };
    let first = match report.plan.method.k() {
        Subiterations::Finite(_) => "",
        Subiterations::Infinite => {
            " The cycle solves the tile exactly: these are the first of infinitely many."
        }
    };
    format!(
        "{}, {} of {} subiterations after cycle {}: {stale}.{first}",
        name(inside, line),
        inside.subiteration,
        inside.k,
        grouped(report.observation.cycle),
    )
}

/// Describes a cell.
fn describe(inside: &Inside, tiling: &AxisTiling, [x, y]: [usize; 2], line: bool) -> String {
    let at = y * inside.size[0] + x;
    let staleness = match inside.staleness[at] {
        value if value.is_nan() => "unknown".to_owned(),
        value => number(value.into()),
    };
    if inside.iterate[at].is_nan() {
        return "A corner of the halo, which no update reads.".to_owned();
    }
    let depth = [x, inside.size[0] - 1 - x].into_iter().min().unwrap_or(0);
    let down = [y, inside.size[1] - 1 - y].into_iter().min().unwrap_or(0);
    let i = inside.computed[0].start as i64 + x as i64 - 1;
    let place = match (inside.tile, if line { depth } else { depth.min(down) }) {
        (None, 0) => "on the boundary".to_owned(),
        (None, _) => match tiling.distance(x - 1) {
            Some(1) => "at a tile border".to_owned(),
            Some(distance) => format!("{distance} points from the nearest tile border"),
            None => "one tile, no tile border".to_owned(),
        },
        (_, 0) => "in the frozen halo".to_owned(),
        (_, 1) => "next to the halo".to_owned(),
        (_, depth) => format!("{depth} points from the halo"),
    };
    let point = if line {
        format!("i {i}, subiteration {y}")
    } else {
        let [across, down] = Slice::index_names(inside.slice);
        format!("{across} {i}, {down} {}", inside.computed[1].start as i64 + y as i64 - 1)
    };
    format!("{point}   u = {}   u − u_J = {staleness}   {place}", number(inside.iterate[at].into()))
}
