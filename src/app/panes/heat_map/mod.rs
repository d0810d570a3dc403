//! The heat map: the field with its colour bar, tile borders, and the point under the cursor.

mod colouring;
mod controls;
mod cut_line;
mod hot_box;
mod inspector;
mod interface;
mod overlay;
pub mod pane;
mod sides;
mod slice;
mod wipe;

use crate::app::panes::heat_map::sides::{Side, sides};
use crate::app::panes::sweeps_made;
use crate::app::state::command::Command;
use crate::app::state::compare::How;
use crate::app::state::compared::{Compared, ComparisonTarget, captions};
use crate::app::state::session::Session;
use crate::app::state::view_settings::{Colours, RangeMode, ViewSettings};
use crate::app::widgets::cell_values::Inks;
use crate::app::widgets::colour_bar::Bar;
use crate::app::widgets::zoom::Zoom;
use crate::app::widgets::{cell_values, colour_bar, zoom};
use crate::grid::{GridPoint, Slice};
use crate::picture::{self, grouped, value_label};
use crate::problem::{HEAT, HotBox, hot_axes};
use crate::run::{CutLine, FieldKind, LONGEST_KEPT, Picture, ProblemKind, Report, RunSpec};
use colouring::Colouring;
use cut_line::Cutting;
use eframe::egui::{
    self, Align, Align2, Color32, Pos2, Rect, Sense, TextStyle, TextureHandle, Ui, Vec2,
    emath::RectTransform, text::LayoutJob,
};
use hot_box::HotBoxDrag;
use interface::InterfaceLine;
use std::ops::Range;
use wipe::Wipe;

/// Gap between two maps side by side, in points.
const BETWEEN: f32 = 8.0;

/// Rows of a diagram that there is room for at first, and the factor by which that grows: at most a fifth
/// of it is empty.
const FEWEST_ROWS: f32 = 12.0;
const DIAGRAM_STEP: f32 = 1.25;

/// What is marked on the map for other panes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    /// The line of the profile.
    pub cut: Option<CutLine>,
    /// The tile shown inside a cycle, [x, y]; a click chooses another.
    pub tile: Option<[usize; 2]>,
    /// Whether planes are coloured by the sweeps that they have in the pass under way.
    pub sweeps_made: bool,
}

/// The state of the heat map: its zoom and its colours.
#[derive(Default)]
pub struct HeatMap {
    zoom: Zoom,
    colouring: Colouring,
    /// Where it was drawn; `None` while hidden.
    area: Option<Rect>,
    most: [usize; 2],
    hover: Option<[usize; 2]>,
    /// The point under the cursor of another pane.
    elsewhere: Option<[usize; 2]>,
    /// Whether it is a space–time diagram, whose rows are cycles.
    is_diagram: bool,
    /// The slice that it shows of a 3D grid, or across which it is a projection.
    slice: Option<Slice>,
    is_projection: bool,
    wipe: Wipe,
    cutting: Cutting,
    interface: InterfaceLine,
    hot_box: HotBoxDrag,
}

impl HeatMap {
    /// The visible part of the grid; `None` for all.
    pub fn part(&self) -> Option<[Range<usize>; 2]> {
        self.zoom.part()
    }

    /// Largest useful numbers of samples across and down, given the screen.
    pub fn most(&self) -> [usize; 2] {
        self.most
    }

    /// The point under the cursor.
    pub fn probe(&self) -> Option<[usize; 2]> {
        self.hover
    }

    /// Marks the point under the cursor of another pane.
    pub fn point_at(&mut self, point: Option<[usize; 2]>) {
        self.elsewhere = self.elsewhere.or(point);
    }

    /// The point of the grid under the cursor; in a diagram, at any cycle, and in a projection none.
    pub fn pointed_at(&self) -> Option<GridPoint> {
        let point = |[i, row]: [usize; 2]| [i, if self.is_diagram { 0 } else { row }];
        let hover = self.hover.filter(|_| !self.is_projection);
        hover.map(|at| GridPoint::shown(point(at), self.slice))
    }

    /// The current range of the colours, if `field` is shown.
    pub fn range(&self, field: FieldKind) -> Option<picture::Range> {
        let shown = self.colouring.shown().filter(|shown| shown.field == field)?;
        Some(shown.scale.range())
    }

    /// Takes a new picture.
    pub fn take(&mut self, report: &Report, view: &ViewSettings) {
        self.colouring.take(report, view);
    }

    /// Shows the whole grid.
    pub fn zoom_out(&mut self) {
        self.zoom.reset();
    }

    /// Where it is on the screen; `None` while hidden.
    pub fn area(&self) -> Option<Rect> {
        self.area
    }

