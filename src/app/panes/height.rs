//! What the height of a pyramid costs: predicted for a link that is chosen or dragged, and measured.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::panes::planes::why_no_planes;
use crate::app::state::command::Command;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::state::view_settings::ViewSettings;
use crate::app::widgets::handle::Handle;
use crate::app::widgets::labels::{explained, labelled, named};
use crate::app::widgets::{plot, theme};
use crate::picture::{FigureKind, HeightPicture, NamedLink, RATIOS, Range, SlowLink};
use eframe::egui::{ComboBox, CursorIcon, DragValue, Id, Label, RichText, Ui};

/// ρ, on the line of the moved values.
const RATIO: Handle = Handle {
    name: "Ratio",
    about: "Drag up or down: ρ, the time to move a value over the time to update a point.",
    cursor: CursorIcon::ResizeVertical,
};

/// The models of a pyramid over its height.
pub struct HeightPane;

/// Its name in files.
const ID: PaneId = PaneId("height");

impl PaneType for HeightPane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Cost of the height"
    }

    fn about(&self) -> &'static str {
        FigureKind::HEIGHT.about()
    }

    fn slot(&self) -> Slot {
        Slot::BottomRight
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::HEIGHT
    }

    fn figure(&self, session: &Session) -> Option<FigureKind> {
        session.spec.method.name.is_streaming().then_some(FigureKind::HEIGHT)
    }

    fn why_empty(&self, session: &Session) -> Option<&'static str> {
        why_no_planes(session)
    }

    fn is_offered(&self, session: &Session) -> bool {
        self.why_empty(session).is_none()
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        let Some(report) = context.report else { return };
        let chosen = context.session.view.slow_link;
        let picture = HeightPicture::of(&report.plan, &report.passes, chosen);
        let Some(picture) = picture else { return };
        let mut link = chosen;
        if !context.presenting {
            links(ui, &mut link, &picture);
        }
        ui.add(Label::new(RichText::new(picture.caption()).small()).wrap());
        let mut models = picture.plot(theme::of_figures(ui));
        // While the ratio is dragged, its axis stays.
        let id = Id::unique(("range", ID.0));
        let held: Option<Range> = ui.data(|data| data.get_temp(id));
        models.y.range = held;
        let height = ui.available_height();
        let frame = plot::Frame { id: ID.0, height, cursor: None, has_legend: true };
        let painted = plot::ui(ui, &frame, &models, |at| {
            let mut lines = vec![format!("height {:.0}", at.x.max(1.0))];
            lines.extend(at.values().map(|(name, cost)| labelled(name, &format!("{cost:.3}"))));
            Some(lines.join("\n"))
        });
        match RATIO.ui(ui, &painted, picture.handle()) {
            Some(dragged) => {
                link = SlowLink::Ratio(picture.ratio_to(dragged.from, dragged.to.1));
                if held.is_none() {
                    ui.data_mut(|data| data.insert_temp(id, models.y_range()));
                }
            }
            None => ui.data_mut(|data| data.remove::<Range>(id)),
        }
        if link != chosen {
            let view = ViewSettings { slow_link: link, ..context.session.view.clone() };
            context.commands.push(Command::SetView(view));
        }
    }
}

/// The menu of links, and the number that one means here.
fn links(ui: &mut Ui, link: &mut SlowLink, picture: &HeightPicture<'_>) {
    const THIS_MACHINE: &str = "this machine";
    ui.horizontal_wrapped(|ui| {
        ui.label("Link as slow as");
        let selected = match link {
            SlowLink::ThisMachine => THIS_MACHINE,
            SlowLink::Named(named) => named.label(),
            SlowLink::Ratio(_) => "chosen ρ",
        };
        let combo = ComboBox::from_id_salt("slow link").selected_text(selected);
        let response = combo.show_ui(ui, |ui| {
            let about = "As its passes were measured; an assumption before the first one.";
            explained(ui.selectable_value(link, SlowLink::ThisMachine, THIS_MACHINE), about);
            for named in NamedLink::ALL {
                // What it means in updates is known once these were timed.
                ui.add_enabled_ui(picture.is_measured(), |ui| {
                    let value = SlowLink::Named(named);
                    explained(ui.selectable_value(link, value, named.label()), named.about());
                });
            }
        });
        let about = "The link to fast memory that the models assume. Only the lines change: dots stay as they were measured.";
        named(response.response, "Link as slow as").on_hover_text(about);
        let mut ratio = picture.ratio();
        let speed = 0.01 * ratio;
        let number = DragValue::new(&mut ratio).range(RATIOS).speed(speed);
        let number = number.prefix("ρ ").max_decimals(4).update_while_editing(false);
        let number = named(ui.add(number), "ρ");
        let about = "The time to move a value over the time to update a point, as the models assume it.";
        if number.on_hover_text(about).changed() {
            *link = SlowLink::Ratio(ratio);
        }
    });
}
