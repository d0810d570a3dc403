//! What the field consists of, mode by mode.

use crate::app::panes::pane_type::{PaneContext, PanePicture, PaneType, Slot};
use crate::app::state::kept_range::KeptRange;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::cells::Values;
use crate::app::widgets::{plot, theme};
use crate::grid::Need;
use crate::picture::{
    FigureKind, Range, Scale, amplitude_label, frequencies_plot, grouped, number,
};
use crate::run::{
    Frequencies, FrequencyRequest, MODE_NAMES, MOST_FREQUENCIES, ObservationRequest, ProblemSpec,
    Report,
};
use eframe::egui::{Id, Label, Rect, RichText, Ui, UiBuilder, pos2, vec2};
use std::sync::Arc;

/// Height of the text under the picture.
const LINE_ROOM: f32 = 22.0;

/// The most samples along an axis: no pane has more pixels.
const MOST: usize = 1024;

/// The sine transform of the field.
pub struct FrequenciesPane;

/// Its name in files.
pub const ID: PaneId = PaneId("frequencies");

impl PaneType for FrequenciesPane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Frequencies"
    }

    fn about(&self) -> &'static str {
        "The sine transform of the field: how much each mode contributes, from smooth waves at the upper left to zigzags at the lower right. In 1D it is a curve, in 3D the slice of modes that the slice of the map chooses."
    }

    fn slot(&self) -> Slot {
        Slot::BelowMapRight
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::FREQUENCIES
    }

    fn figure(&self, _: &Session) -> Option<FigureKind> {
        Some(FigureKind::FREQUENCIES)
    }

    fn request(&self, session: &Session, request: &mut ObservationRequest) {
        let slice = session.view.slice;
        request.frequencies = Some(FrequencyRequest { most: [MOST; 2], slice });
    }

    fn need(&self) -> Need {
        Need::SineModes
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        let picture = context.pictures.of(ID);
        self::ui(ui, picture, context.session, context.report);
    }
}

fn ui(ui: &mut Ui, picture: &mut PanePicture, session: &Session, report: Option<&Report>) {
    let Some(report) = report else {
        return;
    };
    let shape = &report.plan.problem.shape;
    let Some(found) = found(ui, report) else {
        let text = match shape.points() > MOST_FREQUENCIES {
            true => format!(
                "Frequencies are found on grids of at most {} points.",
                grouped(MOST_FREQUENCIES as u64)
            ),
            false => "The field is not known yet.".to_owned(),
        };
        ui.label(RichText::new(text).weak());
        return;
    };
    if found.amplitudes.values.iter().all(|amplitude| *amplitude == 0.0) {
        ui.label(RichText::new("0 everywhere.").weak());
        return;
    }
    match shape.dim() {
        1 => curve(ui, &mut picture.range, session, report, &found),
        _ => map(ui, picture, session, report, &found),
    }
}

/// The frequencies that were found last. While those of a changed setting are being found, they are those of the run of
/// the same problem before it: a pane that is empty for a moment flickers. With them only a description is kept, not the
/// plan, which holds arrays.
fn found(ui: &Ui, report: &Report) -> Option<Arc<Frequencies>> {
    let id = Id::unique(("found", ID.0));
    let is_alike = |(problem, found): &(ProblemSpec, Arc<Frequencies>)| {
        *problem == report.plan.spec.problem && found.field == report.observation.field
    };
    let found = report.observation.frequencies.clone();
    match found {
        Some(found) => {
            let of_problem = (report.plan.spec.problem.clone(), Arc::clone(&found));
            ui.data_mut(|data| data.insert_temp(id, of_problem));
            Some(found)
        }
        None => ui.data(|data| data.get_temp(id)).filter(is_alike).map(|(_, found)| found),
    }
}

/// In 2D and of a slice: a map over the half waves along both axes.
fn map(
    ui: &mut Ui,
    PanePicture { cells, range }: &mut PanePicture,
    session: &Session,
    report: &Report,
    found: &Frequencies,
) {
    let room = ui.available_rect_before_wrap();
    let picture = Rect::from_min_max(room.min, room.max - vec2(0.0, LINE_ROOM));
    let (kind, map) = session.view.of_field(found.field).of_magnitudes();
    let amplitudes = &found.amplitudes;
    let fitted = Range::of(kind, amplitudes.values.iter().copied());
    let scale = Scale::new(kind, range.range(session, report, found.field, kind, fitted));
    let shown = cells.ui(
        ui,
        picture,
        &Values {
            about: &format!("Frequencies of the {}", found.field.name()),
            title: &amplitude_label(found.field),
            size: amplitudes.size,
            values: &amplitudes.values,
            scale,
            map,
            stretched: false,
        },
    );
    let [across, down] = found.axes().map(|axis| MODE_NAMES[axis]);
    let slice = found.slice_name().map_or_else(String::new, |name| format!(", {name}"));
    let text = match shown.hover {
        Some(at) => {
            let value = amplitudes.values[at[1] * amplitudes.size[0] + at[0]];
            let [i, j] = [0, 1].map(|axis| half_waves(found, axis, at[axis]));
            format!("{across} {i}, {down} {j}{slice}: {}", number(value.into()))
        }
        None => format!(
            "Cycle {}{slice}: {across} half waves across, {down} down; from 1 on.",
            grouped(found.cycle)
        ),
    };
    let line = Rect::from_min_max(pos2(room.left(), picture.bottom() + 4.0), room.max);
    ui.new_child(UiBuilder::new().max_rect(line))
        .add(Label::new(RichText::new(text).small()).truncate());
}

/// The half waves of a sample along an axis: of several modes the first and the last.
fn half_waves(found: &Frequencies, axis: usize, at: usize) -> String {
    let amplitudes = &found.amplitudes;
    let points = [amplitudes.columns.len(), amplitudes.rows.len()][axis];
    let (first, block) = (1 + at * amplitudes.block[axis], amplitudes.block[axis]);
    match block {
        1 => first.to_string(),
        _ => format!("{first}–{}", (first + block - 1).min(points)),
    }
}

/// In 1D: a curve over the half waves.
fn curve(
    ui: &mut Ui,
    range: &mut KeptRange,
    session: &Session,
    report: &Report,
    found: &Frequencies,
) {
    let (scale, _) = session.view.of_field(found.field).of_magnitudes();
    let mut plot = frequencies_plot(found, scale, theme::of_figures(ui));
    range.hold(&mut plot, session, report, found.field);
    let frame = plot::Frame {
        id: "frequencies",
        height: ui.available_height(),
        cursor: None,
        has_legend: false,
    };
    plot::ui(ui, &frame, &plot, |at| {
        let amplitudes = &found.amplitudes;
        let sample = (at.x.round() as usize).checked_sub(1)? / amplitudes.block[0];
        let value = *amplitudes.values.get(sample)?;
        Some(format!("p {}\n{}", half_waves(found, 0, sample), number(value.into())))
    });
}