    /// Forgets the pointer, since the map is hidden.
    pub fn leave(&mut self) {
        (self.area, self.hover, self.elsewhere) = (None, None, None);
    }

    /// Draws the map with its controls. While `presenting`, the map has their room, and what is under the
    /// pointer is written over it.
    #[expect(clippy::too_many_arguments, reason = "a pane's context, in parts")]
    pub fn ui(
        &mut self,
        ui: &mut Ui,
        session: &Session,
        report: Option<&Report>,
        presenting: bool,
        compared: &[Compared],
        marks: Marks,
        commands: &mut Vec<Command>,
    ) {
        let compared =
            compared.iter().find(|compared| compared.request.place != ComparisonTarget::Profile);
        let has_controls = !(presenting || session.is_student_view);
        if has_controls {
            let range = self.range(session.view.field);
            controls::ui(ui, session, range, commands);
            slice::ui(ui, session, commands);
        }
        let room = ui.available_rect_before_wrap();
        let line = report.is_some_and(|report| report.plan.problem.shape.dim() == 1);
        let left = egui::vec2(if line { overlay::CYCLES_ROOM } else { 0.0 }, 0.0);
        let axis = if line { overlay::POINTS_ROOM } else { 0.0 };
        let below = if presenting { axis } else { inspector::ROOM + axis };
        let end = room.max - egui::vec2(colour_bar::ROOM + colour_bar::HISTOGRAM_ROOM, below);
        let area = Rect::from_min_max(room.min + left, end);
        if !area.is_positive() {
            // The pane has room for the controls only.
            self.leave();
            return;
        }
        let response = ui.allocate_rect(area, Sense::click_and_drag());
        self.area = Some(area);
        let whole = area;
        // The lines under the map lie below the axis of a diagram.
        let read_off = whole.with_max_y(whole.max.y + axis);
        let (how, flipped) = (session.view.compare.how, session.flipped);
        let sides = report.map_or(Vec::new(), |report| sides(report, compared, how, flipped));
        let is_beside = how == How::SideBySide && !flipped && sides.len() == 2;
        // Side by side, each has half of the area.
        let between = if line { overlay::CYCLES_ROOM + BETWEEN } else { BETWEEN };
        let [area, beside] = if is_beside { halves(whole, between) } else { [whole; 2] };
        self.most = most_samples(area, ui.ctx().pixels_per_point());
        let about = format!("Heat map of the {}", session.view.field.name());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &about));
        ui.painter().rect_filled(whole, 0.0, ui.visuals().extreme_bg_color);
        let Some(report) = report else {
            say(ui, area, session.rejection.clone().unwrap_or_default());
            return;
        };
        let Some(side) = sides.first() else {
            self.hover = None;
            waiting(ui, area, report);
            return;
        };
        let picture = side.picture;
        self.colouring.refresh(ui, session, report, &sides);
        let Some(shown) = self.colouring.shown() else {
            return;
        };
        let grid = grid_of(side);
        let is_stretched = picture.cycles_per_row.is_some();
        // Both are zoomed and panned together.
        let pointed = response.hover_pos().or(response.interact_pointer_pos());
        let is_over = is_beside && pointed.is_some_and(|at| beside.contains(at));
        let held = if is_over { beside } else { area };
        let seen = self.zoom.navigate(ui, &response, held, grid, is_stretched);
        let to_screen = RectTransform::from_to(side.part(seen), area);
        self.is_diagram = picture.cycles_per_row.is_some();
        (self.slice, self.is_projection) = (picture.samples.slice, picture.is_projection);
        if self.is_diagram {
            // A diagram is observed as a whole, with samples for a sharp visible part.
            for (most, part) in
                self.most.iter_mut().zip([seen.width() / grid.x, seen.height() / grid.y])
            {
                *most = (*most as f32 / part.min(1.0)).ceil() as usize;
            }
        }
        let second = sides.get(1).filter(|_| !flipped).zip(shown.other.as_ref());
        let clips = match second {
            Some(_) if !is_beside => self.wipe.ui(ui, whole),
            _ => [area, beside],
        };
        paint(ui, clips[0], &to_screen, picture, &shown.handle);
        let beside_to_screen = second.map(|(other, handle)| {
            let grid = grid_of(other);
            let is_alike = other.plan.problem.shape == side.plan.problem.shape;
            let part =
                if is_alike { other.part(seen) } else { zoom::fitted(beside, grid, is_stretched) };
            let to_screen = RectTransform::from_to(part, beside);
            ui.painter().rect_filled(clips[1], 0.0, ui.visuals().extreme_bg_color);
            paint(ui, clips[1], &to_screen, other.picture, handle);
            lines(ui, clips[1], &to_screen, other, session.view.borders, is_beside);
            (to_screen, is_alike)
        });
        if marks.sweeps_made && second.is_none() {
            let is_coloured = sweeps_made::over_map(ui, clips[0], &to_screen, session, report);
            if is_coloured {
                let text = "coloured by the sweeps of this pass: see Planes";
                overlay::caption(ui, clips[0], text, Align2::LEFT_TOP);
            }
        }
        lines(ui, clips[0], &to_screen, side, session.view.borders, true);
        if let Some(why) = not_kept(report).filter(|_| self.is_diagram) {
            say(ui, area, why);
        }
        // Also under the line of the profile.
        let pointer = ui.input(|input| input.pointer.hover_pos());
        let pointer = pointer.filter(|_| response.contains_pointer());
        let alike =
            beside_to_screen.filter(|(_, is_alike)| *is_alike).map(|(to_screen, _)| to_screen);
        let under = if is_over { alike } else { Some(to_screen) };
        let rows = sides.get(1).filter(|_| is_over).map_or(1.0, |other| side.rows / other.rows);
        let pointer = pointer.zip(under).map(|(at, under)| under.inverse().transform_pos(at));
        let pointer = pointer.map(|at| egui::pos2(at.x, at.y * rows));
        self.hover = pointer
            .filter(|at| at.x >= 0.0 && at.y >= 0.0 && at.x < grid.x && at.y < grid.y)
            .map(|at| [at.x as usize, at.y as usize]);
        let elsewhere = self.elsewhere.take().map(|[i, row]| match picture.cycles_per_row {
            Some(cycles) => [i, (side.observation.cycle / cycles) as usize],
            None => [i, row],
        });
        let is_there = |[i, row]: &[usize; 2]| (*i as f32) < grid.x && (*row as f32) < grid.y;
        self.hover = self.hover.or(elsewhere.filter(is_there));
        if picture.samples.block == [1, 1] {
            let samples = &picture.samples;
            let Colours { map, absolute, .. } = shown.colours;
            let inks = Inks { scale: &shown.scale, map, absolute };
            let cells = [samples.columns.clone(), samples.rows.clone()];
            cell_values::ui(ui, clips[0], &to_screen, cells, inks, |i, row| samples.at(i, row));
        }
        if let Some([i, row]) = self.hover {
            overlay::outline(ui, &to_screen, [i, row]);
            if let Some((to_screen, other)) = alike.zip(sides.get(1)).filter(|_| is_beside) {
                overlay::outline(ui, &to_screen, [i, other.row_beside(row, side)]);
            }
        }
        if second.is_some() && !is_beside {
            self.wipe.paint(ui, whole);
        }
        let hover = self.hover;
        let inspect = |ui: &mut Ui, area: Rect| match (presenting, hover) {
            (false, _) => inspector::ui(ui, area, hover, &sides),
            (true, Some(point)) => {
                let text = inspector::describe(point, side, sides.get(1));
                overlay::caption(ui, whole, &text, Align2::RIGHT_BOTTOM);
            }
            (true, None) => {}
        };
        label_sides(ui, clips, report, compared, &sides, flipped);
        if let Some(drag) = &session.drag {
            overlay::caption(ui, clips[0], &drag.caption(report), Align2::LEFT_BOTTOM);
        }
        // Probes, the tile that is followed and the line of the profile lie in a slice, which a projection does not show.
        let in_slice = !self.is_projection;
        for (index, point) in session.probes().into_iter().enumerate().filter(|_| in_slice) {
            if let Some(at) = point.within(self.slice) {
                overlay::probe(ui, area, &to_screen, at, index, self.is_diagram);
            }
        }
        if let Some(point) = self.pointed_at().filter(|_| response.secondary_clicked()) {
            commands.push(Command::ToggleProbe(point));
        }
        let of_grid = report.plan.shown(self.slice);
        if let Some(tile) = marks.tile.filter(|_| in_slice) {
            overlay::tile(ui, area, &to_screen, grid, of_grid.tiling(), tile);
            if let Some([i, row]) = self.hover.filter(|_| response.clicked()) {
                let mut view = session.view.clone();
                view.inside.tile = of_grid.tiling().owner([i, row]);
                commands.push(Command::SetView(view));
            }
        }
        if let Some(points) = hot_points(session, report).filter(|_| !self.is_diagram) {
            let shape = &report.plan.problem.shape;
            let dragged = self.hot_box.ui(ui, area, &to_screen, shape, points.clone());
            if let Some(to) = dragged.filter(|to| *to != points) {
                let mut spec = RunSpec::clone(&session.spec);
                let value = spec.problem.hot_box.map_or(HEAT, |hot| hot.value);
                spec.problem.hot_box = Some(HotBox::of_points(&to, shape, value));
                commands.push(Command::Change(spec));
            }
        }
        if let Some(line) = marks.cut.filter(|_| in_slice) {
            let shape = of_grid.shape();
            let line = line.within(shape);
            let cutting = &mut self.cutting;
            let mut dragged = cutting.ui(ui, area, &to_screen, shape, line, "Profile line");
            if let Some(to_screen) = alike.filter(|_| is_beside) {
                let name = "Profile line of the pinned run";
                dragged = cutting.ui(ui, beside, &to_screen, shape, line, name).or(dragged);
            }
            commands
                .extend(dragged.filter(|dragged| *dragged != line).map(Command::SetProfileLine));
        }
        let interface = &mut self.interface;
        commands.extend(interface.ui(ui, area, &to_screen, grid.y as usize, session));
        if has_controls && self.zoom.is_part() {
            controls::whole_grid(ui, whole, commands);
        }
        if let Some(text) = side.zero_everywhere() {
            // No value has a colour, and none needs a range.
            say(ui, area, text.to_owned());
            inspect(ui, read_off);
            return;
        }
        let Colours { scale, map, absolute, .. } = shown.colours;
        let title = value_label(side.observation.field, scale, absolute);
        let title = if side.is_difference { format!("Δ {title}") } else { title };
        let bar = Bar {
            map,
            scale: &shown.scale,
            clips: shown.clips,
            has_infinite: shown.has_infinite,
            title: &title,
            histogram: &shown.histogram,
        };
        colour_bar::ui(ui, whole, &bar);
        if let Some(range) = colour_bar::ends(ui, whole, &bar).filter(|_| !side.is_difference) {
            let mut view = session.view.clone();
            view.of_field_mut(report.observation.field).range = RangeMode::Locked(range);
            commands.push(Command::SetView(view));
        }
        inspect(ui, read_off);
    }
}

