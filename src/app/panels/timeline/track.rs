//! The track: all cycles from 0 to the newest, the shown one, and the replayed part.

use crate::app::state::travel::Travel;
use crate::app::widgets::labels::named;
use crate::app::widgets::theme;
use crate::picture::grouped;
use eframe::egui::accesskit::{Action, ActionData};
use eframe::egui::{self, Color32, CornerRadius, Rect, Response, Sense, Stroke, Ui, WidgetInfo};

/// Height of the rail, in points.
const RAIL: f32 = 6.0;

/// Radius of the mark of the shown cycle.
const HEAD: f32 = 7.0;

/// Width and height of the handles at the ends of the replayed part.
const HANDLE: egui::Vec2 = egui::vec2(9.0, 10.0);

/// Draws the track in the remaining width; `shown` is the cycle to mark. Returns the change that the
/// user makes.
pub fn ui(ui: &mut Ui, travel: Travel, shown: u64, latest: u64) -> Option<Travel> {
    let size = egui::vec2(ui.available_width(), 30.0);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let middle = rect.center().y - 4.0;
    let rail = Rect::from_x_y_ranges(
        rect.left() + HEAD + 2.0..=rect.right() - HEAD - 2.0,
        middle - RAIL / 2.0..=middle + RAIL / 2.0,
    );
    let scale = CycleScale { rail, latest };
    let mut to = None;
    // The shown cycle.
    let area = Rect::from_min_max(rect.min, egui::pos2(rect.right(), rail.bottom() + 3.0));
    let head = ui.interact(area, ui.scope_id().with("head"), Sense::click_and_drag());
    if let Some(cycle) = moved(ui, &head, &scale, shown, "Cycle shown") {
        to = Some(travel.to(cycle, latest));
    }
    let head = named(head, "Cycle shown");
    let pointed = head.hover_pos().map(|at| scale.cycle(at.x));
    head.on_hover_text_at_pointer(match pointed {
        Some(cycle) => format!("Cycle {}: click or drag to show it.", grouped(cycle)),
        None => "Drag to show an earlier cycle.".to_owned(),
    });
    // The replayed part.
    let part = travel.played(latest);
    let names = ["First replayed cycle", "Last replayed cycle"];
    let abouts = [
        "Drag: the replay starts here. Double click: replay all cycles.",
        "Drag: the replay ends here. Double click: replay all cycles.",
    ];
    let mut handles = [false; 2];
    for (end, (name, about)) in names.into_iter().zip(abouts).enumerate() {
        let at = egui::pos2(scale.x(part[end]), rail.bottom() + 4.0);
        let area = Rect::from_min_size(at - egui::vec2(HANDLE.x / 2.0, 0.0), HANDLE).expand(2.0);
        let handle = ui.interact(area, ui.scope_id().with(name), Sense::click_and_drag());
        if handle.double_clicked() {
            to = Some(Travel { part: None, ..travel });
        } else if let Some(cycle) = moved(ui, &handle, &scale, part[end], name) {
            to = Some(travel.with_end(end, cycle, latest));
        }
        handles[end] = handle.hovered() || handle.dragged();
        named(handle, name).on_hover_text(about);
    }
    paint(ui, &scale, travel, shown, handles);
    to
}

/// Cycles along the rail.
struct CycleScale {
    rail: Rect,
    latest: u64,
}

impl CycleScale {
    fn x(&self, cycle: u64) -> f32 {
        let part = cycle as f64 / self.latest.max(1) as f64;
        self.rail.left() + self.rail.width() * part as f32
    }

    fn cycle(&self, x: f32) -> u64 {
        let part = f64::from((x - self.rail.left()) / self.rail.width()).clamp(0.0, 1.0);
        (part * self.latest as f64).round() as u64
    }
}

/// Where a handle is dragged, or is put by assistive technology.
fn moved(ui: &Ui, handle: &Response, scale: &CycleScale, value: u64, name: &str) -> Option<u64> {
    handle.widget_info(|| WidgetInfo::slider(scale.latest > 0, value as f64, name));
    ui.ctx().accesskit_node_builder(handle.id, |node| {
        node.set_min_numeric_value(0.0);
        node.set_max_numeric_value(scale.latest as f64);
        node.set_numeric_value_step(1.0);
        node.add_action(Action::SetValue);
    });
    let typed = ui.input(|input| {
        let requests = input.accesskit_action_requests(handle.id, Action::SetValue);
        let values = requests.filter_map(|request| match request.data {
            Some(ActionData::NumericValue(value)) => Some(value.max(0.0) as u64),
            _ => None,
        });
        values.last()
    });
    let is_held = handle.dragged() || handle.clicked() || handle.is_pointer_button_down_on();
    let pointer = handle.interact_pointer_pos().filter(|_| is_held);
    let cycle = typed.or(pointer.map(|at| scale.cycle(at.x)))?;
    (scale.latest > 0 && cycle != value).then_some(cycle.min(scale.latest))
}

fn paint(ui: &Ui, scale: &CycleScale, travel: Travel, shown: u64, handles: [bool; 2]) {
    let CycleScale { rail, latest } = scale;
    let painter = ui.painter();
    let visuals = ui.visuals();
    let round = CornerRadius::same(3);
    painter.rect_filled(*rail, round, visuals.widgets.inactive.bg_fill);
    let accent = theme::curve(ui, 0);
    let [from, to] = travel.played(*latest);
    let part = Rect::from_x_y_ranges(scale.x(from)..=scale.x(to), rail.y_range());
    if travel.part.is_some() {
        painter.rect_filled(part, round, accent.gamma_multiply(0.35));
    }
    let passed = Rect::from_x_y_ranges(rail.left()..=scale.x(shown), rail.y_range());
    let passed = passed.intersect(if travel.part.is_some() { part } else { *rail });
    if passed.is_positive() {
        painter.rect_filled(passed, round, accent.gamma_multiply(0.75));
    }
    let weak = visuals.weak_text_color();
    for (end, cycle) in [from, to].into_iter().enumerate() {
        let colour =
            if handles[end] || travel.part.is_some() { visuals.text_color() } else { weak };
        let tip = egui::pos2(scale.x(cycle), rail.bottom() + 3.0);
        let base = |way: f32| tip + egui::vec2(way * HANDLE.x / 2.0, HANDLE.y * 0.8);
        painter.add(egui::Shape::convex_polygon(
            vec![tip, base(1.0), base(-1.0)],
            colour,
            Stroke::NONE,
        ));
    }
    let is_live = travel.earlier(*latest).is_none();
    let centre = egui::pos2(scale.x(shown), rail.center().y);
    let fill = if is_live { accent } else { Color32::WHITE };
    painter.circle(centre, HEAD, fill, Stroke::new(2.0, accent));
}
