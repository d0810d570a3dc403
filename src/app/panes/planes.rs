//! Slabs of a pyramid, or chunks of the wavefront, and what the one under way has made. Their height and their base are
//! dragged. Beside them is what the other method makes of the same budget.

use crate::app::panes::heat_map::Marks;
use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::panes::sweeps_made;
use crate::app::state::command::Command;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::handle::Handle;
use crate::app::widgets::plot::{self, Painted};
use crate::app::widgets::theme;
use crate::grid::Shape;
use crate::picture::{FigureKind, PassPicture, Plot};
use crate::run::{MethodSpec, Plan, RunSpec};
use crate::solver::{Height, MethodName, Place, Streaming};
use eframe::egui::{CursorIcon, Id, Label, Rect, RichText, Ui, UiBuilder};

/// The height of a pass.
const APEX: Handle = Handle {
    name: "Apex",
    about: "Drag up or down: the height n, which is the sweeps of a pass.",
    cursor: CursorIcon::ResizeVertical,
};

/// Its budget.
const BASE: Handle = Handle {
    name: "Base",
    about: "Drag to the left or to the right: how many planes visit fast memory at a time, and with them its size.",
    cursor: CursorIcon::ResizeHorizontal,
};

/// Between two passes beside each other, in points.
const GAP: f32 = 8.0;

/// How planes pass through fast memory.
pub struct PlanesPane;

/// Its name in files.
const ID: PaneId = PaneId("planes");

impl PaneType for PlanesPane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Planes"
    }

    fn about(&self) -> &'static str {
        FigureKind::PLANES.about()
    }

    fn slot(&self) -> Slot {
        Slot::BottomRight
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::PLANES
    }

    fn figure(&self, session: &Session) -> Option<FigureKind> {
        session.spec.method.name.is_streaming().then_some(FigureKind::PLANES)
    }

    fn why_empty(&self, session: &Session) -> Option<&'static str> {
        why_no_planes(session)
    }

    fn is_offered(&self, session: &Session) -> bool {
        self.why_empty(session).is_none()
    }

    fn mark(&self, _: &Session, marks: &mut Marks) {
        marks.sweeps_made = true;
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        let Some(plan) = context.report.map(|report| &report.plan) else { return };
        let session = context.session;
        let Some((pass, shape)) = chosen(session, plan) else { return };
        let id = Id::unique(("ends of axes", ID.0));
        let held = ui.data(|data| data.get_temp(id)).filter(|_| session.drag.is_some());
        let planes = pass.plot(theme::of_figures(ui), held);
        if session.drag.is_none() {
            ui.data_mut(|data| data.insert_temp(id, ends(&planes)));
        }
        sweeps_made::ui(ui, &pass, context);
        let other = other_method(session, &pass, plan);
        let [room, beside] = halves(ui.available_rect_before_wrap());
        let room = if other.is_some() { room } else { ui.available_rect_before_wrap() };
        if let Some(other) = other {
            let ui = &mut ui.new_child(UiBuilder::new().max_rect(beside).id_salt("other method"));
            title(ui, &other);
            draw(
                ui,
                "planes of the other method",
                &other.plot(theme::of_figures(ui), Some(ends(&planes))),
            );
        }
        let ui = &mut ui.new_child(UiBuilder::new().max_rect(room).id_salt("this method"));
        title(ui, &pass);
        let painted = draw(ui, ID.0, &planes);
        let mut spec = RunSpec::clone(&session.spec);
        let (apex, base) = (pass.apex(), pass.base());
        if let Some(apex) = APEX.ui(ui, &painted, apex) {
            begin(context, apex.begins);
            let sweeps = apex.to.1.round().max(1.0) as usize;
            let sweeps = sweeps.min(pass.streaming.most_height());
            if sweeps != pass.streaming.height() {
                spec.method.height = Some(Height::Sweeps(sweeps));
            }
        }
        if let Some(dragged) = BASE.ui(ui, &painted, base) {
            begin(context, dragged.begins);
            let planes = pass.planes_to(dragged.to.0);
            if planes != pass.planes_to(base.0) {
                let method = &mut spec.method;
                method.memory = Some(Streaming::memory_of(planes, &shape, method.precision));
                // What a window has room for beside its chunks is its height, if that is left to it.
                if method.name == MethodName::Wavefront {
                    method.height = Some(Height::Sweeps(pass.streaming.height()));
                }
            }
        }
        if spec != *session.spec {
            context.commands.push(Command::Change(spec));
        }
    }
}

/// The pass that is chosen, on its grid: it is drawn at once, and its run follows.
fn chosen(session: &Session, plan: &Plan) -> Option<(PassPicture, Shape)> {
    let shape = session.spec.problem.grid()?;
    Some((picture(&session.spec.method, &shape, plan)?, shape))
}

/// A pass of a method on a grid, where the run is made.
fn picture(method: &MethodSpec, shape: &Shape, plan: &Plan) -> Option<PassPicture> {
    let on_gpu = matches!(plan.place, Place::Cuda { .. });
    Some(PassPicture::new(method.streaming(shape).ok()?, shape, on_gpu))
}

/// What the wavefront makes of the budget of a pyramid, or the other way round, with the same height if it takes it.
fn other_method(session: &Session, pass: &PassPicture, plan: &Plan) -> Option<PassPicture> {
    let shape = session.spec.problem.grid()?;
    let name = match session.spec.method.name {
        MethodName::Pyramid => MethodName::Wavefront,
        _ => MethodName::Pyramid,
    };
    let like = |height| MethodSpec { name, height, ..session.spec.method.clone() };
    let heights = [Height::Sweeps(pass.streaming.height()), Height::Auto];
    heights.into_iter().find_map(|height| picture(&like(Some(height)), &shape, plan))
}

/// Two parts of a room, beside each other, or where it is tall below each other.
fn halves(room: Rect) -> [Rect; 2] {
    match room.width() > room.height() {
        true => {
            let (left, right) = room.split_left_right_at_fraction(0.5);
            [left.with_max_x(left.max.x - GAP), right]
        }
        false => {
            let (top, bottom) = room.split_top_bottom_at_fraction(0.5);
            [top, bottom]
        }
    }
}

fn title(ui: &mut Ui, pass: &PassPicture) {
    ui.add(Label::new(RichText::new(format!("{}.", pass.title())).small()).truncate());
}

/// Draws a pass as large as there is room for.
fn draw(ui: &mut Ui, id: &'static str, planes: &Plot) -> Painted {
    let height = ui.available_height();
    let frame = plot::Frame { id, height, cursor: None, has_legend: false };
    plot::ui(ui, &frame, planes, |at| Some(format!("plane {:.0}", at.x.max(0.0))))
}

/// Where the axes of a plot end.
fn ends(plot: &Plot) -> [f64; 2] {
    [&plot.x, &plot.y].map(|axis| axis.range.map_or(0.0, |range| range.hi()))
}

fn begin(context: &mut PaneContext<'_>, begins: bool) {
    if begins {
        context.commands.push(Command::BeginDrag(Vec::new()));
    }
}

/// Why a pane of planes is empty with another method.
pub(super) fn why_no_planes(session: &Session) -> Option<&'static str> {
    let streams = session.spec.method.name.is_streaming();
    (!streams).then_some("Only methods Pyramid and Wavefront stream planes through fast memory.")
}