/// The hot points of a plate that starts from them, x first; `None` while another grid is shown.
fn hot_points(session: &Session, report: &Report) -> Option<[Range<usize>; 2]> {
    let (problem, shape) = (&session.spec.problem, &report.plan.problem.shape);
    let is_plate = problem.kind == ProblemKind::HeatPlate && problem.initial.is_none();
    if !is_plate || problem.shape != shape.axes() {
        return None;
    }
    let points: [Range<usize>; 2] = hot_axes(problem.hot_box.as_ref(), shape).try_into().ok()?;
    points.iter().all(|axis| !axis.is_empty()).then_some(points)
}

/// Whether the button that flips to the pinned run is held.
pub fn is_flip_held(context: &egui::Context) -> bool {
    context.data(|data| data.get_temp(egui::Id::unique(controls::FLIP_ID))).unwrap_or(false)
}

/// The left and the right half of an area, with a gap between them.
fn halves(area: Rect, between: f32) -> [Rect; 2] {
    let (left, right) = area.split_left_right_at_fraction(0.5);
    let inset = between / 2.0;
    [
        Rect::from_min_max(left.min, left.max - egui::vec2(inset, 0.0)),
        Rect::from_min_max(right.min + egui::vec2(inset, 0.0), right.max),
    ]
}

/// Labels the parts of the map with their runs, if there are several.
fn label_sides(
    ui: &Ui,
    clips: [Rect; 2],
    report: &Report,
    compared: Option<&Compared>,
    sides: &[Side<'_>],
    flipped: bool,
) {
    let Some(compared) = compared else {
        return;
    };
    let [own, other] = captions(report, compared);
    let is_second = sides.len() == 2 && !flipped;
    if is_second {
        overlay::caption(ui, clips[0], &own, Align2::LEFT_TOP);
        overlay::caption(ui, clips[1], &other, Align2::RIGHT_TOP);
    } else if sides.first().is_some_and(|side| side.is_difference) || flipped {
        overlay::caption(ui, clips[0], &other, Align2::LEFT_TOP);
    }
}

/// Draws tile borders and those between devices over a picture, and the cycles of a diagram over and, if there is room,
/// beside it.
fn lines(
    ui: &Ui,
    area: Rect,
    to_screen: &RectTransform,
    side: &Side<'_>,
    borders: bool,
    has_axis: bool,
) {
    let Side { picture, latest, .. } = *side;
    if let Some(cycles) = picture.cycles_per_row {
        if has_axis {
            overlay::cycle_axis(ui, *to_screen.to(), *to_screen.from(), cycles);
            overlay::point_axis(ui, *to_screen.to(), *to_screen.from());
        }
        if side.observation.cycle < latest {
            overlay::shown_cycle(ui, area, to_screen, (side.observation.cycle / cycles) as f32);
        }
    }
    let grid = grid_of(side);
    if borders {
        overlay::borders(ui, area, to_screen, grid, side.shown().tiling(), picture, latest);
    }
    for axis in [0, 1] {
        overlay::devices(ui, area, to_screen, grid, (axis, &side.device_borders(axis)));
    }
}

/// Draws the picture.
fn paint(
    ui: &Ui,
    area: Rect,
    to_screen: &RectTransform,
    picture: &Picture,
    handle: &TextureHandle,
) {
    let samples = &picture.samples;
    // The last samples may cover fewer points than the others: the part beyond the grid is cut off.
    let covered = |start: usize, axis: usize| {
        (start as f32, (start + samples.size[axis] * samples.block[axis]) as f32)
    };
    let (left, right) = covered(samples.columns.start, 0);
    let (top, bottom) = covered(samples.rows.start, 1);
    let image = Rect::from_min_max(egui::pos2(left, top), egui::pos2(right, bottom));
    let grid = Rect::from_min_max(
        egui::pos2(left, top),
        egui::pos2(samples.columns.end as f32, samples.rows.end as f32),
    );
    let painter = ui.painter().with_clip_rect(area.intersect(to_screen.transform_rect(grid)));
    // Unknown values are transparent.
    painter.rect_filled(area, 0.0, ui.visuals().faint_bg_color);
    let uv = Rect::from_min_max(Pos2::ZERO, egui::pos2(1.0, 1.0));
    painter.image(handle.id(), to_screen.transform_rect(image), uv, Color32::WHITE);
}

/// Shows why the map cannot be shown yet.
fn waiting(ui: &Ui, area: Rect, report: &Report) {
    let field = report.observation.field;
    let text = match (report.cannot_show(field), report.preparing) {
        (Some(why), _) => why.to_owned(),
        (_, None) if field == FieldKind::Error => "computing the exact solution …".to_owned(),
        (_, Some(part)) => {
            format!("computing Jacobi's sweeps for comparison … {:.0} %", part * 100.0)
        }
        _ => String::new(),
    };
    say(ui, area, text);
}

/// Why a space–time diagram of a field that compares iterates is empty, if so.
fn not_kept(report: &Report) -> Option<String> {
    let compares = matches!(report.observation.field, FieldKind::Error | FieldKind::Staleness);
    (compares && report.plan.problem.shape.nx() > LONGEST_KEPT).then(|| {
        let longest = grouped(LONGEST_KEPT as u64);
        let field = report.observation.field.name();
        match report.plan.problem.operator.matrix() {
            Some(_) => format!(
                "The {field} is kept over the cycles only for matrices of at most {longest} rows; pane Rows has that of this cycle."
            ),
            None => format!("The {field} is kept only for 1D grids of at most {longest} points."),
        }
    })
}

/// A sentence in the middle of the map, wrapped.
fn say(ui: &Ui, area: Rect, text: String) {
    let font = TextStyle::Body.resolve(ui.style());
    let colour = ui.visuals().text_color();
    let mut job = LayoutJob::simple(text, font, colour, area.width() - 2.0 * BETWEEN);
    job.halign = Align::Center;
    let painter = ui.painter().with_clip_rect(area);
    let galley = painter.layout_job(job);
    let top = area.center() - egui::vec2(0.0, galley.size().y / 2.0);
    painter.galley(top, galley, colour);
}

/// Pixels across and down of an area of the screen; at least one each.
fn most_samples(area: Rect, pixels_per_point: f32) -> [usize; 2] {
    [area.width(), area.height()].map(|side| (side * pixels_per_point).max(1.0) as usize)
}

/// The size of the grid of a picture: columns, and rows of points or of cycles. A diagram has room for the
/// cycles that were made, and a few more: it grows in steps.
fn grid_of(side: &Side<'_>) -> Vec2 {
    let shape = *side.shown().shape();
    let rows = match side.picture.cycles_per_row {
        Some(cycles) => {
            let made = (side.latest / cycles) as f32 + 1.0;
            let grown = DIAGRAM_STEP.powf((made / FEWEST_ROWS).max(1.0).log(DIAGRAM_STEP).ceil());
            let room = (FEWEST_ROWS * grown).ceil() as usize;
            room.min(side.picture.samples.rows.len())
        }
        None => shape.rows(),
    };
    egui::vec2(shape.nx() as f32, rows as f32)
}
